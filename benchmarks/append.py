"""Appending to the ledger against bare sqlite3 with the same settings; reading; eight writers at once."""

import itertools
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, Job, compare
from burnish.ledger.interface import NewEvent
from burnish.ledger.sqlite import open_ledger
from burnish.system.clock import now
from burnish.system.identifiers import this_process

BODY = json.dumps({"text": "x" * 1000}).encode()
APPENDS = 200
EVENTS = 10_000
WRITERS = 8
CHILDREN = Path(__file__).parents[1] / "tests" / "ledger" / "children.py"


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".benchmarks-") as folder:  # memory is no disk
        root = Path(folder)
        yield _append(root)
        yield _read(root)
        yield _writers(root, "a stream each", [f"run/{number}" for number in range(WRITERS)])
        yield _writers(root, "one stream", ["run/1"] * WRITERS)


def _append(root: Path) -> Figure:
    with open_ledger(root / "ledger") as ledger:
        lease = ledger.acquire_lease("run/1", this_process(), now(), 3600)
        versions = itertools.count()

        def append() -> None:
            for _ in range(APPENDS):
                ledger.append("run/1", next(versions), [NewEvent(kind="k", body=BODY, at=1.0)], lease)

        bare = _bare_append(root / "bare.db")
        name = "append an event of 1 kB"
        return compare(name, append, bare, against="bare sqlite3, as durable", limit=4, times=9, per=APPENDS)


def _bare_append(path: Path) -> Job:
    """The least that a durable append can be: one insert in one transaction."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE events (stream TEXT, version INTEGER, body TEXT, UNIQUE (stream, version))")
    versions = itertools.count()

    def append() -> None:
        for _ in range(APPENDS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO events VALUES ('run/1', ?, ?)", (next(versions), BODY.decode()))
            connection.execute("COMMIT")

    return append


def _read(root: Path) -> Figure:
    query = "SELECT version, kind, body, at, intent FROM events WHERE stream = 'run/1' ORDER BY version"
    with open_ledger(root / "long") as ledger:
        ledger.append("run/1", 0, [NewEvent(kind="k", body=BODY, at=1.0, intent=True)] * EVENTS)
        connection = sqlite3.connect(root / "long" / "ledger.db")
        try:
            return compare(
                f"read {EVENTS:,} events of 1 kB, every digest checked",
                lambda: ledger.read("run/1"),
                lambda: connection.execute(query).fetchall(),
                against="bare sqlite3, unchecked",
                limit=8,
            )
        finally:
            connection.close()


def _writers(root: Path, name: str, streams: list[str], count: int = 200) -> Figure:
    """The longest time that any of eight processes needed for one append, against the second that it may take."""
    command = [sys.executable, str(CHILDREN), "intend", str(root / name)]
    pipe = subprocess.PIPE
    writers = [
        subprocess.Popen([*command, stream, str(count)], stdin=pipe, stdout=pipe, text=True) for stream in streams
    ]
    for writer in writers:
        if writer.stdout:
            writer.stdout.readline()  # it is ready
    for writer in writers:
        if writer.stdin:
            writer.stdin.write("go\n")
            writer.stdin.flush()
    answers = [json.loads(writer.communicate()[0]) for writer in writers]
    longest = max(answer["worst_success"] for answer in answers)
    return Figure(
        name=f"{WRITERS} writers, {name}: the longest append", ours=longest, peer=1.0, against="one second", limit=1
    )
