"""JSON in prose: found where it is, refused where it is cut or ambiguous, in linear time on hostile text."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.contracts.json_text import JsonObject, read_documents, read_object
from burnish.contracts.text import UnreadableError


def objects(text: str) -> list[JsonObject]:
    return list(read_documents(text).objects)


FOUND: list[tuple[str, list[JsonObject]]] = [
    ('{"a": 1}', [{"a": 1}]),
    ('see {this} and ${"x"} and {\'y\': 1}: {"a": 1}.', [{"a": 1}]),
    ('a "{" and a "}" in quotes, then {"a": "}{"}', [{"a": "}{"}]),
    ('{"a": {"b": {}}} {"c": []}', [{"a": {"b": {}}}, {"c": []}]),
    ('{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
    ('```json\n{\n  "a": "```"\n}\n```', [{"a": "```"}]),
    ('{"a": "two\nlines"}', [{"a": "two\nlines"}]),
    ('[{"a": 1}]', []),
    ("no JSON", []),
]


@pytest.mark.parametrize(("text", "found"), FOUND)
def test_objects_are_found_in_any_text(text: str, found: list[JsonObject]) -> None:
    assert objects(text) == found


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2}',
        '{"a": 1,}',
        '{"a": {"b": 1} x}',
        '{"a": ' + "9" * 5_000 + "}",
    ],
)
def test_what_two_readers_could_read_differently_is_broken(text: str) -> None:
    documents = read_documents(text)
    assert documents.objects == ()
    assert len(documents.broken) == 1


def test_a_quoted_description_of_the_format_is_a_template() -> None:
    (broken,) = read_documents('{"verdict": "pass" | "drift"}').broken
    assert broken.template


@pytest.mark.parametrize("text", ['{"a": {"b": 1}', '{"a": "x', '{"a": 1} {"b": [1, {"c": 2}', '{"a": "\\'])
def test_a_cut_object_makes_the_whole_text_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError, match="cut"):
        read_documents(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        '{"a":' + "[" * 100_000,
        '{"a":' + "[" * 201 + "]" * 201 + "}",
        '{"a":1} ' * 100_001,
        '{"a":x} ' * 1_001,
    ],
)
def test_too_deep_or_too_much_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableError):
        read_documents(text)


@pytest.mark.parametrize(
    "unit", ["{", "[", '"', '{"', '{"a" ', '{"\\', "{ ", "[ ", "[{", '{"a{', "\\", " ", '"{"', '{"a"\n', "}{", '{"a\\"']
)
def test_a_million_characters_of_anything_are_read_at_once(unit: str) -> None:
    """Quadratic cost would take hours here."""
    with contextlib.suppress(UnreadableError):
        assert objects(unit * (1_000_000 // len(unit))) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(max_size=5), JSON, max_size=3), st.sampled_from(["", "Here {it} is:\n", "x } y { z\n"]))
def test_every_object_is_found_as_it_was_written(value: JsonObject, prose: str) -> None:
    for text in (json.dumps(value), json.dumps(value, indent=2)):
        assert objects(prose + text + prose) == [value]
        assert read_object(text) == value


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.text(max_size=5), JSON, min_size=1, max_size=3), st.data())
def test_no_beginning_of_an_object_is_an_object(value: JsonObject, data: st.DataObject) -> None:
    text = json.dumps(value)
    beginning = text[: data.draw(st.integers(0, len(text) - 1))]
    try:
        assert objects(beginning) == []
    except UnreadableError:
        assert read_object(beginning) is None
