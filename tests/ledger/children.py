"""Programs that the tests of the ledger start, stop and kill. Each says on its output how far it came."""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from burnish.ledger.errors import LeaseHeldError, LeaseLostError, VersionConflictError
from burnish.ledger.interface import NewEvent
from burnish.ledger.schema import MIGRATIONS
from burnish.ledger.sqlite import SqliteLedger, open_ledger
from burnish.system.clock import now
from burnish.system.identifiers import this_process

if TYPE_CHECKING:
    import sqlite3


def say(text: object) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def batch(start: int, size: int) -> list[NewEvent]:
    """Events that tell which batch they belong to, and how many that has."""
    bodies = [json.dumps({"start": start, "size": size, "text": "x" * 300}) for _ in range(size)]
    return [NewEvent(kind="batch", body=body.encode(), at=now()) for body in bodies]


def append_for_ever(directory: str, stream: str) -> None:
    ledger = open_ledger(Path(directory))
    lease = ledger.acquire_lease(stream, this_process(), now(), 3600)
    version = ledger.version(stream)
    while True:
        version = ledger.append(stream, version, batch(version, 1 + version % 3), lease)
        say(version)


def create_for_ever(directory: str) -> None:
    number = 0
    while True:
        open_ledger(Path(directory) / str(number)).close()
        say(number)
        number += 1


def open_and_stop_halfway(path: str) -> None:
    def halfway(connection: "sqlite3.Connection") -> None:
        connection.execute("CREATE TABLE further (name TEXT)")
        connection.execute("INSERT INTO further VALUES ('half')")
        say("halfway")
        sys.stdin.read()

    SqliteLedger(Path(path), migrations=(*MIGRATIONS, halfway))


def intend(directory: str, stream: str, count: str) -> None:
    """Append intents, each as often as it takes, and say how long the longest call and the longest success took."""
    ledger = open_ledger(Path(directory))
    say("ready")
    sys.stdin.readline()
    worst_call = worst_success = 0.0
    version = ledger.version(stream)
    for _ in range(int(count)):
        began = time.perf_counter()
        while True:
            called = time.perf_counter()
            try:
                version = ledger.append(stream, version, [NewEvent(kind="intent", body=b"{}", at=now(), intent=True)])
            except VersionConflictError as conflict:
                version = conflict.actual
            else:
                break
            finally:
                worst_call = max(worst_call, time.perf_counter() - called)
        worst_success = max(worst_success, time.perf_counter() - began)
    ledger.close()
    say(json.dumps({"worst_call": worst_call, "worst_success": worst_success}))


def compete(directory: str, stream: str) -> None:
    ledger = open_ledger(Path(directory))
    say("ready")
    sys.stdin.readline()
    try:
        say(f"won {ledger.acquire_lease(stream, this_process(), now(), 3600).token}")
    except LeaseHeldError as held:
        say(f"held {held.owner.pid}")
    sys.stdin.read()


def append_when_told(directory: str, stream: str, seconds: str) -> None:
    ledger = open_ledger(Path(directory))
    lease = ledger.acquire_lease(stream, this_process(), now(), float(seconds))
    version = ledger.append(stream, 0, batch(0, 1), lease)
    say(f"token {lease.token}")
    for _ in sys.stdin:
        try:
            version = ledger.append(stream, version, batch(version, 1), lease)
            say(f"appended {version}")
        except LeaseLostError as lost:
            say(f"lost {lost.current}")


def append_and_close(directory: str, stream: str) -> None:
    with open_ledger(Path(directory)) as ledger:
        lease = ledger.acquire_lease(stream, this_process(), now(), 60)
        ledger.append(stream, 0, batch(0, 1), lease)
    say("closed")


PROGRAMS = {
    program.__name__: program
    for program in (
        append_for_ever,
        create_for_ever,
        open_and_stop_halfway,
        intend,
        compete,
        append_when_told,
        append_and_close,
    )
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
