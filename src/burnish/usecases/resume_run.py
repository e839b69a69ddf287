"""Go on with a run that was interrupted, or whose question was answered."""

from collections.abc import Mapping
from pathlib import Path

from burnish.core.state import Run
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.journal import Journal, load_run
from burnish.runtime.runner import stay_awake
from burnish.runtime.settling import unsettled
from burnish.system.terminal import find_tmux
from burnish.usecases.drive_run import RunResult, drive, run_result
from burnish.usecases.plan_run import PlanError, refuse_inside
from burnish.usecases.runs import Runs, take_over
from burnish.usecases.start_run import Surface, unfinished_runs
from burnish.workspace.repository import Repository


def resume_run(folder: Path, reference: str | None, environment: Mapping[str, str], surface: Surface) -> RunResult:
    """Take a run up again, the newest with anything left to do if none is named, and drive it from where it is."""
    refuse_inside(environment)
    if surface.options.terminal:
        find_tmux()  # before it is taken over
    repository = Repository.discover(folder)
    with open_ledger(repository.state_dir) as ledger:
        journal = _take_over(repository, ledger, reference)
        surface.begun(journal.state)
        driven = drive(repository, ledger, journal, environment, surface.options)
    return run_result(repository, driven)


def _take_over(repository: Repository, ledger: Ledger, reference: str | None) -> Journal:
    """Become the writer of the run. Raises where another process still is."""
    stay_awake()
    runs, unsettled_runs = Runs(repository, ledger), unsettled(repository)
    run = load_run(ledger, runs.resolve(reference)) if reference else _newest(ledger, unsettled_runs)
    if run.outcome is not None and run.id not in unsettled_runs:
        if runs.is_abandoned(run.id):  # its driver was killed after everything was done, and left only its lease
            take_over(ledger, run.id).release()
        raise PlanError(
            f"{run.id} has already ended ({run.outcome.value}).",
            hint="Start a new one with 'burnish fix' or 'burnish review'.",
        )
    if run.outcome is None and run.started.session:
        raise PlanError(
            f"{run.id} is the review of a session of your client, which burnish cannot start.",
            hint=f"Type /burnish:fix there to go on with it, or end it with 'burnish cancel {run.id}'.",
        )
    return take_over(ledger, run.id)


def _newest(ledger: Ledger, unsettled_runs: frozenset[str]) -> Run:
    for run in unfinished_runs(ledger, unsettled_runs):
        if (run.outcome is None and not run.started.session) or (run.outcome and run.id in unsettled_runs):
            return run
    raise PlanError("There is no run to continue.", hint="Start one with 'burnish fix' or 'burnish review'.")
