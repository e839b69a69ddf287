"""Where a run goes next. Every way into a phase is here, so that no step can enter one half-prepared."""

import re

from burnish.core.effects import Previous
from burnish.core.errors import RefusedError
from burnish.core.events import EVIDENCE, ValidationStatus
from burnish.core.evidence import summary
from burnish.core.finding_history import record, waived_by_hand
from burnish.core.findings import Finding, FindingStatus, required_changes
from burnish.core.protocol import (
    Ask,
    AskAtTerminal,
    Choice,
    ChoiceAction,
    Feedback,
    FixInput,
    ReviewBy,
    ReviewMode,
    Stop,
)
from burnish.core.reviews import Failure, FailureKind
from burnish.core.state import (
    Active,
    AnsweredReview,
    Approval,
    Building,
    Ended,
    Fixing,
    FixOrder,
    Outcome,
    Reviewing,
    Round,
    Run,
    Scope,
    Sealing,
    SealKind,
    Seat,
    Stopping,
    Validating,
    Waiting,
)
from burnish.core.values import replace
from burnish.core.work import Ready, Running, effect_id


def to_start(run: Run) -> Run:
    if run.started.build:
        return replace(run, phase=Building(work=Ready()))
    return to_first_review(run)


def to_first_review(run: Run) -> Run:
    """Run the project's own commands before the first review, if the protocol asks for it."""
    return to_validation(run) if run.protocol.validate.before_first_review else to_review(run)


def to_validation(run: Run, approval: Approval | None = None) -> Run:
    number = run.validations + 1
    return replace(run, validations=number, phase=Validating(number=number, work=Ready(), approval=approval))


def to_review(run: Run) -> Run:
    """Call the panel. The round itself opens when its first review starts."""
    if run.started.skip is not None:
        return end(run, Outcome.SKIPPED, f"review skipped: {run.started.skip.value}")
    seats = tuple(Seat(reviewer=reviewer.name, work=Ready()) for reviewer in run.panel)
    number = len(run.rounds) + 1
    return replace(run, phase=Reviewing(round=number, scope=_scope(run, number), seats=seats))


def _scope(run: Run, number: int) -> Scope:
    """A ratchet round only between two full ones: the first, and the one that must precede a seal.

    The last round that is allowed is always full, for no other could lead to a seal.
    """
    if run.protocol.review.mode is ReviewMode.FRESH or number == 1 or number >= run.limit:
        return Scope.FULL
    confirmed = run.judgement is not None and run.judgement.clean and run.rounds[-1].tree == run.tree
    return Scope.FULL if confirmed else Scope.RATCHET


def to_fix(run: Run, order: FixOrder) -> Run:
    return replace(run, fixes=order.number, phase=Fixing(order=order, work=Ready()))


def approve(run: Run, reason: str) -> Run:
    """The gate passed, or a session says so. Nothing is approved before the project's own commands passed, too."""
    return settle_approval(run, Approval(reason=reason))


def accept(run: Run, reason: str) -> Run:
    return settle_approval(run, Approval(reason=reason, accepted=True))


def settle_approval(run: Run, approval: Approval) -> Run:
    """Seal an approval, or say why it cannot be sealed.

    Runs that began before evidence was counted keep their rules: their seals say that nothing is proven.
    """
    counts_evidence = run.started.rules >= EVIDENCE
    if counts_evidence and run.validated is None:
        return to_validation(run, approval)
    if approval.accepted:
        if counts_evidence and run.validated and run.validated.status is ValidationStatus.FAILED:
            return end(run, Outcome.ACCEPTED, f"{approval.reason}; no seal: validation fails on this tree")
        return _to_seal(run, approval)
    if not run.started.enforced and run.validated and run.validated.status is ValidationStatus.FAILED:
        return end_unmet(run, Outcome.FAILED, "validation failed")
    gaps = run.judgement.gaps if counts_evidence and run.judgement else ()
    if gaps and not run.started.allow_unexamined and run.protocol.review.by is not ReviewBy.SESSION:
        unexamined = f"no blocking findings, but not everything was examined: {summary(gaps)}"
        return end_unmet(run, Outcome.UNPROVEN, unexamined)
    # A blocker that was not fixed withholds the seal even where the protocol's own count is clean.
    held = [tracked.finding.title for tracked in run.findings if tracked.still_blocks]
    if held:
        withheld = f"{approval.reason}; no seal: earlier findings still block: {'; '.join(held[:3])}"
        return end_unmet(run, Outcome.APPROVED, withheld)
    return _to_seal(run, approval)


