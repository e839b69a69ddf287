"""Seals: bound to the exact tree, noticed when tampered with, signed where asked for."""

import hashlib
import json
from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView

from burnish.core.findings import FindingStatus, Severity
from burnish.core.state import SealKind
from burnish.core.values import replace
from burnish.system.process import Command, run_now
from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.errors import SealError
from burnish.workspace.git import Git
from burnish.workspace.repository import Repository
from burnish.workspace.seals import SealedFinding, SealedProtocol, Statement, check, find, store
from burnish.workspace.statements import UnreadableStatementError, read, write


def statement_for(repository: Repository, **changed: object) -> Statement:
    subject = repository.freeze("change", "main")
    statement = Statement(
        branch="change",
        run="20261115-081500-k3f9q2",
        kinds=(SealKind.APPROVED,),
        merge_base=subject.merge_base,
        base_commit=subject.base_commit,
        head=subject.head,
        tree=subject.tree,
        protocol=SealedProtocol(name="default", digest="d" * 64),
        policy_origin="base",
        reviewers=("critic", "witness"),
        sealed_at=1_700_000_000.0,
        given={"critic": "a" * 64, "witness": "b" * 64},
        findings=(SealedFinding(id="f1", severity=Severity.HIGH, status=FindingStatus.RESOLVED, note="größe"),),
    )
    return replace(statement, **changed)


def test_a_seal_is_a_statement_about_a_tree(repository: Repository) -> None:
    statement = statement_for(repository)
    document = json.loads(write(statement))
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["subject"] == [{"name": "change", "digest": {"gitTree": statement.tree}}]
    assert document["predicateType"] == "urn:burnish:seal:v1"
    assert document["predicate"]["kind"] == "approved"
    assert document["predicate"]["sealed_at"] == "2023-11-14T22:13:20Z"
    assert document["predicate"]["findings"] == [
        {"id": "f1", "severity": "high", "status": "resolved", "note": "größe"}
    ]
    assert read(write(statement)) == statement
    assert write(read(write(statement))) == write(statement)


def test_a_sealed_tree_is_verified(repository: Repository, users_view: UsersView) -> None:
    before = users_view(repository.root)
    digest = store(repository, statement_for(repository))
    verdict = check(repository, "change", required_protocol_digest="d" * 64, require_base_policy=True)
    assert verdict.ok
    assert verdict.reason == "Approved by run 20261115-081500-k3f9q2 under protocol 'default'."
    assert verdict.seal is not None
    assert verdict.seal.digest == digest
    assert verdict.seal.statement == statement_for(repository)
    assert store(repository, statement_for(repository)) == digest
    assert len(find(repository, repository.tree_of("change"))) == 1
    assert users_view(repository.root) == before


def test_a_commit_with_the_same_tree_is_sealed_too(
    branch_with_two_defects: RepositoryBuilder, repository: Repository
) -> None:
    store(repository, statement_for(repository))
    branch_with_two_defects.git.run("commit", "--quiet", "--amend", "-m", "Other words")
    assert check(repository, "HEAD").ok


def test_one_byte_voids_a_seal(branch_with_two_defects: RepositoryBuilder, repository: Repository) -> None:
    store(repository, statement_for(repository))
    branch_with_two_defects.commit({"calc.py": (repository.root / "calc.py").read_text() + " "})
    verdict = check(repository, "change")
    assert not verdict.ok
    assert "but files changed since" in verdict.reason


def test_no_seal_is_said(repository: Repository) -> None:
    verdict = check(repository, "change")
    assert not verdict.ok
    assert verdict.reason == f"The tree {repository.tree_of('change')[:12]} carries no seal."


def replant(repository: Repository, old: bytes, new: bytes) -> None:
    """Put other bytes where a seal is stored."""
    (seal,) = find(repository, repository.tree_of("change"))
    blob = repository.git.text("hash-object", "-w", "--stdin", stdin=seal.body.replace(old, new))
    repository.git.run("update-ref", seal.ref, blob)


