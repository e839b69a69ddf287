"""Whether two findings speak of the same problem.

Reviewers do not know of each other: one names a rule, another describes. Two findings are the same problem when they
are in the same place (same file, and lines that overlap) and have the same rule, rules of one problem class, words
that name one kind of problem, or alike words; or when they have the same id. And never when they contradict each
other:

- they name different code (`os` is unused, `sys` is unused);
- they are one sentence about two things (the amount is not validated, the currency is not validated);
- one is the opposite of the other (too short, too long; checked, not checked);
- their titles name different kinds of problems.

The relation does not depend on who found what, and it is not transitive: `burnish.core.finding_merging` says what
follows from it for more than two findings. Where in doubt two findings are two. A duplicate costs the reader a minute;
a problem that vanished into another one costs the bug.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product, starmap
from typing import NamedTuple

from burnish.core.finding_identity import MAX_TEXT, similarity, without_line_numbers
from burnish.core.findings import END_OF_FILE, Finding, Source, sources_of
from burnish.core.review_vocabulary import (
    ABOUT_TESTS_OR_STYLE,
    LIGHT,
    canonical,
    is_keyword,
    is_known,
    is_thing,
    kinds_of,
    opposites,
    siblings,
    tells,
)
from burnish.core.values import Value

ALIKE_TITLES = 2 / 3
"""The share of common words from which two titles say the same."""

RETOLD = 3 / 5
"""The share of the words of each title that the other text has, from which both tell the same in other words."""

FAR_APART = 3
"""Steps between two severities from which alike words are not enough: one of the two means something else."""

NEARBY = 3
"""Lines between two places that may still be one, where both name the same code: reviewers often miss by a few."""

_MENTIONED = 2 / 5
"""The same for what a test, a name or a copy is of, which its kind does not tell."""

_NEGATION = frozenset({"not"})

_FRAME = 1 / 2
"""The share of common words, in order, from which two titles are one sentence about two things."""

RULE_SEPARATOR = ", "
"""Between the rules of a finding that several rules reported."""


class Wording(Value):
    """What one reviewer said of a finding, worked out for comparing."""

    rank: int
    sequence: tuple[str, ...]
    """The words of the title, in order."""
    title: frozenset[str]
    text: frozenset[str]
    """The words of title, problem and suggestion."""
    names: tuple[tuple[str, ...], ...]
    """The code that the title names, each name by its parts."""
    all_names: tuple[tuple[str, ...], ...]
    things: frozenset[str]
    """What the title is about: its words that do not belong to the language of reviews, and the code that it names."""
    subject: frozenset[str]
    """What the title makes a statement about: the cache entry, in "The cache entry may be None"."""
    mentioned: frozenset[str]
    """The plain words of all of it, as they are written: a name may be among them without being marked as code."""
    numbers: frozenset[str]
    """The numbers of the title: status 404 and status 500 are two problems."""
    kinds: frozenset[str]
    """The kinds of problems that the title names."""
    all_kinds: frozenset[str]


class Features(Value):
    """A finding with all that comparing needs, worked out once."""

    finding: Finding
    file: str | None
    first: int
    last: int
    reviewers: frozenset[str]
    rules: frozenset[str]
    kinds: frozenset[str]
    """Its rules and their problem classes: what two reports of one problem may have in common."""
    keys: frozenset[str]
    """What two findings must share at least one of to be worth comparing."""
    wordings: tuple[Wording, ...] = ()

    @property
    def has_lines(self) -> bool:
        return self.last != END_OF_FILE

    def shares_a_kind(self, other: "Features") -> bool:
        """Whether both have lines, and a rule or a problem class in common.

        A rule in a whole file says little: the file may break it ten times.
        """
        return self.has_lines and other.has_lines and not self.kinds.isdisjoint(other.kinds)

    def apart(self, other: "Features") -> int:
        """The lines between both; 0 where they overlap."""
        return max(0, self.first - other.last, other.first - self.last)


class Likeness(NamedTuple):
    """How alike two findings of one problem are. The smallest is the most alike."""

    relation: int
    difference: float
    distance: int


SAME_ID = Likeness(relation=0, difference=0.0, distance=0)
SAME_RULE, SAME_CLASS, _SAME_KIND, _ALIKE_TEXT = 1, 2, 3, 4


def same_problem(one: Finding, other: Finding) -> bool:
    return likeness(features_of(one), features_of(other)) is not None


def features_of(finding: Finding) -> Features:
    wordings = tuple(_wording(source) for source in sources_of(finding))
    words = frozenset[str]().union(*(wording.text | wording.all_kinds for wording in wordings))
    names = frozenset(part for wording in wordings for name in wording.all_names for part in name)
    return placed(finding, words | names, wordings)


def placed(finding: Finding, keys: frozenset[str], wordings: tuple[Wording, ...] = ()) -> Features:
    """Features with the place, the reviewers and the rules of a finding."""
    location = finding.location
    first, last = location.span if location else (0, END_OF_FILE)
    rules = listed(finding.rule)
    kinds = rules | listed(finding.problem_class)
    return Features(
        finding=finding,
        file=location.file if location else None,
        first=first,
        last=last,
        reviewers=frozenset(finding.found_by or ("",)),
        rules=rules,
        kinds=kinds,
        keys=keys | kinds if last != END_OF_FILE else keys,
        wordings=wordings,
    )


def listed(names: str) -> frozenset[str]:
    """The rules or classes of a finding, one by one."""
    return frozenset(names.split(RULE_SEPARATOR)) if names else frozenset()


def likeness(one: Features, other: Features) -> Likeness | None:
    """How alike two findings are, or None where they are two problems."""
    if one.file != other.file:
        return None
    if one.finding.id and one.finding.id == other.finding.id:
        return SAME_ID
    if not one.keys & other.keys:
        return None
    apart = one.apart(other)
    relation = _relation(one, other, apart) if apart <= NEARBY else None
    if relation is None or contradict(one, other):
        return None
    pairs = product(one.wordings, other.wordings)
    alike = max(max(similarity(a.title, b.title), similarity(a.text, b.text)) for a, b in pairs)
    distance = abs(one.first - other.first) + abs(one.last - other.last)
    return Likeness(relation=relation, difference=1.0 - alike, distance=distance)


def contradict(one: Features, other: Features) -> bool:
    """Whether something that was said of one finding cannot be said of the other.

    Several rules of a class each name what they look at; two reports of one rule name what it was found in.
    """
    pairs = product(one.wordings, other.wordings)
    if one.shares_a_kind(other):
        return one.rules == other.rules and any(starmap(_differ_in_code, pairs))
    return any(starmap(_contradicts, pairs))


def _relation(one: Features, other: Features, apart: int) -> int | None:
    """What makes two findings in one place the same problem."""
    if one.shares_a_kind(other):
        same = SAME_RULE if one.rules & other.rules else SAME_CLASS
        return None if apart else same  # Rules name the exact line: beside it, it is another case.
    # That an answer listed nothing is said of one reviewer: two such findings are alike only in their words.
    if one.finding.synthetic or other.finding.synthetic:
        return None
    found = (_said_alike(*pair, apart=bool(apart)) for pair in product(one.wordings, other.wordings))
    return min((relation for relation in found if relation is not None), default=None)


def _said_alike(one: Wording, other: Wording, *, apart: bool) -> int | None:
    """Whether two texts name one kind of problem, or say the same in alike words."""
    far = abs(one.rank - other.rank) >= FAR_APART
    named = _name_the_same_code(one, other)
    if apart and not named:
        return None
    kinds = _kinds_in_common(one, other)
    told = not kinds <= ABOUT_TESTS_OR_STYLE or named or _retold(one, other) >= _MENTIONED
    if kinds and told and (not far or named or one.title == other.title):
        return _SAME_KIND
    if ("not" in one.title) != ("not" in other.title) and not ("not" in one.text and "not" in other.text):
        return None
    if far:
        return _ALIKE_TEXT if one.title == other.title else None
    alike = similarity(one.title, other.title) >= ALIKE_TITLES or _retold(one, other) >= RETOLD
    return _ALIKE_TEXT if alike else None


def _retold(one: Wording, other: Wording) -> float:
    """How much of what each title says is in the other text, from 0 to 1. Negations are compared apart."""
    mine, theirs = one.title - _NEGATION, other.title - _NEGATION
    if not mine or not theirs:
        return 0.0
    return (len(mine & other.text) / len(mine) + len(theirs & one.text) / len(theirs)) / 2


def _kinds_in_common(one: Wording, other: Wording) -> frozenset[str]:
    """The title says what the problem is. Where it names no kind, the text may."""
    return (one.kinds or one.all_kinds) & (other.kinds or other.all_kinds)


# --- Contradictions --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def _contradicts(one: Wording, other: Wording) -> bool:
    if one == other:
        return False
    same_code = _name_the_same_code(one, other)
    if (one.names and other.names and not same_code) or _name_other_kinds(one, other) or _are_opposites(one, other):
        return True
    if one.kinds & other.kinds and same_code:
        return False  # Titles that name one kind of problem of one piece of code differ in their words alone.
    about_others = _unmentioned(one, one.things, other, other.things) or _unmentioned(
        one, one.subject, other, other.subject
    )
    return about_others or _fill_one_frame(one, other)


def _differ_in_code(one: Wording, other: Wording) -> bool:
    """Whether two reports of one rule are about different code: they name other code, or fill its text otherwise."""
    same = _name_the_same_code(one, other)
    return not same and (bool(one.names and other.names) or _fill_one_frame(one, other))


def _name_the_same_code(one: Wording, other: Wording) -> bool:
    """Whether one title names code that the other text names or mentions, too."""
    if _share_a_name(one.names, other.all_names) or _share_a_name(one.all_names, other.names):
        return True
    mine = {name[0] for name in one.names if len(name) == 1}
    theirs = {name[0] for name in other.names if len(name) == 1}
    return bool(mine & other.mentioned or theirs & one.mentioned)


def _share_a_name(some: Sequence[tuple[str, ...]], others: Sequence[tuple[str, ...]]) -> bool:
    return any(_is_within(one, other) or _is_within(other, one) for one in some for other in others)


def _is_within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether a name is part of another: `email` and `user.email` may be one; `user.email` and `user.age` are not."""
    size = len(short)
    return any(long[start : start + size] == short for start in range(len(long) - size + 1))


