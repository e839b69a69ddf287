"""The tests of a copy: which of them reach some files, and one run of them in the sandbox."""

import asyncio
import importlib.util
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from burnish.agents.panel.project_tests import inside
from burnish.agents.panel.project_tests.commands import (
    CHOICE_NAME,
    COUNTS_FOLDER,
    COVERAGE_FOLDER,
    EVERYTHING,
    REPORT_NAME,
    Place,
    SuiteSelection,
    command_line,
    environment_of,
)
from burnish.agents.panel.project_tests.detection import (
    COMPILED_GO,
    CONFIGURED,
    KEPT_GO,
    LISTING,
    PROFILE,
    TARGET,
    Site,
    configured_plan,
    detect,
    is_workspace,
)
from burnish.agents.panel.project_tests.progress import Progress
from burnish.agents.panel.project_tests.projects import language_of
from burnish.agents.panel.project_tests.pythons import Interpreter
from burnish.agents.panel.project_tests.reports import MOST_BYTES
from burnish.agents.panel.project_tests.results import Left, result_of
from burnish.agents.panel.project_tests.values import Framework, Language, NoTests, TestPlan, TestResult
from burnish.agents.project_copies import projects_around
from burnish.agents.services import Services, StoppedError
from burnish.core.values import replace
from burnish.settings.types import Settings, ValidationCommand
from burnish.system.process import Command, Finished, How, ProcessLimits, run_now
from burnish.workspace.folders import read_inside, remove_folder
from burnish.workspace.views import CopyView

Plans = dict[str, tuple[TestPlan | NoTests, ...]]
"""How tests are run, or why they cannot be, by the folder of their project."""
_LOG_TAIL = 64 * 1024
_MOST_DEPENDENCY_FILES = 2_000
_MOST_COUNTS = 500
_PROBE = "import sys, importlib.util as u; print(sys.executable, bool(not sys.argv[1] or u.find_spec(sys.argv[1])))"


POLL_SECONDS = 0.25


class TestRun(NamedTuple):
    """Which tests are run, where, and under which name."""

    __test__ = False

    view: CopyView
    plan: TestPlan
    effect: str
    choice: SuiteSelection = EVERYTHING
    told: str = ""
    """The effect whose live line counts the tests; none, where it is empty."""
    label: str = "tests"
    watch: Callable[[Progress], bool] | None = None
    """Is asked now and then whether the run must end."""


def plans_for(view: CopyView, paths: Iterable[str], services: Services) -> Plans:
    """How the tests that can reach some files are run in a copy. Every file is reached by its nearest project's."""
    checkout, environment = services.repository.root, services.tool_environment()
    site = Site(
        folder=view.folder,
        checkout=checkout,
        mounted=view.is_mounted,
        unfit=view.unfit,
        environment=environment,
        python=partial(_python_on_path, checkout, environment),
    )
    return _plans(site, paths, services.settings)


def plans_in(checkout: Path, paths: Iterable[str], settings: Settings, environment: Mapping[str, str]) -> Plans:
    """How the tests that can reach some files would be run, as far as a checkout tells."""
    python = partial(_python_on_path, checkout, environment)
    return _plans(Site(folder=checkout, checkout=checkout, environment=environment, python=python), paths, settings)


def _plans(root: Site, paths: Iterable[str], settings: Settings) -> Plans:
    configured = configured_command(settings)
    if configured is not None:
        return {"": (configured_plan(configured, root.environment, root.folder),)}
    wanted: dict[str, list[str]] = {}
    found: dict[tuple[str, str], bool] = {}
    for path in paths:
        language = language_of(path)
        folders = list(projects_around(path, root.folder))
        for folder in _of_workspace(folders, root.folder) if language is Language.RUST else folders:
            key = (folder, language.value if language else "")
            if key not in found:
                found[key] = any(not _is_absent(each) for each in detect(_inside(root, folder), (language,)))
            if found[key] or not folder:
                wanted.setdefault(folder, []).append(path)
                break
    return {
        folder: detect(_inside(root, folder), {language_of(path) for path in names}) for folder, names in wanted.items()
    }


def _inside(root: Site, folder: str) -> Site:
    return replace(root, folder=root.folder / folder, project=folder)


def _of_workspace(folders: list[str], root: Path) -> list[str]:
    """The folders without crates of a workspace: crates that depend on a changed one are tested with it."""
    found = (at for at, folder in enumerate(folders) if is_workspace(root / folder))
    return folders[next(found, 0) :]


def _is_absent(found: TestPlan | NoTests) -> bool:
    return isinstance(found, NoTests) and found.absent


def configured_command(settings: Settings) -> ValidationCommand | None:
    """The command that the policy names for the tests."""
    commands = settings.validate.commands
    return next((commands[name] for name in CONFIGURED if name in commands), None)


def _python_on_path(folder: Path, environment: Mapping[str, str], module: str) -> Interpreter | None:
    """The user's own interpreter; a manager's shim is asked which one it stands for. No code of the change is run."""
    program = shutil.which("python3", path=environment.get("PATH", ""))
    if program is None:
        return None
    command = Command(argv=(program, "-I", "-c", _PROBE, module), folder=str(folder), environment=dict(environment))
    probed = run_now(command)
    found, _, able = probed.stdout.decode(errors="replace").strip().rpartition(" ")
    return Interpreter(program=found) if probed.code == 0 and able == "True" and found else None


