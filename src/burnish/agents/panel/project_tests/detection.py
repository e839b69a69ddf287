"""Finds out how a project is tested, from its files. It installs nothing, and starts nothing.

Manifests decide which tools are thought of; of several, those whose tests can reach the changed files. tox and nox
install things: they are run only where the configuration says so.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from burnish.agents.panel.project_tests.pythons import (
    Interpreter,
    editable_folders,
    exists,
    has_module,
    is_python_project,
    python_tests,
    read_text,
    virtual_environments,
)
from burnish.agents.panel.project_tests.values import Framework, Language, NoTests, TestPlan
from burnish.core.values import Value, replace
from burnish.settings.types import ValidationCommand

DESK, REPORT = "{desk}", "{report}"
"""Stand for the folder and the file that each run of the tests gets for its own."""
RUNNER = "{desk}/burnish_witness.py"
CONFIGURED = ("tests", "test")
"""The names under which `[validate]` may hold the tests."""


class Site(Value):
    """A project, and what there is on the machine to test it with."""

    folder: Path
    project: str = ""
    """Its folder in the repository."""
    checkout: Path | None = None
    """Where the user works on the repository."""
    mounted: bool = False
    """The copy is seen at the path of the checkout: whatever names the checkout means the copy."""
    unfit: Mapping[str, str] = MappingProxyType({})
    """What is installed in the checkout and does not fit this copy, by its path in the repository, and why."""
    environment: Mapping[str, str]
    python: Callable[[str], Interpreter | None]
    """The interpreter on the PATH, where it can import a module; any, for an empty name."""


def configured_plan(command: ValidationCommand, environment: Mapping[str, str], folder: Path) -> TestPlan:
    """What the configuration says is run as it says; mocha, jest and vitest are told to report to burnish, too."""
    plan = _command_plan(command.arguments, command.text, environment)
    last = (command.line or shlex.join(command.argv)).rpartition("&&")[2].strip()
    framework = Framework.COMMAND if _OPERATOR.search(last) else _script_framework(last, _scripts(folder), own=True)
    if framework not in _REPORTING:
        return plan
    more = (*(("--",) if last.startswith("npm ") else ()), *_REPORTING[framework])
    argv = ("sh", "-c", f'{command.line} "$@"', "sh", *more) if command.line else (*command.argv, *more)
    return replace(plan, framework=framework, argv=argv, language=Language.NODE)


def _scripts(folder: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(read_text(folder / "package.json") or "{}", type=_Package).scripts
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}


def _command_plan(argv: tuple[str, ...], text: str, environment: Mapping[str, str]) -> TestPlan:
    """A command that may start interpreters: those on the PATH are often links to an installation in the home."""
    found = (shutil.which(name, path=environment.get("PATH", "")) for name in ("python", "python3", "node"))
    places = dict.fromkeys(str(Path(program).resolve().parent.parent) for program in found if program)
    readable = tuple(place for place in places if place not in ("/", "/usr"))
    return TestPlan(framework=Framework.COMMAND, argv=argv, text=text, readable=readable)


def detect(site: Site, languages: Collection[Language | None] = ()) -> tuple[TestPlan | NoTests, ...]:
    """How the project is tested, or why it cannot be: every way that reaches code in these languages.

    None among them stands for a file that tests in any language may read.
    """
    meant = [(language, way(site)) for language, is_meant, way in _WAYS if is_meant(site.folder)]
    if not meant:
        meant = [(Language.PYTHON, _python(site))]
    present = [(language, found) for language, found in meant if isinstance(found, TestPlan) or not found.absent]
    reaching = [found for language, found in present if language in languages or None in languages]
    return tuple(reaching) or tuple(found for _, found in present[:1]) or (_make(site),)


NAME_THE_COMMAND = 'Set the command in burnish.toml: [validate] tests = "…".'


def _hint(folder: Path) -> str:
    for name, tool in (("tox.ini", "tox"), ("noxfile.py", "nox")):
        if (folder / name).is_file():
            return f'{tool} may install packages. To run it anyway, set [validate] tests = "{tool}" in burnish.toml.'
    return NAME_THE_COMMAND


def _absent(site: Site) -> NoTests:
    return NoTests(reason="no tests were found", hint=_hint(site.folder), absent=True)


def _python(site: Site) -> TestPlan | NoTests:
    tests = python_tests(site.folder)
    if tests is None:
        return _absent(site)
    venvs = [each for each in virtual_environments(site.folder, _fitting(site), site.environment) if exists(each)]
    with_pytest = next((each for each in venvs if has_module(each, "pytest")), None) or site.python("pytest")
    if with_pytest is not None:
        argv = (with_pytest.program, "-m", "pytest")
        return _python_plan(site, Framework.PYTEST, with_pytest, argv, "python -m pytest")
    interpreter = next(iter(venvs), None) or site.python("")
    if tests.unittest and not tests.configured and interpreter is not None:
        argv = (interpreter.program, RUNNER)
        return _python_plan(site, Framework.UNITTEST, interpreter, argv, "python -m unittest")
    stale = next((why for path, why in site.unfit.items() if Path(path).name != "node_modules"), "")
    return NoTests(
        reason=f"no Python with pytest was found{f' ({stale})' if stale else ''}",
        unfit=bool(stale),
        hint=(
            "Activate the project's virtual environment, or create one in each copy: [workspace] prepare = "
            '["python3 -m venv .venv && .venv/bin/pip install -e . pytest"].'
        ),
    )


def _fitting(site: Site) -> tuple[Path, ...]:
    """The folders of the checkout whose virtual environments may run this copy: the project's own first."""
    if site.checkout is None:
        return ()
    folders = dict.fromkeys((site.checkout / site.project, site.checkout))
    unfit = {str(site.checkout / path) for path in site.unfit}
    return tuple(folder for folder in folders if not {f"{folder}/.venv", f"{folder}/venv"} & unfit)


