"""From a fixer's clone to one commit in the user's repository, on a ref of burnish's own.

burnish makes the commit, in the user's name and with the time of the event, so that a repeat gives the same id unless
commits are signed. Nothing of the clone's `.git` is used but the text of the fixer's commit messages.

Only what the fixer changed is taken: its work tree is compared with the clone as it was when the fixer began.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from burnish.core.events import Change
from burnish.core.values import Value
from burnish.system.process import Command
from burnish.workspace.clones import Clone
from burnish.workspace.commits import Authorship, authorship, commit_tree
from burnish.workspace.diffs import RawEntry, changes, read_raw
from burnish.workspace.errors import GitError, UnsafeResultError
from burnish.workspace.escapes import HINT, refuse_escapes
from burnish.workspace.folders import read_inside, write_inside
from burnish.workspace.git import NO_FILE
from burnish.workspace.messages import Notable, agent_messages, full_message, title
from burnish.workspace.names import shown, to_bytes, to_text
from burnish.workspace.repository import Repository, run_name
from burnish.workspace.trusted_index import AGENTS_INDEX, INDEX_BYTES, TrustedIndex, is_excluded
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
MOST_BYTES = 512 * 1024 * 1024
"""A fix that is larger is no fix."""
_HOOKS = ("pre-commit", "commit-msg")
_MESSAGE = ".git/COMMIT_EDITMSG"


class Collected(Notable):
    """A fixer's work as a commit, and what should be said of it."""

    change: Change
    agent_messages: tuple[str, ...] = ()


class LeftBehind(Value):
    """What a fixer changed, as a tree over the baseline."""

    tree: str
    entries: tuple[RawEntry, ...]
    left_out: tuple[str, ...] = ()
    """Folders that are repositories of their own, with their names for people."""


def collect(
    repository: Repository,
    clone: Clone,
    *,
    run: str,
    parent: str,
    round: int,  # noqa: A002 - the word of the whole project for it
    summary: str,
    at: float,
    records: Sequence[str] = (),
    prefix: str | None = None,
) -> Collected:
    """Make what a fixer left behind one commit on `refs/burnish/<run>`. Nothing changed: no commit.

    `records` is what burnish itself writes into checkouts, which is no fixer's work: a name, a glob, or a folder with a
    slash at its end. `prefix` replaces the beginning of the message, for work that answers no review.
    """
    trusted = TrustedIndex(clone.trusted, clone.path)
    result = left_behind(clone, trusted, records)
    parent_tree = repository.tree_of(parent)
    tree = on_parent(trusted, result, parent_tree)
    if tree != parent_tree:
        refuse_escapes(trusted.git, parent_tree, tree)
    notable = _notable(result)
    texts = agent_messages(clone, trusted)
    commit = parent
    if tree != parent_tree:
        how = authorship(repository)
        first_line = title(prefix if prefix is not None else _beginning(round), summary)
        message = full_message(first_line, notable, texts, trailers=_trailers(run, how))
        # Made with the user's settings, but beside the user's objects: git checks it on the way there like the rest.
        beside = {"GIT_OBJECT_DIRECTORY": str(trusted.folder / "objects")}
        commit = commit_tree(repository.git, tree, parent, message, at, how=how, environment=beside)
        _transfer(repository, trusted, commit, parent)
        _point(repository, run, commit)
    files = changes(repository, parent, commit) if commit != parent else ()
    change = Change(commit=commit, tree=tree, files=files)
    return Collected(change=change, agent_messages=texts, **msgspec.structs.asdict(notable))


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


def _transfer(repository: Repository, trusted: TrustedIndex, commit: str, parent: str) -> None:
    """Bring the commit over as a pack that git checks object by object."""
    revisions = f"{commit}\n^{parent}\n".encode()
    pack = trusted.git.run("pack-objects", "--revs", "--stdout", "--quiet", stdin=revisions)
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
            f"burnish cannot import the fix into the repository: {error.said}.",
            hint="git found an error in its objects.",
        ) from None


def _point(repository: Repository, run: str, commit: str) -> None:
    ref = result_ref(run)
    (current,) = repository.git.objects(ref)
    zero = "0" * len(commit)
    repository.git.run("update-ref", ref, commit, current or zero)


def left_behind(clone: Clone, trusted: TrustedIndex, records: Sequence[str]) -> LeftBehind:
    """Commits, staged, unstaged and untracked work alike: the work tree is what counts."""
    baseline = trusted.baseline
    environment = trusted.private_index("collect")
    excluded = frozenset(baseline.excluded)
    nested: list[bytes] = []
    names: set[bytes] = set(trusted.changed_names(environment))
    for name in trusted.untracked_names():
        (nested.append if name.endswith(b"/") else names.add)(name)
    names.update(_added_by_force(clone, trusted))
    wanted = sorted(name for name in names if not is_excluded(name, excluded) and not _is_record(name, records))
    _check_files(clone.path, wanted)
    try:
        tree = trusted.update(wanted, environment) if wanted else baseline.tree
    except GitError as error:
        if error.no_room:
            raise
        raise UnsafeResultError(f"The fixer left something that git rejects: {error.said}.", hint=HINT) from None
    _check_taken(clone.path, wanted, trusted.tracked_names(Path(environment["GIT_INDEX_FILE"])))
    listing = trusted.git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", baseline.tree, tree)
    entries = read_raw(listing)
    _check_entries(entries)
    own = tuple(shown(to_text(name)) for name in nested if not is_excluded(name, excluded))
    return LeftBehind(tree=tree, entries=entries, left_out=own)


