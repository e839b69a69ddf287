"""The command line and the environment of one run of the tests, in one copy of the project."""

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from burnish.agents.panel.project_tests.detection import DESK, REPORT
from burnish.agents.panel.project_tests.values import Framework, Language, TestPlan, parts_of
from burnish.core.values import Value

REPORT_NAME = "report"
PLUGIN = "burnish_witness"
SEQUENCER = "burnish_sequencer.cjs"
COVERAGE_FOLDER = "third"
COUNTS_FOLDER = "counts"
CHOICE_NAME = "choice.json"
_WITH_PATHS = 'shift "$0"; exec "$@"'
_IN_TWO_PARTS = 'sh -c "$0"; first=$?; sh -c "$1"; rest=$?; [ "$first" = 0 ] && exit "$rest"; exit "$first"'
# A later option of the project's own command still wins over these.
_PYTEST_OPTIONS = ("--color=no", "--continue-on-collection-errors", "--maxfail=0")
_GO_TEST = re.compile(r"\.((?:Test|Example|Fuzz)\w*)(?=/|$)")
_MOST_FILES = 200


class Place(Value):
    """Where tests run: a copy of the repository, the path at which they see it, and a folder for what they report."""

    root: Path
    seen: Path
    attempt_dir: str


class RecordedFunction(Value):
    """A function: what calls of tests that run it come to is recorded."""

    file: str
    name: str
    line: int
    """The first one, with its decorators."""
    turn: int = 0
    """Tells a repeated run from the first one."""
    parameter: str = ""
    """Where a boundary is moved: what is compared with it."""
    boundary: int = 0


class SuiteSelection(Value):
    """Which tests are run, by name; all, where none is named. And what is measured meanwhile."""

    only: tuple[str, ...] = ()
    """Names of tests, and files of tests that stand for all that is in them."""
    without: tuple[str, ...] = ()
    """Tests that are left out, where the framework can do that."""
    first: tuple[str, ...] = ()
    """Files or packages of tests that are run before all others, where the framework can do that."""
    related: tuple[str, ...] = ()
    """Changed files: with `listing`, only the files of tests are listed that reach them, by jest."""
    listing: bool = False
    """The tests are only listed, by frameworks that report through `inside`."""
    measured: tuple[str, ...] = ()
    """Files from the root of the repository whose lines are measured, whether they run or not."""
    everything: bool = False
    """Every other file of the project is measured, too, if it runs."""
    by_test: bool = False
    """Of each measured line it is told which tests run it, by frameworks that report through `inside`."""
    until_failure: bool = False
    """The first test that fails ends the run, where the framework can do that."""

    recorded: RecordedFunction | None = None
    """What calls of tests come to is recorded, by frameworks of Python."""

    @property
    def for_runner(self) -> bytes | None:
        """What `inside` must know of it."""
        if self == SuiteSelection(related=self.related, measured=self.measured, everything=self.everything):
            return None
        return msgspec.json.encode(
            {
                "only": self.only,
                "without": self.without,
                "first": self.first,
                "listing": self.listing,
                "by_test": self.by_test,
                "until_failure": self.until_failure,
                "recorded": self.recorded,
            }
        )


EVERYTHING = SuiteSelection()


def can_list(plan: TestPlan) -> bool:
    """Whether the tests can be listed without being run."""
    return plan.framework in (Framework.PYTEST, Framework.UNITTEST)


def can_choose(plan: TestPlan) -> bool:
    """Whether single tests can be run."""
    return plan.framework not in (Framework.NODE, Framework.COMMAND)


def runs_files(plan: TestPlan) -> bool:
    """Whether single files of tests can be run, by runners that list nothing before."""
    return plan.framework in (Framework.JEST, Framework.VITEST)


def command_line(plan: TestPlan, attempt_dir: str, choice: SuiteSelection = EVERYTHING) -> tuple[str, ...]:
    """What to start. pytest and unittest are told by a file which tests are meant; others by their arguments.

    A sandbox shows what a command line names. So what the tests need of the user's home is named, and dropped again.
    """
    argv = tuple(_filled(word, attempt_dir) for word in (*plan.argv, *_selection(plan, choice)))
    if plan.framework is Framework.CARGO and choice.first and not choice.only:
        argv = ("sh", "-c", _IN_TWO_PARTS, *_crates_first(argv, choice.first))
    return ("sh", "-c", _WITH_PATHS, str(len(plan.readable)), *plan.readable, *argv) if plan.readable else argv


def _crates_first(argv: tuple[str, ...], crates: tuple[str, ...]) -> Iterator[str]:
    """Two commands: cargo has no order of its own."""
    plain = [word for word in argv if word != "--workspace"]
    first = (*plain, *(word for crate in crates for word in ("-p", crate)))
    rest = (*plain, "--workspace", *(word for crate in crates for word in ("--exclude", crate)))
    yield from (shlex.join(first), shlex.join(rest))


