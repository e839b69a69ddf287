"""The embedded panel without the command around it: a workshop for one change, as a run has it."""

import asyncio
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.panel.reviews import STATIC_SEATS, Desk
from burnish.core.events import Mode
from burnish.core.values import Value
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.performing.bench import Bench
from burnish.runtime.performing.scenes import Scene
from burnish.runtime.performing.workshop import Workshop
from burnish.settings.loading import Flags
from burnish.settings.types import AnalyserSettings
from burnish.system import clock
from burnish.system.identifiers import new_run_id
from burnish.usecases.plan_run import RunRequest, plan
from burnish.workspace.clones import Clones

_Result = TypeVar("_Result")


class Stage(Value):
    """A change before the panel, with everything ready but the tools."""

    shop: Workshop
    scene: Scene
    environment: dict[str, str]

    @property
    def settings(self) -> AnalyserSettings:
        return self.shop.inputs.settings.analysers

    def new_bench(self) -> Bench:
        """One that knows no results yet."""
        return Bench(self.shop)

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
        shop = Workshop(
            run=new_run_id(clock.now()),
            repository=repository,
            ledger=ledger,
            inputs=planned.inputs,
            sandbox=planned.sandbox,
            clones=Clones(repository, cache / "clones"),
            policy_folder=str(made.root),
            folder=made.root / "runs",
            cache=cache,
            environment=environment,
        )
        scene = Scene(shop, planned.subject.base_commit, planned.subject.head)
        yield Stage(shop=shop, scene=scene, environment=environment)
        scene.discard()
