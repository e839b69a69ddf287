"""Reading an answer of 10 MB in every contract, against the least that any reader of it must do; and growth."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.answers import answer, is_file
from benchmarks.measure import Figure, compare
from burnish.agents.streams import read_answer
from burnish.core.reviews import ContractName

SIZE = 10_000_000
GROWTH = 2.5
"""Twice the answer may take this many times as long: linear cost, and a margin for the memory's caches."""

_MARKED = re.compile(r"\s*(?:#{1,6}\s|[-*+]\s|\d+[.)]\s)?\s*(?:\*\*[^*]+\*\*)?")


def figures() -> Iterator[Figure]:
    for contract in ContractName:
        whole, half = answer(contract, SIZE), answer(contract, SIZE // 2)
        parse = partial(read_answer, contract, is_file=is_file)
        against, limit, read = _PEERS[contract]
        megabytes = len(whole) / 1e6
        yield compare(
            f"parse {megabytes:.0f} MB of {contract.value}",
            partial(parse, whole),
            partial(read, whole),
            against=against,
            limit=limit,
        )
        yield compare(
            f"growth of {contract.value}, {megabytes:.0f} MB to {len(half) / 1e6:.0f} MB",
            partial(parse, whole),
            partial(parse, half),
            against="half of it",
            limit=GROWTH,
            times=3,
        )


def _load(raw: bytes) -> object:
    return json.loads(raw.decode())


def _load_lines(raw: bytes) -> object:
    return [json.loads(line) for line in raw.decode().split("\n")]


def _look_at_lines(raw: bytes) -> object:
    """The least that tells headings, list items and bold labels from text."""
    return [_MARKED.match(line) for line in raw.decode().splitlines()]


_PEERS: dict[ContractName, tuple[str, float, Callable[[bytes], object]]] = {
    ContractName.FINDINGS: ("one regular expression a line", 80, _look_at_lines),
    ContractName.REPORT: ("json.loads", 35, _load),
    ContractName.ISSUES: ("json.loads", 35, _load),
    ContractName.VERDICT: ("json.loads of each line", 10, _load_lines),
    ContractName.SARIF: ("json.loads", 35, _load),
}
