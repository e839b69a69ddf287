"""The command line of bubblewrap for a confined command.

Inside, the whole file system is there, read-only; the homes, the temporary folders and the sockets in /run are empty
and private, except for what the command needs. There are other process numbers, no capabilities, other inter-process
memory, and no terminal. The environment is NOT given on the command line, which every user can read: bubblewrap hands
its own on, and that is the command's and nothing else.

What is left open with the network: sockets without a name in the file system (abstract ones), as they belong to it.
"""

import os
from enum import Enum
from pathlib import Path

from burnish.system.process_start import Command
from burnish.system.sandbox_paths import (
    ROOT,
    Confinement,
    Mount,
    Trail,
    exists,
    expand,
    follow,
    homes,
    needed_for,
    program_trails,
)

_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
)
_FILE_SYSTEM = ("--ro-bind", "/", "/")
# Many settings of the kernel may be written by user 0, whatever its capabilities: /proc is read-only, too.
_KERNEL = ("--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev")
ALWAYS = (*_NAMESPACES, *_FILE_SYSTEM, *_KERNEL)
_SYSTEM = frozenset(
    Path(f"/{name}") for name in ("bin", "dev", "etc", "lib", "lib64", "nix", "proc", "sbin", "sys", "usr")
)
"""No program runs without these, so they are never hidden, whatever lies in them."""
_EMPTY = tuple(Path(name) for name in ("/tmp", "/var/tmp", "/run", "/home", "/root"))  # noqa: S108 - made empty


class _Access(Enum):
    HIDDEN = "hidden"
    NOTHING = "nothing"
    READ = "read"
    WRITE = "write"


def arguments(command: Command, confinement: Confinement) -> tuple[str, ...]:
    """Everything between the name of bubblewrap and the command."""
    view = _View()
    owned = expand(confinement.owned)
    for path in (*_EMPTY, *homes(), *expand(confinement.hidden), *_routes(owned)):
        view.hide(path)
    view.look_up(follow("/etc/resolv.conf"))
    view.work_in(follow(command.folder))
    for trail in program_trails(command):
        view.run(trail)
    for path in expand(confinement.readable):
        view.show(follow(path), _Access.READ)
    for path in (*expand(confinement.writable), Path(confinement.temporary)):
        view.show(follow(path), _Access.WRITE)
    for path in expand(confinement.protected):
        view.protect(follow(path).real)
    for mount in confinement.mounts:
        view.put_over(mount)
    network = () if confinement.network else ("--unshare-net",)
    root, sealed = (_own_root(), ("--remount-ro", "/")) if owned else (_FILE_SYSTEM, ())
    seen = _seen(command.folder, confinement.mounts)
    return (*_NAMESPACES, *root, *_KERNEL, *network, *view.mounts(), *sealed, "--chdir", seen)


def _routes(owned: tuple[Path, ...]) -> set[Path]:
    """The topmost folders on the way to some paths. Made empty, they and all folders made in them are the user's."""
    places = {place for trail in map(follow, owned) for place in trail.places}
    return {Path(*place.parts[:2]) for place in places} - _SYSTEM


def _own_root() -> tuple[str, ...]:
    """A root that belongs to the user, with all that is in the real one. Something may disappear meanwhile."""
    words: list[str] = []
    with os.scandir(ROOT) as listing:
        for entry in listing:
            if entry.is_symlink():
                words += ("--symlink", str(Path(entry.path).readlink()), entry.path)
            else:
                words += ("--ro-bind-try", entry.path, entry.path)
    return tuple(words)


def _seen(folder: str, mounts: tuple[Mount, ...]) -> str:
    """Where a command finds its folder."""
    for mount in mounts:
        if folder == mount.source or folder.startswith(f"{mount.source}/"):
            return f"{mount.target}{folder.removeprefix(mount.source)}"
    return folder


class _View:
    """What a confined command sees: for each path what it may do below it. The deepest path that holds decides."""

    def __init__(self) -> None:
        self._access = {ROOT: _Access.READ}
        self._links: dict[Path, str] = {}
        self._held: set[Path] = set()
        self._sources: dict[Path, str] = {}
        """What is seen at a path where that is not what is there."""

    def hide(self, path: Path) -> None:
        if exists(path):  # asked first, as most of them are not there
            self._access[follow(path).real] = _Access.HIDDEN

    def show(self, trail: Trail, access: _Access) -> None:
        self._links.update(trail.links)
        if trail.real != ROOT and exists(trail.real):
            self._access[trail.real] = access

    def look_up(self, trail: Trail) -> None:
        """Something of the system, or of the command, that may lie where nothing else is seen."""
        if self._at(trail.real) is _Access.HIDDEN:
            self.show(trail, _Access.READ)

    def work_in(self, trail: Trail) -> None:
        """The folder of the command. One that is itself made empty will do as it is."""
        self._links.update(trail.links)
        if trail.real not in self._access:
            self.look_up(trail)

    def run(self, trail: Trail) -> None:
        """A program is needed at every place through which it is reached."""
        self._links.update(trail.links)
        hidden = [path for path, access in self._access.items() if access is _Access.HIDDEN]
        for place in trail.places:
            if self._at(place) is _Access.HIDDEN and exists(place):
                needed = needed_for(place, hidden)
                if needed is not None:
                    self.show(follow(needed), _Access.READ)

    def protect(self, path: Path) -> None:
        """Read-only where the rest can be written; of what is not there, nothing can be made.

        A link that was put in the way leads to where nothing can be written, and shows nothing more of it.
        """
        if self._at(path) is _Access.WRITE and path.parent.is_dir():
            # A place where something is mounted can be neither renamed nor removed.
            self._held.add(path.parent)
            self._access.setdefault(path.parent, _Access.WRITE)
            self._access[path] = _Access.READ if exists(path) else _Access.NOTHING

    def put_over(self, mount: Mount) -> None:
        """Show something at another path, and nothing of what was to be seen there."""
        target = Path(mount.target)
        for path in [path for path in self._access if path.is_relative_to(target)]:
            del self._access[path]
        self._links = {link: to for link, to in self._links.items() if not link.is_relative_to(target)}
        self._held = {path for path in self._held if not path.is_relative_to(target)}
        self._access[target] = _Access.WRITE if mount.writable else _Access.READ
        self._sources[target] = mount.source

    def mounts(self) -> list[str]:
        """From the outermost to the innermost, as each covers what was there before; links last."""
        words: list[str] = []
        for path in sorted(self._access, key=lambda path: len(path.parts)):
            if path in self._sources:
                words += (
                    "--bind" if self._access[path] is _Access.WRITE else "--ro-bind",
                    self._sources[path],
                    str(path),
                )
            elif path != ROOT and (path in self._held or self._access[path] is not self._at(path.parent)):
                words += _mount(path, self._access[path])
        for link, target in self._links.items():
            if self._at(link) is _Access.HIDDEN:
                words += ("--symlink", target, str(link))
        return words

    def _at(self, path: Path) -> _Access:
        return next(self._access[place] for place in (path, *path.parents) if place in self._access)


def _mount(path: Path, access: _Access) -> tuple[str, ...]:
    name = str(path)
    match access:
        case _Access.HIDDEN if path.is_dir():
            return ("--tmpfs", name)
        case _Access.HIDDEN:
            return ("--ro-bind", "/dev/null", name)
        case _Access.NOTHING:
            return ("--tmpfs", name, "--remount-ro", name)
        case _Access.READ:
            return ("--ro-bind", name, name)
        case _Access.WRITE:
            return ("--bind", name, name)
