"""How a run shares its budget among the work that is to be started, and how long it has been at work.

What runs has reserved its share already. A panel leaves one share free for a retry; work that runs alone may use all
that is left. Where nothing is left, work waits for what running work gives back; where nothing runs that
could give anything back, the budget is reached.
"""

from collections.abc import Sequence

from burnish.core.budget import Amounts, Cap, Share
from burnish.core.effects import Effect, ReachBudget
from burnish.core.events import AnyEvent, SessionAdopted, WorkLost
from burnish.core.reviews import Usage
from burnish.core.state import Active, Building, Fixing, Phase, Review, Reviewing, Run, Sealing, Validating
from burnish.core.steps.flow import under_way
from burnish.core.work import Pausing, Running, Work


def used(run: Run) -> Amounts:
    return {Cap.COST: run.usage.cost_usd, Cap.TOKENS: run.usage.tokens, Cap.MINUTES: run.busy / 60}


def shares(run: Run, agents: Sequence[str]) -> list[Share | None]:
    """The share of each agent that is to be started, in their order. None where there is none left for it now."""
    budget = run.started.budget
    free = _free(run)
    paid = [place for place, agent in enumerate(agents) if agent in budget.paid]
    most = free.parts
    served = paid[:most]
    alone = len(agents) == 1 and not isinstance(run.phase, Reviewing)
    among = len(served) if alone or most == len(served) else len(served) + 1
    found: list[Share | None] = [None if place in paid else Share() for place in range(len(agents))]
    for place in served:
        found[place] = free.divided(among)
    return found


def _free(run: Run) -> Share:
    """What is neither used up nor reserved."""
    free = run.started.budget.left(run.usage)
    for share in reserved(run):
        free = free.without(Usage(cost_usd=share.cost_usd or 0.0, tokens=share.tokens or 0))
    return free


def reserved(run: Run) -> list[Share]:
    return [work.share for work in _works(run.phase) if isinstance(work, Running) and work.share is not None]


def _works(phase: Phase) -> list[Work | Review]:
    match phase:
        case Reviewing():
            return [seat.work for seat in phase.seats]
        case Building() | Validating() | Fixing() | Sealing():
            return [phase.work]
        case _:
            return []


def reached(run: Run) -> ReachBudget:
    """The end of the budget: work must be done that can have no share of it any more."""
    budget = run.started.budget
    return ReachBudget(id="budget", limit=budget.reached(budget.left(run.usage)))


def seconds_at_work(run: Run, event: AnyEvent) -> float:
    """How much longer a run was at work until this event.

    Work that runs counts, and a pause for as long as it was meant to be. The rest is time in which the run waits for a
    person or is not driven; when lost work stopped, or the session of a run that another one adopts, is not known.
    """
    if isinstance(event, WorkLost | SessionAdopted):
        return 0.0
    until = event.at if under_way(run) else min(event.at, _end_of_pause(run))
    return max(0.0, until - run.at)


def _end_of_pause(run: Run) -> float:
    """When the next attempt begins that is waited for; the last event where none is."""
    return min((work.until for work in _works(run.phase) if isinstance(work, Pausing)), default=run.at)


def within_time(run: Run, phase: Active, wanted: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """What is wanted, and the end of the time that the run may be at work. A seal in the making is let finish."""
    budget = run.started.budget
    earned = isinstance(phase, Sealing) or (isinstance(phase, Validating) and phase.approval is not None)
    if budget.minutes is None or earned:
        return wanted
    left = budget.minutes * 60 - run.busy
    limit = ReachBudget(id="budget:minutes", limit=budget.words(Cap.MINUTES), seconds=max(0.0, left))
    return (*wanted, limit) if left > 0 else (limit,)
