"""What a person says to a run: a choice, that it is to end, or something about a finding. Its driver is told.

An agent of burnish's own has no say: a gate that those who must pass it can open is none.
"""

import difflib
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime

from burnish.contracts.paths import confine
from burnish.core.budget import Cap
from burnish.core.events import (
    Cancelled,
    Decided,
    FindingAdded,
    FindingAnnotated,
    FindingRefuted,
    FindingWaived,
    Intent,
)
from burnish.core.finding_identity import anchored
from burnish.core.findings import Finding, FindingStatus, Location, Severity, Tracked
from burnish.core.protocol import Choice, ChoiceAction
from burnish.core.state import Ended, Run, Sealing, Stopping, Waiting
from burnish.core.steps.person import other_agent
from burnish.core.values import Value
from burnish.core.work import ProcessMark
from burnish.report.account import Account, RunSnapshot, short_ids, state_of
from burnish.runtime.context import context_of, has_context
from burnish.runtime.journal import RunError, intend
from burnish.runtime.runner import WAKE
from burnish.system import clock, process_table
from burnish.system.identifiers import ProcessIdentity, this_process
from burnish.usecases.runs import Runs, can_be_seen, named
from burnish.usecases.tell_run import tell
from burnish.workspace.errors import GitError
from burnish.workspace.repository import Repository

_RUN_MARKER = "BURNISH_RUN"
_DISMISSED = (FindingStatus.REFUTED, FindingStatus.WAIVED)


class IntentResult(Value):
    account: Account
    notices: tuple[str, ...] = ()


class NewFinding(Value):
    severity: Severity
    title: str
    file: str = ""
    line: int | None = None
    problem: str = ""


def submit_intent(runs: Runs, intent: Intent, name: str) -> IntentResult:
    """Append what a person intends, and wake the driver of the run. Where there is none, an end takes effect here."""
    if os.environ.get(_RUN_MARKER):
        raise RunError(
            "An agent cannot decide for a person: this command was called inside a run.",
            hint="Write it in your answer; a person decides outside the run.",
        )
    had_ended = isinstance(runs.load(name).phase, Ended)
    run = intend(runs.ledger, name, intent)
    driver = runs.driver(name)
    if driver is None:
        return _without_driver(runs, run)
    # After the end the driver only puts the result where it belongs: it waits for nothing, and is not disturbed.
    if not had_ended:
        wake(driver)
    return IntentResult(account=tell(runs.repository, RunSnapshot(run=run, driver=driver)))


def _without_driver(runs: Runs, run: Run) -> IntentResult:
    """What needs no agent is done here and now."""
    from burnish.usecases.finish_run import finish_run  # noqa: PLC0415 - most intents need no driver

    done = finish_run(runs.repository, runs.ledger, run.id, os.environ)
    if done is None:
        return IntentResult(account=tell(runs.repository, RunSnapshot(run=run)))
    return IntentResult(account=done.account, notices=done.notices)


def wake(driver: ProcessIdentity) -> None:
    """Only the very process that holds the lease: the signal would end any other one."""
    if can_be_seen(driver) and driver != this_process():
        process_table.SYSTEM.tell([ProcessMark(pid=driver.pid, started=float(driver.started))], WAKE)


def decide_run(
    runs: Runs, name: str, key: str, *, note: str = "", agent: str | None = None, by: str = ""
) -> IntentResult:
    run = runs.load(name)
    choice = _offered(run, key)
    agent = chosen_agent(run, choice, agent)
    return submit_intent(runs, Decided(at=clock.now(), choice=choice.key, note=note, by=by, agent=agent), name)


def _offered(run: Run, key: str) -> Choice:
    phase = run.phase
    if not isinstance(phase, Waiting):
        raise RunError(
            f"{run.id} {_doing(run)}; there is nothing to decide.", hint=f"'burnish show {run.id}' shows it."
        )
    choice = chosen(phase.choices, key)
    if choice is None:
        keys = ", ".join(offered.key for offered in phase.choices)
        raise RunError(
            f"'{key}' is not a choice of {run.id}. Choose one of {keys}.",
            hint=f"'burnish status {run.id}' explains them.",
        )
    return choice