@pytest.mark.parametrize(
    ("old", "new"), [(b'"resolved"', b'"refuted"'), (b"critic", b"cynic"), (b"{", b"["), (b"}", b"")]
)
def test_a_seal_that_was_changed_is_noticed(repository: Repository, old: bytes, new: bytes) -> None:
    store(repository, statement_for(repository))
    replant(repository, old, new)
    verdict = check(repository, "change")
    assert not verdict.ok
    assert "was changed" in verdict.reason


def test_a_seal_for_another_tree_is_noticed(repository: Repository) -> None:
    other = statement_for(repository, tree=repository.tree_of("main"))
    digest = store(repository, other)
    blob = repository.git.text("rev-parse", f"refs/burnish/seals/{other.tree}/{digest[:16]}")
    repository.git.run("update-ref", f"refs/burnish/seals/{repository.tree_of('change')}/{digest[:16]}", blob)
    verdict = check(repository, "change")
    assert not verdict.ok
    assert "is for the tree" in verdict.reason


def test_bytes_that_are_no_statement_are_said(repository: Repository) -> None:
    tree = repository.tree_of("change")
    body = b'{"_type":"x"}'
    blob = repository.git.text("hash-object", "-w", "--stdin", stdin=body)
    name = hashlib.sha256(body).hexdigest()[:16]
    repository.git.run("update-ref", f"refs/burnish/seals/{tree}/{name}", blob)
    assert "cannot be read" in check(repository, "change").reason


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"kind": SealKind.SELF_REVIEWED}, "of kind self-reviewed; approved is asked for"),
        ({"kind": SealKind.ACCEPTED}, "of kind accepted"),
        ({"policy_origin": "work tree"}, "came from the work tree"),
        ({"protocol": SealedProtocol(name="mine", digest="e" * 64)}, "another version of a protocol"),
        ({"merge_base": "1" * 40}, "merge base 111111111111 is not in the history"),
    ],
)
def test_a_seal_that_is_not_as_demanded_is_refused(
    repository: Repository, changed: dict[str, object], reason: str
) -> None:
    store(repository, statement_for(repository, **changed))
    verdict = check(repository, "change", required_protocol_digest="d" * 64, require_base_policy=True)
    assert not verdict.ok
    assert reason in verdict.reason


def test_other_kinds_pass_where_they_are_allowed(repository: Repository) -> None:
    store(repository, statement_for(repository, kind=SealKind.ACCEPTED))
    assert check(repository, "change", allowed_kinds=[SealKind.APPROVED, SealKind.ACCEPTED]).ok


def test_one_good_seal_is_enough(repository: Repository) -> None:
    for kind in (SealKind.ACCEPTED, SealKind.APPROVED, SealKind.SELF_REVIEWED):
        store(repository, statement_for(repository, kind=kind))
    assert check(repository, "change").ok


def test_a_statement_that_contradicts_itself_is_unreadable(repository: Repository) -> None:
    body = write(statement_for(repository))
    tree = repository.tree_of("change").encode()
    with pytest.raises(UnreadableStatementError, match="different trees"):
        read(body.replace(b'"gitTree":"' + tree, b'"gitTree":"' + b"1" * 40))
    with pytest.raises(UnreadableStatementError, match="another type"):
        read(body.replace(b"urn:burnish:seal:v1", b"urn:other"))
    for broken in (b"", b"[]", b"\xff", body.replace(b"2023-", b"x-"), b"[" * 100_000):
        with pytest.raises(UnreadableStatementError):
            read(broken)


def test_seals_are_pushed_and_fetched_with_git(repository: Repository, tmp_path: Path) -> None:
    store(repository, statement_for(repository))
    repository.git.run("clone", "--quiet", "--bare", str(repository.root), str(tmp_path / "hub.git"))
    repository.git.run("push", "--quiet", str(tmp_path / "hub.git"), "refs/burnish/seals/*:refs/burnish/seals/*")
    Git(tmp_path).run("clone", "--quiet", str(tmp_path / "hub.git"), str(tmp_path / "other"))
    Git(tmp_path / "other").run("fetch", "--quiet", "origin", "refs/burnish/seals/*:refs/burnish/seals/*")
    assert check(Repository.discover(tmp_path / "other"), "origin/change").ok


