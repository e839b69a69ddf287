"""From the work tree that a fixer left to a tree in git, with everything refused that would reach outside.

Only what the fixer changed is taken: its work tree is compared with the clone as it was when the fixer began.
"""

import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from burnish.core.values import Value
from burnish.workspace.clones import Clone
from burnish.workspace.errors import GitError, UnsafeResultError
from burnish.workspace.escapes import HINT
from burnish.workspace.indexes import MOST_BYTES as INDEX_BYTES
from burnish.workspace.inside import read_inside
from burnish.workspace.names import shown, to_bytes, to_text
from burnish.workspace.patches import RawEntry, read_raw
from burnish.workspace.vaults import Vault, is_excluded

MOST_BYTES = 512 * 1024 * 1024
"""A fix that is larger is no fix."""


class LeftBehind(Value):
    """What a fixer changed, as a tree over the baseline."""

    tree: str
    entries: tuple[RawEntry, ...]
    left_out: tuple[str, ...] = ()
    """Folders that are repositories of their own, with their names for people."""


def left_behind(clone: Clone, vault: Vault, records: Sequence[str]) -> LeftBehind:
    """Commits, staged, unstaged and untracked work alike: the work tree is what counts."""
    baseline = vault.baseline
    environment = vault.private_index("collect")
    excluded = frozenset(baseline.excluded)
    nested: list[bytes] = []
    names: set[bytes] = set(vault.changed_names(environment))
    for name in vault.untracked_names():
        (nested.append if name.endswith(b"/") else names.add)(name)
    names.update(_added_by_force(clone, vault))
    wanted = sorted(name for name in names if not is_excluded(name, excluded) and not _is_record(name, records))
    _check_files(clone.path, wanted)
    try:
        tree = vault.update(wanted, environment) if wanted else baseline.tree
    except GitError as error:
        if error.no_room:
            raise
        raise UnsafeResultError(f"The fixer left something that git refuses: {error.said}.", hint=HINT) from None
    _check_taken(clone.path, wanted, vault.tracked_names(Path(environment["GIT_INDEX_FILE"])))
    listing = vault.git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", baseline.tree, tree)
    entries = read_raw(listing)
    _check_entries(entries)
    own = tuple(shown(to_text(name)) for name in nested if not is_excluded(name, excluded))
    return LeftBehind(tree=tree, entries=entries, left_out=own)


def _added_by_force(clone: Clone, vault: Vault) -> set[bytes]:
    """Ignored files that the fixer added all the same: its own index names them."""
    raw = read_inside(clone.path, ".git/index", INDEX_BYTES)
    if raw is None or raw == (vault.folder / "index").read_bytes():
        return set()
    copy = vault.folder / "index-agent"
    copy.write_bytes(raw)
    added = vault.tracked_names(copy) - vault.tracked_names(vault.folder / "index")
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
            raise UnsafeResultError(f"'{shown(to_text(name))}' is no file, link or folder.", hint=HINT)
        size += information.st_size
    if size > MOST_BYTES:
        raise UnsafeResultError(f"The fixer left {size:,} bytes; at most {MOST_BYTES:,} are taken.", hint=HINT)


def _check_taken(root: Path, names: Iterable[bytes], taken: set[bytes]) -> None:
    """git passes over names that some system would read as `.git`. Nothing may be dropped without a word."""
    for name in names:
        if name not in taken and _is_plain_file(root, name):
            raise UnsafeResultError(f"git takes no file called '{shown(to_text(name))}'.", hint=HINT)


def _check_entries(entries: Iterable[RawEntry]) -> None:
    for entry in entries:
        if entry.is_submodule:
            raise UnsafeResultError(f"'{shown(entry.path)}' would become or stop being a submodule.", hint=HINT)


def on_parent(vault: Vault, result: LeftBehind, parent_tree: str) -> str:
    """The fixer's changes on the parent's tree, which may differ from the one that the fixer was given."""
    if parent_tree == vault.baseline.tree:
        return result.tree
    environment = {"GIT_INDEX_FILE": str(vault.folder / "index-parent")}
    vault.git.run("read-tree", parent_tree, environment=environment)
    zero = "0" * len(parent_tree)
    ordered = sorted(result.entries, key=lambda entry: entry.status != "D")  # a file makes room for a folder first
    lines = (
        f"0 {zero}\t{entry.path}" if entry.status == "D" else f"{entry.new_mode} {entry.new_object}\t{entry.path}"
        for entry in ordered
    )
    stdin = b"".join(to_bytes(line) + b"\0" for line in lines)
    vault.git.run("update-index", "--replace", "-z", "--index-info", stdin=stdin, environment=environment)
    return vault.git.text("write-tree", environment=environment)
