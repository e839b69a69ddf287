"""How long each hook of the plugin takes as a process: against a bare interpreter, and against a script with jq.

A session without a review calls hooks at every tool call, so these come first. What a hook moves is moved for good:
each repeat has a project of its own.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import burnish.plugin
from benchmarks.measure import Figure, Job, compare
from burnish.plugin.gates import seat_line
from burnish.plugin.instructions import write_card
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.session_owners import owner_of
from burnish.usecases.session_review import SessionRequest, Standing, start_review

TIMES = 25
MOVES = 8
"""Repeats of what moves a review."""
HOOK = Path(burnish.plugin.__file__).with_name("hook.py")
SCRIPT = Path(__file__).with_name("hooks.sh")
_SESSION = "benchmark"
_CLEAN = json.dumps(
    {"issues": [], "former": [], "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}
)
_BARE = "a bare interpreter"


class Project:
    """A project under review, and its user."""

    def __init__(self, folder: Path, *, answered: int = 0) -> None:
        self.builder = RepositoryBuilder(folder / "project")
        self.builder.commit({f"src/module_{number}.py": f"x = {number}\n" for number in range(50)})
        self.builder.write({"src/module_1.py": "x = 2\n"})
        self.root = self.builder.path
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "CLAUDE_PLUGIN_ROOT": "/plugin"}
        self.standing: Standing | None = None
        self.folder = folder
        self.answered = answered

    def start(self) -> "Project":
        owner = owner_of(_SESSION)
        self.standing = start_review(self.root, owner, SessionRequest(), self.environment)
        write_card(self.standing, owner, self.environment, told=True)
        for work in self.standing.wanted[: self.answered]:
            self.hook(self.stop(work.seat))()
        return self

    def call(self, event: str, **more: Any) -> dict[str, Any]:
        return {"session_id": _SESSION, "cwd": str(self.root), "hook_event_name": event, **more}

    def tool(self, name: str, **given: Any) -> dict[str, Any]:
        return self.call("PreToolUse", tool_name=name, tool_input=given)

    def stop(self, seat: str) -> dict[str, Any]:
        """A reviewer has answered."""
        assert self.standing is not None  # noqa: S101 - it has begun
        work = next(one for one in self.standing.wanted if one.seat == seat)
        path = self.folder / f"agent-{seat}.jsonl"
        prompt = f"{work.prompt}\n{seat_line(work.token)}\n"
        path.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": prompt}}))
        more = {"agent_type": f"burnish:{seat}", "agent_transcript_path": str(path), "last_assistant_message": _CLEAN}
        return self.call("SubagentStop", stop_hook_active=False, **more)

    def hook(self, sent: dict[str, Any]) -> Job:
        return _job([sys.executable, "-I", "-S", str(HOOK)], sent, self.environment)

    def script(self, event: str, sent: dict[str, Any]) -> Job:
        return _job(["bash", str(SCRIPT), event], sent, self.environment)


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as name:
        folder = Path(name)
        idle = Project(_made(folder / "idle"))
        bare = _job([sys.executable, "-I", "-S", "-c", "pass"], {}, idle.environment)
        for what, sent in (("a tool call", idle.tool("Bash", command="ls")), ("a stop", idle.call("Stop"))):
            yield _against(f"hook without a review: {what}", idle.hook(sent), bare, _BARE, 1.3)
        busy = Project(_made(folder / "busy")).start()
        gates = {
            "edit": busy.tool("Edit", file_path=str(busy.root / "src/module_1.py")),
            "command": busy.tool("Bash", command="git diff --stat | head"),
            "subagent": busy.tool("Agent", subagent_type="burnish:critic", prompt="critic"),
        }
        for what, sent in gates.items():
            yield _against(f"gate in a review: {what}", busy.hook(sent), bare, _BARE, 4.0)
        if shutil.which("jq") is None:
            return
        version = subprocess.run(["jq", "--version"], capture_output=True, text=True, check=True).stdout.strip()
        script = f"bash and {version}"
        yield _against("gate: edit", busy.hook(gates["edit"]), busy.script("PreToolUse-Edit", gates["edit"]), script)
        asked = busy.script("PreToolUse-Agent", gates["subagent"])
        yield _against("gate: subagent", busy.hook(gates["subagent"]), asked, script)
        yield _moving(folder / "waiting", "SubagentStop, others missing", script, answered=1)
        yield _moving(folder / "last", "SubagentStop, the last one", script, answered=4)
        yield _moving(folder / "stop", "Stop, reviewers missing", script, answered=3, stop=True)


def _moving(folder: Path, name: str, against: str, *, answered: int, stop: bool = False) -> Figure:
    """A hook that moves the review, in a project of its own each time; the script moves that project's records."""
    jobs: list[Job] = []
    peers: list[Job] = []
    for number in range(MOVES):
        project = Project(_made(folder / f"{number}"), answered=answered).start()
        sent = project.call("Stop", stop_hook_active=False) if stop else project.stop("silent-failure-hunter")
        jobs.append(project.hook(sent))
        other = Project(_made(folder / f"{number}-script"), answered=answered).start()
        peers.append(other.script(sent["hook_event_name"], {**sent, "cwd": str(other.root)}))
    job, peer = _each_once(jobs), _each_once(peers)
    return compare(name, job, peer, against=against, limit=1.0, times=MOVES)


def _each_once(jobs: list[Job]) -> Job:
    def following() -> object:
        return jobs.pop()()

    return following


def _against(name: str, job: Job, peer: Job, against: str, limit: float | None = None) -> Figure:
    for once in (job, peer):
        once()
    return compare(name, job, peer, against=against, limit=limit, times=TIMES)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def _job(command: list[str], sent: dict[str, Any], environment: dict[str, str]) -> Job:
    data = json.dumps(sent).encode()
    return lambda: subprocess.run(command, input=data, stdout=subprocess.DEVNULL, env=environment, check=True)
