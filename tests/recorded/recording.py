"""A recorded repository: made by the real command, packed, unpacked elsewhere, and read."""

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, Final
from unittest import mock

from burnish.cli.app import run as run_command
from burnish.core.events import Reviewed
from burnish.ledger.interface import Ledger
from tests.end_to_end.machine import Done, Machine
from tests.end_to_end.playing import real_events
from tests.end_to_end.plots import SPRINT, first_status, furnished, sprint, toml
from tests.recorded.situations import Situation

ARCHIVES: Final = Path(__file__).parent / "archives"
_RECORDING = {"LC_RECORDING": "1"}
"""Passed on to agents like every LC_ variable: those that are held do not answer while it is set."""
_HOLD = 'test -z "$LC_RECORDING" || exec sleep 600'
_LEFT_OUT = frozenset({"ledger.db-shm", "ledger.lock", "records.lock", "index.lock", "hooks", "description"})
"""What git or the ledger make again."""


class Recorder(Machine):
    """A machine on which commands run at another time."""

    def start(self, *arguments: str, folder: Path | None = None, **variables: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "tests.recorded.command", *arguments],
            cwd=folder or self.root,
            env={**self.environment, "PYTHONPATH": str(Path(__file__).parents[2]), **_RECORDING, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def record(folder: Path, situation: Situation) -> Recorder:
    """Make the situation in a folder, with the agent as a file of the base."""
    plot = situation.plot
    machine = Recorder(folder)
    held = {effect: f"{_HOLD}\n{plot.conduct[effect]}" for effect in situation.held}
    agent = machine.script({**plot.conduct, **held})
    machine.repository.commit({"agent.sh": agent.read_text()}, "Agent")
    policy = toml(plot, Path("agent.sh")).replace('"agent.sh"', '"./agent.sh"')
    status = first_status(plot)
    furnished(machine, policy, {SPRINT: sprint(status)} if status else {})
    if situation.held:
        _kill(machine, situation)
    else:
        machine.burnish(*situation.command)
    return machine


def _kill(machine: Recorder, situation: Situation) -> None:
    process = machine.start(*situation.command)
    run = machine.wait_for_run(process)

    def is_there(_: Ledger) -> bool:
        reviewed = {event.effect for event in real_events(machine, run) if isinstance(event, Reviewed)}
        return set(situation.held) <= set(machine.calls(run)) and set(situation.answered) <= reviewed

    machine.wait_until(process, is_there)
    machine.cut_down(process)


def pack(machine: Machine, archive: Path) -> None:
    """The repository as an archive: the same files always give the same bytes."""
    with gzip.GzipFile(archive, "wb", mtime=0) as stream, tarfile.open(fileobj=stream, mode="w") as tar:
        for path in sorted(machine.root.rglob("*")):
            if not _LEFT_OUT.intersection(path.relative_to(machine.root).parts):
                tar.add(path, str(path.relative_to(machine.root)), recursive=False, filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def unpack(name: str, folder: Path) -> Machine:
    """A machine with a recorded repository."""
    with tarfile.open(ARCHIVES / f"{name}.tar.gz") as tar:
        tar.extractall(folder / "repository", filter="data")
    return Machine(folder)


def look(machine: Machine, *arguments: str) -> Done:
    """A command that only looks, inside this process: there are many of them."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, machine.environment, clear=True),
        contextlib.chdir(machine.root),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run_command(arguments)
    return Done(code, out.getvalue(), err.getvalue())


def reading(machine: Machine) -> dict[str, Any]:
    """What is said of the one run by commands that only look."""
    (run,) = machine.runs()
    return {
        "show": look(machine, "show", run, "--json").view,
        "findings": look(machine, "findings", run, "--json").view,
        "status": look(machine, "status", "--json").view,
        "logs": [log["effect"] for log in look(machine, "logs", run, "--json").view["logs"]],
        "text": look(machine, "logs", run).out,
        "verify": look(machine, "verify").code,
        "records": records(machine, run),
    }


def records(machine: Machine, run: str) -> dict[str, str]:
    """The records of a run as they are in its folder."""
    folder = machine.state / "runs" / run / "records"
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def expected(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((ARCHIVES / f"{name}.json").read_text())
    return value


def expect(name: str, found: dict[str, Any]) -> None:
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    (ARCHIVES / f"{name}.json").write_text(f"{text}\n")
