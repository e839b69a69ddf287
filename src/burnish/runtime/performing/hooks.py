"""The project's commit hooks on a fixer's work, in its sandbox: a rejection is told to the fixer, never passed over."""

import asyncio
from typing import Any

from burnish.core.reviews import Failure, FailureKind
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.runtime.performing.workshop import Job, Workshop
from burnish.system.process import Finished, How, Limits
from burnish.workspace.clones import Clone
from burnish.workspace.hooks import hook_commands, hooks_folder

TAIL = 4_000
TRIES = 3
"""How often a fixer is asked in all, before its work counts as failed."""


class Rejected(Value):
    """A hook said no, and this is what it said."""

    text: str


async def run_hooks(shop: Workshop, job: Job[Any], clone: Clone, message: str) -> Rejected | Failure | None:
    """Run the hooks that git would run. One that cannot run is infrastructure: that is not a rejection."""
    commands = await asyncio.to_thread(hook_commands, shop.repository, clone, message)
    folder = await asyncio.to_thread(hooks_folder, shop.repository) if commands else ""
    limits = Limits(seconds=shop.inputs.settings.timeouts.validation)
    for command in commands:
        seen = replace(command, environment={**shop.tool_environment(), **command.environment})
        finished = await shop.run_command(
            seen,
            limits,
            effect=job.effect.id,
            readable=(str(folder),),
            writable=(str(clone.path),),
            stop=job.stop,
        )
        name = command.argv[0].rpartition("/")[2]
        if finished.how is not How.EXITED or finished.cannot_run:
            detail = finished.message or finished.stderr_tail.strip()[-300:] or finished.how.value
            return Failure(kind=FailureKind.CANNOT_RUN, message=f"the commit hook {name} cannot run: {detail}")
        if finished.code != 0:
            return Rejected(text=f"{name} (exit code {finished.code}):\n{_said(finished)}")
    return None


def _said(finished: Finished) -> str:
    stdout = clean_text(finished.stdout[-TAIL:].decode("utf-8", errors="replace"))
    return f"{stdout}{finished.stderr_tail}"[-TAIL:]