def _added_by_force(clone: Clone, trusted: TrustedIndex) -> set[bytes]:
    """Ignored files that the fixer added all the same: its own index names them."""
    raw = read_inside(clone.path, AGENTS_INDEX, INDEX_BYTES)
    if raw is None or raw == (trusted.folder / "index").read_bytes():
        return set()
    copy = trusted.folder / "index-agent"
    copy.write_bytes(raw)
    added = trusted.tracked_names(copy) - trusted.tracked_names(trusted.folder / "index")
    return {name for name in added if _is_plain_file(clone.path, name)}


def _is_plain_file(root: Path, name: bytes) -> bool:
    # Looked at without following links on the way: what lies behind one is not in the tree.
    return ".git" not in to_text(name).lower().split("/") and read_inside(root, to_text(name), 0) is not None


def _is_record(name: bytes, records: Sequence[str]) -> bool:
    path = to_text(name)
    return any(path.startswith(record) if record.endswith("/") else _fits(path, record) for record in records)


def _fits(path: str, pattern: str) -> bool:
    return Path(path).match(f"/{pattern}") if pattern.startswith("/") else Path(f"/{path}").match(f"/{pattern}")


def _check_files(root: Path, names: Iterable[bytes]) -> None:
    size = 0
    for name in names:
        try:
            information = (root / to_text(name)).lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        mode = information.st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
            raise UnsafeResultError(f"'{shown(to_text(name))}' is not a file, link or folder.", hint=HINT)
        size += information.st_size
    if size > MOST_BYTES:
        raise UnsafeResultError(f"The fixer left {size:,} bytes; the limit is {MOST_BYTES:,}.", hint=HINT)


def _check_taken(root: Path, names: Iterable[bytes], taken: set[bytes]) -> None:
    """git passes over names that some system would read as `.git`. Nothing may be dropped without a word."""
    for name in names:
        if name not in taken and _is_plain_file(root, name):
            raise UnsafeResultError(f"git accepts no file named '{shown(to_text(name))}'.", hint=HINT)


def _check_entries(entries: Iterable[RawEntry]) -> None:
    for entry in entries:
        if entry.is_submodule:
            raise UnsafeResultError(f"'{shown(entry.path)}' would become or stop being a submodule.", hint=HINT)


def on_parent(trusted: TrustedIndex, result: LeftBehind, parent_tree: str) -> str:
    """The fixer's changes on the parent's tree, which may differ from the one that the fixer was given."""
    if parent_tree == trusted.baseline.tree:
        return result.tree
    environment = {"GIT_INDEX_FILE": str(trusted.folder / "index-parent")}
    trusted.git.run("read-tree", parent_tree, environment=environment)
    zero = "0" * len(parent_tree)
    ordered = sorted(result.entries, key=lambda entry: entry.status != "D")  # a file makes room for a folder first
    lines = (
        f"0 {zero}\t{entry.path}" if entry.status == "D" else f"{entry.new_mode} {entry.new_object}\t{entry.path}"
        for entry in ordered
    )
    stdin = b"".join(to_bytes(line) + b"\0" for line in lines)
    trusted.git.run("update-index", "--replace", "-z", "--index-info", stdin=stdin, environment=environment)
    return trusted.git.text("write-tree", environment=environment)


def commit_hook(repository: Repository) -> tuple[str, ...] | None:
    """The commit hooks that git would run here (also those of husky and pre-commit), by path; None without any."""
    folder = hooks_folder(repository)
    paths = (folder / name for name in _HOOKS)
    return tuple(str(path) for path in paths if path.is_file() and os.access(path, os.X_OK)) or None


def hooks_folder(repository: Repository) -> Path:
    """Where git looks for hooks, `core.hooksPath` of the user included."""
    return Path(repository.git.text("rev-parse", "--path-format=absolute", "--git-path", "hooks", hooks=True))


def hook_commands(repository: Repository, clone: Clone, message: str) -> tuple[Command, ...]:
    """What to run in the clone, in order: stage everything, then each hook. The first that fails rejects.

    Their environment is only what git itself gives to hooks; the sandbox adds the rest.
    """
    hooks = commit_hook(repository)
    if hooks is None:
        return ()
    write_inside(clone.path, _MESSAGE, message.encode("utf-8", errors="replace"))
    environment = {"GIT_EDITOR": ":", "GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": ""}
    stage = ("git", "-c", f"core.hooksPath={NO_FILE}", "-c", "core.fsmonitor=false", "add", "--all")
    commands = [Command(argv=stage, folder=str(clone.path), environment={})]
    for hook in hooks:
        argv = (hook, _MESSAGE) if hook.endswith("commit-msg") else (hook,)
        commands.append(Command(argv=argv, folder=str(clone.path), environment=environment))
    return tuple(commands)
