"""Whatever a configuration file says: it is understood, or refused with file and key. Nothing else happens."""

import copy
import json
import tomllib
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.settings.test_loading import EVERYTHING

from burnish.protocols.loader import load as load_protocol
from burnish.settings.documents import DocumentError
from burnish.settings.loading import Merged, SettingsSources, load
from burnish.settings.roles import resolve
from burnish.settings.types import Complexity

PROTOCOL = load_protocol("default").protocol
LEAVES: list[object] = [
    *(0, 1, -3, 2.5, 10**30, True, False),
    *("", "a", "none", "mine", "other", "command", "high", "../x"),
    *([], [1], ["x", ""]),
    *({}, {"agent": "mine"}, {"agent": "mine", "fallback": "mine"}, {"fallback": False}, {"kind": "analysers"}),
]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A complete configuration with up to three values replaced, removed or added."""
    document = tomllib.loads(EVERYTHING)
    for _ in range(draw(st.integers(0, 3))):
        table = document
        while tables := _filled_tables(table):
            if draw(st.booleans()):
                break
            table = draw(st.sampled_from(tables))
        key = draw(st.sampled_from([*table, "colour", "low", "fix"]))
        if draw(st.booleans()):
            table.pop(key, None)
        else:
            table[key] = copy.deepcopy(draw(st.sampled_from(LEAVES)))
    return document


def _filled_tables(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [cast("dict[str, Any]", value) for value in table.values() if isinstance(value, dict) and value]


def written(value: object) -> str:
    match value:
        case dict():
            pairs = cast("dict[str, object]", value).items()
            return f"{{{', '.join(f'{json.dumps(key)} = {written(item)}' for key, item in pairs)}}}"
        case list():
            return f"[{', '.join(written(item) for item in cast('list[object]', value))}]"
        case _:
            return json.dumps(value)


def text_of(document: dict[str, Any]) -> bytes:
    return "".join(f"{json.dumps(key)} = {written(value)}\n" for key, value in document.items()).encode()


def loaded(base: bytes, working: bytes | None = None) -> Merged | DocumentError:
    try:
        return load(SettingsSources(base_file=lambda _: base, working_file=lambda _: working))
    except DocumentError as error:
        return error


@settings(max_examples=200)
@given(damaged())
def test_a_configuration_is_understood_or_refused(document: dict[str, Any]) -> None:
    found = loaded(text_of(document))
    if isinstance(found, DocumentError):
        assert found.problems
        assert all(problem.file and problem.line and problem.hint for problem in found.problems)
        return
    assert all(origin.file == "base:burnish.toml" for origin in found.origins.values())
    for complexity in (None, *Complexity):
        resolve(found.settings, PROTOCOL, complexity=complexity)


def test_an_undamaged_configuration_is_understood() -> None:
    assert isinstance(loaded(text_of(tomllib.loads(EVERYTHING))), Merged)


@settings(max_examples=100)
@given(damaged())
def test_the_change_under_review_has_no_say(document: dict[str, Any]) -> None:
    base = EVERYTHING.encode()
    found, undisturbed = loaded(base, text_of(document)), loaded(base)
    assert isinstance(found, Merged)
    assert isinstance(undisturbed, Merged)
    assert found.settings == undisturbed.settings