def _unmentioned(one: Wording, mine: frozenset[str], other: Wording, theirs: frozenset[str]) -> bool:
    """Whether both have such words, and neither text mentions those of the other."""
    return bool(mine and theirs) and not mine & other.text and not theirs & one.text


def _name_other_kinds(one: Wording, other: Wording) -> bool:
    if (one.kinds & ABOUT_TESTS_OR_STYLE) != (other.kinds & ABOUT_TESTS_OR_STYLE):
        return not _style_told_later(one, other)
    return bool(one.kinds and other.kinds) and not _kinds_in_common(one, other)


def _style_told_later(one: Wording, other: Wording) -> bool:
    """One says in its title what the other says below a title that names no kind."""
    styles = (one.kinds | other.kinds) & ABOUT_TESTS_OR_STYLE
    return bool(styles & one.all_kinds & other.all_kinds) and not (one.kinds and other.kinds)


def _are_opposites(one: Wording, other: Wording) -> bool:
    """Whether one has a word whose counterpart the other has: too short and too long, a password and a token."""

    def split(first: str, second: str) -> bool:
        return first in one.title and second in other.title and second not in one.text and first not in other.text

    if any(split(first, second) or split(second, first) for first, second in opposites()):
        return True
    numbers = frozenset[str]() if _share_a_name(one.names, other.names) else one.numbers | other.numbers
    sets = (*siblings(), numbers)
    return any(_unmentioned(one, one.title & words, other, other.title & words) for words in sets)


