"""Seals as git stores them: written, found again, and looked at for damage. Whether one holds is for `verify` to say.

A seal is an in-toto statement whose subject is a tree. It lives in a blob that `refs/burnish/seals/<tree>/…` keeps, so
that `git push origin 'refs/burnish/seals/*:refs/burnish/seals/*'` shares it. Its name is its digest: a changed byte
gives another name. That protects against accidents, not against attacks: anyone who can write refs can write a seal.
"""

import hashlib
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from burnish.core.values import Value
from burnish.system.process import Command, Finished, How, run_now
from burnish.workspace.diffs import read_raw
from burnish.workspace.errors import GitError, SealError
from burnish.workspace.git import Git
from burnish.workspace.names import fields
from burnish.workspace.repository import Repository
from burnish.workspace.statements import Statement, UnreadableStatementError, read, write

PREFIX = "refs/burnish/seals/"
_NAME_LENGTH = 16
_SIGNATURE = ".sig"
_LOOKED_BACK = 50
NAMESPACE = "burnish"
_SECONDS = 60.0
_LITERAL = ("key::", "ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-")
"""How git's user.signingKey begins where it is a public key, not the path of one."""


class StoredSeal(Value):
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
    present = {entry.shown_path: entry.new_object for entry in entries if entry.status != "D"}
    gone = {entry.shown_path: entry.old_object for entry in entries if entry.status == "D"}
    before = {file.path: file.before for file in statement.files}
    after = {file.path: file.after for file in statement.files}
    if len(present) + len(gone) != len(entries):
        return "two files have the same printable name"
    for path, content in present.items():
        if after.get(path) != content:
            return f"{path} is listed with other content"
    known = frozenset(before.values())
    for path, content in gone.items():
        if content not in known or before.get(path, content) != content:
            return f"{path} was deleted, but is not listed"
    if not before.keys() <= {*present, *gone}:
        return "it lists files that were not changed"
    if any(before[entry.shown_path] != entry.old_object for entry in entries if entry.status in "MT"):
        return "it lists files with content that they never had"
    return ""


def signing_key(repository: Repository, path: str, *, ask_git: bool) -> Path | str | None:
    """The key that seals are signed with: the one that is named, else git's own where it is asked for.

    A text is a public key whose private half an ssh-agent holds. Raises `SealError` where git has no SSH key.
    """
    if path:
        return Path(path).expanduser()
    if not ask_git:
        return None
    own = {
        name: repository.git.text("config", "--get", name, check=False) for name in ("gpg.format", "user.signingKey")
    }
    if own["gpg.format"] != "ssh" or not own["user.signingKey"]:
        raise SealError(
            "The seal cannot be signed: git has no SSH key to sign with.",
            hint="Set gpg.format to ssh and user.signingKey in git, or signing_key in [seal] of your own settings.",
        )
    key = own["user.signingKey"]
    return key.removeprefix("key::") if key.startswith(_LITERAL) else Path(key).expanduser()


def sign(body: bytes, key: Path | str) -> bytes:
    """A signature over these bytes. The key may be a public one whose private half an ssh-agent holds."""
    with _file_of(key) as path:
        finished = _ssh_keygen("sign", "-q", "-n", NAMESPACE, "-f", str(path), stdin=body)
    if finished.code != 0 or not finished.stdout:
        raise SealError(
            f"The seal cannot be signed with '{key}': {_last_line(finished)}.",
            hint="A key with a passphrase must be in an ssh-agent: run `ssh-add`, and name the public key.",
        )
    return finished.stdout


@contextmanager
def _file_of(key: Path | str) -> Generator[Path]:
    if isinstance(key, str):
        with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
            path = Path(folder) / "key.pub"
            path.write_text(f"{key}\n", encoding="utf-8")
            yield path
        return
    if not key.is_file():
        raise SealError(f"There is no signing key '{key}'.", hint="Set it to the file of an SSH key.")
    yield key


def signer_of(body: bytes, signature: bytes, allowed_signers: bytes) -> str | None:
    """Which of the allowed signers (in the format of `ssh-keygen`) signed these bytes; None where none did."""
    if not signature:
        return None
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        file, signers = Path(folder) / "signature", Path(folder) / "signers"
        file.write_bytes(signature)
        signers.write_bytes(allowed_signers)
        allowed = ("-f", str(signers), "-s", str(file))
        found = _ssh_keygen("find-principals", *allowed, stdin=body)
        names = found.stdout.decode("utf-8", errors="replace").splitlines() if found.code == 0 else []
        for name in names:
            if _ssh_keygen("verify", "-I", name, "-n", NAMESPACE, *allowed, stdin=body).code == 0:
                return name
    return None


def _ssh_keygen(action: str, *arguments: str, stdin: bytes) -> Finished:
    kept = ("PATH", "HOME", "SSH_AUTH_SOCK")
    environment = {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C"}
    command = Command(argv=("ssh-keygen", "-Y", action, *arguments), folder="/", environment=environment, stdin=stdin)
    finished = run_now(command, seconds=_SECONDS)
    if finished.how is not How.EXITED:
        raise SealError(
            f"`ssh-keygen` did not run: {finished.message or finished.how.value}.",
            hint="Signatures need OpenSSH 8.2 or later.",
        )
    return finished


def _last_line(finished: Finished) -> str:
    lines = finished.stderr_tail.strip().splitlines()
    return lines[-1].strip() if lines else f"exit code {finished.code}"
