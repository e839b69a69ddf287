"""The SQLite file: made whole or not at all, opened only if it is ours, read and written in transactions.

Writers first queue on a side lock, then begin an immediate transaction. SQLite's own lock keeps them apart; the side
lock is there for fairness, since SQLite's waiters poll and can starve for seconds. WAL lets readers go on meanwhile,
and `synchronous=FULL` makes a commit wait for the disk. This module knows no events and no leases.
"""

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from burnish.ledger.errors import LedgerAccessError, LedgerCorruptError, LedgerNewerError
from burnish.ledger.failures import translated
from burnish.ledger.schema import APPLICATION_ID, Migration, apply, schema_version
from burnish.system.files import sync, sync_directory
from burnish.system.locks import hold

_SUFFIXES = ("", "-wal", "-shm", "-journal")
_HEADER_BYTES = 100
_opening = threading.Lock()
_open_here: Counter[Path] = Counter()
"""How many connections this process has to each file.

Whatever closes a file releases all locks that its process holds on it: then another process could take SQLite's log for
its own, and what this one appends would be lost. So the file itself is read only while this process has no connection.
"""


class Database:
    """One connection, shared by the threads of one process. It must not be used across a fork."""

    def __init__(
        self, path: Path, migrations: Sequence[Migration], *, patience: float, read_only: bool = False
    ) -> None:
        self._path = path.absolute()
        self._file = self._path.resolve()
        self._lock_path = self._path.with_name(f"{self._path.stem}.lock")
        self._migrations = migrations
        self._patience = patience
        self._guard = threading.Lock()
        self._is_closed = False
        with translated(self._path), _opening:
            self._connection = self._open_to_read() if read_only else self._open()
            _open_here[self._file] += 1

    def close(self) -> None:
        with self._guard, translated(self._path), _opening:
            if not self._is_closed:
                self._connection.close()
                self._is_closed = True
                _open_here[self._file] -= 1

    @contextmanager
    def read(self) -> Generator[sqlite3.Connection]:
        """A transaction that sees one state of the ledger, whatever others append meanwhile."""
        with self._guard, translated(self._path), self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self) -> Generator[sqlite3.Connection]:
        """A transaction that is durable when the block ends, and undone if the block raises."""
        with (
            self._guard,
            translated(self._path),
            hold(self._lock_path, seconds=self._patience),
            self._transaction("BEGIN IMMEDIATE") as connection,
        ):
            # A newer burnish may have migrated the file under a process that has been running for long.
            self._refuse_newer(schema_version(connection))
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Generator[sqlite3.Connection]:
        connection = self._connection
        connection.execute(begin)
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                with suppress(sqlite3.Error):  # the first error is the one to tell
                    connection.execute("ROLLBACK")
            raise

    def _open(self) -> sqlite3.Connection:
        if not self._path.exists():
            with hold(self._lock_path, seconds=self._patience):
                self._create()
        self._check_header()
        self._connection = self._connect(self._path)
        try:
            found = schema_version(self._connection)
            self._refuse_newer(found)
            if found < len(self._migrations):
                self._migrate()
        except BaseException:
            self._connection.close()
            raise
        return self._connection

    def _open_to_read(self) -> sqlite3.Connection:
        """Open a file in a folder that cannot be written to, where SQLite cannot make the files that WAL needs.

        Without a log beside it the file holds everything, and nothing can write it meanwhile.
        """
        self._check_header()
        log = self._path.with_name(f"{self._path.name}-wal")
        has_log = log.exists() and log.stat().st_size > 0
        mode = "mode=ro" if has_log else "mode=ro&immutable=1"
        return sqlite3.connect(
            f"{self._path.as_uri()}?{mode}",
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
        )

    def _connect(self, path: Path) -> sqlite3.Connection:
        """Open a file that exists; one that does not is never made by accident."""
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw",
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                raise LedgerAccessError(path, f"the file system allows only the journal mode '{mode}'")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # macOS; without meaning elsewhere
            connection.execute("PRAGMA cell_size_check = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self) -> None:
        """Make the file under another name and rename it, so that an unfinished ledger is never seen as one.

        Hence a file that is empty or lacks our mark was damaged, and is not taken for a new one.
        """
        if self._path.exists():  # another process was faster
            return
        leftover = self._path.with_name(f"{self._path.name}-wal")
        if leftover.exists():
            raise LedgerCorruptError(self._path, f"the file is missing, but {leftover.name} exists")
        new = self._path.with_name(f"{self._path.name}.new")
        for suffix in _SUFFIXES:
            new.with_name(f"{new.name}{suffix}").unlink(missing_ok=True)
        descriptor = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            self._fill(new)
            sync(descriptor)
        finally:
            os.close(descriptor)
        new.rename(self._path)
        sync_directory(self._path.parent)

    def _fill(self, new: Path) -> None:
        self._connection = self._connect(new)
        try:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                apply(connection, self._migrations)
        finally:
            self._connection.close()  # which also moves everything from the log into the file

    def _migrate(self) -> None:
        with hold(self._lock_path, seconds=self._patience), self._transaction("BEGIN IMMEDIATE") as connection:
            self._refuse_newer(schema_version(connection))
            apply(connection, self._migrations)

    def _check_header(self) -> None:
        """Look at the file before SQLite does, which might tidy up beside it. One that is open here was looked at."""
        if _open_here[self._file] > 0:
            return
        with self._path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
        if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\0"):
            raise LedgerCorruptError(self._path, "it is not a database")
        if int.from_bytes(header[68:72]) != APPLICATION_ID:
            raise LedgerCorruptError(self._path, "it is a database, but not a ledger of burnish")
        self._refuse_newer(int.from_bytes(header[60:64]))

    def _refuse_newer(self, found: int) -> None:
        if found > len(self._migrations):
            raise LedgerNewerError(self._path, found, len(self._migrations))
