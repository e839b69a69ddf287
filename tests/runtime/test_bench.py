"""In which order the tools of a panel start: kingfisher takes longest, so that the others come after it."""

import asyncio
from pathlib import Path

import pytest

from burnish.agents.panel.interface import Hit, RuleSelection, Task, ToolError, ToolName
from burnish.agents.panel.rule_caches import compile_rules
from burnish.agents.panel.runner import AnalyserRunner
from burnish.settings.types import AnalyserSettings
from burnish.testing.repositories import RepositoryBuilder
from tests.runtime.fixers_desk import FixersDesk

FILES = ("a.py", "run.sh")
ONE_RULE = RuleSelection(select=("betterleaks.aws-access-token",))
"""Few rules are compiled in no time."""
NO_RULE = RuleSelection(select=("betterleaks.no-such-rule",))
OTHERS = (
    Task(tool=ToolName.RUFF, choice=RuleSelection(select=("F821",)), files=("a.py",)),
    Task(tool=ToolName.SHELLCHECK, choice=RuleSelection(), files=("run.sh",)),
)


@pytest.fixture
def harness(tmp_path: Path) -> FixersDesk:
    builder = RepositoryBuilder(tmp_path / "project").commit({"README.md": "A project.\n"}).branch("change")
    builder.commit({"a.py": "print(unknown)\n", "run.sh": '#!/bin/sh\ncd "$1"\n'})
    return FixersDesk(tmp_path / "cache" / "run", builder, AnalyserSettings(), {})


def kingfisher(choice: RuleSelection) -> Task:
    return Task(tool=ToolName.KINGFISHER, choice=choice, files=FILES)


def look(harness: FixersDesk, *seats: tuple[Task, ...]) -> list[tuple[Hit, ...] | BaseException]:
    """What each seat of a panel finds, side by side."""

    async def work() -> list[tuple[Hit, ...] | BaseException]:
        bench, stop = AnalyserRunner(harness.services), asyncio.Event()
        scene = await bench.snapshot(harness.run)

        async def seated(tasks: tuple[Task, ...]) -> tuple[Hit, ...]:
            found = await asyncio.gather(*(bench.introduced(scene, task, stop) for task in tasks))
            return tuple(hit for looked in found for hit in looked.hits)

        return await asyncio.gather(*(seated(seat) for seat in seats), return_exceptions=True)

    return asyncio.run(work())


def started(harness: FixersDesk) -> list[str]:
    """The tools in the order of their start, by which their logs are numbered."""
    logs = [
        path.stem.removeprefix("analyse-").rpartition("-")
        for path in harness.services.log_of("x").parent.glob("analyse-*")
    ]
    return [tool for _, tool in sorted((int(number), tool) for tool, _, number in logs)]


def rules(found: tuple[Hit, ...] | BaseException) -> list[str]:
    return [hit.rule for hit in found] if isinstance(found, tuple) else [type(found).__name__]


def test_kingfisher_starts_first_whoever_asks_for_it(harness: FixersDesk) -> None:
    asyncio.run(compile_rules(harness.services, tuple(f"--rule={rule}" for rule in ONE_RULE.select), asyncio.Event()))

    found = look(harness, OTHERS, (kingfisher(ONE_RULE),))

    assert started(harness)[0] == "kingfisher"
    assert [rules(one) for one in found] == [["F821", "SC2164"], []]


def test_nobody_waits_while_rules_are_compiled(harness: FixersDesk) -> None:
    look(harness, OTHERS, (kingfisher(ONE_RULE),))

    assert started(harness)[0] == "ruff"


def test_where_kingfisher_fails_the_others_do_their_work(harness: FixersDesk) -> None:
    missing, *rest = look(harness, (kingfisher(NO_RULE),), OTHERS)

    assert isinstance(missing, ToolError)
    assert [rules(one) for one in rest] == [["F821", "SC2164"]]


def test_where_nobody_needs_kingfisher_nobody_waits_for_it(harness: FixersDesk) -> None:
    assert [rules(one) for one in look(harness, OTHERS)] == [["F821", "SC2164"]]


def test_what_starts_early_is_the_same_run_and_its_failure_is_not_kept(harness: FixersDesk) -> None:
    async def work() -> tuple[list[list[str]], bool]:
        runner, stop = AnalyserRunner(harness.services), asyncio.Event()
        snapshot = await runner.snapshot(harness.run)
        runner.start_early(snapshot, OTHERS[0], stop)
        runner.start_early(snapshot, OTHERS[0], stop)
        found = [(await runner.introduced(snapshot, OTHERS[0], stop)).hits for _ in range(2)]
        runner.start_early(snapshot, kingfisher(NO_RULE), stop)
        with pytest.raises(ToolError):
            await runner.introduced(snapshot, kingfisher(NO_RULE), stop)
        before = len(started(harness))
        with pytest.raises(ToolError):
            await runner.introduced(snapshot, kingfisher(NO_RULE), stop)
        return [rules(one) for one in found], len(started(harness)) > before

    assert asyncio.run(work()) == ([["F821"], ["F821"]], True)
    assert started(harness).count("ruff") == 1
