"""Sources as files, read as a user would have them read."""

from pathlib import Path

import msgspec
import pytest

from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.errors import ErrorKind
from burnish.sources.interface import SourceError
from burnish.sources.registry import read_source

SAMPLES = Path(__file__).parent / "samples"


def read(folder: Path, name: str, text: str | bytes) -> EpicPlan:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_source(path, folder)


def refused(folder: Path, name: str, text: str | bytes) -> list[str]:
    """The problems of a source, without the folder; each has a hint."""
    with pytest.raises(SourceError) as raised:
        read(folder, name, text)
    assert raised.value.kind is ErrorKind.USAGE
    assert all(problem.hint for problem in raised.value.problems)
    return [problem.sentence.replace(f"{folder}/", "") for problem in raised.value.problems]


def fields(ticket: Ticket) -> dict[str, object]:
    """What a ticket says; fields that have their defaults are left out."""
    return msgspec.to_builtins(ticket)
