"""The embedded panel without the command around it: a workshop for one change, as a run has it."""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.panel.reviews import STATIC_SEATS, Desk
from burnish.agents.panel.runner import AnalyserRunner
from burnish.agents.panel.snapshots import ChangeSnapshot
from burnish.core.events import Mode
from burnish.core.values import Value
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.services import LocalServices
from burnish.settings.loading import Flags
from burnish.settings.types import AnalyserSettings
from burnish.system import clock
from burnish.system.identifiers import new_run_id
from burnish.usecases.plan_run import RunRequest, plan

_Result = TypeVar("_Result")


class Stage(Value):
    """A change before the panel, with everything ready but the tools."""

    services: LocalServices
    scene: ChangeSnapshot
    environment: dict[str, str]

    @property
    def settings(self) -> AnalyserSettings:
        return self.services.settings.analysers

    def new_bench(self) -> AnalyserRunner:
        """One that knows no results yet."""
        return AnalyserRunner(self.services)

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run(work)


@contextmanager
def stage(made: Desk, folder: Path) -> Generator[Stage]:
    """The branch of a repository that is checked out, against `main`."""
    environment = made.environment()
    wanted = RunRequest(mode=Mode.REVIEW, base="main", flags=Flags(protocol=made.protocol(STATIC_SEATS)))
    planned = plan(folder, wanted, environment)
    repository, cache = planned.repository, made.root / "cache"
    with open_ledger(made.root / "ledger") as ledger:
        services = LocalServices(
            run=new_run_id(clock.now()),
            repository=repository,
            ledger=ledger,
            context=planned.inputs,
            environment=environment,
            copies=cache / "copies",
            cache=cache,
            folder=made.root / "runs",
            policy_folder=str(made.root),
            sandbox=planned.sandbox,
        )
        scene = ChangeSnapshot(services, planned.subject.base_commit, planned.subject.head)
        yield Stage(services=services, scene=scene, environment=environment)
        scene.discard()
