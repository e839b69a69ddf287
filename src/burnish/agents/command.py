"""The `command` agent: any program that takes a prompt on its standard input and answers with its output.

This is how users and tests plug in anything that has no adapter of its own. docs/command-agents.md is its contract.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from burnish.agents.environment import agent_environment
from burnish.agents.errors import AgentError
from burnish.agents.failures import failure_of
from burnish.agents.interface import Reply, Request
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, Finished


class CommandAgent:
    """An adapter without state."""

    def command(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> Command:
        return Command(
            argv=_argv(settings, request.policy_folder, request.folder),
            folder=request.folder,
            environment=agent_environment(request, settings.environment, environment),
            stdin=request.prompt.encode("utf-8", errors="replace"),
        )

    def read(self, finished: Finished, request: Request, output: bytes | None) -> Reply | Failure:
        del request
        failure = failure_of(finished)
        if failure is not None:
            return failure
        usage = Usage(seconds=finished.seconds)
        if output is not None and output.strip():
            return Reply(text=output, usage=usage)
        if finished.stdout_cut:
            # Half of an answer could say the opposite of the whole.
            message = "its output was cut, for it is longer than an answer may be"
            return Failure(kind=FailureKind.UNREADABLE, message=message)
        return Reply(text=finished.stdout, usage=usage)


def _argv(settings: AgentSettings, policy_folder: str, clone: str) -> tuple[str, ...]:
    """The command with everything that it takes from the repository taken from the base.

    The working directory holds the change: a relative path there would let the change bring its own reviewer.
    """
    of_the_base = {*settings.relative_parts, *_script(settings, policy_folder, clone)}
    return tuple(
        _from_base(word, policy_folder) if place in of_the_base else word for place, word in enumerate(settings.command)
    )


def _script(settings: AgentSettings, policy_folder: str, clone: str) -> tuple[int, ...]:
    """Where an interpreter's script stands, if it is a file of the repository."""
    place = settings.script_part
    if place is None:
        return ()
    name = settings.command[place]
    if policy_folder and _is_file(policy_folder, name):
        return (place,)
    if _is_file(clone, name):
        raise AgentError(
            f"The command's '{name}' is a file of the change, which must not bring its own agent.",
            hint=f"Commit {name} to the base, or give the whole path of a file outside of the repository.",
        )
    return ()


def _is_file(folder: str, name: str) -> bool:
    try:
        return (Path(folder) / name).is_file()
    except (OSError, ValueError):
        return False  # a line of code, too long for a name


def _from_base(path: str, policy_folder: str) -> str:
    if not policy_folder or ".." in PurePosixPath(path).parts:
        raise AgentError(
            f"The command's '{path}' is not a file of the repository.",
            hint="Name a file of the repository as ./path/to/it, a program by its name, or give the whole path.",
        )
    return str(PurePosixPath(policy_folder) / path)
