"""Views of commands in tmux sessions: what is shown, who can reach them, and how they end. A view ends nothing else."""

import asyncio
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.end_to_end.watching import eventually

from burnish.core.errors import ErrorKind
from burnish.system import survivors
from burnish.system.process import Command, ProcessLimits, run
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine, why_not
from burnish.system.terminal import (
    TerminalError,
    View,
    agent_view,
    closing_noticed,
    find_tmux,
    open_socket,
    open_view,
    open_views,
)

RUN = "20261115-081500-k3f9q2"
MARK = "BURNISH_TEST_OF_VIEWS"
EFFECT = "review:1:critic:1"

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="optional: tmux is not installed")


class Views:
    """The views of one test, which all end with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.views = folder / "terminals"
        self.mark = {MARK: str(folder)}

    def open(self, lines: str = "exec sleep 600", effect: str = EFFECT) -> View:
        """A view whose pane runs a script."""
        return asyncio.run(self.opening(lines, effect))

    async def opening(self, lines: str, effect: str = EFFECT) -> View:
        viewer = Command(
            argv=("sh", "-c", lines), folder=str(self.folder), environment={"PATH": os.environ["PATH"], **self.mark}
        )
        return await open_view(find_tmux(), agent_view(RUN, effect, self.views), viewer)

    def tmux(self, view: View, *words: str) -> str:
        path = open_socket(view, find_tmux())
        words = (find_tmux(), "-S", path.name, *words)
        return subprocess.run(words, cwd=path.parent, capture_output=True, check=True, text=True).stdout

    def pane(self, view: View) -> list[str]:
        return self.tmux(view, "capture-pane", "-p").rstrip().splitlines()

    def end(self) -> None:
        survivors.end_all(MARK, str(self.folder), 5.0)


@pytest.fixture
def views(tmp_path: Path) -> Iterator[Views]:
    found = Views(tmp_path)
    yield found
    found.end()


def wait_for_end(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 30)[0] == [handle]
    finally:
        os.close(handle)


@needs_tmux
def test_a_view_shows_what_its_program_writes(views: Views) -> None:
    view = views.open("echo first; pwd; exec sleep 600")
    eventually(lambda: views.pane(view) == ["first", str(views.folder)] or None)
    assert open_views(views.views) == [view]


@needs_tmux
def test_a_folder_of_any_name_is_only_a_folder(tmp_path: Path) -> None:
    """tmux expands formats, and runs commands that are in them."""
    folder = tmp_path / "#(touch made) #{pid} $(touch made) '\""
    folder.mkdir()
    views = Views(folder)
    try:
        view = views.open("pwd > where; exec sleep 600")
        assert eventually(lambda: read(folder / "where")) == f"{folder}\n"
        assert views.pane(view) == []
    finally:
        views.end()
    assert not list(tmp_path.rglob("made"))


def read(path: Path) -> str | None:
    return path.read_text() or None if path.exists() else None


@needs_tmux
def test_paths_may_be_longer_than_those_of_sockets(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 100) / ("b" * 100)
    deep.mkdir(parents=True)
    views = Views(deep)
    try:
        view = views.open("echo here; exec sleep 600")
        eventually(lambda: views.pane(view) == ["here"] or None)
    finally:
        views.end()


@needs_tmux
def test_nothing_of_our_environment_or_of_the_users_configuration_is_used(
    views: Views, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_TEST_SECRET", "sesame")
    monkeypatch.setenv("HOME", str(views.folder))
    (views.folder / ".tmux.conf").write_text("set -g prefix C-a\n")
    view = views.open()
    pane = views.tmux(view, "display-message", "-p", "#{pane_pid}").strip()
    texts = [
        Path(f"/proc/{pid}/{name}").read_bytes()
        for pid in (str(view.server.pid), pane)
        for name in ("cmdline", "environ")
    ]
    assert not any(b"sesame" in text for text in texts)
    assert views.tmux(view, "show-options", "-g", "prefix") == "prefix C-b\n"


@needs_tmux
@pytest.mark.parametrize("key", ["C-c", "C-\\", "C-z", "C-s", "C-d", "hello"])
def test_typing_does_nothing(views: Views, key: str) -> None:
    view = views.open("echo working; exec cat")
    eventually(lambda: views.pane(view) == ["working"] or None)
    for typed in (key, "Enter"):
        views.tmux(view, "send-keys", typed)
    assert views.pane(view) == ["working"]
    assert open_views(views.views) == [view]


@needs_tmux
def test_the_socket_is_there_only_while_a_client_connects(views: Views) -> None:
    view = views.open()
    path = Path(view.folder) / "tmux"
    assert not path.exists()
    assert open_socket(view, find_tmux()) == path
    assert path.is_socket()


@needs_tmux
def test_a_view_ends_with_its_program(views: Views) -> None:
    os.mkfifo(views.folder / "go")
    view = views.open("read _ < go")
    assert open_views(views.views) == [view]
    (views.folder / "go").write_text("go\n")
    wait_for_end(view.server.pid)
    assert open_views(views.views) == []


@needs_tmux
def test_another_window_of_the_session_keeps_nothing_alive(views: Views) -> None:
    os.mkfifo(views.folder / "go")
    view = views.open("read _ < go")
    views.tmux(view, "new-window", "sleep", "600")
    (views.folder / "go").write_text("go\n")
    wait_for_end(view.server.pid)


@needs_tmux
def test_a_view_is_ended_by_its_marks(views: Views) -> None:
    """As everything else of an attempt is."""
    view = views.open("trap '' HUP; exec sleep 600")
    assert survivors.end_all(MARK, str(views.folder), 5.0) >= 1
    wait_for_end(view.server.pid)
    assert survivors.find(MARK, str(views.folder)) == []


def close_session(views: Views, view: View) -> None:
    views.tmux(view, "kill-session")


def kill_server(views: Views, view: View) -> None:
    del views
    os.kill(view.server.pid, signal.SIGKILL)


@needs_tmux
@pytest.mark.parametrize("close", [close_session, kill_server])
def test_closing_is_noticed(views: Views, close: Callable[[Views, View], None]) -> None:
    async def noticed() -> bool:
        closed = asyncio.Event()
        view = await views.opening("exec sleep 600")
        with closing_noticed(view, closed.set):
            assert not closed.is_set()
            await asyncio.to_thread(close, views, view)
            async with asyncio.timeout(30):
                await closed.wait()
        again = asyncio.Event()
        with closing_noticed(view, again.set):  # it may be gone, or not reaped yet
            async with asyncio.timeout(30):
                await again.wait()
        return True

    assert asyncio.run(noticed())


@needs_tmux
def test_five_views_at_once(views: Views) -> None:
    effects = [f"review:1:seat-{number}:1" for number in range(5)]

    async def panel() -> list[View]:
        return await asyncio.gather(*(views.opening("exec sleep 600", effect) for effect in effects))

    opened = asyncio.run(panel())
    assert [view.name for view in open_views(views.views)] == [f"seat-{number}" for number in range(5)]
    assert len({view.server.pid for view in opened}) == 5


@needs_tmux
def test_a_view_of_the_same_name_takes_the_place_of_one_that_was_killed(views: Views) -> None:
    killed = views.open()
    open_socket(killed, find_tmux())  # which stays behind
    os.kill(killed.server.pid, signal.SIGKILL)
    wait_for_end(killed.server.pid)
    view = views.open("echo again; exec sleep 600")
    eventually(lambda: views.pane(view) == ["again"] or None)
    assert open_views(views.views) == [view]


def test_why_there_is_no_view_is_said(views: Views) -> None:
    broken = views.folder / "tmux"
    broken.write_text("#!/bin/sh\necho 'no space' >&2; exit 1\n")
    broken.chmod(0o700)
    viewer = Command(argv=("true",), folder="/", environment={"PATH": os.environ["PATH"]})
    with pytest.raises(TerminalError, match=r"tmux cannot show critic: no space\."):
        asyncio.run(open_view(str(broken), agent_view(RUN, EFFECT, views.views), viewer))
    assert open_views(views.views) == []


@pytest.fixture(params=[SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def kind(request: pytest.FixtureRequest) -> SandboxKind:
    if reason := why_not(request.param):
        pytest.skip(f"optional: {reason}")
    return request.param


REACHES = """
import os, socket, sys
try:
    made = socket.socket(socket.AF_UNIX)
    os.chdir(sys.argv[1])  # the whole path may be too long for the name of a socket
    made.connect("tmux")
    print("reached")
