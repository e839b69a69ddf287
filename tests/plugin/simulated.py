"""A session without a client: what the client would send to hooks when a model follows them to the letter."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from burnish.core.state import Run
from burnish.plugin import hook
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.runs import runs_of
from burnish.workspace.repository import Repository
from tests.plugin.calls import SESSION, call, tool
from tests.plugin.session import BROKEN, FIXED

MOST_PHASES = 40


class Asked(NamedTuple):
    """A dispatch as the gate let it pass."""

    agent: str
    seat: str
    prompt: str
    round: int


Answers = Callable[[Asked], str]
"""What a subagent says. It may edit files before."""


class SimulatedSession:
    """One session in a project with uncommitted work. The environment of this process must be that of its user."""

    def __init__(self, folder: Path, session: str = SESSION, files: Mapping[str, str] | None = None) -> None:
        self.folder, self.session = folder, session
        self.root = folder / "project"
        if not self.root.exists():
            builder = RepositoryBuilder(self.root).commit({"app.py": FIXED, **(files or {})})
            builder.write({"app.py": BROKEN})
        self.prefix = "burnish:" if "CLAUDE_PLUGIN_ROOT" in os.environ else "burnish-"
        self.blocks = 0
        """How often in all a stop was blocked."""

    def send(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        said = hook.answer_to(json.dumps({**sent, "session_id": self.session}).encode(), dict(os.environb))
        return json.loads(said) if said else {}

    def type(self, prompt: str) -> dict[str, Any]:
        return self.send(call("UserPromptSubmit", str(self.root), prompt=prompt))

    def stop(self, **more: Any) -> dict[str, Any]:
        answer = self.send(call("Stop", str(self.root), stop_hook_active=False, background_tasks=[], **more))
        self.blocks += answer.get("decision") == "block"
        return answer

    def card(self) -> dict[str, Any] | None:
        path = self.card_path
        return json.loads(path.read_text()) if path.exists() else None

    @property
    def card_path(self) -> Path:
        return Path(os.environ["XDG_STATE_HOME"]) / "burnish/sessions" / f"{self.session}.json"

    def follow(self, answers: Answers) -> dict[str, Any]:
        """Do what the hooks ask for, until they let the session stop. Returns what the last one said."""
        for _ in range(MOST_PHASES):
            card = self.card()
            for work in card["work"] if card is not None else ():
                self.subagent(work, answers)
            stopped = self.stop()
            if stopped.get("decision") != "block":
                return stopped
        raise AssertionError(f"It did not end in {MOST_PHASES} phases.")

    def subagent(self, work: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        """Start the subagent of a seat, and tell its end."""
        asked = self.dispatch(work)
        path = self.transcript(asked.prompt, answers(asked), work["seat"])
        more = {"agent_id": "a1", "agent_type": f"{self.prefix}{asked.agent}", "agent_transcript_path": str(path)}
        said = json.loads(path.read_text().splitlines()[-1])["message"]["content"][0]["text"]
        return self.send(
            call("SubagentStop", str(self.root), last_assistant_message=said, stop_hook_active=False, **more)
        )

    def dispatch(self, work: Mapping[str, Any]) -> Asked:
        given = {"subagent_type": f"{self.prefix}{work['agent']}", "description": work["seat"], "prompt": work["seat"]}
        said = self.send(tool("PreToolUse", "Agent", given, str(self.root)))["hookSpecificOutput"]
        assert said["permissionDecision"] == "allow", said
        card = self.card()
        assert card is not None
        return Asked(work["agent"], work["seat"], said["updatedInput"]["prompt"], card["round"])

    def transcript(self, prompt: str, said: str, name: str) -> Path:
        """What the client writes down of a subagent, beside the session's own transcript."""
        folder = self.folder / self.session / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"agent-{name.replace('-', '')}.jsonl"
        records = [
            {"type": "user", "message": {"role": "user", "content": prompt}},
            {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}},
        ]
        path.write_text("\n".join(map(json.dumps, records)))
        return path

    def run(self) -> Run:
        with runs_of(Repository.discover(self.root)) as found:
            (run,) = found.readable()
            return run