def chosen(choices: Sequence[Choice], key: str) -> Choice | None:
    """The choice that a person means, in capitals or not."""
    fitting = [choice for choice in choices if choice.key.casefold() == key.strip().casefold()]
    return next((choice for choice in fitting if choice.key == key), fitting[0] if fitting else None)


def chosen_agent(run: Run, choice: Choice, agent: str | None) -> str | None:
    """Who reviews after this choice, where it calls another agent. Raises `RunError` where there is no other."""
    if agent is not None:
        _check_agent(run, choice, agent)
        return agent
    if choice.action is not ChoiceAction.ANOTHER_AGENT:
        return None
    other = other_agent(run)
    if other is None:
        known = _agents(run)
        raise RunError(
            f"The choice '{choice.key}' needs another agent, and {run.id} has none.",
            hint="Name it with --agent NAME" + (f": {named(known)}." if known else "."),
        )
    return other


def _check_agent(run: Run, choice: Choice, agent: str) -> None:
    if choice.action is not ChoiceAction.ANOTHER_AGENT:
        raise RunError(f"The choice '{choice.key}' does not use another agent.", hint="Omit --agent.")
    known = _agents(run)
    if known and agent not in known:
        raise RunError(f"This run has no agent '{agent}'.", hint=f"Its agents are {named(known)}.")
    if known and Cap.TOKENS not in run.started.budget.caps:
        _check_price(run, agent)


def _check_price(run: Run, agent: str) -> None:
    """An agent that is called must have some cap."""
    from burnish.usecases.allocate_budget import has_price  # noqa: PLC0415 - most intents need no prices

    settings = context_of(run).settings.agent(agent)
    if settings is not None and not has_price(settings):
        raise RunError(
            f"The cost of '{agent}' cannot be counted, and this run has no cap on tokens.",
            hint=f"Choose another agent, or start a new run with --agent {agent}.",
        )


def _agents(run: Run) -> Sequence[str]:
    """The agents that were configured when the run began; none are known of a run that was begun without."""
    return context_of(run).settings.agent_names if has_context(run.started) else ()


def cancel_run(runs: Runs, name: str, *, note: str = "", by: str = "") -> IntentResult:
    run = runs.load(name)
    if isinstance(run.phase, Ended | Stopping | Sealing):
        raise RunError(f"{name} {_doing(run)}; it cannot be cancelled.", hint=f"'burnish show {name}' shows it.")
    return submit_intent(runs, Cancelled(at=clock.now(), note=note, by=by), name)


def _doing(run: Run) -> str:
    match run.phase:
        case Ended():
            return f"has already ended ({run.phase.outcome.value})"
        case Stopping():
            return f"is already ending ({run.phase.outcome.value})"
        case Sealing():
            return "is being sealed"
        case _:
            return f"is {state_of(run)}"


def find_finding(run: Run, reference: str) -> Tracked:
    fitting = [entry for entry in run.findings if reference and entry.finding.id.startswith(reference)]
    exact = [entry for entry in fitting if entry.finding.id == reference]
    if len(exact or fitting) == 1:
        return (exact or fitting)[0]
    if fitting:
        ids = named([entry.finding.id for entry in fitting])
        raise RunError(f"'{reference}' matches {len(fitting)} findings: {ids}.", hint="Type more of the id.")
    raise RunError(f"{run.id} has no finding '{reference}'.", hint=_near(run, reference))


def _near(run: Run, reference: str) -> str:
    ids = short_ids(run)
    by_id = difflib.get_close_matches(reference, [*ids, *ids.values()], n=3, cutoff=0.5)
    # A person may well have typed a word of the title.
    findings = [entry.finding for entry in run.findings]
    by_title = [one.id for one in findings if reference and reference.casefold() in one.title.casefold()]
    near = list(dict.fromkeys(ids.get(name, name) for name in (*by_id, *by_title)))
    return f"Did you mean {named(near)}?" if near else f"'burnish findings {run.id}' lists them."


