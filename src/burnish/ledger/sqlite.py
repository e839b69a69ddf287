"""The ledger on one machine: SQLite for events and leases, files beside it for blobs.

Every write is one transaction: the lease and the expected version are checked in it, so that a writer that lost its
lease while it was stopped can change nothing when it goes on.

Each event's digest covers the event and the digest before it, and reading checks this chain. SQLite has no checksums of
its own in the database file: a flipped bit inside a body passes its checks, and so does a row that was removed. A
digest per event costs microseconds where the append waits milliseconds for the disk. The chain guards against
accidents and careless hands; it is no signature, since anyone who can write the file can compute it anew.
"""

import hashlib
import os
import sqlite3
import struct
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from burnish.ledger import rules
from burnish.ledger.blobs import BlobFiles
from burnish.ledger.database import Database
from burnish.ledger.errors import LedgerCorruptError
from burnish.ledger.failures import translated
from burnish.ledger.interface import Lease, NewEvent, Pruned, StoredEvent
from burnish.ledger.schema import MIGRATIONS, Migration
from burnish.system.files import make_private_directory
from burnish.system.identifiers import ProcessIdentity

PATIENCE = 30.0
"""Seconds to wait for other writers before saying that the ledger is busy."""
_CHAIN_START = bytes(32)
"""The digest before the first event."""
_LINK = struct.Struct(">32sQd?II")


def open_ledger(directory: Path) -> "SqliteLedger":
    """Open the ledger in a directory; both are created if need be, for the user's eyes only."""
    path = directory.absolute() / "ledger.db"
    with translated(path):
        make_private_directory(path.parent)
    return SqliteLedger(path)


def look_into_ledger(directory: Path) -> "SqliteLedger | None":
    """The ledger in a directory, to read from; None where there is none. Nothing is made, also where nothing can be."""
    path = directory.absolute() / "ledger.db"
    with translated(path):
        if not path.exists():
            return None
        return SqliteLedger(path, read_only=not (os.access(directory, os.W_OK) and os.access(path, os.W_OK)))


