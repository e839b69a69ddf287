"""What the words after `burnish review` mean: a branch, a commit, a range or files, as people know them from git.

A branch is reviewed against its base. Any other commit is where the review begins: what came after it, up to HEAD.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from burnish.core.values import Value, replace
from burnish.workspace import references
from burnish.workspace.errors import SubjectError
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository

_RANGE = ("...", "..")


class NamedSubject(Value):
    """What is to be reviewed, by name."""

    branch: str | None = None
    base: str | None = None
    paths: tuple[str, ...] = ()
    """From the root of the repository; all, where there are none."""


def subject_named(repository: Repository, folder: Path, words: Sequence[str]) -> NamedSubject:
    """Read the words. Raises `SubjectError` for one that means nothing, or several things."""
    if not words:
        return NamedSubject()
    first = _revision(repository, words[0])
    if first is not None and _is_file(folder, words[0]):
        raise SubjectError(
            f"'{shown(words[0])}' is a commit and a file.", hint=f"For the file, write ./{shown(words[0])}."
        )
    rest = words if first is None else words[1:]
    paths = tuple(_path(repository, folder, word) for word in rest)
    return replace(first or NamedSubject(), paths=paths if "" not in paths else ())


def single_commit(repository: Repository, name: str) -> NamedSubject:
    """One commit by itself: what it changed in its parent."""
    commit = repository.commit_of(name)
    parents = repository.git.text("rev-list", "--parents", "--max-count=1", commit).split()[1:]
    if not parents:
        raise SubjectError(f"'{name}' is the first commit: nothing came before it.", hint="Name a later one.")
    return NamedSubject(branch=commit, base=parents[0])


def _revision(repository: Repository, word: str) -> NamedSubject | None:
    """The branch, commit or range that a word names; None where it names none."""
    for dots in _RANGE:
        base, found, branch = word.partition(dots)
        if found and not word.startswith((".", "/")):
            ends = [end or "HEAD" for end in (base, branch)]
            known = references.commits(repository.git, *ends)
            for end in ends:
                if known[end] is None:
                    references.commit_of(repository.git, end)  # says which one is meant, perhaps
            return NamedSubject(base=ends[0], branch=ends[1])
    if references.commits(repository.git, word)[word] is None:
        return None
    if references.is_branch(repository.git, word) or _is_remote_branch(repository, word) or word in ("HEAD", "@"):
        return NamedSubject(branch=word if word != "@" else "HEAD")
    return NamedSubject(base=word)


def _is_remote_branch(repository: Repository, word: str) -> bool:
    return repository.git.objects(f"{references.REMOTES}{word}^{{commit}}")[0] is not None


def _is_file(folder: Path, word: str) -> bool:
    return os.path.lexists(folder / word) and word not in (".", "..")


def _path(repository: Repository, folder: Path, word: str) -> str:
    place = Path(os.path.normpath(folder.absolute() / word))
    if not place.is_relative_to(repository.root):
        hint = f"Name files below {repository.root}, or change to the repository that has it."
        raise SubjectError(f"'{shown(word)}' is outside this repository.", hint=hint)
    path = place.relative_to(repository.root).as_posix()
    if path == ".":
        return ""
    known = os.path.lexists(place) or repository.git.objects(f"HEAD:{path}")[0] is not None
    if not known:
        raise SubjectError(
            f"'{shown(word)}' is neither a branch, a commit nor a file.",
            hint=f"{references.closest(repository.git, word)} For a file, give its path from where you are.",
        )
    return path