def refute_finding(runs: Runs, name: str, reference: str, *, evidence: str, by: str = "") -> IntentResult:
    finding = _open_finding(runs.load(name), reference)
    text = _said(
        evidence, "A refutation needs evidence.", "Use --evidence to say what proves that the finding is false."
    )
    return submit_intent(runs, FindingRefuted(at=clock.now(), finding=finding, evidence=text, by=by), name)


def waive_finding(runs: Runs, name: str, reference: str, *, reason: str, by: str = "") -> IntentResult:
    finding = _open_finding(runs.load(name), reference)
    text = _said(reason, "A waiver needs a reason.", "Use --reason to say why you accept the risk.")
    return submit_intent(runs, FindingWaived(at=clock.now(), finding=finding, reason=text, by=by), name)


def lasting_waiver(entry: Tracked) -> str:
    """The lines of the base's burnish.toml with which a person's word on a finding is the project's own."""
    finding = entry.finding
    place = finding.location.file if finding.location else ""
    day = datetime.fromtimestamp(entry.dismissed_at, UTC).date().isoformat() if entry.dismissed_at else ""
    values = {
        "finding": finding.id,
        "reason": entry.note,
        "about": ": ".join(part for part in (place, finding.title) if part),
        "by": entry.dismissed_by,
        "date": day,
    }
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value)
    return "\n".join(("[[waivers]]", *lines))


def dismissed(run: Run) -> tuple[Tracked, ...]:
    """The findings that a person refuted or waived."""
    return tuple(entry for entry in run.findings if entry.status in _DISMISSED and entry.dismissed_at)


def annotate_finding(runs: Runs, name: str, reference: str, *, note: str, by: str = "") -> IntentResult:
    finding = find_finding(runs.load(name), reference).finding.id
    text = _said(note, "The note is empty.", "Use --note to say what the fixer should know.")
    return submit_intent(runs, FindingAnnotated(at=clock.now(), finding=finding, note=text, by=by), name)


def _open_finding(run: Run, reference: str) -> str:
    entry = find_finding(run, reference)
    if entry.status in _DISMISSED:
        raise RunError(
            f"The finding {reference} is already {entry.status.value}: {entry.note}",
            hint=f"'burnish findings {run.id}' lists the open findings.",
        )
    return entry.finding.id


def _said(text: str, message: str, hint: str) -> str:
    if not text.strip():
        raise RunError(message, hint=hint)
    return text.strip()


def add_finding(runs: Runs, name: str, new: NewFinding, *, by: str = "") -> IntentResult:
    """A person's own finding goes to the fixer with the others."""
    run = runs.load(name)
    title = _said(new.title, "A finding needs a title.", "Use --title to say what is wrong.")
    if not isinstance(run.phase, Waiting):
        raise RunError(
            f"You can add a finding only while a run is waiting for a person; {name} is not.",
            hint=f"'burnish show {name}' shows its state.",
        )
    finding = Finding(
        severity=new.severity,
        title=title,
        location=_place(runs.repository, run, new),
        problem=new.problem.strip(),
    )
    (finding,) = anchored((finding,), lambda path: _lines(runs.repository, run, path))
    return submit_intent(runs, FindingAdded(at=clock.now(), finding=finding, by=by), name)


def _place(repository: Repository, run: Run, new: NewFinding) -> Location | None:
    if not new.file:
        if new.line is not None:
            raise RunError("--line needs --file.", hint="Add --file.")
        return None
    path = confine(new.file, lambda name: _lines(repository, run, name) is not None)
    lines = None if path is None else _lines(repository, run, path)
    if path is None or lines is None:
        raise RunError(
            f"There is no file '{new.file}' in the tree under review.",
            hint=f"Use a path relative to the root of the repository, as in {run.commit[:12]}.",
        )
    if new.line is not None and not 1 <= new.line <= len(lines):
        raise RunError(f"'{path}' has no line {new.line}.", hint=f"It has {len(lines)} lines in {run.commit[:12]}.")
    return Location(file=path, line=new.line)


def _lines(repository: Repository, run: Run, path: str) -> list[str] | None:
    """A file of the tree under review, which need not be checked out."""
    try:
        content = repository.read_file(run.commit, path)
    except GitError:
        return None
    return None if content is None else content.decode("utf-8", errors="replace").splitlines()
