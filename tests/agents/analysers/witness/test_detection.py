"""How a project is tested, from its files."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from burnish.agents.panel.project_tests.detection import Site, configured_plan
from burnish.agents.panel.project_tests.detection import detect as detect_all
from burnish.agents.panel.project_tests.pythons import Interpreter, editable_folders, is_test_file
from burnish.agents.panel.project_tests.values import Framework, NoTests, TestPlan
from burnish.settings.types import ValidationCommand


def detect(site: Site) -> TestPlan | NoTests:
    """The one way in which a project is tested."""
    (found,) = detect_all(site)
    return found


PYTHON = Interpreter(program="/opt/python/bin/python3")


def site(
    folder: Path, files: Mapping[str, str], *, pytest_on_path: bool = True, programs: tuple[str, ...] = ()
) -> Site:
    """A project, on a machine with a Python on its PATH and some other programs."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = folder.parent / "programs"
    path.mkdir()
    for program in programs:
        (path / program).write_text("#!/bin/sh\n")
        (path / program).chmod(0o755)
    return Site(
        folder=folder,
        environment={"PATH": str(path), "HOME": "/home/user"},
        python=lambda module: PYTHON if pytest_on_path or not module else None,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": "[tool.pytest.ini_options]\n"},
        {"setup.cfg": "[tool:pytest]\n"},
        {"tox.ini": "[pytest]\n"},
        {"pytest.ini": ""},
        {"conftest.py": ""},
        {"tests/unit/test_a.py": ""},
        {"pkg/a_test.py": ""},
    ],
)
def test_pytest_is_known_by_its_settings_and_its_files(project: Path, files: Mapping[str, str]) -> None:
    plan = detect(site(project, files))
    assert isinstance(plan, TestPlan)
    assert (plan.framework, plan.argv) == (Framework.PYTEST, (PYTHON.program, "-m", "pytest"))


def test_a_folder_that_is_no_project_does_not_have_the_tests_of_projects_in_it(project: Path) -> None:
    """Under pytest from there they would run without their own settings, and fail for that."""
    found = detect(site(project, {"service/pyproject.toml": "", "service/tests/test_a.py": ""}))
    assert isinstance(found, NoTests)
    assert found.absent


def test_unittest_is_for_tests_that_need_no_pytest(project: Path) -> None:
    plan = detect(site(project, {"test_a.py": "import unittest\n"}, pytest_on_path=False))
    assert isinstance(plan, TestPlan)
    assert plan.framework is Framework.UNITTEST


def test_tests_for_pytest_without_pytest_cannot_be_run(project: Path) -> None:
    found = detect(site(project, {"test_a.py": "import pytest\n"}, pytest_on_path=False))
    assert isinstance(found, NoTests)
    assert not found.absent


def test_the_virtual_environment_of_the_copy_is_named_by_its_path_inside(project: Path) -> None:
    files = {
        "test_a.py": "",
        ".venv/bin/python": "",
        ".venv/lib/python3.12/site-packages/pytest/__init__.py": "",
    }
    here = site(project, files)
    (project / ".venv/bin/python").chmod(0o755)
    plan = detect(here)
    assert isinstance(plan, TestPlan)
    assert plan.argv[0] == ".venv/bin/python"


@pytest.mark.parametrize(
    ("script", "command"),
    [
        ("npm run lint && vitest run", "vitest run"),
        ("pnpm lint:fix && eslint . --max-warnings 0 && TZ=UTC node --test", "TZ=UTC node --test"),
        ("tsc --noEmit -p . && prettier -c src && mocha", "mocha"),
        ("tsc && mocha", "npm test"),
        ("npm run build && vitest run", "npm test"),
        ("npm run lint-and-build && vitest run", "npm test"),
        ("npm run lint && jest unit && jest", "npm test"),
        ("npm run lint; vitest run", "npm test"),
        ("npm run lint && ./tests.sh", "npm test"),
    ],
)
def test_linters_before_the_tests_do_not_keep_them_from_running(project: Path, script: str, command: str) -> None:
    plan = detect(site(project, {"package.json": json.dumps({"scripts": {"test": script}})}))
    assert isinstance(plan, TestPlan)
    assert plan.text == command
    if command != "npm test":
        assert plan.argv[:3] == ("sh", "-c", f'PATH="$PWD/node_modules/.bin:$PATH"; {command} "$@"')


