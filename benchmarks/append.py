"""Appending to the ledger against bare sqlite3 with the same settings; eight writers; reading; the import.

Run with the interpreter of the virtual environment: `python benchmarks/append.py`.
"""

import itertools
import json
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from measure import Timing, alternate, interpreter, repeat, report

from burnish.ledger.interface import NewEvent
from burnish.ledger.sqlite import open_ledger
from burnish.system.clock import now
from burnish.system.identifiers import this_process

BODY = json.dumps({"text": "x" * 1000}).encode()
APPENDS = 200
WRITERS = 8
CHILDREN = Path(__file__).parents[1] / "tests" / "ledger" / "children.py"


def bare_sqlite(path: Path) -> Callable[[], None]:
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


def append_latency(root: Path) -> None:
    ledger = open_ledger(root / "ledger")
    lease = ledger.acquire_lease("run/1", this_process(), now(), 3600)
    versions = itertools.count()

    def append() -> None:
        for _ in range(APPENDS):
            ledger.append("run/1", next(versions), [NewEvent(kind="k", body=BODY, at=1.0)], lease)

    timing, baseline = alternate(append, bare_sqlite(root / "bare.db"), 9)
    report("append one event of 1 kB / bare sqlite3", timing, baseline, per=APPENDS)
    ledger.close()


def read_speed(root: Path) -> None:
    with open_ledger(root / "long") as ledger:
        ledger.append("run/1", 0, [NewEvent(kind="k", body=BODY, at=1.0, intent=True)] * 10_000)
        connection = sqlite3.connect(root / "long" / "ledger.db")
        query = "SELECT version, kind, body, at, intent FROM events WHERE stream = 'run/1' ORDER BY version"
        timing, baseline = alternate(lambda: ledger.read("run/1"), lambda: connection.execute(query).fetchall(), 9)
        connection.close()
    report("read 10,000 events, chain checked / bare sqlite3", timing, baseline)


def eight_writers(root: Path, name: str, streams: list[str], count: int) -> None:
    """The longest time that any of eight processes waited for one append, as a share of the second it may take."""
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
    second = Timing([1.0])
    worst = Timing([max(answer["worst_call"] for answer in answers)])
    report(f"{WRITERS} writers, {name}: longest append / one second", worst, second)
    worst = Timing([max(answer["worst_success"] for answer in answers)])
    report(f"{WRITERS} writers, {name}: longest time to success / one second", worst, second)


def import_time() -> None:
    timing, baseline = alternate(
        interpreter("import burnish.ledger.sqlite"), interpreter("import sqlite3, msgspec"), 15
    )
    report("import burnish.ledger.sqlite / import sqlite3, msgspec", timing, baseline)
    report("import sqlite3, msgspec / a bare interpreter", baseline, repeat(interpreter("pass"), 15))


def main() -> None:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:  # the memory of a machine is no disk
        root = Path(folder)
        append_latency(root)
        read_speed(root)
        eight_writers(root, "a stream each", [f"run/{number}" for number in range(WRITERS)], 200)
        eight_writers(root, "one stream", ["run/1"] * WRITERS, 200)
    import_time()


if __name__ == "__main__":
    main()
