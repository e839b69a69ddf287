"""Copies behave like the checkout: their path, what is installed there, and whose code runs."""

import asyncio
import shutil
from pathlib import Path

import pytest

from burnish.core.evidence import Examined, Level
from burnish.core.findings import Severity
from burnish.settings.types import AnalyserSettings, Settings, WorkspaceSettings
from burnish.system.sandbox import Sandbox, SandboxKind, why_not
from tests.runtime.conftest import Hear
from tests.runtime.witness_stand import PYTEST, QUIET, Files, Stand, change, command, virtual_environment

needs_mounts = pytest.mark.skipif(bool(why_not(SandboxKind.BUBBLEWRAP)), reason="optional: bubblewrap")
needs_node = pytest.mark.skipif(shutil.which("npm") is None, reason="optional: npm")

CODE = "def double(number):\n    return number * 2\n"
WRONG = CODE.replace("* 2", "* 3")
TEST = "from calc import double\n\n\ndef test_double():\n    assert double(2) == 4\n"


@needs_mounts
def test_commands_see_the_copy_at_the_path_of_the_checkout(tmp_path: Path) -> None:
    """With git at work there, and the code of the copy behind every absolute path."""
    builder = change(tmp_path, {"a.txt": "base\n", "b.bin": "1\n"}, {"a.txt": "head\n"})
    root = builder.path
    line = f'test "$PWD" = {root} && git diff --quiet HEAD && git cat-file -e HEAD~0 && ! grep -q head {root}/a.txt'
    (finding,) = Stand(tmp_path, builder, command(line)).hear().findings
    assert finding.title.endswith("fails")


@needs_mounts
def test_an_editable_installation_imports_the_code_of_the_copy(tmp_path: Path) -> None:
    """The .pth of the checkout's own virtual environment names the checkout, whose code would pass."""
    isolated = "import calc; assert calc.double(2) == 4"
    start = f"subprocess.run([sys.executable, '-I', '-c', '{isolated}'], check=True)"
    test = f"import subprocess, sys\n\n\ndef test_it():\n    {start}\n"
    builder = change(
        tmp_path, {"code/calc.py": CODE, "tests/test_it.py": test, ".gitignore": ".venv\n"}, {"code/calc.py": WRONG}
    )
    virtual_environment(builder.path / ".venv", *PYTEST)
    (site,) = (builder.path / ".venv").glob("lib/python3*/site-packages")
    (site / "own.pth").write_text(f"{builder.path}/code\n")
    builder.write({"code/calc.py": CODE})
    heard = Stand(tmp_path, builder).hear()
    assert [finding.title for finding in heard.findings] == ["`tests/test_it.py::test_it` fails"]


PACKAGE = '{"name": "calc", "scripts": {"test": "node test.js"}, "dependencies": {"two": "1"}}'
NODE: Files = {
    "package.json": PACKAGE,
    ".gitignore": "node_modules\n",
    "calc.js": "const two = require('two');\nexports.double = (n) => n * two;\n",
    "test.js": "require('assert').strictEqual(require('./calc').double(2), 4);\n",
}
BROKEN: Files = {"calc.js": "const two = require('two');\nexports.double = (n) => n + two + 1;\n"}


@needs_node
@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_packages_of_the_checkout_are_used_and_not_written_to(tmp_path: Path, sandbox: str) -> None:
    builder = change(tmp_path, NODE, BROKEN)
    builder.write({"node_modules/two/index.js": "module.exports = 2;\n"})
    heard = Stand(tmp_path, builder, sandbox="off" if sandbox == "off" else "auto").hear()
    assert [finding.severity for finding in heard.findings] == [Severity.CRITICAL]
    assert [str(path.relative_to(builder.path)) for path in (builder.path / "node_modules").rglob("*.js")] == [
        "node_modules/two/index.js"
    ]


@needs_node
def test_tools_may_make_folders_between_the_packages_but_not_change_these(tmp_path: Path) -> None:
    """vite stops where it cannot; packages that are links, as pnpm makes them, stay links."""
    test = (
        "const fs = require('fs');\nfs.mkdirSync('node_modules/.vite-temp/a', { recursive: true });\n"
        "fs.mkdirSync('node_modules/.vite/new', { recursive: true });\n"
        "require('assert').throws(() => fs.writeFileSync('node_modules/.store/two/index.js', ''));\n"
        "require('assert').strictEqual(fs.readlinkSync('node_modules/two'), '.store/two');\n"
    )
    builder = change(
        tmp_path, {**NODE, "test.js": test + str(NODE["test.js"])}, {"calc.js": f"// Two\n{NODE['calc.js']}"}
    )
    builder.write({"node_modules/.store/two/index.js": "module.exports = 2;\n", "node_modules/.vite/old": ""})
    (builder.path / "node_modules" / "two").symlink_to(".store/two")
    heard = Stand(tmp_path, builder).hear()
    assert (heard.findings, heard.missing) == ((), None)
    assert sorted(path.name for path in (builder.path / "node_modules").iterdir()) == [".store", ".vite", "two"]


