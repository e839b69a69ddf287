"""Where a run goes next. Every way into a phase is here, so that no step can enter one half-prepared."""

import re

from burnish.core.errors import RefusedError
from burnish.core.events import EVIDENCE, ValidationStatus
from burnish.core.evidence import summary
from burnish.core.finding_history import record, waived_by_hand
from burnish.core.protocol import Ask, AskAtTerminal, Choice, ChoiceAction, Fail, ReviewBy, ReviewMode, Stop
from burnish.core.reviews import Failure, FailureKind
from burnish.core.state import (
    Active,
    Approval,
    Building,
    Ended,
    Fixing,
    FixOrder,
    Outcome,
    Reviewing,
    Run,
    Scope,
    Sealing,
    SealKind,
    Seat,
    Stopping,
    Validating,
    Waiting,
)
from burnish.core.steps.rounds import keep_reviews
from burnish.core.values import replace
from burnish.core.work import Ready, Running, effect_id


def to_start(run: Run) -> Run:
    """The first phase of a run."""
    if run.started.build:
        return replace(run, phase=Building(work=Ready()))
    return to_first_review(run)


def to_first_review(run: Run) -> Run:
    """Run the project's own commands before the first review, if the protocol asks for it."""
    if run.started.skip is not None:
        return end(run, Outcome.SKIPPED, f"review skipped: {run.started.skip.value}")
    return to_validation(run) if run.protocol.validate.before_first_review else to_review(run)


def to_validation(run: Run, approval: Approval | None = None) -> Run:
    number = run.validations + 1
    return replace(run, validations=number, phase=Validating(number=number, work=Ready(), approval=approval))


def to_review(run: Run) -> Run:
    """Call the panel. The round itself opens when its first review starts."""
    seats = tuple(Seat(reviewer=reviewer.name, work=Ready()) for reviewer in run.protocol.panel)
    number = len(run.rounds) + 1
    return replace(run, phase=Reviewing(round=number, scope=_scope(run, number), seats=seats))


def _scope(run: Run, number: int) -> Scope:
    """A ratchet round only between two full ones: the first, and the one that must precede a seal.

    The last round that is allowed is always full, for no other could lead to a seal.
    """
    if run.protocol.review.mode is ReviewMode.FRESH or number == 1 or number >= run.limit:
        return Scope.FULL
    last = run.rounds[-1]
    confirmed = last.judgement is not None and last.judgement.clean and last.tree == run.tree
    return Scope.FULL if confirmed else Scope.RATCHET


def to_fix(run: Run, order: FixOrder) -> Run:
    return replace(run, fixes=order.number, phase=Fixing(order=order, work=Ready()))


def approve(run: Run, reason: str) -> Run:
    """The gate passed, or a session says so. Nothing is approved before the project's own commands passed, too."""
    return settle_approval(run, Approval(reason=reason))


def accept(run: Run, reason: str) -> Run:
    """A person takes the risk of what is open."""
    return settle_approval(run, Approval(reason=reason, accepted=True))


def settle_approval(run: Run, approval: Approval) -> Run:
    """Seal an approval, or say why it cannot be sealed."""
    if run.started.rules < EVIDENCE:
        return _settle_without_evidence(run, approval)
    if run.validated is None:
        return to_validation(run, approval)
    if approval.accepted:
        if run.validated.status is ValidationStatus.FAILED:
            return end(run, Outcome.ACCEPTED, f"{approval.reason}; no seal: validation fails on this tree")
        return _to_seal(run, approval)
    gaps = run.rounds[-1].judgement.gaps if run.rounds and run.rounds[-1].judgement is not None else ()
    if gaps and not run.started.allow_unexamined and run.protocol.review.by is not ReviewBy.SESSION:
        return end(run, Outcome.UNPROVEN, f"no blocking findings, but not everything was examined: {summary(gaps)}")
    return _withhold(run, approval) or _to_seal(run, approval)


def _settle_without_evidence(run: Run, approval: Approval) -> Run:
    """The rules of runs that began before evidence was counted. Their seals say that nothing is proven."""
    return (None if approval.accepted else _withhold(run, approval)) or _to_seal(run, approval)


