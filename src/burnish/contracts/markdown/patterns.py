"""How the patterns of this package are put together, so that long lists of words stay readable."""

import re


def any_of(*alternatives: str) -> str:
    """A group that matches any of these patterns."""
    return f"(?:{'|'.join(alternatives)})"


def words(text: str) -> str:
    """A group that matches any of these words, given with blanks between them."""
    return any_of(*text.split())


def search(*alternatives: str) -> re.Pattern[str]:
    """A compiled pattern for any of these."""
    return re.compile(any_of(*alternatives))
