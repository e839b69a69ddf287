"""How long the panel takes: a change of 500 lines in a project of 80,000, against its own tools and against pre-commit.

*The panel* is timed in this process, from the start of the first tool to the findings of all four static roles. Its
peer is the slowest of its tools, run alone on the same files and outside of any sandbox. *The command* is the whole
`burnish review`, and its peer the whole `pre-commit run` with the same tools, rules and files. *The large repository*
has 10,000 files and no tests; the peer are the same tools on the changed files, one after another.
"""

import asyncio
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import Figure, alternate, compare
from benchmarks.panel import generated
from benchmarks.panel.benches import Stage, stage
from benchmarks.panel.precommit import VERSION, configured, installed
from benchmarks.panel.reviews import STATIC_SEATS, Desk, desk
from burnish.agents.panel.checks import hits_for, tasks_for
from burnish.agents.panel.findings import findings_from
from burnish.agents.panel.interface import Task
from burnish.agents.panel.programs import program
from burnish.agents.panel.tools.registry import TOOLS
from burnish.core.findings import Finding
from burnish.testing.repositories import RepositoryBuilder

TIMES = 7
PANEL_LIMIT = 1.1
COMMAND_LIMIT = 1.0
LARGE_LIMIT = 2.0
LARGE_FILES = 10_000


def figures() -> Iterator[Figure]:
    with desk() as made:
        builder = generated.project(RepositoryBuilder(made.root / "project"))
        lines, changed = generated.lines_of(builder)
        about = f"{changed} lines in {lines:,}"
        with stage(made, builder.path) as ready:
            yield _panel(ready, about)
            tasks = _tasks(ready)
        yield from _command(made, builder.path, tasks, about)
        yield _large(made)


def _panel(ready: Stage, about: str) -> Figure:
    tasks = _tasks(ready)
    alone = {task: alternate(lambda task=task: _alone(ready, task), _nothing, 3)[0].minimum for task in tasks}
    slowest = max(tasks, key=lambda task: alone[task])
    found: list[int] = []

    def panel() -> None:
        found.append(len(ready.run(_look(ready))))

    figure = compare(
        f"panel: {about}",
        panel,
        lambda: _alone(ready, slowest),
        against=f"the slowest tool alone, {slowest.tool.value}",
        limit=PANEL_LIMIT,
        times=TIMES,
    )
    if not found[0]:
        raise RuntimeError("The panel found nothing in a change that is full of flaws.")
    return figure


def _command(made: Desk, folder: Path, tasks: Sequence[Task], about: str) -> Iterator[Figure]:
    tool = installed()
    if tool is None:
        print("no figure against pre-commit: it cannot be installed here")
        return
    hooks = configured(made.root, tool, tasks)
    protocol = made.protocol(STATIC_SEATS)

    def review() -> None:
        said = made.review(folder, "--protocol", protocol, "--base", "main")
        if said.error or not said.findings:
            raise RuntimeError(said.error or "nothing was found")

    yield compare(
        f"burnish review: {about}",
        review,
        lambda: hooks.run(folder, made.environment()),
        against=f"pre-commit {VERSION} with the same tools",
        limit=COMMAND_LIMIT,
        times=TIMES,
    )


def _large(made: Desk) -> Figure:
    files = {
        f"package{number // 100}/module{number % 100}.py": f"def compute_{number}(x):\n    return x * {number}\n"
        for number in range(LARGE_FILES)
    }
    user = "from package0.module1 import compute_1\n\n\ndef compute(value):\n    return compute_1(value)\n"
    builder = RepositoryBuilder(made.root / "large").commit(files)
    builder.branch("change").commit({f"package{number}/module0.py": user for number in range(5)})
    with stage(made, builder.path) as ready:
        tasks = _tasks(ready)

        def by_hand() -> None:
            for task in tasks:
                _alone(ready, task)

        def review() -> None:
            said = made.review(builder.path, "--base", "main")
            if said.error:
                raise RuntimeError(said.error)

        return compare(
            f"burnish review: 5 files of {LARGE_FILES:,}",
            review,
            by_hand,
            against="the same tools on these files, one after another",
            limit=LARGE_LIMIT,
            times=TIMES,
        )


def _tasks(ready: Stage) -> list[Task]:
    """Every run of a tool that the four roles need, once."""
    scene = ready.scene
    wanted = (tasks_for(role, scene.files, ready.settings, scene.configured) for role in STATIC_SEATS)
    return list(dict.fromkeys(task for tasks in wanted for task in tasks if task.tool in TOOLS))


async def _look(ready: Stage) -> list[Finding]:
    """What every role does, side by side, as in a run."""
    bench = ready.new_bench()
    stop = asyncio.Event()

    async def role(name: str) -> tuple[Finding, ...]:
        tasks = tasks_for(name, ready.scene.files, ready.settings, ready.scene.configured)
        looked = await asyncio.gather(*(bench.introduced(ready.scene, task, stop) for task in tasks))
        hits = tuple(hit for one in looked for hit in one.hits)
        return findings_from(name, hits_for(name, hits, ready.settings), ready.settings)

    found = await asyncio.gather(*(role(name) for name in STATIC_SEATS))
    return [finding for findings in found for finding in findings]


def _alone(ready: Stage, task: Task) -> None:
    folder = ready.scene.head.folder_for(task)
    call = TOOLS[task.tool].invocation(task.files, task.choice)
    subprocess.run(
        [program(task.tool), *call.arguments],
        cwd=folder,
        input=call.stdin,
        env={**ready.environment, **call.environment},
        capture_output=True,
        check=False,
    )


def _nothing() -> None:
    """No peer: the tools are only ranked among each other."""