def _to_seal(run: Run, approval: Approval) -> Run:
    outcome = Outcome.ACCEPTED if approval.accepted else Outcome.APPROVED
    if not run.subject.is_whole_change:
        seen = "files were reviewed, not a change" if run.subject.as_is else "only a part of the change was reviewed"
        return end(run, outcome, f"{approval.reason}; no seal: {seen}")
    kinds = _kinds(run, approval) or (SealKind.APPROVED,)
    return replace(run, phase=Sealing(kinds=kinds, reason=approval.reason, work=Ready(), outcome=outcome))


def end_unmet(run: Run, outcome: Outcome, reason: str) -> Run:
    """End a run that did not pass its gate. A review that the policy does not enforce is sealed as what it is."""
    if run.started.enforced or run.may_fix or not run.subject.is_whole_change:
        return end(run, outcome, reason)
    local = (SealKind.LOCAL_POLICY,) if run.started.local_policy else ()
    kinds = (*local, SealKind.REPORTED)
    return replace(run, phase=Sealing(kinds=kinds, reason=reason, work=Ready(), outcome=outcome))


def _kinds(run: Run, approval: Approval) -> tuple[SealKind, ...]:
    """Everything that makes an approval less than one; nothing where it is one."""
    unproven = run.started.rules < EVIDENCE or run.judgement is None or bool(run.judgement.gaps)
    weaker = {
        SealKind.ACCEPTED: approval.accepted,
        SealKind.SELF_REVIEWED: run.protocol.review.by is ReviewBy.SESSION or bool(run.started.session),
        SealKind.UNPROVEN: unproven,
        SealKind.WAIVED: waived_by_hand(run),
        SealKind.LOCAL_POLICY: run.started.local_policy,
    }
    return tuple(kind for kind, applies in weaker.items() if applies)


def exhaust(run: Run, why: str) -> Run:
    """The limit is reached, or another round would change nothing: the protocol says what happens now."""
    rule = run.protocol.exhausted
    if isinstance(rule, Ask) or (isinstance(rule, AskAtTerminal) and run.started.interactive):
        return _to_waiting(run, rule, why)
    outcome = Outcome.STOPPED if isinstance(rule, Stop) else Outcome.FAILED
    return end(run, outcome, _filled(run, rule.reason, why))


def _to_waiting(run: Run, rule: Ask | AskAtTerminal, why: str) -> Run:
    """Put the choices that are left to a person: one more round is no longer offered at the hard cap."""
    may_add = len(run.rounds) + run.started.rounds_before < run.protocol.limits.hard_cap
    choices = tuple(choice for choice in rule.choices if may_add or not choice.action.adds_a_round)
    return replace(run, phase=Waiting(reason=why, choices=choices, priority=rule.priority))


QUESTIONS = (
    Choice(key="f", action=ChoiceAction.FIX, text="Have them fixed, with your notes"),
    Choice(key="m", action=ChoiceAction.MANUAL, text="Fix by hand (the run ends here)"),
)
"""What can be done about findings that ask for a person; each can also be refuted, waived or annotated."""


def ask_about(run: Run, asked: tuple[str, ...]) -> Run:
    """Put findings to a person before anything is fixed."""
    number = len(asked)
    reason = f"{number} finding{'s need' if number > 1 else ' needs'} a person's decision"
    return replace(run, phase=Waiting(reason=reason, choices=QUESTIONS, asked=asked))


def _filled(run: Run, template: str, why: str) -> str:
    """A protocol's reason with its numbers.

    How many findings block is no placeholder: the reasons of built-in protocols are part of the digests in seals.
    """
    text = counted(counted(template, "reviews", len(run.rounds)), "revisions", run.revisions)
    if run.blockers:
        text = text.replace("Blocking findings remain", blocking_remain(run))
    return text if len(run.rounds) >= run.limit else f"{text} ({why})"


def blocking_remain(run: Run) -> str:
    """`3 blocking findings remain`."""
    number = len(run.blockers)
    return f"{number} blocking finding{'s remain' if number != 1 else ' remains'}"


def counted(template: str, name: str, number: int) -> str:
    """The template with a number in it; a noun behind a one is singular."""
    text = template.replace(f"{{{name}}}", str(number))
    plural = r"\b(1(?: fix)? (?:review|revision|attempt|round|cycle))s\b|\b(1(?: fix)? fix)es\b"
    return re.sub(plural, r"\1\2", text) if number == 1 else text


