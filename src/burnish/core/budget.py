"""Caps on what a run may use up, and the share of them that each piece of work reserves before it starts."""

import math
from collections.abc import Mapping
from enum import Enum

import msgspec

from burnish.core.reviews import Usage
from burnish.core.values import Value, replace

LEAST_COST_USD = 0.01
LEAST_TOKENS = 1_000
"""No work can start with less than this: a remainder below it counts as used up."""
_MUCH_USD = 1e9
"""More shares than a run needs. With a larger number, a share would fall below the least amount."""


def dollars(amount: float) -> str:
    """An amount of money: with cents, and as many digits more as a small one needs."""
    exact = f"{amount:.6f}" if amount < LEAST_COST_USD else f"{amount:.4f}"
    whole, _, fraction = exact.partition(".")
    return f"{whole}.{fraction[:2]}{fraction[2:].rstrip('0')}"


class Cap(Enum):
    """What can be capped, by the name that settings and JSON have for it."""

    COST = "cost_usd"
    TOKENS = "tokens"
    MINUTES = "minutes"

    def words(self, amount: float) -> str:
        if self is Cap.COST:
            return f"{dollars(amount)} USD"
        number, unit = (f"{amount:,.0f}", "token") if self is Cap.TOKENS else (f"{amount:g}", "minute")
        return f"{number} {unit}{'' if amount == 1 else 's'}"


Amounts = Mapping[Cap, float]
"""How much of some or all of them: caps, or what was used up."""


class Share(Value):
    """What one piece of work may use up at most. None means that there is no cap."""

    cost_usd: float | None = None
    tokens: int | None = None

    def without(self, used: Usage) -> "Share":
        """What is left of it; never less than nothing."""
        return Share(
            cost_usd=None if self.cost_usd is None else max(0.0, self.cost_usd - used.cost_usd),
            tokens=None if self.tokens is None else max(0, self.tokens - used.tokens),
        )

    def exceeded_by(self, used: Usage) -> bool:
        over_cost = self.cost_usd is not None and used.cost_usd > self.cost_usd
        return over_cost or (self.tokens is not None and used.tokens > self.tokens)

    def divided(self, among: int) -> "Share":
        return Share(
            cost_usd=None if self.cost_usd is None else self.cost_usd / among,
            tokens=None if self.tokens is None else self.tokens // among,
        )

    @property
    def parts(self) -> int | None:
        """Into how many parts that are worth something it can be divided; None where there is no cap."""
        parts = [] if self.cost_usd is None else [int(min(self.cost_usd, _MUCH_USD) / LEAST_COST_USD + 1e-9)]
        parts += [] if self.tokens is None else [self.tokens // LEAST_TOKENS]
        return min(parts, default=None)


class Budget(Value):
    """What a run may use up in all. None means that there is no cap."""

    cost_usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    paid: tuple[str, ...] = ()
    """The agents whose work costs something: only they need a share."""
    wider: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Where a cap comes from that is not the run's own, by its name: `all that is left of the ticket's 20.00 USD`."""

    @property
    def caps(self) -> dict[Cap, float]:
        amounts = {Cap.COST: self.cost_usd, Cap.TOKENS: self.tokens, Cap.MINUTES: self.minutes}
        return {cap: amount for cap, amount in amounts.items() if amount is not None}

    def left(self, used: Usage) -> Share:
        return Share(cost_usd=self.cost_usd, tokens=self.tokens).without(used)

    def reached(self, left: Share) -> str:
        no_money = self.cost_usd is not None and (left.cost_usd or 0.0) < LEAST_COST_USD
        return self.words(Cap.COST if no_money else Cap.TOKENS)

    def words(self, cap: Cap) -> str:
        """A cap, and where it comes from if it is not the run's own."""
        amount, wider = cap.words(self.caps[cap]), self.wider.get(cap.value)
        return f"{amount}, {wider}" if wider else amount

    def within(self, whose: str, caps: Amounts, used: Amounts) -> "Budget":
        """The same budget inside a wider one, of which others have used up something: the smaller cap holds."""
        budget = self
        for cap, amount in caps.items():
            left = max(0.0, amount - used.get(cap, 0.0))
            if left < self.caps.get(cap, math.inf):
                origin = (
                    f"the {whose}'s cap" if left == amount else f"all that is left of the {whose}'s {cap.words(amount)}"
                )
                changed = {cap.value: int(left) if cap is Cap.TOKENS else left}
                budget = replace(budget, **changed, wider={**budget.wider, cap.value: origin})
        return budget
