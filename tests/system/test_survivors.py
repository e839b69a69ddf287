"""Whoever outlives its work is found by its environment and ended; nobody else is."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from burnish.core.values import replace
from burnish.core.work import ProcessMark
from burnish.system import process_table, survivors
from burnish.system.process_portable import PortableProcesses
from burnish.system.process_table import LinuxProcesses


@pytest.fixture(autouse=True, params=["kernel", "psutil"])
def told_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test twice: as on Linux, and as on other systems."""
    if request.param == "kernel" and sys.platform != "linux":
        pytest.skip("only Linux has this table")
    monkeypatch.setattr(process_table, "SYSTEM", PortableProcesses() if request.param == "psutil" else LinuxProcesses())


MARKER = f"BURNISH_TEST_RUN_{os.getpid()}"
"""Tests beside each other must not find each other's."""
DAEMON = """
import os, signal, sys
stubborn = sys.argv[1:] == ["stubborn"]
if stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
parents, held = os.pipe()
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.close(held)
os.read(parents, 1)  # until both are gone, which would be found as well
print(os.getpid(), flush=True)
signal.pause() if not stubborn else [signal.pause() for _ in iter(int, 1)]
"""


@contextmanager
def a_daemon(value: str, *arguments: str) -> Generator[int]:
    """A process that left the group and the session of the one that started it."""
    environment = {"PATH": os.environ["PATH"], MARKER: value, "OTHER": "x"}
    starter = subprocess.Popen(
        [sys.executable, "-c", DAEMON, *arguments], env=environment, stdout=subprocess.PIPE, text=True
    )
    with starter:
        assert starter.stdout is not None
        pid = int(starter.stdout.readline())
        try:
            yield pid
        finally:
            if process_table.SYSTEM.holds(pid, f"{MARKER}={value}".encode()):
                os.kill(pid, signal.SIGKILL)


def test_a_daemon_is_found_by_the_exact_value() -> None:
    with a_daemon("run-1") as pid, a_daemon("run-10"):
        assert [mark.pid for mark in survivors.find(MARKER, "run-1")] == [pid]
        assert survivors.find(MARKER.removeprefix("BURNISH_"), "run-1") == []
        assert survivors.find(MARKER, "run") == []


def test_a_daemon_is_ended_and_another_runs_on() -> None:
    with a_daemon("mine") as pid, a_daemon("other") as other:
        survivors.end(survivors.find(MARKER, "mine"), 10)
        assert not process_table.is_alive(process_table.mark_of(pid))
        assert process_table.is_alive(process_table.mark_of(other))


def test_one_that_ignores_the_request_is_killed() -> None:
    with a_daemon("stubborn", "stubborn") as pid:
        survivors.end(survivors.find(MARKER, "stubborn"), 0.1)
        assert not process_table.is_alive(process_table.mark_of(pid))


def test_all_are_ended_and_counted() -> None:
    with a_daemon("all"), a_daemon("all", "stubborn"):
        assert survivors.end_all(MARKER, "all", 0.1) == 2
        assert survivors.find(MARKER, "all") == []
        assert survivors.end_all(MARKER, "all", 0.1) == 0


def test_a_later_process_with_the_same_number_is_spared() -> None:
    with a_daemon("spared") as pid:
        mark = process_table.mark_of(pid)
        survivors.end([replace(mark, started=mark.started - 1)], 0.1)
        assert process_table.is_alive(mark)


def test_a_number_that_nobody_has_is_passed_over() -> None:
    survivors.end([ProcessMark(pid=2**22 + 1, started=1.0)], 0.1)


ONESELF = """
import os, sys
from burnish.system import process_table, survivors
from burnish.system.process_portable import PortableProcesses
if sys.argv[2] == "True":
    process_table.SYSTEM = PortableProcesses()
assert survivors.find(sys.argv[1], "self") == []
survivors.end([process_table.mark_of(os.getpid()), process_table.mark_of(os.getppid())], 0.1)
print("alive")
"""


def test_neither_itself_nor_those_above_are_found_or_ended() -> None:
    environment = {**os.environ, MARKER: "self"}
    inner = [sys.executable, "-c", ONESELF, MARKER, str(isinstance(process_table.SYSTEM, PortableProcesses))]
    outer = [sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))", *inner]
    done = subprocess.run(outer, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "alive\n"
