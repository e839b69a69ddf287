"""Marks at the beginning of an item: a severity such as `[HIGH]`, or a name such as `R1:` and `**C2.**`."""

import re
from functools import lru_cache

from burnish.contracts.markdown.severities import severity_of_word
from burnish.core.findings import Severity
from burnish.core.values import Value

_MAX_TAG = 40
_TAG = re.compile(
    "(?P<opening>[*_`\\[(< \u2190-\u2bff\ufe0f\U0001f000-\U0001faff]{0,40}+)"
    r"(?P<word>(?i:(?:must|should|nice|could)[\s-](?:fix|to[\s-]have))|[A-Za-z]{3,13}|P[0-4])"
    r"(?:[\s-](?:severity|priority|issue|finding))?(?:[\s-]{0,20}#?\d{1,3})?"
    r"(?P<closing>[\s*_`\])>]*(?P<separator>:|—|–|-{1,2}\s|\.\s|$)?[\s*_`\])>:]*)"
)
_LEAD = re.compile(
    r"[*_\[(]{0,3}(?:(?:finding|issue|problem|item|bug|#)\s?#?\d{1,3}|[A-Z]{1,4}-?\d{1,3}[a-z]?|#?\d{1,3}(?:\.\d{1,3}){0,3})"
    r"[*_\])]{0,3}(?:[.:)]|\s[—–-])[*_]{0,2}(?:\s+|$)",
    re.IGNORECASE,
)


_ORDINARY = frozenset(("note", "error", "errors", "warning", "warnings"))
"""Words that begin a remark as often as a finding; only brackets make them a severity beyond doubt."""


class Tag(Value):
    """A severity at the beginning of an item, and the text behind it."""

    severity: Severity
    rest: str
    strict: bool
    """In brackets, in bold or in capitals: it can hardly be the first word of a sentence."""


@lru_cache(maxsize=1_024)
def leading_tag(text: str) -> Tag | None:
    found = _TAG.match(text)
    severity = severity_of_word(found["word"]) if found else None
    if found is None or severity is None:
        return None
    opening, word, closing = found["opening"], found["word"], found["closing"]
    bracketed = ("[" in opening and "]" in closing) or ("(" in opening and ")" in closing)
    bold = "**" in opening and "**" in closing
    separated = found["separator"] or ":" in closing or (bold and word.isupper())
    ordinary = word.lower() in _ORDINARY
    if not bracketed and (not separated or (ordinary and word.lower() != "note")):
        return None
    strict = bracketed or (not ordinary and (bold or word.isupper()))
    return Tag(severity=severity, rest=text[found.end() :].strip(), strict=strict)


@lru_cache(maxsize=1_024)
def item_lead(text: str) -> tuple[str, str]:
    """The number or name that an item begins with, such as `R1:` or `**C2.**`, and the text behind it."""
    found = _LEAD.match(text[:_MAX_TAG])
    if not found:
        return "", text
    return found.group().strip(), text[found.end() :].strip()
