"""Watches over an agent's budget and turns while it works, where its client says what each step costs."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from burnish.agents.interface import Client
from burnish.core.budget import Share, dollars
from burnish.core.reviews import Failure, FailureKind, Usage


class Meter:
    """Adds up the bills of one attempt."""

    def __init__(self, client: Client, share: Share, max_turns: int | None = None) -> None:
        self._client = client
        self._share = share
        self._max_turns = max_turns
        self._bills: dict[str, Usage] = {}
        self.over = asyncio.Event()
        """Set once the share is used up, or more turns were taken than allowed."""

    def read(self, line: bytes) -> None:
        bill = self._client.bill(line)
        if bill is not None:
            self._bills[bill.step] = bill.usage
            if self._share.exceeded_by(self.used) or self._too_many:
                self.over.set()

    @property
    def _too_many(self) -> bool:
        """Some clients only ask their model to come to an end."""
        return self._max_turns is not None and len(self._bills) > self._max_turns

    @property
    def used(self) -> Usage:
        total = Usage()
        for usage in self._bills.values():
            total = total.plus(usage)
        return total

    @property
    def failure(self) -> Failure:
        used, share = self.used, self._share
        if not share.exceeded_by(used):
            return Failure(kind=FailureKind.REFUSED, message=f"it reached its limit of {self._max_turns} turns")
        cost = f"{dollars(used.cost_usd)} USD of {dollars(share.cost_usd)}" if share.cost_usd is not None else ""
        tokens = f"{used.tokens:,} tokens of {share.tokens:,}" if share.tokens is not None else ""
        words = ", ".join(filter(None, (cost, tokens)))
        return Failure(kind=FailureKind.OVER_BUDGET, message=f"it used up its share of the budget: {words}")


@asynccontextmanager
async def either(*events: asyncio.Event) -> AsyncGenerator[asyncio.Event]:
    """An event that is set as soon as one of several is."""
    found = asyncio.Event()

    async def pass_on(event: asyncio.Event) -> None:
        await event.wait()
        found.set()

    tasks = [asyncio.ensure_future(pass_on(event)) for event in events]
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
