"""What a sentence about a problem is about: its content words and the code that it names.

Reviewers word the same problem in many ways. Identity needs a form that small changes of wording leave alone, and
merging a measure of how alike two texts are. Both start here, so that they agree on what a word is. Nothing here
knows findings, and nothing tries to understand a sentence: equal sets of words are all there is.
"""

import re
import unicodedata
from collections.abc import Set as AbstractSet

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
