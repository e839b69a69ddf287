"""Following a run: until nothing more will happen by itself, by what its agents write, or in the terminal of one.

The ledger's version is asked for at short intervals. That is cheap, and no work waits for it: the runner itself is told
of exits and intents, and never looks like this. Logs are read in pieces of bounded size and stripped of everything that
could steer a terminal. The streams of clients are told in words, unless they are wanted as they are.
"""

import codecs
import time
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from burnish.agents.registry import clients
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import WorkStarted, decode, name_of
from burnish.core.loop import evolve
from burnish.core.state import Run, Waiting
from burnish.core.steps.flow import under_way
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.report.account import RunSnapshot
from burnish.runtime.journal import RunError, stream_of
from burnish.settings.agent_kinds import AgentKind
from burnish.system import clock
from burnish.system.terminal import TERMINALS, View, open_views
from burnish.usecases.agent_logs import StreamFormatter, client_kind, log_name, open_log
from burnish.usecases.runs import Runs, named, open_runs
from burnish.usecases.sessions import CommandSession, find
from burnish.workspace.repository import Repository

RUNNER = "runner"
"""Names what a run in the background said itself; shown only where it is asked for."""

PIECE_BYTES = 64 * 1024
LOOK_SECONDS = 0.2
GRACE_SECONDS = 3.0
"""A run that is handed from one process to another has no driver until the other one has started. A dead one hands
nothing on."""


class LogFile(Value):
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
        self._formatter = None if raw or file.client is None else StreamFormatter(clients()[file.client])

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
        if self._formatter is None:
            return clean_text(self._decoder.decode(data, final=is_last))
        return self._formatter.take(data) + (self._formatter.rest() if is_last else "")


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
    first, *later = runs.ledger.read(stream_of(name))
    kind_of = cache(partial(client_kind, evolve(None, decode(first.body))))
    events = (decode(event.body) for event in later if event.kind == name_of(WorkStarted))
    return {event.effect: kind_of(event.agent) for event in events if isinstance(event, WorkStarted)}


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
        hint = f"Its logs are {named(there)}." if there else "Nothing has started yet."
        raise RunError(f"{name} has no log '{wanted}'.", hint=hint)
    return files


def read_logs(files: list[LogFile], *, raw: bool = False) -> Iterator[LogPiece]:
    for file in files:
        yield from Tail(file, raw=raw).pieces(to_the_end=True)


def follow_logs(runs: Runs, name: str, wanted: str = "", *, raw: bool = False) -> Iterator[LogPiece]:
    """The logs as they grow, in turn, until the run is at rest or has no driver any more.

    Where `wanted` is the whole name of an attempt, its end is the end.
    """
    tails: dict[str, Tail] = {}
    version = -1
    for snapshot in watch(runs, name):
        if snapshot.run.version != version:
            version = snapshot.run.version
            for file in log_files(runs, name, wanted):
                tails.setdefault(file.effect, Tail(file, raw=raw))
        for tail in tails.values():
            yield from tail.pieces(to_the_end=False)
        # Once more, as the logs may know of an attempt that began after the snapshot.
        if wanted in tails and _has_ended(runs.advance(snapshot.run), wanted):
            break
    for tail in tails.values():
        yield from tail.pieces(to_the_end=True)


def _has_ended(run: Run, effect: str) -> bool:
    """Whether an attempt has begun and ended. Logs of preparations, whose names have no colon, are no attempts."""
    return ":" in effect and effect not in under_way(run)


def follow_session(session: CommandSession) -> Iterator[LogPiece]:
    tail = Tail(LogFile(effect=session.name, path=str(session.output)))
    while not session.ends_within(LOOK_SECONDS):
        yield from tail.pieces(to_the_end=False)
    yield from tail.pieces(to_the_end=True)


class Waited(Value):
    snapshot: RunSnapshot
    timed_out: bool = False


def watch(runs: Runs, name: str) -> Iterator[RunSnapshot]:
    """Each look at a run, at once and then at intervals. The last one shows it at rest, or without a driver."""
    run = runs.load(name)
    alone_since: float | None = None
    while True:
        driver = runs.driver(name)
        before, run = run, runs.advance(run)
        snapshot = RunSnapshot(run=run, driver=driver)
        yield snapshot
        if _is_settled(snapshot):
            return
        if not snapshot.interrupted or run is not before:
            alone_since = None
        elif runs.is_abandoned(name):
            return
        elif alone_since is None:
            alone_since = clock.now()
        elif clock.now() - alone_since >= GRACE_SECONDS:
            return
        time.sleep(LOOK_SECONDS)


def _is_settled(snapshot: RunSnapshot) -> bool:
    """Whether it waits for a person, or has ended and its driver, who moves the branch after the end, has left."""
    return snapshot.at_rest and (snapshot.driver is None or isinstance(snapshot.run.phase, Waiting))


def wait_for(runs: Runs, name: str, timeout: float | None = None) -> Waited:
    """Wait until a run is at rest or has no driver any more, for some seconds at most."""
    begun = clock.now()
    waited = Waited(snapshot=runs.snapshot(name))
    for snapshot in watch(runs, name):
        late = timeout is not None and not _is_settled(snapshot) and clock.now() - begun >= timeout
        waited = Waited(snapshot=snapshot, timed_out=late and not snapshot.at_rest)
        if late:
            break
    return waited


class AttachError(BurnishError):
    kind = ErrorKind.USAGE


def watchable(folder: Path, reference: str) -> tuple[str, list[View]]:
    """The full name of a run, or of a session of another tool, and its agents that can be watched."""
    session = find(Repository.discover(folder), reference)
    if session is not None:
        return session.name, open_views(session.folder)
    with open_runs(folder) as runs:
        name = runs.resolve(reference)
        return name, open_views(runs.folder(name) / TERMINALS)


def chosen_agent(run: str, there: list[View], wanted: str) -> View:
    """The agent of that name; the only one, where none is named."""
    names = ", ".join(view.name for view in there)
    if not there:
        raise AttachError(
            f"No agent of {run} is running in a terminal.",
            hint=(
                f"`burnish logs -f {run}` follows what its agents write. To watch the agents of a new run, start "
                "it with `--terminal tmux`."
            ),
        )
    fitting = [view for view in there if view.name == wanted or not wanted]
    if not fitting:
        raise AttachError(f"'{wanted}' of {run} is not running in a terminal.", hint=f"Running: {names}.")
    if len(fitting) > 1:
        raise AttachError(
            f"{len(fitting)} agents of {run} are running: {names}.",
            hint=f"Name one: `burnish attach {run} {fitting[0].name}`.",
        )
    return fitting[0]
