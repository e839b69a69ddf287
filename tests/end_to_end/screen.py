"""A command at a terminal: what it shows on its standard output."""

import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

_ROWS = 40
_SECONDS = 120.0


class Screen:
    """burnish with a terminal of so many columns for its standard output; with a pipe where there are none."""

    def __init__(self, folder: Path, environment: Mapping[str, str], columns: int | None, *arguments: str) -> None:
        self._ours, theirs = pty.openpty() if columns else os.pipe()
        if columns:
            ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "burnish", *arguments],
            cwd=folder,
            env={**environment, "TERM": "xterm"},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
        )
        os.close(theirs)

    def text(self) -> str:
        """All that it shows until its end."""
        shown = b""
        with suppress(OSError), os.fdopen(self._ours, "rb", buffering=0) as stream:
            while piece := stream.read(65_536):
                shown += piece
        self.process.communicate(timeout=_SECONDS)
        return shown.decode().replace("\r\n", "\n")
