"""What people and budgets decide: choices at the limit, a cancelled run, a refuted or waived finding, a skip."""

from burnish.core.errors import RefusedError
from burnish.core.events import (
    BudgetReached,
    Cancelled,
    Decided,
    FindingAdded,
    FindingAnnotated,
    FindingRefuted,
    FindingWaived,
    SessionAdopted,
    Skipped,
    ValidationStatus,
)
from burnish.core.finding_history import DISMISSED, amended, without
from burnish.core.finding_identity import identify
from burnish.core.findings import FindingStatus, Tracked
from burnish.core.protocol import ChoiceAction, ReviewBy, SkipReason
from burnish.core.state import AnsweredReview, Outcome, Phase, Run, Scope, Waiting
from burnish.core.steps import flow
from burnish.core.steps.review import assignment_of
from burnish.core.values import replace


def decided(run: Run, phase: Waiting, event: Decided) -> Run:
    choice = next((offered for offered in phase.choices if offered.key == event.choice), None)
    if choice is None:
        keys = ", ".join(offered.key for offered in phase.choices)
        raise RefusedError(f"'{event.choice}' is not offered; choose one of {keys}")
    match choice.action:
        case ChoiceAction.FIX:
            # They are not asked about again.
            run = amended(run, phase.asked, decided=True)
            return flow.to_fix(run, flow.fix_order(run))
        case ChoiceAction.MANUAL:
            return flow.end(run, Outcome.BLOCKED, _with_note("a person took over", event.note))
        case ChoiceAction.ACCEPT:
            return flow.accept(run, _with_note("a person accepted the open findings", event.note))
        case ChoiceAction.SKIP:
            return flow.end(run, Outcome.SKIPPED, _with_note("a person skipped the review", event.note))
        case ChoiceAction.ANOTHER_ROUND:
            return _another_round(_with_room_for_one_more(run))
        case ChoiceAction.ANOTHER_AGENT:
            other = event.agent or other_agent(run) or run.other_agent
            return _another_round(replace(_with_room_for_one_more(run), other_agent=other))


def other_agent(run: Run) -> str | None:
    """The agent that replaces the last one: the fallback, or else the first agent. None if there is no other."""
    reviewer = run.panel[0].name
    reviews = run.rounds[-1].reviews if run.rounds else ()
    said = next((review for review in reviews if review.reviewer == reviewer), None)
    following = assignment_of(run, reviewer)
    if not isinstance(said, AnsweredReview) and following.fallback is not None:
        return following.agent  # the two take turns, and it is the other one's
    last = said.agent if isinstance(said, AnsweredReview) else following.agent
    known = run.roles.reviewer(reviewer)
    return next((name for name in (known.fallback, known.agent) if name not in (None, last, *run.unusable)), None)


def _with_note(reason: str, note: str) -> str:
    return f"{reason}: {note}" if note else reason


def _with_room_for_one_more(run: Run) -> Run:
    """The limit rises only where it is reached: a run may stop early, when nothing more can be fixed."""
    return replace(run, limit=max(run.limit, len(run.rounds) + 1))


def _another_round(run: Run) -> Run:
    """One more review, before which the open findings are fixed: without a fix it would only repeat the last one.

    It is made also where the fixer changes nothing, for that is what the person asked for. Open blockers on unchanged
    lines stay, whatever it finds.
    """
    if run.validated is not None and run.validated.status is ValidationStatus.FAILED:
        return flow.to_fix(run, flow.repair_order(run, run.validated.output))
    if run.protocol.review.by is ReviewBy.SESSION or not run.blockers:
        return flow.to_review(run)
    return flow.to_fix(run, replace(flow.fix_order(run), then_review=True))


def cancelled(run: Run, _phase: Phase, event: Cancelled) -> Run:
    """A person ends the run; what runs is ended first, and what it gives is kept."""
    return flow.end(run, Outcome.CANCELLED, _with_note("a person cancelled the run", event.note))


def budget_reached(run: Run, _phase: Phase, event: BudgetReached) -> Run:
    """Money has a cap; reaching it keeps all results."""
    return flow.end(run, Outcome.OVER_BUDGET, f"budget reached: {event.limit}")


