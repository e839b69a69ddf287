"""How far a stream of events has come, with nothing loaded but SQLite: for hooks, which ask this before all else."""

import sqlite3
from contextlib import closing
from pathlib import Path

_PATIENCE = 2.0
"""Seconds. Readers wait only for a process that holds the whole database."""


def stream_version(ledger: Path, stream: str) -> int | None:
    """How many events a stream has; None where that cannot be told at once, so that the ledger must be opened."""
    try:
        address = f"{ledger.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE)) as connection:
            row = connection.execute("SELECT version FROM streams WHERE stream = ?", (stream,)).fetchone()
    except (sqlite3.Error, ValueError):
        return None
    return row[0] if row else 0