def _fill_one_frame(one: Wording, other: Wording) -> bool:
    """Whether both titles are one sentence about two things.

    Half of the words are the same, and others stand in the same place; or most are the same, and each has some of its
    own, wherever they stand. Where both name the same code, only the place counts.
    """
    matcher = SequenceMatcher(None, one.sequence, other.sequence, autojunk=False)
    in_order = sum(block.size for block in matcher.get_matching_blocks())
    longer = max(len(one.sequence), len(other.sequence))
    if in_order and in_order >= _FRAME * longer and _put_otherwise(one, other, matcher):
        return True
    common = one.title & other.title
    most = len(common) >= ALIKE_TITLES * max(len(one.title), len(other.title), 1)
    own = any(map(tells, one.title - common)) and any(map(tells, other.title - common))
    return most and own and not _name_the_same_code(one, other)


def _put_otherwise(one: Wording, other: Wording, matcher: "SequenceMatcher[str]") -> bool:
    """Whether in some place each title has a word that the other has nowhere."""
    return any(
        step == "replace"
        and not other.title.issuperset(one.sequence[first:last])
        and not one.title.issuperset(other.sequence[from_:to])
        for step, first, last, from_, to in matcher.get_opcodes()
    )


# --- Reading ---------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"n\+1|o\(n"
    r"|[$@]?[^\W\d]\w*(?:(?:\.|->|::|-|/)\w+)*(?:\(\))?(?:=\w+)?"
    r"|\d+(?:\.\d+)*%?"
    r"|[=!<>]==?|[<>]",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]+)`|(?<!\w)'([^'\s]+)'(?!\w)|\"([^\"\s]+)\"")
_CODE = re.compile(r"^\$|[_$]|\(\)$|=|::|->|[a-z][A-Z]|[^\W\d]\w\.\w|^\w\.\w|/")
_PARTS = re.compile(r"[^\W_]\w*|_\w+")
_PLAIN_WORD = re.compile(r"(?<![\w.])[^\W\d_]{2,}(?![\w.(])")
_STATEMENT = re.compile(
    r"^(?:the |an? )?((?:[\w.`'()\[\]$>-]+ ){1,4})"
    r"(?:is|are|was|were|may|might|can|could|cannot|has|have|does|do|never|lacks)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.;!?](?:\s|$)|\n")
