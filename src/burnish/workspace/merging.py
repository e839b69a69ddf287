"""Merges without a work tree: approved work is brought together as objects, and the branch moves only at the end.

Nothing of the user's is checked out, and no merge is ever half done: it is a commit, or it is a list of conflicts.
"""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from burnish.core.errors import ErrorKind
from burnish.core.text import clean_text
from burnish.workspace.commits import authorship, commit_tree
from burnish.workspace.errors import GitError, WorkspaceError
from burnish.workspace.landing import branch_commit, move_branch
from burnish.workspace.names import fields, to_text
from burnish.workspace.references import BRANCHES
from burnish.workspace.repository import Repository

_NEEDED = (2, 38)
"""The version of git that merges without a work tree."""
_MARKER = re.compile(rb"^(?:<{7}|>{7})(?: |$)", re.MULTILINE)


class MergeError(WorkspaceError):
    kind = ErrorKind.USAGE


class MergedTree(NamedTuple):
    tree: str
    """With conflict markers in files that cannot be merged."""
    conflicts: tuple[str, ...]
    """These files."""


def ensure_merging(repository: Repository) -> None:
    """Raise where git is too old to merge without a work tree."""
    said = repository.git.text("version")
    found = re.search(r"(\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < _NEEDED:
        raise MergeError(f"Epics need git 2.38 or newer; this is {said}.", hint="Install a newer git.")


def merge_trees(repository: Repository, ours: str, theirs: str) -> MergedTree:
    finished = repository.git.finish("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    if finished.code not in (0, 1):
        raise MergeError(
            f"git cannot merge {theirs[:12]} into {ours[:12]}: {finished.stderr_tail.strip()[-300:]}.",
            hint="`git fsck` tells whether the repository is damaged.",
        )
    tree, *names = map(to_text, fields(finished.stdout))
    return MergedTree(tree=tree, conflicts=tuple(dict.fromkeys(names)))


def with_files(repository: Repository, tree: str, files: Mapping[str, bytes]) -> str:
    """A tree in which these files have other content. What is not an ordinary file there stays as it is."""
    git = repository.git
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        environment = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.run("read-tree", tree, environment=environment)
        for path, data in files.items():
            mode = to_text(git.run("ls-tree", "--format=%(objectmode)", tree, "--", path)).strip()
            if mode in ("100644", "100755"):
                identity = git.text("hash-object", "-w", "--stdin", stdin=data)
                git.run("update-index", "--cacheinfo", f"{mode},{identity},{path}", environment=environment)
        return git.text("write-tree", environment=environment)


def commit_merge(repository: Repository, tree: str, onto: str, message: str, at: float, *, merged: str = "") -> str:
    """A commit of a merged tree. Without `merged`, it has one parent: all of the work as one commit."""
    how = authorship(repository)
    text = "\n".join([message.rstrip("\n"), *how.trailers]) + "\n"
    return commit_tree(repository.git, tree, onto, text, at, merged=merged, how=how)


def merge_message(title: str, **trailers: str) -> str:
    """A message with trailers. What comes from a ticket is text, and cannot add a trailer of its own."""
    first = " ".join(clean_text(title).split())[:200]
    lines = [f"{name.replace('_', '-').capitalize()}: {value}" for name, value in trailers.items()]
    return "\n".join([first, "", *lines]) + "\n"


def files_with_markers(repository: Repository, commit: str, files: tuple[str, ...]) -> tuple[str, ...]:
    """The files among these that still have conflict markers in a commit."""
    contents = ((name, repository.read_file(commit, name)) for name in files)
    return tuple(name for name, content in contents if content is not None and _MARKER.search(content))


def create_branch(repository: Repository, branch: str, commit: str) -> None:
    """Make a branch. One that is there already must be at this commit."""
    if branch_commit(repository, branch) == commit:
        return
    try:
        repository.git.run("update-ref", f"{BRANCHES}{branch}", commit, "0" * len(commit))
    except GitError as error:
        raise MergeError(
            f"The branch '{branch}' cannot be created: {error.said}.",
            hint=f"If it holds work of yours, rename it: `git branch -m {branch} NEW_NAME`.",
        ) from None


def set_aside(repository: Repository, branch: str, commit: str, name: str) -> None:
    """Take a branch away whose work came to nothing. The work is kept on a branch of burnish's own."""
    if repository.checked_out_at(branch) is not None:
        raise MergeError(
            f"The branch '{branch}' is checked out, and holds work of a run that came to nothing.",
            hint="Check out another branch, then continue.",
        )
    kept = f"{BRANCHES}burnish/{name}/{branch}"
    repository.git.run("update-ref", kept, commit)
    repository.git.run("update-ref", "-d", f"{BRANCHES}{branch}", commit)


def advance_branch(repository: Repository, branch: str, commit: str, why: str) -> None:
    """Bring a branch that holds nothing of its own to a later commit of the line that it began on."""
    current = branch_commit(repository, branch)
    if current is None:
        create_branch(repository, branch, commit)
    elif current != commit and not repository.is_ancestor(commit, current):
        if not repository.is_ancestor(current, commit):
            raise MergeError(
                f"The branch '{branch}' holds work that did not begin at {commit[:12]}.",
                hint=f"Rename it, or delete it if it is not needed: `git branch -m {branch} NEW_NAME`.",
            )
        reason = move_branch(repository, branch, current, commit, why)
        if reason:
            raise MergeError(reason, hint=f"Commit or stash the work on '{branch}', then continue.")
