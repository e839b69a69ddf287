"""Seals as git stores them: written, found again, and looked at for damage. Whether one holds is for `verify` to say.

A seal is an in-toto statement whose subject is a tree. It lives in a blob that `refs/burnish/seals/<tree>/…` keeps, so
that `git push origin 'refs/burnish/seals/*:refs/burnish/seals/*'` shares it. Its name is its digest: a changed byte
gives another name. That protects against accidents, not against attacks: anyone who can write refs can write a seal.
"""

import hashlib
from pathlib import Path

from burnish.core.values import Value
from burnish.workspace.errors import GitError, SealError
from burnish.workspace.git import Git
from burnish.workspace.names import fields, shown
from burnish.workspace.patches import read_raw
from burnish.workspace.repository import Repository
from burnish.workspace.signatures import sign
from burnish.workspace.statements import Statement, UnreadableStatementError, read, write

PREFIX = "refs/burnish/seals/"
_NAME_LENGTH = 16
_SIGNATURE = ".sig"
_LOOKED_BACK = 50


class StoredSeal(Value):
    """A seal as it is stored."""

    ref: str
    digest: str
    """Of the bytes that are stored now."""
    body: bytes
    signature: bytes = b""
    statement: Statement | None = None
    problem: str = ""
    """Why there is no statement."""


def store(repository: Repository, statement: Statement, signing_key: Path | str | None = None) -> str:
    """Store a seal, signed where there is a key; its digest. To store the same one again changes nothing."""
    body = write(statement)
    try:
        read(body)
    except UnreadableStatementError as error:
        raise SealError(
            f"The seal contradicts itself: {error}", hint="Please report this as a bug of burnish."
        ) from None
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
        return repository.git.content(identity)
    except GitError:
        return b""


def damage(seal: StoredSeal, tree: str) -> str:
    """What is wrong with a seal for this tree by itself; nothing where it is whole."""
    name = seal.ref.rpartition("/")[2]
    if not seal.body:
        return f"The seal {name} cannot be read from the repository."
    if seal.statement is None:
        return f"The seal {name} cannot be read: {seal.problem}"
    if not seal.digest.startswith(name) or len(name) != _NAME_LENGTH:
        return f"The seal {name} was changed: its content has the digest {seal.digest[:_NAME_LENGTH]}."
    if seal.statement.tree != tree:
        return f"The seal {name} is for the tree {seal.statement.tree[:12]}, not for {tree[:12]}."
    return ""


def why_none(repository: Repository, commit: str, tree: str) -> str:
    """What to say of a commit whose tree carries no seal."""
    listing = repository.git.text("for-each-ref", "--format=%(refname)", PREFIX)
    sealed = {name.removeprefix(PREFIX).split("/")[0] for name in listing.splitlines()}
    history = repository.git.text("log", f"--max-count={_LOOKED_BACK}", "--format=%T %h", commit).splitlines()
    for line in history:
        former, _, name = line.partition(" ")
        if former in sealed:
            return f"The tree {tree[:12]} has no seal. The tree of {name} has one, but files have changed since."
    return f"The tree {tree[:12]} has no seal."


def certain_merge_base(repository: Repository, base: str, head: str) -> str | None:
    """The merge base of two commits as the commits themselves tell it; None where there is none, or history is cut.

    Files beside the objects that say something else about parents are left aside: replacements and grafts always, and
    here also the list of shallow commits and the commit graph, which anyone who can write refs can write, too.
    """
    git = Git(repository.root, settings={"core.commitGraph": "false"})
    finished = git.finish("merge-base", base, head, environment={"GIT_SHALLOW_FILE": ""})
    return finished.stdout.decode().strip() or None if finished.code == 0 else None


def differences(repository: Repository, statement: Statement) -> str:
    """Where the files of a statement are not those that differ between its merge base and its tree.

    Renames are a matter of opinion, on which settings and versions of git differ. So files are compared by what is at
    each path, and what is gone by its content.
    """
    git = repository.objects
    listing = git.about(
        "diff-tree", "-r", "--no-renames", "--raw", "-z", "--full-index", statement.merge_base, statement.tree
    )
    entries = read_raw(listing)
    present = {shown(entry.path): entry.new_object for entry in entries if entry.status != "D"}
    gone = {shown(entry.path): entry.old_object for entry in entries if entry.status == "D"}
    sealed = {file.path: file for file in statement.files}
    if len(present) + len(gone) != len(entries):
        return "two files have the same printable name"
    for path, after in present.items():
        if path not in sealed or sealed[path].after != after:
            return f"{path} is listed with other content"
    before = {file.before for file in statement.files}
    for path, content in gone.items():
        if content not in before or (path in sealed and sealed[path].before != content):
            return f"{path} was deleted, but is not listed"
    if not sealed.keys() <= {*present, *gone}:
        return "it lists files that were not changed"
    old = {shown(entry.path): entry.old_object for entry in entries if entry.status in "MT"}
    if any(sealed[path].before != content for path, content in old.items()):
        return "it lists files with content that they never had"
    return ""
