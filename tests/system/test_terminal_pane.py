"""What a person sees of an agent in its pane, and what comes of typing there."""

import json
import os
from pathlib import Path

import pytest
from tests.end_to_end.watching import eventually
from tests.system.terminals import Stage, needs_tmux

from burnish.system.terminal_screen import Lines, Screen, renderer
from burnish.system.terminal_sessions import let_in, living

CLAUDE = "burnish.agents.claude:AGENT.progress"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def pane(stage: Stage, lines: str, last: str, render: str = "", keys: tuple[str, ...] = ()) -> tuple[list[str], bytes]:
    """The lines of the pane once the last of a script is there, and somebody typed; and what the script said in all."""
    seen: list[str] = []

    def shown() -> list[str]:
        return stage.tmux("capture-pane", "-p").rstrip().splitlines()

    def look() -> None:
        eventually(lambda: last in shown() or None)
        for key in keys:
            stage.tmux("send-keys", key)
        seen.extend(shown())
        stage.let_go()

    script = stage.script(f'{lines}\necho > "$READY"; read _ < "$GO"; echo went on')
    finished = stage.run_and(look, script, view=stage.view(render=render))
    assert finished.code == 0
    return seen, finished.stdout


@needs_tmux
def test_lines_are_shown_as_they_come_and_steer_nothing(stage: Stage) -> None:
    seen, said = pane(stage, r"""printf 'first\n\033[2J\033]52;c;aGk=\007second\n'; echo third""", "third")
    assert seen == ["review:1:critic:1 of run 20261115-081500-k3f9q2", "", "first", "second", "third"]
    assert b"\x1b[2J" in said  # burnish itself gets it as it is


@needs_tmux
def test_a_client_is_shown_in_words(stage: Stage) -> None:
    tool = {"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "src/app.py"}}
    event = json.dumps({"type": "assistant", "message": {"content": [tool]}})
    seen, said = pane(stage, f"cat <<'END'\n{event}\nnot even JSON\nEND\necho 'a warning' >&2", "a warning", CLAUDE)
    assert any("Read" in line and "src/app.py" in line for line in seen)
    assert "a warning" in seen
    assert not any("tool_use" in line or "not even JSON" in line for line in seen)
    assert b'"tool_use"' in said


@needs_tmux
@pytest.mark.parametrize("key", ["C-c", "C-\\", "C-z", "C-s", "C-d", "hello"])
def test_typing_does_nothing(stage: Stage, key: str) -> None:
    seen, said = pane(stage, "echo working", "working", keys=(key, "Enter"))
    assert seen[2:] == ["working"]
    assert said == b"working\nwent on\n"


@needs_tmux
def test_the_socket_is_there_only_for_whoever_is_let_in(stage: Stage) -> None:
    states: list[bool] = []

    def look() -> None:
        (watched,) = living(stage.folder / "terminals")
        path = Path(watched.view.folder) / "tmux"
        states.append(path.exists())
        states.append(let_in(watched, stage.terminal.program) == path and path.is_socket())
        stage.let_go()

    stage.run_and(look, stage.script('echo > "$READY"; read _ < "$GO"'))
    assert states == [False, True]
    stage.check_nothing_left()


def words_of(render: str, *pieces: bytes) -> bytes:
    """What a pane is told of some pieces of output."""
    reading, writing = os.pipe()
    try:
        lines = Lines(Screen(writing), renderer(render))
        for piece in pieces:
            lines.take(piece)
        lines.end()
        os.close(writing)
        writing = -1
        with os.fdopen(reading, "rb") as stream:
            return stream.read()
    finally:
        if writing >= 0:
            os.close(writing)
            os.close(reading)


def test_a_line_may_come_in_pieces_and_without_an_end() -> None:
    assert words_of("", b"fir", b"st\nsec", b"ond\n\nlast") == b"first\nsecond\n\nlast\n"


def test_of_a_flood_only_the_end_is_put_into_words() -> None:
    """Each line costs time that the command would have to wait for."""
    shown = words_of("", b"y\n" * 100_000 + b"last\n").splitlines()
    assert shown[0] == b"[more than this terminal could show]"
    assert shown[-1] == b"last"
    assert len(shown) == 101


def test_a_line_that_cannot_be_put_into_words_is_left_out() -> None:
    assert words_of("operator:index", b"no number\n") == b""


def test_a_pane_that_takes_nothing_holds_nobody_up() -> None:
    reading, writing = os.pipe()
    try:
        screen = Screen(writing)
        for _ in range(3000):
            screen.say("x" * 1000)
        assert screen.has_more
        shown = b""
        os.set_blocking(reading, False)
        while screen.has_more:
            shown += os.read(reading, 1 << 20)
            screen.write()
        shown += os.read(reading, 1 << 20)
        assert shown.endswith(b"[more than this terminal could show]\n")
        assert 1_000_000 < len(shown) < 1_200_000
    finally:
        os.close(reading)
        os.close(writing)
