"""The tables of the SQLite ledger, and how older ones become newer ones.

The schema's version is the number of migrations that were applied; SQLite keeps it in the file's header. A migration
that has been released is never changed: a further one is added.
"""

import sqlite3
from collections.abc import Callable, Sequence

APPLICATION_ID = 0x6275726E
"""`burn`: tells our files from any other SQLite database."""

Migration = Callable[[sqlite3.Connection], None]


def _first(connection: sqlite3.Connection) -> None:
    # Events keep the order in which all streams grew. A stream's row holds its end, so that events missing there
    # are noticed, and its lease, so that one lookup tells a writer everything.
    connection.execute(
        """
        CREATE TABLE events (
            position INTEGER PRIMARY KEY,
            stream TEXT NOT NULL,
            version INTEGER NOT NULL,
            kind TEXT NOT NULL,
            body TEXT NOT NULL,
            at REAL NOT NULL,
            intent INTEGER NOT NULL,
            digest BLOB NOT NULL,
            UNIQUE (stream, version)
        )
        """
    )
    connection.execute(
        """
        CREATE TABLE streams (
            stream TEXT PRIMARY KEY,
            version INTEGER NOT NULL DEFAULT 0,
            digest BLOB NOT NULL DEFAULT x'',
            token INTEGER NOT NULL DEFAULT 0,
            owner TEXT,
            until REAL
        ) WITHOUT ROWID
        """
    )


MIGRATIONS: tuple[Migration, ...] = (_first,)


def schema_version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def apply(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Apply the migrations that are missing, inside the caller's transaction: all of them or none."""
    for migration in migrations[schema_version(connection) :]:
        migration(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(migrations)}")
