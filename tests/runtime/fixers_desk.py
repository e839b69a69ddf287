"""A fixer's clone in a real repository, with everything that the fixer of the embedded panel needs."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

from burnish.agents.panel.autofix.applying import AutofixResult, apply_autofixes
from burnish.agents.panel.runner import AnalyserRunner
from burnish.agents.services import Job
from burnish.core.effects import StartFix
from burnish.core.events import AnyEvent, FixAnswer, Mode, Roles, RunStarted, Subject
from burnish.core.findings import Finding, Location, Severity
from burnish.core.state import Fixing, FixOrder, Run
from burnish.core.work import Assignment, Ready
from burnish.protocols.loader import load
from burnish.runtime.context import RunContext
from burnish.runtime.services import LocalServices
from burnish.settings.loading import PolicyOrigin
from burnish.settings.types import AnalyserSettings, Settings
from burnish.testing.memory_ledger import MemoryLedger
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clone
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import freeze

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def found(rule: str, file: str, line: int, *, end: int | None = None) -> Finding:
    """A finding whose name says what it is."""
    place = Location(file=file, line=line, end_line=end)
    return Finding(id=f"{rule}@{file}:{line}", severity=Severity.HIGH, title=rule, rule=rule, location=place)


class FixersDesk:
    """A change in a repository, its clone, and the fixer at work in it."""

    def __init__(
        self, folder: Path, builder: RepositoryBuilder, analysers: AnalyserSettings, environment: dict[str, str]
    ) -> None:
        repository = Repository.discover(builder.path)
        subject = freeze(repository, "change", "main")
        # What is left of a run is found by its name, and ended: tests beside each other must not share one.
        name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        self.run = _run(name, subject.base_commit, builder)
        self.services = LocalServices(
            run=name,
            repository=repository,
            ledger=MemoryLedger(),
            context=RunContext(
                settings=Settings(analysers=analysers), policy=PolicyOrigin.BUILT_IN, merge_base=subject.base_commit
            ),
            environment={**ENVIRONMENT, **environment},
            copies=folder.parent / "cache" / name,
            cache=folder.parent / "cache",
            folder=folder / "run",
        )
        self.clone: Clone = self.services.clones.make("fix-1-1", subject.base_commit, self.run.commit, writable=True)

    def apply_autofixes(self, *must: Finding, may: Sequence[Finding] = ()) -> AutofixResult:
        """Have findings fixed in the clone."""
        order = FixOrder(number=1, round=1, must=must, may=tuple(may))
        effect = StartFix(id="fix:1:1", agent="analysers", attempt=1, order=order)

        def note(event: AnyEvent) -> None:
            del event

        async def work() -> AutofixResult:
            bench = AnalyserRunner(self.services)
            return await apply_autofixes(bench, Job(effect, self.run, asyncio.Event(), note), self.clone)

        return asyncio.run(work())

    def read(self, name: str) -> bytes:
        return (self.clone.path / name).read_bytes()

    def changed(self) -> list[str]:
        """The files of the clone that are not as they were, new ones too."""
        builder = RepositoryBuilder(self.clone.path)
        return sorted(line[3:] for line in builder.git.text("status", "--porcelain", "-uall").splitlines())


def _run(name: str, base: str, builder: RepositoryBuilder) -> Run:
    subject = Subject(branch="change", base="main", base_commit=base, head=builder.head, tree=builder.tree)
    nobody = Assignment(agent="analysers")
    started = RunStarted(
        at=1.0,
        run=name,
        mode=Mode.FIX,
        subject=subject,
        protocol=load("default").protocol,
        roles=Roles(review=nobody, fix=nobody),
    )
    phase = Fixing(order=FixOrder(number=1, round=1), work=Ready())
    return Run(started=started, phase=phase, commit=builder.head, tree=builder.tree)


def texts(mended: AutofixResult) -> dict[str, str]:
    """What is said of each finding: `+` where it is fixed."""
    return {said.finding: _sign(said) + said.text for said in mended.answers}


def _sign(said: FixAnswer) -> str:
    return "+ " if said.fixed else "- "
