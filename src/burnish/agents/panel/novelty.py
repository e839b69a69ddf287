"""Which hits a change introduced: those of the head without those of the base, as multisets of keys.

A key is the tool, the rule, the path before any rename and the text of the line without white space. So lines that
only moved or were indented are no news, and an old line that broke because of a change elsewhere is. Of several hits
with one key as many are new as there are more of them than before; which ones is told by their messages, then by
whether their lines changed, then by their order. A hit that says the same of a line that was edited is an old one, too.
"""

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

from burnish.agents.panel.comparison import LineComparison, compare
from burnish.agents.panel.interface import Hit, ToolName

LinesOf = Callable[[str], Sequence[str] | None]
"""Gives the lines of a file of one tree, or None where there are none that can be read."""

OF_THE_FILE = frozenset({(ToolName.OXLINT, "no-undef")})
"""Rules that say something of a whole file in each place: a name that it already used is defined somewhere else."""

SAME_LINE = 0.4
"""How alike two lines are of which one was made by editing the other, be it by a whole new checksum."""

Key = tuple[str, str, str, str]
Block = tuple[str, str, str, str, int]
"""A tool, a rule, a message, a file and one of its blocks of replaced lines."""


def introduced(
    head: Sequence[Hit], base: Sequence[Hit], *, head_lines: LinesOf, base_lines: LinesOf, renamed: Mapping[str, str]
) -> tuple[Hit, ...]:
    """The hits of the head that the base does not have, in their order. `renamed` maps new paths to old ones."""
    change = _Change(head_lines, base_lines, renamed)
    before, now = _grouped(base, change.base_key), _grouped(head, change.head_key)
    new: list[int] = []
    gone: list[int] = []
    for key in {**now, **before}:
        here, there = now[key], before[key]
        if 0 < len(there) < len(here):
            # The likeliest old ones come first.
            here.sort(key=lambda index: not change.is_unchanged(head[index]))
        appeared, vanished = _without_pairs(here, there, head, base)
        new += appeared
        gone += vanished
    kept = set(new) - _edited(sorted(new), sorted(gone), head, base, change) - _said_before(head, base, change)
    return tuple(hit for index, hit in enumerate(head) if index in kept)


class _Change:
    """The lines of both trees, and what became of them."""

    def __init__(self, head_lines: LinesOf, base_lines: LinesOf, renamed: Mapping[str, str]) -> None:
        self._head, self._base = cache(_stripped(head_lines)), cache(_stripped(base_lines))
        self._renamed = renamed
        self._new_paths = {old: new for new, old in renamed.items()}
        self._comparison = cache(self._compare)

    def head_key(self, hit: Hit) -> Key:
        return _key(hit, self._old_path(hit), self._head(hit.file))

    def base_key(self, hit: Hit) -> Key:
        return _key(hit, hit.file, self._base(hit.file))

    def is_unchanged(self, hit: Hit) -> bool:
        """Whether a line of the head was there before."""
        return hit.line in self._comparison(hit.file).unchanged

    def head_block(self, hit: Hit) -> Block | None:
        """In which block of replaced lines a hit of the head says what, if it is in one."""
        return self._block(hit, hit.file, [one.head for one in self._comparison(hit.file).replaced])

    def base_block(self, hit: Hit) -> Block | None:
        path = self._new_paths.get(hit.file, hit.file)
        return self._block(hit, path, [one.base for one in self._comparison(path).replaced])

    def are_alike(self, old: Hit, new: Hit) -> bool:
        """Whether one line can have been made by editing the other."""
        before, now = _text(old, self._base(old.file)), _text(new, self._head(new.file))
        # The beginning will do: lines without end take for ever to compare.
        return difflib.SequenceMatcher(None, before[:400], now[:400], autojunk=False).ratio() >= SAME_LINE

    def _block(self, hit: Hit, path: str, blocks: Sequence[range]) -> Block | None:
        if hit.tool is ToolName.KINGFISHER:
            return None  # a line that was edited can hold another secret, of which the tool says the same
        number = next((number for number, lines in enumerate(blocks) if hit.line in lines), None)
        return None if number is None else (hit.tool.value, hit.rule, hit.message, path, number)

    def _old_path(self, hit: Hit) -> str:
        return self._renamed.get(hit.file, hit.file)

    def _compare(self, path: str) -> LineComparison:
        return compare(self._base(self._renamed.get(path, path)), self._head(path))


def _stripped(lines_of: LinesOf) -> Callable[[str], Sequence[str]]:
    return lambda path: tuple("".join(line.split()) for line in lines_of(path) or ())


def _key(hit: Hit, path: str, lines: Sequence[str]) -> Key:
    return hit.tool.value, hit.rule, path, _text(hit, lines)


def _text(hit: Hit, lines: Sequence[str]) -> str:
    """The text of a hit's line. Where there is no line, the message stands for it."""
    number = hit.line or 0
    return lines[number - 1] if 0 < number <= len(lines) else hit.message


def _grouped(hits: Iterable[Hit], key_of: Callable[[Hit], Key]) -> defaultdict[Key, list[int]]:
    """The positions of the hits that have the same key."""
    groups: defaultdict[Key, list[int]] = defaultdict(list)
    for index, hit in enumerate(hits):
        groups[key_of(hit)].append(index)
    return groups


def _without_pairs(
    here: Sequence[int], there: Sequence[int], head: Sequence[Hit], base: Sequence[Hit]
) -> tuple[list[int], list[int]]:
    """What is left on both sides of equal hits when each old one is taken away once, by its message where it can be."""
    vanished = list(there)
    appeared: list[int] = []
    for index in here:
        partner = next((other for other in vanished if base[other].message == head[index].message), None)
        if partner is None:
            appeared.append(index)
        else:
            vanished.remove(partner)
    pairs = min(len(appeared), len(vanished))
    return appeared[pairs:], vanished[pairs:]


def _said_before(head: Sequence[Hit], base: Sequence[Hit], change: _Change) -> set[int]:
    """The hits that say of a file what was said of it before, wherever that was."""
    known = {(change.base_key(hit)[:3], hit.message) for hit in base if (hit.tool, hit.rule) in OF_THE_FILE}
    return {index for index, hit in enumerate(head) if (change.head_key(hit)[:3], hit.message) in known}


def _edited(
    new: Sequence[int], gone: Sequence[int], head: Sequence[Hit], base: Sequence[Hit], change: _Change
) -> set[int]:
    """Those of the new hits that say of an edited line what was said of it before, each old one used once."""
    old: defaultdict[Block | None, list[int]] = defaultdict(list)
    for index in gone:
        old[change.base_block(base[index])].append(index)
    edited: set[int] = set()
    for index in new:
        block = change.head_block(head[index])
        candidates = old[block] if block is not None else []
        partner = next((other for other in candidates if change.are_alike(base[other], head[index])), None)
        if partner is not None:
            candidates.remove(partner)
            edited.add(index)
    return edited
