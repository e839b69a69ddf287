"""Ledgers that an earlier version wrote are read, decided and resumed by this one."""

from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from tests.end_to_end.cutting import check_once
from tests.end_to_end.machine import Machine
from tests.end_to_end.playing import check_state, real_events
from tests.end_to_end.world import Before
from tests.recorded.recording import expected, look, reading, records, unpack
from tests.recorded.situations import ENDED, KILLED, SITUATIONS, WAITING


def before_the_run(machine: Machine) -> Before:
    """The machine as it was when the run began: its branch has not moved since."""
    now = Before.of(machine)
    return now._replace(refs=frozenset(ref for ref in now.refs if not ref.startswith("refs/burnish/")))


@pytest.mark.parametrize("name", SITUATIONS)
def test_a_recorded_run_reads_as_it_did(tmp_path: Path, name: str) -> None:
    now, then = reading(unpack(name, tmp_path)), expected(name)
    for command in ("show", "findings"):
        now[command] = _as_then(now[command], then[command])
    if name == "ended-default":
        then["verify"] = 1  # the default protocol has other seats since, which the next steps say, too
        for said in (now, then):
            said["show"]["next"] = said["findings"]["next"] = None
    assert now == then


def _as_then(now: dict[str, Any], then: dict[str, Any]) -> dict[str, Any]:
    """An object without the keys that were added since, in itself, in its seal and in its findings."""
    kept = {key: value for key, value in now.items() if key in then}
    if kept.get("seal"):
        kept["seal"] = _as_then(now["seal"], then["seal"])
    if "findings" in kept:
        kept["findings"] = [_as_then(*pair) for pair in zip(now["findings"], then["findings"], strict=True)]
    return kept


@pytest.mark.parametrize("name", ENDED)
def test_the_records_of_a_recorded_run_are_rebuilt_byte_by_byte(tmp_path: Path, name: str) -> None:
    machine = unpack(name, tmp_path)
    (run,) = machine.runs()
    rmtree(machine.state / "runs" / run / "records", ignore_errors=True)
    assert look(machine, "records", "rebuild", run, "--json").code == 0
    assert records(machine, run) == expected(name)["records"]


@pytest.mark.parametrize("name", KILLED)
def test_a_recorded_run_that_was_killed_is_resumed_to_its_end(tmp_path: Path, name: str) -> None:
    machine = unpack(name, tmp_path)
    before, plot = before_the_run(machine), SITUATIONS[name].plot
    (run,) = machine.runs()
    on_record = real_events(machine, run)
    done = machine.burnish("resume", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    check_state(machine, plot, before, done.view)
    check_once(machine, plot, run, on_record)


@pytest.mark.parametrize("name", WAITING)
def test_a_recorded_run_that_waits_is_decided(tmp_path: Path, name: str) -> None:
    machine = unpack(name, tmp_path)
    before = before_the_run(machine)
    (run,) = machine.runs()
    done = machine.burnish("decide", run, "b", "--note", "we ship", "--json")
    assert (done.code, done.view["outcome"]) == (0, "accepted")
    check_state(machine, SITUATIONS[name].plot, before, done.view)
