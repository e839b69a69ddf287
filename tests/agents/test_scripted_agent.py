"""The scripted agent, run as burnish runs it: a real process, a prompt on its input, an answer or a misdeed."""

import asyncio
import os
import signal
import tomllib
from pathlib import Path
from typing import Any

import pytest

from burnish.agents.command import CommandAgent
from burnish.agents.interface import Reply, Request, Role
from burnish.core.reviews import Failure, FailureKind
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system import survivors
from burnish.system.identifiers import identity_of, is_known_dead
from burnish.system.process import Command, Finished, How, ProcessLimits, run, run_now
from burnish.testing.scripted_agent import (
    NO_STEP,
    WENT_WRONG,
    Background,
    ScriptedAnswer,
    TextReplacement,
    calls,
    script_text,
    scripted,
)
from tests.agents.building import request

AGENT = CommandAgent()


class Stage:
    """A clone, a script and a log, with a way to call the agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "clone"
        self.clone.mkdir()
        self.log = folder / "calls.jsonl"
        self.output = folder / "output"
        self.run = f"run-of-{folder.name}-{os.getpid()}"
        self._command: tuple[str, ...] = ()

    def script(self, *steps: ScriptedAnswer) -> None:
        table = tomllib.loads(scripted(self.folder, *steps, log=self.log))
        self._command = tuple(table["agents"]["scripted"]["command"])

    def request(self, **changes: Any) -> Request:
        return request(run=self.run, folder=str(self.clone), output_file=str(self.output), **changes)

    def command(self, asked: Request) -> Command:
        settings = AgentSettings(kind=AgentKind.COMMAND, command=self._command)
        return AGENT.command(settings, asked, dict(os.environ))

    def call(self, **changes: Any) -> Reply | Failure:
        asked = self.request(**changes)
        return self.read(run_now(self.command(asked)), asked)

    def read(self, finished: Finished, asked: Request) -> Reply | Failure:
        return AGENT.read(finished, asked, self.output.read_bytes() if self.output.exists() else None)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def text_of(reply: Reply | Failure) -> bytes:
    assert isinstance(reply, Reply), reply
    return reply.text


def test_the_first_step_that_fits_answers(stage: Stage) -> None:
    stage.script(
        ScriptedAnswer(reviewer="critic", round=2, attempt=2, text="second attempt"),
        ScriptedAnswer(reviewer="critic", round=2, text="critic"),
        ScriptedAnswer(role="fix", text="fixer"),
        ScriptedAnswer(role="review", text="any reviewer"),
    )
    assert text_of(stage.call()) == b"critic"
    assert text_of(stage.call(attempt=2)) == b"second attempt"
    assert text_of(stage.call(reviewer="pedant")) == b"any reviewer"
    assert text_of(stage.call(role=Role.FIX, reviewer="")) == b"fixer"


def test_where_no_step_fits_the_agent_fails(stage: Stage) -> None:
    stage.script(ScriptedAnswer(round=1, text="clean"))
    failure = stage.call(round=2)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.CRASHED
    assert f"exited with {NO_STEP}" in failure.message
    assert "round 2" in failure.message


def test_every_call_is_logged(stage: Stage) -> None:
    stage.script(ScriptedAnswer(text="clean"))
    stage.call(prompt="Look at\nthis.")
    stage.call(role=Role.FIX, reviewer="", effect="fix:1:1", attempt=2)
    first, second = calls(stage.log)
    assert (first.role, first.reviewer, first.round, first.prompt) == ("review", "critic", 2, "Look at\nthis.")
    assert (second.role, second.effect, second.attempt, second.findings) == ("fix", "fix:1:1", 2, "[]")
    assert "BURNISH_RUN" in first.variables


def test_an_answer_in_the_output_file(stage: Stage) -> None:
    stage.script(ScriptedAnswer(text="in the file", to_file=True))
    assert text_of(stage.call()) == b"in the file"


def test_an_answer_that_is_no_text(stage: Stage) -> None:
    (stage.folder / "answer.bin").write_bytes(b"\xff\x00")
    stage.script(ScriptedAnswer(text_file="answer.bin"))
    assert text_of(stage.call()) == b"\xff\x00"


def test_a_fixer_writes_edits_and_deletes_in_the_clone(stage: Stage) -> None:
    (stage.clone / "a.py").write_text("one two one")
    (stage.clone / "old.py").touch()
    stage.script(
        ScriptedAnswer(
            write={"src/new.py": "new\n"},
            edit=(TextReplacement(file="a.py", old="one", new="1"),),
            delete=("old.py",),
            text="ok",
        )
    )
    assert text_of(stage.call(role=Role.FIX)) == b"ok"
    assert (stage.clone / "src/new.py").read_text() == "new\n"
    assert (stage.clone / "a.py").read_text() == "1 two 1"
    assert not (stage.clone / "old.py").exists()


def test_a_fixer_whose_edit_does_not_fit_fails(stage: Stage) -> None:
    (stage.clone / "a.py").write_text("one")
    stage.script(ScriptedAnswer(edit=(TextReplacement(file="a.py", old="two", new="2"),), text="ok"))
    failure = stage.call(role=Role.FIX)
    assert isinstance(failure, Failure)
    assert f"exited with {WENT_WRONG}: fix critic: 'two' is not in a.py" in failure.message


def test_a_reviewers_refused_write_does_not_spoil_its_answer(stage: Stage) -> None:
    stage.script(ScriptedAnswer(write={"/proc/version": "mine"}, delete=("absent",), text="clean"))
    assert text_of(stage.call()) == b"clean"


def test_commands_run_in_the_clone_and_leave_the_answer_alone(stage: Stage) -> None:
    stage.script(ScriptedAnswer(run=(("git", "init", "-q"), ("git", "status"), ("git", "no-such-verb")), text="clean"))
    assert text_of(stage.call()) == b"clean"
    assert (stage.clone / ".git").is_dir()


def test_exit_code_and_error_output(stage: Stage) -> None:
    stage.script(ScriptedAnswer(stderr="API Error: 429\ntry again in 9 s\n", exit_code=1))
    failure = stage.call()
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.retry_after) == (FailureKind.RATE_LIMITED, 9.0)


def test_an_agent_that_dies(stage: Stage) -> None:
    stage.script(ScriptedAnswer(signal=signal.SIGKILL, text="clean"))
    failure = stage.call()
    assert isinstance(failure, Failure)
    assert "signal 9" in failure.message


def test_a_flood_is_cut_and_never_clean(stage: Stage) -> None:
    stage.script(ScriptedAnswer(flood=3_000_000, text="clean"))
    asked = stage.request()
    finished = asyncio.run(run(stage.command(asked), ProcessLimits(seconds=60, kept_bytes=1_000_000)))
    assert finished.stdout_cut
    failure = stage.read(finished, asked)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.UNREADABLE


def test_an_agent_that_hangs_and_ignores_every_request_to_end(stage: Stage) -> None:
    here = stage.folder / "here"
    os.mkfifo(here)
    stage.script(ScriptedAnswer(hang=True, ignore_term=True, announce=str(here), text="clean"))
    asked = stage.request()

    async def play() -> Finished:
        stop = asyncio.Event()
        running = asyncio.create_task(
            run(stage.command(asked), ProcessLimits(seconds=60, grace_seconds=0.2), stop=stop)
        )
        await asyncio.to_thread(here.read_text)
        stop.set()
        return await running

    finished = asyncio.run(play())
    assert (finished.how, finished.signal) == (How.STOPPED, signal.SIGKILL)
    assert isinstance(stage.read(finished, asked), Failure)


@pytest.mark.parametrize("background", [Background.GROUP, Background.SESSION])
def test_a_child_is_left_behind_in_the_background(stage: Stage, background: Background) -> None:
    """It outlives the agent, and is found by what the agent was told."""
    here = stage.folder / "here"
    here.touch()
    stage.script(ScriptedAnswer(background=background, announce=str(here), text="clean"))
    asked = stage.request()
    finished = asyncio.run(run(stage.command(asked), ProcessLimits(seconds=20, grace_seconds=0.2)))
    assert text_of(stage.read(finished, asked)) == b"clean"
    child = identity_of(int(here.read_text().split()[1]))
    assert is_known_dead(child) is (background is Background.GROUP), "only the one in a session of its own got away"
    survivors.end_all("BURNISH_RUN", stage.run, 0.2)
    assert is_known_dead(child)


def test_an_agent_says_that_it_is_there_and_waits(stage: Stage) -> None:
    here, go = stage.folder / "here", stage.folder / "go"
    os.mkfifo(here)
    os.mkfifo(go)
    stage.script(ScriptedAnswer(announce=str(here), wait_for=str(go), text="clean"))
    asked = stage.request()

    async def play() -> Finished:
        running = asyncio.create_task(run(stage.command(asked), ProcessLimits(seconds=60)))
        pid = int(await asyncio.to_thread(here.read_text))
        os.kill(pid, 0)
        assert not running.done()
        await asyncio.to_thread(go.write_text, "")
        return await running

    assert text_of(stage.read(asyncio.run(play()), asked)) == b"clean"


def test_a_script_says_what_the_steps_say() -> None:
    step = ScriptedAnswer(
        role="fix",
        round=3,
        text='a "b" \\ ü 😀 \x7f\n\t\x01',
        write={"dir/naïve name.py": "x = {}\n"},
        run=(("git", "add", "-A"), ("true",)),
        hang=True,
    )
    assert tomllib.loads(script_text(step, log=Path("/log")))["step"] == [
        {
            "role": "fix",
            "round": 3,
            "text": 'a "b" \\ ü 😀 \x7f\n\t\x01',
            "write": {"dir/naïve name.py": "x = {}\n"},
            "run": [["git", "add", "-A"], ["true"]],
            "hang": True,
        }
    ]


def test_the_tables_for_a_configuration(tmp_path: Path) -> None:
    table = tomllib.loads(scripted(tmp_path, ScriptedAnswer(text="clean"), name="mine", roles=("review",)))
    assert table["agents"]["mine"]["kind"] == "command"
    assert table["roles"] == {"review": "mine"}
    assert "roles" not in tomllib.loads(scripted(tmp_path, ScriptedAnswer(), roles=()))