_WHERE = re.compile(r"\b(?:in|inside|within) `?[\w.]+(?:\(\))?`?", re.IGNORECASE)
"""Where something is, such as the function around it. What it is about is said otherwise."""
_ADVICE = re.compile(r"^\s*(?:do not|don't|never|avoid)\s+(?:use|using|the use of)\b|^\s*avoid\b", re.IGNORECASE)
"""Linters say what not to do where reviewers say what was done."""
_NOT_USED = re.compile(
    r"\b(?:(?:is|are|was|were) )?(?:(?:never|not|no longer) (?:used|read|referenced)|(?:never|not) called anywhere)"
    r"(?: anywhere| after \w+ \w+)?(?=[\s.,;:]*$|[.,;]| and | but )",
    re.IGNORECASE,
)
"""At the end of a sentence: nothing needs it. `is not used to sign tokens` says something else."""
_IS_MISSING = re.compile(r"(\S+(?:\s\S+)?)\s(?:is|are|was|were)\s(?:missing|absent|omitted)\b", re.IGNORECASE)


@lru_cache(maxsize=16_384)
def _wording(source: Source) -> Wording:
    title = _plain(source.title)
    texts = [title, _plain(source.problem), _plain(source.suggestion)]
    subject = _WHERE.sub(" ", title)
    words = tuple(_words(title))
    names, all_names = _names(subject), _names("\n".join(texts))
    all_words = frozenset(word for text in texts for word in _words(text)).union(*map(_stems, all_names))
    return Wording(
        rank=source.severity.rank,
        sequence=tuple(word for word in words if word not in LIGHT),
        title=frozenset(words) - LIGHT,
        text=all_words - LIGHT,
        names=names,
        all_names=all_names,
        things=frozenset(word for word in _words(subject) if is_thing(word)).union(*map(_things, names)),
        subject=_subject(title),
        mentioned=frozenset(_PLAIN_WORD.findall(" ".join(texts).casefold())),
        numbers=frozenset(word for word in words if word[0].isdigit()),
        kinds=_kinds(title),
        all_kinds=frozenset[str]().union(*map(_kinds, texts)),
    )


def _subject(title: str) -> frozenset[str]:
    match = _STATEMENT.match(title)
    return frozenset(_words(match[1])) - LIGHT if match else frozenset()


def _kinds(text: str) -> frozenset[str]:
    """The kinds of problems that a text names, each in one sentence; a name may name one by a part."""
    sentences = (text for text in _SENTENCE.split(text) if text)
    return frozenset[str]().union(
        *(kinds_of((*_words(part), *(word for name in _names(part) for word in name))) for part in sentences)
    )


def _stems(name: tuple[str, ...]) -> frozenset[str]:
    """The words that a name is made of: `update_profile` speaks of an update and a profile."""
    pieces = (piece for part in name for piece in part.split("_"))
    return frozenset({".".join(name), *name, *(word for piece in pieces for word in canonical(piece))})


def _things(name: tuple[str, ...]) -> frozenset[str]:
    """What a name is about; the name itself where it is made of plain words only."""
    return frozenset(word for word in _stems(name) if is_thing(word)) or frozenset({".".join(name)})


def _plain(text: str) -> str:
    text = text[: 2 * MAX_TEXT].replace("’", "'")
    text = _ADVICE.sub("", text).replace("n't", " not")
    return _IS_MISSING.sub(r"missing \1", _NOT_USED.sub(" unused", without_line_numbers(text)))


def _words(text: str) -> Iterator[str]:
    """The canonical words of a text, in order."""
    for token in _TOKEN.findall(text.casefold()):
        plain = token.removesuffix("()")
        if is_known(plain) or not re.search(r"\W", plain):
            yield from canonical(plain)
        elif "-" in plain and not re.search(r"[^\w-]", plain):
            yield from (word for part in plain.split("-") for word in canonical(part))
        else:
            yield plain


def _names(text: str) -> tuple[tuple[str, ...], ...]:
    """The code that a text names: what it quotes, and what is spelled like code."""
    quoted = [token for groups in _QUOTED.findall(text) for token in _TOKEN.findall("".join(groups))]
    spelled = [token for token in _TOKEN.findall(text) if _CODE.search(token)]
    return tuple(sorted({parts for token in (*quoted, *spelled) if (parts := _parts(token))}))


def _parts(token: str) -> tuple[str, ...]:
    name = token.casefold()
    if is_keyword(name) or name.endswith(("error", "exception")) or not re.search(r"[^\W\d]", name):
        return ()
    parts = tuple(_PARTS.findall(name.partition("=")[0]))
    return parts[1:] if len(parts) > 1 and parts[0] in ("self", "this") else parts
