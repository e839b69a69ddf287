"""The command line and the environment of one run of the tests, in one copy of the project."""

import json
import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from burnish.agents.panel.project_tests.detection import DESK, REPORT
from burnish.agents.panel.project_tests.values import Framework, Language, TestPlan
from burnish.core.values import Value

REPORT_NAME = "report"
PLUGIN = "burnish_witness"
COVERAGE_FOLDER = "third"
COUNTS_FOLDER = "counts"
_WITH_PATHS = 'shift "$0"; exec "$@"'
# A later option of the project's own command still wins over these.
_PYTEST_OPTIONS = ("--color=no", "--continue-on-collection-errors", "--maxfail=0")
_GO_TEST = re.compile(r"\.((?:Test|Example|Fuzz)\w*)(?=/|$)")
_MOST_NAMES = 200


class Place(Value):
    """Where tests run: a copy of the repository, the path at which they see it, and a folder for what they report."""

    root: Path
    seen: Path
    attempt_dir: str


class SuiteSelection(Value):
    """Which tests are run, by name; all, where none is named. And what is measured meanwhile."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    """Tests that are left out, where the framework can do that."""
    measured: tuple[str, ...] = ()
    """Files from the root of the repository whose lines are measured, whether they run or not."""
    everything: bool = False
    """Every other file of the project is measured, too, if it runs."""


EVERYTHING = SuiteSelection()


def can_choose(plan: TestPlan) -> bool:
    """Whether single tests can be run."""
    return plan.framework in (Framework.PYTEST, Framework.UNITTEST, Framework.GO)


def command_line(plan: TestPlan, attempt_dir: str, choice: SuiteSelection = EVERYTHING) -> tuple[str, ...]:
    """What to start: everything, or only some tests where the framework can tell them apart.

    A sandbox shows what a command line names. So what the tests need of the user's home is named, and dropped again.
    """
    argv = (
        *(_filled(word, attempt_dir) for word in plan.argv),
        *_selection(plan, choice.only),
        *_omission(plan, choice.without),
    )
    return ("sh", "-c", _WITH_PATHS, str(len(plan.readable)), *plan.readable, *argv) if plan.readable else argv


def _selection(plan: TestPlan, only: Sequence[str]) -> tuple[str, ...]:
    if not only:
        return ()
    match plan.framework:
        case Framework.PYTEST:
            files = dict.fromkeys(name.partition("::")[0] for name in only)
            names = only if len(only) <= _MOST_NAMES else tuple(files)
            return tuple(_from_project(name, plan.project) for name in names)
        case Framework.UNITTEST:
            return tuple(only)
        case Framework.GO:
            found = dict.fromkeys(match[1] for name in only if (match := _GO_TEST.search(name)))
            return ("-run", f"^({'|'.join(found)})$") if found else ()
        case _:
            return ()


def _omission(plan: TestPlan, without: Sequence[str]) -> Iterator[str]:
    if plan.framework is Framework.PYTEST:
        for name in without[:_MOST_NAMES]:
            yield from ("--deselect", _from_project(name, plan.project))


def _from_project(name: str, project: str) -> str:
    file, separator, rest = name.partition("::")
    return f"{posixpath.relpath(file, project or '.')}{separator}{rest}"


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
    if choice.measured or choice.everything:
        told |= {
            "BURNISH_WITNESS_MEASURE": json.dumps(list(choice.measured)),
            "BURNISH_WITNESS_EVERYTHING": "1" if choice.everything else "",
            "BURNISH_WITNESS_COVERAGE": f"{attempt_dir}/{COVERAGE_FOLDER}",
        }
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
