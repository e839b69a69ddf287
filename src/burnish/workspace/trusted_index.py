"""Beside each clone, out of its agent's reach: a repository of burnish's own that knows how the clone began.

What an agent leaves in its clone's `.git` is never believed, for settings in it could name programs. The work tree is
read through this index instead: its index knows the files as they were, its settings are burnish's, its objects are
its own. Nothing here changes the clone.
"""

import hashlib
import shutil
from pathlib import Path

import msgspec

from burnish.core.values import Value
from burnish.system.files import write_atomically
from burnish.workspace.folders import read_inside
from burnish.workspace.git import NO_FILE, Git
from burnish.workspace.names import fields, records, to_bytes, to_text

_SETTINGS = {
    "core.attributesFile": NO_FILE,
    "core.excludesFile": NO_FILE,
    "core.protectHFS": "true",
    "core.protectNTFS": "true",
    "core.trustctime": "true",
    "core.checkStat": "default",
    "core.symlinks": "true",
    "core.fileMode": "true",
    "core.ignoreCase": "false",
    "core.precomposeUnicode": "false",
    "core.safecrlf": "false",
}
AGENTS_INDEX = ".git/index"
INDEX_BYTES = 256 * 1024 * 1024
_UNREADABLE = "unreadable"
_AS_MADE = "as it was when the clone was made"


class Baseline(Value):
    """How a clone was when its agent began: the tree of its tracked files, and the names that are not the agent's."""

    tree: str
    excluded: tuple[bytes, ...] = ()


class TrustedIndex:
    """The index, the objects and the baseline of one clone."""

    def __init__(self, folder: Path, work_tree: Path) -> None:
        self.folder = folder
        self.git = Git(work_tree, folder, isolated=True, settings=_SETTINGS)

    @property
    def index(self) -> Path:
        return self.folder / "index"

    @property
    def baseline(self) -> Baseline:
        return msgspec.json.decode((self.folder / "baseline.json").read_bytes(), type=Baseline)

    def set_baseline(self, baseline: Baseline) -> None:
        write_atomically(self.folder / "baseline.json", msgspec.json.encode(baseline))

    def private_index(self, name: str) -> dict[str, str]:
        """The environment in which a copy of the index is used; the baseline's own stays as it is."""
        copy = self.folder / f"index-{name}"
        # With its time: git believes an entry only if the file is older than the index that names it.
        shutil.copy2(self.index, copy)
        return {"GIT_INDEX_FILE": str(copy)}

    def changed_names(self, environment: dict[str, str] | None = None) -> list[bytes]:
        """Tracked files that are not as the index says, deleted ones too. Submodules are left alone."""
        listing = self.git.run(
            "diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", environment=environment
        )
        return fields(listing)

    def untracked_names(self) -> list[bytes]:
        """Files that are neither tracked nor ignored; a folder that is a repository of its own ends in a slash."""
        return fields(self.git.run("ls-files", "--others", "--exclude-standard", "-z"))

    def ignored_names(self) -> list[bytes]:
        """Ignored files; folders of which everything is ignored end in a slash."""
        return fields(self.git.run("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"))

    def tracked_names(self, index: Path) -> set[bytes]:
        """The names in another index, such as the agent's own; none where it cannot be read."""
        finished = self.git.finish("ls-files", "-z", environment={"GIT_INDEX_FILE": str(index)})
        return set(fields(finished.stdout)) if finished.code == 0 else set()

    def update(self, names: list[bytes], environment: dict[str, str] | None = None) -> str:
        """Take these files into the index as they are in the work tree, or out of it where they are gone; its tree."""
        self.git.run(
            "update-index", "--add", "--remove", "--replace", "-z", "--stdin",
            stdin=records(names),
            environment=environment,
        )  # fmt: skip
        return self.git.text("write-tree", environment=environment)

    def exclude(self, names: list[str]) -> Baseline:
        """What is in the work tree now is no agent's doing: it stays out of results for good, as these names do."""
        before = self.baseline
        found = {*before.excluded, *(to_bytes(name) for name in names)}
        found.update(self.untracked_names(), self.ignored_names())
        changed = self.changed_names()
        tree = self.update(changed) if changed else before.tree
        baseline = Baseline(tree=tree, excluded=tuple(sorted(found)))
        self.set_baseline(baseline)
        return baseline

    def meaning_of_agents_index(self) -> str:
        """A digest of what the index of the clone means, without what git keeps in it to be quick.

        It is read as data, by burnish's own git.
        """
        raw = read_inside(self.git.folder, AGENTS_INDEX, INDEX_BYTES + 1)
        if raw is None or len(raw) > INDEX_BYTES:
            return _UNREADABLE
        if raw == self.index.read_bytes():  # as nearly always: no need to ask git what it means
            return _AS_MADE
        copy = self.folder / "index-agent"
        copy.write_bytes(raw)
        meaning = self._digest(copy)
        return _AS_MADE if meaning == self._digest(self.index) else meaning

    def _digest(self, index: Path) -> str:
        # -v tells entries apart that git was told to leave alone, which would hide a change.
        finished = self.git.finish("ls-files", "--stage", "-v", "-z", environment={"GIT_INDEX_FILE": str(index)})
        return hashlib.sha256(finished.stdout).hexdigest() if finished.code == 0 else _UNREADABLE


def is_excluded(name: bytes, excluded: frozenset[bytes]) -> bool:
    """Whether a name, or a folder that it is in, is among the excluded ones."""
    parts = name.rstrip(b"/").split(b"/")
    above = (b"/".join(parts[: length + 1]) for length in range(len(parts)))
    return any(part in excluded or part + b"/" in excluded for part in above)


def exclude_lines(names: tuple[bytes, ...]) -> bytes:
    """Lines for `info/exclude` that match exactly these names."""
    escaped = (_escaped(name) for name in names if b"\n" not in name)
    return b"".join(b"/" + name + b"\n" for name in escaped)


def _escaped(name: bytes) -> bytes:
    special = to_text(name)
    for mark in "\\*?[":
        special = special.replace(mark, f"\\{mark}")
    return to_bytes(special[:-1] + "\\ " if special.endswith(" ") else special)
