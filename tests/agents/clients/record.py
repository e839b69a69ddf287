"""Records how the real clients end, for the tests that read streams: `python -m tests.agents.clients.record claude …`.

What differs from run to run and from machine to machine, such as folders and ports, is replaced. Clients are found as
users' are; what is recorded is the output of a client, with a scripted model at the other end.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

from burnish.agents.interface import Role
from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished
from burnish.testing.model_server.scenario import Fault, ModelAnswer, Read
from burnish.testing.model_server.server import ModelServer, model_server
from tests.agents.clients.live import ISSUES_SCHEMA, Stage

CORPUS = Path(__file__).with_name("corpus")
SCENARIOS = {
    "limited": (ModelAnswer(status=429, retry_after=2),),
    "reads-then-hangs": (ModelAnswer(turn=1, call=(Read(file="app.py"),)), ModelAnswer(fault=Fault.HANG)),
    "fixed": (ModelAnswer(say="I have put it right."),),
}
SITUATIONS = {
    "clean": "clean",
    "findings": "findings",
    "plain-text": "plain-text",
    "tool-calls": "tool-calls",
    "unauthorised": "unauthorised",
    "rate-limited": "limited",
    "server-error": "server-error",
    "cut": "cut",
    "fixed": "fixed",
    "terminated": "reads-then-hangs",
}


def record(kind: AgentKind, only: tuple[str, ...]) -> None:
    (CORPUS / kind.value).mkdir(parents=True, exist_ok=True)
    with model_server(SCENARIOS) as server:
        for situation, scenario in SITUATIONS.items():
            if only and situation not in only:
                continue
            with tempfile.TemporaryDirectory() as folder:
                stage = Stage(kind, Path(folder))
                finished = _run(stage, server, situation, scenario)
                text = _portable(_document(finished), stage, server)
            (CORPUS / kind.value / f"{situation}.json").write_text(text)
            print(kind.value, situation, finished.how.value, finished.code, f"{finished.seconds:.1f} s", flush=True)  # noqa: T201 - a tool for people


def _run(stage: Stage, server: ModelServer, situation: str, scenario: str) -> Finished:
    if situation == "fixed":
        return stage.run(server.url(scenario), stage.request(role=Role.FIX, reviewer=""))
    asked = stage.request(schema=ISSUES_SCHEMA)
    if situation == "terminated":
        # OpenCode asks for a title first.
        number = 3 if stage.kind is AgentKind.OPENCODE else 2
        return stage.run_until_asked(server, scenario, asked, number)
    return stage.run(server.url(scenario), asked)


def _document(finished: Finished) -> str:
    said = {
        "how": finished.how.value,
        "code": finished.code,
        "signal": finished.signal,
        "stdout": finished.stdout.decode().split("\n"),
        "stderr": finished.stderr_tail.split("\n")[-12:],
    }
    return json.dumps(said, indent=1, ensure_ascii=False) + "\n"


def _portable(text: str, stage: Stage, server: ModelServer) -> str:
    folder = str(stage.clone.parent)
    text = text.replace(server.address.removeprefix("http://"), "127.0.0.1:1")
    text = text.replace(folder.replace("/", "-"), "-work").replace(folder, "/work")
    return re.sub(r"(?:file://)?/[\w./@-]+/node_modules/", "/opt/node_modules/", text)


if __name__ == "__main__":
    wanted = tuple(word for word in sys.argv[1:] if word in SITUATIONS)
    for name in sys.argv[1:]:
        if name not in wanted:
            record(AgentKind(name), wanted)
