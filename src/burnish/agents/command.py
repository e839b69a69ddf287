"""The `command` agent: any program that takes a prompt on its standard input and answers with its output.

This is how users and tests plug in anything that has no adapter of its own. docs/command-agents.md is its contract.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from burnish.agents import process
from burnish.agents.environment import agent_environment
from burnish.agents.failures import failure_of
from burnish.agents.interface import AgentError, Card, Changed, Cost, Failed, Rejection, Reply, Request, Review
from burnish.agents.process import AgentAttempt, AskResult
from burnish.agents.registry import check_command
from burnish.agents.services import Job, Services
from burnish.contracts.text import MAX_ANSWER_BYTES
from burnish.core.effects import StartReview
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.text import clean_text
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, Finished
from burnish.workspace.clones import Clone
from burnish.workspace.folders import read_inside

_MOST_HEARD = 400
"""Bytes of a line that is shown while the program works."""


class CommandAgent:
    """An agent without state."""

    card = Card(kind=AgentKind.COMMAND, cost=Cost.TOLD)

    def check(self, settings: AgentSettings) -> None:
        check_command(settings)

    async def review(self, job: Job[StartReview], services: Services) -> Review | Failed:
        return await process.review(self, job, services)

    async def change(
        self, job: Job[Any], services: Services, clone: Clone, rejection: Rejection | None
    ) -> Changed | Failed:
        return await process.change(self, job, services, clone, rejection)

    async def ask(self, call: AgentAttempt, request: Request) -> AskResult:
        """Run the user's own program."""
        command = self.command(call.settings, request, call.services.environment)

        def hear(line: bytes) -> None:
            """Its error output is for people; its standard output is the answer."""
            said = clean_text(line[:_MOST_HEARD].decode("utf-8", errors="replace")).strip()
            if said:
                call.services.activity(request.effect, said)

        finished = await call.run(command, request, on_error_line=hear)
        output = Path(request.output_file)
        reply = self.read(finished, request, read_inside(output.parent, output.name, MAX_ANSWER_BYTES + 1))
        usage = Usage(seconds=finished.seconds) if isinstance(reply, Failure) else reply.usage
        return AskResult(reply=reply, usage=usage)

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
            message = "its output is too long for an answer and was cut"
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
            f"The command's '{name}' is a file of the change, and a change must not provide its own agent.",
            hint=f"Commit {name} to the base, or use the full path of a file outside the repository.",
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
            hint="Refer to a file of the repository as ./path/to/it, to a program by its name, or use a full path.",
        )
    return str(PurePosixPath(policy_folder) / path)


AGENT = CommandAgent()
