"""Marks at the beginning of an item: a severity such as `[HIGH]`, or a name such as `R1:` and `**C2.**`."""

import re
from functools import lru_cache

from burnish.contracts.markdown.severities import severity_of_word
from burnish.core.findings import Severity
from burnish.core.values import Value

_MAX_TAG = 40
_LEADING = re.compile(f"[{re.escape('*_`[(<')} \u2190-\u2bff\ufe0f\U0001f000-\U0001faff]*")
_WORD = re.compile(
    r"((?i:(?:must|should|nice|could)[\s-](?:fix|to[\s-]have))|[A-Za-z]{3,13}|P[0-4])(?:[\s-](?:severity|priority|issue|finding))?"
    r"(?:[\s-]*#?(\d{1,3}))?"
)
_CLOSING = re.compile(r"[\s*_`\])>]*(:|—|–|-{1,2}\s|\.\s|$)?[\s*_`\])>:]*")
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
    """The severity that an item begins with."""
    start = _LEADING.match(text[:_MAX_TAG])
    begin = start.end() if start else 0
    word = _WORD.match(text, begin, begin + _MAX_TAG)
    severity = severity_of_word(word.group(1)) if word else None
    if word is None or severity is None:
        return None
    closing = _CLOSING.match(text, word.end())
    after = text[word.end() : closing.end()] if closing else ""
    opening = text[:begin]
    bracketed = ("[" in opening and "]" in after) or ("(" in opening and ")" in after)
    bold = "**" in opening and "**" in after
    separated = bool(closing and closing.group(1)) or ":" in after
    if not (bracketed or separated or (bold and word.group(1).isupper())):
        return None
    ordinary = word.group(1).lower() in _ORDINARY
    if ordinary and not bracketed and word.group(1).lower() != "note":
        return None
    strict = bracketed or (not ordinary and (bold or word.group(1).isupper()))
    return Tag(severity=severity, rest=text[word.end() + len(after) :].strip(), strict=strict)


@lru_cache(maxsize=1_024)
def item_lead(text: str) -> tuple[str, str]:
    """The number or name that an item begins with, such as `R1:` or `**C2.**`, and the text behind it."""
    found = _LEAD.match(text[:_MAX_TAG])
    if not found:
        return "", text
    return found.group().strip(), text[found.end() :].strip()
