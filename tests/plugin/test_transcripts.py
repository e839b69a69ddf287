"""What a client has written down of a subagent by the time that its hook is called."""

import json
from pathlib import Path

import pytest

from burnish.plugin.transcripts import Transcript


def _record(role: str, text: str) -> str:
    return json.dumps({"message": {"role": role, "content": [{"type": "text", "text": text}]}}) + "\n"


@pytest.mark.parametrize("written", ["", _record("user", "Review this."), _record("user", "Review this.")[:20]])
def test_what_is_still_being_written_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    path = tmp_path / "agent-1.jsonl"
    path.write_text(written)

    def complete(seconds: float) -> None:
        assert seconds < 1
        path.write_text(_record("user", "Review this.") + _record("assistant", "It is clean."))

    monkeypatch.setattr("burnish.plugin.transcripts.time.sleep", complete)
    read = Transcript.read_to_its_end(str(path))
    assert (read.prompt, read.last_text) == ("Review this.", "It is clean.")


def test_what_is_never_written_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [3.0, 1.0, 0.0]
    waits: list[float] = []
    monkeypatch.setattr("burnish.plugin.transcripts.time.monotonic", moments.pop)
    monkeypatch.setattr("burnish.plugin.transcripts.time.sleep", waits.append)
    assert Transcript.read_to_its_end(str(tmp_path / "agent-1.jsonl")).prompt == ""
    assert len(waits) == 1


@pytest.mark.parametrize("path", ["", "/nowhere/agent-1.jsonl"])
def test_where_nothing_is_written_nothing_is_waited_for(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("burnish.plugin.transcripts.time.sleep", waits.append)
    assert Transcript.read_to_its_end(path).prompt == ""
    assert waits == []
