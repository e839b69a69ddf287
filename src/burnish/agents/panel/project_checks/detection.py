"""Which checks the base of a change configures for the changed files, and how each of them is run here.

It looks at names and texts of files; it starts nothing. A change cannot switch a check off: its own configuration
counts only where the base has no code of that language yet.
"""

import posixpath
import re
import shutil
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.own_configuration import is_configuration
from burnish.agents.panel.places import Surroundings, surroundings
from burnish.agents.panel.project_tests.detection import KEPT_GO
from burnish.agents.panel.project_tests.pythons import Interpreter, exists, has_module, virtual_environments
from burnish.core.values import Value
from burnish.settings.globs import matches

DESK = "{desk}"
"""Stands for the folder that each run gets for its own."""
FILTER = "burnish_pre_commit.py"
"""Laid into that folder: it starts pre-commit with those of its hooks that need no network."""
LINES_REPORT, TARGET_FOLDER, KEPT_HOOKS = "lines", "target", "hooks"


class Configured(Value):
    """A check that a project configures."""

    tool: ToolName
    project: str
    """Its folder in the repository."""
    file: str
    """The file that configures it."""
    by_base: bool = True


class Targets(Value):
    """What a check is told to look at: nothing, the files of the change, or packages that a listing tells."""

    files: str | None = None
    """What comes before the name of each file."""
    listing: tuple[str, ...] = ()


class CheckPlan(Value):
    """How a check is run, in whatever copy of the project."""

    check: Configured
    argv: tuple[str, ...]
    text: str
    """As a person would type it."""
    targets: Targets = Targets()
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    readable: tuple[str, ...] = ()
    needs: str = ""
    """The folder of the checkout with the packages that it uses, from the root of the repository."""

    @property
    def tool(self) -> ToolName:
        return self.check.tool

    @property
    def writes(self) -> bool:
        """Whether it may edit the files that it looks at: it then gets a copy of its own."""
        return self.tool in SCRIPTS


class CannotRun(Value):
    """Why a check that the base configures is not run."""

    tool: ToolName
    reason: str


SCRIPTS = (ToolName.LINT, ToolName.PRE_COMMIT, ToolName.LEFTHOOK)
"""Commands that a project writes down itself: their exit code counts, and what can be read of their output."""
CHECKS = (ToolName.MYPY, ToolName.PYRIGHT, ToolName.TSC, ToolName.GO_VET, ToolName.CARGO, *SCRIPTS)

_PYTHON = (".py", ".pyi")
_SCRIPTS_OF_NODE = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".vue", ".svelte", ".astro")
_SUFFIXES: Mapping[ToolName, tuple[str, ...]] = {
    ToolName.MYPY: _PYTHON,
    ToolName.PYRIGHT: _PYTHON,
    ToolName.TSC: _SCRIPTS_OF_NODE,
    ToolName.GO_VET: (".go", "go.mod"),
    ToolName.CARGO: (".rs", "Cargo.toml"),
    ToolName.LINT: (*_SCRIPTS_OF_NODE, ".css", ".scss", ".less"),
    ToolName.PRE_COMMIT: ("",),
    ToolName.LEFTHOOK: ("",),
}
"""How the names of files end that concern a check."""

_STEERING = (
    "mypy.ini", ".mypy.ini", "setup.cfg", "pyproject.toml", "pyrightconfig.json", "tsconfig*.json", "jsconfig.json",
    "clippy.toml", ".clippy.toml",
)  # fmt: skip
_STEERING_SCRIPTS = (".pre-commit-config.yaml", "lefthook.*", ".lefthook.*", ".stylelintrc*", ".markdownlint*")
_LEFTHOOK = tuple(f"{dot}lefthook.{end}" for dot in ("", ".") for end in ("yml", "yaml", "toml", "json"))
_LOCKS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun"))
_MYPY_SECTION = re.compile(r"^\[mypy\]", re.MULTILINE)
_MYPY_TARGETS = re.compile(r"^\s*(?:files|packages|modules)\s*=", re.MULTILINE)
_SOLUTION = re.compile(r'"files"\s*:\s*\[\s*\]')
_REFERENCE = re.compile(r'"path"\s*:\s*"([^"]+)"')


def steers(path: str, tool: ToolName) -> bool:
    """Whether a file may tell a check what to report."""
    name = path.rpartition("/")[2]
    own = any(matches(name, pattern) for pattern in _STEERING) or path.endswith((".cargo/config.toml", ".cargo/config"))
    if tool not in SCRIPTS:
        return own
    return own or is_configuration(path) or any(matches(name, pattern) for pattern in _STEERING_SCRIPTS)


