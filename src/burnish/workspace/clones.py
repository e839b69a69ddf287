"""Disposable clones for agents: the exact tree, shared objects, and nothing of the user's but that.

A clone has the refs `base` and `head`, no remotes, no hooks and no settings of the user. It is never a linked work
tree of the user's repository: nothing that an agent does to it can reach that.
"""

import re
import shutil
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from burnish.core.values import Value, replace
from burnish.system.files import make_private_directory
from burnish.workspace.commits import OWN_ADDRESS
from burnish.workspace.copying import copy_files, copy_folder
from burnish.workspace.errors import CloneError
from burnish.workspace.fingerprints import Fingerprint, differences, take
from burnish.workspace.git import Git
from burnish.workspace.indexes import meaning_of_index
from burnish.workspace.inside import write_inside
from burnish.workspace.names import fields, shown, to_text
from burnish.workspace.objects import ensure_objects, object_folders
from burnish.workspace.patches import SUBMODULE
from burnish.workspace.removal import protect_folder, remove_folder
from burnish.workspace.repository import Repository
from burnish.workspace.skeletons import Skeleton, settings_for
from burnish.workspace.vaults import Baseline, Vault, exclude_lines

__all__ = ["Clone", "Clones", "Fingerprint", "differences"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VAULTS = ".vaults"
_COPY_HINT = "Is there room on the disk, and may it be written to?"
_SETTINGS = {"gc.auto": "0", "maintenance.auto": "false", "user.name": "burnish agent", "user.email": OWN_ADDRESS}


WIRING = tuple(f".git/{name}" for name in ("config", "hooks", "info", "objects/info"))
"""What of a clone decides what git does in it: nobody who works there need change that."""


class Clone(Value):
    """One disposable clone."""

    name: str
    path: Path
    base: str
    head: str
    vault: Path
    """burnish's own record of how the clone began; no agent may write there."""
    shared: tuple[Path, ...] = ()
    """Folders of objects that the clone reads; a sandbox must let it."""
    submodules: tuple[str, ...] = ()
    """Submodules of the tree, which are left empty."""


class Clones:
    """The clones of one run, in a folder of their own."""

    def __init__(self, repository: Repository, folder: Path) -> None:
        self._repository = repository
        self._folder = folder
        self._probing = threading.Lock()
        self._settings: dict[str, str] | None = None

    def make(self, name: str, base: str, head: str, *, writable: bool) -> Clone:
        """A clone with `head` checked out. What a killed burnish left under this name is removed first.

        One that is to be prepared is made writable, and protected afterwards.
        """
        self._check(name)
        clone = Clone(
            name=name,
            path=self._folder / name,
            base=base,
            head=head,
            vault=self._folder / _VAULTS / name,
            shared=object_folders(self._repository),
        )
        ensure_objects(self._repository, base, head)
        self.remove(clone)
        make_private_directory(clone.vault.parent)
        try:
            return self._fill(clone, writable)
        except BaseException:
            self.remove(clone)
            raise

    def _fill(self, clone: Clone, writable: bool) -> Clone:
        skeleton = self._skeleton(clone)
        clone.path.mkdir(mode=0o700)
        skeleton.write(clone.path / ".git", {"base": clone.base, "head": clone.head})
        clone.vault.mkdir(mode=0o700)
        skeleton.write(clone.vault, {})
        Git(clone.path, isolated=True).run("-c", "checkout.workers=0", "read-tree", "--reset", "-u", clone.head)
        shutil.copy2(clone.path / ".git" / "index", clone.vault / "index")
        Vault(clone.vault, clone.path).set_baseline(Baseline(tree=self._repository.tree_of(clone.head)))
        self._write_excludes(clone, ())
        if not writable:
            protect_folder(clone.path)
        links = (path for path, mode in self._repository.entries(clone.head) if mode == SUBMODULE)
        return replace(clone, submodules=tuple(map(shown, links)))

    def _skeleton(self, clone: Clone) -> Skeleton:
        with self._probing:  # clones are made side by side
            if self._settings is None:
                self._settings = settings_for(self._folder, self._repository.object_format, _SETTINGS)
        return Skeleton(settings=self._settings, shared=clone.shared, shallow=self._repository.shallow_file)

    def copy(self, clone: Clone, name: str) -> Clone:
        """A writable copy of a clone with all that is in it now, for running things that write."""
        self._check(name)
        copied = replace(clone, name=name, path=self._folder / name, vault=self._folder / _VAULTS / name)
        self.remove(copied)
        try:
            copy_folder(clone.path, copied.path)
            copy_folder(clone.vault, copied.vault)
        except OSError as error:
            self.remove(copied)
            raise CloneError(f"'{clone.path}' cannot be copied: {error.strerror}.", hint=_COPY_HINT) from None
        return copied

    def seed(self, clone: Clone, globs: Sequence[str]) -> tuple[str, ...]:
        """Copy files that the project ignores from the user's checkout, such as a local `.env`; what was copied.

        They stay out of every result.
        """
        if not globs:
            return ()
        patterns = [f":(top,glob){form}" for glob in globs for form in (glob.rstrip("/"), f"{glob.rstrip('/')}/**")]
        listing = self._repository.git.run(
            *("ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", *patterns),
            environment={"GIT_LITERAL_PATHSPECS": "0"},
        )
        names = [to_text(name) for name in fields(listing)]
        try:
            copied = copy_files(self._repository.root, clone.path, names)
        except OSError as error:
            raise CloneError(f"'{error.filename}' cannot be copied: {error.strerror}.", hint=_COPY_HINT) from None
        self.exclude(clone, copied)
        return copied

    def exclude(self, clone: Clone, paths: Iterable[str] = ()) -> tuple[str, ...]:
        """Leave these paths out of every result, and all that is in the clone now but not in its commit.

        To be called when a clone is prepared and before its agent starts.
        """
        baseline = Vault(clone.vault, clone.path).exclude(list(paths))
        self._write_excludes(clone, baseline.excluded)
        return tuple(shown(to_text(name)) for name in baseline.excluded)

    def _write_excludes(self, clone: Clone, names: tuple[bytes, ...]) -> None:
        users = self._repository.users_excludes
        (clone.vault / "info" / "exclude").write_bytes(users)
        write_inside(clone.path, ".git/info/exclude", users + exclude_lines(names))

    def protect(self, clone: Clone) -> None:
        """Take the permission to write, once a clone is prepared: without a sandbox, most mistakes then fail."""
        protect_folder(clone.path)

    def fingerprint(self, clone: Clone, since: Fingerprint | None = None) -> Fingerprint:
        """Everything in a clone, its `.git` too. Of the index, only what it means: reading may refresh the rest."""
        found = take(clone.path, since)
        entries = {name: entry for name, entry in found.entries.items() if name != ".git/index"}
        meaning = meaning_of_index(clone.path, Vault(clone.vault, clone.path))
        return Fingerprint(entries=entries, further={"the index": meaning})

    def differences(self, before: Fingerprint, after: Fingerprint) -> tuple[str, ...]:
        """What is not as it was, one line each."""
        return differences(before, after)

    def remove(self, clone: Clone) -> None:
        """Remove a clone, whatever its agent did to it."""
        remove_folder(clone.path)
        remove_folder(clone.vault)

    def remove_all(self) -> None:
        """Remove all clones of the run, and their folder."""
        remove_folder(self._folder)

    def _check(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise CloneError(f"'{name}' is no name for a clone.", hint="Letters, digits, '.', '-' and '_' only.")
