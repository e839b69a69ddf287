"""A ledger that a newer version wrote is named as such: an exit code, a message, a hint, and nothing is changed."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.core.events import decode, encode
from burnish.ledger.interface import NewEvent
from tests.end_to_end.machine import Machine
from tests.recorded.recording import look, unpack

COMMANDS = (
    ("show",),
    ("findings",),
    ("logs", "-f"),
    ("wait",),
    ("decide", "b"),
    ("cancel",),
    ("resume",),
    ("records", "rebuild"),
)
"""Those that take a run."""


def with_an_unknown_event(machine: Machine) -> None:
    append(machine, b'{"type":"novelty","at":2000000000.0}')


def with_an_unknown_field(machine: Machine) -> None:
    append(machine, b'{"type":"finding-annotated","at":2000000000.0,"finding":"a","note":"b","mood":"good"}')


def with_an_unknown_field_in_its_inputs(machine: Machine) -> None:
    """A run whose settings have a key that this version does not know."""
    (run,) = machine.runs()
    with machine.ledger() as ledger:
        first = ledger.read(f"run/{run}", 0, 1)[0]
    newer = encode(decode(first.body)).replace(b'{\\"settings\\":{', b'{\\"settings\\":{\\"mood\\":1,')
    assert newer != first.body
    (machine.state / "ledger.db").unlink()
    (machine.state / "ledger.db-wal").unlink(missing_ok=True)
    append(machine, newer, run)


def append(machine: Machine, body: bytes, run: str = "") -> None:
    with machine.ledger() as ledger:
        stream = f"run/{run or machine.runs()[0]}"
        new = NewEvent(kind="Decided", body=body, at=2e9, intent=True)
        ledger.append(stream, ledger.version(stream), [new])


def with_a_newer_schema(machine: Machine) -> None:
    connection = sqlite3.connect(machine.state / "ledger.db")
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()


def words(command: tuple[str, ...], run: str) -> tuple[str, ...]:
    """The name of the run goes after a group's verb, or before a choice."""
    return (*command, run) if command[0] in ("records", "logs") else (command[0], run, *command[1:])


@pytest.mark.parametrize("change", [with_an_unknown_event, with_an_unknown_field])
def test_a_newer_event_is_an_error_with_a_hint(tmp_path: Path, change: Callable[[Machine], None]) -> None:
    machine = unpack("waiting", tmp_path)
    (run,) = machine.runs()
    change(machine)
    version = len(machine.kinds(run))
    for command in COMMANDS:
        code, out, err = look(machine, *words(command, run))
        assert (command, code, out) == (command, 4, "")
        assert "cannot be read" in err
        assert "newer version of burnish" in err
    assert look(machine, "status", "--json").view["runs"][0]["state"] == "unreadable"
    assert len(machine.kinds(run)) == version


def test_newer_settings_are_an_error_with_a_hint(tmp_path: Path) -> None:
    machine = unpack("killed-while-fixing", tmp_path)
    (run,) = machine.runs()
    with_an_unknown_field_in_its_inputs(machine)
    version = len(machine.kinds(run))
    for command in ("show", "resume"):
        code, out, err = machine.burnish(command, run)
        assert (command, code, out) == (command, 2, "")
        assert "was started by another version of burnish" in err
        assert "Continue with that version" in err
    assert len(machine.kinds(run)) == version


def test_a_newer_schema_is_an_error_with_a_hint(tmp_path: Path) -> None:
    machine = unpack("waiting", tmp_path)
    (run,) = machine.runs()
    with_a_newer_schema(machine)
    for command in (*(words(command, run) for command in COMMANDS), ("status",), ("fix",)):
        code, out, err = look(machine, *command)
        assert (command, code, out) == (command, 2, "")
        assert "has schema version 99; this version of burnish supports" in err
        assert "Upgrade burnish" in err
