"""What a run may start on, what it refuses, and what it makes of an earlier one."""

import os
from pathlib import Path

import pytest

from burnish.core.events import WorkStarted
from tests import compiled_rules
from tests.core.driving import problem
from tests.end_to_end.answers import findings
from tests.end_to_end.machine import HANGS, Machine, says
from tests.end_to_end.playing import real_events
from tests.end_to_end.plots import content
from tests.end_to_end.simple import CLEAN, FIRST_FIX, FIXED, HANGING_FIX, drift_machine, killed_while_fixing, policy
from tests.end_to_end.world import Before, check_nothing_left, fixes, refs, status


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("verb", ["review", "fix"])
def test_a_dry_run_says_what_it_would_do_and_touches_nothing(tmp_path: Path, verb: str) -> None:
    machine = drift_machine(tmp_path, FIXED)
    before = everything(tmp_path)
    done = machine.burnish(verb, "--dry-run", "--story", "4.2", "--protocol", "epic")
    assert done.code == 0
    said = done.out + done.err
    assert "[DRY-RUN] Would spawn epic-reviewer for Story 4.2 round 1" in said
    assert ("[DRY-RUN] Would spawn epic-fixer for Story 4.2 round 1" in said) == (verb == "fix")
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("fix", "--max-rounds", "7"), "--max-rounds 7 is not between 1 and 6"),
        (("fix", "--max-rounds", "0"), "--max-rounds 0 is not between 1 and 6"),
        (("fix", "--agent", "nobody"), "nobody"),
        (("fix", "--protocol", "nothing"), "nothing"),
        (("review", "--brief", "missing.md"), "missing.md"),
        (("review", "--base", "nowhere"), "nowhere"),
        (("fix", "--branch", "main"), "burnish found no base for 'main'"),
        (("fix", "--branch", "main", "--base", "change"), "There is nothing to review"),
        (("resume",), "There is no run to continue"),
        (("review", "nonsense"), "'nonsense' is neither a branch, a commit nor a file"),
        (("review", "../elsewhere"), "is outside this repository"),
        (("review", "burnish.toml"), "'change' does not change burnish.toml"),
        (("review", "--staged", "main"), "--staged and main name different changes"),
        (("review", "main..change", "--base", "main"), "are two bases"),
        (("fix", "app.py"), "Only `burnish review` can look at some paths"),
        (("review", "change..nowhere"), "nowhere"),
    ],
)
def test_what_cannot_work_is_said_before_anything_happens(
    tmp_path: Path, words: tuple[str, ...], complaint: str
) -> None:
    machine = drift_machine(tmp_path, FIXED)
    before = Before.of(machine)
    done = machine.burnish(*words)
    assert done.code == 2
    assert complaint in done.err
    assert Before.of(machine) == before
    assert machine.runs() == []


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="optional: there, logins are where only clients can look")
@pytest.mark.parametrize(("verb", "protocol"), [("review", "default"), ("fix", "panel")])
def test_a_client_that_is_not_logged_in_is_noticed_before_anything_happens(
    tmp_path: Path, verb: str, protocol: str
) -> None:
    machine = drift_machine(tmp_path, FIXED)
    program = tmp_path / "programs" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    before = Before.of(machine)
    words = (verb, "--agent", "claude", "--protocol", protocol)
    done = machine.burnish(*words, PATH=path)
    assert (done.code, machine.runs(), Before.of(machine)) == (4, [], before)
    assert "The agent 'claude' is not logged in." in done.err
    assert "Run `claude auth login`, or set ANTHROPIC_API_KEY." in done.err
    assert machine.burnish(*words, "--dry-run", PATH=path).code == 0


@pytest.mark.parametrize("verb", ["review", "fix", "resume"])
def test_burnish_does_not_run_inside_its_own_agents(tmp_path: Path, verb: str) -> None:
    machine = drift_machine(tmp_path, FIXED)
    done = machine.burnish(verb, BURNISH_RUN="20261115-081500-k3f9q2")
    assert done.code == 2
    assert "inside one of its own agents" in done.err
    assert machine.runs() == []


