"""`burnish agent list`: who could review, fix and build here, and what is missing."""

import os
from pathlib import Path
from typing import Any

import click

from burnish.cli.output import complain, print_json
from burnish.cli.run_answers import json_option
from burnish.cli.screen import Line, Part, Tone, Toned, show_lines
from burnish.cli.tables import table
from burnish.core.values import replace
from burnish.settings.types import DEFAULT_COST_USD, BudgetLimits
from burnish.usecases.agents import AgentRow, Readiness, list_agents, settle_place, with_versions
from burnish.usecases.run_view import VERSION

_HELP = """List the agents of this repository and of your own settings, and the kinds that need no settings.

Looks at files and variables only: no model is asked, and nothing is sent anywhere. 'burnish agent check NAME' makes a
real call."""

_HEADS = ("NAME", "KIND", "MODEL", "STATE", "USED FOR", "COST", "PROGRAM")


@click.command("list", help=_HELP)
@click.option("--versions", is_flag=True, help="Ask the clients for their versions, which may take some seconds.")
@json_option
def list_command(*, versions: bool, as_json: bool) -> int:
    place = settle_place(Path.cwd(), os.environ)
    for notice in place.notices:
        complain(f"note: {notice}")
    rows = list_agents(place, os.environ)
    if versions:
        rows = with_versions(place, rows, os.environ)
    limits = place.settings.limits
    limits = replace(limits, cost_usd=limits.cost_usd or DEFAULT_COST_USD)
    if as_json:
        print_json({"version": VERSION, "agents": [row_view(row) for row in rows], "limits": _limits_view(limits)})
    else:
        show_lines([*table(_HEADS, [_cells(row) for row in rows]), *_remarks(rows, limits)])
    return 0


def row_view(row: AgentRow) -> dict[str, Any]:
    """An agent as an object for programs."""
    price = row.price
    return {
        "name": row.name,
        "kind": row.kind.value,
        "model": row.model,
        "configured": row.configured,
        "state": row.readiness.value,
        "usable": row.readiness.is_good,
        "hint": row.remedy,
        "program": row.program or None,
        "version": row.version or None,
        "roles": list(row.roles),
        "paid": row.paid,
        "price": None if price is None else {"input": price.input, "cached": price.cached, "output": price.output},
        "names_cost": row.names_cost,
    }


def _limits_view(limits: BudgetLimits) -> dict[str, Any]:
    return {"cost_usd": limits.cost_usd, "tokens": limits.tokens, "minutes": limits.minutes}


def _cells(row: AgentRow) -> tuple[Part, ...]:
    program = f"{row.program} ({row.version})" if row.version else row.program
    return row.name, row.kind.value, row.model, _state(row), ", ".join(row.roles), _cost(row), program


def _state(row: AgentRow) -> Part:
    match row.readiness:
        case Readiness.USABLE:
            tone = Tone.GOOD
        case Readiness.LOGIN_UNKNOWN:
            tone = Tone.CAREFUL
        case _:
            # Nobody misses what nobody uses.
            tone = Tone.BAD if row.roles else Tone.FAINT
    return Toned(row.readiness.value, tone)


def _cost(row: AgentRow) -> str:
    if not row.paid:
        return "nothing" if row.paid is False else "its own affair"
    if row.price is not None:
        return f"${row.price.input:g} in, ${row.price.output:g} out"
    return "as it says" if row.names_cost else "price unknown"


def _remarks(rows: tuple[AgentRow, ...], limits: BudgetLimits) -> list[Line]:
    remedies: list[Line] = [(f"{row.name} is {row.readiness.value}: {row.remedy}",) for row in rows if row.remedy]
    caps = [f"${limits.cost_usd:g}", *([f"{limits.tokens:,} tokens"] if limits.tokens is not None else [])]
    caps += [f"{limits.minutes:g} minutes"] if limits.minutes is not None else []
    return [(), *remedies, (f"Prices are for a million tokens. Whoever is paid may use {', '.join(caps)} in a run.",)]
