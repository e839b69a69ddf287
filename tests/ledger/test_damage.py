"""Files that are not what was written: told clearly, never believed, never overwritten."""

import os
import resource
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.core.errors import ErrorKind
from burnish.ledger.errors import (
    BlobCorruptError,
    LedgerAccessError,
    LedgerBusyError,
    LedgerCorruptError,
    LedgerError,
    LedgerFullError,
)
from burnish.ledger.failures import translated
from burnish.ledger.interface import NewEvent, StoredEvent
from burnish.ledger.sqlite import SqliteLedger, open_ledger

STREAM = "run/1"


def intent(number: int) -> NewEvent:
    return NewEvent(kind="noted", body=b'{"number": %d}' % number, at=float(number), intent=True)


@pytest.fixture
def written(directory: Path) -> Path:
    """A ledger with three events, closed, so that all of it is in one file."""
    with open_ledger(directory) as ledger:
        ledger.append(STREAM, 0, [intent(1), intent(2), intent(3)])
    return directory / "ledger.db"


def test_files_are_for_the_users_eyes_only(written: Path) -> None:
    assert written.parent.stat().st_mode & 0o777 == 0o700
    with open_ledger(written.parent) as ledger:
        ledger.append(STREAM, 3, [intent(4)])
        ledger.put_blob(b"secret", now=1)
        for path in written.parent.rglob("*"):
            assert path.stat().st_mode & 0o077 == 0, path


SPOILING: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _data: b"",
    "garbage": lambda _data: b"garbage" * 1000,
    "cut in the header": lambda data: data[:50],
    "cut after a page": lambda data: data[:4096],
    "cut at the end": lambda data: data[:-100],
    "zeroes after the header": lambda data: data[:100] + bytes(len(data) - 100),
    "a database of another program": lambda data: data[:68] + b"\0\0\0\1" + data[72:],
}


@pytest.mark.parametrize("spoil", SPOILING.values(), ids=SPOILING)
def test_a_damaged_file_is_refused_and_left_as_it_is(written: Path, spoil: Callable[[bytes], bytes]) -> None:
    spoilt = spoil(written.read_bytes())
    written.write_bytes(spoilt)
    with pytest.raises(LedgerCorruptError, match=str(written)) as refused, open_ledger(written.parent) as ledger:
        ledger.append(STREAM, 3, [intent(4)])
    assert "Nothing was overwritten" in refused.value.hint
    assert refused.value.kind is ErrorKind.UNREADABLE
    assert written.read_bytes() == spoilt


def test_a_lost_file_beside_its_log_is_not_made_anew(written: Path) -> None:
    with open_ledger(written.parent) as ledger:
        ledger.append(STREAM, 3, [intent(4)])
        log = written.with_name("ledger.db-wal").read_bytes()
    written.unlink()
    written.with_name("ledger.db-wal").write_bytes(log)
    with pytest.raises(LedgerCorruptError, match="is missing"):
        open_ledger(written.parent)
    assert not written.exists()


def outcome(path: Path) -> list[StoredEvent] | None:
    """The events, as far as the ledger believes them."""
    try:
        with SqliteLedger(path) as ledger:
            events = ledger.read(STREAM)
            assert ledger.read(STREAM, after=1) == events[1:]
            return events
    except LedgerError:
        return None


def test_no_flipped_bit_changes_what_is_read(written: Path) -> None:
    good = written.read_bytes()
    with SqliteLedger(written) as ledger:
        events = ledger.read(STREAM)
    told = 0
    for position in (place for place, byte in enumerate(good) if byte):
        flipped = good[position] ^ 1 << position % 8
        written.write_bytes(good[:position] + bytes([flipped]) + good[position + 1 :])
        seen = outcome(written)
        assert seen in (None, events), f"byte {position}"
        told += seen is None
    # Flips in lease columns, unused pages and counters do no harm; flips anywhere in the events are all told.
    assert told > 100


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET body = '{\"number\": 9}' WHERE version = 2",
        "UPDATE events SET at = 9.5 WHERE version = 2",
        "UPDATE events SET kind = 'other' WHERE version = 3",
        "UPDATE events SET intent = 0 WHERE version = 1",
        "UPDATE events SET body = NULL WHERE version = 1",
        "UPDATE events SET body = CAST(x'ff' AS TEXT) WHERE version = 1",
        "DELETE FROM events WHERE version = 2",
        "DELETE FROM events WHERE version = 3",
        "DELETE FROM events",
        "DELETE FROM streams",
        "UPDATE streams SET version = 2",
        "UPDATE streams SET stream = CAST(x'ff' AS TEXT)",
        "DROP TABLE streams",
    ],
)
def test_events_changed_by_hand_are_not_believed(written: Path, statement: str) -> None:
    connection = sqlite3.connect(written, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET sql = replace(sql, 'body TEXT NOT NULL', 'body TEXT') WHERE name = 'events'"
    )
    connection.close()
    connection = sqlite3.connect(written, isolation_level=None)
    connection.execute(statement)
    connection.close()
    with open_ledger(written.parent) as ledger:
        with pytest.raises(LedgerCorruptError):
            ledger.read(STREAM)
        with pytest.raises(LedgerCorruptError):
            ledger.verify()