async def run_tests(services: Services, tests: TestRun, stop: asyncio.Event) -> TestResult:
    """Run tests until they end, or their time is up, or their watch ends them, which then means the same."""
    view, plan = tests.view, tests.plan
    attempt_dir = await asyncio.to_thread(lay_out, services, tests)
    place = Place(root=view.folder, seen=view.root, attempt_dir=str(attempt_dir))
    command = Command(
        argv=command_line(plan, str(attempt_dir), tests.choice),
        folder=str(view.folder / plan.project),
        environment=environment_of(plan, place, services.tool_environment(), tests.choice),
    )
    limits = ProcessLimits(seconds=services.settings.analysers.test_seconds, kept_bytes=MOST_BYTES)
    writable = (str(view.folder), str(attempt_dir))
    progress, over = Progress(plan.framework, attempt_dir / REPORT_NAME), asyncio.Event()
    watching = asyncio.create_task(_watch(services, tests, progress, stop, over))
    try:
        finished = await services.run_command(
            command, limits, effect=tests.effect, writable=writable, stop=over, view=view, on_line=progress.hear
        )
    except StoppedError:
        if stop.is_set():
            raise
        said = await asyncio.to_thread(_end_of, services.log_of(tests.effect))
        how = How.TIMED_OUT if progress.code is None else How.EXITED
        finished = Finished(how=how, code=progress.code, seconds=progress.seconds, stdout=said)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    report = await asyncio.to_thread(read_inside, attempt_dir, REPORT_NAME, MOST_BYTES + 1)
    left = await asyncio.to_thread(_left, tests, attempt_dir)
    await asyncio.to_thread(remove_folder, attempt_dir)
    result = result_of(plan, finished, report, str(view.root), left)
    return replace(result, quiet_seconds=progress.quiet_seconds)


async def _watch(
    services: Services, tests: TestRun, progress: Progress, stop: asyncio.Event, over: asyncio.Event
) -> None:
    """Tell how far a run is. End it when it has said its last and does not go, and when its watch says so."""
    told = ""
    while not over.is_set():
        await asyncio.sleep(POLL_SECONDS)
        await asyncio.to_thread(progress.read)
        if tests.told and progress.text and progress.text != told:
            told = progress.text
            services.activity(tests.told, f"{tests.label} {told}")
        if stop.is_set() or progress.is_over or (tests.watch is not None and tests.watch(progress)):
            over.set()


def lay_out(services: Services, tests: TestRun) -> Path:
    """A fresh folder with what reports from inside the tests."""
    remove_folder(services.attempt_dir(tests.effect))
    attempt_dir = services.attempt_dir(tests.effect)
    chosen = tests.choice.for_runner
    if chosen is not None:
        (attempt_dir / CHOICE_NAME).write_bytes(chosen)
    for file in Path(inside.__file__).parent.glob("burnish_*"):
        shutil.copyfile(file, attempt_dir / file.name)
    if tests.plan.framework is Framework.GO:
        # A copy: tests could write into the cache itself. Whatever is half written there, go takes for missing.
        with suppress(OSError, shutil.Error):
            shutil.copytree(services.cache / KEPT_GO, attempt_dir / COMPILED_GO)
    measured = tests.choice.measured or tests.choice.everything
    spec = importlib.util.find_spec("coverage") if measured else None
    if spec is not None and spec.origin is not None:
        target = attempt_dir / COVERAGE_FOLDER / "coverage"
        shutil.copytree(Path(spec.origin).parent, target, ignore=shutil.ignore_patterns("__pycache__"))
    return attempt_dir


def _left(tests: TestRun, attempt_dir: Path) -> Left:
    """What go and cargo left in the folder. Tests can write there as they like: nothing is followed out of it."""
    match tests.plan.framework:
        case Framework.GO:
            manifest = f"{tests.plan.project}/go.mod" if tests.plan.project else "go.mod"
            return Left(
                profile=_text(attempt_dir, PROFILE),
                listing=_text(attempt_dir, LISTING),
                go_mod=_text(tests.view.folder, manifest),
            )
        case Framework.CARGO:
            found = sorted((attempt_dir / TARGET).rglob("*.d"))[:_MOST_DEPENDENCY_FILES]
            return Left(dependencies=tuple(_text(attempt_dir, str(file.relative_to(attempt_dir))) for file in found))
        case _ if tests.plan.language is Language.NODE:
            found = sorted((attempt_dir / COUNTS_FOLDER).glob("*.json"))[:_MOST_COUNTS]
            names = [str(file.relative_to(attempt_dir)) for file in found] if tests.choice.measured else []
            return Left(
                counts=tuple(read_inside(attempt_dir, name, MOST_BYTES) or b"" for name in names),
                related=bool(tests.choice.related),
                texts={path: _text(tests.view.folder, path) for path in tests.choice.measured},
            )
        case _:
            return Left()


def _text(folder: Path, name: str) -> str:
    return (read_inside(folder, name, MOST_BYTES) or b"").decode("utf-8", errors="replace")


def _end_of(log: Path) -> bytes:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - _LOG_TAIL))
        return stream.read()
