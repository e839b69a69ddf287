"""Whose review it is, how long a session is waited for, and what late and running subagents count."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from burnish.core.events import Outcome
from burnish.system import clock
from burnish.usecases.runs import open_runs
from burnish.usecases.submit_intent import cancel_run
from tests.plugin.calls import call, tool
from tests.plugin.session import CLEAN, PANEL, issues
from tests.plugin.simulated import SimulatedSession
from tests.plugin.test_hooks import denied

STATE = ".agents/tmp/state.json"
SECOND = "another-session"


def clean(_asked: object) -> str:
    return CLEAN


def begun(user: Path, options: str = "", **files: str) -> SimulatedSession:
    session = SimulatedSession(user, files=files)
    assert "[PHASE R1]" in session.type(f"/burnish:fix {options}")["hookSpecificOutput"]["additionalContext"]
    return session


# --- Two sessions


def test_a_review_is_taken_over_only_on_request_and_the_former_session_is_told(user: Path) -> None:
    first = begun(user)
    card = first.card()
    assert card is not None
    first.subagent(card["work"][0], clean)
    second = SimulatedSession(user, SECOND)
    assert "is under review in another session" in second.type("/burnish:fix")["reason"]
    taken = second.type("/burnish:fix --adopt")["hookSpecificOutput"]["additionalContext"]
    assert "critic" not in taken  # it has answered already
    state = json.loads((first.root / STATE).read_text())
    assert state["sessionId"] == SECOND

    # The former session edits freely, moves nothing, and is told once.
    assert first.send(tool("PreToolUse", "Edit", {"file_path": "notes.txt"}, str(first.root))) == {}
    version = second.run().version
    late = first.transcript("x", CLEAN, "pedant")
    first.send(call("SubagentStop", str(first.root), agent_type="burnish:pedant", agent_transcript_path=str(late)))
    assert second.run().version == version
    assert "has taken over the review" in first.stop()["systemMessage"]
    assert (first.card(), first.stop()) == (None, {})
    assert "passed" in second.follow(clean)["systemMessage"]
    assert second.run().outcome is Outcome.APPROVED


def test_a_former_session_with_an_old_card_moves_nothing(user: Path) -> None:
    """Its card may stand elsewhere, so that it could not be told: the owner in the repository decides."""
    first = begun(user)
    old = first.card_path.read_text()
    SimulatedSession(user, SECOND).type("/burnish:fix --adopt")
    first.card_path.write_text(old)
    version = first.run().version
    card = json.loads(old)
    said = first.subagent(card["work"][0], clean)
    assert "belongs to another session now" in said["systemMessage"]
    assert (first.card(), first.run().version) == (None, version)
    first.card_path.write_text(old)
    assert "belongs to another session now" in first.stop()["systemMessage"]
    assert (first.card(), first.run().version) == (None, version)


def test_a_resumed_session_owns_its_review_from_its_new_process(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = begun(user)
    monkeypatch.setattr("burnish.usecases.session_owners.os.getppid", lambda: 1)
    told = session.send(call("SessionStart", str(session.root), source="resume"))
    assert told["hookSpecificOutput"]["additionalContext"].startswith("[PHASE R1]")
    assert (session.run().owner, json.loads((session.root / STATE).read_text())["ownerPpid"]) == (1, "1")


# --- Late, running and missing subagents


def left(session: SimulatedSession, said: str, *, ended: bool = True) -> dict[str, Any]:
    """Transcripts of the whole panel that no hook told of; and the stop that comes then."""
    card = session.card()
    assert card is not None
    for work in card["work"]:
        path = session.transcript(session.dispatch(work).prompt, said, work["seat"])
        if not ended:
            part = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "app.py"}}
            more = {"type": "assistant", "message": {"role": "assistant", "content": [part]}}
            path.write_text(f"{path.read_text()}\n{json.dumps(more)}")
    return session.stop(transcript_path=str(session.folder / f"{session.session}.jsonl"))


def test_an_answer_that_comes_after_a_reminder_counts(user: Path) -> None:
    session = begun(user)
    card = session.card()
    assert card is not None
    assert session.stop()["decision"] == "block"
    for work in card["work"]:
        assert session.subagent(work, clean) == {}  # with the tokens of before
    assert "passed" in session.stop()["systemMessage"]
    assert session.run().outcome is Outcome.APPROVED


def test_agents_in_the_background_are_waited_for_without_a_count(user: Path) -> None:
    session = begun(user)
    running = [{"id": "a1", "type": "local_agent", "description": "critic", "agentType": "burnish:critic"}]
    for _ in range(12):
        said = session.send(call("Stop", str(session.root), background_tasks=running))
        assert "still at work in the background" in said["systemMessage"]
    card = session.card()
    assert card is not None
    assert card["missed"] == 0
    assert session.stop()["decision"] == "block"  # the client speaks of none any more
    session.follow(clean)
    assert session.run().outcome is Outcome.APPROVED


def test_an_agent_that_is_still_at_work_has_not_answered(user: Path) -> None:
    """The client may not say that it runs. What it has written so far is not taken for its answer."""
    session = begun(user)
    version = session.run().version
    assert left(session, "Let me look at the file.", ended=False)["decision"] == "block"
    assert left(session, CLEAN, ended=False)["decision"] == "block"
    assert session.run().version == version  # nothing was entered
    assert "passed" in left(session, CLEAN)["systemMessage"]


def test_a_review_that_was_cancelled_elsewhere_is_not_asked_for_again(user: Path) -> None:
    session = begun(user)
    with open_runs(session.root) as runs:
        cancel_run(runs, session.run().id)
    assert "did not pass: cancelled" in session.stop()["systemMessage"]
    assert (session.card(), session.blocks) == (None, 0)


@pytest.mark.parametrize(
    ("protocol", "outcome", "blocks"),
    [("drift", Outcome.DID_NOT_RUN, 2), ("story", None, 6), ("panel", Outcome.DID_NOT_RUN, 2)],
)
def test_a_session_that_does_nothing_is_let_go_before_its_client_loses_patience(
    user: Path, protocol: str, outcome: Outcome | None, blocks: int
) -> None:
    session = begun(user, f"--protocol {protocol}")
    while session.stop().get("decision") == "block":
        assert session.blocks < 9
    assert (session.run().outcome, session.blocks) == (outcome, blocks)


# --- Time


@pytest.mark.parametrize("has_answer", [True, False])
def test_the_time_of_a_session_counts(user: Path, monkeypatch: pytest.MonkeyPatch, *, has_answer: bool) -> None:
    session = begun(user, **{"burnish.toml": "[limits]\nminutes = 10\n"})
    card, began = session.card(), clock.now()
    assert card is not None
    monkeypatch.setattr(clock, "now", lambda: began + 660)
    if has_answer:
        session.subagent(card["work"][0], clean)
    assert "over-budget" in session.stop()["systemMessage"]
    assert (session.run().outcome, session.blocks) == (Outcome.OVER_BUDGET, 0)


def test_the_time_in_which_no_session_lives_does_not_count(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = clock.now()
    begun(user, **{"burnish.toml": "[limits]\nminutes = 10\n"})
    monkeypatch.setattr(clock, "now", lambda: began + 6600)
    second = SimulatedSession(user, SECOND)
    assert "[PHASE R1]" in second.type("/burnish:fix --adopt")["hookSpecificOutput"]["additionalContext"]
    second.follow(clean)
    assert second.run().outcome is Outcome.APPROVED


def test_findings_lead_to_a_fix_also_after_a_reminder(user: Path) -> None:
    session = begun(user)
    session.stop()
    card = session.card()
    assert card is not None
    for work in card["work"]:
        session.subagent(work, lambda _: issues())
    told = session.stop()
    assert told["reason"].startswith("[PHASE R2]")
    assert denied(session.send(tool("PreToolUse", "Agent", {"subagent_type": "burnish:critic"}, str(session.root))))
    assert len(PANEL) == len(session.run().rounds[0].reviews)


# --- What does not count, and what is not open to the session


def test_a_record_of_an_earlier_run_is_no_answer(user: Path) -> None:
    session = begun(user)
    session.follow(clean)
    record = session.root / ".agents/tmp/phases/review-1/r1-critic.json"
    old = record.read_text()
    (session.root / "app.py").write_text("def half(number):\n    return number / 4\n")
    session.type("/burnish:fix")
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(old)
    os.utime(record, (1, 1))
    card = session.card()
    assert card is not None
    critic = next(work for work in card["work"] if work["seat"] == "critic")
    assert "could not be read" in session.subagent(critic, lambda _: "I would rather not say.")["reason"]


def test_what_a_reviewer_wrote_to_its_file_counts_where_its_message_does_not(user: Path) -> None:
    session = begun(user)
    card = session.card()
    assert card is not None

    def write(_asked: object) -> str:
        path = session.root / ".agents/tmp/phases/review-1/r1-critic.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CLEAN)
        return "Written."

    critic = next(work for work in card["work"] if work["seat"] == "critic")
    assert session.subagent(critic, write) == {}
    now = session.card()
    assert now is not None
    assert "critic" not in [work["seat"] for work in now["work"]]


def test_no_edit_of_transcripts_nor_of_the_card_behind_a_link(
    user: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    link = tmp_path_factory.mktemp("home") / "link"
    link.symlink_to(user)
    monkeypatch.setenv("XDG_STATE_HOME", str(link / "state"))
    session = begun(user)

    def edit(path: Path) -> str:
        sent = tool("PreToolUse", "Write", {"file_path": str(path)}, str(session.root))
        return denied(session.send({**sent, "transcript_path": str(user / "client" / "s.jsonl")}))

    assert "belongs to burnish" in edit(session.card_path)
    assert "belongs to burnish" in edit(session.card_path.resolve())
    assert "is a transcript" in edit(user / "client/s/subagents/agent-1.jsonl")
    assert edit(user / "notes.txt") == ""
