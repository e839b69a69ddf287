"""The objects of a repository as others may share them: where they are, and that none is missing."""

from collections.abc import Iterable
from pathlib import Path

from burnish.workspace.errors import GitError, MissingObjectsError
from burnish.workspace.names import to_bytes, to_text
from burnish.workspace.repository import Repository

_DEPTH = 5
"""How far git itself follows alternates of alternates."""


def object_folders(repository: Repository) -> tuple[Path, ...]:
    """Where a repository's objects are: its own folder, and those that it shares itself."""
    found: list[Path] = []
    waiting = [(repository.common_dir / "objects", 0)]
    while waiting:
        folder, depth = waiting.pop(0)
        if folder in found or not folder.is_dir():
            continue
        found.append(folder)
        if depth < _DEPTH:
            waiting += [(further, depth + 1) for further in _alternates(folder)]
    return tuple(found)


def git_folders(repository: Repository) -> tuple[Path, ...]:
    """Every repository's own directory that objects come from, and the one around it where it is a submodule's.

    Beside the objects, they hold what is no agent's business: addresses with passwords, in the settings of modules and
    work trees as well, hooks, logs, and what burnish itself keeps.
    """
    found = [folder.parent for folder in object_folders(repository)]
    outermost = (Path(*folder.parts[: folder.parts.index(".git") + 1]) for folder in found if ".git" in folder.parts)
    return tuple(dict.fromkeys((repository.common_dir, *found, *outermost)))


def _alternates(folder: Path) -> list[Path]:
    try:
        lines = (folder / "info" / "alternates").read_bytes().split(b"\n")
    except OSError:
        return []
    return [_resolved(folder, line) for line in lines if line and not line.startswith(b"#")]


def _resolved(folder: Path, line: bytes) -> Path:
    text = to_text(line)
    if text.startswith('"') and text.endswith('"'):
        text = to_text(text[1:-1].encode("utf-8", "surrogateescape").decode("unicode_escape").encode("latin-1"))
    return (folder / text).resolve()


def alternates_file(folders: Iterable[Path]) -> bytes:
    """The content of `objects/info/alternates`. Names that git would misread are quoted as it does."""
    return b"".join(_line(to_bytes(str(folder))) + b"\n" for folder in folders)


def _line(name: bytes) -> bytes:
    if not name.startswith((b'"', b"#")) and b"\n" not in name and b"\\" not in name:
        return name
    quoted = b"".join(b"\\%03o" % byte if byte < 32 or byte in b'"\\' else bytes((byte,)) for byte in name)
    return b'"' + quoted + b'"'


def ensure_objects(repository: Repository, base: str, head: str) -> None:
    """Make sure that everything of a change is here. What a partial clone left out is fetched now, in one go.

    Agents get no network and no remote: what is missing now would be missing for them.
    """
    missing = _missing(repository, base, head)
    if not missing:
        return
    remote = repository.git.text("config", "--get", "extensions.partialClone", check=False) or "origin"
    try:
        repository.git.run(
            *("-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"),
            *("--recurse-submodules=no", "--filter=blob:none", "--stdin", remote),
            stdin="".join(f"{name}\n" for name in missing).encode(),
        )
    except GitError as error:
        raise _missing_error(len(missing), error.said) from None
    left = _missing(repository, base, head)
    if left:
        raise _missing_error(len(left), f"'{remote}' does not have them")


def _missing(repository: Repository, base: str, head: str) -> list[str]:
    if not repository.is_partial:
        return []
    listing = ("rev-list", "--objects", "--no-object-names", "--missing=print")
    found: set[str] = set()
    for selection in (("--no-walk", base, head), (head, f"^{base}")):
        lines = repository.git.text(*listing, *selection).splitlines()
        found.update(line[1:] for line in lines if line.startswith("?"))
    return sorted(found)


def _missing_error(number: int, reason: str) -> MissingObjectsError:
    return MissingObjectsError(
        f"This partial clone lacks {number} object{'s' if number != 1 else ''} of the change: {reason}.",
        hint="Fetch them while the remote is reachable: `git fetch --refetch` gets everything.",
    )
