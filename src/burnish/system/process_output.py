"""What a process says, as it comes: bounded in memory, bounded in the log, and safe to show."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from burnish.core.text import clean_text
from burnish.system.files import write_all
from burnish.system.process_start import ProcessError

LOG_BYTES = 64 * 1024 * 1024
TAIL_BYTES = 64 * 1024
LINE_BYTES = 8 * 1024 * 1024


OnLine = Callable[[bytes], None]


class Log:
    """A file for the user's eyes only that takes what is said on both channels, up to a size, then a note.

    Several commands may write to one log in turn: the size is that of the file.
    """

    def __init__(self, path: Path | None, limit: int = LOG_BYTES) -> None:
        self._descriptor = None if path is None else open_log(path)
        self._left = limit - (0 if self._descriptor is None else os.fstat(self._descriptor).st_size)
        self._limit = limit
        self.problem = ""

    def write(self, data: bytes) -> None:
        if self._descriptor is None or self._left < 0:
            return
        try:
            write_all(self._descriptor, data[: self._left])
            self._left -= len(data)
            if self._left < 0:
                write_all(self._descriptor, b"\n[the log ends here: it holds %d bytes at most]\n" % self._limit)
        except OSError as error:
            # A full disk must not end the work; readers of the log are told elsewhere.
            self.problem = f"The log could not be written: {error.strerror}."
            self._left = -1

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def open_log(path: Path) -> int:
    """Open a log for appending; a link in its place is not followed."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # root would lock all others out of a device
            with suppress(PermissionError):  # another user's file
                os.fchmod(descriptor, 0o600)
    except OSError as error:
        raise ProcessError(
            f"The log '{path}' cannot be opened: {error.strerror}.", hint="Look at the folder and the space left on it."
        ) from None
    return descriptor


class _Lines:
    """Hands on whole lines only. One that is too long to be kept is handed on in pieces."""

    def __init__(self, on_line: OnLine | None) -> None:
        self._on_line = on_line
        self._unfinished = b""

    def take(self, data: bytes) -> None:
        if self._on_line is None:
            return
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            self._on_line(line)
        if len(self._unfinished) > LINE_BYTES:
            self._on_line(self._unfinished)
            self._unfinished = b""


class Output:
    """Both channels of a process: the beginning of the one, the end of the other, and all of it in the log."""

    def __init__(
        self, kept_bytes: int, log: Log, on_line: OnLine | None = None, on_error_line: OnLine | None = None
    ) -> None:
        self._kept_bytes = kept_bytes
        self._lines = _Lines(on_line)
        self._error_lines = _Lines(on_error_line)
        self._stdout = bytearray()
        self._stderr = b""
        self.stdout_cut = False
        self.log = log

    def take_stdout(self, data: bytes) -> None:
        room = self._kept_bytes - len(self._stdout)
        self._stdout += data[:room] if room > 0 else b""
        self.stdout_cut = self.stdout_cut or len(data) > room
        self.log.write(data)
        self._lines.take(data)

    def take_stderr(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-TAIL_BYTES:]
        self.log.write(data)
        self._error_lines.take(data)

    @property
    def stdout(self) -> bytes:
        return bytes(self._stdout)

    @property
    def stderr_tail(self) -> str:
        return clean_text(self._stderr.decode("utf-8", errors="replace"))
