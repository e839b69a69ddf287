"""Names of runs sort by time; names of processes outlive the reuse of their numbers."""

import os
import re
import subprocess
import sys
import time

import msgspec
import pytest

from burnish.system.clock import now
from burnish.system.identifiers import identity_of, is_known_dead, new_run_id, this_process


def test_a_run_is_named_after_its_moment() -> None:
    assert re.fullmatch(r"20261115-081500-[0-9a-hjkmnp-tv-z]{6}", new_run_id(1794730500.9))


def test_names_of_one_second_differ_and_later_ones_sort_last() -> None:
    names = [new_run_id(1794730500 + second) for second in range(3) for _ in range(100)]
    assert len(set(names)) == len(names)
    assert [name[:15] for name in sorted(names)] == [name[:15] for name in names]


def test_the_clock_tells_the_time() -> None:
    before = time.time()
    assert before <= now() <= time.time()


def test_a_process_is_dead_only_after_it_ended() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        identity = identity_of(child.pid)
        assert not is_known_dead(identity)
        child.kill()
    assert is_known_dead(identity)
    assert not is_known_dead(this_process())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")
def test_a_later_process_with_the_same_number_is_another_one() -> None:
    assert is_known_dead(msgspec.structs.replace(this_process(), started="1"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows a process that nobody waited for")
def test_a_process_that_ended_and_was_not_waited_for_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with child:
        identity = identity_of(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # sees the end, and leaves it unclaimed
        assert is_known_dead(identity)


@pytest.mark.parametrize("field", ["host", "space"])
def test_nothing_is_known_of_processes_elsewhere(field: str) -> None:
    identity = msgspec.structs.replace(this_process(), pid=2**22 + 1, started="1")
    assert is_known_dead(identity)
    assert not is_known_dead(msgspec.structs.replace(identity, **{field: "elsewhere"}))


def test_a_process_reads_well() -> None:
    identity = msgspec.structs.replace(this_process(), host="laptop", pid=12)
    assert str(identity) == "process 12 on laptop"
