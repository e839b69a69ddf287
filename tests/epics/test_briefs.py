"""What the agents of an epic are told beside their ticket."""

from burnish.core.epics.events import AnyEpicEvent, EpicStarted, MergeConflict, TicketEnded, TicketStarted
from burnish.core.epics.loop import replay
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.epics.state import Epic
from burnish.core.events import Outcome
from burnish.usecases.request_ticket import brief_of, brief_of_epic, text_to_resolve

TICKETS = (
    Ticket(id="form", title="The form", text="# The form\n\nShow it.", touches=("src/login.py",), role="Calls Auth."),
    Ticket(id="audit", text="# audit", touches=("src/",)),
)
PLAN = EpicPlan(
    id="login",
    title="Login",
    description="People sign in.",
    acceptance=("A user can sign in",),
    coordination="breaking_changes_prohibited: [the cookie]",
    tickets=TICKETS,
    source="plan/epic.yaml",
    kind="epic",
)


def epic(*events: AnyEpicEvent) -> Epic:
    started = EpicStarted(at=0.0, epic="e", plan=PLAN, branch="epic/login", base="main", baseline="b" * 40, parallel=2)
    state = replay([started, *events])
    assert state is not None
    return state


def test_a_ticket_is_told_what_all_must_keep_to_and_who_works_beside_it() -> None:
    brief = brief_of(epic(TicketStarted(at=1.0, ticket="audit", run="r", onto="b" * 40)), TICKETS[0])
    assert brief.text == TICKETS[0].text
    assert brief.coordination == (
        "breaking_changes_prohibited: [the cookie]\n\nThe part of this ticket: Calls Auth.\n\n"
        "Other tickets of this epic say that they change some of the same files. Keep changes in these files small:\n\n"
        "- audit (at work now): src/"
    )


def test_a_conflict_names_the_branch_and_the_files() -> None:
    conflict = MergeConflict(commit="c" * 40, onto="b" * 40, files=("src/login.py",))
    told = text_to_resolve(epic(), conflict, TICKETS[0].text)
    assert "Merging it with epic/login leaves conflict markers in these files:\n\n- src/login.py\n" in told
    assert told.endswith(TICKETS[0].text)


def test_a_merge_that_fails_validation_shows_what_it_said() -> None:
    conflict = MergeConflict(commit="c" * 40, onto="b" * 40, output="1 failed")
    told = text_to_resolve(epic(), conflict, TICKETS[0].text)
    assert "commands fail on the result" in told
    assert "\n1 failed\n" in told


def test_the_review_of_the_whole_knows_what_is_missing() -> None:
    ended = TicketEnded(
        at=2.0, ticket="audit", run="r", outcome=Outcome.FAILED, reason="too slow", commit="c" * 40, tree="t"
    )
    state = epic(TicketStarted(at=1.0, ticket="audit", run="r", onto="b" * 40), ended)
    text = brief_of_epic(state).text
    assert text.startswith("# Login\n\nPeople sign in.\n")
    assert "## Tickets that are not part of it\n\n- audit: too slow\n" in text
    assert "## Acceptance Criteria\n\n- A user can sign in" in text
