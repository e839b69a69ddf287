"""What tokens cost, for clients that do not say so themselves. The prices are data, in prices.toml."""

import re
import tomllib
from functools import cache
from importlib import resources

import msgspec

from burnish.core.values import Value

_PER = 1_000_000
_DATE = re.compile(r"-(?:20\d{2}-?\d{2}-?\d{2}|latest)$")


class Tokens(Value):
    """What a model took in and gave out. `cached` and `input` do not overlap."""

    input: int = 0
    cached: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.cached + self.output

    def plus(self, other: "Tokens") -> "Tokens":
        return Tokens(
            input=self.input + other.input, cached=self.cached + other.cached, output=self.output + other.output
        )


class Price(Value):
    """US dollars for a million tokens of each kind."""

    input: float
    cached: float
    output: float

    def of(self, tokens: Tokens) -> float:
        return (tokens.input * self.input + tokens.cached * self.cached + tokens.output * self.output) / _PER


class PriceList(Value):
    """The data file: prices by model, with the day and the pages from which they were taken."""

    updated: str
    sources: tuple[str, ...]
    models: dict[str, Price]


@cache
def price_list() -> PriceList:
    text = resources.files("burnish.agents").joinpath("prices.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), PriceList)


def price_of(model: str) -> Price | None:
    """The price of a model; None where it is not known, and must not be guessed."""
    models = price_list().models
    name = model.rpartition("/")[2]
    return models.get(name) or models.get(_DATE.sub("", name))
