"""The identity of a finding: which problem it is, whatever its line number is today.

A finding is followed over rounds (fixed, still open, refuted, waived), so it needs a name that later edits of the
file leave alone. Line numbers are no such name: over 150 commits they found 54 % of the findings again, the text of
the line 99.7 %. The name is a digest of

- with a rule: the rule, the path and the text of the finding's first line;
- without one, from a model: the content words of the title, the path and the text of the first line;
- where that line cannot be read, or is blank: the words of the title stand in for it;

and of two ordinals that tell apart what is still equal: the how-manieth place in the file, and the how-manieth
finding of one reviewer in that place.

The trade-off, for models. A model words a problem differently each time and shifts its lines. An identity loose
enough to survive that would also give two problems on one line one name, and then one of them would be lost without
a trace, while a problem that is not recognised is only reported again. So identity is strict (equal words in any
order, equal line), the category, which models choose at will, is no part of it, and re-wordings beyond that are left
to `burnish.core.finding_merging.match_former`, which compares where both texts are at hand.

All findings of a round must be identified in one call: ordinals are counted over what is given. So it is done by the
loop, when a round is complete; reading an answer only ties each finding to the text of its line (`anchored`).
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from burnish.core.findings import Finding, Location
from burnish.core.values import replace

SourceLines = Callable[[str], Sequence[str] | None]
"""The lines of a file of the reviewed tree, or None where it has no such file (or no text)."""

_Group = TypeVar("_Group", bound=Hashable)
_Member = TypeVar("_Member", bound=tuple[object, ...])

NO_RENAMES: Mapping[str, str] = MappingProxyType({})

ID_LENGTH = 16
"""Hexadecimal digits: 64 bits, so that a million findings collide with a chance of one in 37 million."""


class _Place(NamedTuple):
    """Where a finding is, in the order in which ordinals are counted.

    After a rename `old.py` → `new.py`, a new `old.py` shares its origin with the renamed one. The renamed file comes
    first, so that the newcomer does not take the names of the findings that moved.
    """

    newcomer: bool
    file: str
    line: int


class _Key(NamedTuple):
    """What a finding is about: the digest without its ordinals."""

    rule: str
    path: str
    anchor: str
    words: str


def anchored(findings: Iterable[Finding], lines: SourceLines) -> tuple[Finding, ...]:
    """Tie each finding to a digest of its first line without any white space; each file is asked for once.

    This is done where an answer is read beside its tree; from then on the tree is not needed to identify the finding.
    The line itself is not kept: it may hold the very secret that was found.
    """
    known: dict[str, Sequence[str]] = {}

    def anchor(location: Location | None) -> str:
        if location is None or location.line is None:
            return ""
        if location.file not in known:
            known[location.file] = lines(location.file) or ()
        text = known[location.file]
        line = "".join(text[location.line - 1].split()) if 1 <= location.line <= len(text) else ""
        return _digest(line) if line else ""

    return tuple(replace(finding, anchor=anchor(finding.location)) for finding in findings)


def identify(findings: Sequence[Finding], origin: Mapping[str, str] = NO_RENAMES) -> tuple[Finding, ...]:
    """Give each finding that has no id its id; findings that have one keep it and are counted in the ordinals.

    `origin` maps a path of the reviewed tree to its path at the run's first round, where a rename lies between.
    """
    keys = [_key(finding, origin) for finding in findings]
    ordinals = _ranks(keys, [_place(finding, origin) for finding in findings])
    seats = [(key, ordinal, finding.found_by) for key, ordinal, finding in zip(keys, ordinals, findings, strict=True)]
    repeats = _ranks(seats, [(finding.title, finding.problem) for finding in findings])
    return tuple(
        finding if finding.id else replace(finding, id=_digest(*key, ordinal, repeat))
        for finding, key, ordinal, repeat in zip(findings, keys, ordinals, repeats, strict=True)
    )


def told_apart(finding: Finding) -> Finding:
    """The finding under a name of its own, where another one has the same: one rule may name two things on one line."""
    return replace(finding, id=_digest(finding.id, _title_words(finding), finding.problem))


def _key(finding: Finding, origin: Mapping[str, str]) -> _Key:
    file = finding.location.file if finding.location else ""
    words = "" if finding.rule and finding.anchor else _title_words(finding)
    return _Key(rule=finding.rule, path=origin.get(file, file), anchor=finding.anchor, words=words)


def _title_words(finding: Finding) -> str:
    """The words of the title in alphabetical order; a title without any leaves the problem, then the title as it is."""
    words = content_words(finding.title) or content_words(finding.problem)
    return " ".join(sorted(words)) or " ".join(finding.title.casefold().split())


def _place(finding: Finding, origin: Mapping[str, str]) -> _Place:
    location = finding.location
    if location is None:
        return _Place(newcomer=False, file="", line=0)
    return _Place(newcomer=location.file not in origin, file=location.file, line=location.line or 0)


def _ranks(groups: Sequence[_Group], members: Sequence[_Member]) -> list[int]:
    """The rank of each member among the distinct members of its group, counted from 0.

    Ranks only depend on what sorts before: a member that goes away shifts none of those before it.
    """
    distinct: defaultdict[_Group, set[_Member]] = defaultdict(set)
    for group, member in zip(groups, members, strict=True):
        distinct[group].add(member)
    ranks = {group: {member: rank for rank, member in enumerate(sorted(known))} for group, known in distinct.items()}
    return [ranks[group][member] for group, member in zip(groups, members, strict=True)]


def _digest(*parts: str | int) -> str:
    """A digest in which no part can run into the next one; text with lone surrogates is text too."""
    packed = "".join(f"{len(str(part))}:{part}" for part in parts)
    return hashlib.sha256(packed.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


# --- What a sentence about a problem is about: its content words and the code that it names.


MAX_TEXT = 400
"""Characters that are looked at. The start says what a problem is; the rest would only cost time."""

_LEAD = re.compile(
    r"^[\s#>*-]*"
    r"(?:\[(?:critical|high|medium|low|info|major|minor|important|warning|error|nit|note|blocking)\]\s*:?\s*)*"
    r"(?:[a-z]{0,2}\d{1,3}[.):]\s+)?",
    re.IGNORECASE,
)
"""What a list puts before a title: marks, a severity in brackets, a number. It changes from round to round."""

_LINE_REFERENCE = re.compile(
    r"\b(?:lines?|ln)\s*#?\d+(?:\s*(?:-|–|to|through)\s*\d+)?|\bL\d+(?:-L?\d+)?\b", re.IGNORECASE
)
_FILE_REFERENCE = re.compile(r"(\.\w{1,6}):\d+(?::\d+)?(?:-\d+)?\b")
"""Line numbers drift. Other numbers stay: status 404 and status 500 are two problems."""

_DIGIT = re.compile(r"\d")
_NEGATION = re.compile(r"(?:\bca)?n't\b")
_POSSESSIVE = re.compile(r"(?<=\w)'s\b")
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|\"([^\"]+)\"")
_CODE_LIKE = re.compile(r"\b(?:\w*[^\W_]_\w+|_\w+|[a-z]+[A-Z]\w*)\b")

_STOP_WORDS = frozenset(
    _WORD.findall(
        """a also an and any are as at be because been being but by can could did do does for from had has have here
        if in into is it its just may might must of on or should so some such than that the their then there these
        this those to very was were when where which while who will with would"""
    )
)
"""Words that carry no problem. Negations are not among them: `is checked` and `is not checked` must differ."""


def content_words(text: str) -> frozenset[str]:
    """The words that carry the meaning, case-folded, without order, marks, line references and stop-words."""
    plain = _plain(text).casefold()
    if "'" in plain:
        plain = _POSSESSIVE.sub("", _NEGATION.sub(" not", plain))
    return frozenset(_WORD.findall(plain)) - _STOP_WORDS


def named_code(text: str) -> frozenset[str]:
    """The code that a text names: what it quotes and what is spelled like an identifier, case-folded."""
    plain = without_line_numbers(text[:MAX_TEXT])
    quoted = " ".join("".join(groups) for groups in _QUOTED.findall(plain))
    names = {*_WORD.findall(quoted.casefold()), *(name.casefold() for name in _CODE_LIKE.findall(plain))}
    return frozenset(name for name in names if not name.isdigit())


def similarity(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of words that two sets have in common, from 0 to 1 (Jaccard). Nothing is similar to no words."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def _plain(text: str) -> str:
    """The text without what markdown and lists put around it."""
    text = unicodedata.normalize("NFKC", text[:MAX_TEXT]).replace("’", "'")
    text = text.replace("`", " ").replace("*", "").strip()
    return without_line_numbers(_LEAD.sub("", text))


def without_line_numbers(text: str) -> str:
    """The text without references to lines, which change with every edit."""
    return _FILE_REFERENCE.sub(r"\1", _LINE_REFERENCE.sub(" ", text)) if _DIGIT.search(text) else text
