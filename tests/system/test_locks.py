"""Locks exclude threads and processes alike, queue their waiters, and end with their owner."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from burnish.system.locks import LockTimeoutError, hold

HOLDER = """
import sys
from pathlib import Path
from burnish.system.locks import hold
with hold(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""

FORKER = """
import os
import sys
from pathlib import Path
from burnish.system.locks import hold
reading, writing = os.pipe()
with hold(Path(sys.argv[1])):
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # until the parent ends
        os._exit(0)
with hold(Path(sys.argv[1]), seconds=5):
    pass
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def test_a_second_holder_waits_until_the_first_lets_go(path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with hold(path):
            order.append("second")

    thread = threading.Thread(target=second)
    with hold(path):
        thread.start()
        with pytest.raises(LockTimeoutError), hold(path, seconds=0.05):
            pass
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_wish_that_was_given_up_never_keeps_the_lock(path: Path) -> None:
    for _ in range(20):
        with hold(path), pytest.raises(LockTimeoutError, match=str(path)), hold(path, seconds=0.001):
            pass
    with hold(path, seconds=5):
        pass


def test_threads_count_without_losing_any(path: Path) -> None:
    counter = path.with_name("counter")
    counter.write_text("0")

    def count() -> None:
        for _ in range(25):
            with hold(path):
                counter.write_text(str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "200"


def test_shared_holders_go_together_and_exclude_one_that_wants_it_alone(path: Path) -> None:
    together = hold(path, shared=True, seconds=0.05)
    with hold(path, shared=True), together, pytest.raises(LockTimeoutError), hold(path, seconds=0.05):
        pass
    with hold(path, seconds=5), pytest.raises(LockTimeoutError), hold(path, shared=True, seconds=0.05):
        pass


def test_a_lock_ends_with_a_killed_owner(path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(LockTimeoutError), hold(path, seconds=0.05):
            pass
        child.kill()
        child.wait()
        with hold(path, seconds=5):
            pass


def test_a_child_forked_while_the_lock_is_held_does_not_keep_it(path: Path) -> None:
    subprocess.run([sys.executable, "-c", FORKER, str(path)], check=True)


def test_a_directory_that_is_missing_is_an_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError), hold(path / "missing" / "lock"):
        pass
