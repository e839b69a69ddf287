"""The witness on packages of node whose runner lists nothing before it runs, with a script in the place of vitest."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from burnish.agents.panel.project_tests.commands import SuiteSelection
from burnish.agents.panel.project_tests.comparison import SuiteComparison
from burnish.agents.panel.project_tests.detection import COMPILED_GO, KEPT_GO
from burnish.agents.panel.project_tests.former_tests import EditedTestFile
from burnish.agents.panel.project_tests.guarding import Guard
from burnish.agents.panel.project_tests.places import Tree
from burnish.agents.panel.project_tests.project_runs import ProjectRuns
from burnish.agents.panel.project_tests.running import TestRun, lay_out
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, Framework, SuiteEnd, TestPlan, TestResult
from burnish.agents.project_copies import installed_view
from burnish.core.values import replace
from burnish.workspace.views import CopyView
from tests.runtime.seats import Seats
from tests.runtime.witness_stand import Files, Stand, change, command

VITEST = """\
shift
files=""
for word in "$@"; do case "$word" in *.spec.js) files="$files $word" ;; esac; done
for file in ${files:-*.spec.js}; do
    printf '{"kind": "case", "name": "%s > runs", "outcome": "passed", "file": "%s"}\\n' "$file" "$file"
done >> "$BURNISH_WITNESS_REPORT"
echo '{"kind": "end", "code": 0}' >> "$BURNISH_WITNESS_REPORT"
"""
PACKAGE: Files = {
    "vitest": VITEST,
    "calc.js": "exports.one = 1;\n",
    "a.spec.js": "require('./calc');\n",
    "b.spec.js": "require('./calc');\n",
    "c.spec.js": "",
}


def test_the_base_is_asked_for_edited_files_alone(tmp_path: Path) -> None:
    head: Files = {"calc.js": "exports.one = 2;\n", "b.spec.js": "require('./calc.js');\n"}
    heard = Stand(tmp_path, change(tmp_path, PACKAGE, head), command("sh vitest run")).hear()
    ran = re.findall(r"^(\w+): \$ sh vitest run\n.*?(\d+) tests?,", heard.log, re.MULTILINE)
    assert {side: count for side, count in ran if side in ("head", "base", "former")} == {
        "head": "3",
        "base": "1",
        "former": "1",
    }


def test_tests_that_need_a_build_are_told_with_the_line_to_add(tmp_path: Path) -> None:
    scripts = '{"build": "tsc", "test": "exit 1 && vitest run", "test-unit": "vitest run"}'
    base: Files = {"package.json": f'{{"scripts": {scripts}}}\n', "calc.js": "exports.one = 1;\n"}
    heard = Stand(tmp_path, change(tmp_path, base, {"calc.js": "exports.one = 2;\n"})).hear()
    assert heard.missing is not None
    assert '[validate] tests = "npm run build && npm run test-unit"' in heard.missing.hint


PLAN = TestPlan(framework=Framework.VITEST, argv=("vitest",), text="vitest")
PASSED = Case(name="a.spec.js > runs", outcome=CaseOutcome.PASSED, file="a.spec.js")
FAILED = replace(PASSED, outcome=CaseOutcome.FAILED)


class _Runs:
    """Runs of tests in which one fails at random."""

    plan = PLAN
    run = SimpleNamespace(rounds=(), findings=())

    def __init__(self, again: Case) -> None:
        self._cases = {"former": FAILED, "former-again": again}
        self.changed = SimpleNamespace(
            renames={},
            base_files=frozenset({"a.spec.js"}),
            edits={"a.spec.js": EditedTestFile(path="a.spec.js", before="1", now="2")},
            empties=frozenset[str]().__contains__,
        )

    async def fresh_run(self, side: str, selection: SuiteSelection, restored: Mapping[str, bytes]) -> TestResult:
        assert selection.only
        assert restored
        return TestResult(ended=SuiteEnd.EXITED, code=1, cases=(self._cases[side],), lists_passed=True)

    async def tree(self) -> Tree:
        return Tree(root="/copy", is_file={"a.spec.js"}.__contains__)


async def _accused(again: Case) -> int:
    good = TestResult(ended=SuiteEnd.EXITED, code=0, cases=(PASSED,), lists_passed=True)
    guard = Guard(cast("ProjectRuns", _Runs(again)), SuiteSelection())
    return len((await guard.look(good, good, SuiteComparison())).findings)


async def _both() -> tuple[int, int]:
    return await _accused(FAILED), await _accused(PASSED)


def test_a_former_test_that_fails_at_random_accuses_no_change() -> None:
    assert asyncio.run(_both()) == (1, 0)


def test_a_copy_shows_the_dependencies_of_every_package_of_a_workspace(tmp_path: Path) -> None:
    base: Files = {".gitignore": "node_modules\n", "package.json": "{}", "packages/a/package.json": "{}", "b/x.js": ""}
    made = Seats(tmp_path, base, {"b/x.js": "1;\n"})
    for folder in ("", "packages/a"):
        (made.builder.path / folder / "node_modules" / "left").mkdir(parents=True)
    services, subject = made.harness.services, made.harness.run.subject
    clone = services.clones.make("copy", subject.base_commit, made.harness.run.commit, writable=True)
    view = installed_view(services, clone, ["b/x.js"])
    shown = {mount.target for mount in view.mounts}
    package = "packages/a/node_modules/left"
    assert str(view.root / package) in shown or (clone.path / package).is_symlink()


def test_tests_of_go_start_from_what_was_compiled_before(tmp_path: Path) -> None:
    services = Seats(tmp_path, {"a.go": ""}, {"a.go": "package a\n"}).harness.services
    kept = services.cache / KEPT_GO / "00"
    kept.mkdir(parents=True, exist_ok=True)
    (kept / "one").write_text("compiled")
    view = CopyView(folder=tmp_path, root=tmp_path)
    folder = lay_out(services, TestRun(view, replace(PLAN, framework=Framework.GO), "effect"))
    copied = folder / COMPILED_GO / "00" / "one"
    copied.write_text("changed")
    assert (kept / "one").read_text() == "compiled"
    assert not (lay_out(services, TestRun(view, PLAN, "effect")) / COMPILED_GO).exists()
