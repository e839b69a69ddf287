"""Play a script under a protocol: what would happen, without an agent, a repository or a clock."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from burnish.core.state import Run
from burnish.protocols.checking import mismatches
from burnish.protocols.documents import key_text, read_document
from burnish.protocols.errors import DocumentError, Problem
from burnish.protocols.loader import load
from burnish.protocols.sources import UserFile, read_file
from burnish.runtime.rehearsal import Moment, Rehearsal
from burnish.runtime.script import Script


def load_script(path: Path) -> Script:
    """Read a script. Raises `DocumentError` with every problem in it."""
    source = UserFile(path=str(path))
    document = read_document(read_file(source), source.label)
    problems = [
        Problem(
            file=document.file,
            line=document.line_of(mismatch.path),
            key=key_text(mismatch.path),
            message=mismatch.message,
            hint=mismatch.hint,
        )
        for mismatch in mismatches(document.values, Script)
    ]
    if problems:
        raise DocumentError(problems)
    return msgspec.convert(document.values, Script)


def rehearse(script: Script, protocol_reference: str | None = None) -> Iterator[tuple[Run | None, Moment]]:
    """Each event with the state before and after it. A protocol that is named here replaces the script's."""
    rehearsal = Rehearsal(script, load(protocol_reference or script.protocol).protocol)
    before: Run | None = None
    for moment in rehearsal.play():
        yield before, moment
        before = moment.run