def _python_plan(
    site: Site, framework: Framework, interpreter: Interpreter, argv: tuple[str, ...], text: str
) -> TestPlan:
    return TestPlan(
        framework=framework,
        argv=argv,
        text=text,
        project=site.project,
        language=Language.PYTHON,
        imports=editable_folders(interpreter, site.checkout) if site.checkout else (),
        avoid="" if site.mounted else str(site.checkout or ""),
    )


class _Package(Value, forbid_unknown_fields=False, rename="camel"):
    scripts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    dev_dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])


_MANAGERS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("package.json", "npm"))
_CLEAN_INSTALL = {
    "pnpm": "pnpm install --frozen-lockfile",
    "yarn": "yarn install --frozen-lockfile",
    "npm": "npm ci",
}
_REPORTER = "{desk}/burnish_reporter.cjs"
_REPORTING = {
    Framework.MOCHA: ("--reporter", _REPORTER),
    Framework.JEST: ("--reporters=default", f"--reporters={_REPORTER}", "--testLocationInResults"),
    Framework.VITEST: ("--reporter=default", f"--reporter={_REPORTER}"),
}


def _node(site: Site) -> TestPlan | NoTests:
    try:
        package = msgspec.json.decode(read_text(site.folder / "package.json"), type=_Package)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return NoTests(reason="package.json cannot be read")
    script = package.scripts.get("test", "")
    if not script or "no test specified" in script:
        return _absent(site)
    if (package.dependencies or package.dev_dependencies) and not _has_packages(site):
        stale = next((why for path, why in site.unfit.items() if Path(path).name == "node_modules"), "")
        return NoTests(
            reason=f"node_modules does not match: {stale}" if stale else "node_modules is missing",
            unfit=bool(stale),
            hint=(
                f"Install the packages in the checkout ({_locked_by(site)} install), or in each copy: [workspace] "
                f'prepare = ["{_CLEAN_INSTALL[_locked_by(site)]}"] in burnish.toml.'
            ),
        )
    manager = _locked_by(site)
    manager = manager if shutil.which(manager, path=site.environment.get("PATH")) else "npm"
    framework = _script_framework(script, package.scripts)
    more = _REPORTING.get(framework, ())
    argv = (manager, "test", *(("--",) if more and manager == "npm" else ()), *more)
    alone = _after_checks(script) if framework is not Framework.COMMAND else ""
    if alone:
        argv = ("sh", "-c", f'PATH="{_programs(site.project)}:$PATH"; {alone} "$@"', "sh", *more)
    environment = {"CI": "true", "npm_config_update_notifier": "false", "npm_config_offline": "true"}
    return TestPlan(
        framework=framework,
        argv=argv,
        text=alone or f"{manager} test",
        project=site.project,
        language=Language.NODE,
        environment=environment,
        advice=_with_build(manager, package.scripts),
    )