def test_a_second_fix_beside_a_living_one_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    before = Before.of(machine)
    first = machine.start("fix", "--json")
    run = machine.wait_for_call(first, FIRST_FIX)
    second = machine.burnish("fix", "--json")
    assert second.code == 2
    assert run in second.err
    assert machine.burnish("resume", run).code in (2, 4)
    assert machine.runs() == [run]
    assert machine.burnish("cancel", run).code == 0
    assert machine.end_of(first).code == 1
    check_nothing_left(machine, before, run)


def test_a_dead_run_of_the_same_head_and_policy_is_taken_up_again(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    before = Before.of(machine)
    run = killed_while_fixing(machine)
    machine.script(FIXED)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["run"]) == (0, run)
    assert machine.calls(run).count("review:1:reviewer:1") == 1
    assert machine.calls(run).count(FIRST_FIX) == 2
    assert machine.runs() == [run]
    check_nothing_left(machine, before, run)


@pytest.mark.parametrize(
    "what", ["head", *(pytest.param(name, marks=pytest.mark.prove) for name in ("policy", "rounds"))]
)
def test_a_dead_run_that_no_longer_fits_is_superseded(tmp_path: Path, what: str) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    run = killed_while_fixing(machine)
    script = machine.script(CLEAN)
    if what == "head":
        machine.repository.write({"b.py": content("b.py", 3)})
        machine.git("commit", "--all", "--message", "Go on")
    if what == "policy":
        (tmp_path / "settings" / "burnish").mkdir()
        (tmp_path / "settings" / "burnish" / "config.toml").write_text("[timeouts]\nagent = 77\n")
    before = Before.of(machine)
    done = machine.burnish("fix", "--json", *(["--max-rounds", "2"] if what == "rounds" else []))
    assert (done.code, done.view["outcome"]) == (0, "approved"), script
    assert done.view["run"] != run
    former = machine.burnish("show", run, "--json").view
    assert (former["outcome"], former["reason"]) == ("cancelled", f"superseded by {done.view['run']}")
    assert done.view["supersedes"] == [run]
    assert f"supersedes {run}" in done.err
    assert f"refs/burnish/kept/{run}" not in refs(machine)
    check_nothing_left(machine, before, done.view["run"])
    check_nothing_left(machine, before, run)


def waiting_machine(folder: Path) -> Machine:
    """A machine on which every review finds something, so that a fix always ends with a question."""
    fix = "date +%s%N > app.py\necho tried"
    return drift_machine(folder, {"review:*": says(findings((problem(file="app.py"),))), "fix:*": fix})


@pytest.mark.parametrize("most", [1, pytest.param(5, marks=pytest.mark.prove)])
def test_a_run_that_waits_is_ended_only_by_name_and_its_rounds_count(tmp_path: Path, most: int) -> None:
    machine = waiting_machine(tmp_path)
    epic = ("--protocol", "epic", "--json")
    first = machine.burnish("fix", *epic)
    run = first.view["run"]
    assert (first.code, len(first.view["rounds"])) == (3, 3)
    for words in (("--max-rounds", "2"), ("--story", "1.2"), ("--agent", "scripted"), ("--intent", "x"), ())[:most]:
        again = machine.burnish("fix", *epic, *words)
        assert (again.code, again.view["run"], again.view["state"]) == (3, run, "waiting"), words
        assert run in again.err
    beside = machine.burnish("review", *epic)
    assert (beside.code, beside.view["supersedes"]) == (1, [])
    assert machine.burnish("show", run, "--json").view["state"] == "waiting"
    too_many = machine.burnish("fix", *epic, "--supersede", "--max-rounds", "3")
    assert (too_many.code, too_many.out) == (2, "")
    assert "3 of the 5 reviews" in too_many.err
    assert machine.burnish("show", run, "--json").view["state"] == "waiting", "nothing is ended for a refused command"
    second = machine.burnish("fix", *epic, "--supersede")
    assert (second.code, len(second.view["rounds"]), second.view["supersedes"]) == (3, 2, [run])
    assert f"supersedes {run}" in second.err
    assert [choice["action"] for choice in second.view["choices"]] == ["manual", "accept"], "no round is left"
    ended = machine.burnish("show", run, "--json").view
    assert (ended["outcome"], ended["reason"]) == ("cancelled", f"superseded by {second.view['run']}")
    for words in (("--supersede",), ("--supersede", "--story", "9"), ("--supersede", "--max-rounds", "1"))[:most]:
        refused = machine.burnish("fix", *epic, *words)
        assert (refused.code, refused.out) == (2, "")
        assert "5 of the 5 reviews" in refused.err
    assert machine.burnish("cancel", second.view["run"]).code == 0
    assert machine.burnish("fix", *epic).code == 2, "a cancelled run's rounds count as well"
    machine.git("commit", "--quiet", "--allow-empty", "--message", "Nothing new")
    assert machine.burnish("fix", *epic).code == 2, "the same tree"
    machine.repository.write({"b.py": content("b.py", 3)})
    machine.git("commit", "--quiet", "--all", "--message", "Fix it by hand")
    assert len(machine.burnish("fix", *epic).view["rounds"]) == 3


