"""`burnish agent check`: one real call in the real sandbox, and plain words for whatever goes wrong."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.agents.clients.live import stage

from burnish.settings.agent_kinds import AgentKind
from burnish.testing.model_server.server import model_server
from burnish.testing.repositories import RepositoryBuilder

Burnish = Callable[..., tuple[int, str, str]]

CLEAN = '{"issues": [], "former": null, "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}'
ANSWERS = f"cat > /dev/null; echo '{CLEAN}'"


class User:
    """A home, a repository, and an agent that does what a line of shell says."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self.repository = RepositoryBuilder(folder / "repository")
        monkeypatch.chdir(self.repository.path)
        monkeypatch.setenv("HOME", str(self.home))
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "BURNISH_RUN"):
            monkeypatch.delenv(name, raising=False)

    def has(self, line: str, name: str = "mine") -> None:
        command = json.dumps(["sh", "-c", line])
        self.repository.commit({"burnish.toml": f'[agents.{name}]\nkind = "command"\ncommand = {command}\n'})

    def check_nothing_is_left(self) -> None:
        left = [path for path in self.home.rglob("*") if path.name not in (".cache", "burnish")]
        assert left == []
        assert self.repository.git.text("status", "--porcelain") == ""
        assert not (self.repository.path / ".git" / "burnish").exists()


@pytest.fixture
def user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    return User(folder, monkeypatch)


def test_an_agent_that_answers_can_be_used(burnish: Burnish, user: User) -> None:
    user.has(f"{ANSWERS}; touch {user.folder}/outside; env > $BURNISH_OUTPUT.seen; true")
    code, out, err = burnish("agent", "check", "mine")
    assert (code, out[:25]) == (0, "ok: mine works. The call ")
    assert err == "Testing mine (command) on a small repository …\n"
    user.check_nothing_is_left()


def test_it_is_asked_like_a_reviewer_and_told_to_find_nothing(burnish: Burnish, user: User) -> None:
    wanted = "grep -q 'connection test' && grep -q 'total = 2' app.py && ! echo 3 >> app.py 2> /dev/null"
    user.has(f"[ $BURNISH_ROLE-$BURNISH_CONTRACT = review-issues ] && {wanted} && echo '{CLEAN}'")
    assert burnish("agent", "check", "mine")[0] == 0


@pytest.mark.parametrize(
    ("line", "problem", "hint"),
    [
        ("echo 'I like it.'", "It answered, but not in the required format", "Try another model"),
        ("echo 'HTTP 401 Unauthorized' >&2; exit 1", "The service rejected the login", "environment = "),
        ("echo 'error: retry after 90 s' >&2; exit 1", "The service is rate-limited, until ", "fallback"),
        ("echo \"error: unknown option '--json'\" >&2; exit 1", "It did not finish", "upgrade it"),
        ("exit 127", "It cannot be started", "Check its command"),
    ],
)
def test_what_is_wrong_is_said_in_plain_words(burnish: Burnish, user: User, line: str, problem: str, hint: str) -> None:
    user.has(line)
    code, out, err = burnish("agent", "check", "mine")
    assert (code, out) == (4, "")
    assert problem in err
    assert hint in err.splitlines()[-1]
    user.check_nothing_is_left()


def test_hostile_words_of_an_agent_are_harmless(burnish: Burnish, user: User) -> None:
    user.has("printf 'a\\033[2Jb\\nok: mine can be used.\\n' >&2; exit 1")
    code, _, err = burnish("agent", "check", "mine")
    assert code == 4
    assert "\x1b" not in err
    assert not [line for line in err.splitlines() if line.startswith("ok:")]


