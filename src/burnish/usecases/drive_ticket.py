"""One run of an epic, in a process of its own: begin it, or go on with it, and drive it to its end or to a question.

The epic's driver starts this process and reads its end from the ledger. `wake` tells the driver when to look.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from burnish.core.events import AnyEvent
from burnish.core.state import Run
from burnish.ledger.errors import LeaseHeldError
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.context import context_of
from burnish.runtime.journal import Journal, load_epic, stream_of
from burnish.runtime.runner import stay_awake
from burnish.runtime.settling import settle, unsettled
from burnish.usecases.drive_run import DriveOptions, drive
from burnish.usecases.plan_run import RunRequest, check_ready, plan, refuse_inside
from burnish.usecases.request_ticket import request_of
from burnish.usecases.runs import take_over
from burnish.usecases.start_run import begin
from burnish.workspace.repository import Repository

_PR_SET_PDEATHSIG = 1
_LEASE_SECONDS = 90.0
"""How long a former driver of the run is waited for: longer than any lease."""


def drive_ticket(
    folder: Path, epic_name: str, run_name: str, environment: Mapping[str, str], wake: Callable[[], None]
) -> None:
    """Drive a run of an epic. Raises where it cannot begin; how it ended is in the ledger."""
    refuse_inside(environment)
    end_with_parent()
    stay_awake()
    repository = Repository.discover(folder)
    with open_ledger(repository.state_dir) as ledger:
        epic = load_epic(ledger, epic_name)
        if ledger.version(stream_of(run_name)):
            journal = _taken_over(ledger, run_name)
            if journal.state.outcome is not None:
                _settle(repository, journal)
                return
        else:
            request = request_of(epic, run_name, repository)
            journal = _begun(folder, ledger, request, run_name, environment)

        def watch(event: AnyEvent, run: Run) -> None:
            del event, run
            wake()

        drive(repository, ledger, journal, environment, DriveOptions(watch=watch))


def end_with_parent() -> None:
    """Have this process asked to end when the one that started it is gone, where the system can do that."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _taken_over(ledger: Ledger, run: str) -> Journal:
    """The journal of a run whose former driver is gone, or about to go."""
    until = time.monotonic() + _LEASE_SECONDS
    while True:
        try:
            return take_over(ledger, run)
        except LeaseHeldError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _settle(repository: Repository, journal: Journal) -> None:
    """What is left of a run that was killed after its end was decided: its branch moves."""
    if journal.state.id in unsettled(repository):
        settle(repository, journal.state, context_of(journal.state))
    journal.release()


def _begun(folder: Path, ledger: Ledger, request: RunRequest, run: str, environment: Mapping[str, str]) -> Journal:
    planned = plan(folder, request, environment)
    check_ready(planned, environment)
    return begin(
        planned,
        ledger,
        environment,
        mode=request.mode,
        max_rounds=request.max_rounds,
        interactive=False,
        supersede=True,
        name=run,
    )