_UNIT = re.compile(r"(?:tests?[:_-])?units?(?:[:_-]tests?)?")


def _with_build(manager: str, scripts: Mapping[str, str]) -> str:
    """The setting for tests that need what a build makes, which burnish does not start by itself."""
    if "build" not in scripts:
        return ""
    tests = next((f"{manager} run {name}" for name in scripts if _UNIT.fullmatch(name)), f"{manager} test")
    return f'If they need a build first, add this to burnish.toml: [validate] tests = "{manager} run build && {tests}".'


def _locked_by(site: Site) -> str:
    """The package manager whose lock file the project has."""
    return next((manager for lock, manager in _MANAGERS if (site.folder / lock).is_file()), "npm")


_CHECK = re.compile(
    r"(?:(?:npm|pnpm|yarn|bun)(?: run)?(?: -s| --silent)? )?(?:[\w-]+:)*"
    r"(?:lint|eslint|oxlint|xo|standard|prettier|biome|stylelint|typecheck|type-check|check-types|format|fmt"
    r"|tsc(?=.* --noEmit))"
    r"(?:[:-](?!\S*(?:build|gen|compile|bundle))[\w:-]+)?(?: [^;&|<>()$`#\n]*)?"
)


def _after_checks(script: str) -> str:
    """The last command of a script, where all before it only look at text: the tests run, whatever those find.

    Linters and compilers are checks of their own, and what they find need not block.
    """
    *before, last = (part.strip() for part in script.split("&&"))
    checks = bool(before) and all(_CHECK.fullmatch(part) for part in before)
    return last if checks and not _OPERATOR.search(last) else ""


def _programs(project: str) -> str:
    """Where the programs of packages are, for a shell in the project's folder: the nearest first."""
    return ":".join(f"$PWD/{'../' * depth}node_modules/.bin" for depth in range(len(Path(project).parts) + 1))


def _has_packages(site: Site) -> bool:
    """Whether packages are installed for the project, or for one of several that it is part of."""
    depth = len(Path(site.project).parts)
    return any((folder / "node_modules").is_dir() for folder in (site.folder, *site.folder.parents[:depth]))


_OPERATOR = re.compile(r"[;&|<>()$`#\n]")
_KNOWN = {"mocha": Framework.MOCHA, "jest": Framework.JEST, "vitest": Framework.VITEST}
_MANAGER_WORDS = ("run", "run-script", "exec", "-s", "--silent")


def _script_framework(script: str, scripts: Mapping[str, str], *, own: bool = False) -> Framework:
    """Who runs the tests. Arguments reach the last command of a script, so that is the one that counts.

    A command that only starts another script is followed. npm hands arguments on only after `--`, which burnish writes
    in a command of its `own`.
    """
    words = re.split(r"&&|\|\||;|\|", script)[-1].split()
    names = [Path(word).name for word in words if "=" not in word]
    manager, rest = next(iter(names), ""), [name for name in names[1:] if name not in _MANAGER_WORDS]
    found = next((_KNOWN[name] for name in (manager, *rest[:1]) if name in _KNOWN), None)
    hands_on = manager in ("pnpm", "yarn") or (manager == "npm" and (own or words[-1] == "--"))
    if found is None and hands_on and rest and rest[0] in scripts and not _OPERATOR.search(script):
        others = {name: text for name, text in scripts.items() if name != rest[0]}
        return _script_framework(scripts[rest[0]], others)
    return found or (Framework.NODE if "node" in names and "--test" in names else Framework.COMMAND)


