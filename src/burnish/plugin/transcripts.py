"""What subagents were given, opened and said, as their client writes it down in files."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from burnish.plugin.gates import Json, seat_line, table

MOST_BYTES = 32 * 1024 * 1024
_MOST_SUBAGENTS = 500
_LONGEST_WRITING, _LOOK_SECONDS = 2.0, 0.02


class Transcript:
    """What one subagent was given, opened and said."""

    def __init__(self, records: list[Json]) -> None:
        self.prompt = next((_said(record) for record in records if _role(record) == "user"), "")
        self.last_text = next(
            (text for record in reversed(records) if _role(record) == "assistant" and (text := _said(record))), ""
        )
        failed = {part.get("tool_use_id") for record in records for part in _parts(record) if part.get("is_error")}
        used = [
            part
            for record in records
            if _role(record) == "assistant"
            for part in _parts(record)
            if part.get("type") == "tool_use" and part.get("id") not in failed
        ]
        self.calls = b"\n".join(json.dumps({"input": part.get("input")}).encode() for part in used)
        """What its tools were called with, where they did what they were asked."""
        last = [record for record in records if _role(record)][-1:]
        asks = any(part.get("type") == "tool_use" for record in last for part in _parts(record))
        self.has_ended = not asks and any(_role(record) == "assistant" for record in last)
        """Whether it spoke last, and asked for no tool: one at work has a tool's result to wait for, or to read."""

    @classmethod
    def read(cls, path: str) -> "Transcript":
        return cls.parse(_content(path))

    @classmethod
    def read_to_its_end(cls, path: str) -> "Transcript":
        """That of a subagent that has stopped: its client may tell so before it has written everything down."""
        last = time.monotonic() + _LONGEST_WRITING
        written = bool(path) and Path(path).parent.is_dir()
        while not (read := cls.read(path)).has_ended and written and time.monotonic() < last:
            time.sleep(_LOOK_SECONDS)
        return read

    @classmethod
    def parse(cls, data: bytes) -> "Transcript":
        return cls(list(_records(data.split(b"\n"))))


def transcript_of(call: Json, agent: str) -> Transcript:
    """That of one subagent of a session, by the name that the client gave it."""
    folder = _subagents(call)
    is_plain = agent.isascii() and agent.isalnum()
    return Transcript.read(str(folder / f"agent-{agent}.jsonl")) if folder and is_plain else Transcript([])


def finished_work(call: Json, works: list[Json]) -> list[tuple[Json, Transcript]]:
    """Pieces of work that a subagent has come to the end of, whatever the client told of it. Each file is read once."""
    folder = _subagents(call)
    try:
        files = sorted(folder.glob("agent-*.jsonl"))[-_MOST_SUBAGENTS:] if folder else []
    except (OSError, ValueError):
        return []
    found: dict[str, tuple[Json, Transcript]] = {}
    for data in map(_content, map(str, files)):
        for work in works:
            if seat_line(work["token"]).encode() not in data:  # most are of other work, and need no parsing
                continue
            transcript = Transcript.parse(data)
            if seat_line(work["token"]) in transcript.prompt and transcript.has_ended and transcript.last_text:
                found.setdefault(work["token"], (work, transcript))
    return list(found.values())


def tables(value: object) -> list[Json]:
    return [table(item) for item in cast("list[object]", value)] if isinstance(value, list) else []


def _content(path: str) -> bytes:
    """A file of the client's; nothing where it cannot be read, or is too large."""
    try:
        return Path(path).read_bytes() if path and Path(path).stat().st_size <= MOST_BYTES else b""
    except (OSError, ValueError):
        return b""


def _subagents(call: Json) -> Path | None:
    path = call.get("transcript_path")
    return Path(path).with_suffix("") / "subagents" if isinstance(path, str) and path.endswith(".jsonl") else None


def _records(lines: list[bytes]) -> Iterator[Json]:
    for line in lines:
        try:
            record = table(json.loads(line)) if line.strip() else {}
        except (ValueError, RecursionError):
            continue
        # The client also writes down its requests, which hold the conversation once more.
        if record and not str(record.get("type", "")).startswith("api-"):
            yield record


def _message(record: Json) -> Json:
    return table(record.get("message"))


def _role(record: Json) -> str:
    return str(_message(record).get("role", ""))


def _parts(record: Json) -> list[Json]:
    return tables(_message(record).get("content"))


def _said(record: Json) -> str:
    content = _message(record).get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in _parts(record) if part.get("type") == "text")
