"""What a review says of its own size: counts by severity and in total, in lists, tables, sentences or headings.

A claim never replaces what is listed; where it is larger, `burnish.contracts.findings` makes up the difference.
"""

import re

from burnish.contracts.markdown.denials import sentences
from burnish.contracts.markdown.lines import Line, LineKind, list_mark
from burnish.contracts.markdown.outline import Section, SectionKind
from burnish.contracts.markdown.patterns import Pattern, any_of, words
from burnish.contracts.markdown.severities import number_of, plain, severity_of_word
from burnish.core.findings import Severity

_SEVERITY = any_of(
    words(
        "critical blockers? blocking important high major medium moderate minor low suggestions? nits? nitpicks? info"
    ),
    words("informational p[0-4] must[-\\s]fix should[-\\s]fix nice[-\\s]to[-\\s]haves?"),
)
_NUMBER = words(r"\d{1,6} none zero no nil n/a one two three four five six seven eight nine ten eleven twelve")
_THINGS = words("issues? findings? problems? items? bugs? concerns?")
_KIND = rf"(?:[ -](?:severity|priority|level))?(?: {_THINGS})?"
_LABEL_FIRST = Pattern(
    rf"\b({_SEVERITY}){_KIND}(?: ?\([^)0-9]{{0,30}}\))?(?: (?:found|remaining|count|left|open))?"
    rf"\s?[:=]\s?({_NUMBER})(?![\w.])"
)
_NUMBER_FIRST = Pattern(rf"(?<![\w.#])({_NUMBER})\s(?:new |remaining |open )?({_SEVERITY})(?!\w)")
_TOTAL = Pattern(
    rf"\b(?:total(?: (?:number of )?(?:findings|issues|problems))?|findings|issues(?: found)?)"
    rf"\s?[:=]\s?({_NUMBER})(?![\w.])"
)
_FOUND = Pattern(
    rf"\b(?:found|identified|total of|reported|there are)\s(?:\w+ )?({_NUMBER})\s(?:\w+ )?"
    r"(?:findings|issues|problems)\b"
)
_PAST = Pattern(
    rf"\b{words('fixed resolved addressed previous prior earlier verified former(?:ly)? had was were deferred')}\b"
    r"|\bround \d"
)
_SETTLED_TAIL = Pattern(
    r"\W{0,4}(?:all |both |now )?(?:[\w#-]+ ){0,6}?(?:have been |were |now )?(?:fixed|resolved|addressed)\b"
)
_PARTLY = Pattern(r"\b(?:not|un|partially|\d+)\b[^)]{0,12}(?:fixed|resolved|addressed)")
_LEFT = Pattern(r"\b(\d{1,6}|none|no) (?:remain(?:ing|s)?|left|open|unresolved)\b")
_FIXED_COUNT = Pattern(r"\b(\d{1,6}) (?:fixed|resolved|addressed)\b")
_FOUND_AND_FIXED = Pattern(r"\W{0,3}found\W{1,4}(\d{1,6}) (?:fixed|resolved|addressed)\b")
"""The form that sessions are asked for: `CRITICAL: 2 found, 1 fixed`."""
_LONE = Pattern(
    r"\W{0,6}(?:$|[(—–,|/;-]|(?:in )?"
    rf"{words('found issues? findings? problems? remain(?:s|ing)? left open new outstanding items? total')}\b)"
)
"""What may follow a count in a line that is nothing but a count."""
_MAX_PLAIN_CLAIM = 400


class Claims:
    """The largest number that the text gives for each severity, for must-fix findings together, and in all."""

    def __init__(self) -> None:
        self.by_severity: dict[Severity, int] = {}
        self.must_fix: int | None = None
        self.total: int | None = None

    @property
    def any(self) -> bool:
        return bool(self.by_severity) or self.must_fix is not None or self.total is not None

    def add(self, severity: Severity, number: int) -> None:
        self.by_severity[severity] = max(number, self.by_severity.get(severity, 0))

    def denies_must_fix(self) -> bool:
        """Whether the text says in numbers that nothing must be fixed."""
        if self.total == 0 or self.must_fix == 0:
            return True
        return self.by_severity.get(Severity.CRITICAL) == 0 and self.by_severity.get(Severity.HIGH) == 0

    def denies(self, severity: Severity) -> bool:
        """Whether the text says in numbers that there is nothing of this severity."""
        denied = self.by_severity.get(severity) == 0 or self.total == 0
        return denied or (severity.at_least(Severity.HIGH) and self.must_fix == 0)


