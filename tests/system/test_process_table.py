"""Both ways to ask about processes give the same answers for a tree of real ones."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator

import pytest

from burnish.core.work import ProcessMark
from burnish.system import process_table
from burnish.system.process_portable import PortableProcesses
from burnish.system.process_table import LinuxProcesses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux can be asked in both ways")

TREE = "sleep 600 & setsid sleep 600 & (sleep 600; :) & true | true; echo ready; wait"


@pytest.fixture
def tree() -> Generator[int]:
    """A process with children and a grandchild, of which one is in a session of its own."""
    environment = {"PATH": os.environ["PATH"], "BURNISH_TEST_TREE": "a=b"}
    root = subprocess.Popen(["sh", "-c", TREE], env=environment, stdout=subprocess.PIPE, start_new_session=True)
    with root:
        assert root.stdout is not None
        root.stdout.readline()
        below = process_table.descendants(root.pid)
        try:
            yield root.pid
        finally:
            for mark in (*below, process_table.mark_of(root.pid)):
                os.kill(mark.pid, 9)


@pytest.fixture
def by_both(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], list[object]]:
    """Asks in both ways."""

    def ask(question: Callable[[], object]) -> list[object]:
        answers: list[object] = []
        for system in (LinuxProcesses(), PortableProcesses()):
            monkeypatch.setattr(process_table, "SYSTEM", system)
            answers.append(question())
        return answers

    return ask


def numbers(marks: list[ProcessMark]) -> list[int]:
    return sorted(mark.pid for mark in marks)


def test_the_tree_looks_the_same(tree: int, by_both: Callable[[Callable[[], object]], list[object]]) -> None:
    def line(pid: int) -> object:
        found = process_table.living_entry(pid)
        return None if found is None else (found.parent, found.group, process_table.is_alive(found.mark))

    kernel, psutil = by_both(lambda: numbers(process_table.descendants(tree)))
    assert kernel == psutil
    assert isinstance(kernel, list)
    assert len(numbers(process_table.descendants(tree))) >= 4
    for question in (
        lambda: numbers(process_table.group_members(tree)),
        lambda: process_table.ancestry(tree),
        lambda: [line(mark.pid) for mark in process_table.descendants(tree)],
        lambda: [
            process_table.SYSTEM.holds(tree, variable)
            for variable in (b"BURNISH_TEST_TREE=a=b", b"BURNISH_TEST_TREE=a")
        ],
        lambda: tree in process_table.SYSTEM.pids(),
    ):
        kernel, psutil = by_both(question)
        assert kernel == psutil


def test_one_that_has_ended_is_gone_in_both_ways(by_both: Callable[[Callable[[], object]], list[object]]) -> None:
    with subprocess.Popen(["true"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert by_both(lambda: process_table.living_entry(ended.pid)) == [None, None]
    assert by_both(lambda: process_table.SYSTEM.entry(ended.pid)) == [None, None]
    assert by_both(lambda: process_table.SYSTEM.holds(ended.pid, b"PATH=x")) == [False, False]


def test_an_earlier_start_is_another_process(by_both: Callable[[Callable[[], object]], list[object]]) -> None:
    assert by_both(lambda: process_table.is_alive(process_table.mark_of(os.getpid()))) == [True, True]
    assert by_both(lambda: process_table.is_alive(ProcessMark(pid=os.getpid(), started=1.0))) == [False, False]
