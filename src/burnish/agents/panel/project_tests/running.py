"""The tests of a copy: which of them reach some files, and one run of them in the sandbox."""

import asyncio
import importlib.util
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from burnish.agents.panel.project_tests import inside
from burnish.agents.panel.project_tests.commands import (
    COUNTS_FOLDER,
    COVERAGE_FOLDER,
    EVERYTHING,
    PLUGIN,
    REPORT_NAME,
    Place,
    SuiteSelection,
    command_line,
    environment_of,
)
from burnish.agents.panel.project_tests.detection import (
    CONFIGURED,
    LISTING,
    PROFILE,
    TARGET,
    Site,
    configured_plan,
    detect,
)
from burnish.agents.panel.project_tests.projects import folders_above, language_of
from burnish.agents.panel.project_tests.pythons import Interpreter
from burnish.agents.panel.project_tests.reports import MOST_BYTES
from burnish.agents.panel.project_tests.results import Left, result_of
from burnish.agents.panel.project_tests.values import Framework, Language, NoTests, TestPlan, TestResult
from burnish.agents.services import Services, StoppedError
from burnish.core.reviews import Failure
from burnish.settings.types import Settings, ValidationCommand
from burnish.system.process import Command, Finished, How, ProcessLimits, run_now
from burnish.workspace.clones import Clone
from burnish.workspace.folders import remove_folder
from burnish.workspace.inside import read_inside
from burnish.workspace.views import CopyView, with_dependencies

Plans = dict[str, tuple[TestPlan | NoTests, ...]]
"""How tests are run, or why they cannot be, by the folder of their project."""
_LOG_TAIL = 64 * 1024
_MOST_DEPENDENCY_FILES = 2_000
_MOST_COUNTS = 500
_PROBE = "import sys, importlib.util as u; print(sys.executable, bool(not sys.argv[1] or u.find_spec(sys.argv[1])))"


class TestRun(NamedTuple):
    """Which tests are run, where, and under which name."""

    __test__ = False

    view: CopyView
    plan: TestPlan
    effect: str
    choice: SuiteSelection = EVERYTHING


async def prepared_view(
    services: Services, clone: Clone, effect: str, stop: asyncio.Event, paths: Iterable[str]
) -> CopyView | Failure:
    """A copy ready for tests: prepared by the policy, and with what the checkout has installed for these files."""
    failure = await services.prepare(clone, effect, stop, services.view(clone))
    return failure or await asyncio.to_thread(installed_view, services, clone, tuple(paths))


def installed_view(services: Services, clone: Clone, paths: Iterable[str]) -> CopyView:
    """A copy with what the checkout has installed for some files."""
    folders = {folder for path in paths for folder in folders_above(path, _is_file_in(clone.path))}
    return with_dependencies(services.view(clone), services.repository.root, sorted(folders | {""}))


def _is_file_in(folder: Path) -> Callable[[str], bool]:
    return lambda name: (folder / name).is_file()


def plans_for(view: CopyView, paths: Iterable[str], services: Services) -> Plans:
    """How the tests that can reach some files are run in a copy. Every file is reached by its nearest project's."""
    settings, environment = services.settings, services.tool_environment()
    configured = _configured(settings)
    if configured is not None:
        return {"": (configured_plan(configured, environment),)}
    checkout = services.repository.root

    def python(module: str) -> Interpreter | None:
        return _python_on_path(checkout, environment, module)

    wanted: dict[str, list[str]] = {}
    found: dict[tuple[str, str], bool] = {}
    for path in paths:
        language = language_of(path)
        for folder in folders_above(path, _is_file_in(view.folder)):
            site = _site(view, folder, services, python)
            key = (folder, language.value if language else "")
            if key not in found:
                found[key] = any(not _is_absent(each) for each in detect(site, (language,)))
            if found[key] or not folder:
                wanted.setdefault(folder, []).append(path)
                break
    return {
        folder: detect(_site(view, folder, services, python), {language_of(path) for path in names})
        for folder, names in wanted.items()
    }


def _site(view: CopyView, folder: str, services: Services, python: Callable[[str], Interpreter | None]) -> Site:
    return Site(
        folder=view.folder / folder,
        project=folder,
        checkout=services.repository.root,
        mounted=view.is_mounted,
        unfit=view.unfit,
        environment=services.tool_environment(),
        python=python,
    )


def _is_absent(found: TestPlan | NoTests) -> bool:
    return isinstance(found, NoTests) and found.absent


def _configured(settings: Settings) -> ValidationCommand | None:
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


async def run_tests(services: Services, tests: TestRun, stop: asyncio.Event, deadline: asyncio.Event) -> TestResult:
    """Run tests until they end, or their time is up, or the deadline is set, which then means the same."""
    view, plan = tests.view, tests.plan
    attempt_dir = await asyncio.to_thread(_lay_out, services, tests)
    place = Place(root=view.folder, seen=view.root, attempt_dir=str(attempt_dir))
    command = Command(
        argv=command_line(plan, str(attempt_dir), tests.choice),
        folder=str(view.folder / plan.project),
        environment=environment_of(plan, place, services.tool_environment(), tests.choice),
    )
    limits = ProcessLimits(seconds=services.settings.analysers.test_seconds, kept_bytes=MOST_BYTES)
    writable = (str(view.folder), str(attempt_dir))
    began = asyncio.get_running_loop().time()
    try:
        finished = await services.run_command(
            command, limits, effect=tests.effect, writable=writable, stop=deadline, view=view
        )
    except StoppedError:
        if stop.is_set():
            raise
        seconds = asyncio.get_running_loop().time() - began
        said = await asyncio.to_thread(_end_of, services.log_of(tests.effect))
        finished = Finished(how=How.TIMED_OUT, seconds=seconds, stdout=said)
    report = await asyncio.to_thread(read_inside, attempt_dir, REPORT_NAME, MOST_BYTES + 1)
    left = await asyncio.to_thread(_left, tests, attempt_dir)
    await asyncio.to_thread(remove_folder, attempt_dir)
    return result_of(plan, finished, report, str(view.root), left)


def _lay_out(services: Services, tests: TestRun) -> Path:
    """A fresh folder with what reports from inside the tests."""
    remove_folder(services.attempt_dir(tests.effect))
    attempt_dir = services.attempt_dir(tests.effect)
    name = f"{PLUGIN}.py"
    shutil.copyfile(Path(inside.__file__).with_name(name), attempt_dir / name)
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
