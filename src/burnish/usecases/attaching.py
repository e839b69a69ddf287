"""Which agents can be watched in a terminal now, and which of them is meant."""

from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind
from burnish.system.terminal import TERMINALS
from burnish.system.terminal_sessions import Watched, living
from burnish.usecases.runs import open_runs
from burnish.usecases.sessions import find
from burnish.workspace.repository import Repository


class AttachError(BurnishError):
    """There is nothing to attach to, or too much."""

    kind = ErrorKind.USAGE


def watchable(folder: Path, reference: str) -> tuple[str, list[Watched]]:
    """The full name of a run, or of a session of another tool, and its agents that can be watched."""
    session = find(Repository.discover(folder), reference)
    if session is not None:
        return session.name, living(session.folder)
    with open_runs(folder) as runs:
        name = runs.resolve(reference)
        return name, living(runs.folder(name) / TERMINALS)


def chosen(run: str, there: list[Watched], wanted: str) -> Watched:
    """The agent of that name; the only one, where none is named."""
    names = ", ".join(watched.view.name for watched in there)
    if not there:
        raise AttachError(
            f"No agent of {run} is at work in a terminal.",
            hint=f"`burnish logs -f {run}` follows what its agents write; `--terminal tmux` shows those of a new run.",
        )
    fitting = [watched for watched in there if watched.view.name == wanted or not wanted]
    if not fitting:
        raise AttachError(f"'{wanted}' of {run} is not at work in a terminal.", hint=f"These are: {names}.")
    if len(fitting) > 1:
        raise AttachError(
            f"{len(fitting)} agents of {run} are at work: {names}.",
            hint=f"Name one: `burnish attach {run} {fitting[0].view.name}`.",
        )
    return fitting[0]
