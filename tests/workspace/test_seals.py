"""Seals as they are stored: one form in bytes, bound to a tree, noticed when tampered with, signed where asked for."""

import json
from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView
from tests.workspace.ssh_keys import allowed, make_key

from burnish.core.evidence import Level, Need
from burnish.core.findings import FindingStatus, Severity
from burnish.core.state import ReviewStatus, SealKind
from burnish.core.values import replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.requirements import AgentValue
from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.errors import SealError
from burnish.workspace.repository import Repository
from burnish.workspace.seals import (
    certain_merge_base,
    damage,
    differences,
    find,
    signer_of,
    signing_key,
    store,
    why_none,
)
from burnish.workspace.statements import (
    SealedFile,
    SealedFinding,
    SealedPolicy,
    SealedProtocol,
    SealedReviewer,
    Statement,
    UnreadableStatementError,
    read,
    timestamp,
    write,
)
from burnish.workspace.subjects import freeze

ANALYSERS = AgentValue(name="analysers", kind=AgentKind.ANALYSERS)


def statement_for(repository: Repository, **changed: object) -> Statement:
    subject = freeze(repository, "change", "main")
    git = repository.git
    statement = Statement(
        branch="change",
        run="20261115-081500-k3f9q2",
        kinds=(SealKind.APPROVED,),
        merge_base=subject.merge_base,
        base_commit=subject.base_commit,
        head=subject.head,
        tree=subject.tree,
        files=tuple(
            SealedFile(
                path=path,
                before=git.objects(f"{subject.merge_base}:{path}")[0] or "",
                after=git.objects(f"{subject.head}:{path}")[0] or "",
                need=Need.CODE,
                level=Level.TESTED,
            )
            for path in git.text("diff", "--name-only", subject.merge_base, subject.head).splitlines()
        ),
        protocol=SealedProtocol(name="default", digest="d" * 64),
        policy=SealedPolicy(origin="base", gate="e" * 64),
        reviewers=(
            SealedReviewer(reviewer="critic", agent=ANALYSERS, prompt="a" * 64, status=ReviewStatus.CLEAN),
            SealedReviewer(
                reviewer="witness",
                agent=ANALYSERS,
                prompt="b" * 64,
                status=ReviewStatus.NO_EVIDENCE,
                missing="there are no tests",
                excused=True,
            ),
        ),
        roles={"fix": ANALYSERS},
        findings=(SealedFinding(id="f1", severity=Severity.HIGH, status=FindingStatus.RESOLVED, note="größe"),),
        validation="passed",
        version="0.1.0",
        sealed_at=timestamp(1_700_000_000.7),
    )
    return replace(statement, **changed)


def test_a_seal_is_a_statement_about_a_tree(repository: Repository) -> None:
    statement = statement_for(repository)
    document = json.loads(write(statement))
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["subject"] == [{"name": "change", "digest": {"gitTree": statement.tree}}]
    assert document["predicateType"] == "urn:burnish:seal:v2"
    assert document["predicate"]["kinds"] == ["approved"]
    assert document["predicate"]["sealed_at"] == "2023-11-14T22:13:20Z"
    assert document["predicate"]["files"][0]["level"] == "tested"
    assert document["predicate"]["reviewers"][1]["excused"] is True
    assert document["predicate"]["findings"][0]["note"] == "größe"
    assert read(write(statement)) == statement


def test_a_seal_is_stored_beside_the_tree_and_nothing_else_is_touched(
    repository: Repository, users_view: UsersView
) -> None:
    before = users_view(repository.root)
    digest = store(repository, statement_for(repository))
    (seal,) = find(repository, repository.tree_of("change"))
    assert (seal.digest, seal.statement) == (digest, statement_for(repository))
    assert damage(seal, repository.tree_of("change")) == ""
    assert store(repository, statement_for(repository)) == digest
    assert len(find(repository, repository.tree_of("change"))) == 1
    assert users_view(repository.root) == before


def test_a_tree_without_a_seal_is_said(branch_with_two_defects: RepositoryBuilder, repository: Repository) -> None:
    tree = repository.tree_of("change")
    assert why_none(repository, "change", tree) == f"The tree {tree[:12]} has no seal."
    store(repository, statement_for(repository))
    branch_with_two_defects.commit({"calc.py": (repository.root / "calc.py").read_text() + " "})
    assert "but files have changed since" in why_none(repository, "change", repository.tree_of("change"))


