"""Play a script under a protocol: what would happen, without an agent, a repository or a clock."""

from collections.abc import Iterator
from pathlib import Path

from burnish.core.state import Run
from burnish.protocols.loader import load
from burnish.runtime.rehearsal import Moment, Rehearsal
from burnish.runtime.script import RehearsalScript
from burnish.settings.conversion import convert
from burnish.settings.documents import read_document, read_file


def load_script(path: Path) -> RehearsalScript:
    """Read a script. Raises `DocumentError` with every problem in it."""
    return convert(read_document(read_file(path), str(path)), RehearsalScript)


def rehearse(script: RehearsalScript, protocol_reference: str | None = None) -> Iterator[tuple[Run | None, Moment]]:
    """Each event with the state before and after it. A protocol that is named here replaces the script's."""
    rehearsal = Rehearsal(script, load(protocol_reference or script.protocol).protocol)
    before: Run | None = None
    for moment in rehearsal.play():
        yield before, moment
        before = moment.run
