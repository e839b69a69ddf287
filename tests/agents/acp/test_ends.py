"""Every way in which an agent can fail: each has its kind, none is an answer, and nothing is left running."""

import json
import os
import signal
from pathlib import Path

import pytest

from burnish.agents import acp_session
from burnish.agents.acp_session import Access, SessionOptions
from burnish.core.reviews import Failure, FailureKind
from burnish.core.work import ProcessMark
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, How, ProcessLimits
from burnish.testing.acp_agent import AcpScript, Exit, Hang, Raw, Say, Update
from tests.agents.acp.harness import Stage

CLEAN = Say(text="Clean.")


def failed(found: object) -> Failure:
    assert isinstance(found, Failure), found
    return found


@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (AcpScript(acts=(CLEAN,), stop="refusal"), FailureKind.REFUSED, "refused"),
        (AcpScript(acts=(CLEAN,), stop="max_tokens"), FailureKind.REFUSED, "tokens"),
        (AcpScript(acts=(CLEAN,), stop="max_turn_requests"), FailureKind.REFUSED, "turns"),
        (AcpScript(acts=(CLEAN,), stop="cancelled"), FailureKind.CRASHED, "'cancelled'"),
        (AcpScript(acts=(CLEAN,), stop="not-known-yet"), FailureKind.CRASHED, "'not-known-yet'"),
        (AcpScript(acts=(CLEAN,), stop=""), FailureKind.CRASHED, "ended with"),
        (AcpScript(logged_in=False), FailureKind.UNAUTHORISED, "A key"),
        (AcpScript(version=9), FailureKind.CANNOT_RUN, "version 9"),
        (
            AcpScript(acts=(CLEAN,), error={"code": -32603, "message": "Internal error"}),
            FailureKind.CRASHED,
            "Internal",
        ),
        (AcpScript(acts=(CLEAN,), error={"code": 429, "message": "Later."}), FailureKind.RATE_LIMITED, "Later."),
        (AcpScript(acts=(CLEAN,), error={"code": 401, "message": "Who?"}), FailureKind.UNAUTHORISED, "Who?"),
        (
            AcpScript(
                error={"code": -32603, "message": "Internal error", "data": {"details": "rate limit, retry-after: 7"}}
            ),
            FailureKind.RATE_LIMITED,
            "rate limit",
        ),
        (AcpScript(acts=(CLEAN, Exit(code=3))), FailureKind.CRASHED, "exited with 3"),
        (AcpScript(opening=(Exit(code=127),)), FailureKind.CANNOT_RUN, "exited with 127"),
        (AcpScript(acts=(CLEAN, Exit(code=0, child=True))), FailureKind.CRASHED, "exited with 0"),
        (AcpScript(acts=(CLEAN, Raw(text='{"jsonrpc": "2.0", "id": 3, "res\n'))), FailureKind.UNREADABLE, "no JSON"),
        (AcpScript(acts=(CLEAN, Raw(text="{" * 100_000 + "\n"))), FailureKind.UNREADABLE, "no JSON"),
        (AcpScript(acts=(CLEAN, Raw(text="x" * 1024, times=17 * 1024), Hang())), FailureKind.UNREADABLE, "bytes"),
        (AcpScript(acts=(Say(text="x" * 1_000_001),)), FailureKind.UNREADABLE, "characters"),
        (AcpScript(session={"sessionId": ""}), FailureKind.CRASHED, "session"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failure_has_its_kind(stage: Stage, script: AcpScript, kind: FailureKind, words: str) -> None:
    found = failed(stage.play(script))
    assert (found.kind, words in found.message) == (kind, True), found


def test_a_pause_that_the_agent_names_is_kept(stage: Stage) -> None:
    script = AcpScript(error={"code": -32603, "message": "Internal error", "data": "rate limit: try again in 7 s"})
    assert failed(stage.play(script)).retry_after == 7


def test_notes_for_people_among_the_messages_do_no_harm(stage: Stage) -> None:
    found = stage.play(AcpScript(opening=(Raw(text="Welcome!\n\n[1, 2]\n"),), acts=(Raw(text="Hm.\n"), CLEAN)))
    assert not isinstance(found, Failure)
    assert stage.finished is not None
    assert "Welcome!" in stage.finished.stderr_tail


@pytest.mark.parametrize("command", ["no-such-agent", "/no/such/agent"])
def test_an_agent_that_is_not_there_cannot_run(stage: Stage, command: str) -> None:
    found = failed(stage.run(AgentSettings(kind=AgentKind.ACP, command=(command,)), stage.request()))
    assert found.kind is FailureKind.CANNOT_RUN
    assert command in found.message


def test_a_model_that_is_not_offered_cannot_run(stage: Stage) -> None:
    offered = {"models": {"currentModelId": "a", "availableModels": [{"modelId": "a"}, {"modelId": "b"}]}}
    found = failed(stage.play(AcpScript(acts=(CLEAN,), session=offered), model="c"))
    assert (found.kind, "only: a, b" in found.message) == (FailureKind.CANNOT_RUN, True)
    assert stage.told("session/prompt") == []


@pytest.mark.parametrize("command", [("sh", "-c", "cat >/dev/null; exec sleep 60"), ("yes",)], ids=["silent", "loud"])
def test_an_agent_that_speaks_no_acp_is_given_up(stage: Stage, command: tuple[str, ...]) -> None:
    options = SessionOptions(access=Access.READ, folder="/", roots=("/",), opening_seconds=0.2)
    found = failed(stage.converse(program(*command), options))
    assert (found.kind, "Does it speak ACP?" in found.message) == (FailureKind.STUCK, True)


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        (ProcessLimits(seconds=1.5), FailureKind.TIMED_OUT),
        (ProcessLimits(seconds=30, silent_seconds=1.5), FailureKind.STUCK),
    ],
)
def test_an_agent_that_hangs_is_ended_by_the_limits(stage: Stage, limits: ProcessLimits, kind: FailureKind) -> None:
    found = failed(stage.run(stage.settings(AcpScript(acts=(CLEAN, Hang()))), stage.request(), limits=limits))
    assert found.kind is kind


