"""What to do next about a run: one sentence with the very command to type."""

import shlex

from burnish.core.budget import Cap
from burnish.core.events import Mode
from burnish.core.protocol import ChoiceAction
from burnish.core.spending import used
from burnish.core.state import Ended, Outcome, Run, SealKind, Waiting
from burnish.usecases.runs import Sighting
from burnish.workspace.errors import WorkspaceError
from burnish.workspace.repository import Repository


def next_step(sighting: Sighting, *, taken: bool | None = None) -> str:
    """The next step. `taken` says whether the branch has the run's result, where there is one and that is known."""
    run = sighting.run
    match run.phase:
        case Waiting():
            return _decision(run, run.phase)
        case Ended():
            return _after(run, run.phase.outcome, taken=taken)
        case _ if sighting.interrupted:
            return f"burnish resume {run.id} goes on with it"
        case _:
            return f"burnish wait {run.id} waits for its end; burnish logs -f {run.id} shows it at work"


def _decision(run: Run, phase: Waiting) -> str:
    keys = "|".join(choice.key for choice in phase.choices)
    agent = any(choice.action is ChoiceAction.ANOTHER_AGENT for choice in phase.choices)
    return f"burnish decide {run.id} {keys}" + (" [--agent NAME]" if agent else "") + " [--note TEXT]"


def _after(run: Run, outcome: Outcome, *, taken: bool | None) -> str:
    match outcome:
        case Outcome.APPROVED | Outcome.ACCEPTED:
            return _take(run) if taken is False else _verify(run)
        case Outcome.FAILED | Outcome.STOPPED if run.started.mode is Mode.REVIEW:
            return f"{_start(run, Mode.FIX)} has the findings fixed"
        case Outcome.FAILED | Outcome.STOPPED | Outcome.BLOCKED:
            start = f"{_take(run)}, fix" if taken is False else "Fix"
            return f"{start} what blocks by hand, then {_again(run)}"
        case Outcome.UNPROVEN:
            return f"Name a model for review in burnish.toml, or have the tests run, then {_again(run)}"
        case Outcome.SKIPPED:
            return f"{_again(run)} reviews it after all"
        case Outcome.DID_NOT_RUN:
            return f"burnish logs {run.id} shows what went wrong; {_again(run)} tries again"
        case Outcome.OVER_BUDGET:
            kept = f"{_take(run)}, for it is paid for; then " if taken is False else ""
            return f"{kept}{_with_more(run)}"
        case Outcome.CANCELLED:
            return f"{_again(run)} starts anew"


def _take(run: Run) -> str:
    return f"Take the result into {run.subject.branch} with git merge --ff-only {run.commit[:12]}"


def _with_more(run: Run) -> str:
    """The same command with twice as much of what ran out, which is the cap of which most is used up."""
    budget, amounts = run.started.budget, used(run)
    caps = budget.caps
    cap = max(caps, key=lambda each: amounts[each] / caps[each] if caps[each] else 1.0, default=Cap.COST)
    if cap not in caps or cap.value in budget.wider:
        table = "limits.ticket" if cap.value in budget.wider else "limits"
        return f"raise {cap.value} of [{table}] in burnish.toml, then {_again(run)}"
    return f"BURNISH_{cap.value.upper()}={caps[cap] * 2:.15g} {_again(run)} starts anew with twice the budget"


def _verify(run: Run) -> str:
    if not run.seal:
        return f"It carries no seal; {_again(run)} can earn one"
    return f"burnish verify {shlex.quote(run.subject.branch)}{_allowing(run)} checks the seal"


def _allowing(run: Run) -> str:
    """What `verify` must be told to accept a seal that is less than an approval."""
    return "".join(f" --allow {kind.value}" for kind in run.seal_kinds if kind is not SealKind.APPROVED)


def _again(run: Run) -> str:
    return _start(run, run.started.mode)


def _start(run: Run, mode: Mode) -> str:
    subject = run.subject
    return f"burnish {mode.value} --branch {shlex.quote(subject.branch)} --base {shlex.quote(subject.base)}"


def is_taken(repository: Repository, run: Run) -> bool | None:
    """Whether the subject's branch holds the run's result; None where it has none, or that cannot be told."""
    if run.commit == run.subject.head:
        return None
    try:
        return repository.is_ancestor(run.commit, repository.commit_of(run.subject.branch))
    except WorkspaceError:
        return None
