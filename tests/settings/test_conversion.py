"""Finding what does not fit: the same verdict as msgspec's own, whatever the values."""

import copy
import re
import tomllib
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import burnish.protocols
from burnish.core.protocol import Protocol
from burnish.protocols.loader import BUILT_IN
from burnish.settings.conversion import mismatches
from burnish.settings.documents import DocumentError
from burnish.settings.loading import load_alone

FOLDER = Path(burnish.protocols.__file__).parent
DOCUMENTS = [tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")) for name in BUILT_IN]

leaves = st.sampled_from(
    [0, 1, -3, 2.5, True, "", "high", "epic", "retry", [], {}, [1], ["high"], [{"name": "x"}], {"type": "verdict"}]
)


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A built-in protocol with up to three values replaced, removed or added."""
    document = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(0, 3))):
        _damage(draw, document)
    return document


def _damage(draw: st.DrawFn, document: dict[str, Any]) -> None:
    table = document
    while tables := [cast("dict[str, Any]", value) for value in table.values() if isinstance(value, dict) and value]:
        if draw(st.booleans()):
            break
        table = draw(st.sampled_from(tables))
    key = draw(st.sampled_from([*table, "colour"]))
    if draw(st.booleans()):
        table.pop(key, None)
    else:
        table[key] = draw(leaves)


def accepted_by_msgspec(values: dict[str, Any]) -> bool:
    try:
        msgspec.convert(values, Protocol, strict=True)
    except msgspec.ValidationError:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_a_mismatch_is_found_exactly_where_msgspec_refuses(values: dict[str, Any]) -> None:
    assert (mismatches(values, Protocol) == ()) == accepted_by_msgspec(values)


def test_numbers_that_are_none_are_refused() -> None:
    values = copy.deepcopy(DOCUMENTS[0])
    values["limits"]["slow_review_seconds"] = float("inf")
    assert [mismatch.path for mismatch in mismatches(values, Protocol)] == [("limits", "slow_review_seconds")]


def test_a_long_text_is_cut_in_the_message() -> None:
    values = copy.deepcopy(DOCUMENTS[0])
    values["limits"]["reviews"] = "x" * 1000
    (mismatch,) = mismatches(values, Protocol)
    assert len(mismatch.message) < 120


@pytest.mark.parametrize(
    ("line", "value"),
    [("mutations = 5", 5.0), ('mutations = "off"', "off"), ('checks = "off"', "off"), ('checks = ["mypy"]', ("mypy",))],
)
def test_some_keys_take_values_of_two_kinds(line: str, value: object) -> None:
    analysers = load_alone(f"[analysers]\n{line}\n".encode(), "burnish.toml").analysers
    assert getattr(analysers, line.partition(" ")[0]) == value


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mutations = true", "expected a number or text, got true"),
        ("checks = [1]", "analysers.checks[0]: expected text"),
    ],
)
def test_a_value_of_neither_kind_is_refused(line: str, message: str) -> None:
    with pytest.raises(DocumentError, match=re.escape(message)):
        load_alone(f"[analysers]\n{line}\n".encode(), "burnish.toml")
