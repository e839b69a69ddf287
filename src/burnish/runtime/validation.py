"""The project's own commands, run on a throwaway clone of the tree. One that cannot run is infrastructure."""

import asyncio
import os
from pathlib import Path
from typing import NamedTuple

from burnish.agents.analysers import added_secrets
from burnish.agents.project_copies import prepared_view
from burnish.contracts.coverage import REPORTS, Coverage, coverage_of
from burnish.core.effects import StartValidation
from burnish.core.events import AnyEvent, Validated, ValidationStatus, WorkFailed
from burnish.core.findings import Finding
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.state import Run
from burnish.core.values import Value
from burnish.prompts.fences import visible
from burnish.runtime.prompting import incomplete_criteria
from burnish.runtime.services import LocalServices
from burnish.settings.types import ValidationCommand
from burnish.system import clock
from burnish.system.nofollow import write_new
from burnish.system.process import Command, Finished, How, ProcessLimits
from burnish.workspace.clones import Clone
from burnish.workspace.folders import read_inside
from burnish.workspace.views import CopyView

OUTPUT_TAIL = 8_000


class TreeToValidate(NamedTuple):
    base: str
    """The commit whose scripts the commands start."""
    commit: str
    changed: tuple[str, ...]
    """The files that differ from the base."""


async def validate(services: LocalServices, effect: StartValidation, run: Run, stop: asyncio.Event) -> AnyEvent:
    """Run every command until one fails; for a ticket of an epic, check its criteria and scan it for secrets as well.

    These come last: what fails lint, types or tests is changed anyway. A protocol may ask for the criteria before that.
    """
    tree = TreeToValidate(
        base=run.subject.base_commit, commit=effect.commit, changed=tuple(file.path for file in run.changed)
    )
    if run.protocol.validate.acceptance:
        return await _check_ticket(services, effect, run, stop) or await validate_tree(services, effect.id, tree, stop)
    validated = await validate_tree(services, effect.id, tree, stop)
    is_good = isinstance(validated, Validated) and validated.status is not ValidationStatus.FAILED
    if not services.context.epic or not is_good:
        return validated
    return await _check_ticket(services, effect, run, stop) or validated


async def _check_ticket(
    services: LocalServices, effect: StartValidation, run: Run, stop: asyncio.Event
) -> Validated | WorkFailed | None:
    """What is wrong with a ticket beside the project's own commands."""
    missing = incomplete_criteria(services, run)
    if missing:
        return _validated(effect.id, ValidationStatus.FAILED, [_words(missing)], 0.0)
    if not services.context.epic or not services.settings.epics.secrets:
        return None
    secrets = await added_secrets(services, run, stop)
    if isinstance(secrets, Failure):
        return WorkFailed(at=clock.now(), effect=effect.id, failure=secrets)
    return _validated(effect.id, ValidationStatus.FAILED, [_secret_words(secrets)], 0.0) if secrets else None


async def validate_tree(
    services: LocalServices, effect: str, tree: TreeToValidate, stop: asyncio.Event
) -> Validated | WorkFailed:
    """Run the project's own commands on a tree."""
    commands = services.settings.validate.commands
    if not commands:
        return Validated(at=clock.now(), effect=effect, status=ValidationStatus.SKIPPED)
    clone = await services.clone(effect.replace(":", "-"), tree.base, tree.commit, writable=True)
    seconds = 0.0
    outputs: list[str] = []
    try:
        view = await prepared_view(services, clone, effect, stop, list(tree.changed))
        if isinstance(view, Failure):
            return WorkFailed(at=clock.now(), effect=effect, failure=view)
        await asyncio.to_thread(_take_from_base, services, tree.base, clone)
        before = stamps(clone.path)
        for name, command in commands.items():
            finished = await _run(services, effect, command, view, stop)
            seconds += finished.seconds
            failure = _infrastructure(name, command, finished)
            if failure is not None:
                return WorkFailed(at=clock.now(), effect=effect, failure=failure, usage=Usage(seconds=seconds))
            said = f"$ {command.text}\n"
            outputs.append(f"{said}{finished.tail(max(1_000, OUTPUT_TAIL - len(said)))}")
            if finished.code != 0:
                return _validated(effect, ValidationStatus.FAILED, outputs[-1:], seconds)
        coverage = check_coverage(clone.path, before, services.settings.validate.coverage_floor)
    finally:
        await asyncio.to_thread(services.clones.remove, clone)
    status = ValidationStatus.FAILED if coverage.fails else ValidationStatus.PASSED
    return _validated(effect, status, [*outputs, *filter(None, [coverage.words])], seconds)


