"""What agents and commands wrote while they worked, attempt by attempt, in the order in which these began.

Logs are read in pieces of bounded size and stripped of everything that could steer a terminal. The streams of clients
are told in words, unless they are wanted as they are.
"""

import codecs
from collections.abc import Iterator
from pathlib import Path

from burnish.agents.clients.registry import CLIENTS
from burnish.core.events import RunStarted, WorkStarted, decode, name_of
from burnish.core.loop import evolve
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.runtime.journal import RunError, stream_of
from burnish.settings.agent_kinds import AgentKind
from burnish.usecases.activities import Retelling, client_kind, log_name, open_log
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
    client: AgentKind | None = None
    """Whose stream it holds, where it is one."""


class LogPiece(Value):
    """Some text of a log: whole lines, but for a line longer than a piece and for the end."""

    effect: str
    text: str


class Tail:
    """A log that may still grow, from where it was last read."""

    def __init__(self, file: LogFile, *, raw: bool = False) -> None:
        self._effect = file.effect
        self._path = Path(file.path)
        self._offset = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._retelling = None if raw or file.client is None else Retelling(CLIENTS[file.client])

    def pieces(self, *, to_the_end: bool) -> Iterator[LogPiece]:
        """What is new. An unfinished line is left for later, unless this is the end."""
        stream = open_log(self._path)
        if stream is None:
            return
        with stream:
            while True:
                stream.seek(self._offset)
                raw = stream.read(PIECE_BYTES)
                taken = _whole(raw, to_the_end=to_the_end)
                self._offset += taken
                text = self._text(raw[:taken], is_last=to_the_end and not raw)
                if text:
                    yield LogPiece(effect=self._effect, text=text)
                if not taken:
                    return

    def _text(self, data: bytes, *, is_last: bool) -> str:
        if self._retelling is None:
            return clean_text(self._decoder.decode(data, final=is_last))
        return self._retelling.take(data) + (self._retelling.rest() if is_last else "")


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
    attempts = _attempts(runs, name)
    known = {log_name(effect): effect for effect in attempts}
    logs = folder / "logs"
    # Preparations write logs as well, without being an effect of their own.
    others = sorted(path.name for path in logs.glob("*.log") if path.name not in known) if logs.is_dir() else []
    names = [*known.items(), *((other, other.removesuffix(".log")) for other in others)]
    return [_file(effect, logs / file, attempts.get(effect)) for file, effect in names if _begins(effect, wanted)]


def _attempts(runs: Runs, name: str) -> dict[str, AgentKind | None]:
    """Every attempt in the order of their beginnings, and the client that made it, if one did."""
    stored = runs.ledger.read(stream_of(name))
    kinds = (name_of(RunStarted), name_of(WorkStarted))
    events = [decode(event.body) for event in stored if event.kind in kinds]
    runs_begun = [evolve(None, event) for event in events if isinstance(event, RunStarted)]
    begun = [event for event in events if isinstance(event, WorkStarted)]
    clients = {agent: client_kind(runs_begun[0], agent) for agent in {event.agent for event in begun} if runs_begun}
    return {event.effect: clients.get(event.agent) for event in begun}


def _file(effect: str, path: Path, client: AgentKind | None = None) -> LogFile:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    return LogFile(effect=effect, path=str(path), size=size, client=client)


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


def read_logs(files: list[LogFile], *, raw: bool = False) -> Iterator[LogPiece]:
    """The logs as they are now, one after the other."""
    for file in files:
        yield from Tail(file, raw=raw).pieces(to_the_end=True)


def follow_logs(runs: Runs, name: str, wanted: str = "", *, raw: bool = False) -> Iterator[LogPiece]:
    """The logs as they grow, in turn, until the run is at rest or nobody drives it any more."""
    tails: dict[str, Tail] = {}
    version = -1
    for sighting in watch(runs, name):
        if sighting.run.version != version:
            version = sighting.run.version
            for file in log_files(runs, name, wanted):
                tails.setdefault(file.effect, Tail(file, raw=raw))
        for tail in tails.values():
            yield from tail.pieces(to_the_end=False)
    for tail in tails.values():
        yield from tail.pieces(to_the_end=True)
