"""Blobs: bytes in files named by their digest. Too large for events, and free to be removed when they are old.

A blob's age is its file's time of modification. Writers share a lock that pruning holds alone, so that a blob which
has just been stored again is never removed as an old one.
"""

import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path

from burnish.ledger.errors import BlobCorruptError, BlobMissingError
from burnish.ledger.failures import translated
from burnish.ledger.interface import Pruned
from burnish.ledger.rules import check_digest
from burnish.system.files import TEMPORARY_SUFFIX, make_private_directory, write_atomically
from burnish.system.locks import hold


class BlobFiles:
    """The blobs under one directory, as `ab/cdef…`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.absolute()
        self._lock_path = self._directory / "lock"

    def put(self, data: bytes, now: float) -> str:
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        with translated(self._directory):
            make_private_directory(path.parent)
            with hold(self._lock_path, shared=True):
                self._store(path, data, now)
        return digest

    def _store(self, path: Path, data: bytes, now: float) -> None:
        try:
            if path.read_bytes() == data:
                now = max(now, path.stat().st_mtime)
            else:  # damaged: the right content is at hand
                write_atomically(path, data)
        except FileNotFoundError:
            write_atomically(path, data)
        os.utime(path, (now, now))

    def get(self, digest: str) -> bytes:
        path = self._path(check_digest(digest))
        with translated(self._directory):
            try:
                data = path.read_bytes()
            except FileNotFoundError as error:
                raise BlobMissingError(digest) from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise BlobCorruptError(digest, path)
        return data

    def sizes(self) -> dict[str, int]:
        with translated(self._directory):
            files = self._files() if self._directory.is_dir() else ()
            return {f"{file.parent.name}{file.name}": _size(file) for file in files if _is_blob(file)}

    def prune(self, older_than: float, keep: Collection[str]) -> Pruned:
        kept = frozenset(check_digest(digest) for digest in keep)
        blobs = size = 0
        if not self._directory.is_dir():
            return Pruned()
        with translated(self._directory), hold(self._lock_path):
            for path in self._files():
                status = path.stat()
                if status.st_mtime >= older_than or f"{path.parent.name}{path.name}" in kept:
                    continue
                path.unlink()
                size += status.st_size
                # What a killed writer left is removed too, but was never a blob.
                blobs += _is_blob(path)
        return Pruned(blobs=blobs, bytes=size)

    def _files(self) -> Iterator[Path]:
        for folder in sorted(self._directory.iterdir()):
            if folder.is_dir():
                yield from sorted(folder.iterdir())

    def _path(self, digest: str) -> Path:
        return self._directory / digest[:2] / digest[2:]


def _is_blob(path: Path) -> bool:
    """Whether it is not what a killed writer left."""
    return not path.name.endswith(TEMPORARY_SUFFIX)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # pruned meanwhile
        return 0
