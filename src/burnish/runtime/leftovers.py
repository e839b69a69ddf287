"""What a killed burnish leaves of files that it was about to write. Nothing else is ever removed here."""

import glob
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from burnish.system.files import TEMPORARY_SUFFIX

_NAME_LENGTH = 100
"""How much of a file's name its temporary one bears; see `system.files`."""


def remove_half_written(root: Path, names: Iterable[str]) -> None:
    """Remove the temporary files of these files below a folder; never through a link that leads out of it."""
    home = root.resolve()
    for name in names:
        path = root / name
        if not path.parent.is_dir() or not path.parent.resolve().is_relative_to(home):
            continue
        pattern = f".{glob.escape(path.name[:_NAME_LENGTH])}.*{TEMPORARY_SUFFIX}"
        for leftover in path.parent.glob(pattern):
            with suppress(OSError):
                leftover.unlink()
