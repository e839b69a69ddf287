"""The witness on a real change of a real repository: one call, one testimony."""

import asyncio
import hashlib
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path
from typing import Literal

from burnish.agents.panel.project_tests.reviewing import TestReview, review_tests
from burnish.agents.services import Job
from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent, Mode, Roles, RunStarted, Subject
from burnish.core.loop import evolve
from burnish.core.reviews import Failure
from burnish.core.state import Run, Scope
from burnish.core.values import replace
from burnish.core.work import Assignment
from burnish.protocols.loader import load
from burnish.runtime.context import RunContext
from burnish.runtime.services import LocalServices
from burnish.settings.loading import PolicyOrigin
from burnish.settings.types import AnalyserSettings, Settings, ValidateSettings, ValidationCommand
from burnish.system.sandbox import choose
from burnish.testing.memory_ledger import MemoryLedger
from burnish.testing.repositories import Content, RepositoryBuilder
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import freeze

Files = Mapping[str, Content | None]
QUIET = Settings(analysers=AnalyserSettings(uncovered="off", mutations="off"))
"""Without a look at lines that no test runs, and at wrong versions of lines that some do."""


def command(line: str, analysers: AnalyserSettings = QUIET.analysers) -> Settings:
    """A configuration that says how the tests are run."""
    return Settings(analysers=analysers, validate=ValidateSettings(commands={"tests": ValidationCommand(line=line)}))


USER = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def virtual_environment(folder: Path, *packages: str) -> Path:
    """A small virtual environment of this interpreter, with these packages of ours and nothing else: quick to start."""
    site = folder / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    (folder / "bin").mkdir(parents=True)
    site.mkdir(parents=True)
    real = Path(sys.executable).resolve()
    (folder / "bin" / "python").symlink_to(real)
    (folder / "pyvenv.cfg").write_text(f"home = {real.parent}\ninclude-system-site-packages = false\n")
    for name in packages:
        installed = distribution(name)
        for file in installed.files or ():
            if ".." not in file.parts:
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(str(installed.locate_file(file)), site / file)
    return folder


def activated(environment: Path) -> dict[str, str]:
    """What a user's shell has after activating a virtual environment."""
    return {**USER, "PATH": f"{environment}/bin:{USER['PATH']}", "VIRTUAL_ENV": str(environment)}


def change(folder: Path, base: Files, head: Files) -> RepositoryBuilder:
    """A branch `change` of `main`, checked out."""
    return RepositoryBuilder(folder / "repository").commit(base).branch("change").commit(head)


class Stand:
    """Where the witness of one change is heard."""

    def __init__(
        self,
        folder: Path,
        builder: RepositoryBuilder,
        settings: Settings = QUIET,
        active: Path | None = None,
        sandbox: Literal["auto", "off"] = "auto",
    ) -> None:
        repository = Repository.discover(builder.path)
        base = freeze(repository, "change", "main").base_commit
        self.stop = asyncio.Event()
        self.services = LocalServices(
            run=_name(folder),
            repository=repository,
            ledger=MemoryLedger(),
            context=RunContext(settings=settings, policy=PolicyOrigin.BUILT_IN, merge_base=base),
            environment=activated(active) if active else USER,
            copies=folder.parent / "cache" / _name(folder),
            cache=folder / "cache",
            folder=folder / "run",
            sandbox=choose(sandbox),
        )
        self.run = _run(_name(folder), base, builder)

    def of_a_fix(self) -> "Stand":
        """The same change, in a run that may change code."""
        self.run = replace(self.run, started=replace(self.run.started, mode=Mode.FIX))
        return self

    async def review_tests(self) -> TestReview | Failure:
        effect = StartReview(
            id="review:1:witness:1", round=1, reviewer="witness", agent="analysers", attempt=1, scope=Scope.FULL
        )
        return await review_tests(self.services, Job(effect, self.run, self.stop, _ignore))

    def hear(self) -> TestReview:
        """What the witness says."""
        testimony = asyncio.run(self.review_tests())
        assert isinstance(testimony, TestReview), testimony
        assert list((self.services.attempt_dirs.parent / "clones").glob("review*")) == []
        return testimony


def _ignore(event: AnyEvent) -> None:
    del event


def _name(folder: Path) -> str:
    """What is left of a run is found by its name, and ended: tests beside each other must not share one."""
    return hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def _run(name: str, base: str, builder: RepositoryBuilder) -> Run:
    subject = Subject(branch="change", base="main", base_commit=base, head=builder.head, tree=builder.tree)
    nobody = Assignment(agent="analysers")
    started = RunStarted(
        at=1.0,
        run=name,
        mode=Mode.REVIEW,
        subject=subject,
        protocol=load("default").protocol,
        roles=Roles(review=nobody, fix=nobody),
    )
    return evolve(None, started)