class CommitTree(NamedTuple):
    """The files of one commit."""

    files: Collection[str]
    read: Callable[[str], str]


def configured_checks(base: CommitTree, head: CommitTree, changed: Collection[str]) -> tuple[Configured, ...]:
    """Every check that is configured for one of the changed paths, by the nearest folder that configures it."""
    found: dict[Configured, None] = {}
    for tool in CHECKS:
        wanted = [path for path in changed if _concerns(tool, path)]
        for folder in {folder: None for path in wanted for folder in _nearest(tool, path, base, head)}:
            found |= dict.fromkeys(_in_folder(tool, folder, base, head))
    return tuple(found)


def _concerns(tool: ToolName, path: str) -> bool:
    return path.endswith(_SUFFIXES[tool]) and surroundings(path) is not Surroundings.MATERIAL


def _nearest(tool: ToolName, path: str, base: CommitTree, head: CommitTree) -> Iterator[str]:
    above = [str(folder) for folder in Path(path).parents]
    folders = ["" if folder == "." else folder for folder in above]
    if tool in (ToolName.PRE_COMMIT, ToolName.LEFTHOOK):
        folders = [""]
    yield from [folder for folder in folders if any(True for _ in _in_folder(tool, folder, base, head))][:1]


def _in_folder(tool: ToolName, folder: str, base: CommitTree, head: CommitTree) -> Iterator[Configured]:
    if name := _configuration(tool, folder, base):
        yield from _parts(Configured(tool=tool, project=folder, file=name), base)
    elif (name := _configuration(tool, folder, head)) and _is_new(tool, folder, base):
        yield from _parts(Configured(tool=tool, project=folder, file=name, by_base=False), head)


def _is_new(tool: ToolName, folder: str, base: CommitTree) -> bool:
    """Whether the base has no code in a folder that the check would have looked at."""
    inside = f"{folder}/" if folder else ""
    return not any(path.startswith(inside) and _concerns(tool, path) for path in base.files)


def _parts(found: Configured, tree: CommitTree) -> Iterator[Configured]:
    """The check itself; of a tsconfig.json that only refers to others, those."""
    text = tree.read(found.file) if found.tool is ToolName.TSC else ""
    named = _REFERENCE.findall(text) if _SOLUTION.search(text) else []
    for name in named:
        path = posixpath.normpath(posixpath.join(found.project, name))
        path = path if path.endswith(".json") else f"{path}/tsconfig.json"
        if path in tree.files:
            yield Configured(tool=found.tool, project=found.project, file=path, by_base=found.by_base)
    if not named:
        yield found


def _configuration(tool: ToolName, folder: str, tree: CommitTree) -> str:
    """The file of a folder that configures a check; empty where there is none."""
    return next((path for name in _FILES[tool] if _says(tool, path := posixpath.join(folder, name), tree)), "")


_FILES: Mapping[ToolName, tuple[str, ...]] = {
    ToolName.MYPY: ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"),
    ToolName.PYRIGHT: ("pyrightconfig.json", "pyproject.toml"),
    ToolName.TSC: ("tsconfig.json",),
    ToolName.GO_VET: ("go.mod",),
    ToolName.CARGO: ("Cargo.toml",),
    ToolName.LINT: ("package.json",),
    ToolName.PRE_COMMIT: (".pre-commit-config.yaml",),
    ToolName.LEFTHOOK: _LEFTHOOK,
}


def _says(tool: ToolName, path: str, tree: CommitTree) -> bool:
    if path not in tree.files:
        return False
    name = path.rpartition("/")[2]
    if name == "pyproject.toml":
        tables = ("mypy",) if tool is ToolName.MYPY else ("pyright", "basedpyright")
        return any(table in _tool_tables(tree.read(path)) for table in tables)
    if name == "setup.cfg":
        return bool(_MYPY_SECTION.search(tree.read(path)))
    if name == "package.json":
        return bool(_lint_script(tree.read(path)))
    return True


def _tool_tables(text: str) -> dict[str, Any]:
    try:
        tables = tomllib.loads(text).get("tool")
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", tables) if isinstance(tables, dict) else {}


class _Package(Value, forbid_unknown_fields=False):
    scripts: dict[str, str] = msgspec.field(default_factory=dict[str, str])


def _lint_script(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=_Package).scripts.get("lint", "")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


