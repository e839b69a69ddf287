"""What an agent may use of the run that it works for. The runtime implements it once, in `burnish.runtime.services`.

An agent starts processes, makes copies and keeps texts only through this. What is in the repository it reads with
`burnish.workspace`, which is the only git.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from burnish.core.effects import MakeSeal, StartBuild, StartFix, StartReview, StartValidation
from burnish.core.events import AnyEvent, ProcessStarted
from burnish.core.evidence import Evidence
from burnish.core.reviews import Answer, Failure, Usage
from burnish.core.state import Run
from burnish.core.values import Value
from burnish.core.work import ProcessMark
from burnish.settings.types import AgentSettings, Settings
from burnish.system import clock
from burnish.system.process import Command, Finished, ProcessLimits
from burnish.system.process_conversation import Talk
from burnish.workspace.clones import Clone, Clones, ReadOnlyClone
from burnish.workspace.diffs import Difference
from burnish.workspace.repository import Repository
from burnish.workspace.views import CopyView

GRACE_SECONDS = 5.0
NOTHING = Usage()
Work = StartReview | StartFix | StartBuild | StartValidation | MakeSeal
Note = Callable[[AnyEvent], None]
"""Takes what happens on the way to a result, such as the start of the process."""
_Effect = TypeVar("_Effect", bound=Work)
_Shared = TypeVar("_Shared")


class Job(NamedTuple, Generic[_Effect]):
    """One effect to be carried out: what, in which state of the run, and how to stop and to tell."""

    effect: _Effect
    run: Run
    stop: asyncio.Event
    note: Note

    @property
    def name(self) -> str:
        """A name for the folders of this attempt."""
        return self.effect.id.replace(":", "-")

    def started(self, mark: ProcessMark) -> None:
        """The process of this work exists."""
        self.note(ProcessStarted(at=clock.now(), effect=self.effect.id, process=mark))


class Session(Value):
    """A client's session that can go on: its name, the home that it is kept in, and what it used up so far."""

    name: str
    home: Path
    spent: Usage


class StoppedError(Exception):
    """The work was asked to stop and has stopped; it has no result, but it may have cost something."""

    def __init__(self, usage: Usage = NOTHING) -> None:
        super().__init__()
        self.usage = usage


class Services(Protocol):
    """One for each run, shared by all of its agents."""

    @property
    def repository(self) -> Repository: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def clones(self) -> Clones: ...
    @property
    def environment(self) -> Mapping[str, str]:
        """The user's own."""
        ...

    @property
    def cache(self) -> Path:
        """What is kept between runs: compiled rules."""
        ...

    @property
    def attempt_dirs(self) -> Path:
        """The folder of all that belongs to single attempts."""
        ...

    def shared(self, make: "Callable[[Services], _Shared]") -> _Shared:
        """What an agent keeps for the whole run, made when it is first asked for."""
        ...

    def agent(self, name: str) -> AgentSettings:
        """An agent by its name. Raises `AgentError` where there is none."""
        ...

    def is_offline(self, agent: str) -> bool:
        """Whether an agent runs without the network."""
        ...

    @property
    def is_confined(self) -> bool:
        """Whether burnish's own sandbox is around an agent."""
        ...

    @property
    def policy_folder(self) -> str:
        """The files of the base, from which relative commands are run."""
        ...

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The last session of each agent that may go on with it."""
        ...

    def remember(self, agent: str, session: Session | None) -> None:
        """Keep the session that an agent may go on with; None where it is better to begin anew."""
        ...

    def home(self, effect: str) -> Path:
        """A client's home for one attempt."""
        ...

    def home_of(self, agent: str) -> Path:
        """A client's home that outlasts an attempt, for an agent that goes on with its session."""
        ...

    def activity(self, effect: str, doing: str, /) -> None:
        """Report what an agent is doing now, in a short line."""
        ...

    def review_prompt(self, effect: StartReview, run: Run, shown: Difference, scratch: str) -> str:
        """What a reviewer is told."""
        ...

    def writing_prompt(self, effect: StartFix | StartBuild | StartReview, run: Run, rejection: str) -> str:
        """What an agent that may change the tree is told."""
        ...

    def evidence_of(self, shown: Difference, agent: str, answer: Answer, stream: bytes) -> Evidence:
        """How closely a reviewer looked at each file, by what it was given and what it opened."""
        ...

    def hand_over(self, job: Job[StartFix], clone: Clone) -> None:
        """Put the records that a fixer's prompt names into its clone."""
        ...

    def attempt_dir(self, effect: str) -> Path:
        """A folder of its own for one attempt: its answer and its findings. The agent may write in it, not beside."""
        ...

    def clear_attempt_dir(self, effect: str) -> None:
        """An empty folder for an attempt."""
        ...

    def log_of(self, effect: str) -> Path:
        """Where an effect's output is streamed to."""
        ...

    async def clone(self, name: str, base: str, head: str, *, writable: bool) -> Clone:
        """A fresh clone, with the ignored files that the policy copies into every one."""
        ...

    def read_only_clone(self, name: str, base: str, head: str) -> AbstractAsyncContextManager[ReadOnlyClone]:
        """A clone to read, and how it was before. One may serve all that read the same commits at a time."""
        ...

    def view(self, clone: Clone) -> CopyView:
        """How the project's own commands see a copy."""
        ...

    async def prepare(
        self, clone: Clone, effect: str, stop: asyncio.Event, view: CopyView | None = None
    ) -> Failure | None:
        """Run the policy's preparation in a clone."""
        ...

    async def run_command(
        self,
        command: Command,
        limits: ProcessLimits,
        *,
        effect: str,
        writable: tuple[str, ...],
        stop: asyncio.Event,
        readable: tuple[str, ...] = (),
        view: CopyView | None = None,
        protected: tuple[str, ...] = (),
        owned: tuple[str, ...] = (),
        on_start: Callable[[ProcessMark], None] | None = None,
        on_line: Callable[[bytes], None] | None = None,
        on_error_line: Callable[[bytes], None] | None = None,
        network: bool = True,
        shown: bool = False,
        talk: Talk | None = None,
    ) -> Finished:
        """Run a command in the sandbox, with its output in the effect's log. Raises `StoppedError` when stopped.

        A `talk` holds a conversation with it: see `burnish.system.process.run`.
        """
        ...

    def keep(self, data: bytes) -> str:
        """Store a prompt or a transcript; its digest."""
        ...

    def tool_environment(self) -> dict[str, str]:
        """What the project's own commands see of the user's environment."""
        ...
