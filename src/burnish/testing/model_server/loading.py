"""Scenarios from TOML files: those that come with burnish, and a user's own."""

from importlib import resources
from pathlib import Path

from burnish.settings.conversion import convert
from burnish.settings.documents import read_document, read_file, refuse
from burnish.testing.model_server.scenario import ModelScript, Scenario, faults


def ready_made() -> dict[str, Scenario]:
    """The scenarios that come with burnish."""
    file = resources.files("burnish.testing.model_server").joinpath("ready.toml")
    return _read(file.read_bytes(), "ready.toml").scenario


def load_script(path: Path) -> ModelScript:
    """Read a user's script. Raises `DocumentError` with every problem in it."""
    return _read(read_file(path), str(path))


def _read(raw: bytes, label: str) -> ModelScript:
    document = read_document(raw, label)
    script = convert(document, ModelScript)
    refuse(map(document.problem, faults(script)))
    return script
