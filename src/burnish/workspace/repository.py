"""The user's repository, to look at. Nothing here changes its checkout, its index, its branches or its settings."""

import os
import posixpath
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from burnish.workspace import references
from burnish.workspace.errors import GitError, NotARepositoryError, UnknownReferenceError
from burnish.workspace.git import NO_FILE, Git, TreeEntry, tree_entries
from burnish.workspace.names import fields, to_bytes, to_text
from burnish.workspace.references import BRANCHES

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LINKS_FOLLOWED = 8
_LISTINGS_KEPT = 3
"""The files of the base, of the change, and of a fix."""
_TAKEN = frozenset({"break-glass", "kept", "seals"})
"""Folders below `refs/burnish/`."""


class Repository:
    """A repository and one of its work trees."""

    def __init__(self, root: Path, common_dir: Path, object_format: str) -> None:
        self.root = root
        self.common_dir = common_dir
        self.state_dir = common_dir / "burnish"
        self.object_format = object_format
        self.git = Git(root)
        self._tracked: tuple[object, frozenset[str]] = (None, frozenset())
        self._files: dict[str, frozenset[str]] = {}
        self._listing_files = threading.Lock()

    @classmethod
    def discover(cls, folder: Path) -> "Repository":
        if not folder.is_dir():
            raise NotARepositoryError(f"There is no folder '{folder}'.", hint="Check the path.")
        git = Git(folder)
        _refuse_planted(folder.resolve())
        about = ("--is-inside-work-tree", "--is-bare-repository", "--show-object-format")
        # Without a work tree, git prints all but its root, and fails.
        asked = git.finish("rev-parse", *about, "--path-format=absolute", "--git-common-dir", "--show-toplevel")
        said = os.fsdecode(asked.stdout).split("\n")
        if asked.code == 0 and len(said) == len(about) + 3:
            return cls(Path(said[4]), Path(said[3]), said[2])
        return cls._discover_in_steps(git, folder, about)

    @classmethod
    def _discover_in_steps(cls, git: Git, folder: Path, about: tuple[str, ...]) -> "Repository":
        """For what one question does not settle: no repository, no work tree, or a folder's name with a line end."""
        try:
            said = git.text("rev-parse", *about, "--path-format=absolute", "--git-common-dir")
        except GitError as error:
            if "not a git repository" not in error.said:
                raise
            raise NotARepositoryError(
                f"'{folder}' is not in a Git repository.",
                hint="Change to a Git repository, or create one with `git init`.",
            ) from None
        in_work_tree, bare, object_format, common_dir = said.split("\n", len(about))
        if in_work_tree == "true":
            return cls(Path(git.text("rev-parse", "--show-toplevel")), Path(common_dir), object_format)
        if bare == "true":
            return cls(Path(common_dir), Path(common_dir), object_format)
        raise NotARepositoryError(
            f"'{folder}' is inside the repository's git directory.", hint="Change to the work tree."
        )

    @cached_property
    def objects(self) -> Git:
        """git on the objects alone: without a work tree, so that no attribute of a checkout changes what is shown."""
        settings = {
            "core.attributesFile": NO_FILE,
            "attr.tree": self.empty_tree,
            "core.bigFileThreshold": "8m",
        }
        return Git(self.common_dir, self.common_dir, settings=settings)

    @property
    def empty_tree(self) -> str:
        return _EMPTY_TREES[self.object_format]

    @cached_property
    def _index(self) -> Path:
        return Path(self.git.text("rev-parse", "--path-format=absolute", "--git-path", "index"))

    @property
    def is_shallow(self) -> bool:
        return (self.common_dir / "shallow").exists()

    @property
    def shallow_file(self) -> bytes | None:
        """Where history was cut off, as git writes it down; None where it is whole."""
        try:
            return (self.common_dir / "shallow").read_bytes()
        except FileNotFoundError:
            return None

    @cached_property
    def is_partial(self) -> bool:
        """Whether objects may be missing that a remote promised."""
        names = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        return bool(self.git.text("config", "--get-regexp", names, check=False))

    @cached_property
    def users_excludes(self) -> bytes:
        """What the user ignores in all repositories, and in this one."""
        everywhere = self.git.text("config", "--type=path", "--get", "core.excludesFile", check=False)
        places = [Path(everywhere)] if everywhere else []
        places.append(self.common_dir / "info" / "exclude")
        texts = (place.read_bytes() for place in places if place.is_file())
        return b"".join(text if text.endswith(b"\n") else text + b"\n" for text in texts)

    def commit_of(self, ref: str) -> str:
        return references.commit_of(self.git, ref)

    def tree_of(self, commit: str) -> str:
        (tree,) = self.git.objects(f"{self.commit_of(commit)}^{{tree}}")
        if tree is None:
            raise UnknownReferenceError(commit, "Its tree is missing: `git fsck` shows more.")
        return tree

    def current_branch(self) -> str | None:
        return references.current_branch(self.git)

    def default_base(self, head: str, *, by_settings: bool = True) -> str:
        """What a branch would be merged into, never itself. `by_settings`: the settings of this clone have a say."""
        return references.default_base(self.git, head, by_settings=by_settings)

    def merge_base(self, first: str, second: str) -> str | None:
        try:
            return self.git.about("merge-base", first, second).decode().strip() or None
        except GitError:
            return None

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        try:
            self.git.about("merge-base", "--is-ancestor", ancestor, descendant)
        except GitError as error:
            if error.code != 1:
                raise
            return False
        return True

    def read_file(self, commit: str, path: str) -> bytes | None:
        """A file as it is in a commit, through links that stay in the tree; None where there is none."""
        for _ in range(_LINKS_FOLLOWED):
            name = posixpath.normpath(path)
            if posixpath.isabs(name) or name.split("/")[0] in ("..", "."):
                return None
            entry = self._entry(commit, to_bytes(name))
            if entry is None or entry.kind != b"blob":
                return None
            content = self.objects.content(entry.identity)
            if entry.mode != b"120000":
                return content
            path = posixpath.join(posixpath.dirname(name), to_text(content))
        return None

    def _entry(self, commit: str, name: bytes) -> TreeEntry | None:
        """What a commit has under a name. Most files that are asked for are not even below the top of the tree."""
        top, _, below = name.partition(b"/")
        found = self._listing(commit).get(top)
        return self._listing(commit, name).get(name) if found is not None and below else found

    def _listing(self, commit: str, *names: bytes) -> dict[bytes, TreeEntry]:
        return dict(tree_entries(self.objects.about("ls-tree", "-z", "--full-tree", commit, "--", *names)))

    def files(self, commit: str) -> frozenset[str]:
        """The names of all files in a commit; bytes that are not UTF-8 are kept as surrogates."""
        if not _COMMIT_ID.fullmatch(commit):
            return self._names_in(commit)
        with self._listing_files:  # threads that ask for the same wait for the first of them
            found = self._files.pop(commit, None)
            self._files[commit] = self._names_in(commit) if found is None else found
            for oldest in tuple(self._files)[:-_LISTINGS_KEPT]:
                del self._files[oldest]
            return self._files[commit]

    def _names_in(self, commit: str) -> frozenset[str]:
        listed = to_text(self.objects.about("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit))
        return frozenset(listed.split("\0")[:-1])  # as one text: of large trees, the time for each name shows

    def entries(self, commit: str) -> Iterator[tuple[str, str]]:
        """The path and the mode of everything in a commit but folders."""
        for line in fields(self.objects.about("ls-tree", "-r", "-z", "--full-tree", commit)):
            about, name = line.split(b"\t", 1)  # not `tree_entries`: of large trees, the time for it shows
            yield to_text(name), about[:6].decode()

    def is_tracked(self, path: str) -> bool:
        """Whether the index of this work tree names a file."""
        try:
            found = self._index.stat()
        except OSError:
            return False  # nothing was ever added
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)  # git writes another file each time
        if self._tracked[0] != stamp:
            self._tracked = (stamp, frozenset(map(to_text, fields(self.git.run("ls-files", "-z")))))
        return path in self._tracked[1]

    def checked_out_at(self, branch: str) -> Path | None:
        """The work tree in which a branch is checked out, the main one or a linked one."""
        finished = self.git.finish("worktree", "list", "--porcelain", "-z")
        if finished.code == 0:
            lines = finished.stdout.split(b"\0")
        else:  # before 2.36 there was no -z
            lines = self.git.run("worktree", "list", "--porcelain").split(b"\n")
        place = None
        for line in lines:
            word, _, rest = line.partition(b" ")
            if word == b"worktree":
                place = Path(to_text(rest))
            elif word == b"branch" and to_text(rest).removeprefix(BRANCHES) == branch:
                return place
        return None

    def is_busy(self, branch: str) -> bool:
        """Whether a rebase or bisection of the user will come back to this branch."""
        homes = [self.common_dir, *sorted((self.common_dir / "worktrees").glob("*"))]
        marks = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
        places = [home / mark for home in homes for mark in marks]
        names = {_first_line(place).removeprefix(to_bytes(BRANCHES)) for place in places if place.is_file()}
        return to_bytes(branch) in names

    def operation_in_progress(self) -> bool:
        """Whether a rebase, merge, cherry-pick or revert is under way in this work tree."""
        home = Path(self.git.text("rev-parse", "--absolute-git-dir"))
        marks = ("rebase-merge", "rebase-apply", "sequencer", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
        return any((home / mark).exists() for mark in marks)

    def is_clean(self, worktree: Path | None = None, ignoring: Sequence[str] = (), *, untracked: bool = True) -> bool:
        """Whether everything in a work tree is committed, but for files that match the globs."""
        return not self.uncommitted(ignoring, worktree=worktree, untracked=untracked)

    def uncommitted(
        self, ignoring: Sequence[str] = (), *, worktree: Path | None = None, untracked: bool = True
    ) -> tuple[str, ...]:
        """The files of a work tree that differ from what is committed in it, but for those that match the globs."""
        listing = Git(worktree or self.root).run(
            *("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"),
            f"--untracked-files={'all' if untracked else 'no'}",
            *excluding(ignoring),
            environment={"GIT_LITERAL_PATHSPECS": "0"},
        )
        return tuple(to_text(line[3:]) for line in fields(listing))

    def keep(self, run: str, commit: str) -> None:
        """Keep a commit from being pruned for as long as a run lasts."""
        self.git.run("update-ref", f"refs/burnish/kept/{run_name(run)}", commit)

    def let_go(self, run: str) -> None:
        self.git.run("update-ref", "-d", f"refs/burnish/kept/{run_name(run)}")


def _refuse_planted(folder: Path) -> None:
    """A folder of a work tree that git takes for a repository by its content: a change may have put it there.

    Looked at before git is asked, in its order: in each folder `.git` comes first.
    """
    places = (folder, *folder.parents)
    found = next((place for place in places if (place / ".git").exists() or _is_git_folder(place)), None)
    if found is None or (found / ".git").exists() or ".git" in found.parts:
        return
    around = next((place for place in found.parents if (place / ".git").exists()), None)
    if around is not None:
        raise NotARepositoryError(
            f"'{found}' is a repository inside the work tree of '{around}'; its settings cannot be trusted.",
            hint=f"Change to {around}.",
        )


def _is_git_folder(place: Path) -> bool:
    has_objects = (place / "objects").exists() and (place / "refs").exists()
    return os.path.lexists(place / "HEAD") and (has_objects or (place / "commondir").exists())


def run_name(run: str) -> str:
    """A run's name, which becomes part of a ref: checked, for a ref is a path."""
    if not _RUN_NAME.fullmatch(run) or run in _TAKEN:
        raise NotARepositoryError(
            f"'{run}' is not a valid name of a run.", hint="Use only letters, digits, '-' and '_'."
        )
    return run


def excluding(globs: Iterable[str]) -> list[str]:
    """The arguments that leave files out, for a command that understands globs."""
    return ["--", ":/", *(f":(top,exclude,glob){pattern}" for pattern in globs)]


def _first_line(path: Path) -> bytes:
    try:
        return path.read_bytes().split(b"\n")[0].strip()
    except OSError:
        return b""
