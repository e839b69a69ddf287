"""Looking at a run until nothing more will happen, and reading its logs in bounded pieces."""

import subprocess
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.core.state import Ended
from burnish.runtime.script import RehearsalScript
from burnish.system.identifiers import identity_of
from burnish.usecases.follow_run import GRACE_SECONDS, PIECE_BYTES, LogFile, Tail, read_logs, watch
from burnish.usecases.runs import NoRunsError, Runs, open_runs
from tests.cli.staged_runs import FIRST, Stage, ledger_of, make_repository, play, state_folder

CLEAN = RehearsalScript(protocol="epic", reviews={"reviewer": ("clean",)})
UNDECIDED = RehearsalScript(
    protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection",) * 3}, fixes=("fixed", "fixed")
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository")


@pytest.fixture
def driver() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lasts until its input ends."""
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def lease(runs: Runs, driver: "subprocess.Popen[bytes]") -> None:
    runs.ledger.acquire_lease(f"run/{FIRST}", identity_of(driver.pid), 1.0, 1e12)


def test_an_ended_run_is_watched_until_its_driver_has_left(repository: Path, driver: "subprocess.Popen[bytes]") -> None:
    play(repository, CLEAN)
    with open_runs(repository) as runs:
        lease(runs, driver)
        looks = watch(runs, FIRST)
        for _ in range(3):
            snapshot = next(looks)
            assert isinstance(snapshot.run.phase, Ended)
            assert snapshot.driver == identity_of(driver.pid)
        driver.communicate()
        assert [snapshot.driver for snapshot in looks] == [None]


def test_a_run_that_waits_for_a_person_is_at_rest_whoever_asks(
    repository: Path, driver: "subprocess.Popen[bytes]"
) -> None:
    play(repository, UNDECIDED)
    with open_runs(repository) as runs:
        lease(runs, driver)
        assert len(list(watch(runs, FIRST))) == 1


def test_a_run_whose_driver_died_is_not_waited_for(repository: Path, driver: "subprocess.Popen[bytes]") -> None:
    with ledger_of(repository) as ledger:
        Stage(ledger, CLEAN).begin().release()
    with open_runs(repository) as runs:
        lease(runs, driver)
        looks = watch(runs, FIRST)
        assert next(looks).driver == identity_of(driver.pid)
        driver.communicate()
        began = time.monotonic()
        assert all(snapshot.interrupted for snapshot in looks)
        assert time.monotonic() - began < GRACE_SECONDS / 2


def test_a_run_that_was_given_back_may_be_on_its_way_to_another_process(repository: Path) -> None:
    with ledger_of(repository) as ledger:
        Stage(ledger, CLEAN).begin().release()
    with open_runs(repository) as runs:
        began = time.monotonic()
        assert all(snapshot.interrupted for snapshot in watch(runs, FIRST))
        assert time.monotonic() - began >= GRACE_SECONDS


def test_a_run_found_by_any_folder_of_its_repository(repository: Path) -> None:
    play(repository, CLEAN)
    inner = repository / "a" / "b"
    inner.mkdir(parents=True)
    with open_runs(inner) as runs:
        assert runs.names() == [FIRST]
        assert runs.folder(FIRST) == state_folder(repository) / "runs" / FIRST


def test_a_ledger_without_runs_has_no_runs(repository: Path) -> None:
    play(repository, CLEAN, name="other")
    with open_runs(repository) as runs:
        assert runs.names() == ["other"]
    state_folder(repository).rename(repository / "elsewhere")
    with pytest.raises(NoRunsError), open_runs(repository):
        pass
    assert not state_folder(repository).exists()


def test_a_huge_log_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    log = tmp_path / "huge.log"
    with log.open("wb") as stream:
        for _ in range(64):
            stream.write(b"x" * 512 * 1024 + b"\n" + b"line\n" * 100_000)
    tracemalloc.start()
    try:
        length = sum(len(piece.text) for piece in read_logs([LogFile(effect="fix:1:1", path=str(log))]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert length == log.stat().st_size
    assert peak < 20 * PIECE_BYTES


def test_a_character_that_is_cut_at_the_end_is_replaced_and_not_lost(tmp_path: Path) -> None:
    log = tmp_path / "cut.log"
    log.write_bytes("é".encode()[:1])
    tail = Tail(LogFile(effect="fix:1:1", path=str(log)))
    assert list(tail.pieces(to_the_end=False)) == []
    assert [piece.text for piece in tail.pieces(to_the_end=True)] == ["\ufffd"]
