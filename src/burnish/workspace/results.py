"""From a fixer's clone to one commit in the user's repository, on a ref of burnish's own.

burnish makes the commit, in the user's name and with the time of the event, so that a repeat gives the same id unless
commits are signed. Nothing of the clone's `.git` is used but the text of the fixer's commit messages.
"""

from collections.abc import Iterable, Sequence

from burnish.core.events import Change
from burnish.core.values import Value
from burnish.workspace.authorship import authorship
from burnish.workspace.clones import Clone
from burnish.workspace.commits import Authorship, commit_tree
from burnish.workspace.diffs import changes
from burnish.workspace.errors import GitError, UnsafeResultError
from burnish.workspace.escapes import refuse_escapes
from burnish.workspace.messages import Notable, agent_messages, full_message, title
from burnish.workspace.names import shown
from burnish.workspace.patches import RawEntry
from burnish.workspace.repository import Repository, run_name
from burnish.workspace.trees import LeftBehind, left_behind, on_parent
from burnish.workspace.vaults import Vault
from burnish.workspace.views import NODE_LOCKS, PYTHON_LOCKS

LOCK_FILES = frozenset(
    {
        *NODE_LOCKS,
        *PYTHON_LOCKS,
        "Cargo.lock",
        "Gemfile.lock",
        "Package.resolved",
        "Podfile.lock",
        "composer.lock",
        "deno.lock",
        "flake.lock",
        "go.sum",
        "gradle.lockfile",
        "mix.lock",
        "packages.lock.json",
        "pixi.lock",
        "pubspec.lock",
        "pylock.toml",
    }
)
_UNPACKED = 100
"""Up to so many objects are stored one by one, as git does itself; more stay in a pack."""


class Collected(Value):
    """A fixer's work as a commit, and what should be said of it."""

    change: Change
    agent_messages: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    lock_files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Folders that are repositories of their own, which a commit cannot hold."""


def collect(
    repository: Repository,
    clone: Clone,
    *,
    run: str,
    parent: str,
    round: int,  # noqa: A002 - the word of the whole project for it
    summary: str,
    at: float,
    messages: bool = True,
    records: Sequence[str] = (),
    prefix: str | None = None,
) -> Collected:
    """Make what a fixer left behind one commit on `refs/burnish/<run>`. Nothing changed: no commit.

    `records` is what burnish itself writes into checkouts, which is no fixer's work: a name, a glob, or a folder with a
    slash at its end. `prefix` replaces the beginning of the message, for work that answers no review.
    """
    vault = Vault(clone.vault, clone.path)
    result = left_behind(clone, vault, records)
    parent_tree = repository.tree_of(parent)
    tree = on_parent(vault, result, parent_tree)
    if tree != parent_tree:
        refuse_escapes(vault.git, parent_tree, tree)
    notable = _notable(result)
    texts = agent_messages(clone, vault) if messages else ()
    commit = parent
    if tree != parent_tree:
        how = authorship(repository)
        first_line = title(prefix if prefix is not None else _beginning(round), summary)
        message = full_message(first_line, notable, texts, trailers=_trailers(run, how))
        # Made with the user's settings, but beside the user's objects: git checks it on the way there like the rest.
        beside = {"GIT_OBJECT_DIRECTORY": str(vault.folder / "objects")}
        commit = commit_tree(repository.git, tree, parent, message, at, how=how, environment=beside)
        _transfer(repository, vault, commit, parent)
        _point(repository, run, commit)
    files = changes(repository, parent, commit) if commit != parent else ()
    return Collected(
        change=Change(commit=commit, tree=tree, files=files),
        agent_messages=texts,
        deleted=notable.deleted,
        lock_files=notable.lock_files,
        left_out=notable.left_out,
    )


def result_ref(run: str) -> str:
    """Where a run's commits are kept."""
    return f"refs/burnish/{run_name(run)}"


def message_for_hooks(
    repository: Repository,
    *,
    run: str,
    round: int,  # noqa: A002 - the word of the whole project for it
    summary: str,
    prefix: str | None = None,
) -> str:
    """The message that a commit of this work would have, for the project's hooks to judge before it is made."""
    first_line = title(prefix if prefix is not None else _beginning(round), summary)
    return full_message(first_line, Notable(), (), trailers=_trailers(run, authorship(repository)))


def _trailers(run: str, how: Authorship) -> tuple[str, ...]:
    return (f"Burnish-Run: {run_name(run)}", *how.trailers)


def _beginning(number: int) -> str:
    # Before the first round there is no review: its validation failed.
    return f"fix: address code review round {number}" if number > 0 else "fix: address failed validation"


def _notable(result: LeftBehind) -> Notable:
    return Notable(
        deleted=_names(entry for entry in result.entries if entry.status == "D"),
        lock_files=_names(entry for entry in result.entries if entry.path.rpartition("/")[2] in LOCK_FILES),
        left_out=result.left_out,
    )


def _names(entries: Iterable[RawEntry]) -> tuple[str, ...]:
    return tuple(shown(entry.path) for entry in entries)


def _transfer(repository: Repository, vault: Vault, commit: str, parent: str) -> None:
    """Bring the commit over as a pack that git checks object by object."""
    revisions = f"{commit}\n^{parent}\n".encode()
    pack = vault.git.run("pack-objects", "--revs", "--stdout", "--quiet", stdin=revisions)
    number = int.from_bytes(pack[8:12], "big")
    try:
        if number <= _UNPACKED:
            repository.git.run("unpack-objects", "-q", "--strict", stdin=pack)
        else:
            repository.git.run("index-pack", "--stdin", "--strict", stdin=pack)
    except GitError as error:
        if error.no_room:
            raise
        raise UnsafeResultError(
            f"The fix cannot be taken into the repository: {error.said}.", hint="git found a fault in its objects."
        ) from None


def _point(repository: Repository, run: str, commit: str) -> None:
    ref = result_ref(run)
    (current,) = repository.git.objects(ref)
    zero = "0" * len(commit)
    repository.git.run("update-ref", ref, commit, current or zero)
