"""Work on a story that is in the checkout and not committed: it is reviewed as that story's, on the story's branch.

The checkout itself is not touched. What burnish keeps up to date there by itself, and other stories' files, are no part
of the work.
"""

from typing import NamedTuple

from burnish.core.epics.plan import EpicPlan, Ticket, branch_of
from burnish.core.story_text import is_sprint_status, is_story_file
from burnish.core.values import replace
from burnish.records.registry import LEFTOVER_PATHS, RECORD_PATHS
from burnish.system import clock
from burnish.workspace.landing import branch_commit
from burnish.workspace.merging import commit_merge, create_branch, merge_message
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import commit_work_tree

_MARK = "Burnish-Work: uncommitted"
_MOST_NAMED = 5


class Uncommitted(NamedTuple):
    ticket: str = ""
    """The story that it belongs to; empty where there is no such work, or where it cannot be told."""
    notices: tuple[str, ...] = ()


def with_uncommitted_work(repository: Repository, work: EpicPlan, base: str) -> tuple[EpicPlan, Uncommitted]:
    """The plan in which the only story that is worked on is built already, where the checkout holds that work.

    Nothing is written here.
    """
    is_here = repository.root != repository.common_dir and repository.current_branch() == base
    files = _work(repository, work) if work.kind == "stories" and is_here else ()
    if not files:
        return work, Uncommitted()
    begun = [ticket for ticket in work.tickets if ticket.begun and not ticket.done]
    if len(begun) != 1:
        told = f"Not committed, so no part of any story: {_named(files)}. "
        return work, Uncommitted(notices=(f"{told}Set exactly one story to in-progress or review to include it.",))
    one = begun[0]
    branch = branch_of(work, one.id)
    existing = branch_commit(repository, branch)
    if existing is not None and _MARK not in repository.git.text("log", "-1", "--format=%B", existing):
        told = f"{branch} exists already, so what is not committed is no part of it: {_named(files)}."
        return work, Uncommitted(notices=(told,))
    tickets = tuple(replace(ticket, built=True) if ticket is one else ticket for ticket in work.tickets)
    told = f"{one.id}: what is not committed is reviewed on {branch}: {_named(files)}. Your files stay as they are."
    return replace(work, tickets=tickets), Uncommitted(ticket=one.id, notices=(told,))


def commit_uncommitted(repository: Repository, work: EpicPlan, ticket: str, epic: str) -> None:
    """Put the work on the story's branch. Done twice, it changes nothing."""
    branch = branch_of(work, ticket)
    if branch_commit(repository, branch) is not None:
        return  # of a process that was killed when it had done this
    head = repository.commit_of("HEAD")
    one = work.ticket(ticket)
    seen = commit_work_tree(repository.git, head, (*RECORD_PATHS, *LEFTOVER_PATHS, *_others(repository, work, one)))
    title = f"feat: {one.title if one is not None and one.title else ticket}"
    message = f"{merge_message(title, burnish_epic=epic)}{_MARK}\n"
    commit = commit_merge(repository, repository.tree_of(seen), head, message, clock.now())
    create_branch(repository, branch, commit)


def _work(repository: Repository, work: EpicPlan) -> tuple[str, ...]:
    """The files that are not committed, without those in which stories are planned."""
    found = repository.uncommitted((*RECORD_PATHS, *LEFTOVER_PATHS))
    return tuple(path for path in found if not _is_plan(path, work))


def _is_plan(path: str, work: EpicPlan) -> bool:
    return is_sprint_status(path) or any(is_story_file(path, ticket.id) for ticket in work.tickets)


def _others(repository: Repository, work: EpicPlan, one: Ticket | None) -> list[str]:
    """Files in which other stories are planned, and the sprint status, which speaks of all of them."""
    own = one.file if one is not None else ""
    found = repository.uncommitted((*RECORD_PATHS, *LEFTOVER_PATHS))
    return [path for path in found if _is_plan(path, work) and path != own]


def _named(files: tuple[str, ...]) -> str:
    more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
    return ", ".join(shown(file) for file in files[:_MOST_NAMED]) + more
