"""What the runtime and an agent say to each other.

Everything particular to one agent is in its own file beside this one: its card, and what it does with a request.
"""

from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import FixAnswer
from burnish.core.evidence import Evidence
from burnish.core.findings import Finding
from burnish.core.reviews import Answer, ContractName, Failure, Usage
from burnish.core.values import Value
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings

if TYPE_CHECKING:  # who only reads answers loads neither clones nor an event loop
    from burnish.agents.services import Job, Services
    from burnish.core.effects import StartReview
    from burnish.workspace.clones import Clone

READ_ONLY_COMMANDS = ("git diff", "git show", "git log", "git blame")
"""What every reviewer may run in burnish's sandbox: its prompt holds only the beginning of a long diff.

Not without the sandbox: told to, git writes what it prints to any file (`--output`).
"""


class Tokens(Value):
    """What a model took in and gave out. `cached` and `input` do not overlap."""

    input: int = 0
    cached: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.cached + self.output

    def plus(self, other: "Tokens") -> "Tokens":
        return Tokens(
            input=self.input + other.input, cached=self.cached + other.cached, output=self.output + other.output
        )


class Price(Value):
    """US dollars for a million tokens of each kind. `cached` is input that the service had seen before."""

    input: float
    cached: float
    output: float

    def of(self, tokens: Tokens) -> float:
        return (tokens.input * self.input + tokens.cached * self.cached + tokens.output * self.output) / 1_000_000


class AgentError(BurnishError):
    """An agent that cannot be used as it is configured. It is found before anything starts."""

    kind = ErrorKind.CONFIGURATION


class Cost(Enum):
    """How the cost of an agent's work is known."""

    TOLD = "told"
    """It costs nothing, or the agent says what."""
    BY_MODEL = "by-model"
    """Where the price of its model is known."""
    UNKNOWN = "unknown"
    """It may say neither what it cost nor what it used up."""


class Card(Value):
    """All that is known of an agent without running it."""

    kind: AgentKind
    program: str = ""
    """Its name on the PATH; empty where the user names the command."""
    bundled: tuple[str, str] = ("", "")
    """A Python package that brings the program, and where it lies inside; empty where there is none."""
    install: str = ""
    """How to install it."""
    login: tuple[tuple[str, str], ...] = ()
    """Files of the user's home that hold a login, and their places below the client's own home."""
    login_command: str = ""
    keys: tuple[str, ...] = ()
    """Variables of the user's environment, any one of which is a login."""
    variables: tuple[str, ...] = ()
    """Further variables that it may see. What is not listed is not passed on, unless its settings name it."""
    homes: dict[str, tuple[str, str]] = msgspec.field(default_factory=dict[str, tuple[str, str]])
    """Folders of the user's home with logins; the variable by which users move each, and where below it they are."""
    secrets: tuple[str, ...] = ()
    """What a sandbox hides from every agent: its logins and settings."""
    prices: dict[str, Price] = msgspec.field(default_factory=dict[str, Price])
    """By model, for clients that name no cost themselves."""
    prices_updated: str = ""
    prices_from: tuple[str, ...] = ()
    """The pages that the prices were read from."""
    can_resume: bool = False
    """Whether a session can go on, as for a repair of an answer that cannot be read."""
    is_cumulative: bool = False
    """Whether a session that goes on counts what it used up before, too."""
    cost: Cost = Cost.BY_MODEL
    guidance: str = ""
    """The page of a project that is written for it."""


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
    """Where the findings are for an agent to read; see `burnish.agents.environment`."""
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


class Review(Value):
    """What a reviewer said, and what it rests on."""

    answer: Answer
    evidence: Evidence
    given: bytes
    """The prompt; of a reviewer without one, what it looked at and with what."""
    transcript: bytes
    usage: Usage


class Changed(Value):
    """An agent has done its work in the copy that it was given."""

    summary: str
    text: str = ""
    """All that it said, as far as it is kept."""
    answers: tuple[FixAnswer, ...] = ()
    reply: bytes = b""
    given: bytes = b""
    transcript: bytes
    usage: Usage
    kept: bool = True
    """False where nothing of the work may stay."""
    by_rule: bool = False


class Failed(Value):
    """There is no result, and this is why."""

    failure: Failure
    usage: Usage = Usage()


class Rejection(Value):
    """The project's commit hooks said no to what an agent did."""

    text: str
    work: Changed


class Agent(Protocol):
    """One kind of agent. It has no state: what it keeps for a run is in `Services.shared`."""

    @property
    def card(self) -> Card: ...

    def check(self, settings: AgentSettings) -> None:
        """Raise `AgentError` where it cannot be run as it is configured."""
        ...

    async def review(self, job: "Job[StartReview]", services: "Services") -> Review | Failed:
        """Look at the change, and answer."""
        ...

    async def change(
        self, job: "Job[Any]", services: "Services", clone: "Clone", rejection: Rejection | None
    ) -> Changed | Failed:
        """Fix, build, or review and fix, in a clone. It is asked again where its work was rejected."""
        ...
