"""Which checks the base configures for a change, and how they are run here."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.project_checks.detection import (
    CHECKS,
    CannotRun,
    CheckPlan,
    CommitTree,
    Configured,
    Machine,
    configured_checks,
    plan_for,
    steers,
)
from burnish.settings.types import PROJECT_CHECKS


def tree(files: Mapping[str, str]) -> CommitTree:
    return CommitTree(files, files.__getitem__)


def found(base: Mapping[str, str], *changed: str, head: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    checks = configured_checks(tree(base), tree(base if head is None else head), changed)
    return [(check.tool.value, check.file) for check in checks]


def test_the_settings_know_every_check() -> None:
    assert tuple(tool.value for tool in CHECKS) == PROJECT_CHECKS


@pytest.mark.parametrize(
    ("files", "changed", "expected"),
    [
        ({"pyproject.toml": "[tool.mypy]\n"}, "a.py", [("mypy", "pyproject.toml")]),
        ({"setup.cfg": "[mypy]\n"}, "a.py", [("mypy", "setup.cfg")]),
        ({"setup.cfg": "[flake8]\n"}, "a.py", []),
        ({"pyproject.toml": "[tool.ruff]\n"}, "a.py", []),
        ({"pyproject.toml": "not toml"}, "a.py", []),
        ({"pyproject.toml": "[tool.basedpyright]\n"}, "a.py", [("pyright", "pyproject.toml")]),
        ({"pyrightconfig.json": "{}"}, "src/a.pyi", [("pyright", "pyrightconfig.json")]),
        ({"mypy.ini": "[mypy]\n"}, "README.md", []),
        ({"tsconfig.json": "{}"}, "src/a.ts", [("tsc", "tsconfig.json")]),
        ({"package.json": '{"scripts": {"lint": "eslint ."}}'}, "a.js", [("lint", "package.json")]),
        ({"package.json": '{"scripts": {"test": "jest"}}'}, "a.js", []),
        ({"package.json": "{ broken"}, "a.js", []),
        ({"go.mod": "module x\n"}, "a.go", [("go-vet", "go.mod")]),
        ({"Cargo.toml": ""}, "src/a.rs", [("cargo", "Cargo.toml")]),
        ({".pre-commit-config.yaml": ""}, "docs/a.md", [("pre-commit", ".pre-commit-config.yaml")]),
        ({".lefthook.yaml": ""}, "a.txt", [("lefthook", ".lefthook.yaml")]),
        ({"go.mod": "module x\n"}, "pkg/testdata/a.go", []),
    ],
)
def test_a_check_is_meant_where_the_base_configures_it(
    files: dict[str, str], changed: str, expected: list[tuple[str, str]]
) -> None:
    assert found(files, changed) == expected


def test_the_nearest_project_counts_and_every_one_that_is_changed() -> None:
    files = {"tsconfig.json": "{}", "web/tsconfig.json": "{}", "web/api/go.mod": "module x\n"}
    assert found(files, "web/src/a.ts") == [("tsc", "web/tsconfig.json")]
    assert found(files, "web/a.ts", "a.ts", "web/api/a.go") == [
        ("tsc", "web/tsconfig.json"),
        ("tsc", "tsconfig.json"),
        ("go-vet", "web/api/go.mod"),
    ]


def test_a_change_cannot_switch_a_check_off_or_bring_one_for_old_code() -> None:
    assert found({"mypy.ini": "", "a.py": ""}, "a.py", "mypy.ini", head={"a.py": ""}) == [("mypy", "mypy.ini")]
    assert found({"a.py": ""}, "a.py", "mypy.ini", head={"a.py": "", "mypy.ini": ""}) == []


def test_a_project_that_is_all_new_is_checked_as_it_says_itself() -> None:
    assert found({"README.md": ""}, "go.mod", "a.go", head={"go.mod": "module x\n", "a.go": ""}) == [
        ("go-vet", "go.mod")
    ]


def test_a_tsconfig_that_only_refers_to_others_means_those() -> None:
    files = {
        "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}, {"path": "./lib"}]}',
        "tsconfig.app.json": "{}",
        "lib/tsconfig.json": "{}",
    }
    assert found(files, "src/a.ts") == [("tsc", "tsconfig.app.json"), ("tsc", "lib/tsconfig.json")]


@pytest.mark.parametrize("path", ["mypy.ini", "web/tsconfig.build.json", ".cargo/config.toml", "a/pyproject.toml"])
def test_what_steers_a_type_checker(path: str) -> None:
    assert steers(path, ToolName.MYPY)


def test_what_steers_a_script_is_more() -> None:
    assert steers("package.json", ToolName.LINT)
    assert steers(".eslintrc.json", ToolName.LINT)
    assert not steers("package.json", ToolName.TSC)
    assert not steers("src/a.ts", ToolName.LINT)


def machine(folder: Path, *programs: str) -> Machine:
    """A machine with some programs, of which nothing is ever started."""
    for name in programs:
        program(folder / "bin" / name)
    return Machine(
        checkout=folder / "checkout", environment={"PATH": str(folder / "bin"), "HOME": "/home/me"}, cache=folder
    )


def program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/usr/bin/python3\n")
    path.chmod(0o700)


def plan(folder: Machine, tool: ToolName, file: str, text: str = "", project: str = "") -> CheckPlan | CannotRun:
    return plan_for(Configured(tool=tool, project=project, file=file), folder, lambda _: text)


@pytest.mark.parametrize(
    ("tool", "file", "reason"),
    [
        (ToolName.MYPY, "mypy.ini", "it is not installed in the project's virtual environment"),
        (ToolName.PYRIGHT, "pyrightconfig.json", "it is not installed in the project's virtual environment"),
        (ToolName.TSC, "tsconfig.json", "TypeScript is not installed in node_modules"),
        (ToolName.GO_VET, "go.mod", "go is not installed"),
        (ToolName.CARGO, "Cargo.toml", "cargo is not installed"),
        (ToolName.LINT, "package.json", "node_modules is missing"),
        (ToolName.PRE_COMMIT, ".pre-commit-config.yaml", "it is not installed"),
        (ToolName.LEFTHOOK, "lefthook.yml", "it is not installed"),
    ],
)
def test_what_is_not_installed_is_said(tmp_path: Path, tool: ToolName, file: str, reason: str) -> None:
    assert plan(machine(tmp_path), tool, file) == CannotRun(tool=tool, reason=reason)


@pytest.mark.parametrize(
    ("text", "given"), [("[tool.mypy]\nfiles = ['src']\n", None), ("[tool.mypy]\nstrict = true\n", "")]
)
def test_mypy_is_told_files_only_where_its_configuration_names_none(
    tmp_path: Path, text: str, given: str | None
) -> None:
    here = machine(tmp_path)
    program(here.checkout / ".venv/bin/python")
    module = here.checkout / ".venv/lib/python3.11/site-packages/mypy/__init__.py"
    module.parent.mkdir(parents=True)
    module.touch()
    found = plan(here, ToolName.MYPY, "pyproject.toml", text)
    assert isinstance(found, CheckPlan)
    assert (found.argv[0], found.targets.files) == (f"{here.checkout}/.venv/bin/python", given)
    assert found.needs == ".venv"


def test_programs_of_node_are_found_above_the_project(tmp_path: Path) -> None:
    here = machine(tmp_path)
    program(here.checkout / "node_modules/.bin/tsc")
    found = plan(here, ToolName.TSC, "web/app/tsconfig.json", project="web/app")
    assert isinstance(found, CheckPlan)
    assert found.argv[0] == "../../node_modules/.bin/tsc"
    assert found.needs == "node_modules"


def test_the_lock_file_says_who_runs_the_lint_script(tmp_path: Path) -> None:
    here = machine(tmp_path, "npm", "pnpm")
    (here.checkout / "node_modules").mkdir(parents=True)
    assert isinstance(npm := plan(here, ToolName.LINT, "package.json"), CheckPlan)
    assert npm.text == "npm run lint"
    (here.checkout / "pnpm-lock.yaml").touch()
    assert isinstance(pnpm := plan(here, ToolName.LINT, "package.json"), CheckPlan)
    assert pnpm.argv == ("pnpm", "run", "lint")


def test_pre_commit_is_run_by_its_own_interpreter(tmp_path: Path) -> None:
    found = plan(machine(tmp_path, "pre-commit"), ToolName.PRE_COMMIT, ".pre-commit-config.yaml")
    assert isinstance(found, CheckPlan)
    assert found.argv[0] == "/usr/bin/python3"