def _withhold(run: Run, approval: Approval) -> Run | None:
    """A blocker that was not fixed withholds the seal even where the protocol's own count is clean."""
    held = [tracked for tracked in run.findings if tracked.still_blocks]
    if not held:
        return None
    titles = "; ".join(tracked.finding.title for tracked in held[:3])
    withheld = f"{approval.reason}; no seal: earlier findings still block: {titles}"
    return end(run, Outcome.APPROVED, withheld)


def _to_seal(run: Run, approval: Approval) -> Run:
    kinds = _kinds(run, approval)
    return replace(run, phase=Sealing(kinds=kinds or (SealKind.APPROVED,), reason=approval.reason, work=Ready()))


def _kinds(run: Run, approval: Approval) -> tuple[SealKind, ...]:
    """Everything that makes an approval less than one; nothing where it is one."""
    judgement = run.rounds[-1].judgement if run.rounds else None
    unproven = run.started.rules < EVIDENCE or judgement is None or bool(judgement.gaps)
    weaker = {
        SealKind.ACCEPTED: approval.accepted,
        SealKind.SELF_REVIEWED: run.protocol.review.by is ReviewBy.SESSION,
        SealKind.UNPROVEN: unproven,
        SealKind.WAIVED: waived_by_hand(run),
        SealKind.LOCAL_POLICY: run.started.local_policy,
    }
    return tuple(kind for kind, applies in weaker.items() if applies)


def exhaust(run: Run, why: str) -> Run:
    """The limit is reached, or another round would change nothing: the protocol says what happens now."""
    rule = run.protocol.exhausted
    match rule:
        case Ask():
            return _to_waiting(run, rule, why)
        case AskAtTerminal():
            if run.started.interactive:
                return _to_waiting(run, rule, why)
            return end(run, Outcome.FAILED, _filled(run, rule.reason, why))
        case Fail():
            return end(run, Outcome.FAILED, _filled(run, rule.reason, why))
        case Stop():
            return end(run, Outcome.STOPPED, _filled(run, rule.reason, why))


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
    if blocking_count(run):
        text = text.replace("Blocking findings remain", blocking_remain(run))
    return text if len(run.rounds) >= run.limit else f"{text} ({why})"


def blocking_count(run: Run) -> int:
    """How many findings blocked in the last round."""
    judgement = run.rounds[-1].judgement if run.rounds else None
    return 0 if judgement is None else len(judgement.blocking) + len(judgement.carried)


def blocking_remain(run: Run) -> str:
    """`3 blocking findings remain`."""
    number = blocking_count(run)
    return f"{number} blocking finding{'s remain' if number != 1 else ' remains'}"


def counted(template: str, name: str, number: int) -> str:
    """The template with a number in it; a noun behind a one is singular."""
    text = template.replace(f"{{{name}}}", str(number))
    if number != 1:
        return text
    return re.sub(r"\b1((?: fix)?) (review|revision|attempt|round|cycle|fixe)s\b", _singular, text)


def _singular(match: re.Match[str]) -> str:
    return f"1{match[1]} {match[2].replace('fixe', 'fix')}"


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
        if run.rounds and run.rounds[-1].judgement is None:
            run = record(run, run.rounds[-1].reviews)
    return replace(run, phase=ended)


def running_effects(phase: Active) -> tuple[str, ...]:
    """The effects that run at this moment."""
    if isinstance(phase, Reviewing):
        keyed = [(phase.key(seat), seat.work) for seat in phase.seats]
    else:
        keyed = [(phase.key, phase.work)]
    return tuple(effect_id(key, work.attempt) for key, work in keyed if isinstance(work, Running))


def under_way(run: Run) -> tuple[str, ...]:
    """The effects that the events say are running, also while the run is being ended."""
    match run.phase:
        case Waiting() | Ended():
            return ()
        case Stopping():
            return running_effects(run.phase.interrupted)
        case phase:
            return running_effects(phase)
