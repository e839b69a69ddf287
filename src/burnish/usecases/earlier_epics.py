"""What earlier runs of an epic left behind: tickets that are merged, work that is approved, and branches in the way.

Nothing is built twice that is approved, and no branch is built upon or moved that holds work of the user's own.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from burnish.core.epics.events import CarriedReview, CarriedTicket
from burnish.core.epics.plan import EpicPlan, Ticket, branch_of
from burnish.core.epics.state import Epic, EpicReviewed, TicketCompleted, TicketProgress, is_unreviewed, run_of
from burnish.core.events import Outcome
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.ledger.sqlite import look_into_ledger
from burnish.sources.beads import KIND as BEADS_KIND
from burnish.usecases.epics import Epics
from burnish.usecases.plan_run import PlanError
from burnish.usecases.verify_seal import Demands, verify
from burnish.workspace.references import BRANCHES
from burnish.workspace.repository import Repository

_GOOD = (Outcome.APPROVED, Outcome.ACCEPTED)


class EarlierEpic(NamedTuple):
    """The last run of an epic, and its runs."""

    epic: Epic | None = None
    runs: Mapping[str, Run] = {}


class EarlierWork(NamedTuple):
    carried: tuple[CarriedTicket, ...]
    set_aside: Mapping[str, str]
    """Branches that are in the way, with the commits that they are at. Their work came to nothing, and is kept."""
    notices: tuple[str, ...]


def look_at_earlier(repository: Repository, work: EpicPlan, branch: str) -> EarlierEpic:
    ledger = look_into_ledger(repository.state_dir)
    if ledger is None:
        return EarlierEpic()
    with ledger:
        epics = Epics(ledger)
        epic = next((epic for epic in epics.of(work.id) if epic.started.branch == branch), None)
        return EarlierEpic() if epic is None else EarlierEpic(epic, epics.runs(epic))


def sort_out(
    repository: Repository, work: EpicPlan, earlier: EarlierEpic, tip: str, *, same_rules: bool
) -> EarlierWork:
    """Raises where branches of tickets hold other work: it is neither built upon nor overwritten.

    `same_rules`: whether the earlier run asked for the same protocol and agents. If not, what it approved and did not
    merge is built again.
    """
    found = _carried(repository, work, earlier, tip)
    carried = {one.ticket: one for one in found if one.commit or one.built or same_rules}
    results = {run.commit: run for run in earlier.runs.values()}
    worked_on = {ticket.id for ticket in work.tickets if ticket.begun}
    set_aside: dict[str, str] = {}
    taken: list[str] = []
    begun: list[str] = []
    for name, commit in _branches(repository, work, tip):
        if name in carried or repository.is_ancestor(commit, tip):
            continue
        if commit in results:
            set_aside[branch_of(work, name)] = commit
        elif repository.is_ancestor(tip, commit) or name in worked_on:
            begun.append(branch_of(work, name))
        else:
            taken.append(branch_of(work, name))
    if taken:
        raise PlanError(
            f"Branches of tickets hold work that did not begin at {tip[:12]}: {', '.join(taken[:5])}.",
            hint=f"Rename such a branch, or delete it if it is not needed: `git branch -m {taken[0]} NEW_NAME`.",
        )
    notices = (f"There is work on {', '.join(begun)} already: the tickets build upon it.",) if begun else ()
    return EarlierWork(tuple(carried.values()), set_aside, notices)


def _branches(repository: Repository, work: EpicPlan, tip: str) -> Iterator[tuple[str, str]]:
    """The tickets that have a branch elsewhere than at the tip, and its commit."""
    names = [ticket.id for ticket in work.tickets if not ticket.done]
    found = (
        repository.git.objects(*(f"{BRANCHES}{branch_of(work, name)}^{{commit}}" for name in names)) if names else ()
    )
    return ((name, commit) for name, commit in zip(names, found, strict=True) if commit and commit != tip)


def _carried(repository: Repository, work: EpicPlan, earlier: EarlierEpic, tip: str) -> Iterator[CarriedTicket]:
    """The tickets that ask for the same as before, and that are merged, or approved and still to be merged."""
    for one in earlier.epic.tickets.values() if earlier.epic else ():
        now, state = work.ticket(one.ticket.id), one.state
        if is_unreviewed(state) and work.kind == BEADS_KIND and _asks_the_same(now, one.ticket):
            run = earlier.runs.get(run_of(state))
            if run is not None and _exists(repository, run.commit):
                yield CarriedTicket(ticket=one.ticket.id, run=run.id, built=run.commit)
        if not _asks_the_same(now, one.ticket) or now is None or now.reviewed != one.ticket.reviewed:
            continue
        if isinstance(state, TicketCompleted) and state.commit:
            if repository.is_ancestor(state.commit, tip):
                yield CarriedTicket(ticket=one.ticket.id, run=state.run, commit=state.commit, outcome=state.outcome)
        elif (run := _approved(one, earlier.runs)) and _exists(repository, run.commit):
            outcome = run.outcome or Outcome.APPROVED
            yield CarriedTicket(ticket=one.ticket.id, run=run.id, approved=run.commit, outcome=outcome)


def _exists(repository: Repository, commit: str) -> bool:
    return repository.git.objects(f"{commit}^{{commit}}")[0] is not None


def _approved(one: TicketProgress, runs: Mapping[str, Run]) -> Run | None:
    """The last run of a ticket, where its work was approved."""
    last = runs.get(one.runs[-1]) if one.runs else None
    return last if last is not None and last.outcome in _GOOD else None


def _asks_the_same(now: Ticket | None, then: Ticket) -> bool:
    return now is not None and (now.text, now.acceptance) == (then.text, then.acceptance)


def reviewed_before(
    repository: Repository, earlier: Epic | None, work: EpicPlan, tip: str | None, demands: Demands
) -> CarriedReview | None:
    """The review of the whole epic, where nothing has changed since and its seal holds by the rules of today."""
    review = earlier.review if earlier is not None else None
    if earlier is None or not isinstance(review, EpicReviewed) or earlier.end is None:
        return None
    if tip is None or tip != earlier.tip or earlier.end.outcome not in _GOOD or changes_between(earlier.plan, work):
        return None
    if not verify(repository, tip, demands).ok:
        return None
    return CarriedReview(run=review.run, outcome=review.outcome, reason=review.reason, commit=review.commit)


def changes_between(then: EpicPlan, now: EpicPlan) -> tuple[str, ...]:
    """What a person edited in a source since the epic began, in a sentence each."""
    former, later = {one.id: one for one in then.tickets}, {one.id: one for one in now.tickets}
    told = [f"ticket {name} was added" for name in later if name not in former]
    told += [f"ticket {name} was removed" for name in former if name not in later]
    told += [f"ticket {name} was changed" for name in later if name in former and later[name] != former[name]]
    now = replace(now, tickets=(), reviewed_whole=then.reviewed_whole or now.reviewed_whole)
    if replace(then, tickets=(), left_out=now.left_out) != now:
        told.append("what applies to the whole epic was changed")
    return tuple(told)
