"""Text from agents, people and the repository in a prompt: cut to a length, and fenced so that it stays data.

A fence opens with a line `<<<TOKEN label` and closes with the line `TOKEN>>>`. The token never occurs in what is
fenced: where it would, a longer one is taken. So nothing inside can close its own fence, whatever it says.
"""

import hashlib
import re
from enum import Enum

from burnish.core.text import without_escapes
from burnish.prompts.rendering import PromptError

MIN_NONCE = 8
_MAX_NAMES = 100
_DIFF_HEADER = re.compile(r"^diff --git .*$", re.MULTILINE)
_NONCE = re.compile(r"[A-Za-z0-9]+")
_LABEL = re.compile(r"[^A-Za-z0-9 ._/@+-]")
# Control characters, marks that change the direction of text or hide in it, and invisible copies of ASCII.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


class Keep(Enum):
    """Which end of a text that is too long is kept."""

    START = "start"
    END = "end"


def fence(text: str, nonce: str, label: str, *, limit: int | None = None, keep: Keep = Keep.START) -> str:
    """A text as data: cleaned, cut to the limit, and enclosed by lines that cannot occur in it."""
    if len(nonce) < MIN_NONCE or not _NONCE.fullmatch(nonce):
        raise PromptError(f"'{nonce}' cannot mark a fence.", hint=f"Use {MIN_NONCE} or more letters or digits.")
    name = _LABEL.sub("_", label)[:120].strip()
    body = visible(text).strip("\n")
    body = body if limit is None else shortened(body, limit, keep)
    token = _absent(nonce, f"{name}\n{body}")
    return f"<<<{token} {name}\n{body}\n{token}>>>"


def visible(text: str) -> str:
    """Text without escapes and with its line ends made equal. Characters that hide something are spelled out.

    They are not dropped in silence: in source code they are an attack of their own, which a reviewer must see.
    """
    if text.isprintable():  # nothing to do, and this costs next to nothing
        return text
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", without_escapes(text))


def shortened(text: str, limit: int, keep: Keep = Keep.START) -> str:
    """A text of at most `limit` characters, plus one line that says how many are missing."""
    if len(text) <= limit:
        return text
    if keep is Keep.START:
        kept = _whole_lines(text[:limit])
        return f"{kept}\n{_left_out(len(text) - len(kept))}"
    kept = _whole_lines(text[len(text) - limit :][::-1])[::-1]
    return f"{_left_out(len(text) - len(kept))}\n{kept}"


def nonce_for(material: object) -> str:
    """A token that depends on everything that is to be fenced.

    Text that holds its own token would have to hold a digest of itself. The same material always gives the same
    token, so that a prompt can be shown, and made again after a crash, exactly as it was sent.
    """
    return hashlib.sha256(repr(material).encode("utf-8", errors="replace")).hexdigest()[:16]


def _whole_lines(text: str) -> str:
    """The text up to its last line break, unless that would cost more than a tenth of it."""
    end = text.rfind("\n")
    return text[:end] if end >= len(text) * 0.9 else text


def _left_out(number: int) -> str:
    return f"… {number:,} characters left out"


def _absent(nonce: str, text: str) -> str:
    """The nonce, made longer until it does not occur in the text, in whatever case."""
    folded = text.casefold()
    token = nonce
    while token.casefold() in folded:
        token += hashlib.sha256(f"{token}\n{text}".encode()).hexdigest()[:8]
    return token


def shortened_diff(diff: str, limit: int) -> str:
    """At most `limit` characters of a diff, and then what was left out: how much, and of which files."""
    if len(diff) <= limit:
        return diff
    kept = diff[: _kept_of_diff(diff, limit)]
    lines = [kept, _left_out(len(diff) - len(kept))]
    headers = list(_DIFF_HEADER.finditer(diff))
    begun = [header for header in headers if header.start() < len(kept)]
    missing = [_path(header[0]) for header in headers[len(begun) :]]
    following = headers[len(begun)].start() if missing else len(diff)
    if begun and len(kept) < following - 1:  # the cut does not fall exactly between two files
        lines.append(f"Cut off in: {_path(begun[-1][0])}")
    if missing:
        more = f" and {len(missing) - _MAX_NAMES:,} more" if len(missing) > _MAX_NAMES else ""
        lines.append(f"Not shown at all: {', '.join(missing[:_MAX_NAMES])}{more}")
    return "\n".join(lines)


def files_shown_whole(diff: str, limit: int) -> int:
    """How many of the diff's files, from the first on, `shortened_diff` shows whole."""
    headers = [header.start() for header in _DIFF_HEADER.finditer(diff)]
    if len(diff) <= limit:
        return len(headers)
    kept = _kept_of_diff(diff, limit)
    return sum(1 for end in (*headers[1:], len(diff)) if end - 1 <= kept)


def _kept_of_diff(diff: str, limit: int) -> int:
    """How many characters are shown: up to the end of a line, where one is near."""
    end = diff.rfind("\n", 0, limit)
    return end if end >= limit * 0.9 else limit


def _path(header: str) -> str:
    """The path after the change, from `diff --git a/old b/new`."""
    names = header.removeprefix("diff --git ")
    half = len(names) // 2
    # Without a rename both halves are the same path, which may itself contain " b/".
    if names[:half].removeprefix("a/") == names[half + 1 :].removeprefix("b/"):
        return names[half + 1 :].removeprefix("b/")
    return names.rpartition(" b/")[2]
