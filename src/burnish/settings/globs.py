"""Patterns for files of a repository: which files a rule concerns, and which are left out of a review.

`*` and `?` stay within one folder, `**` does not. Everything else is literal, brackets too: they are common in names
of files and rare in patterns. A pattern without a slash matches in every folder; a folder stands for all that is in it.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from burnish.settings.types import PathRule, ReviewSettings

_PART = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_MEANINGS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, pattern: str) -> bool:
    """Whether a path, relative to the root and with slashes, is meant by a pattern."""
    return _compiled(pattern).fullmatch(path) is not None


def rules_for(review: ReviewSettings, files: Iterable[str]) -> tuple[PathRule, ...]:
    """The rules that concern at least one of the files, in the order of the configuration."""
    paths = list(files)
    return tuple(rule for rule in review.rules if any(matches(path, rule.path) for path in paths))


def ignored(review: ReviewSettings, files: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in files if _any_matches(path, review.ignore))


def _any_matches(path: str, patterns: Sequence[str]) -> bool:
    return any(matches(path, pattern) for pattern in patterns)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    text = pattern.removeprefix("./").removesuffix("/")
    anywhere = "" if "/" in text else "(?:.*/)?"
    parts = (_MEANINGS.get(part) or re.escape(part) for part in _PART.findall(text))
    return re.compile(f"{anywhere}{''.join(parts)}(?:/.*)?", re.DOTALL)