@pytest.mark.parametrize(
    ("lock", "manager"), [("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("package-lock.json", "npm")]
)
def test_missing_packages_are_installed_by_the_manager_of_the_lock_file(project: Path, lock: str, manager: str) -> None:
    package = json.dumps({"scripts": {"test": "jest"}, "devDependencies": {"jest": "*"}})
    found = detect(site(project, {"package.json": package, lock: ""}))
    assert isinstance(found, NoTests)
    assert f"({manager} install)" in found.hint


REPORTER = "{desk}/burnish_reporter.cjs"
JEST_REPORTER = f"--reporters={REPORTER}"


@pytest.mark.parametrize(
    ("script", "framework", "more"),
    [
        ("node --test", Framework.NODE, ()),
        ("tsc && NODE_ENV=test node --import tsx --test", Framework.NODE, ()),
        ("jest --ci", Framework.JEST, ("--", "--reporters=default", JEST_REPORTER, "--testLocationInResults")),
        ("npx jest", Framework.JEST, ("--", "--reporters=default", JEST_REPORTER, "--testLocationInResults")),
        ("vitest run", Framework.VITEST, ("--", "--reporter=default", f"--reporter={REPORTER}")),
        ("nyc mocha --recursive", Framework.MOCHA, ("--", "--reporter", REPORTER)),
        ("jest && eslint .", Framework.COMMAND, ()),
        ("./test.sh", Framework.COMMAND, ()),
    ],
)
def test_scripts_of_a_package(project: Path, script: str, framework: Framework, more: tuple[str, ...]) -> None:
    plan = detect(site(project, {"package.json": f'{{"scripts": {{"test": "{script}"}}}}'}, programs=("npm",)))
    assert isinstance(plan, TestPlan)
    assert (plan.framework, plan.argv) == (framework, ("npm", "test", *more))


def test_the_manager_that_wrote_the_lock_file_runs_the_script(project: Path) -> None:
    files = {"package.json": '{"scripts": {"test": "jest"}}', "pnpm-lock.yaml": ""}
    plan = detect(site(project, files, programs=("npm", "pnpm")))
    assert isinstance(plan, TestPlan)
    assert plan.argv[:3] == ("pnpm", "test", "--reporters=default")


@pytest.mark.parametrize(
    "text", ['{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}', '{"scripts": {}}', "{}"]
)
def test_a_package_without_tests_has_none(project: Path, text: str) -> None:
    found = detect(site(project, {"package.json": text}))
    assert isinstance(found, NoTests)
    assert found.absent


def test_go_and_cargo_stay_offline(project: Path) -> None:
    files = {"go.mod": "module x\n", "a_test.go": "", "Cargo.toml": ""}
    go = detect(site(project, files, programs=("go", "cargo")))
    assert isinstance(go, TestPlan)
    assert (go.framework, go.environment["GOPROXY"]) == (Framework.GO, "off")
    assert go.readable == ("/home/user/go/pkg/mod",)
    (project / "go.mod").unlink()
    environment = {"PATH": str(project.parent / "programs"), "HOME": "/home/user"}
    cargo = detect(Site(folder=project, environment=environment, python=lambda _: None))
    assert isinstance(cargo, TestPlan)
    assert cargo.argv == ("cargo", "test", "--offline", "--no-fail-fast")


def test_a_tool_that_is_missing_is_named(project: Path) -> None:
    found = detect(site(project, {"Cargo.toml": ""}))
    assert found == NoTests(reason="cargo is not installed", hint="Install cargo, or put it on the PATH.")


@pytest.mark.parametrize(
    ("text", "has_target"), [("test:\n\ttrue\n", True), ("all test: x\n", True), ("test := 1\n", False)]
)
def test_make_is_asked_only_where_it_has_the_target(project: Path, text: str, has_target: bool) -> None:
    found = detect(site(project, {"Makefile": text}, programs=("make",)))
    assert isinstance(found, TestPlan) is has_target


def test_tox_is_only_hinted_at(project: Path) -> None:
    found = detect(site(project, {"tox.ini": "[tox]\n"}))
    assert isinstance(found, NoTests)
    assert 'tests = "tox"' in found.hint


def test_folders_of_editable_installations_are_found(tmp_path: Path) -> None:
    place = tmp_path / "venv/lib/python3.12/site-packages"
    place.mkdir(parents=True)
    checkout = tmp_path / "checkout"
    (place / "a.pth").write_text(f"import os\n{checkout}/python\n/elsewhere\n")
    (place / "__editable___b_finder.py").write_text(f"MAPPING = {{'b': '{checkout}/lib/b', 'c': '/other/c'}}\n")
    interpreter = Interpreter(program="python", folder=tmp_path / "venv")
    assert editable_folders(interpreter, checkout) == ("python", "lib")


@pytest.mark.parametrize(
    ("path", "expected"),
    [("tests/helper.py", True), ("a/test_x.py", True), ("x_test.py", True), ("src/contest.py", False), ("a.py", False)],
)
def test_what_is_a_test(path: str, expected: bool) -> None:
    assert is_test_file(path) is expected


VITEST_REPORTER = ("--reporter=default", f"--reporter={REPORTER}")


@pytest.mark.parametrize(
    ("line", "scripts", "argv"),
    [
        ("pnpm run unit", {"unit": "vitest run"}, ("sh", "-c", 'pnpm run unit "$@"', "sh", *VITEST_REPORTER)),
        (
            "pnpm unit",
            {"unit": "pnpm inner", "inner": "vitest"},
            ("sh", "-c", 'pnpm unit "$@"', "sh", *VITEST_REPORTER),
        ),
        ("npm run unit", {"unit": "vitest run"}, ("sh", "-c", 'npm run unit "$@"', "sh", "--", *VITEST_REPORTER)),
        ("npx vitest run a", {}, ("sh", "-c", 'npx vitest run a "$@"', "sh", *VITEST_REPORTER)),
        ("pnpm exec vitest run", {}, ("sh", "-c", 'pnpm exec vitest run "$@"', "sh", *VITEST_REPORTER)),
        ("npm run unit", {"unit": "npm run inner", "inner": "vitest"}, ("sh", "-c", "npm run unit")),
        (
            "npm run build && pnpm unit",
            {"unit": "vitest run"},
            ("sh", "-c", 'npm run build && pnpm unit "$@"', "sh", *VITEST_REPORTER),
        ),
        ("vitest run | tee log", {}, ("sh", "-c", "vitest run | tee log")),
        ("pnpm unit", {"unit": "pnpm unit"}, ("sh", "-c", "pnpm unit")),
        ("make test", {}, ("sh", "-c", "make test")),
    ],
)
def test_configured_commands_that_end_in_a_known_runner_report_through_it(
    project: Path, line: str, scripts: dict[str, str], argv: tuple[str, ...]
) -> None:
    (project / "package.json").write_text(json.dumps({"scripts": scripts}))
    plan = configured_plan(ValidationCommand(line=line), {"PATH": ""}, project)
    assert (plan.argv, plan.text) == (argv, line)
    assert (plan.framework is Framework.VITEST) == (len(argv) > 3)


def test_a_script_that_only_starts_another_is_followed(project: Path) -> None:
    files = {"package.json": json.dumps({"scripts": {"test": "pnpm run unit", "unit": "vitest run"}})}
    plan = detect(site(project, {**files, "pnpm-lock.yaml": ""}, programs=("pnpm",)))
    assert isinstance(plan, TestPlan)
    assert plan.argv == ("pnpm", "test", *VITEST_REPORTER)