def test_an_agent_that_reads_nothing_does_not_block_burnish(stage: Stage) -> None:
    """The prompt is longer than a pipe, and the agent talks without listening."""
    settings = AgentSettings(kind=AgentKind.ACP, command=("sh", "-c", "sleep 60 <&0"))
    asked = stage.request(prompt="x" * 1_000_000)
    found = failed(stage.run(settings, asked, limits=ProcessLimits(seconds=1, grace_seconds=1)))
    assert found.kind is FailureKind.TIMED_OUT


def test_a_request_to_end_ends_the_agent(stage: Stage) -> None:
    found = failed(stage.run_until(stage.settings(AcpScript(acts=(CLEAN, Hang()))), stage.request(), b"Clean."))
    assert (found.kind, f"signal {signal.SIGTERM}" in found.message) == (FailureKind.CRASHED, True)
    assert agents_in(stage.folder) == []


@pytest.mark.parametrize("stubborn", [False, True], ids=["hears-term", "ignores-term"])
def test_an_agent_that_is_stopped_has_no_answer_and_ends(stage: Stage, stubborn: bool) -> None:
    script = AcpScript(acts=(CLEAN, Hang()), ignore_term=stubborn)
    failed(stage.stop_when(stage.settings(script), stage.request(), b"Clean."))
    assert stage.finished is not None
    assert stage.finished.how is How.STOPPED
    assert agents_in(stage.folder) == []


READING = SessionOptions(access=Access.READ, folder="/", roots=("/",))
ENDLESS = """
printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}\\n'
printf '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}\\n'
exec yes '%s'
"""


def endless(message: str) -> Command:
    """An agent that opens a session without listening, and then writes the same message for ever."""
    return program("sh", "-c", ENDLESS % message)


