"""Whoever ends first, the command, its session, the proxy or burnish itself: nothing of an agent is left."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.end_to_end.watching import eventually
from tests.system.terminals import LIMITS, Stage, is_gone, needs_tmux

from burnish.core.values import replace
from burnish.system import process_table
from burnish.system.process import Command, How, run
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine, why_not

pytestmark = needs_tmux

WITH_A_CHILD = 'sleep 600 & echo "$$ $!"; echo > "$READY"; wait'
STUBBORN = f"trap '' TERM HUP; {WITH_A_CHILD}; wait; wait"


QUICK = replace(LIMITS, grace_seconds=0.2)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def processes(said: bytes) -> list[int]:
    return [int(word) for word in said.split()]


def test_a_stop_reaches_the_whole_group(stage: Stage) -> None:
    stop = asyncio.Event()
    finished = stage.run_and(stop.set, stage.script(WITH_A_CHILD), stop=stop)
    assert (finished.how, finished.signal) == (How.STOPPED, signal.SIGTERM)
    assert all(is_gone(pid) for pid in processes(finished.stdout))
    stage.check_nothing_left()


def test_an_agent_that_is_asked_to_stop_may_have_a_last_word(stage: Stage) -> None:
    stop = asyncio.Event()
    lines = 'trap "echo bye; exit 7" TERM; echo > "$READY"; while :; do sleep 0.05; done'
    finished = stage.run_and(stop.set, stage.script(lines), stop=stop)
    assert (finished.how, finished.code, finished.stdout) == (How.STOPPED, 7, b"bye\n")


def test_a_stop_that_comes_before_the_agent_is_not_lost(stage: Stage) -> None:
    shown = stage.shown(stage.script("exec sleep 600"))
    proxy = subprocess.Popen(shown.argv, cwd=shown.folder, env=shown.environment, stdin=subprocess.PIPE)
    eventually(lambda: listens_to(proxy.pid, signal.SIGTERM) or None)
    proxy.terminate()
    proxy.communicate(shown.stdin, timeout=60)
    assert proxy.returncode == -signal.SIGTERM
    stage.check_nothing_left()


def listens_to(pid: int, number: signal.Signals) -> bool:
    """Whether a process has a handler for a signal."""
    status = dict(line.split(":\t") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return bool(int(status["SigCgt"], 16) >> (number - 1) & 1)


def test_what_an_agent_leaves_behind_in_its_group_is_ended(stage: Stage) -> None:
    finished = stage.run(stage.script("sleep 600 >/dev/null 2>&1 & echo $!"))
    assert finished.code == 0
    assert all(is_gone(pid) for pid in processes(finished.stdout))


@pytest.mark.parametrize("how", ["time", "silence"])
def test_limits_hold(stage: Stage, how: str) -> None:
    limits = replace(QUICK, seconds=3.0) if how == "time" else replace(QUICK, silent_seconds=3.0)
    finished = stage.run(stage.script("trap '' TERM; echo $$; exec sleep 600"), limits)
    assert finished.how is (How.TIMED_OUT if how == "time" else How.SILENT)
    for agent in processes(finished.stdout):
        wait_for_end(agent)  # it was the proxy that was killed: whoever it stood for ends a moment later


def wait_for_end(pid: int) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 30)[0] == [handle]
    finally:
        os.close(handle)


def test_an_agent_dies_with_its_proxy(stage: Stage) -> None:
    server: list[int] = []
    others = {found.pid for found in process_table.living()}

    def kill_the_proxy() -> None:
        server.append(stage.watched().server.pid)
        ours = (found.pid for found in process_table.living() if found.parent == os.getpid())
        # An orphan becomes our child where a test has made this process a subreaper: the server of tmux is one.
        (proxy,) = (pid for pid in ours if pid not in {*others, *server})
        os.kill(proxy, signal.SIGKILL)

    finished = stage.run_and(kill_the_proxy, stage.script(STUBBORN))
    assert finished.signal == signal.SIGKILL
    for pid in (*processes(finished.stdout), *server):
        wait_for_end(pid)
    stage.check_nothing_left()


def test_an_agent_dies_with_burnish(stage: Stage) -> None:
    said = stage.folder / "said"
    program = """
