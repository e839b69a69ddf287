"""A repository with a flawed branch, and one agent that is put to work on it exactly as the runner does it."""

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from burnish.agents.services import Work
from burnish.core.budget import Share
from burnish.core.effects import StartBuild, StartFix, StartReview
from burnish.core.events import (
    AnyEvent,
    Built,
    Fixed,
    Mode,
    ProcessStarted,
    Reviewed,
    Roles,
    RunStarted,
    Subject,
    WorkFailed,
)
from burnish.core.findings import Finding, Location, Severity
from burnish.core.loop import evolve
from burnish.core.reviews import FailureKind
from burnish.core.state import FixOrder, Run, Scope
from burnish.core.work import Assignment, ProcessMark
from burnish.protocols.loader import load
from burnish.runtime.context import RunContext
from burnish.runtime.perform import LocalPerformer
from burnish.runtime.services import RUN_MARKER, LocalServices
from burnish.settings.loading import PolicyOrigin
from burnish.settings.types import Settings
from burnish.system import survivors
from burnish.system.sandbox import SandboxKind, choose
from burnish.testing.memory_ledger import MemoryLedger
from burnish.testing.model_server.model import RecordedRequest
from burnish.testing.model_server.server import ModelServer
from burnish.testing.repositories import RepositoryBuilder
from burnish.testing.scripted_agent import script_text, scripted_command
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import freeze
from tests.agents.clients.live import CODE
from tests.agents.contract.parts import READY, deed
from tests.agents.contract.players import SCRIPTED, Player
from tests.end_to_end.watching import eventually

FLAW = Finding(
    id="F1", severity=Severity.CRITICAL, title="The query is put together", location=Location(file="app.py", line=1)
)


class AtWork(NamedTuple):
    """What can be done to an agent that is at work."""

    process: ProcessMark
    stop: Callable[[], None]
    running: int
    """How many processes of its run there are."""


