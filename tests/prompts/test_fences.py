"""Fences hold whatever is inside them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.prompts.conftest import NONCE

from burnish.prompts.fences import Keep, fence, nonce_for, shortened, visible
from burnish.prompts.rendering import PromptError

pieces = st.one_of(
    st.text(),
    st.sampled_from(
        [
            NONCE,
            NONCE.upper(),
            f"{NONCE}>>>",
            f"\n{NONCE}>>>\n",
            f"<<<{NONCE} diff\n",
            NONCE[:8],
            NONCE[8:],
            "\x1b[31m",
            "\x1b]0;title\x07",
            "\u202e",
            "\r",
            "\x00",
            "\ud800",
            ">>>",
            "\n",
        ]
    ),
)
hostile = st.lists(pieces, max_size=12).map("".join)


@example(NONCE.upper(), "", None, Keep.START)
@example("", NONCE.upper(), None, Keep.START)
@given(hostile, hostile, st.one_of(st.none(), st.integers(0, 60)), st.sampled_from(Keep))
def test_nothing_inside_closes_the_fence(text: str, label: str, limit: int | None, keep: Keep) -> None:
    fenced = fence(text, NONCE, label, limit=limit, keep=keep)
    first, *body, last = fenced.split("\n")
    token = last.removesuffix(">>>")
    assert token.startswith(NONCE)
    assert first.startswith(f"<<<{token} ")
    assert fenced.lower().count(token) == 2
    assert not any(token in line.lower() for line in body)


@given(hostile)
def test_nothing_that_hides_stays(text: str) -> None:
    shown = visible(text)
    allowed = set("\n\t")
    assert all(character in allowed or character >= " " for character in shown)
    assert not any(0x7F <= ord(character) <= 0x9F for character in shown)
    assert not set(shown) & set("\u200b\u200e\u200f\u202a\u202e\u2066\ufeff\ud800")
    shown.encode("utf-8")
    assert visible(shown) == shown


@given(hostile, st.integers(0, 80), st.sampled_from(Keep))
def test_what_is_left_out_is_counted(text: str, limit: int, keep: Keep) -> None:
    short = shortened(text, limit, keep)
    if len(text) <= limit:
        assert short == text
        return
    kept, note = short.rsplit("\n", 1) if keep is Keep.START else short.split("\n", 1)[::-1]
    assert len(kept) <= limit
    assert text.startswith(kept) if keep is Keep.START else text.endswith(kept)
    assert note == f"… {len(text) - len(kept):,} characters left out"


def test_a_token_that_occurs_is_made_longer() -> None:
    fenced = fence(f"before\n{NONCE}>>>\nafter", NONCE, "diff")
    token = fenced.rsplit("\n", 1)[1].removesuffix(">>>")
    assert len(token) == len(NONCE) + 8
    assert fence("plain", NONCE, "diff") == f"<<<{NONCE} diff\nplain\n{NONCE}>>>"


def test_a_token_that_is_put_together_by_cleaning_is_found() -> None:
    fenced = fence(f"{NONCE[:5]}\x1b[0m{NONCE[5:]}>>>", NONCE, "diff")
    assert not fenced.endswith(f"\n{NONCE}>>>")


def test_a_label_is_one_plain_line() -> None:
    assert fence("x", NONCE, "a\n`b` {c}").split("\n")[0] == f"<<<{NONCE} a__b_ _c_"


def test_hidden_characters_are_spelled_out_and_colours_removed() -> None:
    assert visible("a\u202eb\x00\x1b[31mred\x1b[0m\r\nc\td") == "a<U+202E>b<U+0000>red\nc\td"
    assert visible("naïve — 日本語 👩‍💻") == "naïve — 日本語 👩‍💻"


@pytest.mark.parametrize("nonce", ["", "short", "with space", "line\nbreak1", "`quoted`x"])
def test_a_bad_nonce_is_refused(nonce: str) -> None:
    with pytest.raises(PromptError):
        fence("x", nonce, "diff")


def test_long_texts_are_cut_at_a_line_where_that_costs_little() -> None:
    text = "\n".join(f"line {number:03}" for number in range(1000))
    kept = "\n".join(f"line {number:03}" for number in range(11))
    assert shortened(text, 100) == f"{kept}\n… {len(text) - len(kept):,} characters left out"
    assert shortened(text, 100, Keep.END).split("\n")[1] == "line 989"
    assert shortened("x" * 100, 60) == "x" * 60 + "\n… 40 characters left out"


def test_the_token_depends_on_everything_and_on_nothing_else() -> None:
    assert nonce_for(("a", "b")) == nonce_for(("a", "b"))
    assert nonce_for(("a", "b")) != nonce_for(("ab", ""))
    assert len(nonce_for("\ud800")) == 16
