"""Which findings of one file are worth comparing: near-linear, where comparing all with all would be quadratic.

Two findings can only be the same problem when they share a rule, a problem class, a kind of problem, a name or a word.
So each finding is filed under all of these, and only what meets under a key AND lies close enough is compared.

Keys are taken from the rarest on, and the pairs of a file are bounded by `MAX_PAIRS`, shared out evenly. Up to some
hundred findings that overlap in one file nothing is left out; beyond that, as with thousands of findings without
lines in one file, each is compared with those that share its rarest words. What is left out stays two findings,
which is always safe.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from burnish.core.problems import NEARBY, Sketch

MAX_PAIRS = 60_000
"""A few seconds of comparing, at most."""


def candidates(sketches: Sequence[Sketch]) -> list[tuple[int, int]]:
    """Pairs of indices of findings of ONE file that may be the same problem, ids aside, each once and in order."""
    pairs: set[tuple[int, int]] = set()
    company = MAX_PAIRS // max(len(sketches), 1) + 1
    room = [company] * len(sketches)
    for block in _blocks(sketches):
        for index, overlapping in _sweep(sketches, block, company):
            for other in overlapping if room[index] else ():
                pair = (other, index) if other < index else (index, other)
                if room[index] and pair not in pairs:
                    room[index] -= 1
                    pairs.add(pair)
    return sorted(pairs)


def _blocks(sketches: Sequence[Sketch]) -> list[list[int]]:
    """Groups of findings that share a key, the smallest first."""
    blocks: defaultdict[str, list[int]] = defaultdict(list)
    for index, sketch in enumerate(sketches):
        for key in sketch.keys:
            blocks[key].append(index)
    shared = ((key, block) for key, block in blocks.items() if len(block) > 1)
    return [block for _, block in sorted(shared, key=lambda item: (len(item[1]), item[0]))]


def _sweep(sketches: Sequence[Sketch], block: list[int], company: int) -> Iterator[tuple[int, list[int]]]:
    """Each finding of a block with those above it whose lines are near its own, by one sweep down the file."""
    active: list[int] = []
    for index in sorted(block, key=lambda index: (sketches[index].first, index)):
        first = sketches[index].first - NEARBY
        active = [other for other in active[-company:] if sketches[other].last >= first]
        if active:
            yield index, active
        active.append(index)
