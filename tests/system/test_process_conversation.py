"""A conversation with a real process: both directions, every end of it, and nothing left running."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from burnish.core.work import ProcessMark
from burnish.system import process, process_conversation, process_table
from burnish.system.process import Command, Finished, How, ProcessLimits
from burnish.system.process_conversation import Conversation, ConversationEndedError, LineTooLongError, Talk

LIMITS = ProcessLimits(seconds=30, grace_seconds=0.5)


def shell(script: str, stdin: bytes = b"") -> Command:
    return Command(argv=("sh", "-c", script), folder="/", environment=dict(os.environ), stdin=stdin)


def converse(script: str, talk: Talk, limits: ProcessLimits = LIMITS, **more: Any) -> Finished:
    return asyncio.run(process.run(shell(script), limits, talk=talk, **more))


async def silence(conversation: Conversation) -> None:
    """Hear everything that the process says, and keep nothing of it."""
    while True:
        await conversation.line()


def test_what_is_said_is_answered_and_the_talk_says_what_is_kept(tmp_path: Path) -> None:
    lines: list[bytes] = []

    async def talk(conversation: Conversation) -> None:
        for word in (b"one", b"two"):
            conversation.send(word)
            conversation.keep(await conversation.line())
        conversation.note(b"a note")

    log = tmp_path / "log"
    found = converse('while read word; do echo "heard $word"; echo more; done', talk, log=log, on_line=lines.append)
    assert (found.how, found.code, found.stdout) == (How.EXITED, 0, b"heard one\nmore\n")
    assert lines == [b"heard one", b"more"]
    assert found.stderr_tail == "a note\n"
    assert sorted(log.read_bytes().splitlines()) == [b"a note", b"heard one", b"more"]


def test_the_input_of_the_command_is_for_the_talk_to_send() -> None:
    async def talk(conversation: Conversation) -> None:
        conversation.send(b"first")
        conversation.keep(await conversation.line())

    found = asyncio.run(process.run(shell("cat", b"never sent\n"), LIMITS, talk=talk))
    assert found.stdout == b"first\n"


def test_a_long_input_and_a_long_output_do_not_wait_for_each_other() -> None:
    async def talk(conversation: Conversation) -> None:
        conversation.send(b"x" * 3_000_000)
        assert conversation.unsent > 1_000_000
        conversation.keep(b"%d" % len(await conversation.line()))

    assert converse("exec cat", talk).stdout == b"3000000\n"


@pytest.mark.parametrize(
    ("script", "code"), [("echo last; exit 3", 3), ("echo last; kill -9 $$", -9), ("echo last; sleep 60 & exit 0", 0)]
)
def test_a_process_that_ends_first_is_heard_to_its_end(script: str, code: int) -> None:
    heard: list[object] = []

    async def talk(conversation: Conversation) -> None:
        try:
            while True:
                heard.append(await conversation.line())
        except ConversationEndedError as ended:
            heard.append(ended.code)

    found = converse(script, talk)
    assert heard == [b"last", code]
    assert found.how is How.EXITED
    assert (found.code if found.signal is None else -found.signal) == code


def test_a_process_that_closes_its_output_has_no_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_conversation, "FAREWELL_SECONDS", 0.1)
    codes: list[int | None] = []

    async def talk(conversation: Conversation) -> None:
        with pytest.raises(ConversationEndedError) as ended:
            await conversation.line()
        codes.append(ended.value.code)

    converse("exec >&-; exec sleep 60", talk)
    assert codes == [None]


def test_a_line_has_a_longest_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_conversation, "MESSAGE_BYTES", 100_000)

    async def talk(conversation: Conversation) -> None:
        conversation.keep(b"%d" % len(await conversation.line()))
        with pytest.raises(LineTooLongError):
            await conversation.line()

    found = converse("head -c 50000 /dev/zero; echo; exec cat /dev/zero", talk)
    assert (found.how, found.stdout) == (How.EXITED, b"50000\n")


@pytest.mark.parametrize("trap", ["", "trap '' TERM; "], ids=["hears-term", "ignores-term"])
def test_a_process_that_stays_when_all_is_said_is_ended(trap: str) -> None:
    marks: list[ProcessMark] = []

    async def talk(conversation: Conversation) -> None:
        await conversation.line()

    found = converse(f"{trap}echo x; while :; do sleep 60; done", talk, on_start=marks.append)
    assert (found.how, found.code, found.signal) == (How.EXITED, 0, None)
    assert process_table.group_members(marks[0].pid) == []


@pytest.mark.parametrize(
    ("limits", "how"),
    [
        (ProcessLimits(seconds=0.3, grace_seconds=0.3), How.TIMED_OUT),
        (ProcessLimits(seconds=30, silent_seconds=0.3, grace_seconds=0.3), How.SILENT),
    ],
)
def test_the_limits_hold_in_a_conversation(limits: ProcessLimits, how: How) -> None:
    assert converse("sleep 60", silence, limits).how is how


def test_one_that_never_stops_writing_lets_others_work() -> None:
    """The loop has its turn after each piece; the stop is heard, and the process ends."""

    async def both() -> Finished:
        stop = asyncio.Event()
        running = asyncio.ensure_future(process.run(shell("exec yes"), LIMITS, talk=silence, stop=stop))
        for _ in range(50):
            await asyncio.sleep(0)
            assert not running.done()
        stop.set()
        return await running

    found = asyncio.run(both())
    assert (found.how, found.stdout) == (How.STOPPED, b"")


def test_what_goes_wrong_in_a_talk_ends_the_process() -> None:
    marks: list[ProcessMark] = []

    async def talk(conversation: Conversation) -> None:
        await conversation.line()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        converse("trap '' TERM; echo x; sleep 60", talk, on_start=marks.append)
    assert process_table.group_members(marks[0].pid) == []


def test_a_cancelled_conversation_leaves_nothing() -> None:
    marks: list[ProcessMark] = []

    async def cancel() -> None:
        said = asyncio.Event()

        async def talk(conversation: Conversation) -> None:
            await conversation.line()
            said.set()
            await conversation.line()

        running = asyncio.ensure_future(
            process.run(shell("trap '' TERM; echo x; sleep 60"), LIMITS, talk=talk, on_start=marks.append)
        )
        await said.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(cancel())
    assert process_table.group_members(marks[0].pid) == []


def test_one_that_closes_its_input_does_no_harm() -> None:
    async def talk(conversation: Conversation) -> None:
        await conversation.line()
        for _ in range(3):
            conversation.send(b"x" * 100_000)
        conversation.keep(await conversation.line())

    assert converse("exec <&-; echo x; sleep 0.1; echo y; sleep 60", talk).stdout == b"y\n"


def test_one_that_cannot_be_started_is_not_talked_to() -> None:
    found = asyncio.run(
        process.run(Command(argv=("/no/such",), folder="/", environment={}), LIMITS, talk=silence, stop=None)
    )
    assert found.how is How.COULD_NOT_START


def test_signals_from_outside_are_told() -> None:
    async def talk(conversation: Conversation) -> None:
        pid = int(await conversation.line())
        os.kill(pid, signal.SIGTERM)
        with pytest.raises(ConversationEndedError):
            await conversation.line()

    assert converse("echo $$; sleep 60", talk).signal == signal.SIGTERM
