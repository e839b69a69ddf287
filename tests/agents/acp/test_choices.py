"""Which mode a reviewer is put into, by what real agents say of theirs, and what is made of messages that are odd."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.agents import acp_session
from burnish.agents.acp_session import Access, EventWriter, SessionOptions, Updates


def offer(*values: tuple[str, str, str]) -> dict[str, Any]:
    offered = [{"id": one, "name": name, "description": description} for one, name, description in values]
    return {"modes": {"currentModeId": values[0][0], "availableModes": offered}}


CLAUDE = offer(
    ("default", "Manual", "Always ask before making changes"),
    ("acceptEdits", "Accept edits", "Automatically accept all file edits"),
    ("plan", "Plan", "Create a plan before making changes"),
)
CODEX = offer(
    ("agent", "Auto review", "Only ask for actions detected as potentially unsafe"),
    ("read-only", "Read-only", "Requires approval to edit files and access the internet."),
)
GEMINI = offer(
    ("default", "Default", "Prompts for approval"),
    ("yolo", "YOLO", "Auto-approves all tools"),
    ("plan", "Plan", "Read-only mode"),
)
OTHERS = offer(("task", "Task", "Does tasks"), ("code", "Code", ""))


@pytest.mark.parametrize(
    ("session", "mode"), [(CLAUDE, "default"), (CODEX, "read-only"), (GEMINI, "plan"), (OTHERS, "")]
)
def test_a_reviewer_gets_the_mode_in_which_least_is_written(session: dict[str, Any], mode: str) -> None:
    modes = acp_session.offered_modes(session)
    assert modes is not None
    assert acp_session.read_only_mode(modes) == mode


@pytest.mark.parametrize("session", [{}, {"modes": None}, {"modes": {"availableModes": []}}, {"configOptions": [1]}])
def test_no_modes_are_no_offer(session: dict[str, Any]) -> None:
    assert acp_session.offered_modes(session) is None
    assert acp_session.offered_models(session) is None


KEYS = (
    *("sessionId", "update", "sessionUpdate", "content", "text", "messageId", "toolCall", "toolCallId", "title"),
    *("kind", "locations", "path", "options", "optionId", "cost", "currency", "amount", "line", "limit", "id"),
    *("modes", "availableModes", "configOptions", "category", "value", "name", "description"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS) | st.text(max_size=3),
            inner | st.sampled_from(["s", "agent_message_chunk", "tool_call", "usage_update", "USD", "mode", "read"]),
            max_size=5,
        )
    ),
    max_leaves=30,
)
METHODS = st.sampled_from(["session/request_permission", "fs/read_text_file", "fs/write_text_file", "x"])


@given(message=st.dictionaries(st.sampled_from(["sessionId", "update", "params", "id"]), JSON), method=METHODS)
def test_no_message_brings_burnish_down(message: dict[str, Any], method: str) -> None:
    events = EventWriter(lambda _: None)
    updates = Updates(events)
    updates.begin("s")
    updates.take({**message, "sessionId": "s"})
    options = SessionOptions(access=Access.READ, folder="/nowhere", roots=("/nowhere",))
    assert acp_session.answer({**message, "method": method}, options, events).keys() & {"result", "error"}
    acp_session.offered_modes(message)
