"""`burnish doctor`: what a review needs, part by part, with the remedy where something is missing."""

import os
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

import click
from msgspec import to_builtins

from burnish.cli.options import json_option
from burnish.report.json_objects import VERSION
from burnish.report.output import Line, Tone, Toned, flat, print_json, print_lines, wrapped
from burnish.usecases.check_setup import Diagnosis, Health, check_setup

_HELP = """Check everything that a review needs here: git, policy, sandbox, analysers, tests, agents, hooks and ledger.

Nothing is changed, no model is called, and no test is run.

Exit codes: 0 a review can run, 1 something is in its way."""


class CheckObject(TypedDict):
    part: str
    """`git`, `policy`, `sandbox` …"""
    health: Annotated[str, Health]
    says: str
    remedy: NotRequired[str]


class DoctorObject(TypedDict):
    """What `burnish doctor` prints."""

    version: int
    checks: list[CheckObject]


_MARKS = {
    Health.GOOD: Toned("✓", Tone.GOOD),
    Health.NOTE: Toned("!", Tone.CAREFUL),
    Health.BAD: Toned("✗", Tone.BAD),
}
_INDENT = " " * 14


@click.command("doctor", help=_HELP)
@json_option
def doctor(*, as_json: bool) -> int:
    found = list(check_setup(Path.cwd(), os.environ))
    if as_json:
        print_json(DoctorObject(version=VERSION, checks=[to_builtins(each) for each in found]))
    else:
        print_lines(line for each in found for line in _lines(each))
    return 1 if any(each.health is Health.BAD for each in found) else 0


def _lines(diagnosis: Diagnosis) -> list[Line]:
    first, *more = wrapped([flat(diagnosis.says)], "", _INDENT)[0].splitlines()
    lines: list[Line] = [(_MARKS[diagnosis.health], f" {diagnosis.part:<12}{first}"), *((line,) for line in more)]
    return lines + ([(f"{_INDENT}{flat(diagnosis.remedy)}",)] if diagnosis.remedy else [])
