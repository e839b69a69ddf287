"""Older ledgers become newer ones, in one step or not at all; newer ones are left alone."""

import sqlite3
from pathlib import Path

import pytest

from burnish.core.errors import ErrorKind
from burnish.ledger.errors import LedgerCorruptError, LedgerNewerError
from burnish.ledger.interface import NewEvent
from burnish.ledger.schema import MIGRATIONS
from burnish.ledger.sqlite import SqliteLedger, open_ledger

STREAM = "run/1"
INTENT = NewEvent(kind="noted", body=b"{}", at=1.0, intent=True)


def add_notes(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE notes (stream TEXT, note TEXT)")
    connection.execute("INSERT INTO notes SELECT stream, 'at ' || version FROM streams")


def add_index(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE INDEX notes_by_stream ON notes (stream)")


def break_down(connection: sqlite3.Connection) -> None:
    add_notes(connection)
    raise sqlite3.OperationalError("no luck")


LATER = (*MIGRATIONS, add_notes, add_index)


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'notes%'")}
    connection.close()
    return names


@pytest.fixture
def old(directory: Path) -> Path:
    with open_ledger(directory) as ledger:
        ledger.append(STREAM, 0, [INTENT, INTENT])
    return directory / "ledger.db"


def test_an_older_ledger_is_migrated_and_keeps_its_events(old: Path) -> None:
    with SqliteLedger(old, migrations=LATER) as ledger:
        assert ledger.append(STREAM, 2, [INTENT]) == 3
        ledger.verify()
    assert tables(old) == {"notes", "notes_by_stream"}
    with SqliteLedger(old, migrations=LATER) as ledger:
        assert ledger.version(STREAM) == 3
    connection = sqlite3.connect(old)
    assert connection.execute("SELECT * FROM notes").fetchall() == [(STREAM, "at 2")]
    assert connection.execute("PRAGMA user_version").fetchone() == (len(LATER),)
    connection.close()


def test_a_ledger_one_step_behind_gets_the_last_step_only(old: Path) -> None:
    SqliteLedger(old, migrations=LATER[:-1]).close()
    SqliteLedger(old, migrations=LATER).close()
    assert tables(old) == {"notes", "notes_by_stream"}


def test_a_migration_that_fails_changes_nothing(old: Path) -> None:
    before = old.read_bytes()
    with pytest.raises(LedgerCorruptError, match="no luck"):
        SqliteLedger(old, migrations=(*MIGRATIONS, break_down))
    assert tables(old) == set()
    assert old.read_bytes() == before
    with open_ledger(old.parent) as ledger:
        assert ledger.version(STREAM) == 2


def test_a_creation_that_fails_leaves_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(LedgerCorruptError, match="no luck"):
        SqliteLedger(tmp_path / "ledger.db", migrations=(*MIGRATIONS, break_down))
    assert not (tmp_path / "ledger.db").exists()
    open_ledger(tmp_path).close()


def test_a_newer_ledger_is_refused_and_not_written(old: Path) -> None:
    SqliteLedger(old, migrations=LATER).close()
    before = old.read_bytes()
    with pytest.raises(LedgerNewerError, match="schema version 3; this version of burnish supports 1") as refused:
        open_ledger(old.parent)
    assert "Upgrade burnish" in refused.value.hint
    assert refused.value.kind is ErrorKind.CONFIGURATION
    assert old.read_bytes() == before


def test_a_ledger_migrated_under_a_running_process_is_written_by_it_no_more(old: Path) -> None:
    with open_ledger(old.parent) as running:
        SqliteLedger(old, migrations=LATER).close()
        with pytest.raises(LedgerNewerError):
            running.append(STREAM, 2, [INTENT])
        with pytest.raises(LedgerNewerError):  # the newer header is still in the log alone
            open_ledger(old.parent)
    with SqliteLedger(old, migrations=LATER) as ledger:
        assert ledger.version(STREAM) == 2
