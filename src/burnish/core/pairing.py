"""Which findings of one file are worth comparing: near-linear, where comparing all with all would be quadratic.

Two findings can only be the same problem when they share a problem class or enough words. So each finding is filed
under its classes and under its rarest words, as many as it takes for two alike texts to meet under at least one
(prefix filtering, as in set similarity joins), and only what meets under a key AND overlaps in lines is compared.

Keys are taken from the rarest on, and the pairs of a file are bounded by `MAX_PAIRS`, shared out evenly. Up to some
hundred findings that overlap in one file nothing is left out; beyond that, as with thousands of findings without
lines in one file, each is compared with those that share its rarest words. What is left out stays two findings,
which is always safe.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from math import ceil

from burnish.core.problems import ALIKE_TEXTS, ALIKE_TITLES, Sketch

MAX_PAIRS = 100_000
"""About a second of comparing."""


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
    """Groups of findings that share a problem class or a rare word, the smallest first."""
    blocks: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    titles = Counter(word for sketch in sketches for word in sketch.title)
    texts = Counter(word for sketch in sketches for word in sketch.text)
    for index, sketch in enumerate(sketches):
        if sketch.has_lines:
            for kind in sketch.kinds:
                blocks["kind", kind].append(index)
        for word in _prefix(sketch.title, ALIKE_TITLES, titles):
            blocks["title", word].append(index)
        for word in _prefix(sketch.text, ALIKE_TEXTS, texts):
            blocks["text", word].append(index)
    shared = ((key, block) for key, block in blocks.items() if len(block) > 1)
    return [block for _, block in sorted(shared, key=lambda item: (len(item[1]), item[0]))]


def _prefix(words: AbstractSet[str], threshold: float, frequency: Counter[str]) -> list[str]:
    """The rarest words of a set, enough for every set that is alike to have one of them among its own.

    Alike sets share at least `threshold` of the words of either. Leave that many out but one, in an order that is
    the same for all sets, and the rest still meets.
    """
    needed = ceil(threshold * len(words) - 1e-9)
    ordered = sorted(words, key=lambda word: (frequency[word], word))
    return ordered[: len(words) - needed + 1]


def _sweep(sketches: Sequence[Sketch], block: list[int], company: int) -> Iterator[tuple[int, list[int]]]:
    """Each finding of a block with those above it whose lines overlap its own, by one sweep down the file."""
    active: list[int] = []
    for index in sorted(block, key=lambda index: (sketches[index].first, index)):
        active = [other for other in active[-company:] if sketches[other].last >= sketches[index].first]
        if active:
            yield index, active
        active.append(index)