def replant(repository: Repository, old: bytes, new: bytes) -> str:
    """Put other bytes where a seal is stored; what is found to be wrong with them."""
    (seal,) = find(repository, repository.tree_of("change"))
    blob = repository.git.text("hash-object", "-w", "--stdin", stdin=seal.body.replace(old, new))
    repository.git.run("update-ref", seal.ref, blob)
    (changed,) = find(repository, repository.tree_of("change"))
    return damage(changed, repository.tree_of("change"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b'"resolved"', b'"refuted"', "was changed"),
        (b'"critic"', b'"cynic"', "was changed"),
        (b"{", b"[", "cannot be read"),
        (b"}", b"", "cannot be read"),
    ],
)
def test_a_seal_that_was_changed_is_noticed(repository: Repository, old: bytes, new: bytes, told: str) -> None:
    store(repository, statement_for(repository))
    assert told in replant(repository, old, new)


def test_a_seal_for_another_tree_is_noticed(repository: Repository) -> None:
    other = statement_for(repository, tree=repository.tree_of("main"))
    digest = store(repository, other)
    blob = repository.git.text("rev-parse", f"refs/burnish/seals/{other.tree}/{digest[:16]}")
    repository.git.run("update-ref", f"refs/burnish/seals/{repository.tree_of('change')}/{digest[:16]}", blob)
    (seal,) = find(repository, repository.tree_of("change"))
    assert "is for the tree" in damage(seal, repository.tree_of("change"))


def test_a_statement_has_one_form(repository: Repository) -> None:
    body = write(statement_for(repository))
    tree = repository.tree_of("change").encode()
    loose = json.dumps(json.loads(body)).encode()
    more = body.replace(b'"version":"0.1.0"', b'"version":"0.1.0","zeal":1')
    twice = body.replace(b'"version":"0.1.0"', b'"version":"0.0.1","version":"0.1.0"')
    other = body.replace(b'"gitTree":"' + tree, b'"gitTree":"' + b"1" * 40)
    for broken in (b"", b"[]", b"\xff", b"[" * 100_000, loose, more, twice, other, body[:-1]):
        with pytest.raises(UnreadableStatementError):
            read(broken)
    with pytest.raises(UnreadableStatementError, match="another type"):
        read(body.replace(b"urn:burnish:seal:v2", b"urn:other"))
    with pytest.raises(UnreadableStatementError, match="made by an older version of burnish: review again"):
        read(body.replace(b"urn:burnish:seal:v2", b"urn:burnish:seal:v1"))


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ((), "kinds"),
        ((SealKind.APPROVED, SealKind.APPROVED), "kinds"),
        ((SealKind.WAIVED, SealKind.UNPROVEN), "sorted"),
        ((SealKind.APPROVED, SealKind.WAIVED), "approved and of another kind"),
    ],
)
def test_the_kinds_of_a_seal_are_in_order(repository: Repository, kinds: tuple[SealKind, ...], told: str) -> None:
    with pytest.raises(UnreadableStatementError, match=told):
        read(write(statement_for(repository, kinds=kinds)))
    with pytest.raises(SealError, match=told):
        store(repository, statement_for(repository, kinds=kinds))


def test_one_file_cannot_have_two_levels(repository: Repository) -> None:
    statement = statement_for(repository)
    with pytest.raises(UnreadableStatementError, match="a file twice"):
        read(write(replace(statement, files=(*statement.files, statement.files[0]))))


def test_long_names_of_objects(tmp_path: Path) -> None:
    repository = Repository.discover(repositories.sha256(tmp_path).path)
    store(repository, statement_for(repository))
    (seal,) = find(repository, repository.tree_of("change"))
    assert damage(seal, repository.tree_of("change")) == ""
    assert differences(repository, statement_for(repository)) == ""


def test_the_files_of_a_seal_are_those_of_the_change(repository: Repository) -> None:
    statement = statement_for(repository)
    assert differences(repository, statement) == ""
    (first, *rest) = statement.files
    for files in (
        tuple(rest),
        (*statement.files, replace(first, path="more.py")),
        (replace(first, after=first.before), *rest),
        (replace(first, before=first.after), *rest),
    ):
        assert differences(repository, replace(statement, files=files)) != ""


