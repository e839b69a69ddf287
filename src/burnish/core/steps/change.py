"""The steps that change the tree: build and fix."""

from collections.abc import Collection

from burnish.core.events import DISTINCT, Built, Change, Fixed, WorkFailed
from burnish.core.finding_history import about_others, as_given, for_each_finding, left_open, move
from burnish.core.protocol import SkipReason, Unchanged
from burnish.core.state import (
    Building,
    Fixing,
    FixOrder,
    FixResult,
    FixStatus,
    Outcome,
    Run,
)
from burnish.core.steps import flow, work
from burnish.core.values import replace
from burnish.core.work import UseUpRound


def take(run: Run, change: Change, left: Collection[str] = ()) -> Run:
    """Make a change the tree under review. `left` are the findings that its author says it did not fix."""
    if change.tree == run.tree:
        return run
    return replace(move(run, change.files, left), commit=change.commit, tree=change.tree, changed=change.changed)


def take_session(run: Run, change: Change) -> Run:
    """Take what a session changed, which is the fix of its own round."""
    fix = FixResult(status=status_of(run, change), commit=change.commit)
    run = take(run, change)
    return run.with_last_round(fix=fix) if run.rounds else run


def built(run: Run, phase: Building, event: Built) -> Run:
    """The builder is done; what it made is validated and reviewed like anything else."""
    run, before = work.settle(run, phase, event.effect), run.tree
    run = replace(
        take(work.charge(run, event.usage), event.change),
        said=_all_said(run, event),
        picked=event.picked,
        out_of_work=event.out_of_work,
    )
    if event.picked or (event.out_of_work and run.tree == before):
        instead = f": the builder worked on {event.picked}" if event.picked else ""
        return flow.end(run, Outcome.SKIPPED, f"review skipped: {SkipReason.NOTHING_PICKED.value}{instead}")
    return flow.to_first_review(run)


def _all_said(run: Run, event: Built | Fixed) -> tuple[str, ...]:
    return (*run.said, event.said) if event.said else run.said


def build_failed(run: Run, phase: Building, event: WorkFailed) -> Run:
    """Without a change there is nothing to review."""
    run, final = work.fail_single(run, phase, event)
    if final is None:
        return run
    note = "; review skipped" if SkipReason.BUILD_FAILED in run.protocol.skip_when else ""
    return flow.give_up(run, replace(event.failure, message=f"{event.failure.message}{note}"), "the builder")


def fixed(run: Run, phase: Fixing, event: Fixed) -> Run:
    run = work.charge(work.settle(run, phase, event.effect), event.usage)
    changed = event.change.tree != run.tree
    restored = [past.number for past in run.rounds[:-1] if past.tree == event.change.tree]
    run = fix_kept(run, phase.order, event)
    exhausts = run.protocol.fix.unchanged is Unchanged.EXHAUSTED
    if phase.order.then_review:
        return _after_fix(run, phase.order) if changed else flow.to_review(run)
    if event.by_rule and not changed:
        # Whatever the protocol hopes for: asked again, it would give the same.
        return _gained_nothing(run, phase.order, "no automatic fix left")
    if exhausts and not changed:
        return _gained_nothing(run, phase.order, "the fix changed nothing")
    if exhausts and restored:
        return _gained_nothing(run, phase.order, f"the fix restored the tree of round {restored[0]}")
    return _after_fix(run, phase.order)


def fix_kept(run: Run, order: FixOrder, event: Fixed) -> Run:
    """The run with a fix in its round, with an answer for each finding that was handed over, and its tree."""
    result = FixResult(status=status_of(run, event.change), commit=event.change.commit)
    result = replace(result, summary=event.summary, text=event.text)
    if run.started.rules < DISTINCT:
        left = frozenset[str]()
        result = replace(result, answers=as_given(event.answers))
    else:
        answers = for_each_finding(order, event.answers)
        left = left_open(answers)
        result = replace(result, answers=answers, strays=about_others(order, event.answers))
    return replace(
        take(_note_fix(run, order, result), event.change, left),
        said=_all_said(run, event),
        out_of_work=run.out_of_work or event.out_of_work,
    )


def status_of(run: Run, change: Change) -> FixStatus:
    """What came of a fix: only the trees say whether it changed anything."""
    return FixStatus.FIXED if change.tree != run.tree else FixStatus.UNCHANGED


def _note_fix(run: Run, order: FixOrder, result: FixResult) -> Run:
    """Write the fix into its round; a repair after it adds to the same fix."""
    if not run.rounds:
        return run
    former = run.rounds[-1].fix
    if order.after_validation and former and result.status is not FixStatus.FIXED:
        return run
    if order.after_validation and former:
        # A repair is handed no findings: what was said of them before stays.
        text = "\n\n".join(filter(None, (former.text, result.text)))
        result = replace(result, text=text, answers=former.answers, strays=former.strays)
    return run.with_last_round(fix=result)


def _gained_nothing(run: Run, order: FixOrder, why: str) -> Run:
    if order.after_validation:
        return flow.end(run, Outcome.FAILED, f"validation failed ({why})")
    return flow.exhaust(run, why)


def _after_fix(run: Run, order: FixOrder) -> Run:
    if order.after_validation or run.protocol.validate.after_fix:
        return flow.to_validation(run)
    return flow.to_review(run)


def fix_failed(run: Run, phase: Fixing, event: WorkFailed) -> Run:
    run, final = work.fail_single(run, phase, event)
    if final is None:
        return run
    run = _note_fix(run, phase.order, FixResult(status=FixStatus.DID_NOT_RUN))
    if isinstance(final, UseUpRound):
        # The next review, or the next validation, finds what was left; both are bounded.
        return _after_fix(run, phase.order)
    return flow.give_up(run, event.failure, "the fixer")