def _selection(plan: TestPlan, choice: SuiteSelection) -> tuple[str, ...]:
    match plan.framework:
        case Framework.PYTEST if choice.only:
            files = tuple(dict.fromkeys(name.partition("::")[0] for name in choice.only))
            return tuple(_from_project(file, plan.project) for file in files) if len(files) <= _MOST_FILES else ()
        case Framework.GO:
            found = dict.fromkeys(match[1] for name in choice.only if (match := _GO_TEST.search(name)))
            return (*(("-run", f"^({'|'.join(found)})$") if found else ()), *choice.first)
        case Framework.CARGO if choice.only:
            return ("--", "--exact", *choice.only)
        case Framework.JEST | Framework.VITEST:
            return tuple(_of_jest(plan, choice))
        case _:
            return ()


def _of_jest(plan: TestPlan, choice: SuiteSelection) -> Iterator[str]:
    """Files and names of tests, as jest and vitest take them."""
    if choice.related:
        yield from ("--listTests", "--findRelatedTests")
        yield from (_from_project(path, plan.project) for path in choice.related)
    elif choice.first and plan.framework is Framework.JEST:
        yield f"--testSequencer={DESK}/{SEQUENCER}"
    if choice.only:
        found = [parts_of(name) for name in choice.only]
        names = dict.fromkeys(rest for _, _, rest in found if rest)
        if all(rest for _, _, rest in found):
            pattern = "|".join(re.escape(name).replace(r"\ >\ ", ".{1,3}") for name in names)
            yield from ("-t", f"^(?:{pattern})$")
        yield "--passWithNoTests"
        yield from ("--runTestsByPath",) if plan.framework is Framework.JEST else ()
        yield from dict.fromkeys(_from_project(file, plan.project) for file, _, _ in found)


def _from_project(path: str, project: str) -> str:
    return posixpath.relpath(path, project or ".")


def _filled(text: str, attempt_dir: str) -> str:
    return text.replace(REPORT, f"{attempt_dir}/{REPORT_NAME}").replace(DESK, attempt_dir)


def environment_of(
    plan: TestPlan, place: Place, users: Mapping[str, str], choice: SuiteSelection = EVERYTHING
) -> dict[str, str]:
    """What the tests see. The copy's own code goes before anything that is installed."""
    attempt_dir = place.attempt_dir
    report = f"{attempt_dir}/{REPORT_NAME}"
    told = {
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": ":".join((*import_folders(plan, place), attempt_dir)),
        "PYTEST_PLUGINS": PLUGIN,
        "PYTEST_ADDOPTS": shlex.join((*_PYTEST_OPTIONS, "-o", f"cache_dir={attempt_dir}/cache")),
        "BURNISH_WITNESS_REPORT": report,
        "BURNISH_WITNESS_ROOT": str(place.seen),
        "BURNISH_WITNESS_AVOID": plan.avoid,
    }
    if choice.for_runner is not None:
        told["BURNISH_WITNESS_CHOICE"] = f"{attempt_dir}/{CHOICE_NAME}"
    if choice.measured or choice.everything:
        told |= {
            "BURNISH_WITNESS_MEASURE": json.dumps(list(choice.measured)),
            "BURNISH_WITNESS_EVERYTHING": "1" if choice.everything else "",
            "BURNISH_WITNESS_COVERAGE": f"{attempt_dir}/{COVERAGE_FOLDER}",
        }
    if choice.by_test:
        told["COVERAGE_CORE"] = "ctrace"  # the others report a line only for the first test that runs it
    if choice.recorded:
        told["PYTHONHASHSEED"] = "0"  # the order of sets is the same in all runs that are compared
    if plan.framework is Framework.NODE:
        told["NODE_OPTIONS"] = f'--test-reporter=tap "--test-reporter-destination={report}"'
    if plan.language is Language.NODE and choice.measured:
        told["NODE_V8_COVERAGE"] = f"{attempt_dir}/{COUNTS_FOLDER}"
    told |= {name: _filled(value, attempt_dir) for name, value in plan.environment.items()}
    return {**users, **told, **_path(plan, place, users)}


def _path(plan: TestPlan, place: Place, users: Mapping[str, str]) -> dict[str, str]:
    """Tests that start `python` mean the one that runs them."""
    if plan.framework not in (Framework.PYTEST, Framework.UNITTEST) or "/" not in plan.argv[0]:
        return {}
    return {"PATH": f"{(place.seen / plan.project / plan.argv[0]).parent}:{users.get('PATH', '')}"}


def import_folders(plan: TestPlan, place: Place) -> tuple[str, ...]:
    """Where the code under test is, as the tests see it. A folder that is a package is not one to import from."""
    project = place.root / plan.project
    named = dict.fromkeys((project, project / "src", *(place.root / name for name in plan.imports)))
    kept = (found for found in named if found == project or (found.is_dir() and not (found / "__init__.py").exists()))
    return tuple(str(place.seen / found.relative_to(place.root)) for found in kept)
