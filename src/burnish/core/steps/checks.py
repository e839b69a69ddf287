"""Validation before a review, and the seal after the last one: burnish's own work."""

from burnish.core.events import Sealed, Validated, ValidationStatus, WorkFailed
from burnish.core.state import Ended, Outcome, Run, Sealing, Validating, Validation
from burnish.core.steps import flow, work
from burnish.core.values import replace


def validated(run: Run, phase: Validating, event: Validated) -> Run:
    """A tree that fails the project's own commands is never sealed, and reviewed only where that was done before."""
    run = work.charge(work.settle(run, phase, event.effect), event.usage)
    run = replace(run, validation=Validation(status=event.status, output=event.output, tree=run.tree))
    if event.status is not ValidationStatus.FAILED:
        run = replace(run, failed_validations=0)
        return flow.settle_approval(run, phase.approval) if phase.approval else flow.to_review(run)
    if phase.approval is not None and phase.approval.accepted:
        return flow.settle_approval(run, phase.approval)
    failures = run.failed_validations + 1
    run = replace(run, failed_validations=failures)
    if not run.may_fix:
        look_anyway = not run.started.enforced and not run.rounds
        return flow.to_review(run) if look_anyway else flow.end_unmet(run, Outcome.FAILED, "validation failed")
    if failures > run.protocol.limits.validation_fixes:
        return flow.end(run, Outcome.FAILED, f"validation failed {failures} times in a row")
    if len(run.rounds) >= run.limit:
        # What a fixer made of it could not be reviewed any more.
        return flow.exhaust(run, "validation failed after the last review")
    return flow.to_fix(replace(run, repairs=run.repairs + 1), flow.repair_order(run, event.output))


def sealed(run: Run, phase: Sealing, event: Sealed) -> Run:
    work.running(phase.work, phase.key, event.effect)
    ended = Ended(outcome=phase.outcome, reason=phase.reason)
    return replace(run, seal=event.digest, seal_kinds=phase.kinds, phase=ended)


def own_work_failed(run: Run, phase: Validating | Sealing, event: WorkFailed) -> Run:
    """A command that cannot run, or a seal that cannot be stored, is infrastructure, never a verdict."""
    run, final = work.fail_single(run, phase, event)
    task = "validation" if isinstance(phase, Validating) else "sealing"
    return flow.end(run, Outcome.DID_NOT_RUN, f"{task} did not run: {event.failure.message}") if final else run
