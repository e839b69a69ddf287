"""Several processes with one ledger: nobody's events are lost, and one writer at a time holds a lease."""

import json
import signal
from pathlib import Path

import pytest
from tests.ledger.conftest import Start

from burnish.ledger.errors import LeaseHeldError, LedgerBusyError
from burnish.ledger.interface import NewEvent
from burnish.ledger.sqlite import SqliteLedger, look_into_ledger, open_ledger
from burnish.system.clock import now
from burnish.system.identifiers import identity_of, this_process
from burnish.system.locks import hold

STREAM = "run/1"
WRITERS = 8


def run_writers(directory: Path, start: Start, streams: list[str], count: int) -> list[dict[str, float]]:
    writers = [start("intend", directory, stream, count) for stream in streams]
    for writer in writers:
        assert writer.hear() == "ready"
    for writer in writers:
        writer.tell()
    answers: list[dict[str, float]] = [json.loads(writer.hear()) for writer in writers]
    assert [writer.end() for writer in writers] == [0] * len(writers)
    return answers


@pytest.mark.parametrize("shared", [True, False], ids=["one stream", "a stream each"])
def test_eight_processes_append_at_once_and_nothing_is_lost(directory: Path, start: Start, shared: bool) -> None:
    streams = [STREAM if shared else f"run/{number}" for number in range(WRITERS)]
    run_writers(directory, start, streams, 25)
    with open_ledger(directory) as ledger:
        ledger.verify()
        versions = {stream: ledger.version(stream) for stream in ledger.streams()}
    assert versions == ({STREAM: WRITERS * 25} if shared else dict.fromkeys(streams, 25))


def test_a_second_look_of_the_same_process_loses_no_lock_of_the_first(directory: Path, start: Start) -> None:
    """Closing a file releases the locks of the whole process: SQLite's log would be taken for an unused one."""
    with open_ledger(directory) as ledger:
        lease = ledger.acquire_lease("run/own", this_process(), now(), 60)
        ledger.append("run/own", 0, [NewEvent(kind="one", body=b"{}", at=now())], lease)
        other = look_into_ledger(directory)
        assert other is not None
        other.close()
        for number, stream in enumerate(("run/1", "run/2", "run/3"), start=1):
            child = start("append_and_close", directory, stream)
            assert (child.hear(), child.end()) == ("closed", 0)
            ledger.append("run/own", number, [NewEvent(kind="further", body=b"{}", at=now())], lease)
    with open_ledger(directory) as ledger:
        ledger.verify()
        assert {stream: ledger.version(stream) for stream in ledger.streams()} == {
            "run/1": 1,
            "run/2": 1,
            "run/3": 1,
            "run/own": 4,
        }


@pytest.mark.prove
@pytest.mark.parametrize("shared", [True, False], ids=["one stream", "a stream each"])
def test_no_writer_of_eight_waits_for_more_than_a_second(directory: Path, start: Start, shared: bool) -> None:
    streams = [STREAM if shared else f"run/{number}" for number in range(WRITERS)]
    answers = run_writers(directory, start, streams, 400)
    assert max(answer["worst_call"] for answer in answers) < 1.0


def test_eight_processes_create_one_ledger_at_once(directory: Path, start: Start) -> None:
    competitors = [start("compete", directory, f"run/{number}") for number in range(WRITERS)]
    assert [competitor.hear() for competitor in competitors] == ["ready"] * WRITERS
    for competitor in competitors:
        competitor.tell()
    assert [competitor.hear() for competitor in competitors] == ["won 1"] * WRITERS


def test_of_two_processes_one_gets_the_lease_and_the_other_is_told_who(directory: Path, start: Start) -> None:
    competitors = [start("compete", directory, STREAM) for _ in range(2)]
    for competitor in competitors:
        assert competitor.hear() == "ready"
    for competitor in competitors:
        competitor.tell()
    answers = {competitor.pid: competitor.hear() for competitor in competitors}
    (winner,) = [pid for pid, answer in answers.items() if answer == "won 1"]
    (loser,) = [pid for pid in answers if pid != winner]
    assert answers[loser] == f"held {winner}"


def test_the_lease_of_a_killed_process_is_free_at_once(directory: Path, start: Start) -> None:
    first = start("append_when_told", directory, STREAM, 3600)
    assert first.hear() == "token 1"
    with open_ledger(directory) as ledger:
        with pytest.raises(LeaseHeldError, match=f"process {first.pid} "):
            ledger.acquire_lease(STREAM, this_process(), now(), 60)
        first.kill()
        assert ledger.acquire_lease(STREAM, this_process(), now(), 60).token == 2


def test_a_stopped_owner_that_goes_on_after_losing_its_lease_writes_nothing(directory: Path, start: Start) -> None:
    paused = start("append_when_told", directory, STREAM, 60)
    assert paused.hear() == "token 1"
    paused.tell()
    assert paused.hear() == "appended 2"
    paused.signal(signal.SIGSTOP)
    paused.tell()
    with open_ledger(directory) as ledger:
        with pytest.raises(LeaseHeldError):
            ledger.acquire_lease(STREAM, this_process(), now(), 60)
        lease = ledger.acquire_lease(STREAM, this_process(), now() + 61, 60)
        assert ledger.append(STREAM, 2, [NewEvent(kind="resumed", body=b"{}", at=now())], lease) == 3
        paused.signal(signal.SIGCONT)
        assert paused.hear() == "lost 2"
        assert [event.kind for event in ledger.read(STREAM)] == ["batch", "batch", "resumed"]


def test_an_intent_from_outside_makes_the_owner_read_on(directory: Path, start: Start) -> None:
    owner = start("append_when_told", directory, STREAM, 60)
    assert owner.hear() == "token 1"
    with open_ledger(directory) as ledger:
        assert ledger.append(STREAM, 1, [NewEvent(kind="cancelled", body=b"{}", at=now(), intent=True)]) == 2
        current = ledger.current_lease(STREAM)
    assert current is not None
    assert current.owner == identity_of(owner.pid)


def test_a_writer_that_holds_on_for_ever_is_reported_as_busy(directory: Path) -> None:
    open_ledger(directory).close()
    with SqliteLedger(directory / "ledger.db", patience=0.05) as ledger:
        with hold(directory / "ledger.lock"), pytest.raises(LedgerBusyError, match="held") as busy:
            ledger.append(STREAM, 0, [NewEvent(kind="k", body=b"{}", at=1.0, intent=True)])
        assert "lsof" in busy.value.hint
        assert ledger.append(STREAM, 0, [NewEvent(kind="k", body=b"{}", at=1.0, intent=True)]) == 1
