"""How a run shares its budget among the work that is to be started.

What runs has reserved its share already. A panel leaves one share free, for whoever must try again; work that is alone
may use all that is left. Where nothing is left, work waits for what running work gives back; where nothing runs that
could give anything back, the budget is reached.
"""

from collections.abc import Sequence

from burnish.core.budget import Share
from burnish.core.effects import ReachBudget
from burnish.core.reviews import Usage
from burnish.core.state import Active, Building, Fixing, Reviewing, Run, Sealing, Validating
from burnish.core.work import Running


def shares(run: Run, agents: Sequence[str]) -> list[Share | None]:
    """The share of each agent that is to be started, in their order. None where there is none left for it now."""
    budget = run.started.budget
    free = _free(run)
    paid = [place for place, agent in enumerate(agents) if agent in budget.paid]
    most = free.parts
    served = paid if most is None else paid[:most]
    alone = len(agents) == 1 and not isinstance(run.phase, Reviewing)
    among = len(served) if alone or most == len(served) else len(served) + 1
    found: list[Share | None] = [None if place in paid else Share() for place in range(len(agents))]
    for place in served:
        found[place] = free.divided(among)
    return found


def _free(run: Run) -> Share:
    """What is neither used up nor reserved."""
    free = run.started.budget.left(run.usage)
    for share in _reserved(run):
        free = free.without(Usage(cost_usd=share.cost_usd or 0.0, tokens=share.tokens or 0))
    return free


def _reserved(run: Run) -> list[Share]:
    match run.phase:
        case Reviewing() as phase:
            works = [seat.work for seat in phase.seats]
        case Building() | Validating() | Fixing() | Sealing() as phase:
            works = [phase.work]
        case _:
            works = []
    return [work.share for work in works if isinstance(work, Running) and work.share is not None]


def reached(run: Run) -> ReachBudget:
    """The end of the budget: work must be done that can have no share of it any more."""
    budget = run.started.budget
    return ReachBudget(id="budget", limit=budget.reached(budget.left(run.usage)), until=run.at)


def time_limit(run: Run, phase: Active) -> tuple[ReachBudget, ...]:
    """The moment at which the run has taken as long as it may. A seal in the making is let finish."""
    minutes = run.started.budget.minutes
    if minutes is None or isinstance(phase, Sealing):
        return ()
    until = run.at + max(0.0, minutes * 60 - run.busy)
    return (ReachBudget(id="budget:minutes", limit=f"{minutes:g} minutes", until=until),)