@pytest.mark.parametrize("limit", ["0", "1000"])
def test_renames_are_no_matter_of_settings(tmp_path: Path, limit: str) -> None:
    """What one git calls a rename may be a deletion and a new file to the one that verifies."""
    text = "".join(f"line {number}\n" for number in range(40))
    builder = RepositoryBuilder(tmp_path).commit({"old.py": text, "gone.py": "x = 1\n"}).branch("change")
    builder.commit({"old.py": None, "gone.py": None, "new.py": text + "more\n"})
    builder.git.run("config", "diff.renameLimit", limit)
    repository = Repository.discover(tmp_path)
    old, gone, new = (builder.git.text("rev-parse", name) for name in ("main:old.py", "main:gone.py", "change:new.py"))
    fact = {"need": Need.CODE, "level": Level.READ}
    subject = freeze(repository, "change", "main")
    bare = replace(statement_for(repository, files=()), merge_base=subject.merge_base)
    renamed = SealedFile(path="new.py", before=old, after=new, **fact)  # pyright: ignore[reportArgumentType]
    deleted = SealedFile(path="gone.py", before=gone, after="", **fact)  # pyright: ignore[reportArgumentType]
    assert differences(repository, replace(bare, files=(deleted, renamed))) == ""
    apart = (deleted, replace(renamed, before=""), SealedFile(path="old.py", before=old, after="", **fact))  # pyright: ignore[reportArgumentType]
    assert differences(repository, replace(bare, files=apart)) == ""
    assert "gone.py was deleted" in differences(repository, replace(bare, files=(renamed,)))


def test_the_merge_base_is_told_by_the_commits_alone(branch_with_two_defects: RepositoryBuilder) -> None:
    builder = branch_with_two_defects
    repository = Repository.discover(builder.path)
    base, head = builder.git.text("rev-parse", "main"), builder.head
    expected = certain_merge_base(repository, base, head)
    (builder.path / ".git" / "shallow").write_text(f"{head}\n")
    assert certain_merge_base(repository, base, head) == expected
    assert repository.merge_base(base, head) is None


def test_a_signature_names_its_signer(repository: Repository, tmp_path: Path) -> None:
    key, stranger = make_key(tmp_path / "key"), make_key(tmp_path / "stranger")
    store(repository, statement_for(repository), signing_key=key)
    (seal,) = find(repository, repository.tree_of("change"))
    signers = allowed(tmp_path / "signers", "ci@example.com", key).read_bytes()
    others = allowed(tmp_path / "others", "x@example.com", stranger).read_bytes()
    elsewhere = allowed(tmp_path / "git", "ci@example.com", key, namespace="git").read_bytes()
    assert signer_of(seal.body, seal.signature, signers) == "ci@example.com"
    assert signer_of(seal.body, seal.signature, others + signers) == "ci@example.com"
    for refused in (others, elsewhere, b"", b"nonsense\n"):
        assert signer_of(seal.body, seal.signature, refused) is None
    assert signer_of(seal.body + b" ", seal.signature, signers) is None
    assert signer_of(seal.body, b"", signers) is None


def test_a_key_that_cannot_sign_is_said(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(SealError, match="no signing key"):
        store(repository, statement_for(repository), signing_key=tmp_path / "missing")
    with pytest.raises(SealError) as caught:
        store(repository, statement_for(repository), signing_key=make_key(tmp_path / "locked", "a passphrase"))
    assert "ssh-add" in caught.value.hint
    assert find(repository, repository.tree_of("change")) == []


def test_gits_own_key_is_used_where_the_user_asks_for_it(repository: Repository, tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    assert signing_key(repository, "", ask_git=False) is None
    with pytest.raises(SealError, match="no SSH key"):
        signing_key(repository, "", ask_git=True)
    repository.git.run("config", "user.signingKey", str(key))
    with pytest.raises(SealError, match="no SSH key"):  # it is the name of an OpenPGP key
        signing_key(repository, "", ask_git=True)
    repository.git.run("config", "gpg.format", "ssh")
    assert signing_key(repository, "", ask_git=True) == key
    assert signing_key(repository, str(tmp_path / "other"), ask_git=True) == tmp_path / "other"
    public = key.with_suffix(".pub").read_text().strip()
    repository.git.run("config", "user.signingKey", f"key::{public}")
    assert signing_key(repository, "", ask_git=True) == public
    with pytest.raises(SealError, match="cannot be signed"):  # no ssh-agent holds it
        store(repository, statement_for(repository), signing_key=public)