@pytest.mark.prove
def test_two_protocols_in_a_row_are_two_runs(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    before = Before.of(machine)
    first = machine.burnish("review", "--json")
    machine.script({"review:*": says(findings(()))})
    second = machine.burnish("review", "--json", "--protocol", "epic")
    assert [first.view["protocol"], second.view["protocol"]] == ["drift", "epic"]
    assert [first.view["outcome"], second.view["outcome"]] == ["approved", "approved"]
    assert len(machine.runs()) == 2
    seals = [name for name in refs(machine) if name.startswith(f"refs/burnish/seals/{first.view['subject']['tree']}/")]
    assert len(seals) == 2
    check_nothing_left(machine, before, second.view["run"])


@pytest.mark.parametrize(("words", "agent"), [([], "scripted"), (["--complexity", "high"], "strong")])
def test_a_hard_subject_goes_to_whom_the_policy_names_for_it(tmp_path: Path, words: list[str], agent: str) -> None:
    command = f'["sh", "{tmp_path / "agents" / "agent.sh"}"]'
    settings = f'[agents.strong]\nkind = "command"\ncommand = {command}\n[roles.complexity.high]\nreview = "strong"\n'
    machine = drift_machine(tmp_path, CLEAN, settings=settings)
    done = machine.burnish("review", "--json", *words)
    assert done.code == 0
    started = [event for event in real_events(machine, done.view["run"]) if isinstance(event, WorkStarted)]
    assert [event.agent for event in started if event.effect.startswith("review:")] == [agent]


def test_a_change_cannot_weaken_its_own_gate(tmp_path: Path) -> None:
    """Policy and reviewer are the base's, whatever the branch makes of them, committed or not."""
    machine = Machine(tmp_path)
    reviewer = 'echo "called $BURNISH_EFFECT" >&2\n' + says_drift()
    machine.repository.write({"review.sh": reviewer})
    machine.repository.commit({"burnish.toml": policy('["sh", "review.sh"]'), "a.py": "x = 1\n"})
    lenient = policy('["sh", "review.sh"]', "epic")
    machine.repository.branch("change").commit(
        {"burnish.toml": lenient, "review.sh": 'echo \'{"verdict": "pass", "followUpPrompt": ""}\'\n'}
    )
    done = machine.burnish("review", "--json")
    assert (done.code, done.view["protocol"], done.view["outcome"]) == (1, "drift", "failed")
    assert status(machine) == ""


@pytest.mark.prove
def test_a_file_that_only_the_change_has_is_run_if_it_is_trusted_and_does_not_bring_the_others_along(
    tmp_path: Path,
) -> None:
    """The base names a fixer that it does not have yet: that one comes from the working tree, the reviewer does not."""
    machine = Machine(tmp_path)
    fixer = '[agents.fixer]\nkind = "command"\ncommand = ["sh", "./fix.sh"]\n'
    roles = '[roles]\nreview = "scripted"\nfix = "fixer"\n'
    before, _, _ = policy('["sh", "./review.sh"]').partition("[roles]")
    machine.repository.commit({"burnish.toml": before + fixer + roles, "review.sh": says_drift(), "a.py": "x = 1\n"})
    lenient = 'echo \'{"verdict": "pass", "followUpPrompt": ""}\'\n'
    machine.repository.branch("change").commit({"review.sh": lenient, "fix.sh": "date +%s%N > a.py\necho done\n"})
    refused = machine.burnish("fix", "--max-rounds", "2", "--json")
    assert refused.code == 2
    assert "Agent 'fixer' runs fix.sh, which main does not have" in refused.err
    assert machine.burnish("trust", "--yes").code == 0
    done = machine.burnish("fix", "--max-rounds", "2", "--json")
    assert (done.code, done.view["outcome"]) == (1, "failed")
    assert [one["fix"] and one["fix"]["status"] for one in done.view["rounds"]] == ["fixed", None]
    assert "main has no fix.sh: burnish uses the working tree's version, which you have trusted." in done.err


def says_drift() -> str:
    return 'echo \'{"verdict": "drift", "followUpPrompt": "No."}\'\n'


def test_a_base_without_a_policy_takes_the_working_trees_once_it_is_trusted(tmp_path: Path) -> None:
    """Untrusted, nothing that it names runs and the built-in policy holds; trusted, it governs until it changes."""
    machine = Machine(tmp_path)
    compiled_rules.offer_to(machine.cache / "burnish")
    machine.repository.commit({"a.py": "x = 1\n"}).branch("change")
    ran = tmp_path / "ran"
    machine.repository.executable("review.sh", "#!/bin/sh\n" + says_drift())
    shell = f'sandbox = "off"\n[validate]\ntests = "touch {ran}"\n[workspace]\nprepare = ["touch {ran}"]\n'
    machine.repository.commit({"burnish.toml": shell + policy('["./review.sh"]'), "a.py": "x = 2\n"})
    text = (machine.root / "burnish.toml").read_text()
    protocol, rest = 'protocol = "drift"\n', text.replace('protocol = "drift"\n', "")
    machine.repository.commit({"burnish.toml": protocol + rest})
    untrusted = machine.burnish("review", "--json")
    assert (untrusted.view["protocol"], untrusted.view["policy"]["origin"]) == ("default", "built-in")
    assert "you have not trusted" in untrusted.view["policy"]["notes"][-1]
    assert "validate.tests" in untrusted.err
    assert not ran.exists()
    assert machine.burnish("trust", "--yes").code == 0
    trusted = machine.burnish("review", "--json")
    assert (trusted.view["protocol"], trusted.view["policy"]["origin"]) == ("drift", "working-tree (trusted)")
    assert not ran.exists()  # in the sandbox, whatever the repository says of it
    machine.repository.executable("review.sh", "#!/bin/sh\n# another\n" + says_drift())
    changed = machine.burnish("review", "--json")
    assert changed.view["protocol"] == "default"


def test_the_branch_is_left_alone_where_the_user_has_open_work(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED)
    machine.repository.write({"b.py": "mine = True\n"})
    machine.git("add", "b.py")
    machine.repository.write({"c.py": "unstaged = True\n"})
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    run = done.view["run"]
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert machine.git("rev-parse", "change") == before.head
    assert machine.git("rev-parse", f"burnish/{run}") == done.view["subject"]["head"]
    assert f"git merge --ff-only burnish/{run}" in done.err
    assert status(machine) == before.status
    assert fixes(machine, run, before.head) == [done.view["subject"]["head"]]


def test_a_branch_that_moved_meanwhile_is_not_moved_back(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, HANGING_FIX)
    run = killed_while_fixing(machine)
    machine.git("update-ref", "refs/heads/change", machine.git("rev-parse", "main"))
    machine.script(FIXED)
    done = machine.burnish("resume", run, "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert "'change' has moved since it was reviewed." in done.err
    assert machine.git("rev-parse", "change") == machine.git("rev-parse", "main")
    assert machine.git("rev-parse", f"burnish/{run}") == done.view["subject"]["head"]


@pytest.mark.prove  # ten seconds of grace
def test_a_hanging_agent_does_not_outlive_a_cancelled_run(tmp_path: Path) -> None:
    stubborn = f"trap '' TERM INT HUP\n(setsid sleep 600 &)\n{HANGS}"
    machine = drift_machine(tmp_path, {**FIXED, "fix:*": stubborn}, sandbox="off")
    before = Before.of(machine)
    process = machine.start("fix", "--json")
    run = machine.wait_for_call(process, FIRST_FIX)
    assert machine.burnish("cancel", run, "--note", "never mind").code == 0
    done = machine.end_of(process)
    assert (done.code, done.view["reason"]) == (1, "a person cancelled the run: never mind")
    check_nothing_left(machine, before, run)
