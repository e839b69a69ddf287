"""Seals that cannot be laundered or forged: what `verify` asks for, and what it does not believe."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.core.effects import MakeSeal
from burnish.core.events import Outcome
from burnish.core.evidence import Level
from burnish.core.findings import Severity
from burnish.core.state import AnsweredReview, Ended, Run, SealKind
from burnish.core.values import replace
from burnish.ledger.errors import LedgerCorruptError
from burnish.ledger.sqlite import SqliteLedger
from burnish.runtime.journal import load_run
from burnish.runtime.sealing import statement_of
from burnish.settings.types import Allowance
from burnish.usecases.verify_seal import Demands, VerifyError, verify
from burnish.workspace.repository import Repository
from burnish.workspace.seals import PREFIX, find, store
from burnish.workspace.statements import Statement
from tests.usecases.sealed_runs import CODE, MINE, POLICY, YES, Project, problem
from tests.workspace.ssh_keys import allowed, make_key


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture
def sealed(project: Project) -> Project:
    assert project.run().seal
    return project


def sealed_statement(project: Project, ref: str = "change") -> Statement:
    (seal,) = find(project.repository, project.repository.tree_of(ref))
    assert seal.statement is not None
    return seal.statement


def elsewhere(project: Project, folder: Path) -> Repository:
    """Another clone, with the seals, and without the ledger."""
    clone = project.builder.clone(folder)
    clone.git.run("fetch", "--quiet", "origin", "refs/burnish/seals/*:refs/burnish/seals/*")
    return Repository.discover(clone.path)


def test_a_seal_holds_where_it_was_made(sealed: Project) -> None:
    verdict = sealed.verify()
    assert verdict.ok, verdict.reason
    assert verdict.vouched_by == "ledger"
    assert verdict.reason.startswith("Approved by run ")
    assert verdict.notes == ()
    assert sealed.verify("HEAD", base="main").ok
    assert verify(sealed.repository, "HEAD", Demands()).ok


def test_a_seal_holds_the_whole_approval(sealed: Project) -> None:
    statement = sealed_statement(sealed)
    (file,) = statement.files
    git = sealed.builder.git
    assert (file.path, file.need.value, file.level.value) == ("app.py", "code", "read")
    assert (file.before, file.after) == (git.text("rev-parse", "main:app.py"), git.text("rev-parse", "change:app.py"))
    assert statement.merge_base == git.text("rev-parse", "main")
    assert [(review.reviewer, review.agent.name, review.status.value) for review in statement.reviewers] == [
        ("reviewer", "mine", "clean")
    ]
    assert (statement.policy.origin, statement.policy.deviations) == ("base", ())
    assert statement.validation == "skipped"


def test_a_review_against_ones_own_commit_does_not_count_for_main(project: Project) -> None:
    project.builder.commit({"other.py": "import os\n"}, "Something that is not reviewed")
    project.builder.commit({"app.py": CODE}, "Something harmless")
    run = project.run(base="change~1")
    assert run.seal
    assert project.verify(base="change~1").ok
    verdict = project.verify(base="main")
    assert not verdict.ok
    assert "merge base with main" in verdict.reason


def test_a_seal_outlives_main_moving_on(sealed: Project) -> None:
    sealed.builder.git.run("checkout", "--quiet", "main")
    sealed.builder.commit({"elsewhere.py": "x = 1\n"}, "Main moves on")
    assert sealed.verify().ok


@pytest.mark.parametrize("strategy", ["ours", "recursive"])
def test_a_seal_does_not_outlive_a_merge_of_main(sealed: Project, strategy: str) -> None:
    """With 'ours' the tree is the sealed one, and what main has gained is undone."""
    git = sealed.builder.git
    git.run("checkout", "--quiet", "main")
    sealed.builder.commit({"elsewhere.py": "x = 1\n"}, "Main moves on")
    git.run("checkout", "--quiet", "change")
    git.run("merge", "--quiet", "--strategy", strategy, "-m", "Merge", "main")
    assert not sealed.verify().ok


def test_a_seal_does_not_outlive_a_rebase(sealed: Project) -> None:
    """The tree is the sealed one: a commit on top of the new main that takes back what main has gained."""
    git, builder = sealed.builder.git, sealed.builder
    tree = builder.tree
    git.run("checkout", "--quiet", "main")
    builder.commit({"elsewhere.py": "x = 1\n"}, "Main moves on")
    commit = git.text("commit-tree", tree, "-p", "main", "-m", "Undo")
    git.run("update-ref", "refs/heads/change", commit)
    assert not sealed.verify().ok


def test_after_a_merge_the_seal_holds_against_the_first_parent(sealed: Project) -> None:
    git = sealed.builder.git
    git.run("checkout", "--quiet", "main")
    git.run("merge", "--quiet", "--no-ff", "-m", "Merge", "change")
    commit = sealed.builder.head
    assert sealed.verify(commit, base=f"{commit}^1").ok
    assert "is already part of main" in sealed.verify(commit, base="main").reason


def test_another_byte_voids_a_seal(sealed: Project) -> None:
    sealed.builder.commit({"app.py": CODE.replace("= 10\n", "= 11 \n")})
    verdict = sealed.verify()
    assert not verdict.ok
    assert "files have changed since" in verdict.reason


def test_the_one_who_starts_the_review_does_not_choose_the_reviewer(project: Project) -> None:
    project.own_settings(YES)
    assert project.run(agents=["review=yes"]).seal
    verdict = project.verify()
    assert not verdict.ok
    assert "requires the agent 'mine' as reviewer" in verdict.reason
    assert project.verify(any_policy=True).ok


def test_an_agent_is_what_it_runs_not_what_it_is_called(tmp_path: Path) -> None:
    project = Project(tmp_path, POLICY.replace(MINE, ""))
    project.own_settings(MINE.replace("/bin/true", "/bin/echo"))
    assert project.run().seal
    assert project.verify().ok  # the base leaves it to its users what 'mine' is
    project.builder.git.run("checkout", "--quiet", "main")
    project.builder.commit({"burnish.toml": POLICY}, "Say what it is")
    assert "requires the agent 'mine'" in project.verify().reason


def test_the_fallback_that_the_base_names_will_do(tmp_path: Path) -> None:
    both = POLICY.replace('review = "mine"', 'review = { agent = "mine", fallback = "yes" }').replace(MINE, MINE + YES)
    project = Project(tmp_path, both)
    assert project.run(agents=["review=yes"]).seal
    assert project.verify().ok


def test_where_the_base_names_no_reviewer_the_checks_are_asked_for_and_no_agent_takes_their_place(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path, None)
    project.own_settings(YES)
    run = project.run(agents=["review=yes", "bugs=yes"])
    agents = {review.reviewer: review.agent for review in run.rounds[-1].reviews if isinstance(review, AnsweredReview)}
    assert agents == {
        **dict.fromkeys(("bugs", "style", "tests", "security", "errors"), "analysers"),
        **dict.fromkeys(("bugs-reviewer", "reviewer"), "yes"),
    }
    assert project.verify().ok
    assert project.run(protocol="panel", agents=["review=yes"]).seal
    assert "requires the agent 'analysers'" in project.verify(protocol="panel").reason


def test_another_protocol_does_not_count_unless_it_is_asked_for(project: Project) -> None:
    assert project.run(protocol="default").seal
    assert "under the protocol 'default'" in project.verify().reason
    assert project.verify(protocol="default").ok
    assert project.verify(any_protocol=True, any_policy=True).ok


@pytest.mark.parametrize("own", ['[review]\nignore = ["*.py"]\n', '[analysers.rules]\n"ruff:F" = "off"\n'])
def test_a_user_whose_own_settings_weaken_the_gate_earns_no_seal_that_holds(project: Project, own: str) -> None:
    project.own_settings(own)
    assert project.run().seal
    assert "did not follow the policy of main" in project.verify().reason


def test_a_policy_that_has_changed_on_the_base_asks_for_another_review(sealed: Project) -> None:
    sealed.builder.git.run("checkout", "--quiet", "main")
    sealed.builder.commit({"burnish.toml": f'{POLICY}[validate]\ntests = "true"\n'}, "Ask for tests")
    assert "The change was reviewed under another policy" in sealed.verify().reason


def test_no_ref_stands_in_for_the_commit_that_is_asked_about(sealed: Project) -> None:
    builder = sealed.builder
    builder.commit({"app.py": "import os\n"}, "Not reviewed")
    sealed_commit = builder.git.text("rev-parse", "change~1")
    for name in (builder.head, "HEAD"):
        builder.git.run("update-ref", f"refs/heads/{name}", sealed_commit)
        assert not sealed.verify(name).ok
    assert sealed.verify(sealed_commit).ok


def forge_history(project: Project) -> str:
    """A head that undoes what main has gained: its tree is the sealed one, its merge base is not."""
    git, builder = project.builder.git, project.builder
    tree = builder.tree
    git.run("checkout", "--quiet", "main")
    builder.commit({"elsewhere.py": "x = 1\n"}, "Main moves on")
    commit = git.text("commit-tree", tree, "-p", "main", "-m", "Undo")
    git.run("update-ref", "refs/heads/change", commit)
    return commit


@pytest.mark.parametrize("trick", ["graft", "replace", "shallow"])
def test_history_is_what_the_commits_say(sealed: Project, trick: str) -> None:
    git, metadata = sealed.builder.git, sealed.builder.path / ".git"
    begin, reviewed = git.text("rev-parse", "main"), git.text("rev-parse", "change")
    commit = forge_history(sealed)
    if trick == "graft":
        (metadata / "info").mkdir(exist_ok=True)
        (metadata / "info" / "grafts").write_text(f"{commit} {begin}\n")
    elif trick == "replace":
        git.run("update-ref", f"refs/replace/{commit}", reviewed)
    else:
        (metadata / "shallow").write_text(f"{git.text('rev-parse', 'main')}\n")
    verdict = sealed.verify(commit)
    assert not verdict.ok
    assert "merge base with main" in verdict.reason


def test_a_commit_graph_that_lies_is_not_believed(sealed: Project) -> None:
    git = sealed.builder.git
    begin, undone = git.text("rev-parse", "main"), forge_history(sealed)
    moved, tree = git.text("rev-parse", "main"), git.text("rev-parse", f"{undone}^{{tree}}")
    head = git.text("commit-tree", tree, "-p", undone, "-m", "On top")
    git.run("update-ref", "refs/heads/change", head)
    git.run("commit-graph", "write", "--reachable")
    names = sorted(git.text("rev-list", "--all").split())
    graph = sealed.builder.path / ".git" / "objects" / "info" / "commit-graph"
    # The data of each commit: its tree, then the places of its parents among the names.
    truth, lie = (bytes.fromhex(tree) + names.index(parent).to_bytes(4, "big") for parent in (moved, begin))
    assert truth in graph.read_bytes()
    content = graph.read_bytes().replace(truth, lie)
    graph.chmod(0o644)
    graph.write_bytes(content)
    assert sealed.repository.merge_base("main", "change") == begin
    assert not sealed.verify().ok


def test_a_shallow_clone_is_told_what_it_lacks(sealed: Project, tmp_path: Path) -> None:
    sealed.builder.git.run("checkout", "--quiet", "main")
    sealed.builder.commit({"elsewhere.py": "x = 1\n"}, "Main moves on")
    clone = sealed.builder.clone(tmp_path / "shallow", "--depth=1", "--branch=change", "--no-single-branch")
    clone.git.run("fetch", "--quiet", "origin", "refs/burnish/seals/*:refs/burnish/seals/*")
    verdict = verify(Repository.discover(clone.path), "HEAD", Demands(base="origin/main"))
    assert not verdict.ok
    assert "shallow" in verdict.reason


def kinds_of(run: Run) -> list[str]:
    return [kind.value for kind in run.seal_kinds]


def test_what_was_not_examined_is_repeated_and_must_be_allowed(project: Project) -> None:
    assert not project.run(level=Level.RULES).seal
    run = project.run(level=Level.RULES, unexamined=True)
    assert kinds_of(run) == ["unproven"]
    refused = project.verify()
    assert not refused.ok
    assert "of kind unproven" in refused.reason
    verdict = project.verify(allow=[Allowance.UNPROVEN])
    assert verdict.ok
    assert verdict.notes == ("app.py: only matched against rules",)


def test_the_base_can_let_unproven_changes_pass(tmp_path: Path) -> None:
    project = Project(tmp_path, f'{POLICY}[gate]\nunproven = "warn"\n')
    run = project.run(level=Level.RULES)
    assert kinds_of(run) == ["unproven"]
    assert project.verify().ok
    assert project.verify().notes


@pytest.mark.parametrize("waive", [True, False])
def test_a_finding_that_a_person_set_aside_makes_another_kind(project: Project, waive: bool) -> None:
    first = project.run([problem()])
    assert not first.seal
    project.say(first, waive=waive)
    again = project.run([problem()])
    assert kinds_of(again) == ["waived"]
    assert "of kind waived" in project.verify().reason
    verdict = project.verify(allow=[Allowance.WAIVED])
    assert verdict.ok
    assert "Wrong value in app.py" in verdict.notes[0]


def test_a_waiver_of_the_base_leaves_the_seal_approved(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (entry,) = project.run([problem()]).findings
    waivers = f'{POLICY}[[waivers]]\nfinding = "{entry.finding.id}"\nreason = "a constant"\n'
    git = project.builder.git
    git.run("checkout", "--quiet", "main")
    project.builder.commit({"burnish.toml": waivers}, "Waive it")
    run = project.run([problem()])
    assert kinds_of(run) == ["approved"]
    verdict = project.verify()
    assert verdict.ok, verdict.reason
    assert verdict.notes[0].startswith("waived: critical, Wrong value")
    git.run("checkout", "--quiet", "main")
    project.builder.commit({"burnish.toml": POLICY}, "Waive it no longer")
    assert "does not waive the finding" in project.verify().reason


def test_a_waiver_of_the_change_or_of_the_user_is_none(project: Project) -> None:
    (entry,) = project.run([problem()]).findings
    waivers = f'[[waivers]]\nfinding = "{entry.finding.id}"\nreason = "a constant"\n'
    project.own_settings(waivers)
    assert not project.run([problem()]).seal
    project.builder.git.run("checkout", "--quiet", "change")
    project.builder.commit({"burnish.toml": POLICY + waivers}, "Waive it myself")
    assert not project.run([problem()]).seal


def test_the_base_can_allow_a_kind(tmp_path: Path) -> None:
    project = Project(tmp_path, f'{POLICY}[seal]\nallow = ["waived"]\n')
    project.say(project.run([problem()]), waive=True)
    assert project.run([problem()]).seal
    assert project.verify().ok


def test_a_weaker_seal_of_the_same_tree_takes_nothing_from_a_good_one(sealed: Project) -> None:
    sealed.own_settings(YES)
    assert sealed.run(agents=["review=yes"]).seal
    assert sealed.run(level=Level.RULES, unexamined=True).seal
    assert len(find(sealed.repository, sealed.repository.tree_of("change"))) == 3
    assert sealed.verify().ok


def test_a_policy_of_the_working_tree_makes_another_kind_and_voids_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path, None)
    assert project.run().seal
    assert project.verify().ok
    project.builder.write({"burnish.toml": POLICY})
    run = project.run(trust=True)
    assert kinds_of(run) == ["local-policy"]
    assert project.verify().ok
    (good,) = [seal for seal in find(project.repository, run.tree) if seal.digest != run.seal]
    project.builder.git.run("update-ref", "-d", good.ref)
    refused = project.verify()
    assert not refused.ok
    assert "of kind local-policy" in refused.reason
    assert project.verify(allow=[Allowance.LOCAL_POLICY]).ok


def forge(project: Project, change: Callable[[Statement], Statement], ref: str = "change") -> None:
    """Write a seal by hand, as anyone can who can write refs."""
    statement = change(sealed_statement(project))
    for seal in find(project.repository, project.repository.tree_of(ref)):
        project.builder.git.run("update-ref", "-d", seal.ref)
    store(project.repository, statement)


def for_another_commit(project: Project) -> Callable[[Statement], Statement]:
    builder = project.builder
    former = builder.git.text("rev-parse", "change")
    builder.commit({"app.py": "import os\n"}, "Not reviewed")
    tree, head = builder.tree, builder.head
    after = builder.git.text("rev-parse", "HEAD:app.py")
    builder.git.run("update-ref", "refs/heads/other", head)
    builder.git.run("checkout", "--quiet", "-B", "change", former)

    def changed(statement: Statement) -> Statement:
        files = tuple(replace(file, after=after) for file in statement.files)
        return replace(statement, tree=tree, head=head, files=files)

    return changed


def test_a_seal_that_was_written_by_hand_does_not_hold_where_the_ledger_is(sealed: Project) -> None:
    forge(sealed, for_another_commit(sealed))
    verdict = sealed.verify("other")
    assert not verdict.ok
    assert "The ledger contradicts the seal" in verdict.reason


def test_a_seal_of_an_invented_run_is_a_note(sealed: Project) -> None:
    changed = for_another_commit(sealed)
    forge(sealed, lambda statement: replace(changed(statement), run="20261115-081500-k3f9q2"))
    verdict = sealed.verify("other")
    assert not verdict.ok
    assert "It proves nothing" in verdict.reason
    assert verdict.vouched_by == ""


def test_a_run_that_was_not_sealed_vouches_for_nothing(sealed: Project) -> None:
    statement = sealed_statement(sealed)
    failed = sealed.run([problem(line=3)], agents=[])
    assert isinstance(failed.phase, Ended)
    assert failed.phase.outcome is Outcome.FAILED
    forge(sealed, lambda _: replace(statement, run=failed.id))
    assert "has ended failed" in sealed.verify().reason


def test_elsewhere_an_unsigned_seal_is_a_note(sealed: Project, tmp_path: Path) -> None:
    clone = elsewhere(sealed, tmp_path / "clone")
    demands = Demands(base="origin/main")
    verdict = verify(clone, "change", demands)
    assert not verdict.ok
    assert "It proves nothing" in verdict.reason
    assert not (clone.state_dir / "ledger.db").exists()
    told = verify(clone, "change", replace(demands, allow=(Allowance.UNSIGNED,)))
    assert told.ok
    assert "It proves nothing" in told.notes[0]


def test_a_ledger_that_cannot_be_read_vouches_for_nothing(sealed: Project) -> None:
    path = sealed.repository.state_dir / "ledger.db"
    path.write_bytes(b"nothing")
    with pytest.raises(LedgerCorruptError):
        sealed.verify()


def test_the_ledger_is_read_where_nothing_can_be_written(sealed: Project) -> None:
    before = sorted(path.name for path in sealed.repository.state_dir.iterdir())
    run = sealed_statement(sealed).run
    with SqliteLedger(sealed.repository.state_dir / "ledger.db", read_only=True) as ledger:
        assert load_run(ledger, run).seal
        assert sorted(path.name for path in sealed.repository.state_dir.iterdir()) == before
    assert sealed.verify().ok


def signed_project(tmp_path: Path, *, inline: bool = False) -> tuple[Project, Path]:
    key = make_key(tmp_path / "key")
    line = allowed(tmp_path / "signers", "ci@example.com", key).read_text().strip()
    signers = [line] if inline else ".burnish/allowed_signers"
    quoted = f'["{line.replace(chr(34), chr(92) + chr(34))}"]' if inline else f'"{signers}"'
    policy = f"{POLICY}[seal]\nsigners = {quoted}\n"
    return Project(tmp_path, policy, **{".burnish/allowed_signers": f"{line}\n"}), key


@pytest.mark.parametrize("inline", [True, False])
def test_where_the_base_names_signers_a_signature_of_theirs_counts_everywhere(tmp_path: Path, inline: bool) -> None:
    project, key = signed_project(tmp_path, inline=inline)
    assert project.run(key=key).seal
    assert project.verify().signer == "ci@example.com"
    verdict = verify(elsewhere(project, tmp_path / "clone"), "change", Demands(base="origin/main"))
    assert verdict.ok, verdict.reason
    assert verdict.vouched_by == "signature"


def test_where_the_base_names_signers_nothing_else_counts(tmp_path: Path) -> None:
    project, _ = signed_project(tmp_path)
    assert project.run().seal
    assert "not signed" in project.verify().reason
    assert "not signed" in project.verify(allow=[Allowance.UNSIGNED]).reason
    assert project.run(key=make_key(tmp_path / "stranger")).seal
    assert "not by an allowed signer" in project.verify().reason
    # The change cannot name signers of its own.
    mine = allowed(tmp_path / "mine", "me@example.com", tmp_path / "stranger").read_text()
    project.builder.git.run("checkout", "--quiet", "change")
    project.builder.commit({".burnish/allowed_signers": mine}, "Sign it myself")
    assert project.run(key=tmp_path / "stranger").seal
    assert not project.verify().ok


def test_signers_on_the_command_line_only_tighten(tmp_path: Path) -> None:
    project, key = signed_project(tmp_path)
    stranger = make_key(tmp_path / "stranger")
    mine = allowed(tmp_path / "mine", "me@example.com", stranger).read_bytes()
    assert project.run(key=stranger).seal
    assert not project.verify(signers=mine).ok
    assert project.run(key=key).seal
    assert project.verify().ok
    assert not project.verify(signers=mine).ok


def test_signers_that_the_base_names_and_does_not_have_are_an_error(tmp_path: Path) -> None:
    project = Project(tmp_path, f'{POLICY}[seal]\nsigners = "keys/signers"\n')
    project.run()
    with pytest.raises(VerifyError, match="no such file"):
        project.verify()


def test_a_signed_seal_cannot_be_taken_to_another_tree(tmp_path: Path) -> None:
    project, key = signed_project(tmp_path)
    run = project.run(key=key)
    (signed,) = find(project.repository, run.tree)
    signature = project.builder.git.text("rev-parse", f"{signed.ref}.sig")
    forge(project, for_another_commit(project))
    (forged,) = find(project.repository, project.repository.tree_of("other"))
    project.builder.git.run("update-ref", f"{forged.ref}.sig", signature)
    shutil.rmtree(project.repository.state_dir)
    assert "not by an allowed signer" in project.verify("other").reason


def test_the_first_version_is_refused_and_said_to_be_older(sealed: Project) -> None:
    tree = sealed.repository.tree_of("change")
    (seal,) = find(sealed.repository, tree)
    body = seal.body.replace(b"urn:burnish:seal:v2", b"urn:burnish:seal:v1")
    blob = sealed.builder.git.text("hash-object", "-w", "--stdin", stdin=body)
    sealed.builder.git.run("update-ref", "-d", seal.ref)
    sealed.builder.git.run("update-ref", f"{PREFIX}{tree}/{'0' * 16}", blob)
    assert "made by an older version of burnish: review again" in sealed.verify().reason


def test_a_repeat_after_a_crash_makes_the_same_seal(project: Project) -> None:
    run = project.run([problem(severity=Severity.LOW)])
    effect = MakeSeal(id="seal:1", kinds=run.seal_kinds, tree=run.tree)
    assert store(project.repository, statement_of(run, effect)) == run.seal
    assert run.seal_kinds == (SealKind.APPROVED,)