import asyncio, sys
from pathlib import Path
from tests.end_to_end.watching import eventually
from tests.system.terminals import LIMITS, Stage, run
stage = Stage(Path(sys.argv[1]))
asyncio.run(run(stage.shown(stage.script(sys.argv[2])), LIMITS, log=stage.folder / "said"))
"""
    burnish = subprocess.Popen(
        [sys.executable, "-c", program, str(stage.folder), STUBBORN], cwd=Path(__file__).parents[2]
    )
    stage.ready.read_bytes()
    server = stage.watched().server.pid
    burnish.kill()
    burnish.wait()
    for pid in (*processes(said.read_bytes()), server):
        wait_for_end(pid)
    stage.check_nothing_left()


def kill_the_session(stage: Stage) -> None:
    stage.tmux("kill-session")


def kill_the_server(stage: Stage) -> None:
    os.kill(stage.watched().server.pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_the_session, kill_the_server])
def test_a_session_that_somebody_closes_is_a_crash_with_a_reason(stage: Stage, kill: Callable[[Stage], None]) -> None:
    finished = stage.run_and(lambda: kill(stage), stage.script(STUBBORN))
    assert (finished.how, finished.signal) == (How.EXITED, signal.SIGHUP)
    assert finished.stderr_tail == "burnish: the terminal session was closed, and the agent with it.\n"
    assert all(is_gone(pid) for pid in processes(finished.stdout))
    stage.check_nothing_left()


def test_another_window_of_the_session_keeps_nothing_alive(stage: Stage) -> None:
    servers: list[int] = []

    def open_a_window() -> None:
        servers.append(stage.watched().server.pid)
        stage.tmux("new-window", "sleep", "600")
        stage.let_go()

    finished = stage.run_and(open_a_window, stage.script('echo > "$READY"; read _ < "$GO"; exit 5'))
    assert finished.code == 5
    assert all(is_gone(pid) for pid in servers)


def test_a_panel_of_five_at_once(stage: Stage) -> None:
    async def panel() -> list[int | None]:
        views = [stage.view(f"review:1:seat-{number}:1") for number in range(5)]
        commands = [stage.shown(stage.script(f"exit {number}"), view) for number, view in enumerate(views)]
        return [done.code for done in await asyncio.gather(*(run(command, LIMITS) for command in commands))]

    assert asyncio.run(panel()) == [0, 1, 2, 3, 4]
    stage.check_nothing_left()


@pytest.fixture(params=[SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def kind(request: pytest.FixtureRequest) -> SandboxKind:
    if reason := why_not(request.param):
        pytest.skip(f"optional: {reason}")
    return request.param


REACHES = """
import os, socket, sys
for name in ("tmux", "door"):
    try:
        made = socket.socket(socket.AF_UNIX)
        os.chdir(sys.argv[1])  # the whole path may be too long for the name of a socket
        made.connect(name)
        print("reached", name)
    except OSError as error:
        print(type(error).__name__)
"""


def test_a_confined_agent_cannot_reach_the_server(stage: Stage, kind: SandboxKind) -> None:
    folder = stage.view().folder
    command = replace(stage.script(""), argv=(sys.executable, "-I", "-c", REACHES, folder))
    finished = stage.run(in_sandbox(stage, kind, command))
    # Landlock hides no names: there, no socket can be made that could be connected to one.
    refused = b"FileNotFoundError" if kind is SandboxKind.BUBBLEWRAP else b"OSError"
    assert finished.stdout.split() == [refused] * 2, finished.stderr_tail


def test_a_confined_agent_is_ended_as_a_whole(stage: Stage, kind: SandboxKind) -> None:
    stop = asyncio.Event()
    finished = stage.run_and(stop.set, in_sandbox(stage, kind, stage.script(STUBBORN)), stop=stop, limits=QUICK)
    assert finished.how is How.STOPPED
    mark = f"READY={stage.ready}".encode()
    for pid in [entry.pid for entry in process_table.living() if process_table.holds(entry.pid, mark)]:
        wait_for_end(pid)


def in_sandbox(stage: Stage, kind: SandboxKind, command: Command) -> Command:
    temporary = stage.folder / "temporary"
    temporary.mkdir()
    hidden = stage.folder / "terminals"
    hidden.mkdir(exist_ok=True)
    pipes = (str(stage.ready), str(stage.go))
    confinement = Confinement(hidden=(str(hidden),), writable=pipes, temporary=str(temporary))
    return confine(Sandbox(kind=kind), command, confinement)


def test_only_the_launcher_is_let_in(stage: Stage) -> None:
    """Somebody else who knocks first gets nothing: neither the prompt nor the keys."""
    folder = Path(stage.view().folder)
    folder.mkdir(parents=True)
    knocking = f"""
import os, socket, sys, time
while True:
    try:
        with socket.socket(socket.AF_UNIX) as peer:
            os.chdir({str(folder)!r}); peer.connect("door")
            sys.stdout.write(f"heard {{len(peer.recv(1000))}}"); break
    except OSError: pass
"""
    stranger = subprocess.Popen([sys.executable, "-c", knocking], stdout=subprocess.PIPE)
    finished = stage.run(stage.script("cat", stdin=b"a private prompt"))
    stranger.kill()
    assert finished.stdout == b"a private prompt"
    assert stranger.communicate()[0] in (b"heard 0", b"")  # nothing, if it came too late