def test_the_file_that_a_command_names_is_the_bases(burnish: Burnish, user: User) -> None:
    policy = '[agents.mine]\nkind = "command"\ncommand = ["./review.sh"]\n'
    good, bad = f"#!/bin/sh\n{ANSWERS}\n", "#!/bin/sh\nexit 1\n"
    user.repository.commit({"burnish.toml": policy, "review.sh": good})
    (user.repository.path / "review.sh").chmod(0o755)
    user.repository.git.run("update-index", "--chmod=+x", "review.sh")
    user.repository.git.run("commit", "--quiet", "--amend", "--no-edit")
    user.repository.branch("change").commit({"review.sh": bad})
    assert burnish("agent", "check", "mine")[0] == 0


def test_the_object_for_programs(burnish: Burnish, user: User) -> None:
    user.has("echo 'HTTP 401 Unauthorized' >&2; exit 1")
    code, out, _ = burnish("agent", "check", "mine", "--json")
    shown = json.loads(out)
    assert (code, shown["usable"], shown["failure"]["kind"]) == (4, False, "unauthorised")
    assert shown["hint"].startswith("Log in")


def test_nobody_knows_the_name_or_the_program(burnish: Burnish, user: User) -> None:
    assert burnish("agent", "check", "nobody")[0] == 2
    own = user.home / ".config" / "burnish" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[agents.mine]\nkind = "gemini"\ncommand = ["no-such-client"]\n')
    code, out, err = burnish("agent", "check", "mine")
    assert (code, out) == (4, "")
    assert err == "mine does not work: It is not installed.\nhint: 'no-such-client' was not found.\n"


def test_an_agent_of_a_run_checks_nobody(burnish: Burnish, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_RUN", "20231114-221320-aaaaaa")
    assert burnish("agent", "check", "analysers")[0] == 2


@pytest.mark.prove
def test_the_analysers_are_all_there_and_run(burnish: Burnish, user: User) -> None:
    code, out, _ = burnish("agent", "check", "analysers")
    assert code == 0
    assert all(tool in out for tool in ("ruff", "ast-grep", "oxlint", "kingfisher", "zizmor", "shellcheck"))


def test_a_check_that_is_ended_leaves_nothing(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BURNISH_SANDBOX", "off")
    ready, alive = user.folder / "ready", user.folder / "alive"
    os.mkfifo(ready)
    os.mkfifo(alive)
    command = json.dumps(["sh", "-c", f"exec 3> {alive}; echo > {ready}; sleep 600"])
    policy = f'[agents.mine]\nkind = "command"\ncommand = {command}\n'
    user.repository.commit({"burnish.toml": policy})
    held = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    with subprocess.Popen([sys.executable, "-m", "burnish", "agent", "check", "mine"], stderr=subprocess.PIPE) as check:
        assert ready.read_text() == "\n"
        with pytest.raises(BlockingIOError):
            os.read(held, 1)
        check.send_signal(signal.SIGTERM)
        check.communicate(timeout=60)
    assert check.returncode == 143
    assert os.read(held, 1) == b""  # nobody holds the other end any more
    os.close(held)
    user.check_nothing_is_left()


@pytest.mark.parametrize(
    ("kind", "login"),
    [
        (AgentKind.CODEX, "codex login"),
        pytest.param(AgentKind.CLAUDE, "claude auth login", marks=pytest.mark.prove),
    ],
)
def test_a_real_client(
    burnish: Burnish, user: User, monkeypatch: pytest.MonkeyPatch, kind: AgentKind, login: str
) -> None:
    at_work = stage(kind, user.folder / "stage")
    with model_server({}) as server:
        for scenario in ("clean", "unauthorised"):
            variables = at_work.environment(server.url(scenario))
            for name in variables.keys() - {"HOME", "TMPDIR"}:
                monkeypatch.setenv(name, variables[name])
            code, out, err = burnish("agent", "check", kind.value)
            assert err.startswith(f"Making one paid call (at most $0.05): {kind.value}")
            if scenario == "clean":
                assert (code, out[:3]) == (0, "ok:"), err
            else:
                assert (code, out) == (4, "")
                assert "The service rejected the login" in err
                assert login in err.splitlines()[-1]
    user.check_nothing_is_left()
