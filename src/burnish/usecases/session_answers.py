"""What became of a session of another tool, in that tool's words. It waits for events and never polls."""

import time
from enum import Enum
from pathlib import Path

from burnish.core.events import Outcome, StoryStatus, Subject
from burnish.core.state import Ended
from burnish.core.values import Value
from burnish.runtime.performing.stories import is_story, story_status
from burnish.system import clock
from burnish.usecases.runs import open_runs
from burnish.usecases.sessions import STEP, Ending, Session, SessionError, find, is_own
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import commit_work_tree

_HANGUP = 1
_NOT_DONE = (1, 3)
"""burnish's own codes for a command that ran well and says that the work is not: findings remain, or a person must
decide."""


class FinalState(Enum):
    """Where a session stands for good."""

    COMPLETED = "completed"
    INCOMPLETE = "incomplete"
    CRASHED = "crashed"
    STUCK = "stuck"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"


class Answer(Value):
    """What the other tool is told."""

    state: FinalState
    reason: str
    output_file: str = ""
    output_verified: bool = False
    """Whether the file holds anything."""


class Wish(Value):
    """What is asked of a monitor."""

    workflow: str = ""
    story: str = ""
    timeout_minutes: float
    silent_seconds: float


def monitor(repository: Repository, name: str, wish: Wish) -> Answer:
    """Wait until a session has ended, is stuck, or the time is over."""
    if wish.workflow == STEP and not wish.story.strip():
        raise SessionError(
            f"--workflow {STEP} verifies a story, and none is named.", hint="Add --story-key ID, such as 1.2."
        )
    session = find(repository, name)
    if session is None:
        return Answer(state=FinalState.NOT_FOUND, reason="session_gone")
    early = _wait(session, wish)
    if early is not None:
        return _answer(session, *early)
    order = session.order
    if order is None:  # somebody ended it meanwhile, and cleaned up
        return Answer(state=FinalState.NOT_FOUND, reason="session_gone")
    ending = session.ending
    if ending is None or ending.signal == _HANGUP:
        return _answer(session, FinalState.CRASHED, "session_gone")
    return _answer(session, *_verdict(repository, session, ending, wish, own=is_own(order.command)))


def _wait(session: Session, wish: Wish) -> tuple[FinalState, str] | None:
    """Why there is no use in waiting longer; None once the session has ended."""
    deadline = time.monotonic() + wish.timeout_minutes * 60
    while True:
        left, patience = deadline - time.monotonic(), wish.silent_seconds - _silence(session)
        if session.ends_within(min(left, patience)):
            return None
        if time.monotonic() >= deadline:
            return FinalState.TIMEOUT, f"exceeded_{wish.timeout_minutes:g}m"
        if _silence(session) >= wish.silent_seconds:
            return FinalState.STUCK, "no_output" if _size(session.output) else "never_active"


def _silence(session: Session) -> float:
    """For how many seconds the command has said nothing."""
    try:
        return clock.now() - session.output.stat().st_mtime
    except OSError:
        return 0.0


def _verdict(
    repository: Repository, session: Session, ending: Ending, wish: Wish, *, own: bool
) -> tuple[FinalState, str]:
    if ending.signal is not None:
        return FinalState.CRASHED, f"signal_{ending.signal}"
    if own and ending.code in _NOT_DONE:
        return FinalState.INCOMPLETE, "workflow_not_complete"
    if ending.code != 0:
        return FinalState.CRASHED, f"exit_code_{ending.code}"
    if wish.workflow != STEP or not wish.story:
        return FinalState.COMPLETED, "normal_completion"
    run = session.run if own else None
    is_done = _work_tree_is_done(repository, wish.story) if run is None else _run_is_done(repository, run, wish.story)
    if is_done:
        return FinalState.COMPLETED, "verified_complete"
    return FinalState.INCOMPLETE, "workflow_not_complete"


def _run_is_done(repository: Repository, name: str, story: str) -> bool:
    """Whether a run approved this very story, and the tree that its session left says so.

    The checkout may still be where it was: a result does not land over work that is not committed.
    """
    with open_runs(repository.root) as runs:
        run = runs.load(name)
    approved = isinstance(run.phase, Ended) and run.phase.outcome is Outcome.APPROVED
    if not approved or not is_story(run.subject.story, story):
        return False
    return story_status(repository, run.commit, run.subject) is not StoryStatus.NOT_DONE


def _work_tree_is_done(repository: Repository, story: str) -> bool:
    """Whether the sprint status, else the story's own file, says so in the work tree as it is."""
    head = repository.commit_of("HEAD")
    seen = commit_work_tree(repository.git, head, ())
    tree = repository.tree_of(seen)
    subject = Subject(branch="HEAD", base=head, base_commit=head, head=seen, tree=tree, story=story)
    return story_status(repository, seen, subject) is StoryStatus.DONE


def _answer(session: Session, state: FinalState, reason: str) -> Answer:
    shown = session.output.is_file()
    return Answer(
        state=state,
        reason=reason,
        output_file=str(session.output) if shown else "",
        output_verified=_size(session.output) > 0,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
