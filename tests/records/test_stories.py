"""Records of stories: the word for each state, and the document of a run, in which what others wrote stays."""

import pytest

from burnish.core.epics.events import EpicStarted
from burnish.core.epics.loop import evolve
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.epics.state import (
    Epic,
    TicketApproved,
    TicketBlocked,
    TicketCompleted,
    TicketFailed,
    TicketPending,
    TicketProgress,
    TicketRunning,
    TicketSkipped,
    TicketState,
    TicketWaiting,
)
from burnish.core.events import Outcome
from burnish.records.stories import StoriesRecorder, word_of
from burnish.settings.yaml_nodes import documents

RUNNING = TicketRunning(run="r", onto="c")


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (TicketPending(), None),
        (RUNNING, "in-progress"),
        (TicketWaiting(running=RUNNING, reason="why"), "paused"),
        (TicketApproved(run="r", outcome=Outcome.APPROVED, commit="c"), "review"),
        (TicketCompleted(run="r", commit="c"), "done"),
        (TicketCompleted(), None),
        (TicketSkipped(run="r", reason="why"), "skipped"),
        (TicketSkipped(reason="its source says so"), None),
        (TicketFailed(run="r", outcome=Outcome.BLOCKED, reason="why"), "blocked"),
        (TicketFailed(run="r", outcome=Outcome.FAILED, reason="why"), "in-progress"),
        (TicketBlocked(by="a", reason="why"), "blocked"),
    ],
)
def test_the_word_of_a_story(state: TicketState, word: str | None) -> None:
    assert word_of(TicketProgress(ticket=Ticket(id="1-1-a", text=""), state=state), {}) == word


def epic() -> Epic:
    tickets = (Ticket(id="1-1-a", text="A", file="plan/1-1-a.md"), Ticket(id="1-2-b", text="B", done=True))
    plan = EpicPlan(id="1", tickets=tickets, source="plan/sprint-status.yaml", kind="stories", scope=("1.1", "1.2"))
    return evolve(
        None,
        EpicStarted(at=1.0, epic="e", plan=plan, branch="epic/1", base="main", baseline="c0", parallel=1),
    )


def test_the_document_of_a_run_is_yaml_with_a_table() -> None:
    document = StoriesRecorder().files(epic(), {})[0]
    assert document.path == "docs/progress/epic-1-auto-run.md"
    top = documents(document.text.split("---\n")[1])[0]
    assert [key.text for key, _ in top.pairs] == [
        *("epic_id", "status", "scope", "started", "last_updated", "run", "stories"),
    ]
    assert (top.get("epic_id").text, top.get("scope").text) == ("1", "1.1, 1.2")
    story = top.get("stories").get("1.2")
    assert [key.text for key, _ in story.pairs] == [
        *("status", "pr", "commit", "coverage", "review_rounds", "duration", "startedAt", "completedAt"),
    ]
    assert story.get("status").text == "done"
    assert "| 1.1 | pending | 0 | – | – |" in document.text


OTHERS = """---
# ours
owner: me  # foreign
status: pending # since monday
stories:
  "1.1":
    note: "keep"   # foreign
    status: pending
  "9.9":
    status: done
epic_id: "1"
---

Words of a person.

## Stories

| old |
| --- |

More words.
"""


def test_what_others_wrote_into_the_document_stays() -> None:
    take_over = StoriesRecorder().files(epic(), {})[0].take_over
    assert take_over is not None
    text = take_over(OTHERS.encode())
    for kept in ("# ours\nowner: me  # foreign\n", '    note: "keep"   # foreign\n', '  "9.9":\n    status: done\n'):
        assert kept in text
    assert "status: in-progress # since monday\n" in text
    assert "Words of a person.\n\n## Stories\n\n| Story |" in text
    assert text.endswith("\n\nMore words.\n")
    assert "| old |" not in text
    top = documents(text.split("---\n")[1])[0]
    assert top.get("stories").get("1.1").get("review_rounds").text == "0"
    assert take_over(text.encode()) == text
