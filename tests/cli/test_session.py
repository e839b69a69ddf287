"""`burnish session`: what other tools call, with real tmux sessions."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.staged_runs import make_repository, state_folder
from tests.end_to_end.watching import eventually

from burnish.cli.errors import ErrorBoundary
from burnish.cli.session import session
from burnish.system import clock
from burnish.system.identifiers import identity_of, is_known_dead
from burnish.system.terminal import find_tmux, open_socket, open_views
from burnish.usecases.sessions import CommandSession, keep, over_since
from burnish.workspace.repository import Repository

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="optional: tmux is not installed")

Call = Callable[..., tuple[int, str, str]]
SPRINT = "development_status:\n  epic-1: in-progress\n  1-2-a-story: {status}  # by hand\n"
KEYS = ["final_state", "todos_done", "todos_total", "output_file", "exit_reason", "output_verified"]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command of the group; exit code, standard output, standard error output."""

    def run(*arguments: str) -> tuple[int, str, str]:
        with ErrorBoundary() as boundary, session.make_context("session", list(arguments)) as context:
            boundary.exit_code = int(session.invoke(context))
        out, err = capsys.readouterr()
        return boundary.exit_code, out, err

    return run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A project with a story under way. Whatever a test leaves running is ended."""
    repository = make_repository(tmp_path / "project")
    (repository / "sprint-status.yaml").write_text(SPRINT.format(status="review"))
    author = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    subprocess.run(["git", *author, "commit", "--quiet", "-m", "Begin"], cwd=repository, check=True)
    monkeypatch.chdir(repository)
    yield repository
    for folder in (state_folder(repository) / "sessions").glob("*"):
        keeper = CommandSession(folder).keeper
        if keeper is not None and not is_known_dead(keeper):
            os.kill(keeper.pid, signal.SIGTERM)


def spawned(call: Call, command: str) -> str:
    code, out, err = call("spawn", "review", "1", "1.2", "--agent", "claude", "--cycle", "2", "--command", command)
    assert (code, err) == (0, "")
    return out.strip()


def monitored(call: Call, name: str, *options: str) -> dict[str, Any]:
    code, out, err = call("monitor", name, "--json", *options)
    assert (code, err) == (0, "")
    answer: dict[str, Any] = json.loads(out)
    assert list(answer) == KEYS
    return answer


def state_of(answer: dict[str, Any]) -> tuple[str, str]:
    return answer["final_state"], answer["exit_reason"]


@needs_tmux
@pytest.mark.parametrize("story", ["x" * 300, "登" * 300, "…"])
@pytest.mark.usefixtures("project")
def test_a_story_of_any_name_and_length_has_a_session(call: Call, story: str) -> None:
    code, out, err = call("spawn", "review", "1" * 300, story, "--command", "true")
    assert (code, err) == (0, "")
    assert state_of(monitored(call, out.strip())) == ("completed", "normal_completion")


VERIFIED = ("--workflow", "review", "--story-key", "1.2", "--state-file", "state.md", "--agent", "claude")


@needs_tmux
def test_a_session_completes(call: Call, project: Path) -> None:
    name = spawned(call, "echo out; echo err >&2; pwd")
    assert name.endswith("-e1-s1-2-review-r2")
    answer = monitored(call, name)
    assert state_of(answer) == ("completed", "normal_completion")
    assert (answer["todos_done"], answer["todos_total"], answer["output_verified"]) == (0, 0, True)
    assert sorted(Path(answer["output_file"]).read_text().splitlines()) == sorted(["out", "err", str(project)])
    assert monitored(call, name) == answer  # whoever comes later is told the same


@needs_tmux
@pytest.mark.parametrize(
    ("command", "state"),
    [
        ("sed -i s/review/done/ sprint-status.yaml", ("completed", "verified_complete")),
        ("echo done", ("incomplete", "workflow_not_complete")),
        ("sed -i s/review/done/ sprint-status.yaml; exit 3", ("crashed", "exit_code_3")),
        ("kill -9 $$", ("crashed", "signal_9")),
    ],
)
def test_an_end_is_verified_against_the_sprint_status(
    call: Call, project: Path, command: str, state: tuple[str, str]
) -> None:
    del project
    assert state_of(monitored(call, spawned(call, command), *VERIFIED)) == state


@needs_tmux
def test_an_end_of_burnish_that_is_not_the_end_of_the_work_is_no_crash(call: Call, project: Path) -> None:
    """`burnish fix` exits with 1 where findings remain; here a session that is refused, with 2, is a crash."""
    own = shlex.join((sys.executable, "-m", "burnish"))
    assert state_of(monitored(call, spawned(call, f"{own} --version > /dev/null; exit 1"), *VERIFIED)) == (
        "incomplete",
        "workflow_not_complete",
    )
    assert state_of(monitored(call, spawned(call, f"{own} no-such-verb"), *VERIFIED)) == ("crashed", "exit_code_2")
    assert project.is_dir()


@needs_tmux
@pytest.mark.parametrize(
    ("command", "options", "state"),
    [
        ("echo > ready; sleep 600", ("--silent", "0.3"), ("stuck", "never_active")),
        ("echo working; echo > ready; sleep 600", ("--silent", "1"), ("stuck", "no_output")),
        (
            "echo > ready; while :; do echo working; sleep 0.05; done",
            ("--timeout", "0.01"),
            ("timeout", "exceeded_0.01m"),
        ),
    ],
)
def test_a_session_that_does_not_end_is_told_apart(
    call: Call, project: Path, command: str, options: tuple[str, ...], state: tuple[str, str]
) -> None:
    os.mkfifo(project / "ready")
    name = spawned(call, command)
    (project / "ready").read_bytes()
    assert state_of(monitored(call, name, *options)) == state
    keeper = CommandSession(state_folder(project) / "sessions" / name).keeper
    assert keeper is not None
    code, out, _ = call("kill", name, "--json")
    assert (code, json.loads(out)) == (0, {"version": 1, "session": name, "killed": True})
    eventually(lambda: is_known_dead(keeper) or None)
    assert state_of(monitored(call, name)) == ("not_found", "session_gone")


@needs_tmux
def test_a_killed_session_takes_everything_along_but_what_it_wrote(call: Call, project: Path) -> None:
    os.mkfifo(project / "ready")
    name = spawned(call, "setsid sleep 600 & echo $! $$; echo > ready; wait")
    (project / "ready").read_bytes()
    folder = state_folder(project) / "sessions" / name
    call("kill", name)
    written = (folder / "output.txt").read_text()
    assert all(is_known_dead(identity_of(int(pid))) for pid in written.split())
    assert sorted(path.name for path in folder.iterdir()) == ["keeper.log", "output.txt"]
    assert (folder / "keeper.log").read_text() == ""
    assert call("kill", name)[:2] == (0, f"There is no session {name}.\n")
    assert over_since(Repository.discover(project), 0.0) == []
    assert over_since(Repository.discover(project), clock.now() + 1) == [folder]


@needs_tmux
def test_a_keeper_that_is_killed_is_noticed_at_once(call: Call, project: Path) -> None:
    os.mkfifo(project / "ready")
    name = spawned(call, "echo $$ > ready; exec sleep 600")
    # Through this pipe and not the output: the keeper may be killed before it has written that down.
    command = identity_of(int((project / "ready").read_text()))
    keeper = CommandSession(state_folder(project) / "sessions" / name).keeper
    assert keeper is not None
    os.kill(keeper.pid, signal.SIGKILL)
    answer = monitored(call, name, "--timeout", "1")
    assert state_of(answer) == ("crashed", "session_gone")
    # The view ends what the keeper cannot end any more.
    eventually(lambda: is_known_dead(command) or None)


@needs_tmux
def test_a_session_that_is_closed_ends_its_command(call: Call, project: Path) -> None:
    os.mkfifo(project / "ready")
    name = spawned(call, "echo $$; echo > ready; exec sleep 600")
    (project / "ready").read_bytes()
    (view,) = open_views(state_folder(project) / "sessions" / name)
    os.kill(view.server.pid, signal.SIGTERM)
    answer = monitored(call, name, "--timeout", "1")
    assert state_of(answer) == ("crashed", "session_gone")
    assert is_known_dead(identity_of(int(Path(answer["output_file"]).read_text())))


@needs_tmux
def test_a_session_shows_what_its_command_writes(call: Call, project: Path) -> None:
    os.mkfifo(project / "go")
    name = spawned(call, r"printf 'first\n\033[2Jsecond\n'; tty >&2; env | grep TMUX; read _ < go")
    folder = state_folder(project) / "sessions" / name
    (view,) = open_views(folder)
    assert (view.name, view.session) == (name, name)

    def pane() -> list[str]:
        path = open_socket(view, find_tmux())
        words = (find_tmux(), "-S", path.name, "capture-pane", "-p")
        done = subprocess.run(words, cwd=path.parent, capture_output=True, check=True, text=True)
        return sorted(done.stdout.rstrip().splitlines())

    eventually(lambda: pane() == ["first", "not a tty", "second"] or None)
    (project / "go").write_text("go\n")
    assert state_of(monitored(call, name)) == ("completed", "normal_completion")
    assert open_views(folder) == []


@needs_tmux
def test_the_answer_comes_with_the_exit(call: Call, project: Path) -> None:
    """Tools that poll take seconds to a minute; this is bounded generously, for a machine that is busy."""
    os.mkfifo(project / "go")
    command = shlex.join((sys.executable, "-c", "import os,time; open('go').read(); print(time.time())"))
    name = spawned(call, command)
    (project / "go").write_text("go")
    answer = monitored(call, name, *VERIFIED)
    answered = time.time()
    assert answer["final_state"] == "incomplete"
    assert answered - float(Path(answer["output_file"]).read_text()) < 4.0


def test_a_session_that_never_was(call: Call, project: Path) -> None:
    for name in ("burnish-none", "../..", "", "tmux"):
        answer = monitored(call, name)
        assert state_of(answer) == ("not_found", "session_gone")
        assert (answer["output_file"], answer["output_verified"]) == ("", False)
    assert call("monitor", "burnish-none")[1] == "not_found,0,0,,session_gone\n"
    assert project.is_dir()


def test_the_command_for_a_story(call: Call, project: Path) -> None:
    code, out, _ = call("build-cmd", "review", "1.2", "--agent", "it's mine", "--state-file", "state.md")
    words = ["fix", "--protocol", "story", "--story", "1.2", "--agent", "it's mine", "--one-round"]
    assert (code, shlex.split(out)) == (0, [sys.executable, "-P", "-m", "burnish", *words])
    assert project.is_dir()


@pytest.mark.parametrize(
    "arguments",
    [
        ("spawn", "review", "1", "1.2"),
        ("spawn", "dev", "1", "1.2", "--command", "true"),
        ("build-cmd", "create", "1.2", "--agent", "claude"),
        ("build-cmd", "review", "1.2"),
        ("spawn", "review", "1", "1.2", "--command", ""),
        ("spawn", "review", "1", "1.2", "--command", " \n"),
        ("monitor", "burnish-x", "--workflow", "review"),
        ("monitor", "burnish-x", "--workflow", "review", "--story-key", " "),
    ],
)
def test_what_is_not_ours_or_not_whole_is_refused(call: Call, project: Path, arguments: tuple[str, ...]) -> None:
    assert call(*arguments)[0] == 2
    assert not (state_folder(project) / "sessions").exists()


def test_without_tmux_nothing_is_spawned(call: Call, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = Path(shutil.which("git") or "git")
    (project / "bin").mkdir()
    (project / "bin" / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(project / "bin"))
    code, out, err = call("spawn", "review", "1", "1.2", "--command", "true")
    assert (code, out) == (2, "")
    assert "tmux is not installed" in err
    assert "hint: " in err


def test_a_keeper_without_an_order_says_so(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="There is no session"):
        keep(tmp_path, {})
