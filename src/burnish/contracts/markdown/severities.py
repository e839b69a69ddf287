"""The words that reviewers use for severities, and nothing else about a review.

Critical, blocker, must fix, P0 → critical. Important, high, major, should fix, P1 → high. Medium, moderate, warning,
P2 → medium. Minor, low, trivial, optional, suggestion, nice to have, P3 → low. Nit, note, info → info. `Must fix` and
the like only count where no severity is named beside them: "Important Issues (Must Fix)" is high. "Non-critical" is
medium, "non-blocking" low.
"""

import re
from functools import lru_cache

from burnish.core.findings import Severity

_WORDS: dict[str, Severity] = {
    **dict.fromkeys(
        ("critical", "criticals", "blocker", "blockers", "blocking", "p0", "sev0", "fatal"), Severity.CRITICAL
    ),
    **dict.fromkeys(("important", "high", "major", "majors", "severe", "p1", "sev1", "error", "errors"), Severity.HIGH),
    **dict.fromkeys(("medium", "moderate", "p2", "sev2", "warning", "warnings", "noncritical"), Severity.MEDIUM),
    **dict.fromkeys(("minor", "minors", "low", "trivial", "optional", "p3", "sev3", "nonblocking"), Severity.LOW),
    **dict.fromkeys(("suggestion", "suggestions", "nicetohave", "improvement", "improvements"), Severity.LOW),
    **dict.fromkeys(("nit", "nits", "nitpick", "nitpicks", "note", "info", "informational", "p4"), Severity.INFO),
}
_WEAK_WORDS: dict[str, Severity] = {"mustfix": Severity.CRITICAL, "shouldfix": Severity.HIGH, "couldfix": Severity.LOW}
"""Phrases that only count where no severity is named beside them."""
_NOT_IN_HEADINGS = frozenset(("error", "errors", "warning", "warnings", "note", "improvement", "improvements"))
"""Words that name a severity in a tag, but a topic in a heading."""

_PHRASES = (
    (re.compile(r"\bnon[\s-]critical\b"), "noncritical"),
    (re.compile(r"\bnon[\s-]blocking\b"), "nonblocking"),
    (re.compile(r"\bmust[\s-](?:be[\s-])?(?:fix(?:ed)?|address(?:ed)?)\b"), "mustfix"),
    (re.compile(r"\bshould[\s-](?:be[\s-])?(?:fix(?:ed)?|address(?:ed)?)\b"), "shouldfix"),
    (re.compile(r"\b(?:could|can|may)[\s-](?:be[\s-])?fix(?:ed)?\b"), "couldfix"),
    (re.compile(r"\bnice[\s-]to[\s-]haves?\b"), "nicetohave"),
)


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_FILLERS = _set(
    "issue issues finding findings problem problems bug bugs concern concerns item items defect defects violation",
    "violations vulnerability vulnerabilities risk risks comment comments flaw flaws gap gaps fix fixes change changes",
    "regression regressions required request requests observation observations blocker blockers feedback",
    "priority severity level found identified remaining new open still total count number the and or of for code",
    "review reviews list here in this before merge merging immediately consider if time permits none no zero there are",
    "were is a an to must should nice have be fixed addressed round left outstanding detected reported",
)
_SAYS_NO_MORE = _FILLERS | _WORDS.keys() | _WEAK_WORDS.keys()
_NOUNS = _set(
    "issues findings problems bugs concerns items defects violations vulnerabilities risks flaws gaps regressions",
    "blockers errors",
)
_PARENTHESES = re.compile(r"\([^)]*\)?")
_ITEM_NUMBER = re.compile(r"#\d+")
_TOKEN = re.compile(r"[a-z]+[0-9]?|\d+")
_DECORATION = str.maketrans("*_`~", "    ")
_SYMBOLS = re.compile("[\u2190-\u2bff\ufe0e\ufe0f\u200b-\u200d\U0001f000-\U0001faff]+")
_WORD_NUMBERS = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
} | {"no": 0, "none": 0, "nil": 0, "n/a": 0, "a": 1, "an": 1}


def plain(text: str) -> str:
    """Lower case, without emphasis, code marks and symbols; for comparing with words, never for showing."""
    undecorated = text.translate(_DECORATION)
    return " ".join((undecorated if text.isascii() else _SYMBOLS.sub(" ", undecorated)).lower().split())


def number_of(word: str) -> int | None:
    """A count, in digits or as a word."""
    return int(word) if word.isdecimal() and len(word) <= 6 else _WORD_NUMBERS.get(word)


@lru_cache(maxsize=1_024)
def severity_of_word(word: str) -> Severity | None:
    """The severity that one word or one short phrase names, as in a tag or the cell of a table."""
    joined = _joined(plain(word)).strip(" .:!()[]<>")
    joined = joined.removesuffix(" severity").removesuffix(" priority").removeprefix("severity").strip(" :")
    return _WORDS.get(joined) or _WEAK_WORDS.get(joined)


def worst(*severities: Severity | None) -> Severity | None:
    return min((severity for severity in severities if severity), key=lambda known: known.rank, default=None)


def _joined(text: str) -> str:
    for pattern, word in _PHRASES:
        text = pattern.sub(word, text)
    return text


def _severities(tokens: list[str]) -> list[Severity]:
    strong = [_WORDS[token] for token in tokens if token in _WORDS and token not in _NOT_IN_HEADINGS]
    return strong or [_WEAK_WORDS[token] for token in tokens if token in _WEAK_WORDS]


def named_severity(text: str) -> Severity | None:
    """The worst severity that is named anywhere in a short text."""
    return worst(*_severities(_TOKEN.findall(_joined(plain(text)))))


def bare_severity(text: str) -> Severity | None:
    """The severity of a heading that announces findings and says nothing else; `None` for any other."""
    severity, left_over, _ = _read_heading(text)
    return None if left_over else severity


def heading_severity(text: str) -> Severity | None:
    """The severity of a heading that announces findings, perhaps of one area: "Critical Security Issues"."""
    severity, left_over, outside = _read_heading(text)
    return None if left_over and not _leads(outside) else severity


def _read_heading(text: str) -> tuple[Severity | None, bool, list[str]]:
    """The severity that a heading names, whether it names anything else, and its words outside parentheses."""
    joined = _joined(plain(text))
    outside = _TOKEN.findall(_PARENTHESES.sub(" ", joined))
    every = _TOKEN.findall(joined)
    severity = worst(*(_severities(outside) or _severities(every)))
    left_over = (token for token in every if not token.isdecimal())
    return severity, not _SAYS_NO_MORE.issuperset(left_over), outside


def _leads(tokens: list[str]) -> bool:
    """Whether a severity stands before or after the noun it belongs to: "critical security issues", "issues: high"."""
    nouns = [place for place, token in enumerate(tokens) if token in _NOUNS]
    places = [place for place, token in enumerate(tokens) if token in _WORDS and token not in _NOT_IN_HEADINGS]
    return any(-3 <= place - noun <= 1 for noun in nouns for place in places) if len(tokens) <= 8 else False


def heading_count(text: str) -> int | None:
    """How many findings a heading promises, as in "Critical Issues (2)"; not the number of a round or an item."""
    tokens = _TOKEN.findall(_ITEM_NUMBER.sub(" ", plain(text)))
    for place, token in enumerate(tokens):
        if token.isdecimal() and (place == 0 or tokens[place - 1] != "round"):
            return number_of(token)
    return 0 if "none" in tokens or (tokens and tokens[0] in ("no", "zero")) else None
