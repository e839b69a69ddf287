"""The relation by which findings were the same problem in runs that began under older rules.

A ledger is replayed under the rules of its run: later events name findings by ids that depend on what was merged.
New runs use `burnish.core.problems`, which tells more problems apart.
"""

from burnish.core.findings import Finding
from burnish.core.problems import SAME_CLASS, SAME_ID, SAME_RULE, Likeness, Sketch, placed
from burnish.core.words import content_words, named_code, similarity

_ALIKE_TITLES = 2 / 3
_ALIKE_TEXTS = 1 / 2
_ALIKE_TEXT = 3


def sketch(finding: Finding) -> Sketch:
    """Work out what comparing a finding needs."""
    return placed(finding, _title(finding) | _text(finding))


def likeness(one: Sketch, other: Sketch) -> Likeness | None:
    """How alike two findings are, or None where they are two problems."""
    if one.file != other.file:
        return None
    if one.finding.id and one.finding.id == other.finding.id:
        return SAME_ID
    if one.apart(other):
        return None
    titles = similarity(_title(one.finding), _title(other.finding))
    texts = similarity(_text(one.finding), _text(other.finding))
    relation = _relation(one, other, alike=titles >= _ALIKE_TITLES or texts >= _ALIKE_TEXTS)
    if relation is None:
        return None
    distance = abs(one.first - other.first) + abs(one.last - other.last)
    return Likeness(relation=relation, difference=1.0 - max(titles, texts), distance=distance)


def contradict(_one: Sketch, _other: Sketch) -> bool:
    """Nothing kept two groups apart but who had spoken in them."""
    return False


def _title(finding: Finding) -> frozenset[str]:
    return content_words(finding.title)


def _text(finding: Finding) -> frozenset[str]:
    """The words of title and problem; none without a problem, because then the title had to do."""
    return _title(finding) | content_words(finding.problem) if finding.problem else frozenset()


def _relation(one: Sketch, other: Sketch, *, alike: bool) -> int | None:
    names, other_names = named_code(one.finding.title), named_code(other.finding.title)
    other_code = bool(names and other_names and not names & other_names)
    if one.has_lines and other.has_lines and one.kinds & other.kinds:
        if one.rules != other.rules:
            return SAME_RULE if one.rules & other.rules else SAME_CLASS
        return None if other_code else SAME_RULE
    if alike and not other_code and not one.finding.synthetic and not other.finding.synthetic:
        return _ALIKE_TEXT
    return None
