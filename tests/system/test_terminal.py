"""A command in a terminal is the same command: what goes in, what comes out, how it ends."""

import os
import signal
from pathlib import Path

import pytest
from tests.system.terminals import RUN, Stage, needs_tmux

from burnish.core.errors import ErrorKind
from burnish.core.values import replace
from burnish.system.process import Command, How
from burnish.system.terminal import TerminalError, open_terminal

pytestmark = needs_tmux


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_both_channels_and_the_exit_code_come_back(stage: Stage) -> None:
    finished = stage.run(stage.script("cat; echo out; echo err >&2; exit 3", stdin=b"in\n"))
    assert (finished.how, finished.code, finished.signal) == (How.EXITED, 3, None)
    assert (finished.stdout, finished.stderr_tail) == (b"in\nout\n", "err\n")
    stage.check_nothing_left()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_is_not_an_exit_code(stage: Stage, number: signal.Signals) -> None:
    finished = stage.run(stage.script(f"kill -{int(number)} $$"))
    assert (finished.how, finished.code, finished.signal) == (How.EXITED, None, number)
    stage.check_nothing_left()


def test_much_input_and_output_at_once_do_not_wait_for_each_other(stage: Stage) -> None:
    data = os.urandom(3_000_000)
    assert stage.run(stage.script("cat", stdin=data)).stdout == data


def test_arguments_and_environment_reach_the_program_as_they_are(stage: Stage) -> None:
    words = ("$(id)", "a b", "; exit 3", "ends in;", "", "\udcff")
    environment = {"PATH": os.defpath, "ODD": "\udcfe =;\n"}
    print_all = Command(argv=("printf", r"%s\n", *words), folder=str(stage.folder), environment=environment)
    assert stage.run(print_all).stdout.split(b"\n")[:-1] == [os.fsencode(word) for word in words]
    print_odd = Command(argv=("printenv", "ODD"), folder=str(stage.folder), environment=environment)
    assert stage.run(print_odd).stdout == b"\xfe =;\n\n"


def test_nothing_of_tmux_or_of_ours_reaches_the_program(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_TEST_SECRET", "secret")
    finished = stage.run(stage.script("env; tty; pwd"))
    said = finished.stdout.decode().splitlines()
    names = {line.partition("=")[0] for line in said[:-2]}
    assert names - {"_", "OLDPWD"} == {"PATH", "SECRET", "READY", "GO", "PWD"}
    assert said[-2:] == ["not a tty", str(stage.folder)]


def test_a_limit_on_files_holds_in_there_too(stage: Stage) -> None:
    command = replace(stage.script("head -c 100000 /dev/zero > large"), file_bytes=4096)
    assert stage.run(command).code != 0
    assert (stage.folder / "large").stat().st_size <= 4096


def test_a_program_that_is_missing_is_noticed_before(stage: Stage) -> None:
    command = replace(stage.script(""), argv=("no-such-program",))
    finished = stage.run(command)
    assert (finished.how, finished.message) == (How.COULD_NOT_START, "'no-such-program' was not found on the PATH.")


def test_a_program_that_cannot_run_says_why(stage: Stage) -> None:
    script = stage.folder / "agent"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o700)
    finished = stage.run(replace(stage.script(""), argv=(str(script),)))
    assert finished.code == 126
    assert "the interpreter that its first line names was not found" in finished.stderr_tail
    stage.check_nothing_left()


def test_paths_may_be_longer_than_those_of_sockets(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 100) / ("b" * 100)
    deep.mkdir(parents=True)
    assert Stage(deep).run(Stage(tmp_path).script("echo here")).stdout == b"here\n"


def test_what_an_agent_is_given_is_on_nobodys_command_line(stage: Stage) -> None:
    seen: list[bytes] = []

    def look() -> None:
        server = stage.watched().server.pid
        pane = stage.tmux("display-message", "-p", "#{pane_pid}").strip()
        for process in (str(server), pane):
            seen.extend(Path(f"/proc/{process}/{name}").read_bytes() for name in ("cmdline", "environ"))
        stage.let_go()

    finished = stage.run_and(look, stage.script('echo > "$READY"; read _ < "$GO"; cat', stdin=b"a private prompt"))
    assert finished.stdout == b"a private prompt"
    assert len(seen) == 4
    assert not any(word in text for text in seen for word in (b"sesame", b"private", b"SECRET", b"READY"))


@pytest.mark.parametrize(
    ("effect", "name"),
    [("review:2:critic:1", "critic"), ("fix:1:2", "fix-1"), ("build:1", "build"), ("review:1:a.b c:1", "a.b c")],
)
def test_sessions_are_named_after_their_agents(stage: Stage, effect: str, name: str) -> None:
    view = stage.view(effect)
    assert view.name == name
    assert view.session == f"burnish-{RUN}-{name.replace('.', '-').replace(' ', '-')}"


def test_without_tmux_there_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TerminalError, match="tmux is not installed") as caught:
        open_terminal(RUN, tmp_path)
    assert caught.value.kind is ErrorKind.CONFIGURATION
    assert "burnish logs -f" in caught.value.hint