class SqliteLedger:
    """A `Ledger` in one file. Several processes may open it; each opens its own, never one from before a fork."""

    def __init__(
        self,
        path: Path,
        *,
        migrations: Sequence[Migration] = MIGRATIONS,
        patience: float = PATIENCE,
        read_only: bool = False,
    ) -> None:
        self.path = path.absolute()
        self._database = Database(self.path, migrations, patience=patience, read_only=read_only)
        self._blobs = BlobFiles(self.path.parent / "blobs")

    def __enter__(self) -> "SqliteLedger":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def append(self, stream: str, expected_version: int, events: Sequence[NewEvent], lease: Lease | None = None) -> int:
        rules.check_events(stream, events)
        with self._database.write() as connection:
            head, digest = self._head(connection, stream)
            rules.check_append(stream, head, expected_version, events, lease)
            if events:
                _insert(connection, stream, head.version, digest, events)
        return expected_version + len(events)

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[StoredEvent]:
        after = max(after, 0)
        with self._database.read() as connection:
            head, end = self._head(connection, stream)
            last = head.version if limit is None else min(head.version, after + limit)
            if after >= last:
                return []
            digest = self._digest(connection, stream, after) if after > 0 else _CHAIN_START
            end = end if last == head.version else self._digest(connection, stream, last)
            rows = connection.execute(
                "SELECT version, CAST(kind AS BLOB), CAST(body AS BLOB), at, intent FROM events"
                " WHERE stream = ? AND version > ? AND version <= ? ORDER BY version",
                (stream, after, last),
            ).fetchall()
        try:
            name = stream.encode()
            for version, kind, body, at, intent in rows:
                digest = _link(digest, stream=name, version=version, kind=kind, body=body, at=at, intent=intent)
        except (TypeError, struct.error) as error:
            raise self._broken(stream) from error
        if digest != end or len(rows) != last - after:
            raise self._broken(stream)
        return [
            StoredEvent(stream=stream, version=version, kind=kind.decode(), body=body, at=at, intent=bool(intent))
            for version, kind, body, at, intent in rows
        ]

    def version(self, stream: str) -> int:
        with self._database.read() as connection:
            return self._head(connection, stream)[0].version

    def streams(self, prefix: str = "") -> list[str]:
        with self._database.read() as connection:
            names = connection.execute(
                "SELECT stream FROM streams WHERE stream >= ? AND version > 0 ORDER BY stream", (prefix,)
            )
            found: list[str] = []
            for (name,) in names:
                if not name.startswith(prefix):
                    break
                found.append(name)
            return found

    def acquire_lease(self, stream: str, owner: ProcessIdentity, now: float, seconds: float) -> Lease:
        with self._database.write() as connection:
            head, _ = self._head(connection, stream)
            rules.check_free(self._lease(connection, stream), now)
            lease = rules.new_lease(stream, owner, head.token + 1, now=now, seconds=seconds)
            connection.execute(
                "INSERT INTO streams (stream, token, owner, until) VALUES (:stream, :token, :owner, :until)"
                " ON CONFLICT (stream) DO UPDATE SET token = :token, owner = :owner, until = :until",
                {
                    "stream": stream,
                    "token": lease.token,
                    "owner": msgspec.json.encode(owner).decode(),
                    "until": lease.until,
                },
            )
        return lease

    def renew_lease(self, lease: Lease, now: float, seconds: float) -> Lease:
        renewed = rules.new_lease(lease.stream, lease.owner, lease.token, now=now, seconds=seconds)
        with self._database.write() as connection:
            head, _ = self._head(connection, lease.stream)
            rules.check_lease(lease, lease.stream, head)
            connection.execute("UPDATE streams SET until = ? WHERE stream = ?", (renewed.until, lease.stream))
        return renewed

    def release_lease(self, lease: Lease) -> None:
        with self._database.write() as connection:
            connection.execute(
                "UPDATE streams SET owner = NULL, until = NULL WHERE stream = ? AND token = ?",
                (lease.stream, lease.token),
            )

    def current_lease(self, stream: str) -> Lease | None:
        with self._database.read() as connection:
            return self._lease(connection, stream)

    def put_blob(self, data: bytes, now: float) -> str:
        return self._blobs.put(data, now)

    def get_blob(self, digest: str) -> bytes:
        return self._blobs.get(digest)

    def blob_sizes(self) -> Mapping[str, int]:
        return self._blobs.sizes()

    def prune_blobs(self, older_than: float, keep: Collection[str]) -> Pruned:
        return self._blobs.prune(older_than, keep)

    def verify(self) -> None:
        """Read everything and believe nothing: SQLite's own checks, every chain, and events without a stream."""
        with self._database.read() as connection:
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if verdict != "ok":
                raise LedgerCorruptError(self.path, verdict)
            names = {name for (name,) in connection.execute("SELECT DISTINCT stream FROM events")}
        for stream in sorted(names.union(self.streams())):
            self.read(stream)

    def _head(self, connection: sqlite3.Connection, stream: str) -> tuple[rules.Head, bytes]:
        """Where a stream stands and the digest there, after a look whether its last event says the same."""
        row = connection.execute(
            "SELECT version, digest, token, owner IS NOT NULL FROM streams WHERE stream = ?", (stream,)
        ).fetchone()
        version, digest, token, held = row or (0, b"", 0, 0)
        last = connection.execute(
            "SELECT version, digest FROM events WHERE stream = ? ORDER BY version DESC LIMIT 1", (stream,)
        ).fetchone()
        if (last or (0, b"")) != (version, digest):
            raise self._broken(stream)
        return rules.Head(version=version, token=token, held=bool(held)), digest or _CHAIN_START

    def _digest(self, connection: sqlite3.Connection, stream: str, version: int) -> bytes:
        row = connection.execute(
            "SELECT digest FROM events WHERE stream = ? AND version = ?", (stream, version)
        ).fetchone()
        if row is None:
            raise self._broken(stream)
        return row[0]

    def _lease(self, connection: sqlite3.Connection, stream: str) -> Lease | None:
        row = connection.execute(
            "SELECT token, owner, until FROM streams WHERE stream = ? AND owner IS NOT NULL", (stream,)
        ).fetchone()
        if row is None:
            return None
        token, owner, until = row
        try:
            return Lease(
                stream=stream, owner=msgspec.json.decode(owner, type=ProcessIdentity), token=token, until=until
            )
        except msgspec.DecodeError as error:
            raise LedgerCorruptError(self.path, f"the lease of {stream} cannot be read") from error

    def _broken(self, stream: str) -> LedgerCorruptError:
        return LedgerCorruptError(self.path, f"events of {stream} are missing or were changed")


def _insert(
    connection: sqlite3.Connection, stream: str, version: int, digest: bytes, events: Sequence[NewEvent]
) -> None:
    rows: list[tuple[str, int, str, str, float, bool, bytes]] = []
    name = stream.encode()
    for event in events:
        version += 1
        kind = event.kind.encode()
        digest = _link(
            digest, stream=name, version=version, kind=kind, body=event.body, at=event.at, intent=event.intent
        )
        rows.append((stream, version, event.kind, event.body.decode(), event.at, event.intent, digest))
    connection.executemany(
        "INSERT INTO events (stream, version, kind, body, at, intent, digest) VALUES (?, ?, ?, ?, ?, ?, ?)", rows
    )
    connection.execute(
        "INSERT INTO streams (stream, version, digest) VALUES (:stream, :version, :digest)"
        " ON CONFLICT (stream) DO UPDATE SET version = :version, digest = :digest",
        {"stream": stream, "version": version, "digest": digest},
    )


def _link(previous: bytes, *, stream: bytes, version: int, kind: bytes, body: bytes, at: float, intent: bool) -> bytes:
    """The digest of an event that follows another. The lengths keep neighbouring fields apart."""
    # SQLite keeps no negative zero, which adding zero removes.
    digest = hashlib.sha256(_LINK.pack(previous, version, at + 0.0, intent, len(stream), len(kind)))
    digest.update(stream)
    digest.update(kind)
    digest.update(body)
    return digest.digest()
