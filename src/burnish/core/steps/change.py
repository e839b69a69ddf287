"""The steps that change the tree: build and fix."""

from collections.abc import Collection

from burnish.core.events import DISTINCT, Built, Change, Fixed, WorkFailed
from burnish.core.finding_history import about_others, for_each_finding, left_open, move
from burnish.core.protocol import SkipReason, Unchanged
from burnish.core.reviews import Failure
from burnish.core.state import (
    Building,
    FixerAnswer,
    Fixing,
    FixOrder,
    FixResult,
    FixStatus,
    Outcome,
    Run,
)
from burnish.core.steps import flow, rounds, work
from burnish.core.values import replace
from burnish.core.work import EndNow, GiveUp, Pausing, Ready, Running, UseUpRound


def take(run: Run, change: Change, left: Collection[str] = ()) -> Run:
    """Make a change the tree under review. `left` are the findings that its author says it did not fix."""
    if change.tree == run.tree:
        return run
    return replace(move(run, change.files, left), commit=change.commit, tree=change.tree, changed=change.changed)


def built(run: Run, phase: Building, event: Built) -> Run:
    """The builder is done; what it made is validated and reviewed like anything else."""
    run = work.settle(run, phase, event.effect)
    run = replace(take(work.charge(run, event.usage), event.change), said=_all_said(run, event))
    return flow.to_first_review(run)


def _all_said(run: Run, event: Built | Fixed) -> tuple[str, ...]:
    return (*run.said, event.said) if event.said else run.said


def build_failed(run: Run, phase: Building, event: WorkFailed) -> Run:
    """Without a change there is nothing to review."""
    at_work = work.running(phase.work, phase.key, event.effect)
    run = work.count_failure(run, event)
    result = work.fail(event, at_work, work.assignment_of(run, phase), work.rule_of(run, phase))
    if isinstance(result, Ready | Running | Pausing):
        return replace(run, phase=replace(phase, work=result))
    note = "; review skipped" if SkipReason.BUILD_FAILED in run.protocol.skip_when else ""
    failure = replace(event.failure, message=f"{event.failure.message}{note}")
    return _give_up(run, phase, failure, "the builder")


def _give_up(run: Run, phase: Building | Fixing, failure: Failure, who: str) -> Run:
    return flow.give_up(replace(run, phase=replace(phase, work=Ready())), failure, who)


def fixed(run: Run, phase: Fixing, event: Fixed) -> Run:
    """The fixer is done. Only the trees say whether it changed anything."""
    run = work.charge(work.settle(run, phase, event.effect), event.usage)
    changed = event.change.tree != run.tree
    earlier = next((past for past in run.rounds[:-1] if changed and past.tree == event.change.tree), None)
    status = FixStatus.FIXED if changed else FixStatus.UNCHANGED
    run = fix_kept(run, phase.order, event, status)
    if phase.order.then_review:
        return _after_fix(run, phase.order) if changed else flow.to_review(run)
    if event.by_rule and not changed:
        # Whatever the protocol hopes for: asked again, it would give the same.
        return _gained_nothing(run, phase.order, "no automatic fix left")
    if run.protocol.fix.unchanged is Unchanged.EXHAUSTED:
        if not changed:
            return _gained_nothing(run, phase.order, "the fix changed nothing")
        if earlier is not None:
            return _gained_nothing(run, phase.order, f"the fix restored the tree of round {earlier.number}")
    return _after_fix(run, phase.order)


def fix_kept(run: Run, order: FixOrder, event: Fixed, status: FixStatus) -> Run:
    """The run with a fix in its round, and its tree."""
    result = _fix_result(run, order, event, status)
    left = left_open(result.answers) if run.started.rules >= DISTINCT else ()
    return replace(take(_note_fix(run, order, result), event.change, left), said=_all_said(run, event))


def _fix_result(run: Run, order: FixOrder, event: Fixed, status: FixStatus) -> FixResult:
    """What came of a fix, with an answer for each finding that was handed over."""
    result = FixResult(status=status, commit=event.change.commit, summary=event.summary, text=event.text)
    if run.started.rules < DISTINCT:
        given = (FixerAnswer(finding=one.finding, verdict=one.verdict, text=one.text) for one in event.answers)
        return replace(result, answers=tuple(given))
    answers = for_each_finding(order, event.answers)
    return replace(result, answers=answers, strays=about_others(order, event.answers))


def _note_fix(run: Run, order: FixOrder, result: FixResult) -> Run:
    """Write the fix into its round; a repair after it adds to the same fix."""
    if not run.rounds:
        return run
    former = run.rounds[-1].fix
    if order.after_validation and former is not None:
        if result.status is not FixStatus.FIXED:
            return run
        # A repair is handed no findings: what was said of them before stays.
        text = "\n\n".join(text for text in (former.text, result.text) if text)
        result = replace(result, text=text, answers=former.answers, strays=former.strays)
    return rounds.with_last_round(run, fix=result)


def _gained_nothing(run: Run, order: FixOrder, why: str) -> Run:
    if order.after_validation:
        return flow.end(run, Outcome.FAILED, f"validation failed ({why})")
    return flow.exhaust(run, why)


def _after_fix(run: Run, order: FixOrder) -> Run:
    if order.after_validation or run.protocol.validate.after_fix:
        return flow.to_validation(run)
    return flow.to_review(run)


def fix_failed(run: Run, phase: Fixing, event: WorkFailed) -> Run:
    """The fixer gave no result."""
    at_work = work.running(phase.work, phase.key, event.effect)
    run = work.count_failure(run, event)
    result = work.fail(event, at_work, work.assignment_of(run, phase), work.rule_of(run, phase))
    match result:
        case Ready() | Running() | Pausing():
            return replace(run, phase=replace(phase, work=result))
        case UseUpRound():
            # The next review, or the next validation, finds what was left; both are bounded.
            return _after_fix(_note_fix(run, phase.order, FixResult(status=FixStatus.DID_NOT_RUN)), phase.order)
        case GiveUp() | EndNow():
            run = _note_fix(run, phase.order, FixResult(status=FixStatus.DID_NOT_RUN))
            return _give_up(run, phase, event.failure, "the fixer")
