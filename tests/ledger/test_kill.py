"""`kill -9` at any point: what was acknowledged is there, nothing is there twice, and the next process goes on."""

import json
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from tests.ledger.conftest import Start

from burnish.ledger.schema import MIGRATIONS
from burnish.ledger.sqlite import SqliteLedger, open_ledger

STREAM = "run/1"
KILLS = pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.prove)])


def check_everything(directory: Path, acknowledged: int) -> int:
    """Check the whole stream and return its version."""
    with open_ledger(directory) as ledger:
        ledger.verify()
        events = ledger.read(STREAM)
    assert [event.version for event in events] == list(range(1, len(events) + 1))
    # At most one batch of three was under way, and it is there in full or not at all.
    assert acknowledged <= len(events) <= acknowledged + 3
    bodies = [json.loads(event.body) for event in events]
    sizes = {body["start"]: body["size"] for body in bodies}
    assert Counter(body["start"] for body in bodies) == sizes
    with sqlite3.connect(directory / "ledger.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return len(events)


@KILLS
def test_a_writer_killed_while_appending_loses_nothing(directory: Path, start: Start, kills: int) -> None:
    version = 0
    for number in range(kills):
        writer = start("append_for_ever", directory, STREAM)
        heard = [writer.hear() for _ in range(1 + number % 7)]
        heard += writer.kill()
        acknowledged = [int(line) for line in heard]
        assert acknowledged == sorted(set(acknowledged))
        assert acknowledged[0] > version
        version = check_everything(directory, acknowledged[-1])
    assert version >= kills


@KILLS
def test_a_process_killed_while_creating_ledgers_leaves_none_half_made(
    directory: Path, start: Start, kills: int
) -> None:
    for number in range(kills):
        root = directory / str(number)
        creator = start("create_for_ever", root)
        heard = [creator.hear() for _ in range(1 + number % 3)]
        heard += creator.kill()
        made = sorted(root.iterdir(), key=lambda path: int(path.name))
        assert [path.name for path in made][: len(heard)] == heard
        for path in made[-2:]:
            with open_ledger(path) as ledger:
                ledger.verify()
                assert ledger.streams() == []


def test_a_process_killed_halfway_through_creation_leaves_no_ledger(directory: Path, start: Start) -> None:
    directory.mkdir()
    creator = start("open_and_stop_halfway", directory / "ledger.db")
    assert creator.hear() == "halfway"
    creator.kill()
    assert not (directory / "ledger.db").exists()
    with open_ledger(directory) as ledger:
        ledger.verify()
    assert sorted(path.name for path in directory.iterdir()) == ["ledger.db", "ledger.lock"]


def test_a_process_killed_halfway_through_a_migration_leaves_the_old_schema_whole(
    directory: Path, start: Start
) -> None:
    writer = start("append_for_ever", directory, STREAM)
    acknowledged = int(writer.hear())
    acknowledged = int([str(acknowledged), *writer.kill()][-1])
    migrator = start("open_and_stop_halfway", directory / "ledger.db")
    assert migrator.hear() == "halfway"
    migrator.kill()
    version = check_everything(directory, acknowledged)

    def further(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE further (name TEXT)")

    with SqliteLedger(directory / "ledger.db", migrations=(*MIGRATIONS, further)) as ledger:
        assert ledger.version(STREAM) == version
        ledger.verify()
