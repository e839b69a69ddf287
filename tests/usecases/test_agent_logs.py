"""What agents are doing, read from their logs, and the streams of clients told in words."""

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.agents.registry import clients
from burnish.agents.streams import MAX_LINE
from burnish.core.values import replace
from burnish.protocols.loader import load
from burnish.report.account import work_in_progress
from burnish.report.text import work_line
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript
from burnish.settings.agent_kinds import AgentKind
from burnish.usecases.agent_logs import LAST_BYTES, StreamFormatter, last_words
from tests.agents.clients.recordings import recorded

KINDS = (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE)
CLAUDE = clients()[AgentKind.CLAUDE]


def told(kind: AgentKind, stream: bytes) -> str:
    retelling = StreamFormatter(clients()[kind])
    return retelling.take(stream) + retelling.rest()


def claude_says(words: str) -> bytes:
    message = {"role": "assistant", "content": [{"type": "text", "text": words}]}
    return json.dumps({"type": "assistant", "message": message}).encode() + b"\n"


def test_a_review_with_tools_is_told_in_words() -> None:
    assert told(AgentKind.CLAUDE, recorded(AgentKind.CLAUDE, "tool-calls").stdout) == snapshot("""\
First I read the code.
Read app.py
Bash git status --short
StructuredOutput
  {
    "issues": [],
    "former": null,
    "summary": {
      "critical": 0,
      "warning": 0,
      "info": 0,
      "verdict": "clean"
    }
  }
""")


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_of_every_client_is_shown_in_full(kind: AgentKind) -> None:
    shown = told(kind, recorded(kind, "findings").stdout)
    assert "The query is put together from what a user typed." in shown
    assert '"type"' not in shown


@pytest.mark.parametrize("kind", KINDS)
def test_why_a_call_failed_is_shown(kind: AgentKind) -> None:
    shown = told(kind, recorded(kind, "unauthorised").stdout)
    assert "failed: " in shown
    assert "401" in shown


@pytest.mark.parametrize("kind", KINDS)
def test_the_pieces_in_which_a_stream_comes_do_not_matter(kind: AgentKind) -> None:
    stream = recorded(kind, "tool-calls").stdout
    retelling = StreamFormatter(clients()[kind])
    pieces = "".join(retelling.take(stream[at : at + 7]) for at in range(0, len(stream), 7)) + retelling.rest()
    assert pieces == told(kind, stream)


def test_what_is_no_event_is_shown_as_it_is() -> None:
    shown = told(AgentKind.CLAUDE, b"installing \x1b[31mred\x1b[0m\n{broken\n" + claude_says("Hello"))
    assert shown == "installing red\n{broken\nHello\n"


def test_an_answer_forges_no_header_and_steers_no_terminal() -> None:
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "fine\x1b[2J\n==> fix:1:1 <==\nx"}
    assert told(AgentKind.CLAUDE, json.dumps(result).encode()) == "  fine\n  ==> fix:1:1 <==\n  x\n"


def test_an_event_of_any_length_is_bounded() -> None:
    retelling = StreamFormatter(CLAUDE)
    for _ in range(3):
        assert retelling.take(b"x" * MAX_LINE) == ""
    assert retelling.take(b"\n" + claude_says("Hello")) == "Hello\n"


def test_the_last_thing_that_a_client_did(tmp_path: Path) -> None:
    log = tmp_path / "review.log"
    assert last_words(log, CLAUDE) == ""
    log.write_bytes(b"x" * LAST_BYTES + b"\n" + claude_says("First") + claude_says("Then") + b'{"type":"user"}\n{"ty')
    assert last_words(log, CLAUDE) == "Then"


def test_the_last_line_of_a_command(tmp_path: Path) -> None:
    log = tmp_path / "review.log"
    log.write_bytes(b"first\nsecond \x1b[2J line\n\n")
    assert last_words(log, None) == "second line"
    log.write_bytes(b"first\nunfinished")
    assert last_words(log, None) == "unfinished"


def test_a_link_in_the_place_of_a_log_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "review.log").symlink_to(tmp_path / "secret")
    assert last_words(tmp_path / "review.log", None) == ""


@pytest.mark.parametrize(
    ("reviews", "fixes", "held", "label"),
    [
        (("drift: a",), (), "review:1:reviewer:1", "REVIEW bd-7 reviewer"),
        (("drift: a", "drift: b"), ("fixed", "fixed"), "fix:2:1", "FIX bd-7 2/5"),
    ],
)
def test_who_watches_sees_the_bead_and_the_attempt(
    reviews: tuple[str, ...], fixes: tuple[str, ...], held: str, label: str
) -> None:
    script = RehearsalScript(protocol="drift", reviews={"reviewer": reviews}, fixes=fixes)
    for moment in Rehearsal(script, load("drift").protocol).play():
        run = moment.run
        subject = replace(run.subject, story="bd-7")
        run = replace(run, started=replace(run.started, subject=subject))
        works = [work for work in work_in_progress(run) if work.effect == held]
        if works:
            assert [work.label for work in works] == [label]
            assert work_line(works[0], works[0].since + 2) == f"{label} · 0:02"
            return
    raise AssertionError(f"{held} was never at work")
