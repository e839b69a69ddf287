"""Seals: what an approval says, stored in git beside the tree that it is bound to, and checked again.

A seal is an in-toto statement whose subject is a tree. It lives in a blob that `refs/burnish/seals/<tree>/…` keeps, so
that `git push origin 'refs/burnish/seals/*:refs/burnish/seals/*'` shares it. Its name is its digest: a changed byte
gives another name.
"""

import hashlib
from collections.abc import Collection
from pathlib import Path

from burnish.core.state import SealKind
from burnish.core.values import Value
from burnish.workspace.errors import GitError
from burnish.workspace.names import fields
from burnish.workspace.repository import Repository
from burnish.workspace.signatures import sign, signer_of
from burnish.workspace.statements import SealedFinding, SealedProtocol, Statement, UnreadableStatementError, read, write

__all__ = ["SealedFinding", "SealedProtocol", "Statement", "StoredSeal", "Verdict", "check", "find", "store"]

PREFIX = "refs/burnish/seals/"
BASE_POLICY = "base"
_NAME_LENGTH = 16
_SIGNATURE = ".sig"
_LOOKED_BACK = 50


class StoredSeal(Value):
    """A seal as it is stored. Whether it holds is for `check` to say."""

    ref: str
    digest: str
    """Of the bytes that are stored now."""
    body: bytes
    signature: bytes = b""
    statement: Statement | None = None
    problem: str = ""
    """Why there is no statement."""


class Verdict(Value):
    """Whether a tree carries a seal that holds, why not, and which one was looked at."""

    ok: bool
    reason: str
    seal: StoredSeal | None = None
    signer: str = ""


def store(repository: Repository, statement: Statement, signing_key: Path | None = None) -> str:
    """Store a seal, signed where there is a key; its digest. To store the same one again changes nothing."""
    body = write(statement)
    digest = hashlib.sha256(body).hexdigest()
    ref = f"{PREFIX}{statement.tree}/{digest[:_NAME_LENGTH]}"
    blobs = {ref: body}
    if signing_key is not None:
        blobs[ref + _SIGNATURE] = sign(body, signing_key)
    lines: list[str] = []
    for name, content in blobs.items():
        identity = repository.git.text("hash-object", "-w", "--stdin", stdin=content)
        lines.append(f"update {name} {identity}\n")
    repository.git.run("update-ref", "--stdin", stdin="".join(lines).encode())
    return digest


def find(repository: Repository, tree: str) -> list[StoredSeal]:
    """All seals that are stored for a tree, readable or not."""
    listing = repository.git.run("for-each-ref", "--format=%(refname)%00%(objectname)%00", f"{PREFIX}{tree}/")
    parts = [part.strip(b"\n").decode("utf-8", errors="replace") for part in fields(listing)]
    objects = dict(zip(parts[::2], parts[1::2], strict=True))
    return [
        _stored(repository, name, identity, objects.get(name + _SIGNATURE))
        for name, identity in objects.items()
        if not name.endswith(_SIGNATURE)
    ]


def _stored(repository: Repository, ref: str, identity: str, signature: str | None) -> StoredSeal:
    body = _blob(repository, identity)
    sealed = _blob(repository, signature) if signature else b""
    digest = hashlib.sha256(body).hexdigest()
    try:
        return StoredSeal(ref=ref, digest=digest, body=body, signature=sealed, statement=read(body))
    except UnreadableStatementError as error:
        return StoredSeal(ref=ref, digest=digest, body=body, signature=sealed, problem=str(error))


def _blob(repository: Repository, identity: str) -> bytes:
    try:
        return repository.git.run("cat-file", "blob", identity)
    except GitError:
        return b""


class _Demands(Value):
    protocol_digest: str | None
    kinds: frozenset[SealKind]
    signers: Path | None
    base_policy: bool


