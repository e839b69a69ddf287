"""`burnish attach`: which agent is meant, and a real look at one, in a real terminal."""

import asyncio
import json
import os
import pty
import select
import shutil
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.staged_runs import FIRST, make_repository, play, state_folder

from burnish.cli.errors import ErrorBoundary
from burnish.cli.look import attach as attach_command
from burnish.runtime.script import RehearsalScript
from burnish.system import survivors
from burnish.system.process import Command
from burnish.system.terminal import agent_view, find_tmux, open_view, open_views

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="optional: tmux is not installed")

Call = Callable[..., tuple[int, str, str]]
DETACH = b"\x02d"
MARK = "BURNISH_TEST_OF_ATTACHING"


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def attach(*arguments: str) -> tuple[int, str, str]:
        with ErrorBoundary() as boundary, attach_command.make_context("attach", list(arguments)) as context:
            boundary.exit_code = int(attach_command.invoke(context))
        out, err = capsys.readouterr()
        return boundary.exit_code, out, err

    return attach


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one run, which has ended; agents of it are put on by the tests."""
    found = make_repository(tmp_path / "repository")
    play(found, RehearsalScript(protocol="epic", reviews={"reviewer": ("clean",)}))
    monkeypatch.chdir(found)
    return found


@contextmanager
def at_work(repository: Path, *reviewers: str) -> Generator[None]:
    """Views of reviewers of the run, until the end of the test."""
    folder = state_folder(repository) / "runs" / FIRST / "terminals"
    mark = {MARK: str(repository)}

    async def all_of_them() -> None:
        for reviewer in reviewers:
            viewer = Command(
                argv=("sh", "-c", f'echo "{reviewer} looks at app.py"; exec sleep 600'),
                folder="/",
                environment={"PATH": os.environ["PATH"], **mark},
            )
            await open_view(find_tmux(), agent_view(FIRST, f"review:1:{reviewer}:1", folder), viewer)

    asyncio.run(all_of_them())
    try:
        yield
    finally:
        survivors.end_all(MARK, str(repository), 5.0)


def test_agents_at_work_are_listed(call: Call, repository: Path) -> None:
    with at_work(repository, "critic", "pedant"):
        code, out, _ = call("latest", "--json")
    agents = [{"name": name, "session": f"burnish-{FIRST}-{name}"} for name in ("critic", "pedant")]
    assert (code, json.loads(out)) == (0, {"version": 1, "run": FIRST, "agents": agents})
    assert json.loads(call(FIRST, "--json")[1])["agents"] == []


def test_one_of_several_must_be_named(call: Call, repository: Path) -> None:
    with at_work(repository, "critic", "pedant"):
        code, _, err = call(FIRST)
        assert code == 2
        assert f"error: 2 agents of {FIRST} are running: critic, pedant.\n" in err
        assert f"hint: Name one: `burnish attach {FIRST} critic`.\n" in err
        code, _, err = call(FIRST, "witness")
        assert code == 2
        assert "hint: Running: critic, pedant." in err


def test_without_a_session_there_is_another_way(call: Call, repository: Path) -> None:
    assert repository.is_dir()
    code, _, err = call(FIRST)
    assert code == 2
    assert f"hint: `burnish logs -f {FIRST}` follows" in err


def test_without_a_terminal_there_is_another_way(call: Call, repository: Path) -> None:
    with at_work(repository, "critic"):
        code, _, err = call(FIRST, "critic")
    assert code == 2
    assert "There is no terminal here" in err


def test_a_person_looks_and_leaves(repository: Path) -> None:
    program = (
        "import sys; from burnish.cli.look import attach as attach_command; sys.exit(attach_command.main(sys.argv[1:]))"
    )
    with at_work(repository, "critic"):
        folder = state_folder(repository) / "runs" / FIRST / "terminals" / "review-1-critic-1"
        child, screen = pty.fork()
        if child == 0:
            environment = {**os.environ, "TERM": "xterm", "TMUX": "/elsewhere,1,0"}
            os.execve(sys.executable, [sys.executable, "-c", program, FIRST], environment)  # noqa: S606 - as a shell does
        seen = read_until(screen, b"critic looks at app.py")
        assert f"burnish-{FIRST}-critic".encode() in read_until(screen, b"Ctrl-b d", seen)
        os.write(screen, b"q\x03" + DETACH)
        read_until(screen, b"[detached")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        os.close(screen)
        assert not (folder / "tmux").exists()
        assert [view.name for view in open_views(folder.parent)] == ["critic"]  # the view goes on


def read_until(screen: int, words: bytes, seen: bytes = b"") -> bytes:
    deadline = time.monotonic() + 30
    while words not in seen and select.select([screen], [], [], max(0.0, deadline - time.monotonic()))[0]:
        seen += os.read(screen, 4096)
    assert words in seen, seen
    return seen
