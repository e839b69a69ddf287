"""A process that stays answers until it is closed, and leaves nothing behind."""

import gc
import os
from pathlib import Path

import pytest

from burnish.system.process import Command
from burnish.system.process_dialogue import Dialogue, DialogueError

ECHO = 'while read -r line; do printf "%s\\n%s!" "${#line}" "$line"; done'


def dialogue(folder: Path, script: str, seconds: float = 30.0) -> Dialogue:
    return Dialogue(Command(argv=("sh", "-c", script), folder=str(folder), environment=dict(os.environ)), seconds)


def test_lines_and_bytes_are_taken_in_turn(tmp_path: Path) -> None:
    spoken = dialogue(tmp_path, ECHO)
    for word in (b"first", b"", b"the third"):
        spoken.tell(word + b"\n")
        assert int(spoken.line()) == len(word)
        assert spoken.exactly(len(word) + 1) == word + b"!"
    spoken.close()


def test_an_answer_larger_than_a_pipe_is_whole(tmp_path: Path) -> None:
    spoken = dialogue(tmp_path, "head -c 1000000 /dev/zero; read -r line")
    assert spoken.exactly(1_000_000) == bytes(1_000_000)
    spoken.close()


def test_one_that_has_ended_is_an_error(tmp_path: Path) -> None:
    spoken = dialogue(tmp_path, "exit 0")
    with pytest.raises(DialogueError):
        spoken.line()
    spoken.close()
    with pytest.raises(DialogueError):
        dialogue(tmp_path, "exec cat >/dev/null", seconds=0.05).line()


def test_it_ends_with_its_owner(tmp_path: Path) -> None:
    spoken = dialogue(tmp_path, "echo $$; exec cat > /dev/null")
    process = int(spoken.line())
    os.kill(process, 0)
    del spoken
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_one_that_ignores_its_end_is_killed(tmp_path: Path) -> None:
    spoken = dialogue(tmp_path, "echo $$; while :; do sleep 1; done")
    process = int(spoken.line())
    spoken.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
