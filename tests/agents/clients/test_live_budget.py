"""What Claude Code makes of its own budget in a session that goes on, which shares of a run's budget rely on."""

from pathlib import Path
from typing import Any

import pytest

from burnish.agents.interface import Reply
from burnish.core.reviews import Failure, FailureKind
from burnish.settings.agent_kinds import AgentKind
from burnish.testing.model_server.scenario import ModelAnswer, TokenCounts
from burnish.testing.model_server.server import model_server
from tests.agents.clients.live import stage

pytestmark = pytest.mark.prove


def test_a_budget_counts_from_where_the_session_goes_on(tmp_path: Path) -> None:
    """Its cost is told for the whole session, but held against the budget only for what is new."""
    at_work = stage(AgentKind.CLAUDE, tmp_path)
    with model_server({"dear": (ModelAnswer(say="Done.", usage=TokenCounts(input=100_000, output=1_000)),)}) as server:

        def ask(**changes: Any) -> tuple[Reply | Failure, float]:
            asked = at_work.request(schema="", **changes)
            finished = at_work.run(server.url("dear"), asked)
            return at_work.client.read(finished, asked, None), at_work.client.spent(finished, asked).cost_usd

        first, cost = ask()
        assert isinstance(first, Reply), first
        again, total = ask(session=first.session, budget_usd=1.5 * cost)
        assert isinstance(again, Reply), again
        assert total == pytest.approx(2 * cost, rel=0.05)
        over, _ = ask(session=first.session, budget_usd=0.5 * cost)
    assert isinstance(over, Failure)
    assert over.kind is FailureKind.OVER_BUDGET