@needs_node
def test_packages_that_were_installed_for_something_else_are_not_used(tmp_path: Path) -> None:
    newer = PACKAGE.replace('"two": "1"', '"two": "2"')
    builder = change(tmp_path, NODE, {**BROKEN, "package.json": newer})
    builder.write({"package.json": PACKAGE, "node_modules/two/index.js": "module.exports = 2;\n"})
    heard = Stand(tmp_path, builder).hear()
    assert heard.missing is not None
    assert not heard.missing.excused
    assert heard.missing.reason == "node_modules does not match: package.json of the checkout lists other packages"


def test_the_nearest_project_of_each_changed_file_is_tested(hear: Hear) -> None:
    """In a repository of several, and with the names of the repository."""
    project = '[project]\nname = "one"\n'
    base: Files = {
        "one/pyproject.toml": project,
        "one/calc.py": CODE,
        "one/tests/test_calc.py": TEST,
        "two/pyproject.toml": project,
        "two/other.py": CODE,
        "two/tests/test_other.py": TEST.replace("calc", "other"),
        "three/pyproject.toml": project,
        "three/test_three.py": "def test_three():\n    assert False\n",
    }
    heard = hear(base, {"one/calc.py": WRONG, "two/other.py": WRONG})
    assert [finding.title for finding in heard.findings] == [
        "`one/tests/test_calc.py::test_double` fails",
        "`two/tests/test_other.py::test_double` fails",
    ]
    assert [finding.location.file for finding in heard.findings if finding.location] == [
        "one/tests/test_calc.py",
        "two/tests/test_other.py",
    ]


def test_what_passing_tests_ran_is_examined(hear: Hear) -> None:
    idle = "\n\ndef idle():\n    return 1\n"
    settings = Settings(analysers=AnalyserSettings(uncovered="low", mutations="off"))
    base: Files = {"calc.py": CODE, "gone.py": "", "other.py": f"x = 1{idle}", "tests/test_calc.py": TEST}
    later = {
        "calc.py": CODE.replace("number * 2", "2 * number"),
        "gone.py": None,
        "other.py": f"x = 1{idle}    # idle\n",
    }
    heard = hear(base, later, settings)
    assert heard.examined == (
        Examined(path="calc.py", level=Level.TESTED),
        Examined(path="gone.py", level=Level.TESTED),
    )


@pytest.mark.parametrize("path", ["README.md", "docs/guide.rst", ".github/workflows/ci.yml", "burnish.toml"])
def test_documents_need_no_tests(tmp_path: Path, path: str) -> None:
    heard = Stand(tmp_path, change(tmp_path, {"tests/test_calc.py": TEST, "calc.py": CODE}, {path: "words\n"})).hear()
    assert heard.missing is not None
    assert heard.missing.excused
    assert heard.missing.reason == "no test was run, because none can reach a changed file"


def test_a_project_may_do_without_its_tests(tmp_path: Path) -> None:
    settings = Settings(analysers=AnalyserSettings(tests="off"))
    heard = Stand(tmp_path, change(tmp_path, {"test_a.py": "x"}, {"a.py": "y = 1\n"}), settings).hear()
    assert heard.missing is not None
    assert heard.missing.excused
    assert "[analysers] tests" in heard.missing.reason


def test_tests_that_mostly_fail_on_the_base_are_no_evidence(hear: Hear) -> None:
    broken = (
        "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef database():\n    raise RuntimeError('no database')\n"
    )
    heard = hear({"calc.py": CODE, "conftest.py": broken, "tests/test_calc.py": TEST}, {"calc.py": WRONG})
    assert heard.missing is not None
    assert not heard.missing.excused
    assert heard.missing.reason == "1 of 1 tests fail on the base: RuntimeError: no database"


def test_a_preparation_works_at_the_path_of_the_checkout_too(tmp_path: Path) -> None:
    settings = Settings(
        analysers=QUIET.analysers,
        validate=command("grep -q good made").validate,
        workspace=WorkspaceSettings(prepare=("cp state made",)),
    )
    builder = change(tmp_path, {"state": "good\n", ".gitignore": "made\n"}, {"state": "bad\n"})
    (finding,) = Stand(tmp_path, builder, settings).hear().findings
    assert finding.severity is Severity.CRITICAL


@pytest.mark.parametrize("kind", SandboxKind)
def test_reviewers_share_a_clone_only_where_none_can_change_it(tmp_path: Path, kind: SandboxKind) -> None:
    """Under Landlock one could take a file's mode away, let another look, and put it back."""
    stand = Stand(tmp_path, change(tmp_path, {"a.txt": "base\n"}, {"a.txt": "head\n"}))
    services, base, head = stand.services, stand.run.subject.base_commit, stand.run.subject.head
    services.sandbox = Sandbox(kind=kind)

    async def read_at_once() -> None:
        async with services.read_only_clone("one", base, head) as one:
            async with services.read_only_clone("two", base, head) as two:
                assert (one.clone.path == two.clone.path) is (kind is SandboxKind.BUBBLEWRAP)
            assert (one.clone.path / "a.txt").read_text() == "head\n"
            one.is_spoiled = True
            async with services.read_only_clone("three", base, head) as three:
                assert three.clone.path != one.clone.path
        assert [path for path in one.clone.path.parent.iterdir() if not path.name.startswith(".")] == []

    asyncio.run(read_at_once())
