"""What the runner and an agent's adapter say to each other.

An adapter is a small specification and a parser: what to run, and what came of it. It starts nothing, waits for nothing
and judges nothing; the runner is shared by all of them.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Protocol

from burnish.core.findings import Finding
from burnish.core.reviews import ContractName, Failure, Usage
from burnish.core.values import Value
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, Finished

READ_ONLY_COMMANDS = ("git diff", "git show", "git log", "git blame")
"""What every reviewer may run in burnish's sandbox: its prompt holds only the beginning of a long diff.

Not without the sandbox: told to, git writes what it prints to any file (`--output`).
"""


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
    home: str = ""
    """A folder of its own for a client's configuration and session, outside the clone, made by the runner."""
    confined: bool = False
    """Whether burnish's own sandbox is around the agent. Most clients cannot build theirs inside it."""
    schema: str = ""
    """The JSON Schema of the answer, for clients that can be held to one."""
    session: str = ""
    """The session of an earlier reply that is to go on, in the same home."""
    may_write: bool = False
    """A reviewer that fixes what it finds: a session."""
    project_settings: bool = True
    """Whether those who write are led by what the project itself says to their client, and by its hooks."""
    max_turns: int | None = None
    budget_usd: float | None = None

    @property
    def reads_only(self) -> bool:
        return self.role is Role.REVIEW and not self.may_write

    @property
    def trusts_project(self) -> bool:
        """Whether the repository may steer the client. For a reviewer it is the very thing under review."""
        return self.project_settings and not self.reads_only


class Reply(Value):
    """An agent ran to its end; this is what it said. Whether it can be read is for its contract to say."""

    text: bytes
    usage: Usage
    session: str = ""
    notes: tuple[str, ...] = ()
    transcript: bytes = b""
    """All that a client said on its way, where that is more than the answer."""


class Bill(Value):
    """What one step of an agent used up. A later bill for the same step takes the place of the first."""

    step: str
    usage: Usage


class Needs(Value):
    """What a client must have to reach its model, as far as can be seen without asking it."""

    variables: tuple[str, ...] = ()
    """Names of the variables with keys and addresses that are set, and are let through to it."""
    files: tuple[tuple[str, str], ...] = ()
    """The user's login where there is no key: the path of a file, and its place below the request's home."""
    logged_in: bool | None = None
    """None where it cannot be told."""
    hint: str = ""
    """What to do where the user is not logged in."""


class Adapter(Protocol):
    """One kind of agent."""

    def command(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> Command:
        """What to run. `environment` is the user's own; the agent gets the part of it that it may see."""
        ...

    def read(self, finished: Finished, request: Request, output: bytes | None) -> Reply | Failure:
        """What came of it. `output` is what the agent left in the request's output file, where there is one."""
        ...


class Client(Adapter, Protocol):
    """An adapter for a vendor's client: it has a configuration, a login, a session and a price."""

    @property
    def can_resume(self) -> bool:
        """Whether a session can go on, as for a repair of an answer that cannot be read."""
        ...

    @property
    def is_cumulative(self) -> bool:
        """Whether a session that goes on counts what it used up before, too."""
        ...

    def program(self, settings: AgentSettings, environment: Mapping[str, str]) -> str | None:
        """Where the client is installed; None where it is not."""
        ...

    def needs(self, settings: AgentSettings, environment: Mapping[str, str]) -> Needs:
        """What it needs of the user's environment and home."""
        ...

    def files(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> dict[str, bytes]:
        """Its configuration: files by their place below the request's home, to be written before the start."""
        ...

    def session(self, finished: Finished) -> str:
        """The session that could go on, also where it failed; empty where there is none."""
        ...

    def bill(self, line: bytes) -> Bill | None:
        """What a line of its output says of the costs so far; None where it says nothing."""
        ...

    def progress(self, line: bytes) -> str:
        """What a line of its output says that it is doing now; empty where it says nothing of the kind."""
        ...

    def spent(self, finished: Finished, request: Request) -> Usage:
        """What it used up, also where it failed. Where a session went on: what all of it used up."""
        ...
