"""What all work of a run shares: the repository, its clones, the sandbox, the logs, and one way to run an agent."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from burnish.agents.interface import AgentError
from burnish.agents.logins import hidden_logins
from burnish.agents.services import GRACE_SECONDS, Job, Services, Session, StoppedError
from burnish.core.effects import StartBuild, StartFix, StartReview
from burnish.core.evidence import Evidence
from burnish.core.reviews import Answer, Failure, FailureKind
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.core.work import ProcessMark
from burnish.ledger.errors import BlobMissingError
from burnish.ledger.interface import Ledger
from burnish.runtime import prompting
from burnish.runtime.context import RunContext
from burnish.settings.types import AgentSettings, Settings
from burnish.system import clock, process, survivors
from burnish.system.nofollow import write_new
from burnish.system.process import Command, Finished, How, ProcessLimits
from burnish.system.process_conversation import Talk
from burnish.system.sandbox import DEFAULT_SECRETS, Confinement, Sandbox, SandboxKind, choose, confine
from burnish.system.terminal import TERMINALS, TerminalError, agent_view, open_view
from burnish.workspace.clones import Clone, Clones, ReadOnlyClone
from burnish.workspace.diffs import Difference
from burnish.workspace.folders import remove_folder
from burnish.workspace.objects import git_folders, object_folders
from burnish.workspace.repository import Repository
from burnish.workspace.views import CopyView, view_of

RUN_MARKER = "BURNISH_RUN"
EFFECT_MARKER = "BURNISH_EFFECT"


_Shared = TypeVar("_Shared")
Activity = Callable[[str, str], None]
"""Is told what an agent is doing now: the effect, and a short line."""


def _ignore(effect: str, doing: str) -> None:
    del effect, doing


class LocalServices:
    def __init__(
        self,
        *,
        run: str,
        repository: Repository,
        ledger: Ledger,
        context: RunContext,
        environment: Mapping[str, str],
        copies: Path,
        cache: Path,
        folder: Path | None = None,
        policy_folder: str = "",
        sandbox: Sandbox | None = None,
        activity: Activity | None = None,
        tmux: str = "",
    ) -> None:
        self.run = run
        self.repository = repository
        self.ledger = ledger
        self.context = context
        self.environment = environment
        self.copies = copies
        """The clones, attempt folders and homes of this run, beside those of others."""
        self.cache = cache
        """What is kept between runs: compiled rules."""
        self.folder = folder or repository.state_dir / "runs" / run
        """Where its logs go."""
        self.clones = Clones(repository, copies / "clones")
        self.attempt_dirs = copies / "attempts"
        self.policy_folder = policy_folder or str(repository.root)
        self.sandbox = sandbox or choose(context.settings.sandbox.value)
        self.activity: Activity = activity or _ignore
        self.tmux = tmux
        """The program, where each agent is shown in a session of its own."""
        self.notices: list[str] = []
        """What went wrong without a consequence for the run."""
        self._shared: dict[object, Any] = {}
        self._read: dict[tuple[str, str], ReadOnlyClone] = {}
        self._opening = asyncio.Lock()
        self.sessions: dict[str, Session] = {}
        """The last session of each agent that may go on with it."""

    @property
    def settings(self) -> Settings:
        return self.context.settings

    def agent(self, name: str) -> AgentSettings:
        """An agent by its name, with the general limits where it has none of its own."""
        settings = self.settings.agent(name)
        if settings is None:
            raise AgentError(f"There is no agent '{name}'.", hint="Define it in [agents] of burnish.toml.")
        return settings

    def is_offline(self, agent: str) -> bool:
        return agent in self.context.governance.offline.agents

    @property
    def is_confined(self) -> bool:
        return self.sandbox.kind is not SandboxKind.NONE

    def review_prompt(self, effect: StartReview, run: Run, shown: Difference, scratch: str) -> str:
        return prompting.review_prompt(self, effect, run, shown, scratch=scratch)

    def writing_prompt(self, effect: StartFix | StartBuild | StartReview, run: Run, rejection: str) -> str:
        return prompting.writing_prompt(self, effect, run, rejection)

    def evidence_of(self, shown: Difference, agent: str, answer: Answer, stream: bytes) -> Evidence:
        return prompting.evidence_of(self, shown, agent, answer, stream)

    def hand_over(self, job: Job[StartFix], clone: Clone) -> None:
        """Put the records that the prompt names into the clone. They stay out of the result, like all records."""
        files = prompting.findings_files(job.run, job.effect.order)
        for file in files:
            write_new(clone.path, file.path, file.text.encode(errors="replace"), mode=0o600, make=True)
        if files:
            self.clones.exclude(clone, [file.path for file in files])

    def shared(self, make: Callable[[Services], _Shared]) -> _Shared:
        """What an agent keeps for the whole run, made when it is first asked for."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return self._shared[make]

    def log_of(self, effect: str) -> Path:
        """Where an effect's output is streamed to."""
        return self.folder / "logs" / f"{effect.replace(':', '-')}.log"

    def attempt_dir(self, effect: str) -> Path:
        """A folder of its own for one attempt: its answer and its findings.

        The agent may write in it, but not beside it: whatever it makes of it, no path of ours leads through it.
        """
        return self._beside(effect, "attempt_dir")

    def clear_attempt_dir(self, effect: str) -> None:
        remove_folder(self.attempt_dir(effect))
        self.attempt_dir(effect)

    def home(self, effect: str) -> Path:
        return self._beside(effect, "home")

    def home_of(self, agent: str) -> Path:
        """A client's home that outlasts an attempt, for an agent that goes on with its session."""
        return self._beside(f"agent:{agent}", "home")

    def remember(self, agent: str, session: Session | None) -> None:
        """Keep the session that an agent may go on with; None where it is better to begin anew."""
        if session is not None:
            self.sessions[agent] = session
        elif self.sessions.pop(agent, None) is not None:
            remove_folder(self.home_of(agent))

    def _beside(self, effect: str, name: str) -> Path:
        """One of the folders of an attempt, in a place where the agent itself cannot write."""
        path = self.attempt_dirs / effect.replace(":", "-") / name
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path

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

        `view` says where the command finds the copy in whose folder it runs.
        `shown` says that users may watch it in a terminal, where the run has them.
        """
        name = effect.removeprefix(f"{self.run}/")
        marked = {
            **command.environment,
            **(view.environment if view else {}),
            RUN_MARKER: self.run,
            EFFECT_MARKER: f"{self.run}/{name}",
            "GIT_OPTIONAL_LOCKS": "0",  # looking must not refresh an index
        }
        temporary = self._beside(name, "tmp")
        confinement = Confinement(
            readable=(
                *(str(folder) for folder in object_folders(self.repository)),
                self.policy_folder,
                command.folder,
                *readable,
                *named_paths(command.argv),
            ),
            writable=writable,
            protected=protected,
            owned=owned,
            mounts=view.mounts if view else (),
            hidden=(*DEFAULT_SECRETS, *self._private(), *hidden_logins(self.environment)),
            temporary=str(temporary),
            network=network,
        )
        largest_file = self.settings.workspace.file_megabytes * 1024 * 1024
        limited = replace(command, environment=marked, file_bytes=largest_file)
        log = self.log_of(name)
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

        async def attempt() -> Finished:
            confined = confine(self.sandbox, limited, confinement)
            return await process.run(
                confined,
                limits,
                log=log,
                on_start=on_start,
                stop=stop,
                on_line=on_line,
                on_error_line=on_error_line,
                talk=talk,
            )

        try:
            if self.tmux and shown:
                await self._show(name)
            finished = await attempt()
            if finished.sandbox_failed:
                # Mostly a path that went away meanwhile, which is no longer looked for the next time.
                finished = await attempt()
        finally:
            await asyncio.shield(
                asyncio.to_thread(survivors.end_all, EFFECT_MARKER, f"{self.run}/{name}", GRACE_SECONDS)
            )
        if finished.how is How.STOPPED:
            raise StoppedError
        return finished

    async def _show(self, effect: str) -> None:
        """Open a view of an attempt's log. Like all that bears the marks of the attempt, it ends with the attempt."""
        viewer = Command(
            argv=(sys.executable, "-P", "-m", "burnish", "logs", "-f", self.run, effect),
            folder=str(self.repository.root),
            environment={
                **self.tool_environment(),
                RUN_MARKER: self.run,
                EFFECT_MARKER: f"{self.run}/{effect}",
            },
        )
        try:
            await open_view(self.tmux, agent_view(self.run, effect, self.folder / TERMINALS), viewer)
        except (TerminalError, OSError) as problem:
            self.notices.append(str(problem))

    def _private(self) -> tuple[str, ...]:
        """What is no agent's business: addresses with passwords, what other agents said, where they live."""
        folders = (*git_folders(self.repository), self.cache, self.copies.parent)
        return tuple(str(folder) for folder in folders)

    async def clone(self, name: str, base: str, head: str, *, writable: bool) -> Clone:
        """A fresh clone, with the ignored files that the policy copies into every one."""
        clone = await asyncio.to_thread(self.clones.make, name, base, head, writable=writable)
        seed = self.settings.workspace.seed
        if seed:
            await asyncio.to_thread(self.clones.seed, clone, seed)
        return clone

    @asynccontextmanager
    async def read_only_clone(self, name: str, base: str, head: str) -> AsyncGenerator[ReadOnlyClone]:
        """A clone to read, and how it was before.

        In bubblewrap, one serves all that read the same commits at a time; it goes with the last of them. Elsewhere
        each has its own: under Landlock a reviewer can change modes, and so hide a file from the others for a while.
        """
        if self.sandbox.kind is not SandboxKind.BUBBLEWRAP:
            read = await self._to_read(name, base, head)
            try:
                yield read
            finally:
                await asyncio.to_thread(self.clones.remove, read.clone)
            return
        async with self._opening:
            read = self._read.get((base, head))
            if read is None or read.is_spoiled:
                read = self._read[base, head] = await self._to_read(name, base, head)
            read.is_shared = read.readers > 0 or read.is_shared
            read.readers += 1
        try:
            yield read
        finally:
            read.readers -= 1
            if read.readers == 0:
                if self._read.get((base, head)) is read:
                    del self._read[base, head]
                await asyncio.to_thread(self.clones.remove, read.clone)

    async def _to_read(self, name: str, base: str, head: str) -> ReadOnlyClone:
        clone = await self.clone(name, base, head, writable=False)
        return ReadOnlyClone(clone, await asyncio.to_thread(self.clones.fingerprint, clone))

    def view(self, clone: Clone) -> CopyView:
        """How the project's own commands see a copy: at the checkout's path, where the sandbox has mounts."""
        mounts = self.sandbox.kind is SandboxKind.BUBBLEWRAP
        return view_of(self.repository, clone.path, self.copies / "shared", mounts=mounts)

    async def prepare(
        self, clone: Clone, effect: str, stop: asyncio.Event, view: CopyView | None = None
    ) -> Failure | None:
        """Run the policy's preparation in a clone. What it makes stays out of commits."""
        for line in self.settings.workspace.prepare:
            command = Command(argv=("sh", "-c", line), folder=str(clone.path), environment=self.tool_environment())
            limits = ProcessLimits(seconds=self.settings.timeouts.validation)
            finished = await self.run_command(
                command,
                limits,
                effect=effect,
                writable=(str(clone.path),),
                stop=stop,
                view=view,
                network=not self.context.governance.offline.prepare,
            )
            if finished.how is not How.EXITED or finished.code != 0:
                detail = finished.message or finished.stderr_tail.strip()[-500:] or f"exit code {finished.code}"
                return Failure(kind=FailureKind.CANNOT_RUN, message=f"'{line}' failed: {detail}")
        if self.settings.workspace.prepare:
            await asyncio.to_thread(self.clones.exclude, clone)
        return None

    def keep(self, data: bytes) -> str:
        """Store a prompt or a transcript; its digest."""
        return self.ledger.put_blob(data, clock.now())

    def recall(self, digest: str) -> str:
        """A text that was kept; empty where it is there no more."""
        try:
            return self.ledger.get_blob(digest).decode("utf-8", errors="replace")
        except BlobMissingError:
            return ""

    def tool_environment(self) -> dict[str, str]:
        """What the project's own commands see of the user's environment."""
        return tool_environment(self.environment)


def tool_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the project's own commands see of a user's environment."""
    names = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "USER", "LOGNAME", "SHELL", "VIRTUAL_ENV")
    return {name: environment[name] for name in names if name in environment}


def named_paths(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The absolute paths among the arguments, `--option=/path` too, that exist. The user wrote them down to be used.

    The program itself is left out: a sandbox knows what programs need.
    """
    paths = (word.partition("=")[2] if word.startswith("-") else word for word in argv[1:])
    return tuple(dict.fromkeys(path for path in paths if path.startswith("/") and _exists(path)))


def _exists(path: str) -> bool:
    try:
        return Path(path).resolve() != Path("/") and Path(path).exists()
    except (OSError, ValueError):
        # Words that are no path: too long, or with a NUL in them.
        return False
