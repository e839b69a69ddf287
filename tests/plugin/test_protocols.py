"""Every protocol in a session: to an approval, to another end, and to a person's decision."""

import json
import os
from pathlib import Path

import pytest

from burnish.core.events import Outcome
from burnish.core.protocol import STANDARD_DIMENSIONS
from burnish.core.state import SealKind
from burnish.report.account import state_of
from tests.end_to_end.answers import verdict
from tests.plugin.session import CLEAN, issues
from tests.plugin.simulated import Answers, Asked, SimulatedSession

FIX = "Divide by two\n"
OWN = """
extends = "epic"
name = "own"
description = "Our own."
[[panel]]
name = "critic"
[[panel]]
name = "reader"
"""


def document(*critical: str) -> str:
    items = "\n".join(f"{number}. **{title}**\n   - **File:** app.py:2" for number, title in enumerate(critical, 1))
    return f"# Review\n\n## Critical\n\n{items or 'None.'}\n\n## Important\n\nNone.\n\n## Minor\n\nNone.\n"


def report(score: int, asked: Asked, *blocking: str) -> str:
    scores = {one.name: {"score": score, "weight": one.weight.value} for one in STANDARD_DIMENSIONS}
    return json.dumps(
        {
            "ticket_id": "main",
            "revision_count": asked.round - 1,
            "status": "fail" if blocking else "pass",
            "overall_score": score,
            "dimension_scores": scores,
            "findings": [],
            "blocking_issues": [
                {"dimension": "code_quality", "message": one, "required_action": "Divide by two."} for one in blocking
            ],
            "revision_notes": None,
            "approved": not blocking,
            "pass_criteria_met": {"no_blocking_issues": not blocking},
        }
    )


def review(protocol: str, asked: Asked, *, clean: bool) -> str:
    match protocol:
        case "default":
            return CLEAN if clean else issues(severity="critical")
        case "drift":
            return verdict(clean=clean, follow_up="Divide by two.")
        case "ticket":
            return report(95, asked) if clean else report(50, asked, "It divides by three")
        case _:
            return document() if clean else document("It divides by three")


def answers(protocol: str, root: Path, *, fixes: bool) -> Answers:
    """Of subagents that find the defect until it is fixed; and of a fixer that fixes it, or only says so."""

    def say(asked: Asked) -> str:
        app = root / "app.py"
        if asked.agent.endswith("fixer"):
            app.write_text(f"{app.read_text().replace('3', '2') if fixes else app.read_text()}# {asked.round}\n")
            if asked.seat == "fixer":
                return FIX
        return review(protocol, asked, clean="/ 3" not in app.read_text())

    return say


LONG = [pytest.param(name, marks=pytest.mark.prove) for name in ("default", "ticket", "own")]


@pytest.mark.parametrize("protocol", [*LONG, "epic", "drift", "story"])
def test_a_protocol_comes_to_an_approval(user: Path, protocol: str) -> None:
    session = SimulatedSession(user, files={"own.toml": OWN})
    named = "./own.toml" if protocol == "own" else protocol
    assert "[PHASE R1]" in session.type(f"/burnish:fix --protocol {named}")["hookSpecificOutput"]["additionalContext"]
    said = session.follow(answers(protocol, session.root, fixes=True))
    run = session.run()
    # The default ends with a review by fresh eyes; a story's session fixes in the first round already.
    rounds = {"default": 3, "story": 1}.get(protocol, 2)
    assert (run.outcome, len(run.rounds)) == (Outcome.APPROVED, rounds), run.phase
    assert SealKind.SELF_REVIEWED in run.seal_kinds
    assert "burnish: the review passed" in said["systemMessage"]
    assert session.card() is None


@pytest.mark.prove
@pytest.mark.parametrize("protocol", ["drift", "ticket"])
def test_a_protocol_that_is_exhausted_lets_the_session_stop(user: Path, protocol: str) -> None:
    session = SimulatedSession(user)
    session.type(f"/burnish:fix --protocol {protocol}")
    said = session.follow(answers(protocol, session.root, fixes=False))
    run = session.run()
    assert (run.outcome, len(run.rounds)) == (Outcome.FAILED, run.limit), run.phase
    assert "did not pass" in said["systemMessage"]
    assert (session.card(), run.seal) == (None, "")


def waiting(user: Path, protocol: str) -> SimulatedSession:
    """A session whose review has come to a person."""
    session = SimulatedSession(user)
    session.type(f"/burnish:fix --protocol {protocol}")
    said = session.follow(answers(protocol, session.root, fixes=False))
    assert "/burnish:decide" in said["systemMessage"]
    assert state_of(session.run()) == "waiting"
    # While a person thinks, the session is free.
    assert session.stop()["systemMessage"] == said["systemMessage"]
    return session


@pytest.mark.parametrize(
    ("protocol", "key", "outcome"),
    [
        ("epic", "b", Outcome.ACCEPTED),
        pytest.param("epic", "a", Outcome.BLOCKED, marks=pytest.mark.prove),
        pytest.param("story", "1", Outcome.BLOCKED, marks=pytest.mark.prove),
        pytest.param("story", "3", Outcome.SKIPPED, marks=pytest.mark.prove),
    ],
)
def test_a_person_ends_a_review_that_waits(user: Path, protocol: str, key: str, outcome: Outcome) -> None:
    session = waiting(user, protocol)
    assert "is not a choice" in session.type("/burnish:decide x")["reason"]
    said = session.type(f"/burnish:decide {key} as agreed")
    assert outcome.value in said["reason"]
    assert session.run().outcome is outcome
    assert "systemMessage" in session.stop()
    assert session.card() is None


@pytest.mark.parametrize(("protocol", "key"), [pytest.param("epic", "c", marks=pytest.mark.prove), ("story", "2")])
def test_a_person_asks_for_one_more_round(user: Path, protocol: str, key: str) -> None:
    session = waiting(user, protocol)
    before = len(session.run().rounds)
    said = session.type(f"/burnish:decide {key}")
    assert "[PHASE R" in said["hookSpecificOutput"]["additionalContext"]
    session.follow(answers(protocol, session.root, fixes=True))
    run = session.run()
    assert (run.outcome, len(run.rounds)) == (Outcome.APPROVED, before + 1)


@pytest.mark.prove
def test_the_default_asks_a_person_once_it_is_exhausted(user: Path) -> None:
    session = waiting(user, "default")
    assert "[PHASE R" not in session.type("/burnish:decide a")["reason"]
    assert session.run().outcome is Outcome.BLOCKED


@pytest.mark.prove
def test_settings_of_a_project_where_there_is_no_bubblewrap(
    user: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """burnish's own checks run in the other sandbox, or in none where the kernel has none."""
    programs = tmp_path_factory.mktemp("programs")
    for folder in reversed(os.environ["PATH"].split(":")):
        for program in Path(folder).glob("*"):
            if program.name != "bwrap":
                (programs / program.name).unlink(missing_ok=True)
                (programs / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("CLAUDE_PLUGIN_ROOT")
    session = SimulatedSession(user)
    begun = session.type("/burnish:fix --protocol default")["hookSpecificOutput"]["additionalContext"]
    assert "- burnish-code-review: reviewer" in begun
    session.follow(answers("default", session.root, fixes=True))
    assert session.run().outcome is Outcome.APPROVED
