"""The rounds of a run as a timeline: who said what, how it was judged, and the fix that followed."""

from collections.abc import Iterator

from burnish.cli import run_words
from burnish.cli.finding_text import answer_lines
from burnish.cli.pages.templates import Markup, fill, joined
from burnish.cli.screen import Tone
from burnish.core.findings import Counts
from burnish.core.gates import Judgement
from burnish.core.state import FixResult, GoodReview, MissingReview, Review, ReviewStatus, Round, Run, Seat
from burnish.core.work import Pausing, Ready, Running
from burnish.usecases.evidence_words import review_words
from burnish.usecases.run_view import counts_view, seats_of

_TONES = {
    ReviewStatus.CLEAN: Tone.GOOD,
    ReviewStatus.FINDINGS: Tone.CAREFUL,
    ReviewStatus.NO_EVIDENCE: Tone.CAREFUL,
    ReviewStatus.INCOMPLETE: Tone.CAREFUL,
    ReviewStatus.DID_NOT_RUN: Tone.BAD,
}
_EXPLAINED = (ReviewStatus.NO_EVIDENCE, ReviewStatus.INCOMPLETE)


def rounds(run: Run) -> Markup:
    """All rounds, the first one first."""
    if not run.rounds:
        return fill("line", text="No review was started.")
    return fill("timeline", rounds=joined(_round(run, round_) for round_ in run.rounds))


def _round(run: Run, round_: Round) -> Markup:
    tone, verdict = _verdict(round_.judgement)
    return fill(
        "round",
        tone=tone.word,
        number=str(round_.number),
        verdict=verdict,
        scope=f"{round_.scope.value} review",
        tree=round_.tree[:12],
        reviews=joined(_seat(seat) for seat in seats_of(run, round_)),
        remarks=joined(fill("line", text=text) for text in _remarks(round_.judgement, round_.fix)),
    )


def _verdict(judgement: Judgement | None) -> tuple[Tone, str]:
    if judgement is None:
        return Tone.PLAIN, "not judged"
    if judgement.passes:
        return Tone.GOOD, "clean"
    if judgement.clean:
        return Tone.CAREFUL, "not proven"
    return Tone.BAD, f"{len(judgement.blocking) + len(judgement.carried)} blocking"


def _seat(seat: Seat) -> Markup:
    match seat.work:
        case GoodReview() | MissingReview() as review:
            return _review(review)
        case Running() as work:
            return _row(seat.reviewer, "at work", Tone.PLAIN, Counts(), f"by {work.agent}, attempt {work.attempt}")
        case Pausing() as work:
            return _row(seat.reviewer, "pausing", Tone.PLAIN, Counts(), f"before attempt {work.attempt}")
        case Ready():
            return _row(seat.reviewer, "to be started", Tone.PLAIN, Counts(), "")


def _review(review: Review) -> Markup:
    match review:
        case GoodReview():
            took = run_words.duration(review.finished_at - review.started_at)
            lacking = [review_words(review)] if review.status in _EXPLAINED else []
            detail = "; ".join([f"{review.agent}, {took}", *lacking, *review.answer.notes])
        case MissingReview():
            detail = f"{review.failure.kind.value}: {review.failure.message}"
    return _row(review.reviewer, review.status.value, _TONES[review.status], review.counts, detail)


def _row(reviewer: str, status: str, tone: Tone, counts: Counts, detail: str) -> Markup:
    numbers = counts_view(counts).items()
    pills = (fill("count", severity=severity, number=str(number)) for severity, number in numbers if number)
    return fill(
        "review",
        reviewer=reviewer,
        status=status,
        tone=tone.word,
        counts=joined(pills),
        detail=detail,
    )


def _remarks(judgement: Judgement | None, fix: FixResult | None) -> Iterator[str]:
    if judgement is not None:
        yield from judgement.reasons
        if judgement.carried:
            yield f"{run_words.number(len(judgement.carried), 'blocker')} of an earlier round, still there"
    if fix is not None:
        commit = f", commit {fix.commit[:12]}" if fix.commit else ""
        summary = f": {fix.summary}" if fix.summary else ""
        yield f"Fix: {fix.status.value}{commit}{summary}"
        yield from answer_lines(fix)