class Machine(Value):
    """What there is to run checks with."""

    checkout: Path
    """Where the user works: packages and virtual environments of a project are installed there."""
    copy: Path | None = None
    """A prepared copy, which may have its own."""
    environment: Mapping[str, str]
    cache: Path
    """What compilers keep between runs."""

    def program(self, name: str) -> str:
        return shutil.which(name, path=self.environment.get("PATH", "")) or ""

    def python(self, project: str, *modules: str) -> tuple[Interpreter, str] | None:
        """The interpreter of the project's environment that has one of the modules, and which."""
        folders = tuple(dict.fromkeys((self.checkout / project, self.checkout)))
        for interpreter in virtual_environments((self.copy or self.checkout) / project, folders, self.environment):
            if not exists(interpreter) or (self.copy is None and not interpreter.program.startswith("/")):
                continue
            found = next((name for name in modules if has_module(interpreter, name)), None)
            if found is not None:
                return interpreter, found
        return None

    def installed_in(self, interpreter: Interpreter) -> str:
        """The folder of the repository that is a virtual environment of the checkout; empty where it is elsewhere."""
        folder = interpreter.folder
        is_inside = folder is not None and folder.is_relative_to(self.checkout)
        return str(folder.relative_to(self.checkout)) if folder is not None and is_inside else ""

    def package_program(self, project: str, name: str) -> tuple[str, str] | None:
        """A program among the packages of node of a project or of a folder above: how it is started, and which."""
        parts = Path(project).parts
        for depth in range(len(parts), -1, -1):
            packages = posixpath.join(*parts[:depth], "node_modules")
            places = [root / packages / ".bin" / name for root in (self.copy, self.checkout) if root is not None]
            if any(place.exists() for place in places):
                steps = "../" * (len(parts) - depth)
                return f"{steps or './'}node_modules/.bin/{name}", packages
        return None


def plan_for(check: Configured, machine: Machine, read: Callable[[str], str]) -> CheckPlan | CannotRun:
    """How a check is run here, or why it cannot be."""
    plan = _WAYS[check.tool](check, machine, read(check.file))
    return CannotRun(tool=check.tool, reason=plan) if isinstance(plan, str) else plan


