"""What became of each mutant, kept between the processes of a run, and the score that follows from it."""

import tomllib
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import msgspec

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
"""Mutants that no test can tell from the original, each with the reason why."""


class Verdict(Enum):
    """A test failed, every test passed, a test did not end, or the time was over before it was tried."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed-out"
    NOT_TRIED = "not-tried"


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One mutant that behaves as the original does."""

    mutant: str
    why: str


class Score(NamedTuple):
    """The verdicts, counted. Equivalent mutants are left out; time-outs are counted apart."""

    killed: int
    survivors: tuple[str, ...]
    timed_out: tuple[str, ...]
    not_tried: int
    equivalent: int
    stale: tuple[str, ...]
    """Entries of the list of equivalent mutants that are none: killed, or not there any more."""

    @property
    def percent(self) -> float:
        judged = self.killed + len(self.survivors)
        return 100 * self.killed / judged if judged else 0.0


def write_verdicts(file: Path, verdicts: dict[str, Verdict]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(msgspec.json.format(msgspec.json.encode(verdicts), indent=1))


def read_verdicts(file: Path) -> dict[str, Verdict]:
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Verdict])


def read_equivalent(file: Path = EQUIVALENT) -> tuple[Equivalent, ...]:
    document = tomllib.loads(file.read_text("utf-8"))
    return msgspec.convert(document.get("equivalent", []), tuple[Equivalent, ...])


def score(verdicts: dict[str, Verdict], equivalent: tuple[Equivalent, ...]) -> Score:
    """Count verdicts. A mutant is taken for equivalent only by its exact name, and only while it survives."""
    survivors = {name for name, verdict in verdicts.items() if verdict is Verdict.SURVIVED}
    excused = {entry.mutant for entry in equivalent}
    return Score(
        killed=sum(verdict is Verdict.KILLED for verdict in verdicts.values()),
        survivors=tuple(name for name in verdicts if name in survivors - excused),
        timed_out=tuple(name for name, verdict in verdicts.items() if verdict is Verdict.TIMED_OUT),
        not_tried=sum(verdict is Verdict.NOT_TRIED for verdict in verdicts.values()),
        equivalent=len(survivors & excused),
        stale=tuple(entry.mutant for entry in equivalent if entry.mutant not in survivors),
    )
