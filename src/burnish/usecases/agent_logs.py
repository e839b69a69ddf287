"""What agents are doing now, and what they said, in words: read from the run's state and from the logs.

Nothing is written for it, and no agent is asked. What comes from a log is cleaned before it is given away.
"""

import json
import os
import textwrap
from pathlib import Path
from typing import BinaryIO

from burnish.agents.client import Client
from burnish.agents.registry import clients
from burnish.agents.streams import MAX_LINE, event, final_message, inner, may_end, one_line, text_of
from burnish.contracts.json_text import JsonObject
from burnish.contracts.text import UnreadableError
from burnish.core.state import Run
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.report.account import WorkInProgress, work_in_progress
from burnish.runtime.context import context_of, has_context
from burnish.settings.agent_kinds import AgentKind

LAST_BYTES = 256 * 1024
"""How far back in a log the last thing that an agent did is looked for."""
KEPT_BYTES = 4 * MAX_LINE


def doing_now(run: Run, folder: Path) -> tuple[WorkInProgress, ...]:
    """The work of a run that is under way, with what each log says last. `folder` is the run's own."""
    return tuple(
        replace(work, doing=last_words(folder / "logs" / log_name(work.effect), client_of(run, work.agent)))
        for work in work_in_progress(run)
    )


def log_name(effect: str) -> str:
    return f"{effect.replace(':', '-').replace('/', '-')}.log"


def client_kind(run: Run, agent: str) -> AgentKind | None:
    """The kind of an agent of a run where that is a client with a stream of its own."""
    settings = context_of(run).settings.agent(agent) if has_context(run.started) else None
    return settings.kind if settings is not None and settings.kind.is_paid else None


def client_of(run: Run, agent: str) -> Client | None:
    kind = client_kind(run, agent)
    return None if kind is None else clients()[kind]


def open_log(path: Path) -> BinaryIO | None:
    """A log to read; None where there is none. A link or a pipe in its place was not put there by burnish."""
    try:
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError:
        return None


def end_of_log(path: Path) -> list[bytes]:
    """The last lines of a log, the very last one though nothing ended it."""
    stream = open_log(path)
    if stream is None:
        return []
    with stream:
        begin = max(0, stream.seek(0, os.SEEK_END) - LAST_BYTES)
        stream.seek(begin)
        lines = stream.read(LAST_BYTES).split(b"\n")
    return lines[1:] if begin else lines


def last_words(log: Path, client: Client | None) -> str:
    """What an agent is doing, by the last line of its log that says so."""
    told = (_words(line, client) for line in reversed(end_of_log(log)))
    return next((words for words in told if words), "")


def _words(line: bytes, client: Client | None) -> str:
    return one_line(line.decode("utf-8", errors="replace")) if client is None else client.progress(line)


class StreamFormatter:
    """A client's stream, as it comes, in lines that a person can follow: what it did, and in the end its answer."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._unfinished = bytearray()
        self._kept: list[bytes] = []
        self._size = 0
        self._last = ""

    def take(self, data: bytes) -> str:
        """What the lines that are whole now say."""
        *lines, rest = data.split(b"\n")
        told: list[str] = []
        for line in lines:
            told.append(self._line(bytes(self._unfinished + line)))
            self._unfinished.clear()
        # What is longer than any event is cut, and no longer one.
        self._unfinished += rest[: max(0, MAX_LINE + 1 - len(self._unfinished))]
        return "".join(told)

    def rest(self) -> str:
        """What the last line says, although nothing ended it."""
        line = bytes(self._unfinished)
        self._unfinished.clear()
        return self._line(line) if line else ""

    def _line(self, line: bytes) -> str:
        if len(line) > MAX_LINE:
            return ""
        record = event(line)
        if record is None:
            # Not of the stream: the client's error output, or a command that ran before it.
            return clean_text(line.decode("utf-8", errors="replace")) + "\n"
        words = self._client.progress(line) or _complaint(record)
        self._last = words or self._last
        return (f"{words}\n" if words else "") + self._answer(line)

    def _answer(self, line: bytes) -> str:
        """The final message, set off by its indent, which no header of ours has."""
        self._kept.append(line)
        self._size += len(line)
        if self._size > KEPT_BYTES:
            self._kept, self._size = [line], len(line)
        if not may_end(line):
            return ""
        try:
            message = final_message(b"\n".join(self._kept).decode("utf-8", errors="replace"))
        except UnreadableError:
            return ""
        self._kept, self._size = [], 0
        if message is None:
            return ""
        structured = message.structured
        whole = message.text if structured is None else json.dumps(structured, indent=2, ensure_ascii=False)
        whole = clean_text(whole).strip()
        # What was shown as the last thing that it said needs no second line.
        return textwrap.indent(f"{whole}\n", "  ") if whole and whole != self._last else ""


def _complaint(record: JsonObject) -> str:
    """Why something went wrong, where a record says so."""
    failed = record.get("is_error") is True or record.get("status") == "error"
    if not failed and record.get("type") not in ("error", "turn.failed"):
        return ""
    error = inner(record, "error")
    places = (inner(error, "data").get("message"), error.get("message"), record.get("message"), record.get("result"))
    return one_line("failed: " + next((text_of(place) for place in places if text_of(place)), "no reason given"))
