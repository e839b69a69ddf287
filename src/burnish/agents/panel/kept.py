"""What is kept for later runs of burnish of the project's own commands: results by all that they depend on.

It is in burnish's own cache, which no sandbox shows: a command of the project cannot write there. Without a sandbox
nothing is kept and nothing is believed. An entry that is damaged, old, not the user's own, or made for anything else is
none.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from burnish import __version__
from burnish.agents.services import Services
from burnish.core.values import Value
from burnish.system import clock
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.nofollow import READING
from burnish.workspace.views import ENVIRONMENTS, NODE_LOCKS, PACKAGES, PYTHON_LOCKS

MOST_ENTRIES, MOST_BYTES, MOST_SECONDS = 300, 200_000_000, 7 * 86_400.0
_LARGEST = 32_000_000
_PROGRAMS = ("python", "python3", "node", "npm", "pnpm", "yarn", "go", "cargo", "rustc", "make")
_LOCKS = (*NODE_LOCKS, *PYTHON_LOCKS, "requirements.txt", "package.json")
_PACKAGE_RECORDS = (".package-lock.json", ".yarn-integrity", ".modules.yaml", ".yarn-state.yml")
_Kept = TypeVar("_Kept")


def key_of(*parts: Any) -> str:
    """A name for all that a result depends on, burnish's own version too."""
    return hashlib.sha256(msgspec.json.encode((__version__, *parts))).hexdigest()


class _Entry(Value):
    key: str
    at: float
    result: msgspec.Raw


class KeptValues(Generic[_Kept]):
    """Values of one type, in a folder of the cache."""

    def __init__(self, services: Services, folder: str, kind: type[_Kept]) -> None:
        self._folder = services.cache / folder
        self._kind = kind
        # Seeded files are not part of what a result is known to depend on.
        self.is_active = services.is_confined and not services.settings.workspace.seed

    def find(self, key: str) -> _Kept | None:
        if not self.is_active:
            return None
        try:
            entry = msgspec.json.decode(_own_content(self._path(key)), type=_Entry)
            if entry.key != key or not 0 <= clock.now() - entry.at <= MOST_SECONDS:
                return None
            return msgspec.json.decode(entry.result, type=self._kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def keep(self, values: Mapping[str, _Kept]) -> None:
        """Keep values by their keys. A cache that cannot be written to is none."""
        if not self.is_active:
            return
        with suppress(OSError):
            make_private_directory(self._folder)
            for key, value in values.items():
                result = msgspec.Raw(msgspec.json.encode(value))
                entry = msgspec.json.encode(_Entry(key=key, at=clock.now(), result=result))
                if len(entry) <= _LARGEST:
                    write_atomically(self._path(key), entry)
            self._clean()

    def forget(self, key: str) -> None:
        with suppress(OSError):
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _clean(self) -> None:
        """Remove the oldest entries beyond what may be kept."""
        found = sorted(((about.st_mtime, about.st_size, path) for path, about in _files(self._folder)), reverse=True)
        room = MOST_BYTES
        for place, (at, size, path) in enumerate(found):
            room -= size
            if place >= MOST_ENTRIES or room < 0 or clock.now() - at > MOST_SECONDS:
                with suppress(OSError):
                    path.unlink()


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in folder.iterdir():
        with suppress(OSError):
            yield path, path.lstat()


def _own_content(path: Path) -> bytes:
    """A file that is the user's own, and that no other user can write to."""
    with os.fdopen(os.open(path, READING), "rb") as stream:
        about = os.fstat(stream.fileno())
        own = stat.S_ISREG(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o022
        return stream.read(_LARGEST + 1) if own and about.st_size <= _LARGEST else b""


def environment_digest(services: Services, project: str, program: str = "") -> str:
    """What a project's commands find on this machine. A package that is installed, updated or removed changes it."""
    variables = services.tool_environment()
    checkout = services.repository.root
    folders = {checkout, checkout / project}
    active = variables.get("VIRTUAL_ENV", "")
    environments = {folder / name for folder in folders for name in ENVIRONMENTS}
    if active:
        environments.add(Path(active))
    programs = {name: shutil.which(name, path=variables.get("PATH", "")) for name in _PROGRAMS}
    said = {
        "variables": variables,
        "prepare": services.settings.workspace.prepare,
        "locks": sorted(_content_digest(folder / name) for folder in folders for name in _LOCKS),
        "programs": {name: _about(Path(found).resolve()) for name, found in programs.items() if found},
        "program": _about(checkout / project / program) if program else "",
        "python": sorted(_python_packages(environments, programs)),
        "node": sorted(_node_packages(folders)),
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _python_packages(environments: set[Path], programs: Mapping[str, str | None]) -> Iterator[str]:
    """Every installed distribution; and of the files that make Python import from elsewhere, when they changed."""
    system = {Path(found).resolve().parent.parent for name, found in programs.items() if found and "python" in name}
    for folder in environments | system:
        yield _about(folder / "pyvenv.cfg")
        for pattern in ("lib*/python3*/site-packages", "lib*/python3*/dist-packages", "lib*/python3/dist-packages"):
            for place in folder.glob(pattern):
                yield _about(place)
                with suppress(OSError):
                    found = [entry for entry in os.scandir(place) if entry.name.endswith((".dist-info", ".pth"))]
                    yield from (_about(Path(entry.path)) for entry in found)


def _node_packages(folders: set[Path]) -> Iterator[str]:
    for folder in folders:
        for name in ("", *_PACKAGE_RECORDS):
            yield _about(folder / PACKAGES / name)


def _content_digest(path: Path) -> str:
    """Dependencies of the checkout serve a copy only where the files that list them are equal."""
    try:
        return f"{path} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    except OSError:
        return ""


def _about(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return ""
    return f"{path} {found.st_size} {found.st_mtime_ns}"
