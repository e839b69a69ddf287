"""The real Claude Code with the plugin, on a small repository, with a scripted model at the other end."""

import json
import os
import signal
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from burnish.agents.registry import clients
from burnish.core.state import Run
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.journal import load_run
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.testing.model_server.scenario import ModelAnswer, NamedTool, RunCommand, ScriptedToolUse, Write
from burnish.testing.model_server.server import ModelServer
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.install_plugin import PluginName, plugin_path
from burnish.usecases.runs import runs_of
from burnish.workspace.repository import Repository
from tests.agents.clients.live import installed, service

PANEL = ("critic", "pedant", "witness", "security-reviewer", "silent-failure-hunter")
_TITLES = {
    "critic": "as the critic",
    "pedant": "as the pedant",
    "witness": "as the witness",
    "security-reviewer": "as the security reviewer",
    "silent-failure-hunter": "as the hunter of silent failures",
}
BROKEN = "def half(number):\n    return number / 3\n"
FIXED = "def half(number):\n    return number / 2\n"
CLEAN = json.dumps(
    {"issues": [], "former": [], "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}
)


def issues(description: str = "It divides by three.", **changes: Any) -> str:
    issue = {
        "severity": "warning",
        "category": "correctness",
        "file": "app.py",
        "line": 2,
        "end_line": 2,
        "description": description,
        "impact": "Wrong results.",
        "evidence": "number / 3",
        "suggestion": "Divide by two.",
        "confidence": 0.9,
        "action": "fix",
        **changes,
    }
    summary = {"critical": 0, "warning": 1, "info": 0, "verdict": "issues_found"}
    return json.dumps({"issues": [issue], "former": [], "summary": summary})


def reviewer(seat: str, answer: str, *more: str, **changes: Any) -> ModelAnswer:
    """What a reviewer says. `more` are texts that its conversation holds, such as `Round: 1`."""
    return ModelAnswer(when=(f"# Review this change {_TITLES[seat]}", *more), say=answer, **changes)


def panel(answer: str, *more: str) -> tuple[ModelAnswer, ...]:
    return tuple(reviewer(seat, answer, *more) for seat in PANEL)


def fixer(text: str, *more: str) -> tuple[ModelAnswer, ...]:
    """A fixer that writes the file, then says so."""
    fixes = ("# Fix this change", *more)
    return (
        ModelAnswer(turn=1, when=fixes, call=(NamedTool(name="Read", input='{"file_path": "app.py"}'),)),
        ModelAnswer(turn=2, when=fixes, call=(Write(file="app.py", text=text),)),
        ModelAnswer(when=fixes, say="Divide by two"),
    )


def dispatch(*agents: str, **changes: Any) -> tuple[ScriptedToolUse, ...]:
    return tuple(
        NamedTool(
            name="Agent",
            input=json.dumps({"description": agent, "prompt": agent, "subagent_type": f"burnish:{agent}", **changes}),
        )
        for agent in agents
    )


def main(turn: int, *calls: ScriptedToolUse, say: str = "", when: Iterable[str] = ()) -> ModelAnswer:
    """What the session itself does, after all that subagents could be asked."""
    return ModelAnswer(turn=turn, when=tuple(when), say=say or "Going on.", call=calls)


def command(text: str) -> ScriptedToolUse:
    return RunCommand(command=text)


class Said:
    """What came of one call of the client."""

    def __init__(self, code: int, output: str, errors: str) -> None:
        self.code = code
        self.errors = errors
        self.records: list[dict[str, Any]] = [json.loads(line) for line in output.splitlines() if line.startswith("{")]

    @property
    def notices(self) -> str:
        """What the person was told."""
        return "\n".join(str(one.get("content", "")) for one in self.records if one.get("type") == "system")

    @property
    def results(self) -> str:
        """What tools answered, and what hooks said to the model."""
        return "\n".join(json.dumps(one["message"]["content"]) for one in self.records if one.get("type") == "user")

    @property
    def session(self) -> str:
        return next(one["session_id"] for one in self.records if "session_id" in one)


class SessionStage:
    """A repository with uncommitted work, and a user who has the plugin."""

    def __init__(self, folder: Path, files: dict[str, str] | None = None) -> None:
        installed(AgentKind.CLAUDE)
        self.home = folder / "home"
        self.home.mkdir()
        self.builder = RepositoryBuilder(folder / "project").commit({"app.py": FIXED, **(files or {})})
        self.root = self.builder.path
        self.builder.write({"app.py": BROKEN})
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(folder),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
        }
        self.plugin = plugin_path(PluginName.REVIEW, self.environment)

    def claude(self, server: ModelServer, scenario: str, prompt: str, *options: str) -> Said:
        process = self.popen(server, scenario, prompt, *options)
        out, errors = process.communicate(timeout=400)
        return Said(process.returncode, out, errors)

    def kill(self, process: "subprocess.Popen[str]") -> None:
        """The client and all that it started, at once."""
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def popen(self, server: ModelServer, scenario: str, prompt: str, *options: str) -> "subprocess.Popen[str]":
        program = clients()[AgentKind.CLAUDE].program(AgentSettings(kind=AgentKind.CLAUDE), os.environ)
        words = ["-p", prompt, "--output-format", "stream-json", "--verbose", "--model", "sonnet", "--max-turns", "80"]
        allowed = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
        return subprocess.Popen(
            [str(program), *words, *allowed, "--plugin-dir", str(self.plugin), *options],
            cwd=self.root,
            env={**self.environment, **service(AgentKind.CLAUDE, server.url(scenario))},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def repository(self) -> Repository:
        return Repository.discover(self.root)

    def runs(self) -> list[Run]:
        """All runs, the oldest first."""
        with runs_of(self.repository) as found:
            return list(found.readable())[::-1]

    def run(self) -> Run:
        (found,) = self.runs()
        return found

    def record(self, path: str) -> Any:
        return json.loads((self.root / ".agents/tmp" / path).read_text())

    def cards(self) -> list[str]:
        folder = self.home / ".local/state/burnish/sessions"
        return sorted(path.name for path in folder.glob("*.json"))

    def events(self, run: str) -> list[str]:
        with open_ledger(self.repository.state_dir) as ledger:
            load_run(ledger, run)
            return [event.kind for event in ledger.read(f"run/{run}")]
