"""The fields of a ticket after each event of a run: when each of them changes is fixed by the seed, row by row."""

import json
from typing import Any

import pytest

from burnish.core.events import Cancelled, WorkStarted
from burnish.core.loop import decide, evolve
from burnish.core.state import Run
from burnish.protocols.loader import load
from burnish.records.interface import RecordTexts
from burnish.records.registry import record_files
from burnish.records.ticket import HISTORY, ticket_trail
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript
from tests.records.playing import about

LOW = "scores 80 95 80 80 80 90; notes Add the missing check"
GOOD = "scores 95 100 80 85 70 90"
START = 1_700_000_000.0
"""When a rehearsal begins; its times are whole seconds from here on."""


def fields(states: list[Run]) -> dict[str, Any]:
    """The ticket's fields after the last of these states."""
    texts = RecordTexts(statuses=ticket_trail(states), brief_path="tickets/1.2.md")
    [text] = [file.text for file in record_files(about(states[-1]), texts) if file.path == HISTORY]
    return json.loads(text)


def second(moment: str | None) -> str:
    """A moment as the second of the rehearsal."""
    if moment is None:
        return "-"
    minutes, seconds = moment.removesuffix("Z").split(":")[1:]
    return str(int(minutes) * 60 + int(seconds) - 13 * 60 - 20)


def row(event: str, ticket: dict[str, Any]) -> str:
    report = ticket["current_review_report"]
    approved = {None: "-", True: "yes", False: "no"}[ticket["review_approved"]]
    times = [second(ticket[key]) for key in ("review_started_at", "review_completed_at", "completed_at")]
    history = ",".join(f"{one['attempt']}:{one['status']}" for one in ticket["review_history"]) or "-"
    words = [ticket["previous_status"] or "-", ticket["status"], str(ticket["revision_count"]), *times, approved]
    return " ".join([event, *words, history, report["status"] if report else "-"])


def timetable(script: RehearsalScript) -> list[str]:
    states: list[Run] = []
    rows: list[str] = []
    for event, run in Rehearsal(script, load("ticket").protocol).play():
        states.append(run)
        name = type(event).__name__
        effect = f":{event.effect.split(':')[0]}" if isinstance(event, WorkStarted) else ""
        rows.append(row(name + effect, fields(states)))
    return rows


