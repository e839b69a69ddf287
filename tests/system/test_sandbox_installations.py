"""Wherever a client is installed, it runs with the home hidden, and no more of the home is seen than it needs."""

import os
import shutil
from pathlib import Path

import pytest
from tests.system import sandbox_installations as installations
from tests.system.sandbox_installations import PERSONAL, PRIVATE, WORDS, Installation

from burnish.agents.client import manager_variables
from burnish.agents.logins import hidden_logins
from burnish.agents.registry import clients
from burnish.core.values import replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, run_now
from burnish.system.sandbox import DEFAULT_SECRETS, Confinement, Sandbox, SandboxKind, confine, why_not

PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture(params=[SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    if reason := why_not(request.param):
        pytest.skip(f"optional: {reason}")
    return Sandbox(kind=request.param)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user who has logins, and other things that are nobody's business."""
    home = tmp_path / "home"
    installations.furnish(home)
    monkeypatch.setenv("HOME", str(home))
    for name in ("own", "temporary", "clone"):
        (tmp_path / name).mkdir()
    (tmp_path / "clone" / "code").write_text("code")
    return home


def confined(sandbox: Sandbox, home: Path, program: Path | str, *words: str) -> Command:
    """A program as a driver runs it: the home is not the user's."""
    folder = home.parent
    path = f"{program.parent}:{PATH}" if isinstance(program, Path) else PATH
    environment = {"PATH": path, **manager_variables({"HOME": str(home)}), "HOME": str(folder / "own")}
    command = Command(argv=(str(program), *words), folder=str(folder / "clone"), environment=environment)
    hidden = (*DEFAULT_SECRETS, *hidden_logins({}))
    places = Confinement(writable=(str(folder / "own"),), temporary=str(folder / "temporary"), hidden=hidden)
    return confine(sandbox, command, places)


def seen(command: Command, *files: Path) -> list[str]:
    """Which files can be read where a command runs."""
    before = command.argv[: command.argv.index("--") + 1]
    looking = replace(command, argv=(*before, "cat", *map(str, files)), program="cat")
    return run_now(looking).stdout.decode().splitlines()


def assert_unseen(sandbox: Sandbox, command: Command, home: Path) -> None:
    hidden = PRIVATE if sandbox.kind is SandboxKind.LANDLOCK else (*PRIVATE, *PERSONAL)
    files = [home / name for name in hidden]
    assert all(file.is_file() for file in files)
    assert seen(command, *files, home.parent / "clone" / "code") == ["code"]


def program_of(kind: AgentKind) -> Path:
    found = clients()[kind].program(AgentSettings(kind=kind), os.environ)
    if found is None:
        pytest.skip(f"optional: {kind.value} is not installed")
    return Path(found).resolve()


@pytest.mark.parametrize(
    ("install", "kind", "words"),
    [
        (installations.native, AgentKind.CLAUDE, "Claude Code"),
        (installations.beside_the_login, AgentKind.CLAUDE, "Claude Code"),
        (installations.standalone, AgentKind.CODEX, "codex-cli"),
        (installations.wheel, AgentKind.CODEX, "codex-cli"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_real_client_runs_from_a_hidden_home(
    sandbox: Sandbox, home: Path, install: Installation, kind: AgentKind, words: str
) -> None:
    command = confined(sandbox, home, install(home, program_of(kind)), "--version")
    finished = run_now(command)
    assert (finished.code, words in finished.stdout.decode()) == (0, True), finished
    assert_unseen(sandbox, command, home)


@pytest.mark.parametrize(
    "install",
    [
        *(installations.npm_global, installations.pnpm),
        *(
            pytest.param(install, marks=pytest.mark.prove)
            for install in (
                *(installations.npm_in_local, installations.nvm),
                *(installations.pnpm_with_bin, installations.volta),
            )
        ),
    ],
    ids=lambda install: install.__name__,
)
def test_a_script_of_node_runs_with_its_packages(sandbox: Sandbox, home: Path, install: Installation) -> None:
    node = shutil.which("node", path=PATH)
    if node is None:
        pytest.skip("optional: node is not installed")
    command = confined(sandbox, home, install(home, Path(node)))
    finished = run_now(command)
    assert (finished.code, finished.stdout.decode()) == (0, f"{WORDS}\n"), finished
    assert_unseen(sandbox, command, home)


def test_a_tool_of_pipx_runs_with_its_environment(sandbox: Sandbox, home: Path) -> None:
    command = confined(sandbox, home, installations.pipx(home, Path()))
    assert run_now(command).stdout.decode() == f"{WORDS}\n"
    assert_unseen(sandbox, command, home)


def test_a_program_of_a_wheel_finds_what_its_package_brings(sandbox: Sandbox, home: Path) -> None:
    source = installations.script(home / "source", '#!/bin/sh\ncat "${0%/*}/../resources/words"\n')
    command = confined(sandbox, home, installations.wheel(home, source))
    assert run_now(command).stdout.decode() == WORDS
    assert_unseen(sandbox, command, home)


@pytest.mark.parametrize("place", ["", ".local", ".local/share", ".claude", ".config", "Downloads"])
def test_no_folder_in_which_everything_meets_is_shown_for_a_program_in_it(
    sandbox: Sandbox, home: Path, place: str
) -> None:
    """It runs, though its folder, which is on the PATH, too, is not seen."""
    program = installations.script(home / place / "client", "#!/bin/sh\necho runs\n")
    (home / "Downloads").mkdir(exist_ok=True)
    (home / "Downloads" / "letter").write_text("private:letter\n")
    command = confined(sandbox, home, program)
    assert run_now(command).stdout == b"runs\n"
    assert_unseen(sandbox, command, home)
    if sandbox.kind is SandboxKind.BUBBLEWRAP:
        assert seen(command, home / "Downloads" / "letter") == []


@pytest.mark.prove
def test_gemini_runs_from_a_hidden_home(sandbox: Sandbox, home: Path) -> None:
    """With its package of nearly five hundred files, by an interpreter in the home."""
    package = program_of(AgentKind.GEMINI).parent.parent
    node = shutil.which("node", path=PATH)
    assert node is not None
    program = installations.nvm(home, Path(node))
    target = program.parent.parent / "lib" / "node_modules" / "@google" / "gemini-cli"
    shutil.copytree(package, target)
    gemini = installations.symlink(
        program.with_name("gemini"), "../lib/node_modules/@google/gemini-cli/bundle/gemini.js"
    )
    command = confined(sandbox, home, gemini, "--version")
    finished = run_now(command, seconds=60)
    assert (finished.code, finished.stdout[:1].isdigit()) == (0, True), finished
    assert_unseen(sandbox, command, home)
