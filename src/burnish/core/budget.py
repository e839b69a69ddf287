"""Caps on what a run may use up, and the share of them that each piece of work reserves before it starts."""

from burnish.core.reviews import Usage
from burnish.core.values import Value

LEAST_COST_USD = 0.01
LEAST_TOKENS = 1_000
"""With less than this nobody can begin: what is left of a cap below it counts as used up."""


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
        """An equal part of it."""
        return Share(
            cost_usd=None if self.cost_usd is None else self.cost_usd / among,
            tokens=None if self.tokens is None else self.tokens // among,
        )

    @property
    def parts(self) -> int | None:
        """Into how many parts that are worth something it can be divided; None where there is no cap."""
        parts = [] if self.cost_usd is None else [int(self.cost_usd / LEAST_COST_USD + 1e-9)]
        parts += [] if self.tokens is None else [self.tokens // LEAST_TOKENS]
        return min(parts, default=None)


class Budget(Value):
    """What a run may use up in all. None means that there is no cap."""

    cost_usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None
    paid: tuple[str, ...] = ()
    """The agents whose work costs something: only they need a share."""

    def left(self, used: Usage) -> Share:
        """What money and tokens are left."""
        return Share(cost_usd=self.cost_usd, tokens=self.tokens).without(used)

    def reached(self, left: Share) -> str:
        """The cap that is used up, in words."""
        if self.cost_usd is not None and (left.cost_usd or 0.0) < LEAST_COST_USD:
            return f"{self.cost_usd:.2f} USD"
        return f"{self.tokens:,} tokens"