def _mypy(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    found = machine.python(check.project, "mypy")
    if found is None:
        return "it is not installed in the project's virtual environment"
    if check.file.endswith("pyproject.toml"):
        table = cast("dict[str, Any]", _tool_tables(text).get("mypy") or {})
        named = any(key in table for key in ("files", "packages", "modules"))
    else:
        named = bool(_MYPY_TARGETS.search(text))
    options = ("--no-color-output", "--no-pretty", "--no-error-summary", "--hide-error-context", "--show-error-codes")
    return CheckPlan(
        check=check,
        argv=(
            *(found[0].program, "-m", "mypy", *options, "--cache-dir=/dev/null"),
            f"--linecoverage-report={DESK}/{LINES_REPORT}",
        ),
        text="mypy",
        targets=Targets() if named else Targets(files=""),
        needs=machine.installed_in(found[0]),
    )


def _pyright(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    modules = ("pyright", "basedpyright")
    if check.file.endswith("pyproject.toml") and "pyright" not in _tool_tables(text):
        modules = modules[::-1]
    found = machine.python(check.project, *modules)
    if found is not None:
        interpreter, module = found
        program = str(Path(interpreter.program).with_name(module))
        argv = (program, "--outputjson", f"--pythonpath={interpreter.program}")
        quiet = {"PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
        needs = machine.installed_in(interpreter)
        return CheckPlan(check=check, argv=argv, text=module, environment=quiet, needs=needs)
    packaged = machine.package_program(check.project, "pyright")
    if packaged is None:
        return "it is not installed in the project's virtual environment"
    return CheckPlan(check=check, argv=(packaged[0], "--outputjson"), text="pyright", needs=packaged[1])


def _tsc(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    del text
    found = machine.package_program(check.project, "tsc")
    if found is None:
        return "TypeScript is not installed in node_modules"
    name = posixpath.relpath(check.file, check.project or ".")
    return CheckPlan(
        check=check,
        argv=(found[0], "--noEmit", "--pretty", "false", "--listFiles", "-p", name),
        text="tsc --noEmit" if name == "tsconfig.json" else f"tsc --noEmit -p {name}",
        needs=found[1],
    )


_GO_FIELDS = "Dir,ImportPath,Deps,TestImports,XTestImports,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles"


def _go_vet(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    del text
    if not machine.program("go"):
        return "go is not installed"
    home = machine.environment.get("HOME", "")
    modules = machine.environment.get("GOMODCACHE") or f"{machine.environment.get('GOPATH') or f'{home}/go'}/pkg/mod"
    # The compiled standard library is kept for all runs. go runs no code of a module to compile or to vet it.
    folders = {"GOCACHE": str(machine.cache / KEPT_GO), "GOMODCACHE": modules}
    return CheckPlan(
        check=check,
        argv=("go", "vet", "-json"),
        text="go vet",
        targets=Targets(listing=("go", "list", "-e", f"-json={_GO_FIELDS}", "./...")),
        environment={"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "", **folders},
        readable=(modules,),
    )


_CLIPPY = (
    'set -- --offline --all-targets --keep-going --message-format=json --quiet "$@"; '
    # A lint must not keep cargo from compiling what depends on a crate: clippy reports all of them as warnings.
    'if cargo clippy --version >/dev/null 2>&1; then exec cargo clippy "$@" -- --cap-lints=warn; fi; '
    'exec cargo check "$@"'
)


def _cargo(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    del text
    if not machine.program("cargo"):
        return "cargo is not installed"
    home = machine.environment.get("HOME", "")
    folders = {
        "CARGO_HOME": machine.environment.get("CARGO_HOME") or f"{home}/.cargo",
        "RUSTUP_HOME": machine.environment.get("RUSTUP_HOME") or f"{home}/.rustup",
    }
    target = {"CARGO_TARGET_DIR": f"{DESK}/{TARGET_FOLDER}", "CARGO_TERM_COLOR": "never", "RUSTUP_AUTO_INSTALL": "0"}
    return CheckPlan(
        check=check,
        argv=("sh", "-c", _CLIPPY, "cargo"),
        text="cargo clippy",
        targets=Targets(listing=("cargo", "metadata", "--offline", "--no-deps", "--format-version=1")),
        environment={**folders, **target},
        readable=tuple(folders.values()),
    )


_OF_NODE = {"CI": "true", "npm_config_update_notifier": "false", "npm_config_offline": "true", "NO_COLOR": "1"}


def _lint(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    del text
    packages = next((found for found in _packages_above(check.project, machine)), None)
    if packages is None:
        return "node_modules is missing"
    managers = [name for lock, name in _LOCKS if (machine.checkout / Path(packages).parent / lock).is_file()]
    manager = next((name for name in managers if machine.program(name)), "npm")
    if not machine.program(manager):
        return f"{manager} is not installed"
    argv = (manager, "run", "--silent", "lint") if manager == "npm" else (manager, "run", "lint")
    return CheckPlan(check=check, argv=argv, text=f"{manager} run lint", environment=_OF_NODE, needs=packages)


def _packages_above(project: str, machine: Machine) -> Iterator[str]:
    parts = Path(project).parts
    for depth in range(len(parts), -1, -1):
        packages = posixpath.join(*parts[:depth], "node_modules")
        if any((root / packages).is_dir() for root in (machine.copy, machine.checkout) if root is not None):
            yield packages


def _pre_commit(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    del text
    found = machine.python("", "pre_commit")
    python = found[0].program if found else _interpreter_of(machine.program("pre-commit"))
    if not python:
        return "it is not installed"
    return CheckPlan(
        check=check,
        argv=(python, f"{DESK}/{FILTER}", check.file, f"{DESK}/{KEPT_HOOKS}.yaml", "--color=never", "--files"),
        text="pre-commit run",
        targets=Targets(files=""),
        environment={"PRE_COMMIT_HOME": f"{DESK}/{KEPT_HOOKS}", "NO_COLOR": "1"},
    )


def _interpreter_of(script: str) -> str:
    """The Python that a script names in its first line; empty where it names none."""
    if not script:
        return ""
    with Path(script).open("rb") as stream:
        line = stream.readline(1_000).decode("utf-8", errors="replace").strip()
    program = line.removeprefix("#!").strip()
    return program if line.startswith("#!/") and " " not in program else ""


def _lefthook(check: Configured, machine: Machine, text: str) -> CheckPlan | str:
    del text
    packaged = machine.package_program("", "lefthook")
    program, needs = packaged or (machine.program("lefthook"), "")
    if not program:
        return "it is not installed"
    options = ("--no-auto-install", "--no-stage-fixed", "--no-tty", "--colors=off", "--force")
    return CheckPlan(
        check=check,
        argv=(program, "run", "pre-commit", *options),
        text="lefthook run pre-commit",
        targets=Targets(files="--file="),
        environment={"NO_COLOR": "1", "CI": "true"},
        needs=needs,
    )


_WAYS: Mapping[ToolName, Callable[[Configured, Machine, str], CheckPlan | str]] = {
    ToolName.MYPY: _mypy,
    ToolName.PYRIGHT: _pyright,
    ToolName.TSC: _tsc,
    ToolName.GO_VET: _go_vet,
    ToolName.CARGO: _cargo,
    ToolName.LINT: _lint,
    ToolName.PRE_COMMIT: _pre_commit,
    ToolName.LEFTHOOK: _lefthook,
}
