"""What the runner and an agent's adapter say to each other.

An adapter is a small specification and a parser: what to run, and what came of it. It starts nothing, waits for nothing
and judges nothing; the runner is shared by all of them.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Protocol

from burnish.config.settings import AgentSettings
from burnish.core.findings import Finding
from burnish.core.reviews import ContractName, Failure, Usage
from burnish.core.values import Value
from burnish.system.process import Command, Finished


class Role(Enum):
    """What an agent is asked to do."""

    REVIEW = "review"
    FIX = "fix"
    BUILD = "build"


class Request(Value):
    """One attempt at one piece of work, with everything that an agent may need for it."""

    run: str
    effect: str
    role: Role
    round: int
    attempt: int
    contract: ContractName
    prompt: str
    folder: str
    """The clone: the working directory of the agent."""
    base: str
    head: str
    subject: str
    output_file: str
    """Where the agent may leave its answer instead of printing it."""
    reviewer: str = ""
    """The seat of the panel; empty for a fixer or builder."""
    scratch: str = ""
    """A throwaway copy that a reviewer may write to, where it has one."""
    policy_folder: str = ""
    """The files of the base: relative commands are run from here, never from the change itself."""
    findings: tuple[Finding, ...] = ()
    """What is to be fixed."""
    findings_file: str = ""
    """Where the findings are for an agent to read; see `burnish.agents.handover`."""
    model: str = ""


class Reply(Value):
    """An agent ran to its end; this is what it said. Whether it can be read is for its contract to say."""

    text: bytes
    usage: Usage
    session: str = ""
    notes: tuple[str, ...] = ()


class Adapter(Protocol):
    """One kind of agent."""

    def command(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> Command:
        """What to run. `environment` is the user's own; the agent gets the part of it that it may see."""
        ...

    def read(self, finished: Finished, request: Request, output: bytes | None) -> Reply | Failure:
        """What came of it. `output` is what the agent left in the request's output file, where there is one."""
        ...