PROFILE, LISTING, TARGET, COMPILED_GO = "cover", "files", "target", "go"
"""Where runs of go and cargo leave what they compiled and ran."""
KEPT_GO = "checks/go"
"""In burnish's cache: what `go vet` compiled, which runs no code of the project."""
_GO_KINDS = ("GoFiles", "CgoFiles", "TestGoFiles", "XTestGoFiles")
_GO_LISTED = "".join('{{range .KIND}}{{$.Dir}}/{{.}}{{print "\\n"}}{{end}}'.replace("KIND", kind) for kind in _GO_KINDS)
_GO_FILES = f"go list -e -f '{_GO_LISTED}' ./... > \"{DESK}/{LISTING}\" 2>/dev/null"


def _go(site: Site) -> TestPlan | NoTests:
    if not any(site.folder.rglob("*_test.go")):
        return _absent(site)
    missing = _without(site, "go")
    if missing:
        return missing
    home = site.environment.get("HOME", "")
    modules = site.environment.get("GOMODCACHE") or f"{site.environment.get('GOPATH') or f'{home}/go'}/pkg/mod"
    return TestPlan(
        framework=Framework.GO,
        # What is compiled is listed first: files that build constraints leave out are not.
        argv=("sh", "-c", f'{_GO_FILES}; exec go test -json "-coverprofile={DESK}/{PROFILE}" "$@" ./...', "go"),
        text="go test ./...",
        project=site.project,
        language=Language.GO,
        environment={
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
            "GOCACHE": f"{DESK}/{COMPILED_GO}",
            "GOMODCACHE": modules,
        },
        readable=(modules,),
    )


def is_workspace(folder: Path) -> bool:
    """Whether a folder holds the manifest of several crates."""
    return bool(re.search(r"^\[workspace\]", read_text(folder / "Cargo.toml"), re.MULTILINE))


def _cargo(site: Site) -> TestPlan | NoTests:
    missing = _without(site, "cargo")
    if missing:
        return missing
    home = site.environment.get("HOME", "")
    folders = {
        "CARGO_HOME": site.environment.get("CARGO_HOME") or f"{home}/.cargo",
        "RUSTUP_HOME": site.environment.get("RUSTUP_HOME") or f"{home}/.rustup",
    }
    return TestPlan(
        framework=Framework.CARGO,
        argv=("cargo", "test", "--offline", "--no-fail-fast", *(("--workspace",) if is_workspace(site.folder) else ())),
        text="cargo test --offline",
        project=site.project,
        language=Language.RUST,
        environment={**folders, "CARGO_TARGET_DIR": f"{DESK}/{TARGET}", "CARGO_TERM_COLOR": "never"},
        readable=tuple(folders.values()),
    )


def _without(site: Site, program: str) -> NoTests | None:
    if shutil.which(program, path=site.environment.get("PATH")):
        return None
    return NoTests(reason=f"{program} is not installed", hint=f"Install {program}, or put it on the PATH.")


_TEST_TARGET = re.compile(r"^(?:[\w./-]+ )*test(?: [\w./-]+)*\s*::?(?!=)", re.MULTILINE)


def _make(site: Site) -> TestPlan | NoTests:
    text = next(
        (
            read_text(site.folder / name)
            for name in ("GNUmakefile", "makefile", "Makefile")
            if os.path.lexists(site.folder / name)
        ),
        "",
    )
    if not _TEST_TARGET.search(text):
        return _absent(site)
    plan = replace(_command_plan(("make", "test"), "make test", site.environment), project=site.project)
    return _without(site, "make") or plan


_WAYS: tuple[tuple[Language, Callable[[Path], bool], Callable[[Site], TestPlan | NoTests]], ...] = (
    (Language.PYTHON, is_python_project, _python),
    (Language.NODE, lambda folder: (folder / "package.json").is_file(), _node),
    (Language.GO, lambda folder: (folder / "go.mod").is_file(), _go),
    (Language.RUST, lambda folder: (folder / "Cargo.toml").is_file(), _cargo),
)
