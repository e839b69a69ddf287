"""Text of agents inside of markdown that we write: nothing in it becomes HTML, an image, a link or a mention.

It stays as readable as it was: code between backticks is left alone, as nothing is active there; what would become a
link by itself is put between backticks; of the rest, single characters are escaped.
"""

import re
from collections.abc import Iterator

_BACKTICKS = re.compile(r"\\.|`+")
_TAG = re.compile(r"\\?<(?![\s=]|$)")
_LINK = re.compile(r"\](?=[(\[:])")
_BY_ITSELF = re.compile(
    # the address of a page, of a person, a mention or what looks like one
    r"(?:\b(?:https?|ftp)://|\bwww\.|\b(?:mailto|xmpp):)[^\s<>`\\\[\]()]*[^\s<>`\\\[\]().,;:!?'\"]"
    r"|[\w.+-]+@[\w-]+\.[\w.-]*\w"
    r"|(?<![\w.])@[A-Za-z0-9][\w./-]*\b",
    re.IGNORECASE,
)


def inert(text: str) -> str:
    """One line of text, for any place inside of a line of markdown."""
    written = ""
    for piece, is_code in _pieces(text):
        # Two runs of backticks that meet would be one, and a backslash would take the first one away.
        gap = " " if piece.startswith("`") and written.endswith(("`", "\\")) else ""
        written += gap + (piece if is_code else _TAG.sub("&lt;", _LINK.sub(r"]\\", piece)))
    return written


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether each is code."""
    for piece, is_code in _spans(text):
        if is_code:
            yield piece, True
            continue
        place = 0
        for found in _BY_ITSELF.finditer(piece):
            yield piece[place : found.start()], False
            yield f"`{found[0]}`", True
            place = found.end()
        yield piece[place:], False


def _spans(text: str) -> Iterator[tuple[str, bool]]:
    """Code between two runs of as many backticks, as every reader finds it; a run without a partner is escaped."""
    place = searched = 0
    while found := _BACKTICKS.search(text, searched):
        searched = found.end()
        run = found[0]
        if run.startswith("\\"):
            continue
        closing = next((other for other in re.finditer("`+", text[searched:]) if other[0] == run), None)
        yield text[place : found.start()], False
        if closing is None:
            yield "\\`" * len(run), True
            place = searched
        else:
            place = searched = searched + closing.end()
            yield text[found.start() : place], True
    yield text[place:], False