class Office:
    """One agent, one repository, one run."""

    def __init__(
        self, folder: Path, player: Player, server: ModelServer, *, protocol: str = "panel", **settings: Any
    ) -> None:
        self.player = player
        self.server = server
        self._folder = folder
        self._protocol = protocol
        self._settings = settings
        self._asked_before = len(server.asked())
        self._attempts = 0
        self.confined = True
        self.builder = RepositoryBuilder(folder / "repository").commit({"app.py": "x = 1\n"}, "Begin")
        self.builder.branch("change").commit({"app.py": CODE}, "Change")
        self.home, self.cache = folder / "home", folder / "cache"
        self.home.mkdir()
        self.ledger = MemoryLedger()
        # What is left of a run is found by its name, and ended: tests beside each other must not share one.
        self.name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        self.run = self._run()
        self._services: LocalServices | None = None

    def review(self, scenario: str, **more: Any) -> AnyEvent:
        """Have the branch reviewed by an agent whose model plays a scenario."""
        self._attempts += 1
        effect = StartReview(
            id=f"review:1:critic:{self._attempts}",
            round=1,
            reviewer="critic",
            agent=self.player.name,
            attempt=self._attempts,
            scope=Scope.FULL,
            share=more.pop("share", Share()),
            scratch=more.pop("scratch", False),
        )
        return self._perform(scenario, effect, **more)

    def fix(self, scenario: str, **more: Any) -> AnyEvent:
        """Have a finding fixed."""
        self._attempts += 1
        effect = StartFix(
            id=f"fix:{self._attempts}:1",
            agent=self.player.name,
            attempt=1,
            order=FixOrder(number=self._attempts, round=1, must=(FLAW,)),
            share=more.pop("share", Share()),
        )
        return self._perform(scenario, effect, **more)

    def build(self, scenario: str) -> AnyEvent:
        """Have a change made."""
        return self._perform(scenario, StartBuild(id="build:1", agent=self.player.name, attempt=1))

    @property
    def answers(self) -> list[RecordedRequest]:
        """What the model was asked for this agent. Clients that want a title for a session offer no tools with that."""
        return [one for one in self.server.asked()[self._asked_before :] if one.tools]

    def processes(self) -> int:
        return len(survivors.find(RUN_MARKER, self.name))

    def file(self, event: AnyEvent, path: str) -> str | None:
        """A file after a fix."""
        assert isinstance(event, Fixed | Built), event
        found = Repository.discover(self.builder.path).read_file(event.change.commit, path)
        return None if found is None else found.decode()

    def _perform(
        self,
        scenario: str,
        effect: Work,
        *,
        sandbox: Literal["auto", "required", "off"] = "auto",
        when_asked: int = 0,
        then: Callable[[AtWork], None] | None = None,
    ) -> AnyEvent:
        """Carry out an effect; and do something to the agent when its model has been asked so many times."""
        services = self._local_services(scenario, sandbox)
        self.confined = services.sandbox.kind is not SandboxKind.NONE

        async def work() -> AnyEvent:
            stop, loop = asyncio.Event(), asyncio.get_running_loop()
            marks: list[ProcessMark] = []

            def note(event: AnyEvent) -> None:
                assert isinstance(event, ProcessStarted)
                marks.append(event.process)

            def watch() -> None:
                eventually(lambda: True if self._is_ready(services, effect, when_asked) else None)
                if then is not None:
                    then(AtWork(marks[-1], lambda: loop.call_soon_threadsafe(stop.set) and None, self.processes()))

            watcher = threading.Thread(target=watch)
            if then is not None:
                watcher.start()
            try:
                return await LocalPerformer(services).perform(effect, self.run, stop, note)
            finally:
                if then is not None:
                    watcher.join()

        return asyncio.run(work())

    def _is_ready(self, services: LocalServices, effect: Work, when_asked: int) -> bool:
        if self.player.client is not None:
            return len(self.answers) >= when_asked
        log = services.log_of(effect.id)
        return log.exists() and READY in log.read_text()

    def _local_services(self, scenario: str, sandbox: Literal["auto", "required", "off"]) -> LocalServices:
        settings = Settings(agents={self.player.name: self.player.settings(**self._settings, **self._own(scenario))})
        user = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        repository = Repository.discover(self.builder.path)
        before = self._services
        self._services = LocalServices(
            run=self.name,
            repository=repository,
            ledger=self.ledger,
            context=RunContext(
                settings=settings, policy=PolicyOrigin.BUILT_IN, merge_base=self.run.subject.base_commit
            ),
            environment={**user, **self.player.service(self.server.url(scenario))},
            copies=self.cache / self.name,
            cache=self._folder / "cache",
            folder=self._folder / "run",
            sandbox=choose(sandbox),
        )
        if before is not None:
            self._services.sessions.update(before.sessions)
        return self._services

    def _own(self, scenario: str) -> dict[str, Any]:
        """The script of an agent that has no model."""
        if self.player is not SCRIPTED:
            return {}
        script = self._folder / "script.toml"
        script.write_text(script_text(deed(scenario)))
        return {"command": scripted_command(script)}

    def _run(self) -> Run:
        head, tree = self.builder.head, self.builder.tree
        base = freeze(Repository.discover(self.builder.path), "change", "main").base_commit
        subject = Subject(branch="change", base="main", base_commit=base, head=head, tree=tree)
        agent = Assignment(agent=self.player.name)
        started = RunStarted(
            at=1.0,
            run=self.name,
            mode=Mode.FIX,
            subject=subject,
            protocol=load(self._protocol).protocol,
            roles=Roles(review=agent, fix=agent),
        )
        return evolve(None, started)


def reviewed(event: AnyEvent) -> Reviewed:
    """A review that counts."""
    assert isinstance(event, Reviewed), event
    return event


def failed(event: AnyEvent, kind: FailureKind) -> WorkFailed:
    """An attempt that failed in this way."""
    assert isinstance(event, WorkFailed), event
    assert event.failure.kind is kind, event.failure
    return event