def _words(missing: tuple[str, ...]) -> str:
    lines = ["Acceptance criteria that are not met:", *(f"- {visible(criterion)}" for criterion in missing)]
    return "\n".join([*lines, "Meet them, and say so in your answer, one line each: `- 1: met - how`."])


def _secret_words(secrets: tuple[Finding, ...]) -> str:
    places = [one.location for one in secrets]
    lines = [
        f"- {visible(one.title)}" + (f" ({visible(place.file)}:{place.line})" if place else "")
        for one, place in zip(secrets, places, strict=True)
    ]
    return "\n".join(["The change adds secrets:", *lines, "Remove them, and read them from the environment."])


def _validated(effect: str, status: ValidationStatus, outputs: list[str], seconds: float) -> Validated:
    output = "\n\n".join(outputs)[-OUTPUT_TAIL:]
    return Validated(at=clock.now(), effect=effect, status=status, output=output, usage=Usage(seconds=seconds))


def _take_from_base(services: LocalServices, base: str, clone: Clone) -> None:
    """The scripts that the commands start are the base's: a change must not rewrite what it is validated by."""
    for command in services.settings.validate.commands.values():
        for name in command.scripts:
            content = services.repository.read_file(base, name)
            if content is not None and content != services.repository.read_file(clone.head, name):
                write_new(clone.path, name, content, mode=0o755, make=True)


async def _run(
    services: LocalServices, effect: str, command: ValidationCommand, view: CopyView, stop: asyncio.Event
) -> Finished:
    folder = str(view.folder)
    started = Command(argv=command.arguments, folder=folder, environment=services.tool_environment())
    limits = ProcessLimits(seconds=services.settings.timeouts.validation)
    network = not services.context.governance.offline.validate
    writable = (folder,)
    return await services.run_command(
        started, limits, effect=effect, writable=writable, stop=stop, network=network, view=view
    )


def _infrastructure(name: str, command: ValidationCommand, finished: Finished) -> Failure | None:
    """Why a command did not run, where it did not."""
    shown = f"validate.{name} ('{command.text}')"
    if finished.how is How.TIMED_OUT:
        return Failure(kind=FailureKind.TIMED_OUT, message=f"{shown} timed out")
    if finished.how is not How.EXITED or finished.cannot_run:
        detail = finished.message or finished.stderr_tail.strip()[-300:] or f"exit code {finished.code}"
        return Failure(kind=FailureKind.CANNOT_RUN, message=f"{shown} cannot run: {detail}")
    return None


_MOST_BYTES = 256 * 1024 * 1024

Stamps = dict[str, tuple[int, int, int] | None]
"""Which file has each report's name, if one has."""


class CoverageCheck(Value):
    """What is said of the coverage, and whether it suffices."""

    words: str = ""
    fails: bool = False


def stamps(folder: Path) -> Stamps:
    """The reports that are there before the commands run: a committed one says nothing of this tree."""
    return {name: _stamp(folder / name) for name in REPORTS}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_coverage(folder: Path, before: Stamps, floor: float | None) -> CoverageCheck:
    """Where several reports were left, the lowest counts. What was not measured does not reach a floor."""
    if floor is None:
        return CoverageCheck()
    reports = [_report(folder, name) for name in REPORTS if _stamp(folder / name) not in (None, before[name])]
    unread = [report.report for report in reports if report.percent is None]
    percents = {report.report: report.percent for report in reports if report.percent is not None}
    if unread or not percents:
        return CoverageCheck(words=_unmeasured(unread, floor), fails=True)
    name, lowest = min(percents.items(), key=lambda measured: measured[1])
    below = lowest < floor
    relation = "below" if below else "not below"
    return CoverageCheck(words=f"Coverage: {lowest:.2f} % ({name}), {relation} the floor of {floor:g} %.", fails=below)


def _report(folder: Path, name: str) -> Coverage:
    """What a report says. A link, a pipe and half of a report say nothing."""
    content = read_inside(folder, name, _MOST_BYTES + 1)
    if content is None or len(content) > _MOST_BYTES:
        return Coverage(report=name, percent=None)
    return coverage_of(name, content)


def _unmeasured(unread: list[str], floor: float) -> str:
    """Why nothing was measured, and what to do about it."""
    if unread:
        why = f"{', '.join(unread)} cannot be read as a coverage report"
        advice = "Make the [validate] commands write a regular file with a total from 0 to 100 %"
    else:
        why = f"the commands wrote none of {', '.join(REPORTS)}"
        advice = "Make a [validate] command write one (pytest: --cov --cov-report=json)"
    return f"Coverage: not measured, though the floor is {floor:g} %: {why}. {advice}, or remove coverage_floor."
