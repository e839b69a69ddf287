"""The command line and the environment of one run of the tests, in one copy of the project."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.agents.analysers.witness.detection import DESK, REPORT
from burnish.agents.analysers.witness.values import Case, Framework, TestPlan

REPORT_NAME = "report"
PLUGIN = "burnish_witness"
COVERAGE_FOLDER = "third"
_WITH_PATHS = 'shift "$0"; exec "$@"'
# A later option of the project's own command still wins over these.
_PYTEST_OPTIONS = ("--color=no", "--continue-on-collection-errors", "--maxfail=0")


def command_line(plan: TestPlan, desk: str, only: Sequence[Case] = ()) -> tuple[str, ...]:
    """What to start: everything, or only some tests where the framework can tell them apart.

    A sandbox shows what a command line names. So what the tests need of the user's home is named, and dropped again.
    """
    narrow = plan.framework in (Framework.PYTEST, Framework.UNITTEST)
    names = [case.name for case in only if plan.framework is Framework.PYTEST or not case.loading] if narrow else []
    argv = (*(_filled(word, desk) for word in plan.argv), *names)
    return ("sh", "-c", _WITH_PATHS, str(len(plan.readable)), *plan.readable, *argv) if plan.readable else argv


def _filled(text: str, desk: str) -> str:
    return text.replace(REPORT, f"{desk}/{REPORT_NAME}").replace(DESK, desk)


def environment_of(
    plan: TestPlan, folder: Path, desk: str, users: Mapping[str, str], measured: Sequence[str] = ()
) -> dict[str, str]:
    """What the tests see. The copy's own code goes before anything that is installed."""
    report = f"{desk}/{REPORT_NAME}"
    told = {
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": ":".join((*import_folders(plan, folder), desk)),
        "PYTEST_PLUGINS": PLUGIN,
        "PYTEST_ADDOPTS": shlex.join((*_PYTEST_OPTIONS, "-o", f"cache_dir={desk}/cache")),
        "BURNISH_WITNESS_REPORT": report,
        "BURNISH_WITNESS_AVOID": plan.avoid,
    }
    if measured:
        told |= {
            "BURNISH_WITNESS_MEASURE": json.dumps(list(measured)),
            "BURNISH_WITNESS_COVERAGE": f"{desk}/{COVERAGE_FOLDER}",
        }
    if plan.framework is Framework.NODE:
        told["NODE_OPTIONS"] = f'--test-reporter=tap "--test-reporter-destination={report}"'
    told |= {name: _filled(value, desk) for name, value in plan.environment.items()}
    return {**users, **told, **_path(plan, folder, users)}


def _path(plan: TestPlan, folder: Path, users: Mapping[str, str]) -> dict[str, str]:
    """Tests that start `python` mean the one that runs them."""
    if plan.framework not in (Framework.PYTEST, Framework.UNITTEST) or "/" not in plan.argv[0]:
        return {}
    return {"PATH": f"{(folder / plan.argv[0]).parent}:{users.get('PATH', '')}"}


def import_folders(plan: TestPlan, folder: Path) -> tuple[str, ...]:
    """Where the code under test is, in this copy. A folder `src` that is a package itself is not one to import from."""
    named = (folder, folder / "src", *(folder / name for name in plan.imports))
    return tuple(
        str(place)
        for place in dict.fromkeys(named)
        if place == folder or (place.is_dir() and not (place / "__init__.py").exists())
    )
