"""From errors of SQLite and of the file system to errors of the ledger, in words that help."""

import errno
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from burnish.ledger.errors import (
    LedgerAccessError,
    LedgerBusyError,
    LedgerCorruptError,
    LedgerError,
    LedgerFullError,
)
from burnish.system.locks import LockTimeoutError

_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})
_LEAST_BYTES = 256 * 1024
"""With less than this, SQLite cannot begin."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Run a block that touches the ledger's files; what it raises is said in the ledger's words."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake of ours, such as the use of a closed ledger
    except sqlite3.Error as error:
        raise from_sqlite(error, path) from error
    except UnicodeDecodeError as error:  # SQLite quoted a damaged schema in its message
        raise LedgerCorruptError(path, "its schema cannot be read") from error
    except LockTimeoutError as error:
        raise LedgerBusyError(path, error.message) from error
    except OSError as error:
        raise _from_system(error, path) from error


def from_sqlite(error: sqlite3.Error, path: Path) -> LedgerError:
    """What an error of SQLite means for the ledger."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by the module itself, for text that is not UTF-8 any more
        return LedgerCorruptError(path, str(error))
    primary = code & 0xFF
    if primary in _CORRUPT:
        return LedgerCorruptError(path, str(error))
    if primary in _BUSY:
        return LedgerBusyError(path, f"{error}.")
    if primary == sqlite3.SQLITE_FULL or (primary == sqlite3.SQLITE_IOERR and _is_full(path.parent)):
        return LedgerFullError(path, str(error))
    return LedgerAccessError(path, f"{error} ({error.sqlite_errorname})")


def _is_full(folder: Path) -> bool:
    """Whether a disk has no room: SQLite calls that an I/O error where it cannot enlarge the files beside its own."""
    try:
        room = os.statvfs(folder)
    except OSError:
        return False
    return room.f_bavail * room.f_frsize < _LEAST_BYTES or (room.f_files > 0 and room.f_favail == 0)


def _from_system(error: OSError, path: Path) -> LedgerError:
    reason = f"{error.strerror or error}" + (f" ({error.filename})" if error.filename else "")
    if error.errno in _NO_ROOM:
        return LedgerFullError(path, reason)
    return LedgerAccessError(path, reason)
