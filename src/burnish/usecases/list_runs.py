"""What every run is doing, in one row each."""

from burnish.core.errors import BurnishError
from burnish.report.account import Account, RunList, RunSnapshot, UnreadableRun
from burnish.usecases.agent_logs import doing_now
from burnish.usecases.runs import Runs
from burnish.usecases.tell_run import tell

USUAL_ROWS = 20
"""Older runs are listed only when they are asked for."""


def list_runs(runs: Runs, *, everything: bool = False) -> RunList:
    names = runs.names()
    wanted = names if everything else names[:USUAL_ROWS]
    rows = sorted((_row(runs, name) for name in wanted), key=_age, reverse=True)
    return RunList(rows=tuple(rows), left_out=len(names) - len(wanted))


def look_at_run(runs: Runs, reference: str) -> Account:
    return _account(runs, runs.snapshot(runs.resolve(reference)))


def _row(runs: Runs, name: str) -> Account | UnreadableRun:
    try:
        return _account(runs, runs.snapshot(name))
    except BurnishError as error:
        return UnreadableRun(name=name, error=" ".join(error.message.split()))


def _account(runs: Runs, snapshot: RunSnapshot) -> Account:
    """What a person should do about a run that does not go on by itself, or what is being done in one that does."""
    run = snapshot.run
    if snapshot.needs_person:
        return tell(runs.repository, snapshot)
    works = () if snapshot.at_rest else doing_now(run, runs.folder(run.id))
    return Account(run=run, driver=snapshot.driver, at_work=works)


def _age(row: Account | UnreadableRun) -> tuple[str, float]:
    """Names begin with the second of the start; within it, the first event tells."""
    match row:
        case Account():
            return row.run.id[:15], row.run.started.at
        case UnreadableRun():
            return row.name[:15], 0.0
