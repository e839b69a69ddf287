"""What the user has trusted of a working tree: exact contents, by digest, kept outside of every repository.

As with direnv, trust is in content: one changed byte asks for it anew. What is trusted here runs as the user says, so
this module believes only files that no other user could have written.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.folders import state_folder

_SUFFIX = ".json"


class TrustError(BurnishError):
    kind = ErrorKind.USAGE


class Trusted(Value, omit_defaults=False):
    repository: str
    digest: str
    files: tuple[str, ...]
    trusted_at: float
    version: int = 1


def digest_of(files: Mapping[str, bytes]) -> str:
    """The name of exactly these files with exactly this content."""
    listing = "".join(f"{file_digest(content)} {name!r}\n" for name, content in sorted(files.items()))
    return hashlib.sha256(listing.encode("utf-8", errors="surrogateescape")).hexdigest()


def file_digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class TrustStore:
    """Everything that the user has trusted. `within` is the working tree that the store must not be part of."""

    def __init__(self, environment: Mapping[str, str], within: Path | None = None) -> None:
        state = state_folder(environment)
        self._folder = None if state is None else state / "trusted"
        self._problem = self._why_not(within)

    def _why_not(self, within: Path | None) -> str:
        if self._folder is None:
            return "burnish cannot store what you trust: neither XDG_STATE_HOME nor HOME is set."
        if within is not None and self._folder.resolve().is_relative_to(within.resolve()):
            # Otherwise a change of the working tree could add to what is trusted.
            return f"{self._folder} is inside the repository, which could then trust itself."
        return ""

    def holds(self, repository: str, digest: str) -> bool:
        if self._folder is None or self._problem:
            return False
        found = _read(self._folder / _name(repository, digest))
        return found is not None and (found.repository, found.digest) == (repository, digest)

    def add(self, trusted: Trusted) -> None:
        if self._folder is None or self._problem:
            raise TrustError(self._problem, hint="Set XDG_STATE_HOME to a folder of your own, outside the repository.")
        make_private_directory(self._folder)
        if not _is_private(self._folder):
            hint = f"Run: chmod go-w {self._folder}"
            raise TrustError(f"Other users can write to {self._folder}, or you do not own it.", hint=hint)
        write_atomically(self._folder / _name(trusted.repository, trusted.digest), msgspec.json.encode(trusted) + b"\n")

    def entries(self, repository: str | None = None) -> tuple[Trusted, ...]:
        """What is trusted, in one repository or in all of them, the oldest first."""
        found = [entry for _, entry in self._stored() if repository in (None, entry.repository)]
        return tuple(sorted(found, key=lambda entry: (entry.repository, entry.trusted_at, entry.digest)))

    def remove(self, repository: str) -> tuple[Trusted, ...]:
        """Trust nothing in a repository any more; what was trusted there."""
        removed: list[Trusted] = []
        for path, entry in self._stored():
            if entry.repository == repository:
                path.unlink(missing_ok=True)
                removed.append(entry)
        return tuple(removed)

    def _stored(self) -> Iterator[tuple[Path, Trusted]]:
        names = sorted(self._folder.glob(f"*{_SUFFIX}")) if self._folder is not None else []
        for path in names:
            entry = _read(path)
            if entry is not None:
                yield path, entry


def _name(repository: str, digest: str) -> str:
    key = f"{repository}\0{digest}".encode("utf-8", errors="surrogateescape")
    return f"{hashlib.sha256(key).hexdigest()}{_SUFFIX}"


def _read(path: Path) -> Trusted | None:
    """An entry, or None where there is none that the user alone can have written."""
    with suppress(OSError, msgspec.MsgspecError):
        if _is_private(path.parent) and _is_private(path) and stat.S_ISREG(path.lstat().st_mode):
            return msgspec.json.decode(path.read_bytes(), type=Trusted)
    return None


def _is_private(path: Path) -> bool:
    found = path.lstat()
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022
