"""kingfisher's rules, compiled once for all reviews of a machine.

kingfisher compiles its rules for seconds at every start, unless it finds them compiled, and in a sandbox without the
user's home it finds nothing. So they are compiled before it is given any file, into a folder of burnish's own that it
may only read while it looks at files: nothing of a repository ever reaches what a later review relies on.

kingfisher keeps no rules in a folder that another user could replace: each folder above it must belong to the user or
to root, and no group may write there. The sandbox shows such a route. Without a sandbox the route is the real one.
Where kingfisher refuses it, or cannot compile in time, the cache is left out: that costs time and nothing else.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.programs import program, version
from burnish.agents.services import Services
from burnish.system.files import make_private_directory
from burnish.system.process import Command, How, ProcessLimits

SECONDS = 120.0
_CHOOSES_RULES = ("--rule=", "--exclude-rule=")
_NOT_KEPT = "the cache could not be persisted"
"""What kingfisher says of rules that it did compile."""


def _chosen(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments of a call that choose among the rules."""
    return tuple(word for word in arguments if word.startswith(_CHOOSES_RULES))


async def compile_rules(services: Services, arguments: Sequence[str], stop: asyncio.Event) -> Path | None:
    """The folder with the rules that a call chooses, made if there is none yet; None where there can be none."""
    choice = _chosen(arguments)
    folder = folder_of(services, arguments)
    if folder.is_dir():
        return folder
    making = services.attempt_dirs / f"rules-{folder.name}"
    make_private_directory(making)
    path = program(ToolName.KINGFISHER)
    command = Command(
        argv=(path, "rules", "compile-cache", "--no-update-check", f"--rule-cache-dir={making}", *choice),
        folder=str(making),
        environment=services.tool_environment(),
    )
    finished = await services.run_command(
        command,
        ProcessLimits(seconds=SECONDS),
        effect=f"compile:{ToolName.KINGFISHER.value}",
        writable=(str(making),),
        owned=(str(making),),
        stop=stop,
        network=False,
    )
    if finished.how is not How.EXITED or finished.code != 0 or _NOT_KEPT in finished.stderr_tail:
        return None  # the scan compiles them itself, or says why it cannot
    make_private_directory(folder.parent)
    with suppress(OSError):  # another review was quicker
        making.rename(folder)
    return folder


def folder_of(services: Services, arguments: Sequence[str]) -> Path:
    """Where the rules that a call chooses are kept: another folder for another choice, or version of kingfisher."""
    name = ToolName.KINGFISHER.value
    digest = hashlib.sha256("\n".join(_chosen(arguments)).encode()).hexdigest()[:12]
    return services.cache / "analysers" / f"{name}-{version(ToolName.KINGFISHER)}-{digest}"