def program(*argv: str) -> Command:
    return Command(argv=argv, folder="/", environment=dict(os.environ))


def test_endless_updates_are_ended_by_the_limits_and_are_not_kept(stage: Stage) -> None:
    thought = {"sessionUpdate": "agent_thought_chunk", "content": {"text": "Hm."}}
    update = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": thought}}
    found = failed(stage.converse(endless(json.dumps(update)), READING, limits=ProcessLimits(seconds=1)))
    assert found.kind is FailureKind.TIMED_OUT
    assert stage.finished is not None
    assert len(stage.finished.stdout) < 10_000


def test_endless_notes_are_not_kept_either(stage: Stage) -> None:
    lines: list[bytes] = []
    stage.converse(endless("Hm."), READING, limits=ProcessLimits(seconds=1), lines=lines.append)
    assert stage.finished is not None
    assert (stage.finished.how, len(lines)) == (How.TIMED_OUT, 1)


def test_an_agent_that_asks_and_does_not_read_the_answers_is_given_up(stage: Stage) -> None:
    asked = {"jsonrpc": "2.0", "id": "x" * 4_000, "method": "fs/read_text_file"}
    found = failed(stage.converse(endless(json.dumps(asked)), READING))
    assert (found.kind, "does not read" in found.message) == (FailureKind.STUCK, True)


def test_an_agent_that_calls_tools_without_end_is_given_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acp_session, "MAX_TOOL_CALLS", 2)
    calls = (Update(update={"sessionUpdate": "tool_call", "toolCallId": str(number)}) for number in range(3))
    found = failed(stage.play(AcpScript(acts=(*calls, CLEAN))))
    assert (found.kind, "tools" in found.message) == (FailureKind.UNREADABLE, True)


@pytest.mark.parametrize("number", ['{"a": [1]}', "[1]", "null", "1.5", "true"])
def test_a_request_with_an_odd_number_is_answered(stage: Stage, number: str) -> None:
    found = stage.play(AcpScript(acts=(Raw(text=f'{{"id": {number}, "method": "x"}}\n'), CLEAN)))
    assert not isinstance(found, Failure)


def test_an_agent_that_closes_its_output_has_no_answer(stage: Stage) -> None:
    found = failed(stage.converse(program("sh", "-c", "exec >&-; exec sleep 60"), READING))
    assert (found.kind, "closed its output" in found.message) == (FailureKind.CRASHED, True)


def test_how_an_agent_exits_after_its_answer_says_nothing(stage: Stage) -> None:
    last = '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}\n'
    found = stage.play(AcpScript(acts=(CLEAN, Raw(text=last), Exit(code=9))))
    assert not isinstance(found, Failure)


@pytest.mark.parametrize("stubborn", [False, True], ids=["hears-term", "ignores-term"])
def test_an_agent_that_stays_after_the_end_is_ended(stage: Stage, stubborn: bool) -> None:
    found = stage.play(AcpScript(acts=(CLEAN,), linger=True, ignore_term=stubborn))
    assert not isinstance(found, Failure)
    assert agents_in(stage.folder) == []


def test_an_agent_that_is_killed_has_no_answer(stage: Stage) -> None:
    marks: list[ProcessMark] = []

    def kill(line: bytes) -> None:
        if b"Clean." in line:
            os.kill(marks[0].pid, signal.SIGKILL)

    settings = stage.settings(AcpScript(acts=(CLEAN, Hang())))
    found = failed(stage.run(settings, stage.request(), started=marks.append, lines=kill))
    assert found.kind is FailureKind.CRASHED
    assert stage.finished is not None
    assert stage.finished.how is How.EXITED
    assert agents_in(stage.folder) == []


def agents_in(folder: Path) -> list[str]:
    """The processes that play a script of this folder."""
    found: list[str] = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if f"{folder}/" in words:
            found.append(words)
    return found
