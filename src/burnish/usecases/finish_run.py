"""The end of a run that no process drives, put into effect: the branch, the records, the clones. No agent is called.

How a run ends, one word for each step, in this order:

close     its outcome is decided: the event `Closed` is appended (`runtime.runner`)
settle    its result is put where it belongs, once, whatever the outcome (`runtime.settling`)
land      a part of that: the branch moves to the result, or the working tree gets it (`workspace.landing`)
leave     the other part: the result stays on a branch of its own (`workspace.landing`)
let go    the ref that kept its commits is dropped: nothing is left to do (`workspace.repository`)
release   the lease is given back, so that other processes see it at rest (`runtime.journal`)
finish    all of these for a run without a driver whose end is decided (here)
end       the same for a run that could have gone on: its end is decided first (here)
"""

from collections.abc import Callable, Mapping

from burnish.agents.services import GRACE_SECONDS
from burnish.core.events import Closed
from burnish.core.state import Ended, Phase, Sealing, Stopping, Validating
from burnish.ledger.errors import LeaseHeldError
from burnish.ledger.interface import Ledger
from burnish.runtime.context import context_of
from burnish.runtime.journal import Journal, load_run
from burnish.runtime.runner import close, recover, stay_awake
from burnish.runtime.services import RUN_MARKER
from burnish.runtime.settling import settle, unsettled
from burnish.system import clock, survivors
from burnish.usecases.drive_run import Driven, DriveOptions, RunResult, drive, run_result
from burnish.usecases.run_folders import remove_run_folders
from burnish.usecases.runs import take_over
from burnish.usecases.write_records import RecordKeeper, last_moment
from burnish.workspace.repository import Repository


def finish_run(repository: Repository, ledger: Ledger, run: str, environment: Mapping[str, str]) -> RunResult | None:
    """Do what is left to do where that is burnish's own work alone: to seal and to settle.

    None where agents must work first, nothing is left to do, or another process does it. A process that is killed in
    here leaves a run that `resume` finishes.
    """
    phase = load_run(ledger, run).phase
    earned = isinstance(phase, Sealing) or (isinstance(phase, Validating) and phase.approval is not None)
    if not (earned or isinstance(phase, Ended | Stopping)) or run not in unsettled(repository):
        return None
    stay_awake()
    try:
        journal = take_over(ledger, run)
    except LeaseHeldError:
        return None
    if isinstance(journal.state.phase, Sealing | Validating):
        driven = drive(repository, ledger, journal, environment, DriveOptions())
    else:
        driven = end_run(repository, ledger, journal, environment)
    return run_result(repository, driven)


def end_run(
    repository: Repository,
    ledger: Ledger,
    journal: Journal,
    environment: Mapping[str, str],
    *,
    end: Callable[[Phase], Closed] | None = None,
) -> Driven:
    """Close, settle and release a run. `end` decides the outcome of one that could have gone on."""
    run = journal.state.id
    records = RecordKeeper(repository, ledger)
    try:
        survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
        remove_run_folders(environment, run)
        recover(journal, clock.now)
        if end is not None and not isinstance(journal.state.phase, Ended):
            journal.record(end(journal.state.phase))
        close(journal, clock.now)
        records.recover(journal.state, last_moment(ledger, run))
        # Last, as in `drive`: what is settled is not looked at again.
        landing = settle(repository, journal.state, context_of(journal.state))
    finally:
        journal.release()
    return Driven(run=journal.state, landing=landing, notices=tuple(records.notices))
