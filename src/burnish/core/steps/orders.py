"""What the fixer is asked for after a judged round, and what a later reviewer is told of it."""

from burnish.core.effects import Previous
from burnish.core.findings import Finding, FindingStatus, required_changes
from burnish.core.protocol import Feedback, FixInput
from burnish.core.state import AnsweredReview, FixOrder, Round, Run

OPEN_STATES = (FindingStatus.OPEN, FindingStatus.FILED)


def fix_order(run: Run) -> FixOrder:
    """The order for the findings of the last round."""
    last = run.rounds[-1]
    blocking = () if last.judgement is None else (*last.judgement.blocking, *last.judgement.carried)
    rest = _rest(run, blocking)
    must, may = blocking, rest
    match run.protocol.fix.input:
        case FixInput.ALL:
            must, may = (*blocking, *rest), ()
        case FixInput.BLOCKING | FixInput.NOTHING:
            may = ()
        case FixInput.BLOCKING_THEN_REST | FixInput.REVISION | FixInput.FOLLOW_UP:
            pass
    return FixOrder(
        number=run.fixes + 1,
        round=last.number,
        must=must,
        may=may,
        instructions="\n\n".join(_instructions(last)),
        notes={entry.finding.id: entry.note for entry in run.findings if entry.note and entry.status in OPEN_STATES},
    )


def _rest(run: Run, blocking: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The other open findings of the last round, which do not block."""
    known = {finding.id for finding in blocking}
    seen_last = (entry for entry in run.findings if entry.last_reported_round == len(run.rounds))
    return tuple(
        entry.finding for entry in seen_last if entry.status is FindingStatus.OPEN and entry.finding.id not in known
    )


def _instructions(last: Round) -> list[str]:
    """Follow-up prompts and revision notes, as the reviewers wrote them."""
    answers = [review.answer for review in last.reviews if isinstance(review, AnsweredReview)]
    notes = [answer.card.revision_notes for answer in answers if answer.card is not None]
    return [text for text in (*(answer.follow_up for answer in answers), *notes) if text]


def previous_feedback(run: Run) -> Previous | None:
    """What the protocol lets a reviewer know of the round before: what it asked for in words, else what blocked."""
    if run.protocol.review.feedback is Feedback.NONE or not run.rounds:
        return None
    # Not just the last one: the round that is being asked for may be open already, for another seat or attempt.
    judged = next((past for past in reversed(run.rounds) if past.judgement is not None), None)
    return Previous(attempt=run.revisions, feedback="" if judged is None else _feedback(judged))


def _feedback(judged: Round) -> str:
    judgement = judged.judgement
    blocking = () if judgement is None else (*judgement.blocking, *judgement.carried)
    return "\n\n".join(_instructions(judged)) or required_changes(blocking)


def repair_order(run: Run, output: str) -> FixOrder:
    """The order for a failed validation: its output is all that the fixer needs."""
    return FixOrder(number=run.fixes + 1, round=len(run.rounds), instructions=output, after_validation=True)
