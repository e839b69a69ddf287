"""Streams are data: whatever stands in them, reading them ends, and damage never makes an answer clean."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.agents.interface import Reply
from burnish.agents.registry import clients
from burnish.agents.streams import read_answer
from burnish.contracts.json_text import Json
from burnish.contracts.text import UnreadableError
from burnish.core.reviews import ContractName, Failure
from burnish.core.values import replace
from burnish.settings.agent_kinds import AgentKind
from tests.agents.building import request
from tests.agents.clients.live import ISSUES_SCHEMA, MODELS
from tests.agents.clients.recordings import recorded

KINDS = tuple(MODELS)
every_client = pytest.mark.parametrize("kind", KINDS, ids=[kind.value for kind in KINDS])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@every_client
@given(data=st.data())
def test_any_value_may_stand_anywhere(kind: AgentKind, data: st.DataObject) -> None:
    situation = data.draw(st.sampled_from(["clean", "findings", "tool-calls", "unauthorised", "rate-limited"]))
    whole = recorded(kind, situation)
    events = [json.loads(line) for line in whole.stdout.decode().split("\n") if line]
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from([place for event in events for place in _places(event)]))
        holder[key] = data.draw(ANYTHING)
    lines = [json.dumps(event).encode() for event in events]
    asked = request(schema=ISSUES_SCHEMA, model=MODELS[kind])
    damaged = replace(whole, stdout=b"\n".join(lines))
    assert isinstance(clients()[kind].read(damaged, asked, None), Reply | Failure)
    assert clients()[kind].spent(damaged, asked).tokens >= 0
    assert all(len(clients()[kind].progress(line)) < 140 for line in lines)


@every_client
@given(data=st.data())
def test_lost_and_changed_bytes_never_make_findings_clean(kind: AgentKind, data: st.DataObject) -> None:
    whole = recorded(kind, "findings")
    start = data.draw(st.integers(0, len(whole.stdout) - 1))
    length = data.draw(st.integers(0, 400))
    put = data.draw(st.binary(max_size=4))
    stdout = whole.stdout[:start] + put + whole.stdout[start + length :]
    found = clients()[kind].read(replace(whole, stdout=stdout), request(schema=ISSUES_SCHEMA), None)
    if isinstance(found, Reply):
        with suppress(UnreadableError):
            assert not read_answer(ContractName.ISSUES, found.text).clean


def _places(value: Json) -> list[tuple[Any, str | int]]:
    """Every place inside a value where another could stand."""
    if isinstance(value, dict):
        keys, children = [*value], [*value.values()]
    elif isinstance(value, list):
        keys, children = [*range(len(value))], value
    else:
        return []
    return [(value, key) for key in keys] + [place for child in children for place in _places(child)]
