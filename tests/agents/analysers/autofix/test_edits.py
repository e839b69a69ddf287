"""Edits are exact: one result whatever their order, and every byte that no edit names stays."""

from hypothesis import given
from hypothesis import strategies as st

from burnish.agents.panel.autofix.edits import Span, apply, clash, spans_of, why_untouchable
from burnish.agents.panel.interface import TextEdit

_TEXTS = st.text(alphabet="ab é𝒳\t\x0c\u2028", max_size=8)


def _file(mark: bytes, lines: list[str], ending: str) -> bytes:
    return mark + ending.join(lines).encode()


_FILES = st.builds(
    _file,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(_TEXTS, min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
)


@st.composite
def _edits_of_a_file(draw: st.DrawFn) -> tuple[bytes, list[TextEdit]]:
    """A file, and edits in it that are apart from each other, in any order."""
    content = draw(_FILES)
    lines = content.removeprefix(b"\xef\xbb\xbf").decode().split("\n")
    places = [(row, column) for row, line in enumerate(lines, 1) for column in range(1, len(line) + 2)]
    ends = sorted(draw(st.lists(st.sampled_from(places), unique=True, max_size=8)))
    pairs = zip(ends[::2], ends[1::2], strict=False)
    made = [TextEdit(line=a, column=b, end_line=c, end_column=d, text=draw(_TEXTS)) for (a, b), (c, d) in pairs]
    return content, draw(st.permutations(made))


def _by_hand(content: bytes, edits: list[TextEdit]) -> bytes:
    """The same by characters and from the end to the beginning."""
    mark = b"\xef\xbb\xbf" if content.startswith(b"\xef\xbb\xbf") else b""
    text = content[len(mark) :].decode()
    lines = text.split("\n")

    def place(row: int, column: int) -> int:
        return sum(len(line) + 1 for line in lines[: row - 1]) + column - 1

    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        start, end = place(edit.line, edit.column), place(edit.end_line, edit.end_column)
        text = text[:start] + edit.text + text[end:]
    return mark + text.encode()


@given(_edits_of_a_file())
def test_edits_mean_the_same_in_any_order(case: tuple[bytes, list[TextEdit]]) -> None:
    content, edits = case
    spans = spans_of(content, edits)
    assert spans is not None
    assert apply(content, spans) == apply(content, reversed(spans)) == _by_hand(content, edits)


@given(_edits_of_a_file())
def test_bytes_outside_the_edits_are_unchanged(case: tuple[bytes, list[TextEdit]]) -> None:
    content, edits = case
    spans = spans_of(content, edits)
    assert spans is not None
    after, place, shift = apply(content, spans), 0, 0
    for span in (*spans, Span(len(content), len(content), b"")):
        assert after[place + shift : span.start + shift] == content[place : span.start]
        place, shift = span.end, shift + len(span.text) - (span.end - span.start)
    assert len(after) == len(content) + shift


@given(_FILES, st.integers(-2, 12), st.integers(-2, 12), st.integers(-2, 12), st.integers(-2, 12))
def test_an_edit_is_inside_the_file_or_refused(content: bytes, row: int, column: int, last: int, end: int) -> None:
    spans = spans_of(content, [TextEdit(line=row, column=column, end_line=last, end_column=end, text="!")])
    lines = content.removeprefix(b"\xef\xbb\xbf").decode().split("\n")
    inside = [1 <= r <= len(lines) and 1 <= c <= len(lines[r - 1]) + 1 for r, c in ((row, column), (last, end))]
    assert (spans is not None) == (all(inside) and (row, column) <= (last, end))


def test_edits_of_one_fix_that_overlap_are_refused() -> None:
    edits = [
        TextEdit(line=1, column=1, end_line=1, end_column=4, text=""),
        TextEdit(line=1, column=3, end_line=1, end_column=5, text=""),
    ]
    assert spans_of(b"abcdef", edits) is None


def test_what_one_fix_inserts_in_one_place_keeps_its_order() -> None:
    edits = [TextEdit(line=1, column=2, end_line=1, end_column=2, text=text) for text in ("1", "2")]
    spans = spans_of(b"ab", edits)
    assert spans is not None
    assert apply(b"ab", spans) == b"a12b"


def test_insertions_that_touch_clash_and_replacements_that_touch_do_not() -> None:
    assert clash(Span(3, 3, b'"'), Span(3, 3, b'"'))
    assert clash(Span(3, 3, b'"'), Span(3, 5, b""))
    assert clash(Span(1, 3, b""), Span(3, 3, b'"'))
    assert clash(Span(1, 4, b""), Span(3, 5, b""))
    assert not clash(Span(1, 3, b""), Span(3, 5, b""))
    assert not clash(Span(1, 3, b""), Span(4, 4, b'"'))


def test_files_whose_places_are_in_doubt_are_not_touched() -> None:
    assert why_untouchable(b"\xef\xbb\xbfprint()\r\n\tx\r\n") == ""
    assert "UTF-8" in why_untouchable("é".encode("latin-1"))
    assert "line endings" in why_untouchable(b"one\rtwo\n")
