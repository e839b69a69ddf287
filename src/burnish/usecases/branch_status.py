"""Where the branch that is checked out stands: reviewed or not, by which run, and the one next step."""

from contextlib import suppress
from pathlib import Path

from burnish.core.errors import BurnishError
from burnish.records.registry import RECORD_PATHS
from burnish.report.account import Account, BranchStatus, NextStep
from burnish.usecases.runs import NoRunsError, open_runs
from burnish.usecases.tell_run import tell
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import FrozenSubject, freeze

_REVIEW = NextStep(command="burnish review", does="reviews the branch; no code is changed")
_UNCOMMITTED = NextStep(command="burnish review --uncommitted", does="reviews your working tree as it is")


def branch_status(folder: Path) -> BranchStatus:
    """Look, and change nothing. Raises `NotARepositoryError` outside of a repository."""
    repository = Repository.discover(folder)
    branch = repository.current_branch() or "HEAD"
    uncommitted = len(repository.uncommitted(RECORD_PATHS)) if repository.root != repository.common_dir else 0
    frozen, why_not = _frozen(repository)
    reviewable = None if why_not else frozen
    latest = _latest(folder, branch)
    is_current = (
        latest is not None
        and reviewable is not None
        and latest.run.tree == reviewable.tree
        and latest.run.subject.is_whole_change
    )
    return BranchStatus(
        branch=branch,
        base=frozen.base if frozen is not None else "",
        why_not=why_not,
        uncommitted=uncommitted,
        latest=latest,
        is_current=is_current,
        step=_step(latest, reviewable, is_current=is_current, uncommitted=uncommitted),
    )


def _frozen(repository: Repository) -> tuple[FrozenSubject | None, str]:
    """The branch against its base; and why there is nothing to review, where that is so."""
    try:
        frozen = freeze(repository, None, None, allow_empty=True)
    except BurnishError as error:
        return None, error.message
    return frozen, f"no commits that {frozen.base} does not have" if frozen.head == frozen.merge_base else ""


def _latest(folder: Path, branch: str) -> Account | None:
    with suppress(NoRunsError), open_runs(folder) as runs:
        name = runs.latest_of(branch)
        return None if name is None else tell(runs.repository, runs.snapshot(name))
    return None


def _step(
    latest: Account | None, frozen: FrozenSubject | None, *, is_current: bool, uncommitted: int
) -> NextStep | None:
    if latest is not None and latest.steps and (is_current or latest.needs_person):
        return latest.steps[0]
    if latest is not None and not latest.at_rest:
        return NextStep(command=f"burnish wait {latest.run.id}", does="waits for its end")
    if frozen is not None:
        return _REVIEW
    return _UNCOMMITTED if uncommitted else None
