"""Records of the `ticket` layout: the report of each review, and the ticket's fields about reviews.

They are kept with the run; the state of an epic takes them from the same functions.
"""

from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.contracts.report_record import render_report, review_history_entry
from burnish.core.history import scored_reviews
from burnish.core.protocol import ScoreGate
from burnish.core.state import (
    Building,
    Ended,
    Fixing,
    GoodReview,
    Outcome,
    Phase,
    Round,
    Run,
    Stopping,
    Validating,
    Waiting,
)
from burnish.records.interface import RecordFile, RecordTexts
from burnish.records.naming import answered, moment, story_of

HISTORY = "review-history.json"
_COMPLETED = (Outcome.APPROVED, Outcome.ACCEPTED)


class TicketRecorder:
    """Reports and history. Nothing of a gate without scores."""

    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        del texts
        gate = run.protocol.gate
        if not isinstance(gate, ScoreGate):
            return ()
        reports = [
            RecordFile(path=f"review-report-{round_.number}.json", text=report, in_checkout=False)
            for round_ in run.rounds
            if (report := _report(run, round_, gate)) is not None
        ]
        history = write_json(review_fields(run, gate))
        return (*reports, RecordFile(path=HISTORY, text=history, in_checkout=False))


def review_fields(run: Run, gate: ScoreGate) -> JsonObject:
    """The fields that reviews add to a ticket in the state of its epic."""
    scored = scored_reviews(run)
    history: list[Json] = [
        review_history_entry(one.card, gate, attempt=one.attempt, reviewed_at=moment(one.reviewed_at)) for one in scored
    ]
    phase = run.phase
    is_over = isinstance(phase, Ended)
    return {
        "ticket_id": story_of(run),
        "status": ticket_status(phase),
        "revision_count": run.revisions,
        "review_started_at": moment(run.rounds[0].opened_at) if run.rounds else None,
        "review_completed_at": moment(scored[-1].reviewed_at) if is_over and scored else None,
        "review_approved": phase.outcome is Outcome.APPROVED if isinstance(phase, Ended) else None,
        "failure_reason": phase.reason if isinstance(phase, Ended) and phase.outcome not in _COMPLETED else None,
        "review_history": history,
    }


def ticket_status(phase: Phase) -> str:
    """A phase in the words of a ticket's lifecycle."""
    match phase:
        case Building():
            return "executing"
        case Validating():
            return "validating"
        case Fixing():
            return "needs_revision"
        case Waiting():
            return "blocked"
        case Stopping():
            return ticket_status(phase.interrupted)
        case Ended():
            return _ended_status(phase.outcome)
        case _:
            return "reviewing"


def _ended_status(outcome: Outcome) -> str:
    if outcome in _COMPLETED:
        return "completed"
    return "blocked" if outcome is Outcome.BLOCKED else "failed"


def _report(run: Run, round_: Round, gate: ScoreGate) -> str | None:
    review = next((one for one in answered(round_.reviews) if one.answer.card is not None), None)
    return None if review is None else _rendered(run, round_, review, gate)


def _rendered(run: Run, round_: Round, review: GoodReview, gate: ScoreGate) -> str | None:
    card = review.answer.card
    if card is None:
        return None
    return render_report(
        card,
        review.answer.findings,
        gate,
        ticket_id=story_of(run),
        reviewed_at=moment(review.finished_at),
        revision_count=round_.number - 1,
    )