def end(run: Run, outcome: Outcome, reason: str) -> Run:
    """End the run, once everything that still runs has been ended."""
    phase = run.phase
    if isinstance(phase, Stopping | Ended):
        raise RefusedError("the run is ending already")
    if not isinstance(phase, Waiting) and running_effects(phase):
        return replace(run, phase=Stopping(outcome=outcome, reason=reason, interrupted=phase))
    return finish(run, phase, Ended(outcome=outcome, reason=reason))


def give_up(run: Run, failure: Failure, who: str) -> Run:
    """End without the result of work that failed for good. A budget that ran out is an end of its own kind."""
    over = failure.kind is FailureKind.OVER_BUDGET
    outcome = Outcome.OVER_BUDGET if over else Outcome.DID_NOT_RUN
    return end(run, outcome, f"{who} {failure.kind.value}: {failure.message}")


def finish(run: Run, last: Active | Waiting, ended: Ended) -> Run:
    """Nothing runs any more. What an unfinished panel said is kept."""
    if isinstance(last, Reviewing):
        run = keep_reviews(run, last)
        if run.rounds and run.judgement is None:
            run = record(run, run.rounds[-1].reviews)
    return replace(run, phase=ended)


def keep_reviews(run: Run, phase: Reviewing) -> Run:
    """Write what the seats have so far into the round, if one was opened."""
    return run.with_last_round(reviews=phase.reviews) if len(run.rounds) >= phase.round else run


def running_effects(phase: Active, *, outside: str = "") -> tuple[str, ...]:
    """What runs now, but for the work of the agent that is named."""
    if isinstance(phase, Reviewing):
        keyed = [(phase.key(seat), seat.work) for seat in phase.seats]
    else:
        keyed = [(phase.key, phase.work)]
    running = [(key, work) for key, work in keyed if isinstance(work, Running)]
    return tuple(effect_id(key, work.attempt) for key, work in running if not outside or work.agent != outside)


def under_way(run: Run, *, outside: str = "") -> tuple[str, ...]:
    """The effects that the events say are running, also while the run is being ended."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    return () if isinstance(phase, Waiting | Ended) else running_effects(phase, outside=outside)


# --- What the fixer is asked for after a judged round, and what a later reviewer is told of it.

OPEN_STATES = (FindingStatus.OPEN, FindingStatus.FILED)


def fix_order(run: Run) -> FixOrder:
    last = run.rounds[-1]
    must, may = run.blockers, _rest(run)
    if run.protocol.fix.input is FixInput.ALL:
        must, may = (*must, *may), ()
    elif run.protocol.fix.input in (FixInput.BLOCKING, FixInput.NOTHING):
        may = ()
    return FixOrder(
        number=run.fixes + 1,
        round=last.number,
        must=must,
        may=may,
        instructions=_instructions(last),
        notes={entry.finding.id: entry.note for entry in run.findings if entry.note and entry.status in OPEN_STATES},
    )


def _rest(run: Run) -> tuple[Finding, ...]:
    """The other open findings of the last round, which do not block."""
    known = {finding.id for finding in run.blockers}
    reported = (entry for entry in run.findings if entry.last_reported_round == len(run.rounds))
    is_open = (entry.finding for entry in reported if entry.status is FindingStatus.OPEN)
    return tuple(finding for finding in is_open if finding.id not in known)


def _instructions(last: Round) -> str:
    """Follow-up prompts and revision notes, as the reviewers wrote them."""
    answers = [review.answer for review in last.reviews if isinstance(review, AnsweredReview)]
    notes = [answer.card.revision_notes for answer in answers if answer.card]
    return "\n\n".join(filter(None, [*(answer.follow_up for answer in answers), *notes]))


def previous_feedback(run: Run) -> Previous | None:
    """What the protocol lets a reviewer know of the round before: what it asked for in words, else what blocked."""
    if run.protocol.review.feedback is Feedback.NONE or not run.rounds:
        return None
    # Not just the last one: the round that is being asked for may be open already, for another seat or attempt.
    judged = ((past, past.judgement.blockers) for past in reversed(run.rounds) if past.judgement)
    feedback = next((_instructions(past) or required_changes(blockers) for past, blockers in judged), "")
    return Previous(attempt=run.revisions, feedback=feedback)


def repair_order(run: Run, output: str) -> FixOrder:
    """The order for a failed validation: its output is all that the fixer needs."""
    return FixOrder(number=run.fixes + 1, round=len(run.rounds), instructions=output, after_validation=True)
