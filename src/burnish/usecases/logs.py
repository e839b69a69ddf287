"""What agents and commands wrote while they worked, attempt by attempt, in the order in which these began.

Logs are read in pieces of bounded size and stripped of everything that could steer a terminal.
"""

import codecs
import os
from collections.abc import Iterator
from pathlib import Path

from burnish.contracts.text import clean_text
from burnish.core.events import WorkStarted, decode
from burnish.core.values import Value
from burnish.runtime.journal import RunError, stream_of
from burnish.usecases.runs import Runs, named
from burnish.usecases.waiting import watch

RUNNER = "runner"
"""Names what a run in the background said itself; shown only where it is asked for."""

PIECE_BYTES = 64 * 1024


class LogFile(Value):
    """The log of one attempt."""

    effect: str
    path: str
    size: int = 0
    """Bytes at the time of looking."""


class LogPiece(Value):
    """Some text of a log: whole lines, but for a line longer than a piece and for the end."""

    effect: str
    text: str


class Tail:
    """A log that may still grow, from where it was last read."""

    def __init__(self, file: LogFile) -> None:
        self._effect = file.effect
        self._path = Path(file.path)
        self._offset = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def pieces(self, *, to_the_end: bool) -> Iterator[LogPiece]:
        """What is new. An unfinished line is left for later, unless this is the end."""
        try:
            # A link or a pipe in its place was not put there by burnish.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return
        with os.fdopen(descriptor, "rb") as stream:
            while True:
                stream.seek(self._offset)
                raw = stream.read(PIECE_BYTES)
                taken = _whole(raw, to_the_end=to_the_end)
                self._offset += taken
                text = clean_text(self._decoder.decode(raw[:taken], final=to_the_end and not raw))
                if text:
                    yield LogPiece(effect=self._effect, text=text)
                if not taken:
                    return


def _whole(raw: bytes, *, to_the_end: bool) -> int:
    """How much can be shown now: escapes end with their line, so that cleaning needs whole ones."""
    lines = raw.rfind(b"\n") + 1
    is_last = len(raw) < PIECE_BYTES
    return len(raw) if (is_last and to_the_end) or (not is_last and not lines) else lines


def log_files(runs: Runs, name: str, wanted: str = "") -> list[LogFile]:
    """The logs of a run, or those whose effect begins like `wanted`."""
    folder = runs.folder(name)
    if wanted == RUNNER:
        return [_file(RUNNER, folder / "runner.log")]
    effects = _effects(runs, name)
    known = {_file_name(effect): effect for effect in effects}
    logs = folder / "logs"
    # Preparations write logs as well, without being an effect of their own.
    others = sorted(path.name for path in logs.glob("*.log") if path.name not in known) if logs.is_dir() else []
    names = [*known.items(), *((other, other.removesuffix(".log")) for other in others)]
    return [_file(effect, logs / file) for file, effect in names if _begins(effect, wanted)]


def _effects(runs: Runs, name: str) -> list[str]:
    stored = runs.ledger.read(stream_of(name))
    events = (decode(event.body) for event in stored if event.kind == WorkStarted.__name__)
    return list(dict.fromkeys(event.effect for event in events if isinstance(event, WorkStarted)))


def _file_name(effect: str) -> str:
    return f"{effect.replace(':', '-').replace('/', '-')}.log"


def _file(effect: str, path: Path) -> LogFile:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    return LogFile(effect=effect, path=str(path), size=size)


def _begins(effect: str, wanted: str) -> bool:
    """`review:1` is the beginning of `review:1:critic:1`, but not of `review:10`."""
    rest = effect.removeprefix(wanted)
    return effect.startswith(wanted) and not (wanted[-1:].isdecimal() and rest[:1].isdecimal())


def chosen_logs(runs: Runs, name: str, wanted: str = "") -> list[LogFile]:
    """As `log_files`; a choice that fits nothing is an error that names what there is."""
    files = log_files(runs, name, wanted)
    if not files and wanted:
        there = [file.effect for file in log_files(runs, name)]
        hint = f"It has {named(there)}." if there else "Nothing has begun yet."
        raise RunError(f"{name} has no log '{wanted}'.", hint=hint)
    return files


def read_logs(files: list[LogFile]) -> Iterator[LogPiece]:
    """The logs as they are now, one after the other."""
    for file in files:
        yield from Tail(file).pieces(to_the_end=True)


def follow_logs(runs: Runs, name: str, wanted: str = "") -> Iterator[LogPiece]:
    """The logs as they grow, in turn, until the run is at rest or nobody drives it any more."""
    tails: dict[str, Tail] = {}
    version = -1
    for sighting in watch(runs, name):
        if sighting.run.version != version:
            version = sighting.run.version
            for file in log_files(runs, name, wanted):
                tails.setdefault(file.effect, Tail(file))
        for tail in tails.values():
            yield from tail.pieces(to_the_end=False)
    for tail in tails.values():
        yield from tail.pieces(to_the_end=True)