def check(
    repository: Repository,
    ref: str,
    *,
    required_protocol_digest: str | None = None,
    allowed_kinds: Collection[SealKind] = (SealKind.APPROVED,),
    allowed_signers: Path | None = None,
    require_base_policy: bool = False,
) -> Verdict:
    """Whether the exact tree of a commit carries a seal that holds."""
    commit = repository.commit_of(ref)
    tree = repository.tree_of(commit)
    demands = _Demands(
        protocol_digest=required_protocol_digest,
        kinds=frozenset(allowed_kinds),
        signers=allowed_signers,
        base_policy=require_base_policy,
    )
    verdicts = [_check_one(repository, seal, (commit, tree), demands) for seal in find(repository, tree)]
    if not verdicts:
        return Verdict(ok=False, reason=_no_seal(repository, commit, tree))
    return next((verdict for verdict in verdicts if verdict.ok), verdicts[-1])


def _check_one(repository: Repository, seal: StoredSeal, subject: tuple[str, str], demands: _Demands) -> Verdict:
    commit, tree = subject
    problem = _tampered(seal, tree) or _not_as_demanded(seal, demands)
    statement = seal.statement
    if problem is None and statement is not None and not _is_ancestor(repository, statement.merge_base, commit):
        problem = f"The seal's merge base {statement.merge_base[:12]} is not in the history of {commit[:12]}."
        problem += " This clone is shallow: fetch its history." if repository.is_shallow else ""
    if problem is not None or statement is None:
        return Verdict(ok=False, reason=problem or seal.problem, seal=seal)
    if demands.signers is None:
        return Verdict(ok=True, reason=_words(statement), seal=seal)
    if not seal.signature:
        return Verdict(ok=False, reason="The seal is not signed, and a signature is asked for.", seal=seal)
    signer = signer_of(seal.body, seal.signature, demands.signers)
    if signer is None:
        reason = f"The seal's signature is not by anybody in {demands.signers}."
        return Verdict(ok=False, reason=reason, seal=seal)
    return Verdict(ok=True, reason=f"{_words(statement)} Signed by {signer}.", seal=seal, signer=signer)


def _tampered(seal: StoredSeal, tree: str) -> str | None:
    name = seal.ref.rpartition("/")[2]
    if not seal.body:
        return f"The seal {name} cannot be read from the repository."
    if not seal.digest.startswith(name) or len(name) != _NAME_LENGTH:
        return f"The seal {name} was changed: its content has the digest {seal.digest[:_NAME_LENGTH]}."
    if seal.statement is None:
        return f"The seal {name} cannot be read: {seal.problem}"
    if seal.statement.tree != tree:
        return f"The seal {name} is for the tree {seal.statement.tree[:12]}, not for {tree[:12]}."
    return None


def _not_as_demanded(seal: StoredSeal, demands: _Demands) -> str | None:
    statement = seal.statement
    if statement is None:
        return seal.problem
    if not demands.kinds.issuperset(statement.kinds):
        allowed = " or ".join(sorted(kind.value for kind in demands.kinds))
        return f"The seal is of kind {_kinds(statement)}; {allowed} is asked for."
    if demands.protocol_digest not in (None, statement.protocol.digest):
        return f"The seal was made under another version of a protocol than asked for: '{statement.protocol.name}'."
    if demands.base_policy and statement.policy_origin != BASE_POLICY:
        return f"The policy of the review came from the {statement.policy_origin or 'unknown'}, not from the base."
    return None


def _kinds(statement: Statement) -> str:
    return ", ".join(kind.value for kind in statement.kinds)


def _words(statement: Statement) -> str:
    return f"{_kinds(statement).capitalize()} by run {statement.run} under protocol '{statement.protocol.name}'."


def _is_ancestor(repository: Repository, ancestor: str, commit: str) -> bool:
    try:
        return repository.is_ancestor(ancestor, commit)
    except GitError:  # a commit that is not here
        return False


def _no_seal(repository: Repository, commit: str, tree: str) -> str:
    listing = repository.git.text("for-each-ref", "--format=%(refname)", PREFIX)
    sealed = {name.removeprefix(PREFIX).split("/")[0] for name in listing.splitlines()}
    history = repository.git.text("log", f"--max-count={_LOOKED_BACK}", "--format=%T %h", commit).splitlines()
    for line in history:
        former, _, name = line.partition(" ")
        if former in sealed:
            return f"The tree {tree[:12]} carries no seal; that of {name} does, but files changed since."
    return f"The tree {tree[:12]} carries no seal."
