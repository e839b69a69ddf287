"""A question at the terminal. It never blocks the runner: the answer may come from elsewhere meanwhile."""

import asyncio
import sys

from burnish.cli.open_findings import open_findings
from burnish.cli.output import complain
from burnish.core.effects import AskPerson
from burnish.core.events import Decided, Intent
from burnish.core.state import Run
from burnish.records.escalation import text as escalation
from burnish.runtime.journal import RunError
from burnish.system import clock
from burnish.usecases.decisions import chosen, chosen_agent


def at_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def ask(effect: AskPerson, run: Run) -> Intent | None:
    """Put the choices to the person, until one of them is chosen. None when the terminal is closed."""
    keys = [choice.key for choice in effect.choices]
    for line in open_findings(run):
        complain(line)
    complain(escalation(run))
    while True:
        line = await _read_line()
        if line is None:
            return None
        key, _, agent = line.strip().partition(" ")
        choice = chosen(effect.choices, key)
        if choice is None:
            complain(f"Please answer with one of {', '.join(keys)}:")
            continue
        try:
            other = chosen_agent(run, choice, agent.strip() or None)
        except RunError as error:
            complain(f"{error.message} {error.hint} Here: '{choice.key} NAME'.")
            continue
        return Decided(at=clock.now(), choice=choice.key, by="terminal", agent=other)


async def _read_line() -> str | None:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def readable() -> None:
        if not answer.done():
            answer.set_result(sys.stdin.readline())

    loop.add_reader(descriptor, readable)
    try:
        return await answer or None
    finally:
        loop.remove_reader(descriptor)