except OSError as error:
    print(type(error).__name__)
"""


@needs_tmux
def test_a_confined_agent_cannot_reach_the_server(views: Views, kind: SandboxKind) -> None:
    view = views.open()
    open_socket(view, find_tmux())  # the moment in which a user attaches
    temporary = views.folder / "temporary"
    temporary.mkdir()
    argv = (sys.executable, "-I", "-c", REACHES, view.folder)
    command = Command(argv=argv, folder=str(views.folder), environment={"PATH": os.environ["PATH"]})
    confinement = Confinement(hidden=(str(views.views),), temporary=str(temporary))
    finished = asyncio.run(run(confine(Sandbox(kind=kind), command, confinement), ProcessLimits(seconds=60)))
    # Landlock hides no names: there, no socket can be made that could be connected to one.
    refused = b"FileNotFoundError" if kind is SandboxKind.BUBBLEWRAP else b"OSError"
    assert finished.stdout.split() == [refused], finished.stderr_tail


@pytest.mark.parametrize(
    ("effect", "name"),
    [("review:2:critic:1", "critic"), ("fix:1:2", "fix-1"), ("build:1", "build"), ("review:1:a.b c:1", "a.b c")],
)
def test_sessions_are_named_after_their_agents(tmp_path: Path, effect: str, name: str) -> None:
    view = agent_view(RUN, effect, tmp_path)
    assert view.name == name
    assert view.session == f"burnish-{RUN}-{name.replace('.', '-').replace(' ', '-')}"


def test_without_tmux_there_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TerminalError, match="tmux is not installed") as caught:
        find_tmux()
    assert caught.value.kind is ErrorKind.CONFIGURATION
    assert "burnish logs -f" in caught.value.hint
