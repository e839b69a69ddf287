"""Disposable clones of a repository of 50,000 files, against `git worktree add`, which shares what it must not."""

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, compare
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clones
from burnish.workspace.git import Git
from burnish.workspace.repository import Repository

FILES = 50_000
TIMES = 2  # every repeat writes 100,000 files, which must be removed again


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".benchmarks-") as folder:  # memory is no disk
        root = Path(folder)
        builder = _many_files(root / "work")
        yield _made(builder, root, writable=True)
        yield _made(builder, root, writable=False)
        yield _compared(builder, root)


def _many_files(path: Path) -> RepositoryBuilder:
    """Written by fast-import: only the clones check the files out."""
    builder = RepositoryBuilder(path)
    stream = b"blob\nmark :1\ndata 6\nx = 1\n\ncommit refs/heads/main\ncommitter A <a@example.com> 1700000000 +0000\n"
    names = "".join(f"M 100644 :1 package_{number % 500}/module_{number}.py\n" for number in range(FILES))
    builder.git.run("fast-import", "--quiet", stdin=stream + b"data 4\nMany\n" + names.encode() + b"\n")
    return builder


def _made(builder: RepositoryBuilder, root: Path, *, writable: bool) -> Figure:
    clones = Clones(Repository.discover(builder.path), root / "clones")
    commit = builder.git.text("rev-parse", "main")
    numbers = itertools.count(1_000 if writable else 2_000)
    return compare(
        f"clone of {FILES:,} files for a {'fixer' if writable else 'reviewer'}",
        lambda: clones.make(f"clone-{next(numbers)}", commit, commit, writable=writable),
        lambda: builder.git.run("worktree", "add", "--quiet", "--detach", str(root / f"tree-{next(numbers)}"), "main"),
        against="git worktree add",
        limit=2.5 if writable else 3,
        times=TIMES,
    )


def _compared(builder: RepositoryBuilder, root: Path) -> Figure:
    """What a review pays twice: to look at everything, and to look again."""
    clones = Clones(Repository.discover(builder.path), root / "compared")
    commit = builder.git.text("rev-parse", "main")
    clone = clones.make("clone", commit, commit, writable=False)

    def look_twice() -> None:
        clones.fingerprint(clone, clones.fingerprint(clone))

    status = Git(clone.path, isolated=True)
    return compare(
        f"proof that nothing was written to {FILES:,} files",
        look_twice,
        lambda: status.run("status", "--porcelain", "--ignored"),
        against="git status of the same files",
        limit=12,
        times=TIMES,
    )
