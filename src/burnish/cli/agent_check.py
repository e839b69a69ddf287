"""`burnish agent check`: one real call, and what is wrong if it fails."""

import os
from pathlib import Path
from typing import Any

import click

from burnish.cli.output import complain, print_json, say
from burnish.cli.run_answers import json_option
from burnish.cli.screen import flat
from burnish.core.budget import dollars
from burnish.core.errors import ErrorKind
from burnish.core.reviews import Usage
from burnish.usecases.agent_advice import Advice, advice
from burnish.usecases.agent_checks import COST_USD, Checked, check_agent
from burnish.usecases.agents import AgentRow, Readiness, look_at, settle_place
from burnish.usecases.planning import refuse_inside
from burnish.usecases.run_view import VERSION

_HELP = f"""Have NAME answer one small, real request, in the same sandbox and on the same path as a review.

An agent that is paid for is paid for this call, too: ${COST_USD:.2f} at most, as far as its client can be held to it.

Exit codes: 0 when it can be used, 4 when not, 2 when nobody knows it."""


@click.command("check", help=_HELP)
@click.argument("name", metavar="NAME")
@json_option
def check(name: str, *, as_json: bool) -> int:
    refuse_inside(os.environ)
    place = settle_place(Path.cwd(), os.environ)
    row = look_at(place, name, os.environ)
    if row.readiness in (Readiness.NOT_INSTALLED, Readiness.BROKEN):
        found = Advice(problem=f"It is {row.readiness.value}.", hint=row.remedy)
        return _report(row, found, Checked(name=name), as_json=as_json)
    complain(_announcement(row))
    checked = check_agent(place, name, os.environ)
    return _report(row, advice(place, checked, os.environ), checked, as_json=as_json)


def _announcement(row: AgentRow) -> str:
    who = f"{row.name} ({row.kind.value}{f', model {row.model}' if row.model else ''})"
    if row.paid:
        return f"Making one paid call, ${COST_USD:.2f} at most: {flat(who)} …"
    return f"Trying {flat(who)} on a small repository …"


def _report(row: AgentRow, found: Advice | None, checked: Checked, *, as_json: bool) -> int:
    if as_json:
        print_json(_view(row, found, checked))
    elif found is None:
        say(f"ok: {row.name} can be used. It took {_used(checked.usage)}.")
        for note in checked.notes:
            say(f"note: {flat(note)}")
    else:
        for line in checked.log:
            complain(f"  | {flat(line)}")
        complain(f"{row.name} cannot be used: {flat(found.problem)}")
        complain(f"hint: {flat(found.hint)}")
    return 0 if found is None else ErrorKind.INFRASTRUCTURE.exit_code


def _used(usage: Usage) -> str:
    parts = [f"{usage.seconds:.1f} s", *([f"{usage.tokens:,} tokens"] if usage.tokens else [])]
    return ", ".join([*parts, *([f"${dollars(usage.cost_usd)}"] if usage.cost_usd else [])])


def _view(row: AgentRow, found: Advice | None, checked: Checked) -> dict[str, Any]:
    failure = checked.failure
    return {
        "version": VERSION,
        "agent": row.name,
        "kind": row.kind.value,
        "model": row.model,
        "usable": found is None,
        "failure": None if failure is None else {"kind": failure.kind.value, "message": failure.message},
        "problem": "" if found is None else found.problem,
        "hint": "" if found is None else found.hint,
        "notes": list(checked.notes),
        "usage": {
            "seconds": round(checked.usage.seconds, 3),
            "tokens": checked.usage.tokens,
            "cost_usd": round(checked.usage.cost_usd, 6),
        },
    }
