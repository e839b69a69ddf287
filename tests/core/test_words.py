"""What counts as a word of a problem, and what does not."""

import pytest

from burnish.core.finding_identity import MAX_TEXT, content_words, named_code, similarity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Missing null check in parse()", "parse() is missing a null check"),
        ("1. **SQL injection** in `get_user`", "SQL injection in get_user"),
        ("R1: Race on `counter`", "[HIGH] race on counter"),
        ("Unchecked index at line 42", "Unchecked index at lines 50-52"),
        ("Leak in api.py:42:7", "Leak in api.py:9"),
        ("Leak, see L12-L14", "leak see"),
        ("The user's name isn’t checked", "User name is not checked"),
        ("**Un**checked *index*", "unchecked index"),
        ("ﬁle handle can't close", "File handle not close"),
    ],
)
def test_wordings_of_one_title_have_the_same_words(one: str, other: str) -> None:
    assert content_words(one) == content_words(other) != frozenset()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Input is validated", "Input is not validated"),
        ("Status 404 is swallowed", "Status 500 is swallowed"),
        ("`os` is unused", "`sys` is unused"),
        ("Variable s is unused", "Variable is unused"),
        ("Port localhost:8080 is fixed", "Port localhost:9090 is fixed"),
        ("Unused x", "Unused y"),
    ],
)
def test_titles_of_two_problems_have_different_words(one: str, other: str) -> None:
    assert content_words(one) != content_words(other)


def test_a_text_of_marks_and_stop_words_has_no_words() -> None:
    assert content_words("** it is `the` … ??") == frozenset()


def test_only_the_start_of_a_long_text_counts() -> None:
    assert content_words("leak " + "x" * MAX_TEXT * 1000) == {"leak", "x" * (MAX_TEXT - len("leak "))}


def test_named_code_is_what_is_quoted_or_spelled_like_code() -> None:
    text = "`Foo.bar` and 'baz' and \"qux\" call get_user and parseInt and _private, not plain Words, line 4 or 17"
    assert named_code(text) == {"foo", "bar", "baz", "qux", "get_user", "parseint", "_private"}


def test_an_apostrophe_is_no_quote() -> None:
    assert named_code("It doesn't close and isn't freed") == frozenset()


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("a b c", "b c d", 0.5), ("a b", "a b", 1.0), ("a", "b", 0.0), ("", "", 0.0)],
)
def test_similarity_is_the_share_of_common_words(one: str, other: str, share: float) -> None:
    assert similarity(set(one.split()), set(other.split())) == share
