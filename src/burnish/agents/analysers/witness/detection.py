"""Finds out how a project is tested, from its files. It installs nothing, and starts nothing.

Manifests decide which tools are thought of; of several, the first whose tests can be run. tox and nox install things:
they are run only where the configuration says so.
"""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from burnish.agents.analysers.witness.pythons import (
    Interpreter,
    editable_folders,
    exists,
    has_module,
    is_python_project,
    python_tests,
    read_text,
    virtual_environments,
)
from burnish.agents.analysers.witness.values import Framework, NoTests, TestPlan
from burnish.config.settings import ValidationCommand
from burnish.core.values import Value

DESK, REPORT = "{desk}", "{report}"
"""Stand for the folder and the file that each run of the tests gets for its own."""
RUNNER = "{desk}/burnish_witness.py"
CONFIGURED = ("tests", "test")
"""The names under which `[validate]` may hold the tests."""


class Site(Value):
    """A project, and what there is on the machine to test it with."""

    folder: Path
    checkout: Path | None = None
    """Where the user works on it."""
    environment: Mapping[str, str]
    python: Callable[[str], Interpreter | None]
    """The interpreter on the PATH, where it can import a module; any, for an empty name."""


def configured_plan(command: ValidationCommand, environment: Mapping[str, str]) -> TestPlan:
    """What the configuration says is run as it says."""
    return _command_plan(command.arguments, command.text, environment)


def _command_plan(argv: tuple[str, ...], text: str, environment: Mapping[str, str]) -> TestPlan:
    """A command that may start interpreters: those on the PATH are often links to an installation in the home."""
    found = (shutil.which(name, path=environment.get("PATH", "")) for name in ("python", "python3", "node"))
    places = dict.fromkeys(str(Path(program).resolve().parent.parent) for program in found if program)
    readable = tuple(place for place in places if place not in ("/", "/usr"))
    return TestPlan(framework=Framework.COMMAND, argv=argv, text=text, readable=readable)


def detect(site: Site) -> TestPlan | NoTests:
    """How the project is tested, or why it cannot be."""
    ways = [find for is_meant, find in _WAYS if is_meant(site.folder)] or [_python]
    found = [way(site) for way in ways]
    plan = next((each for each in found if isinstance(each, TestPlan)), None)
    present = next((each for each in found if isinstance(each, NoTests) and not each.absent), None)
    return plan or present or _make(site)


def _hint(folder: Path) -> str:
    for name, tool in (("tox.ini", "tox"), ("noxfile.py", "nox")):
        if (folder / name).is_file():
            return f'{tool} may install things: [validate] tests = "{tool}" in burnish.toml runs it.'
    return 'Say how they are run in burnish.toml: [validate] tests = "…".'


def _absent(site: Site) -> NoTests:
    return NoTests(reason="no tests were found", hint=_hint(site.folder), absent=True)


def _python(site: Site) -> TestPlan | NoTests:
    tests = python_tests(site.folder)
    if tests is None:
        return _absent(site)
    venvs = [each for each in virtual_environments(site.folder, site.checkout, site.environment) if exists(each)]
    with_pytest = next((each for each in venvs if has_module(each, "pytest")), None) or site.python("pytest")
    if with_pytest is not None:
        argv = (with_pytest.program, "-m", "pytest")
        return _python_plan(site, Framework.PYTEST, with_pytest, argv, "python -m pytest")
    interpreter = next(iter(venvs), None) or site.python("")
    if tests.unittest and not tests.configured and interpreter is not None:
        argv = (interpreter.program, RUNNER)
        return _python_plan(site, Framework.UNITTEST, interpreter, argv, "python -m unittest")
    return NoTests(
        reason="no Python was found that has pytest",
        hint="Activate the project's virtual environment, or install it into the copies: "
        '[workspace] prepare = ["python3 -m venv .venv && .venv/bin/pip install -e . pytest"].',
    )


def _python_plan(
    site: Site, framework: Framework, interpreter: Interpreter, argv: tuple[str, ...], text: str
) -> TestPlan:
    imports = editable_folders(interpreter, site.checkout) if site.checkout else ()
    return TestPlan(framework=framework, argv=argv, text=text, imports=imports, avoid=str(site.checkout or ""))


class _Package(Value, forbid_unknown_fields=False, rename="camel"):
    scripts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    dev_dependencies: dict[str, str] = msgspec.field(default_factory=dict[str, str])


_MANAGERS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("package.json", "npm"))
_JSON_REPORT = {
    Framework.JEST: ("--json", f"--outputFile={REPORT}"),
    Framework.VITEST: ("--reporter=default", "--reporter=json", f"--outputFile={REPORT}"),
}


def _node(site: Site) -> TestPlan | NoTests:
    try:
        package = msgspec.json.decode(read_text(site.folder / "package.json"), type=_Package)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return NoTests(reason="package.json cannot be read")
    script = package.scripts.get("test", "")
    if not script or "no test specified" in script:
        return _absent(site)
    if (package.dependencies or package.dev_dependencies) and not (site.folder / "node_modules").is_dir():
        return NoTests(
            reason="node_modules is missing in the copies",
            hint='Copy it, [workspace] seed = ["node_modules"], or install it, prepare = ["npm ci"], in burnish.toml.',
        )
    path = site.environment.get("PATH")
    named = (manager for lock, manager in _MANAGERS if (site.folder / lock).is_file())
    manager = next((name for name in named if shutil.which(name, path=path)), "npm")
    framework = _script_framework(script)
    more = _JSON_REPORT.get(framework, ())
    argv = (manager, "test", *(("--",) if more and manager == "npm" else ()), *more)
    environment = {"CI": "true", "npm_config_update_notifier": "false", "npm_config_offline": "true"}
    return TestPlan(framework=framework, argv=argv, text=f"{manager} test", environment=environment)


def _script_framework(script: str) -> Framework:
    """Who runs the tests. Arguments reach the last command of a script, so that is the one that counts."""
    words = re.split(r"&&|\|\||;|\|", script)[-1].split()
    known = {"jest": Framework.JEST, "vitest": Framework.VITEST}
    names = [Path(word).name for word in words if "=" not in word]
    found = next((known[name] for name in names[:2] if name in known), None)
    return found or (Framework.NODE if "node" in names and "--test" in names else Framework.COMMAND)


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
        argv=("go", "test", "-json", "./..."),
        text="go test ./...",
        environment={"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOCACHE": f"{DESK}/go", "GOMODCACHE": modules},
        readable=(modules,),
    )


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
        argv=("cargo", "test", "--offline", "--no-fail-fast"),
        text="cargo test --offline",
        environment={**folders, "CARGO_TARGET_DIR": f"{DESK}/target", "CARGO_TERM_COLOR": "never"},
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
    return _without(site, "make") or _command_plan(("make", "test"), "make test", site.environment)


_WAYS: tuple[tuple[Callable[[Path], bool], Callable[[Site], TestPlan | NoTests]], ...] = (
    (is_python_project, _python),
    (lambda folder: (folder / "package.json").is_file(), _node),
    (lambda folder: (folder / "go.mod").is_file(), _go),
    (lambda folder: (folder / "Cargo.toml").is_file(), _cargo),
)
