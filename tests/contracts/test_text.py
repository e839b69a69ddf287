"""Bytes of an agent become harmless text, and nothing that a person could see is lost on the way."""

import pytest

from burnish.contracts.text import MAX_ANSWER_BYTES, UnreadableError, bounded, decode
from burnish.core.text import clean_text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc"),
        (b"a\x00b\x07c\x7fd", "abcd"),
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        (b"\x1b]0;title\x1b\\after", "after"),
        (b"bad \xff byte", "bad \ufffd byte"),
        ("left\u202eright\u2066\u200f".encode(), "leftright"),
        ("hidden\U000e0041\U000e0042".encode(), "hidden"),
        (b"tab\tstays", "tab\tstays"),
    ],
)
def test_decoding(raw: bytes, text: str) -> None:
    assert decode(raw) == text


def test_an_escape_without_an_end_hides_nothing() -> None:
    assert clean_text("ok\x1b]0; CRITICAL: x\n1. CRITICAL: y") == "ok0; CRITICAL: x\n1. CRITICAL: y"


def test_a_carriage_return_in_a_field_is_a_line_end() -> None:
    assert clean_text("one\rtwo\r\nthree") == "one\ntwo\nthree"


def test_halves_of_surrogate_pairs_are_replaced() -> None:
    assert clean_text("a\ud800b") == "a\ufffdb"


@pytest.mark.parametrize("raw", [b"", b" \n\t ", b"\x00\x1b[0m", b"\xef\xbb\xbf"])
def test_an_empty_answer_is_unreadable(raw: bytes) -> None:
    with pytest.raises(UnreadableError, match="empty"):
        decode(raw)


def test_an_answer_beyond_the_limit_is_unreadable() -> None:
    with pytest.raises(UnreadableError, match="at most"):
        decode(b"x" * (MAX_ANSWER_BYTES + 1))


def test_a_long_field_is_cut_and_says_so() -> None:
    assert bounded("  " + "x" * 20, 10) == "x" * 10 + " … (cut)"
    assert bounded(" x ", 10) == "x"
