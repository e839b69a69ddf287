"""The end of a run outside of its ledger: the branch is moved or the result is left where it can be taken.

A run that has ended is settled once this is done. Until then a ref keeps what was reviewed, so that a process that
finds the run after a crash knows that something is left to do. Doing it twice changes nothing.
"""

from pathlib import Path

from burnish.core.events import Outcome, ValidationStatus
from burnish.core.state import Ended, Run
from burnish.runtime.context import RunContext
from burnish.workspace.landing import Landing, land, leave
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository
from burnish.workspace.write_back import save_patch, write_back

LANDED = (Outcome.APPROVED, Outcome.ACCEPTED)
_KEPT = "refs/burnish/kept/"


def unsettled(repository: Repository) -> frozenset[str]:
    """The runs whose end, if they have one, has not been settled."""
    listing = repository.git.text("for-each-ref", "--format=%(refname)", _KEPT)
    return frozenset(name.removeprefix(_KEPT) for name in listing.splitlines())


def settle(repository: Repository, run: Run, context: RunContext) -> Landing | None:
    """Move the branch once, when the run ended well; else leave good work where it can be taken."""
    if not isinstance(run.phase, Ended):
        return None
    landing = _landing(repository, run, run.phase.outcome, context)
    repository.let_go(run.id)
    return landing


def _landing(repository: Repository, run: Run, outcome: Outcome, context: RunContext) -> Landing | None:
    if run.commit == run.subject.head or run.started.session:
        return None  # a session works in place: what it changed is where it belongs
    fails = run.validated is not None and run.validated.status is ValidationStatus.FAILED
    # A session that reviews also fixes; `burnish review` leaves branch and working tree alone all the same.
    lands = outcome in LANDED and run.may_fix and not fails
    if context.work_tree:
        return _write_back(repository, run, Path(context.work_tree), lands=lands)
    if lands and not context.detached:
        return land(repository, branch=run.subject.branch, expected=run.subject.head, new=run.commit, run=run.id)
    return leave(repository, new=run.commit, run=run.id)


def _write_back(repository: Repository, run: Run, root: Path, *, lands: bool) -> Landing:
    """Into the working tree that was reviewed, where the run ended well. The fixes are kept as a patch first."""
    folder = repository.state_dir / "runs" / run.id
    patch = save_patch(repository, folder, run.subject.head, run.commit)
    if not lands:
        return Landing(moved=False, words=f"Your working tree was not changed. The fixes are in {patch}.")
    in_the_way = write_back(repository, root, folder, run.subject.head, run.commit)
    if not in_the_way:
        return Landing(moved=True, words=f"The fixes are in your working tree, {root}; nothing is staged or committed.")
    changed = ", ".join(shown(path) for path in in_the_way[:3]) + (", …" if len(in_the_way) > 3 else "")
    return Landing(
        moved=False,
        words=(
            f"burnish wrote nothing to {root}, because it has changed since the review: {changed}. The fixes are "
            f"in {patch}."
        ),
    )
