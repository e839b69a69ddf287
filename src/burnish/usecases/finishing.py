"""The end of a run that nobody drives, put into effect: the branch, the records, the clones. No agent is called."""

from collections.abc import Callable, Mapping

from burnish.core.events import Closed
from burnish.core.state import Ended, Phase, Sealing, Stopping, Validating
from burnish.ledger.errors import LeaseHeldError
from burnish.ledger.interface import Ledger
from burnish.runtime.inputs import inputs_of
from burnish.runtime.journal import Journal, load_run
from burnish.runtime.performing.workshop import GRACE_SECONDS, RUN_MARKER
from burnish.runtime.runner import close, recover, stay_awake
from burnish.runtime.settling import settle, unsettled
from burnish.system import clock, survivors
from burnish.system.identifiers import this_process
from burnish.usecases.driving import Driven, drive
from burnish.usecases.places import remove_run_folders
from burnish.usecases.rebuilding import last_moment
from burnish.usecases.record_keeping import RecordKeeper
from burnish.workspace.repository import Repository


def finish(repository: Repository, ledger: Ledger, run: str, environment: Mapping[str, str]) -> Driven | None:
    """Do what is left to do where that is burnish's own work alone: to seal and to settle.

    None where agents must work first, nothing is left to do, or somebody else does it. Whoever is killed in here
    leaves a run that `resume` finishes.
    """
    phase = load_run(ledger, run).phase
    earned = isinstance(phase, Sealing) or (isinstance(phase, Validating) and phase.approval is not None)
    if not (earned or isinstance(phase, Ended | Stopping)) or run not in unsettled(repository):
        return None
    stay_awake()
    try:
        journal = Journal.take_over(ledger, run, this_process(), clock.now())
    except LeaseHeldError:
        return None
    if isinstance(journal.state.phase, Sealing | Validating):
        return drive(repository, ledger, journal, environment, watch=lambda _event, _run: None, ask=None)
    return put_to_rest(repository, ledger, journal, environment)


def put_to_rest(
    repository: Repository,
    ledger: Ledger,
    journal: Journal,
    environment: Mapping[str, str],
    *,
    end: Callable[[Phase], Closed] | None = None,
) -> Driven:
    """See a run off whose end is decided. `end` decides it for one that could have gone on."""
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
        landing = settle(repository, journal.state, inputs_of(journal.state))
    finally:
        journal.release()
    return Driven(run=journal.state, landing=landing, notices=tuple(records.notices))