def take_claims(sections: list[Section]) -> Claims:
    """Read every claim, and take lines that are nothing but a claim out of their section."""
    claims = Claims()
    for section in sections:
        if section.kind is SectionKind.FORMER:
            continue
        _from_heading(section, claims)
        section.lines = [line for line in section.lines if not _is_claim(section, line, claims)]
    return claims


def _from_heading(section: Section, claims: Claims) -> None:
    if section.kind is SectionKind.SUMMARY:
        _in_sentence(section.heading, claims)
    elif section.severity is not None and section.promised:
        claims.add(section.severity, section.promised)


def _is_claim(section: Section, line: Line, claims: Claims) -> bool:
    if line.kind is not LineKind.TEXT:
        return False
    in_summary = section.kind in (SectionKind.SUMMARY, SectionKind.VERDICT)
    if in_summary:
        for sentence in sentences(line.text):
            _in_sentence(sentence, claims)
        return False
    if len(line.text) > _MAX_PLAIN_CLAIM or not any(character in line.text for character in ":="):
        return False
    if not is_count(line.text):
        return False
    _in_sentence(line.text, claims)
    return True


def counts_something(sentence: str) -> bool:
    """Whether a sentence counts findings, of any severity or in all, and not to zero."""
    claims = Claims()
    _in_sentence(sentence, claims)
    return any((*claims.by_severity.values(), claims.must_fix, claims.total))


def is_count(line: str) -> bool:
    """Whether a line is nothing but a count, such as `- **Critical:** 2 (one of them new)`."""
    text = plain(list_mark(line)[1])
    found = _TOTAL.match(text) or _LABEL_FIRST.match(text)
    return found is not None and _LONE.match(text, found.end()) is not None


def _in_sentence(sentence: str, claims: Claims) -> None:
    """Take in every count of a sentence or of a line of a list."""
    text = plain(sentence)
    total = _TOTAL.search(text)
    if total:
        claims.total = max(claims.total or 0, _remaining(total[1], text[total.end() :]))
    labels = list(_LABEL_FIRST.finditer(text))
    ends = [*(found.start() for found in labels[1:]), len(text)]
    for found, end in zip(labels, ends, strict=False):
        # "Critical: no validation of the token" counts nothing.
        if found[2].isdecimal() or _LONE.match(text, found.end()):
            _add(claims, found[1], _remaining(found[2], text[found.end() : end]))
    if labels or _PAST.search(text):
        return
    for found in _NUMBER_FIRST.finditer(text):
        _add(claims, found[2], number_of(found[1]) or 0)
    if not total and (found := _FOUND.search(text)):
        claims.total = max(claims.total or 0, number_of(found[1]) or 0)


def _add(claims: Claims, word: str, number: int) -> None:
    if re.fullmatch(r"must[- ]fix", word):
        claims.must_fix = max(claims.must_fix or 0, number)
    elif severity := severity_of_word(word):
        claims.add(severity, number)


def _remaining(word: str, tail: str) -> int:
    """The count that is left, where what follows it says that some were settled: "2 (all resolved)" leaves none."""
    number = number_of(word) or 0
    tail = tail[:160].partition(". ")[0]
    if left := _LEFT.search(tail):
        return number_of(left[1]) or 0
    pair = _FOUND_AND_FIXED.match(tail)
    if pair and int(pair[1]) < number:
        return number - int(pair[1])
    if counted := _FIXED_COUNT.search(tail):
        tail, settled = tail.replace(counted[0], ""), int(counted[1]) >= number
    else:
        settled = _SETTLED_TAIL.match(tail) is not None
    return 0 if settled and not _PARTLY.search(tail) else number
