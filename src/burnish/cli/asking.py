"""A question at the terminal. It never blocks the runner: the answer may come from elsewhere meanwhile."""

import asyncio
import sys

from burnish.cli.open_findings import open_findings
from burnish.cli.output import complain
from burnish.core.effects import AskPerson
from burnish.core.events import Decided, Intent
from burnish.core.state import Run
from burnish.records.escalation import text as escalation
from burnish.system import clock


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
        key = line.strip().lower()
        if key in keys:
            return Decided(at=clock.now(), choice=key, by="terminal")
        complain(f"Please answer with one of {', '.join(keys)}:")


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
