"""Reading a document: what cannot be read says where, and what to do."""

import pytest

from burnish.settings.documents import MAX_DOCUMENT_BYTES, DocumentError, key_text, read_document


def complaint(raw: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        read_document(raw, "mine.toml")
    assert caught.value.kind.exit_code == 2
    return caught.value.problems[0].text


def test_a_document_knows_values_and_lines() -> None:
    document = read_document(b"\xef\xbb\xbf[limits]\n\nreviews = 3\n", "mine.toml")
    assert document.values == {"limits": {"reviews": 3}}
    assert document.place_of(("limits", "reviews")).line == 3


def test_a_key_that_is_not_there_has_the_line_of_the_table_around_it() -> None:
    document = read_document(b"\n[limits]\nreviews = 3\n", "mine.toml")
    assert document.place_of(("limits", "hard_cap")).line == 2
    assert document.place_of(("gate",)).line == 1


UNREADABLE = {
    "no quotes": (b"a = 1\nb = x\n", ":2: Invalid value, at column 5.", 'Put text in quotes: key = "text".'),
    "no value": (
        b"a = 1\nb\n",
        ":2: Expected '=' after a key in a key/value pair, at column 2.",
        "Every key needs a value: key = value.",
    ),
    "key twice": (
        b"a = 1\na = 2",
        ":2: Cannot overwrite a value, at the end of the file.",
        "A key may be given only once; remove one of the two.",
    ),
    "table twice": (
        b"[a]\n[a]\n",
        ":2: Cannot declare ('a',) twice, at column 3.",
        "A table may be opened only once; put its keys together.",
    ),
    "open string": (
        b'a = """\nx\n\n',
        ":2: Unterminated string, at the end of the file.",
        "Check this line and the one above.",
    ),
    "not UTF-8": (b"a = 1\nb = '\xff'\n", ":2: The file is not UTF-8 text.", "Save it as UTF-8."),
    "too long": (
        b"a = 1\n" + b"#" * MAX_DOCUMENT_BYTES,
        ": The file is longer than 1,048,576 bytes.",
        "Is this the right file?",
    ),
    "too deep": (
        b"a = " + b"[" * 100_000 + b"]" * 100_000,
        ": The values are nested too deeply.",
        "A few levels are enough for settings.",
    ),
}


@pytest.mark.parametrize(("raw", "sentence", "hint"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_says_where_and_what_to_do(raw: bytes, sentence: str, hint: str) -> None:
    assert complaint(raw) == f"mine.toml{sentence} Hint: {hint}"


def test_a_number_without_end_is_an_error_of_the_document() -> None:
    assert complaint(b"a = " + b"9" * 5000).startswith("mine.toml: ")


def test_key_paths_read_as_one_would_write_them() -> None:
    assert key_text(("exhausted", "choices", 0, "key")) == "exhausted.choices[0].key"
    assert key_text(("a b", "c.d", "")) == '"a b"."c.d".""'
