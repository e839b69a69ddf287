"""Whether two findings speak of the same problem.

Reviewers do not know of each other: one names a rule, another describes. Two findings are the same problem when they
are in the same place (same file, and lines that overlap) and have the same rule, rules of one problem class, or
alike texts; or when they have the same id. The relation knows nothing of who found what, and it is not transitive:
what follows from it for more than two findings is for `burnish.core.merging` to say.

Where in doubt two findings are two. A duplicate costs the reader a minute; a problem that vanished into another one
costs the bug.
"""

from typing import NamedTuple

from burnish.core.findings import Finding
from burnish.core.values import Value
from burnish.core.words import content_words, named_code, similarity

ALIKE_TITLES = 2 / 3
"""The share of common words from which two titles say the same."""

ALIKE_TEXTS = 1 / 2
"""The same for titles and problems together: longer texts of one problem have fewer words in common."""

RULE_SEPARATOR = ", "
"""Between the rules of a finding that several rules reported."""

END_OF_FILE = 1 << 62
"""The last line of a finding that names none: it covers its whole file."""


class Sketch(Value):
    """A finding with all that comparing needs, worked out once."""

    finding: Finding
    file: str | None
    first: int
    last: int
    reviewers: frozenset[str]
    rules: frozenset[str]
    kinds: frozenset[str]
    """Its rules and their problem classes: what two reports of one problem may have in common."""
    title: frozenset[str]
    text: frozenset[str]
    """The words of title and problem; empty without a problem, because then the title has to do."""
    names: frozenset[str]
    """The code that the title names."""

    @property
    def has_lines(self) -> bool:
        return self.last != END_OF_FILE


class Likeness(NamedTuple):
    """How alike two findings of one problem are. The smallest is the most alike."""

    relation: int
    difference: float
    distance: int


_SAME_ID = Likeness(relation=0, difference=0.0, distance=0)
_SAME_RULE, _SAME_CLASS, _ALIKE_TEXT = 1, 2, 3


def same_problem(one: Finding, other: Finding) -> bool:
    """Whether both findings speak of the same problem in the same place."""
    return likeness(sketch(one), sketch(other)) is not None


def sketch(finding: Finding) -> Sketch:
    """Work out what comparing a finding needs."""
    location = finding.location
    first, last = 0, END_OF_FILE
    if location is not None and location.line is not None:
        first, last = location.line, max(location.line, location.last_line or 0)
    rules = listed(finding.rule)
    title = content_words(finding.title)
    return Sketch(
        finding=finding,
        file=location.file if location else None,
        first=first,
        last=last,
        reviewers=frozenset(finding.found_by or ("",)),
        rules=rules,
        kinds=rules | listed(finding.problem_class),
        title=title,
        text=title | content_words(finding.problem) if finding.problem else frozenset(),
        names=named_code(finding.title),
    )


def listed(names: str) -> frozenset[str]:
    """The rules or classes of a finding, one by one."""
    return frozenset(names.split(RULE_SEPARATOR)) if names else frozenset()


def likeness(one: Sketch, other: Sketch) -> Likeness | None:
    """How alike two findings are, or None where they are two problems."""
    if one.file != other.file:
        return None
    if one.finding.id and one.finding.id == other.finding.id:
        return _SAME_ID
    if one.first > other.last or other.first > one.last:
        return None
    titles, texts = similarity(one.title, other.title), similarity(one.text, other.text)
    relation = _relation(one, other, alike=titles >= ALIKE_TITLES or texts >= ALIKE_TEXTS)
    if relation is None:
        return None
    distance = abs(one.first - other.first) + abs(one.last - other.last)
    return Likeness(relation=relation, difference=1.0 - max(titles, texts), distance=distance)


def _relation(one: Sketch, other: Sketch, *, alike: bool) -> int | None:
    """What makes two findings in one place the same problem.

    A rule in a whole file says little: the file may break it ten times. So rules count only where both have lines.
    Titles that name different code (`os` is unused, `sys` is unused) are about different things, even for one rule;
    not so for several rules of a class, each of which names what it looks at.
    """
    other_code = bool(one.names and other.names and not one.names & other.names)
    if one.has_lines and other.has_lines and one.kinds & other.kinds:
        if one.rules != other.rules:
            return _SAME_RULE if one.rules & other.rules else _SAME_CLASS
        return None if other_code else _SAME_RULE
    # That an answer listed nothing is said of one reviewer: two such findings are alike only in their words.
    if alike and not other_code and not one.finding.synthetic and not other.finding.synthetic:
        return _ALIKE_TEXT
    return None