def skipped(run: Run, _phase: Phase, event: Skipped) -> Run:
    """The source has nothing that could be reviewed."""
    if event.reason not in run.protocol.skip_when:
        raise RefusedError(f"the protocol '{run.protocol.name}' does not skip reviews for '{event.reason.value}'")
    if run.rounds:
        raise RefusedError("a review has already started")
    outcome = Outcome.DID_NOT_RUN if event.reason is SkipReason.BUILD_FAILED else Outcome.SKIPPED
    return flow.end(run, outcome, f"review skipped: {event.reason.value}")


def refuted(run: Run, phase: Phase, event: FindingRefuted) -> Run:
    """A finding is false, with evidence; it is remembered and never silently hidden."""
    return _dismissed(run, phase, event, FindingStatus.REFUTED, event.evidence)


def waived(run: Run, phase: Phase, event: FindingWaived) -> Run:
    return _dismissed(run, phase, event, FindingStatus.WAIVED, event.reason)


def _known(run: Run, finding: str) -> Tracked:
    entry = next((tracked for tracked in run.findings if tracked.finding.id == finding), None)
    if entry is None:
        raise RefusedError(f"this run has no finding '{finding}'")
    return entry


def _dismissed(run: Run, phase: Phase, event: FindingRefuted | FindingWaived, status: FindingStatus, note: str) -> Run:
    entry = _known(run, event.finding)
    if entry.status in DISMISSED:
        raise RefusedError(f"the finding is already {entry.status.value}")
    if not note.strip():
        raise RefusedError("the evidence or reason is empty")
    run = amended(run, (event.finding,), status=status, note=note, dismissed_by=event.by, dismissed_at=event.at)
    return _judge_again(run, phase, event.finding) if isinstance(phase, Waiting) else run


def adopted(run: Run, _phase: Phase, event: SessionAdopted) -> Run:
    if not run.session:
        raise RefusedError("no session drives the run")
    return replace(run, session=event.session, owner=event.owner)


def annotated(run: Run, _phase: Phase, event: FindingAnnotated) -> Run:
    entry = _known(run, event.finding)
    if entry.status in DISMISSED:
        # Its note is the evidence or the reason, which must not be overwritten.
        raise RefusedError(f"the finding is {entry.status.value}")
    return amended(run, (event.finding,), note=event.note)


def added(run: Run, _phase: Waiting, event: FindingAdded) -> Run:
    """A person's own finding blocks like any other, and goes to the fixer with the rest."""
    if run.judgement is None:
        raise RefusedError("no round has been judged yet")
    finding = replace(event.finding, id="", found_by=event.finding.found_by or (event.by or "a person",))
    known = tuple(entry.finding for entry in run.findings)
    finding = identify((*known, finding), run.origins)[-1]
    if any(entry.id == finding.id for entry in known):
        raise RefusedError("the finding is already known")
    number = len(run.rounds)
    entry = Tracked(finding=finding, round=number, last_reported_round=number, blocking=True, decided=True)
    judged = replace(run.judgement, clean=False, blocking=(*run.judgement.blocking, finding))
    return replace(run, findings=(*run.findings, entry)).with_last_round(judgement=judged)


def _judge_again(run: Run, phase: Waiting, dismissed: str) -> Run:
    """If the last blocking finding of the fully reviewed tree is gone, no decision is needed any more."""
    last = run.rounds[-1]
    if last.judgement is None or last.tree != run.tree:
        return run
    judgement = without(last.judgement, dismissed, run.protocol.review.open_blockers)
    run = run.with_last_round(judgement=judgement)
    if not judgement.clean:
        return _ask_less(run, phase, dismissed)
    if last.scope is Scope.FULL:
        return flow.approve(run, f"no blocking findings left in round {last.number}")
    return flow.to_review(run) if len(run.rounds) < run.limit else run


def _ask_less(run: Run, phase: Waiting, dismissed: str) -> Run:
    """A question that was answered by refuting or waiving is asked no more; without any left, the fix begins."""
    if dismissed not in phase.asked:
        return run
    asked = tuple(one for one in phase.asked if one != dismissed)
    return flow.ask_about(run, asked) if asked else flow.to_fix(run, flow.fix_order(run))
