"""What tokens cost, for clients that do not say so themselves. The prices are on the cards of the agents.

They are list prices for ordinary use. Not in there: surcharges for very long contexts (up to twice as much, and no
client says which requests were long), discounts, subscriptions. A model that is not listed has no known price: then
only the cap on tokens holds.
"""

import re
from functools import cache

from burnish.agents.interface import Price
from burnish.agents.registry import clients

_DATE = re.compile(r"-(?:20\d{2}-?\d{2}-?\d{2}|latest)$")


@cache
def _prices() -> dict[str, Price]:
    return {model: price for client in clients().values() for model, price in client.card.prices.items()}


def price_of(model: str) -> Price | None:
    """The price of a model; None where it is not known, and must not be guessed.

    Names are matched with or without the name of a vendor before them, and without a date after them.
    """
    name = model.rpartition("/")[2]
    return _prices().get(name) or _prices().get(_DATE.sub("", name))
