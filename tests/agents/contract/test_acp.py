"""A scripted ACP agent at work as the runner does it: in its sandbox, in a conversation with burnish."""

from pathlib import Path

import pytest

from burnish.settings.agent_kinds import AgentKind
from burnish.testing.acp_agent import AcpScript, GuardedToolUse, Say, ToolUse, acp_agent
from tests.agents.contract.conftest import Hire
from tests.agents.contract.office import reviewed
from tests.agents.contract.parts import READABLE
from tests.agents.contract.players import Player


def player(folder: Path, *acts: Say | ToolUse | GuardedToolUse) -> Player:
    return Player(name="mine", kind=AgentKind.ACP, command=acp_agent(folder, AcpScript(acts=acts)))


@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
def test_a_review_is_read_and_the_log_holds_the_events_of_the_session(hire: Hire, tmp_path: Path, sandbox: str) -> None:
    mine = player(tmp_path, ToolUse(title="cat app.py", kind="read"), Say(text=READABLE))
    office = hire(mine, protocol="epic")
    found = reviewed(office.review("", sandbox=sandbox))
    assert found.answer.clean
    (log,) = (tmp_path / "run" / "logs").iterdir()
    events = log.read_text().splitlines()
    assert ['"begin"' in events[0], '"tool"' in events[1], '"end"' in events[-1]] == [True] * 3


def test_a_fix_is_taken(hire: Hire, tmp_path: Path) -> None:
    edit = GuardedToolUse(title="Edit", kind="edit", write={"app.py": "x = 1\ny = 2\n"})
    office = hire(player(tmp_path, edit, Say(text="I have put it right.")))
    assert office.file(office.fix(""), "app.py") == "x = 1\ny = 2\n"