def test_a_shallow_clone_is_told_what_it_lacks(repository: Repository, tmp_path: Path) -> None:
    store(repository, statement_for(repository))
    shallow = RepositoryBuilder(repository.root).clone(tmp_path / "shallow", "--depth=1", "--branch=change")
    shallow.git.run("fetch", "--quiet", "origin", "refs/burnish/seals/*:refs/burnish/seals/*")
    verdict = check(Repository.discover(shallow.path), "HEAD")
    assert not verdict.ok
    assert "shallow" in verdict.reason


def test_long_names_of_objects(tmp_path: Path) -> None:
    repository = Repository.discover(repositories.sha256(tmp_path).path)
    store(repository, statement_for(repository))
    assert check(repository, "change").ok


def make_key(path: Path, passphrase: str = "") -> Path:
    argv = ("ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", "", "-f", str(path))
    finished = run_now(Command(argv=argv, folder="/", environment={"PATH": "/usr/bin:/bin:/usr/local/bin"}), seconds=60)
    assert finished.code == 0, finished
    return path


def allowed(path: Path, name: str, key: Path) -> Path:
    path.write_text(f'{name} namespaces="burnish" {key.with_suffix(".pub").read_text()}')
    return path


def test_a_signed_seal_names_its_signer(repository: Repository, tmp_path: Path) -> None:
    key, stranger = make_key(tmp_path / "key"), make_key(tmp_path / "stranger")
    signers = allowed(tmp_path / "signers", "ci@example.com", key)
    store(repository, statement_for(repository), signing_key=key)
    verdict = check(repository, "change", allowed_signers=signers)
    assert verdict.ok
    assert verdict.signer == "ci@example.com"
    refused = check(repository, "change", allowed_signers=allowed(tmp_path / "others", "x@example.com", stranger))
    assert not refused.ok
    assert "not by anybody" in refused.reason


def test_an_unsigned_seal_is_refused_where_a_signature_is_asked_for(repository: Repository, tmp_path: Path) -> None:
    signers = allowed(tmp_path / "signers", "ci@example.com", make_key(tmp_path / "key"))
    store(repository, statement_for(repository))
    assert "not signed" in check(repository, "change", allowed_signers=signers).reason


def test_a_signature_of_another_seal_does_not_count(repository: Repository, tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    signers = allowed(tmp_path / "signers", "ci@example.com", key)
    store(repository, statement_for(repository), signing_key=key)
    (signed,) = find(repository, repository.tree_of("change"))
    signature = repository.git.text("rev-parse", f"{signed.ref}.sig")
    repository.git.run("update-ref", "-d", signed.ref)
    repository.git.run("update-ref", "-d", f"{signed.ref}.sig")
    store(repository, statement_for(repository, run="forged"))
    (forged,) = find(repository, repository.tree_of("change"))
    repository.git.run("update-ref", f"{forged.ref}.sig", signature)
    assert not check(repository, "change", allowed_signers=signers).ok


def test_a_key_that_cannot_sign_is_said(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(SealError, match="no signing key"):
        store(repository, statement_for(repository), signing_key=tmp_path / "missing")
    with pytest.raises(SealError) as caught:
        store(repository, statement_for(repository), signing_key=make_key(tmp_path / "locked", "a passphrase"))
    assert "ssh-add" in caught.value.hint
    store(repository, statement_for(repository), signing_key=make_key(tmp_path / "key"))
    with pytest.raises(SealError, match="allowed signers"):
        check(repository, "change", allowed_signers=tmp_path / "missing")
    assert find(repository, repository.tree_of("main")) == []
