"""Records of the `ticket` layout: the report of each review, and the ticket's fields about reviews.

They are kept with the run; the state of an epic takes them from the same functions.
"""

from collections.abc import Iterable
from itertools import groupby

from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.contracts.report_record import report_fields, review_history_entry
from burnish.core.protocol import ScoreGate
from burnish.core.state import (
    Building,
    Ended,
    Fixing,
    Outcome,
    Reviewing,
    Round,
    Run,
    Sealing,
    Stopping,
    Validating,
    Waiting,
    scored_reviews,
)
from burnish.core.work import Ready, Work
from burnish.records.interface import RecordFile, RecordTexts, moment

HISTORY = "review-history.json"
_COMPLETED = "completed"
_ENDED = {Outcome.APPROVED: _COMPLETED, Outcome.ACCEPTED: _COMPLETED, Outcome.BLOCKED: "blocked"}


class TicketRecorder:
    """Reports and history. Nothing of a gate without scores."""

    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        gate = run.protocol.gate
        if not isinstance(gate, ScoreGate):
            return ()
        reports = [
            RecordFile(path=f"review-report-{round_.number}.json", text=write_json(report), in_checkout=False)
            for round_ in run.rounds
            if (report := _report(run, round_, gate)) is not None
        ]
        history = write_json(ticket_fields(run, gate, texts))
        return (*reports, RecordFile(path=HISTORY, text=history, in_checkout=False))

    def place(self, run: Run) -> str:
        del run
        return ""


RECORDER = TicketRecorder()


def ticket_fields(run: Run, gate: ScoreGate, texts: RecordTexts) -> JsonObject:
    """A ticket in the state of its epic: what a run knows of it, and the fields that reviews add."""
    phase, status, scored = run.phase, ticket_status(run), scored_reviews(run)
    history: list[Json] = [
        review_history_entry(one.card, gate, attempt=one.attempt, reviewed_at=moment(one.reviewed_at)) for one in scored
    ]
    reports = (_report(run, round_, gate) for round_ in reversed(run.rounds))
    return {
        "ticket_id": run.subject.story_or_branch,
        "path": texts.brief_path or None,
        "status": status,
        "previous_status": next((one for one in reversed(texts.statuses) if one != status), None),
        "git_info": {
            "base_commit": run.subject.base_commit,
            "branch_name": run.subject.branch,
            "final_commit": run.commit,
        },
        "started_at": moment(run.started.at),
        "completed_at": moment(run.ended_at) if status == _COMPLETED else None,
        "failure_reason": phase.reason if isinstance(phase, Ended) and status != _COMPLETED else None,
        "revision_count": run.revisions_begun,
        "review_started_at": moment(run.rounds[-1].opened_at) if run.rounds else None,
        "review_completed_at": moment(scored[-1].reviewed_at) if run.judgement and scored else None,
        "review_approved": is_approved(run),
        "review_history": history,
        "current_review_report": next((report for report in reports if report is not None), None),
    }


def is_approved(run: Run) -> bool | None:
    """Null until the last review is judged, and while an approval is not sealed: it may still come to nothing."""
    if run.judgement is None or (run.outcome is None and run.judgement.passes):
        return None
    return run.outcome is Outcome.APPROVED


def ticket_trail(states: Iterable[Run]) -> tuple[str, ...]:
    """The statuses that a ticket went through, given its run after each event."""
    return tuple(status for status, _ in groupby(map(ticket_status, states)))


def ticket_status(run: Run) -> str:
    """Where a run is, in the words of a ticket's lifecycle. A status begins with the work that it names."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    match phase:
        case Building():
            return "executing" if _has_begun(phase.work) else "queued"
        case Validating():
            return "validating"
        case Reviewing():
            return "reviewing" if len(run.rounds) >= phase.round else "validating"
        case Fixing():
            # Only a review asks for a revision: what validation found is put right within the same attempt.
            is_under_way = phase.order.after_validation or _has_begun(phase.work)
            return "executing" if is_under_way else "needs_revision"
        case Sealing():
            return "reviewing"
        case Waiting():
            return "blocked"
        case Ended():
            return _ENDED.get(phase.outcome, "failed")


def _has_begun(work: Work) -> bool:
    return not isinstance(work, Ready) or work.attempt > 1


def _report(run: Run, round_: Round, gate: ScoreGate) -> JsonObject | None:
    """The report of a round's first scored review."""
    for review in round_.answered:
        if review.answer.card is not None:
            return report_fields(
                review.answer.card,
                review.answer.findings,
                gate,
                ticket_id=run.subject.story_or_branch,
                reviewed_at=moment(review.finished_at),
                revision_count=round_.number - 1,
            )
    return None