@pytest.mark.parametrize("statement", ["DELETE FROM events WHERE version = 3", "DELETE FROM streams"])
def test_nothing_is_appended_to_a_stream_whose_end_is_lost(written: Path, statement: str) -> None:
    connection = sqlite3.connect(written, isolation_level=None)
    connection.execute(statement)
    connection.close()
    with open_ledger(written.parent) as ledger:
        for expected in (0, 2, 3):
            with pytest.raises(LedgerCorruptError):
                ledger.append(STREAM, expected, [intent(4)])


def test_a_lease_that_cannot_be_read_is_told(written: Path) -> None:
    connection = sqlite3.connect(written, isolation_level=None)
    connection.execute("UPDATE streams SET owner = 'nobody', until = 5.0")
    connection.close()
    with open_ledger(written.parent) as ledger, pytest.raises(LedgerCorruptError, match="lease"):
        ledger.current_lease(STREAM)


def test_a_database_locked_by_another_program_is_reported_as_busy(written: Path) -> None:
    other = sqlite3.connect(written, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with SqliteLedger(written, patience=0.05) as ledger:
        with pytest.raises(LedgerBusyError, match="locked"):
            ledger.append(STREAM, 3, [intent(4)])
        assert ledger.version(STREAM) == 3  # reading goes on
        other.execute("ROLLBACK")
        assert ledger.append(STREAM, 3, [intent(4)]) == 4
    other.close()


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "any.db", isolation_level=None)
    connection.execute("CREATE TABLE t (x)")
    connection.execute("PRAGMA max_page_count = 2")
    with pytest.raises(LedgerFullError, match="No space left") as full, translated(tmp_path / "any.db"):
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    connection.close()
    assert "Free some space" in full.value.hint


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file of this process may grow beyond a limit, as if the disk ended there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = 200_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_an_append_that_does_not_fit_leaves_everything_as_it_was(written: Path, small_files: int) -> None:
    large = NewEvent(kind="large", body=b'"' + b"x" * 2 * small_files + b'"', at=1.0, intent=True)
    with open_ledger(written.parent) as ledger:
        with pytest.raises((LedgerFullError, LedgerAccessError)):
            ledger.append(STREAM, 3, [intent(4), large])
        with pytest.raises(LedgerFullError):
            ledger.put_blob(large.body, now=1)
        assert ledger.version(STREAM) == 3
        assert ledger.append(STREAM, 3, [intent(4)]) == 4
        ledger.verify()
    assert not [path for path in (written.parent / "blobs").rglob("*") if path.is_file() and path.name != "lock"]


def test_a_file_in_place_of_the_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    with pytest.raises(LedgerAccessError, match="state") as refused:
        open_ledger(tmp_path / "state")
    assert "permissions" in refused.value.hint


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder of another user, and no right to write there; root has to step down for that."""
    folder = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    folder.chmod(0o555)
    if is_root:
        os.seteuid(65534)
    yield folder
    if is_root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_directory_that_cannot_be_written_is_told(nobody: Path) -> None:
    with pytest.raises(LedgerAccessError, match="Permission denied"):
        open_ledger(nobody / "state")


def test_a_damaged_blob_is_told_and_healed_when_its_content_comes_again(sqlite_ledger: SqliteLedger) -> None:
    digest = sqlite_ledger.put_blob(b"content", now=1)
    (path,) = [path for path in (sqlite_ledger.path.parent / "blobs").rglob("*") if path.name == digest[2:]]
    path.write_bytes(b"c0ntent")
    with pytest.raises(BlobCorruptError, match=digest):
        sqlite_ledger.get_blob(digest)
    assert sqlite_ledger.put_blob(b"content", now=1) == digest
    assert sqlite_ledger.get_blob(digest) == b"content"


def test_pruning_removes_what_a_killed_writer_left(sqlite_ledger: SqliteLedger) -> None:
    digest = sqlite_ledger.put_blob(b"content", now=100)
    folder = sqlite_ledger.path.parent / "blobs" / digest[:2]
    (folder / ".half.tmp").write_bytes(b"half")
    os.utime(folder / ".half.tmp", (50, 50))
    pruned = sqlite_ledger.prune_blobs(older_than=100, keep=())
    assert (pruned.blobs, pruned.bytes) == (0, 4)
    assert sqlite_ledger.get_blob(digest) == b"content"
