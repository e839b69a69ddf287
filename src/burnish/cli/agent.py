"""`burnish agent`: list the agents that could review, fix and build here, and check one by a real call."""

import os
from pathlib import Path
from typing import Annotated, TypedDict

import click
from msgspec import to_builtins

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.cli.options import json_option
from burnish.core.budget import dollars
from burnish.core.errors import ErrorKind
from burnish.core.reviews import Usage
from burnish.core.values import replace
from burnish.report.json_objects import VERSION, usage_object
from burnish.report.json_types import CapsObject, FailureObject, UsageObject
from burnish.report.output import (
    Line,
    Part,
    Tone,
    Toned,
    flat,
    print_error,
    print_json,
    print_line,
    print_lines,
    table,
)
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import DEFAULT_COST_USD, BudgetLimits
from burnish.usecases.check_agents import COST_USD, AgentCheck, check_agent
from burnish.usecases.list_agents import (
    AgentRow,
    Readiness,
    list_agents,
    resolve_local_settings,
    with_versions,
)

_CLIENTS = ", ".join(kind.value for kind in AgentKind if kind.is_paid and not kind.needs_command)
_HELP = f"""List and check agents: the programs and models that review, fix and build.

Define an agent in a table [agents.NAME] of burnish.toml or of your own settings. The model clients ({_CLIENTS})
and the embedded analysers need no table: use the kind as the name."""

_LIST_HELP = """List the agents of this repository and of your own settings, and the kinds that need no settings.

This reads files and variables only: it calls no model and sends nothing. 'burnish agent check NAME' makes a real
call."""

_CHECK_HELP = f"""Send NAME one small, real request, in the same sandbox and through the same code as a review.

A paid agent charges for this call: at most ${COST_USD:.2f}, if its client can enforce a limit.

Exit codes: 0 the agent works, 4 it does not work, 2 there is no such agent."""

_HEADS = ("NAME", "KIND", "MODEL", "STATE", "USED FOR", "COST", "PROGRAM")

agent = LazyGroup(
    "agent",
    {
        "list": LazyCommand(
            "burnish.cli.agent:list_command", "Commands", "List the agents and what each one still needs."
        ),
        "check": LazyCommand(
            "burnish.cli.agent:check_command", "Commands", "Make one small, real call and report what is wrong."
        ),
    },
    help_text=_HELP,
)


class PriceObject(TypedDict):
    """US dollars for a million tokens."""

    input: float
    cached: float
    output: float


class AgentObject(TypedDict):
    name: str
    kind: Annotated[str, AgentKind]
    model: str
    configured: bool
    """Whether settings have a table for it."""
    state: Annotated[str, Readiness]
    usable: bool
    hint: str
    """What would make it usable."""
    program: str | None
    version: str | None
    """With `--versions`."""
    roles: list[str]
    paid: bool | None
    """Whether its calls cost money; null if that is not known."""
    price: PriceObject | None
    """Null if it is not known."""
    names_cost: bool
    """Whether the agent itself reports what a call cost."""


class AgentsObject(TypedDict):
    """What `burnish agent list` prints."""

    version: int
    agents: list[AgentObject]
    limits: CapsObject


class AgentCheckObject(TypedDict):
    """What `burnish agent check` prints."""

    version: int
    agent: str
    kind: Annotated[str, AgentKind]
    model: str
    usable: bool
    failure: FailureObject | None
    problem: str
    hint: str
    notes: list[str]
    usage: UsageObject


@click.command("list", help=_LIST_HELP)
@click.option("--versions", is_flag=True, help="Ask the clients for their versions. This can take a few seconds.")
@json_option
def list_command(*, versions: bool, as_json: bool) -> int:
    place = resolve_local_settings(Path.cwd(), os.environ)
    for notice in place.notices:
        print_error(f"note: {notice}")
    rows = list_agents(place, os.environ)
    if versions:
        rows = with_versions(place, rows, os.environ)
    limits = place.settings.limits
    limits = replace(limits, cost_usd=limits.cost_usd or DEFAULT_COST_USD)
    if as_json:
        caps = CapsObject(cost_usd=limits.cost_usd, tokens=limits.tokens, minutes=limits.minutes)
        print_json(AgentsObject(version=VERSION, agents=[_row_view(row) for row in rows], limits=caps))
    else:
        print_lines([*table(_HEADS, [_cells(row) for row in rows]), *_remarks(rows, limits)])
    return 0


def _row_view(row: AgentRow) -> AgentObject:
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
        "price": None if price is None else to_builtins(price),
        "names_cost": row.names_cost,
    }


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
            # An agent without a role is not missed.
            tone = Tone.BAD if row.roles else Tone.FAINT
    return Toned(row.readiness.value, tone)


def _cost(row: AgentRow) -> str:
    if not row.paid:
        return "nothing" if row.paid is False else "set by its provider"
    if row.price is not None:
        return f"${row.price.input:g} in, ${row.price.output:g} out"
    return "reported by the agent" if row.names_cost else "price unknown"


def _remarks(rows: tuple[AgentRow, ...], limits: BudgetLimits) -> list[Line]:
    remedies: list[Line] = [(f"{row.name} is {row.readiness.value}: {row.remedy}",) for row in rows if row.remedy]
    caps = [f"${limits.cost_usd:g}", *([f"{limits.tokens:,} tokens"] if limits.tokens is not None else [])]
    caps += [f"{limits.minutes:g} minutes"] if limits.minutes is not None else []
    return [(), *remedies, (f"Prices are per million tokens. Paid agents may spend up to {', '.join(caps)} per run.",)]


@click.command("check", help=_CHECK_HELP)
@click.argument("name", metavar="NAME")
@json_option
def check_command(name: str, *, as_json: bool) -> int:
    return _report_check(check_agent(Path.cwd(), name, os.environ, _announce), as_json=as_json)


def _announce(row: AgentRow) -> None:
    who = f"{row.name} ({row.kind.value}{f', model {row.model}' if row.model else ''})"
    if row.paid:
        print_error(f"Making one paid call (at most ${COST_USD:.2f}): {flat(who)} …")
    else:
        print_error(f"Testing {flat(who)} on a small repository …")


def _report_check(check: AgentCheck, *, as_json: bool) -> int:
    row, found, called = check.row, check.advice, check.called
    if as_json:
        print_json(_check_view(check))
    elif found is None:
        print_line(f"ok: {row.name} works. The call took {_used(called.usage)}.")
        for note in called.notes:
            print_line(f"note: {flat(note)}")
    else:
        for line in called.log:
            print_error(f"  | {flat(line)}")
        print_error(f"{row.name} does not work: {flat(found.problem)}")
        print_error(f"hint: {flat(found.hint)}")
    return 0 if found is None else ErrorKind.INFRASTRUCTURE.exit_code


def _used(usage: Usage) -> str:
    parts = [f"{usage.seconds:.1f} s", *([f"{usage.tokens:,} tokens"] if usage.tokens else [])]
    return ", ".join([*parts, *([f"${dollars(usage.cost_usd)}"] if usage.cost_usd else [])])


def _check_view(check: AgentCheck) -> AgentCheckObject:
    row, found, called = check.row, check.advice, check.called
    failure = called.failure
    return {
        "version": VERSION,
        "agent": row.name,
        "kind": row.kind.value,
        "model": row.model,
        "usable": found is None,
        "failure": None if failure is None else {"kind": failure.kind.value, "message": failure.message},
        "problem": "" if found is None else found.problem,
        "hint": "" if found is None else found.hint,
        "notes": list(called.notes),
        "usage": usage_object(called.usage),
    }
