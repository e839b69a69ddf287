"""Disposable clones for agents: the exact tree, shared objects, and nothing of the user's but that.

A clone has the refs `base` and `head`, no remotes, no hooks and no settings of the user. It is never a linked work
tree of the user's repository: nothing that an agent does to it can reach that.
"""

import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from burnish.core.values import Value, replace
from burnish.system.files import make_private_directory
from burnish.workspace.commits import OWN_ADDRESS
from burnish.workspace.diffs import SUBMODULE
from burnish.workspace.errors import CloneError
from burnish.workspace.fingerprints import Fingerprint, differences, take
from burnish.workspace.folders import copy_files, copy_folder, protect_folder, remove_folder, write_inside
from burnish.workspace.git import Git
from burnish.workspace.names import fields, shown, to_text
from burnish.workspace.objects import alternates_file, ensure_objects, object_folders
from burnish.workspace.repository import Repository
from burnish.workspace.trusted_index import Baseline, TrustedIndex, exclude_lines

__all__ = ["Clone", "Clones", "Fingerprint", "ReadOnlyClone", "differences"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TRUSTED = ".trusted"
_PROBED = re.compile(r"^\s+(filemode|symlinks|ignorecase|precomposeunicode) = (\w+)$", re.MULTILINE)
"""What git writes by itself into the settings of a new repository, in its only section, `core`."""
_COPY_HINT = "Is the disk full or read-only?"
_SETTINGS = {"gc.auto": "0", "maintenance.auto": "false", "user.name": "burnish agent", "user.email": OWN_ADDRESS}


WIRING = tuple(f".git/{name}" for name in ("config", "hooks", "info", "objects/info"))
"""The files of a clone that decide what git does in it: no agent that works there needs to change them."""


class Clone(Value):
    name: str
    path: Path
    base: str
    head: str
    trusted: Path
    """burnish's own record of how the clone began; no agent may write there."""
    shared: tuple[Path, ...] = ()
    """Folders of objects that the clone reads; a sandbox must let it."""
    submodules: tuple[str, ...] = ()
    """Submodules of the tree, which are left empty."""


class ReadOnlyClone:
    """A clone that reviewers read, all of them the same one where a sandbox keeps them from changing it."""

    def __init__(self, clone: Clone, before: Fingerprint) -> None:
        self.clone = clone
        self.before = before
        self.readers = 0
        """How many read it now."""
        self.is_shared = False
        self.is_spoiled = False
        """Whether it is no longer as it was: the next reader needs another one."""


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
            trusted=self._folder / _TRUSTED / name,
            shared=object_folders(self._repository),
        )
        ensure_objects(self._repository, base, head)
        self.remove(clone)
        make_private_directory(clone.trusted.parent)
        try:
            return self._fill(clone, writable)
        except BaseException:
            self.remove(clone)
            raise

    def _fill(self, clone: Clone, writable: bool) -> Clone:
        clone.path.mkdir(mode=0o700)
        self._write_repository(clone.path / ".git", clone.shared, {"base": clone.base, "head": clone.head})
        clone.trusted.mkdir(mode=0o700)
        self._write_repository(clone.trusted, clone.shared, {})
        Git(clone.path, isolated=True).run("-c", "checkout.workers=0", "read-tree", "--reset", "-u", clone.head)
        shutil.copy2(clone.path / ".git" / "index", clone.trusted / "index")
        TrustedIndex(clone.trusted, clone.path).set_baseline(Baseline(tree=self._repository.tree_of(clone.head)))
        self._write_excludes(clone, ())
        if not writable:
            protect_folder(clone.path)
        links = (path for path, mode in self._repository.entries(clone.head) if mode == SUBMODULE)
        return replace(clone, submodules=tuple(map(shown, links)))

    def _write_repository(self, git_dir: Path, shared: Iterable[Path], references: Mapping[str, str]) -> None:
        """A repository as git would make it, with HEAD on the branch `head`, written as plain files: what is always the
        same needs no process of git. `shared` are folders of objects that it reads."""
        with self._probing:  # clones are made side by side
            if self._settings is None:
                self._settings = _settings_for(self._folder, self._repository.object_format, _SETTINGS)
        for folder in ("objects/info", "refs/heads", "info", "hooks"):
            (git_dir / folder).mkdir(parents=True)
        (git_dir / "HEAD").write_bytes(b"ref: refs/heads/head\n")
        (git_dir / "config").write_text("".join(_lines(self._settings)), encoding="utf-8")
        (git_dir / "objects" / "info" / "alternates").write_bytes(alternates_file(shared))
        shallow = self._repository.shallow_file
        if shallow is not None:
            (git_dir / "shallow").write_bytes(shallow)
        for name, commit in references.items():
            (git_dir / "refs" / "heads" / name).write_text(f"{commit}\n", encoding="ascii")

    def copy(self, clone: Clone, name: str) -> Clone:
        """A writable copy of a clone with all that is in it now, for running things that write."""
        self._check(name)
        copied = replace(clone, name=name, path=self._folder / name, trusted=self._folder / _TRUSTED / name)
        self.remove(copied)
        try:
            copy_folder(clone.path, copied.path)
            copy_folder(clone.trusted, copied.trusted)
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
        baseline = TrustedIndex(clone.trusted, clone.path).exclude(list(paths))
        self._write_excludes(clone, baseline.excluded)
        return tuple(shown(to_text(name)) for name in baseline.excluded)

    def _write_excludes(self, clone: Clone, names: tuple[bytes, ...]) -> None:
        users = self._repository.users_excludes
        (clone.trusted / "info" / "exclude").write_bytes(users)
        write_inside(clone.path, ".git/info/exclude", users + exclude_lines(names))

    def protect(self, clone: Clone) -> None:
        """Take the permission to write, once a clone is prepared: without a sandbox, most mistakes then fail."""
        protect_folder(clone.path)

    def fingerprint(self, clone: Clone, since: Fingerprint | None = None) -> Fingerprint:
        """Everything in a clone, its `.git` too. Of the index, only what it means: reading may refresh the rest."""
        found = take(clone.path, since)
        entries = {name: entry for name, entry in found.entries.items() if name != ".git/index"}
        meaning = TrustedIndex(clone.trusted, clone.path).meaning_of_agents_index()
        return Fingerprint(entries=entries, further={"the index": meaning})

    def differences(self, before: Fingerprint, after: Fingerprint) -> tuple[str, ...]:
        return differences(before, after)

    def remove(self, clone: Clone) -> None:
        """Remove a clone, whatever its agent did to it."""
        remove_folder(clone.path)
        remove_folder(clone.trusted)

    def remove_all(self) -> None:
        """Remove all clones of the run, and their folder."""
        remove_folder(self._folder)

    def _check(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise CloneError(
                f"'{name}' is not a valid name for a clone.", hint="Use only letters, digits, '.', '-' and '_'."
            )


def _settings_for(folder: Path, object_format: str, further: Mapping[str, str]) -> dict[str, str]:
    """The settings of a new repository in a folder. What depends on the file system, git itself finds out."""
    place = Path(tempfile.mkdtemp(dir=folder, prefix=".probe-"))
    try:
        Git(place, isolated=True).run("init", "--quiet", "--template=")
        found = _PROBED.findall((place / ".git" / "config").read_text(encoding="utf-8"))
    finally:
        remove_folder(place)
    version = {"core.repositoryformatversion": "0"}
    if object_format != "sha1":
        version = {"core.repositoryformatversion": "1", "extensions.objectformat": object_format}
    return {
        **version,
        **{f"core.{name}": value for name, value in found},
        "core.bare": "false",
        "core.logallrefupdates": "true",
        **further,
    }


def _lines(settings: Mapping[str, str]) -> Iterable[str]:
    for name, value in settings.items():
        section, _, key = name.partition(".")
        yield f'[{section}]\n\t{key} = "{value}"\n'
