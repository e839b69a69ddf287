"""The end of a run outside of its ledger: the branch is moved or the result is left where it can be taken.

A run that has ended is settled once this is done. Until then a ref keeps what was reviewed, so that whoever finds the
run after a crash knows that something is left to do. Doing it twice changes nothing.
"""

from burnish.core.events import ValidationStatus
from burnish.core.outcomes import Outcome
from burnish.core.state import Ended, Run
from burnish.runtime.inputs import Inputs
from burnish.workspace.landing import Landing, land, leave
from burnish.workspace.repository import Repository

LANDED = (Outcome.APPROVED, Outcome.ACCEPTED)
_KEPT = "refs/burnish/kept/"


def unsettled(repository: Repository) -> frozenset[str]:
    """The runs whose end, if they have one, has not been settled."""
    listing = repository.git.text("for-each-ref", "--format=%(refname)", _KEPT)
    return frozenset(name.removeprefix(_KEPT) for name in listing.splitlines())


def settle(repository: Repository, run: Run, inputs: Inputs) -> Landing | None:
    """Move the branch once, when the run ended well; else leave good work where it can be taken."""
    if not isinstance(run.phase, Ended):
        return None
    landing = _landing(repository, run, run.phase.outcome, inputs)
    repository.let_go(run.id)
    return landing


def _landing(repository: Repository, run: Run, outcome: Outcome, inputs: Inputs) -> Landing | None:
    if run.commit == run.subject.head:
        return None
    fails = run.validated is not None and run.validated.status is ValidationStatus.FAILED
    # A session that reviews also fixes; `burnish review` leaves the branch alone all the same.
    if outcome in LANDED and run.may_fix and not inputs.detached and not fails:
        return land(repository, branch=run.subject.branch, expected=run.subject.head, new=run.commit, run=run.id)
    return leave(repository, branch=run.subject.branch, new=run.commit, run=run.id)
