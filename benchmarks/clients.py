"""Real clients on a scripted model: what burnish adds to the call of one, and how soon it acts on its answer."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Figure, compare
from benchmarks.project import Project
from burnish.agents.interface import Request, Role
from burnish.agents.registry import clients
from burnish.contracts.schemas import schema
from burnish.core.events import Reviewed, decode
from burnish.core.reviews import ContractName
from burnish.ledger.sqlite import open_ledger
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.testing.model_server.server import ModelServer, model_server
from burnish.testing.repositories import RepositoryBuilder

TIMES = 7
MODELS = {AgentKind.CLAUDE: "sonnet", AgentKind.CODEX: "gpt-5.5"}
_MOMENT = re.compile(r"^ended at (\d+\.\d+)$", re.MULTILINE)
_WRAPPER = '#!/bin/sh\n"{program}" "$@"\ncode=$?\ndate "+ended at %s.%N" >&2\nexit $code\n'


def figures() -> Iterator[Figure]:
    with model_server() as server:
        for kind in MODELS:
            with _project(kind) as made:
                user = _user(made, kind, server)
                yield _overhead(made, kind, user)
                yield _latency(made, kind, user)


@contextmanager
def _project(kind: AgentKind) -> Generator[Project]:
    """A project whose one reviewer is a client, started by a script that says when it has ended."""
    program = clients()[kind].program(AgentSettings(kind=kind), os.environ)
    if program is None:
        raise RuntimeError(f"{kind.value} is not installed: pip install 'burnish[clients]'")
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        root = Path(folder)
        wrapper = root / kind.value
        wrapper.write_text(_WRAPPER.format(program=program))
        wrapper.chmod(0o755)
        agent = f'[agents.client]\nkind = "{kind.value}"\ncommand = ["{wrapper}"]\nmodel = "{MODELS[kind]}"\n'
        # A repository cannot say which program gets the user's login.
        settings = root / "home" / ".config" / "burnish" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f'{agent}[roles]\ndefault = "client"\n')
        repository = RepositoryBuilder(root / "work").commit({"app.py": "x = 1\n"})
        repository.branch("change").commit({"app.py": "x = 2\n"})
        yield Project(root=root, repository=repository)


def _user(made: Project, kind: AgentKind, server: ModelServer) -> dict[str, str]:
    """A user's environment, with a key for the scripted service."""
    url = server.url("clean")
    service = (
        {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted"}
        if kind is AgentKind.CLAUDE
        else {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "scripted"}
    )
    return {"PATH": os.environ["PATH"], "HOME": str(made.root / "home"), "LANG": "C.UTF-8", **service}


def _overhead(made: Project, kind: AgentKind, user: dict[str, str]) -> Figure:
    return compare(
        f"review by {kind.value}, the whole command",
        lambda: _review(made, user),
        lambda: _bare(made, kind, user),
        against="the same call of the client alone",
        limit=4,
        times=TIMES,
    )


def _review(made: Project, user: dict[str, str]) -> None:
    command = [sys.executable, "-m", "burnish", "review", "--json", "--protocol", made.protocol(1)]
    done = subprocess.run(command, cwd=made.repository.path, env=user, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stdout.decode() + done.stderr.decode())


def _bare(made: Project, kind: AgentKind, user: dict[str, str]) -> None:
    """The command line that burnish uses, with a prompt of one line, in no sandbox, in a home of its own."""
    client, settings = clients()[kind], AgentSettings(kind=kind, command=(str(made.root / kind.value),))
    with tempfile.TemporaryDirectory(prefix="home-", dir=made.root) as home:
        asked = _request(made, kind, home)
        for place, data in client.files(settings, asked, user).items():
            (Path(home) / place).parent.mkdir(parents=True, exist_ok=True)
            (Path(home) / place).write_bytes(data)
        command = client.command(settings, asked, user)
        subprocess.run(
            command.argv,
            cwd=command.folder,
            env=command.environment,
            input=command.stdin,
            capture_output=True,
            check=True,
        )


def _request(made: Project, kind: AgentKind, home: str) -> Request:
    return Request(
        run="bare",
        effect="review:1:reviewer:1",
        role=Role.REVIEW,
        round=1,
        attempt=1,
        contract=ContractName.ISSUES,
        prompt="Review the change.",
        folder=str(made.repository.path),
        base="main",
        head="change",
        subject="change",
        output_file="",
        model=MODELS[kind],
        home=home,
        confined=True,
        schema=json.dumps(schema(ContractName.ISSUES)),
    )


def _latency(made: Project, kind: AgentKind, user: dict[str, str]) -> Figure:
    """From the end of the client to what follows its answer, by the times of events. The slowest of all runs counts."""
    _review(made, user)
    state = made.repository.path / ".git" / "burnish"
    pauses: list[float] = []
    with open_ledger(state) as ledger:
        for stream in ledger.streams("run/"):
            events = [decode(event.body) for event in ledger.read(stream)]
            answered = next(number for number, event in enumerate(events) if isinstance(event, Reviewed))
            logs = (state / "runs" / stream.removeprefix("run/") / "logs").glob("review-*.log")
            ended = max(float(moment) for log in logs for moment in _MOMENT.findall(log.read_text()))
            pauses.append(events[answered + 1].at - ended)
    name = f"from the end of {kind.value} to the event after its answer"
    return Figure(name=name, ours=max(pauses), peer=1.0, against="one second", limit=1)
