"""What a review concludes in words: the line or section with its recommendation. It can only make a reading worse."""

from enum import Enum

from burnish.contracts.markdown.lines import LineKind, list_mark
from burnish.contracts.markdown.outline import LISTING, Section, SectionKind
from burnish.contracts.markdown.patterns import Pattern, any_of, search, words
from burnish.contracts.markdown.severities import plain

_LABEL = Pattern(
    r"(?:final |overall |review |merge |my |approval )*"
    + words("recommendation verdict decision conclusion outcome assessment approval status result")
    + r"(?: status)?\s?[:=—–-]+\s*"
)
_LOOSE_LABEL = Pattern(r"(?:status|result|outcome|assessment)\b")
_REJECTION = (
    r"\brequest(?:ed|ing|s)? (?:\w+ )?changes",
    r"(?<!no )\bchanges? (?:are |is )?(?:requested|required|needed)",
    r"\bneeds? (?:\w+ )?(?:fix(?:es|ing)?|work|changes|revisions?|rework)",
    r"\b(?:do not|don't|cannot|can't|should not|must not) (?:be )?(?:merged?|approved?|ship(?:ped)?|proceed)",
    r"\bnot (?:yet )?(?:ready|approved?|mergeable|acceptable|recommended|clean)",
    r"\b(?:fix|fixes|revisions?|rework|action) (?:is |are )?required",
    r"\bmust (?:be )?(?:fix|address|resolv)",
)
"""Words that mean a rejection wherever they stand."""
_AGAINST = search(
    *_REJECTION,
    r"\b(?:reject|revise\b|concerns\b|unapproved\b|disapprove|no[- ]go\b)",
    r"(?<!no )(?<!non )(?<!not )\bblock(?:ed|s|ing|er)\b",
    r"(?<!0 )(?<!no )(?<!never )(?<!not )\bfail(?:ed|s|ure)?\b",
    "^fix\\b",
)
_FOR = search(
    rf"\b{words('approved? approval pass(?:ed|es)? accept(?:ed)? lgtm ship merge ready clean')}\b",
    r"\b(?:good to go|go ahead|no changes)\b",
)
_CONDITION = search(
    rf"\b{words('after once if provided pending conditional(?:ly)? contingent')}\b", r"\b(?:subject to|only when)\b"
)
_BARE_VERDICT = Pattern(
    any_of(
        words("approved? lgtm reject(?:ed)? pass(?:ed)? fail(?:ed)?"),
        "request changes",
        "changes requested",
        "do not merge",
        "not approved",
    )
    + r"[\s.!,]*"
)
_PLAIN_VERDICT = search(
    r"(?:conditional(?:ly)? )?approve",
    "request changes",
    "changes requested",
    "do not (?:merge|approve)",
    "not approved",
    "needs (?:work|changes|fixes)",
    "lgtm",
)
"""In a list of findings `Recommendation:` is a fix, unless it is a bare conclusion or begins with a plain one."""
_CRITICAL_DENIED = Pattern(r"\b(?:no|0|zero)\s+(?:\w+ ){0,2}critical")


class StatedVerdict(Enum):
    """What a conclusion comes to, from worst to best."""

    AGAINST_CRITICAL = "against, because of something critical"
    AGAINST = "against"
    CONDITIONAL = "for, on a condition"
    FOR = "for"


_ORDER = list(StatedVerdict)


_REJECTED_IN_PROSE = search(
    *_REJECTION,
    r"\b(?:would not|wouldn't|won't|will not|can not) (?:be )?(?:merge|approve|ship|recommend)",
    r"\b(?:should|needs? to|has to|have to|ought to) be (?:fixed|addressed|reworked|reverted|rejected)",
    r"\b(?:i|we) (?:\w+ )?(?:reject|disapprove|object)\b",
    r"\b(?:you|we|they) (?:should|must|need to|have to) (?:\w+ )?(?:fix|add|remove|change|handle|revert|validate)\b",
    r"\b(?:recommend|advise|vote)(?:s|d|ed)? against\b",
    r"\b(?:needs?|requires?) (?:another|more|further|a) (?:round|work|review|changes?|fix|rework|revision)",
    r"\bbefore (?:it is |this is |being )?(?:merged|merging|merge|shipping|release)\b",
)
_NOTHING_ASKED = Pattern(
    r"\b(?:no|nothing|none|without|zero)\b(?: [\w-]+){0,4}? (?:(?:should|must|needs? to|has to) be \w+"
    r"|required|requested|needed|necessary|needs \w+)(?: before (?:\w+ )?merg\w+)?"
)


def rejects(sentence: str) -> bool:
    """Whether a sentence in lower case, anywhere in a text, asks for changes or speaks against a merge."""
    return _REJECTED_IN_PROSE.search(_NOTHING_ASKED.sub(" ", sentence)) is not None


def read_verdict(sections: list[Section]) -> StatedVerdict | None:
    """The worst conclusion that the text draws; `None` where it draws none."""
    found = [verdict for section in sections for value in _values(section) if (verdict := _of(value)) is not None]
    return min(found, key=_ORDER.index, default=None)


def _values(section: Section) -> list[str]:
    """The texts in a section that can hold a conclusion."""
    if section.kind is SectionKind.FORMER:
        return []
    texts = [line.text for line in section.lines if line.kind in (LineKind.TEXT, LineKind.QUOTE)]
    values = [_labelled_value(section, text) for text in texts]
    if section.kind is SectionKind.VERDICT:
        values += [section.heading.partition(":")[2]]
        values += [line.text for line in section.lines if line.kind is LineKind.TEXT][:1]
    return values


def _labelled_value(section: Section, text: str) -> str:
    """What follows the label of a conclusion; empty where the line has none."""
    line = plain(list_mark(text[:600])[1])
    label = _LABEL.match(line)
    value = line[label.end() :] if label else ""
    if section.kind in LISTING:
        return value if _BARE_VERDICT.fullmatch(value) or _PLAIN_VERDICT.match(value) else ""
    return "" if section.kind is SectionKind.OTHER and _LOOSE_LABEL.match(line) else value


def _of(value: str) -> StatedVerdict | None:
    """Read one conclusion: the first word for or against decides, because what follows gives the reasons."""
    text = plain(value)[:400].replace("-", " ")
    first = text.partition(".")[0]
    against, favour = _AGAINST.search(text), _FOR.search(text)
    if against is not None and (favour is None or against.start() <= favour.start()):
        is_critical = "critical" in text and not _CRITICAL_DENIED.search(text)
        return StatedVerdict.AGAINST_CRITICAL if is_critical else StatedVerdict.AGAINST
    if favour is None:
        return None
    return StatedVerdict.CONDITIONAL if _CONDITION.search(first) else StatedVerdict.FOR
