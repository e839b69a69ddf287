"""Scenarios from TOML files: those that come with burnish, and a user's own."""

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import msgspec

from burnish.protocols.checking import Mismatch, mismatches
from burnish.protocols.documents import Document, key_text, read_document
from burnish.protocols.errors import DocumentError, Problem
from burnish.protocols.sources import UserFile, read_file
from burnish.testing.model_server.scenario import Scenario, Script, faults


def ready_made() -> dict[str, Scenario]:
    """The scenarios that come with burnish."""
    file = resources.files("burnish.testing.model_server").joinpath("ready.toml")
    return _read(file.read_bytes(), "ready.toml").scenario


def load_script(path: Path) -> Script:
    """Read a user's script. Raises `DocumentError` with every problem in it."""
    source = UserFile(path=str(path))
    return _read(read_file(source), source.label)


def _read(raw: bytes, label: str) -> Script:
    document = read_document(raw, label)
    _refuse(document, mismatches(document.values, Script))
    script = msgspec.convert(document.values, Script)
    _refuse(document, faults(script))
    return script


def _refuse(document: Document, found: Iterable[Mismatch]) -> None:
    problems = [
        Problem(
            file=document.file,
            line=document.line_of(mismatch.path),
            key=key_text(mismatch.path),
            message=mismatch.message,
            hint=mismatch.hint,
        )
        for mismatch in found
    ]
    if problems:
        raise DocumentError(problems)
