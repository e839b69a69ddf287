"""Positions of keys, held against the standard library's reader: whatever it reports, the scanner has a line for."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.core.errors import KeyPath
from burnish.settings.positions import key_lines

CORPUS = {
    "tables": "[a]\nb = 1\n\n[a.c]\nd = 2\n[ e . 'f g' . \"h\\u0041\" ]\ni = 3\n",
    "tables named before their parents": "[a.b.c]\nd = 1\n[a]\ne = 2\n",
    "dotted keys": "a.b.c = 1\na.b.d = 2\n\n[t]\n\"x.y\".z = 3\n'q' . r = 4\n",
    "arrays of tables": "[[p]]\nn = 1\n[[p]]\nn = 2\n[p.q]\nr = 3\n[[p.s]]\nt = 4\n[[p.s]]\nt = 5\n",
    "arrays of tables in the next table": "[[p]]\n[[p.s]]\nt = 1\n[[p]]\n[[p.s]]\nt = 2\n[[p.s]]\n[p.s.u]\nv = 3\n",
    "inline tables": 'a = { b = 1, c.d = "}", e = { f = [ { g = 1 }, { g = 2 } ] } }\nh = {}\n',
    "arrays over several lines": "a = [ # one ] [\n  1,\n\n  [2, 3], # two\n  { b = 4 },\n]\nc = []\nd = [[], [[]]]\n",
    "basic strings": 'a = "x = 1 # no [comment]"\nb = "quote \\" and \\\\"\nc = ""\nd = 1\n',
    "literal strings": "a = 'c:\\x'\nb = ''\nc = 1\n",
    "long basic strings": 'a = """\nb = 1\n[c]\n"" and \\""" end"""\nd = 1\n',
    "long basic strings with quotes at the ends": 'a = """x"""""\nb = """"y"""\nc = """\\\\"""\nd = 1\n',
    "long literal strings": "a = '''\nb = 1\n''x'''''\nc = ''''y'''\nd = ''''''\ne = 1\n",
    "scalars": "a = 1979-05-27 07:32:00Z # date\nb = -1_000.5e+3\nc = inf\nd = true\ne = 0xF",
    "quoted keys": '"" = 1\n"a b" = 2\n"[x]" = 3\n\'"\' = 4\n"tab\\t" = 5\n"é" = 6\n"#" = 7\n',
    "carriage returns": 'a = 1\r\nb = """\r\nx\r\n"""\r\n[t]\r\nc = 2\r\n',
    "comments only": "# a = 1\n  # [b]\n",
    "nothing": "",
    "keys like numbers": "3.14 = 1\n-1 = 2\n1979-05-27 = 3\n",
    "headers without keys": "[a]\n[b]\n[[c]]\n[[c]]\n",
    "header with a comment": "[a] # [b]\nc = 1 # d = 2\n",
}


def paths(value: object, above: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key path that the reader reports."""
    if isinstance(value, dict):
        children = list(cast("dict[str | int, object]", value).items())
    elif isinstance(value, list):
        children = list(enumerate(cast("list[object]", value)))
    else:
        return
    for key, inner in children:
        yield (*above, key)
        yield from paths(inner, (*above, key))


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_every_path_that_the_reader_reports_has_a_line_and_no_other_has(text: str) -> None:
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))


def test_lines_are_those_of_the_keys() -> None:
    text = '# first\n\na = """\nx\n"""\n[t]\nb.c = 1\nd = [\n  1,\n  { e = 2 },\n]\n\n[[p]]\nn = 1\n[[p]]\n\nn = 2\n'
    assert key_lines(text) == {
        ("a",): 3,
        ("t",): 6,
        ("t", "b"): 7,
        ("t", "b", "c"): 7,
        ("t", "d"): 8,
        ("t", "d", 0): 9,
        ("t", "d", 1): 10,
        ("t", "d", 1, "e"): 10,
        ("p",): 13,
        ("p", 0): 13,
        ("p", 0, "n"): 14,
        ("p", 1): 15,
        ("p", 1, "n"): 17,
    }


def test_line_ends_of_other_systems_count_as_one_line() -> None:
    assert key_lines("a = 1\r\n\r\nb = 2\r\n") == {("a",): 1, ("b",): 3}


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=6) | st.sampled_from(
    ["a", "b-c", "0", "x.y", "[", "]]", "=", "#", '"', "'", "\\", "}", ","]
)
scalars = st.integers(-99, 99) | st.booleans() | words | st.sampled_from([1.5, -2.0])
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8
)
documents = st.dictionaries(words, values, max_size=5)


@st.composite
def toml_texts(draw: st.DrawFn) -> str:
    """A document, written in one of the many ways that its values allow."""
    lines: list[str] = []
    _write_table(draw, lines, (), draw(documents))
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n# end"]))


def _write_table(draw: st.DrawFn, lines: list[str], path: tuple[str, ...], table: Mapping[str, object]) -> None:
    below: list[tuple[str, object]] = []
    for key, value in table.items():
        lines.extend(draw(st.sampled_from([[], [""], ["# a = 1"], ["  # [x]"]])))
        if (_is_table(value) or _is_array_of_tables(value)) and draw(st.booleans()):
            below.append((key, value))
        else:
            lines.append(f"{_key(draw, key)} = {_value(draw, value)}{draw(st.sampled_from(['', ' # x = 1']))}")
    for key, value in below:
        here = (*path, key)
        header = draw(st.sampled_from([".", " . "])).join(_key(draw, part) for part in here)
        if isinstance(value, dict):
            lines.append(f"[{header}]")
            _write_table(draw, lines, here, cast("dict[str, object]", value))
        else:
            for item in cast("list[dict[str, object]]", value):
                lines.append(f"[[{header}]]")
                _write_table(draw, lines, here, item)


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _is_array_of_tables(value: object) -> bool:
    if not isinstance(value, list):
        return False
    items = cast("list[object]", value)
    return bool(items) and all(map(_is_table, items))


def _key(draw: st.DrawFn, key: str) -> str:
    if key.isascii() and key.replace("-", "").isalnum() and draw(st.booleans()):
        return key
    return _string(draw, key, long=False)


def _string(draw: st.DrawFn, text: str, *, long: bool) -> str:
    basic = json.dumps(text, ensure_ascii=draw(st.booleans()) and text.isascii()).replace("\x7f", "\\u007f")
    forms = [basic]
    if "'" not in text:
        forms.append(f"'{text}'")
    if long:
        forms.append(f'""{basic}""')
        if "'" not in text:
            forms.append(f"'''\n{text}\n'''")
    return draw(st.sampled_from(forms))


def _value(draw: st.DrawFn, value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _string(draw, value, long=True)
        case list():
            gap = draw(st.sampled_from(["", " ", "\n", " # ]\n"]))
            items = [f"{gap}{_value(draw, item)}{gap}," for item in cast("list[object]", value)]
            return f"[{''.join(items)}{gap}]"
        case dict():
            table = cast("dict[str, object]", value)
            return "{" + ", ".join(f"{_key(draw, key)} = {_value(draw, inner)}" for key, inner in table.items()) + "}"
        case _:
            return repr(value)


@settings(max_examples=150, deadline=None)
@given(toml_texts())
def test_random_documents_have_a_line_for_every_path(text: str) -> None:
    assert set(key_lines(text)) == set(paths(tomllib.loads(text)))
