"""`python -m tests.recorded.record`: record the situations that are not recorded yet, with the program as it is.

An archive that is there is a promise: later versions read and resume it, so it is never recorded again. `--read` writes
down anew what the program says of the archives, for a change of words that is meant; read the difference.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from burnish.system import survivors
from tests.end_to_end.machine import RUN_MARKER
from tests.recorded.recording import ARCHIVES, expect, pack, reading, record, unpack
from tests.recorded.situations import SITUATIONS, Situation

_FOLDER = Path("/tmp/burnish-recorded")  # noqa: S108 - a path that says nothing of this machine


def main(arguments: list[str]) -> None:
    for name, situation in SITUATIONS.items():
        if not (ARCHIVES / f"{name}.tar.gz").exists():
            _record(name, situation)
        elif arguments == ["--read"]:
            with tempfile.TemporaryDirectory() as folder:
                expect(name, reading(unpack(name, Path(folder))))


def _record(name: str, situation: Situation) -> None:
    shutil.rmtree(_FOLDER, ignore_errors=True)
    machine = record(_FOLDER, situation)
    for run in machine.runs():
        survivors.end_all(RUN_MARKER, run, 0.0)
    pack(machine, ARCHIVES / f"{name}.tar.gz")
    expect(name, reading(machine))
    shutil.rmtree(_FOLDER)


if __name__ == "__main__":
    main(sys.argv[1:])