CASES = {
    "the first review passes": (
        RehearsalScript(
            protocol="ticket", build=True, builds=("built",), reviews={"*": (GOOD,)}, validations=("passed",)
        ),
        """
        RunStarted - queued 0 - - - - - -
        WorkStarted:build queued executing 0 - - - - - -
        Built executing validating 0 - - - - - -
        WorkStarted:validate executing validating 0 - - - - - -
        Validated executing validating 0 - - - - - -
        WorkStarted:review validating reviewing 0 5 - - - - -
        Reviewed validating reviewing 0 5 6 - - 0:pass pass
        WorkStarted:seal validating reviewing 0 5 6 - - 0:pass pass
        Sealed reviewing completed 0 5 6 8 yes 0:pass pass
        """,
    ),
    "a revision passes": (
        RehearsalScript(
            protocol="ticket", reviews={"*": (LOW, GOOD)}, fixes=("fixed",), validations=("passed", "passed")
        ),
        """
        RunStarted - validating 0 - - - - - -
        WorkStarted:validate - validating 0 - - - - - -
        Validated - validating 0 - - - - - -
        WorkStarted:review validating reviewing 0 3 - - - - -
        Reviewed reviewing needs_revision 1 3 4 - no 0:fail fail
        WorkStarted:fix needs_revision executing 1 3 4 - no 0:fail fail
        Fixed executing validating 1 3 4 - no 0:fail fail
        WorkStarted:validate executing validating 1 3 4 - no 0:fail fail
        Validated executing validating 1 3 4 - no 0:fail fail
        WorkStarted:review validating reviewing 1 9 - - - 0:fail fail
        Reviewed validating reviewing 1 9 10 - - 0:fail,1:pass pass
        WorkStarted:seal validating reviewing 1 9 10 - - 0:fail,1:pass pass
        Sealed reviewing completed 1 9 10 12 yes 0:fail,1:pass pass
        """,
    ),
    "the third review fails": (
        RehearsalScript(
            protocol="ticket", reviews={"*": (LOW,) * 3}, fixes=("fixed",) * 2, validations=("passed",) * 3
        ),
        """
        RunStarted - validating 0 - - - - - -
        WorkStarted:validate - validating 0 - - - - - -
        Validated - validating 0 - - - - - -
        WorkStarted:review validating reviewing 0 3 - - - - -
        Reviewed reviewing needs_revision 1 3 4 - no 0:fail fail
        WorkStarted:fix needs_revision executing 1 3 4 - no 0:fail fail
        Fixed executing validating 1 3 4 - no 0:fail fail
        WorkStarted:validate executing validating 1 3 4 - no 0:fail fail
        Validated executing validating 1 3 4 - no 0:fail fail
        WorkStarted:review validating reviewing 1 9 - - - 0:fail fail
        Reviewed reviewing needs_revision 2 9 10 - no 0:fail,1:fail fail
        WorkStarted:fix needs_revision executing 2 9 10 - no 0:fail,1:fail fail
        Fixed executing validating 2 9 10 - no 0:fail,1:fail fail
        WorkStarted:validate executing validating 2 9 10 - no 0:fail,1:fail fail
        Validated executing validating 2 9 10 - no 0:fail,1:fail fail
        WorkStarted:review validating reviewing 2 15 - - - 0:fail,1:fail fail
        Reviewed reviewing failed 2 15 16 - no 0:fail,1:fail,2:fail fail
        """,
    ),
    "validation fails before the first review and after a revision": (
        RehearsalScript(
            protocol="ticket",
            reviews={"*": (LOW, GOOD)},
            fixes=("fixed",) * 3,
            validations=("failed", "passed", "failed", "passed"),
        ),
        """
        RunStarted - validating 0 - - - - - -
        WorkStarted:validate - validating 0 - - - - - -
        Validated validating executing 0 - - - - - -
        WorkStarted:fix validating executing 0 - - - - - -
        Fixed executing validating 0 - - - - - -
        WorkStarted:validate executing validating 0 - - - - - -
        Validated executing validating 0 - - - - - -
        WorkStarted:review validating reviewing 0 7 - - - - -
        Reviewed reviewing needs_revision 1 7 8 - no 0:fail fail
        WorkStarted:fix needs_revision executing 1 7 8 - no 0:fail fail
        Fixed executing validating 1 7 8 - no 0:fail fail
        WorkStarted:validate executing validating 1 7 8 - no 0:fail fail
        Validated validating executing 1 7 8 - no 0:fail fail
        WorkStarted:fix validating executing 1 7 8 - no 0:fail fail
        Fixed executing validating 1 7 8 - no 0:fail fail
        WorkStarted:validate executing validating 1 7 8 - no 0:fail fail
        Validated executing validating 1 7 8 - no 0:fail fail
        WorkStarted:review validating reviewing 1 17 - - - 0:fail fail
        Reviewed validating reviewing 1 17 18 - - 0:fail,1:pass pass
        WorkStarted:seal validating reviewing 1 17 18 - - 0:fail,1:pass pass
        Sealed reviewing completed 1 17 18 20 yes 0:fail,1:pass pass
        """,
    ),
    "no reviewer answers": (
        RehearsalScript(protocol="ticket", reviews={"*": ("unreadable",) * 3}, validations=("passed",)),
        """
        RunStarted - validating 0 - - - - - -
        WorkStarted:validate - validating 0 - - - - - -
        Validated - validating 0 - - - - - -
        WorkStarted:review validating reviewing 0 3 - - - - -
        WorkFailed validating reviewing 0 3 - - - - -
        WorkStarted:review validating reviewing 0 3 - - - - -
        WorkFailed validating reviewing 0 3 - - - - -
        WorkStarted:review validating reviewing 0 3 - - - - -
        WorkFailed reviewing failed 0 3 - - - - -
        """,
    ),
}
"""Event, then the columns: previous_status, status, revision_count, review_started_at, review_completed_at,
completed_at (as seconds), review_approved, review_history (attempt and status), status of current_review_report."""


@pytest.mark.parametrize(("script", "expected"), CASES.values(), ids=CASES)
def test_a_ticket_after_each_event(script: RehearsalScript, expected: str) -> None:
    assert timetable(script) == [line.strip() for line in expected.strip().splitlines()]


def test_what_a_ticket_says_of_itself() -> None:
    *_, last = Rehearsal(RehearsalScript(protocol="ticket", reviews={"*": (GOOD,)}), load("ticket").protocol).play()
    ticket = fields([last.run])
    assert (ticket["ticket_id"], ticket["path"], ticket["started_at"]) == (
        "1.2",
        "tickets/1.2.md",
        "2023-11-14T22:13:20Z",
    )
    assert ticket["git_info"] == {"base_commit": "base", "branch_name": "story-1-2-log-in", "final_commit": "commit-0"}
    assert ticket["current_review_report"]["ticket_id"] == "1.2"
    assert ticket["failure_reason"] is None


def test_a_ticket_that_is_cancelled_while_it_is_revised_keeps_its_count() -> None:
    script = RehearsalScript(protocol="ticket", reviews={"*": (LOW, GOOD)}, fixes=("fixed",))
    states: list[Run] = []
    for event, run in Rehearsal(script, load("ticket").protocol).play():
        states.append(run)
        if isinstance(event, WorkStarted) and event.effect.startswith("fix:"):
            break
    states.append(evolve(states[-1], Cancelled(at=START + 60)))
    assert fields(states)["status"] == "executing", "the reviser is being ended"
    assert decide(states[-1])
    ticket = fields(states)
    assert (ticket["revision_count"], ticket["completed_at"]) == (1, None)
