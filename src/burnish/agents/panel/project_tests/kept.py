"""Results of test runs that are kept for later runs of burnish: by tree, command and environment.

They are in burnish's own cache, which no sandbox shows: a test cannot write there. Without a sandbox nothing is kept
and nothing is believed. An entry that is damaged, old, not the user's own, or made for anything else is none.

What is kept must not excuse a change. Tests may fail for a reason that has gone since, and such a failure on the base
would hide one of the change: so a result with failures is believed only once, by the `fix` that follows a review.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from burnish import __version__
from burnish.agents.panel.project_tests.commands import SuiteSelection
from burnish.agents.panel.project_tests.values import CaseOutcome, SuiteEnd, TestPlan, TestResult
from burnish.agents.services import Services
from burnish.core.values import Value, replace
from burnish.system import clock
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.nofollow import READING
from burnish.workspace.views import ENVIRONMENTS, NODE_LOCKS, PACKAGES, PYTHON_LOCKS

MOST_ENTRIES, MOST_BYTES, MOST_SECONDS = 300, 200_000_000, 7 * 86_400.0
_LARGEST = 32_000_000
_PROGRAMS = ("python", "python3", "node", "npm", "pnpm", "yarn", "go", "cargo", "rustc", "make")
_LOCKS = (*NODE_LOCKS, *PYTHON_LOCKS, "requirements.txt", "package.json")
_PACKAGE_RECORDS = (".package-lock.json", ".yarn-integrity", ".modules.yaml", ".yarn-state.yml")


class SuiteState(NamedTuple):
    """What a run of tests depends on: the files, and the machine."""

    tree: str
    environment: str
    """A digest of what tests find outside of the tree: interpreters, installed packages, variables."""
    plan: TestPlan
    purpose: str = ""
    """Tells a repeated run from the first one."""

    def key(self, selection: SuiteSelection) -> str:
        said = (__version__, self.tree, self.environment, self.purpose, self.plan, selection)
        return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


class _Entry(Value):
    key: str
    at: float
    result: TestResult


class KeptResults:
    """What earlier runs of burnish know of trees."""

    def __init__(self, services: Services, *, believes_failures: bool) -> None:
        self._folder = services.cache / "tests"
        self._active = services.is_confined and not services.settings.workspace.seed
        self._believes_failures = believes_failures

    def find(self, state: SuiteState, selection: SuiteSelection) -> TestResult | None:
        """The result of an equal run, or what a run of all tests says of those that are asked for."""
        exact = self._read(state.key(selection))
        if exact is not None or selection.measured or selection.everything or selection.listing:
            return exact
        whole = self._read(state._replace(purpose="").key(_WHOLE)) if selection.only and not state.purpose else None
        if whole is None or not whole.lists_passed:
            return None
        wanted = set(selection.only)
        return replace(whole, cases=tuple(case for case in whole.cases if case.name in wanted or case.file in wanted))

    def keep(self, state: SuiteState, selection: SuiteSelection, result: TestResult) -> None:
        """Keep what a run said. One that was cut short says something of the machine, too: it is not kept."""
        if not self._active or result.ended not in (SuiteEnd.EXITED, SuiteEnd.NOTHING):
            return
        is_whole = not (selection.only or selection.without or selection.listing or state.purpose)
        keys = {state.key(_WHOLE): replace(result, lines={})} if is_whole else {}
        keys[state.key(selection)] = result  # which may be the same key
        with suppress(OSError):  # a cache that cannot be written to is none
            make_private_directory(self._folder)
            for key, one in keys.items():
                entry = msgspec.json.encode(_Entry(key=key, at=clock.now(), result=one))
                if len(entry) <= _LARGEST:
                    write_atomically(self._folder / f"{key}.json", entry)
            self._clean()

    def _read(self, key: str) -> TestResult | None:
        if not self._active:
            return None
        path = self._folder / f"{key}.json"
        try:
            entry = msgspec.json.decode(_own_content(path), type=_Entry)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        if entry.key != key or not 0 <= clock.now() - entry.at <= MOST_SECONDS:
            return None
        if not any(case.outcome is CaseOutcome.FAILED for case in entry.result.cases) and entry.result.code in (0, 5):
            return entry.result
        with suppress(OSError):
            path.unlink()
        return entry.result if self._believes_failures else None

    def _clean(self) -> None:
        """Remove the oldest entries beyond what may be kept."""
        found = sorted(((about.st_mtime, about.st_size, path) for path, about in _files(self._folder)), reverse=True)
        room = MOST_BYTES
        for place, (at, size, path) in enumerate(found):
            room -= size
            if place >= MOST_ENTRIES or room < 0 or clock.now() - at > MOST_SECONDS:
                with suppress(OSError):
                    path.unlink()


_WHOLE = SuiteSelection()


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


def environment_digest(services: Services, project: str) -> str:
    """What tests find on this machine. A package that is installed, updated or removed changes it."""
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
