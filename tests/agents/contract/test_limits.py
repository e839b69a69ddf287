"""What holds for every agent at its limits: silence, an end from outside, a child left behind, turns, a budget."""

import os
import signal

import pytest

from burnish.core.budget import Share
from burnish.core.events import WorkLost
from burnish.core.reviews import FailureKind
from tests.agents.contract.conftest import Hire
from tests.agents.contract.office import AtWork, failed
from tests.agents.contract.parts import TOKENS
from tests.agents.contract.players import CLAUDE, CODEX, Player, clients, players


@pytest.mark.parametrize("player", players())
def test_one_that_says_nothing_any_more_is_stuck(hire: Hire, player: Player) -> None:
    office = hire(player, silent=player.silent)
    found = failed(office.review("hangs-later"), FailureKind.STUCK)
    assert found.usage.tokens == (TOKENS if player.bills_steps else 0)


@pytest.mark.parametrize("player", players())
def test_one_that_is_stopped_leaves_no_result_and_no_process(hire: Hire, player: Player) -> None:
    def stop(agent: AtWork) -> None:
        agent.stop()

    office = hire(player)
    event = office.fix("leaves-a-child", when_asked=2, then=stop)
    assert isinstance(event, WorkLost), event
    assert office.processes() == 0


@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
@pytest.mark.parametrize("player", players())
def test_a_killed_one_has_crashed_and_the_children_of_its_tools_are_gone(
    hire: Hire, player: Player, sandbox: str
) -> None:
    alive: list[int] = []

    def kill(agent: AtWork) -> None:
        alive.append(agent.running)
        os.kill(agent.process.pid, signal.SIGKILL)

    office = hire(player)
    event = office.fix("leaves-a-child", when_asked=2, then=kill, sandbox=sandbox)
    failed(event, FailureKind.CRASHED)
    # Without ours, Codex has a sandbox of its own, which ends with each of its tools.
    assert alive[0] >= 2 or (player is CODEX and sandbox == "off")
    assert office.processes() == 0


@pytest.mark.parametrize("player", clients(lambda player: player.has_turn_limit))
def test_one_that_never_comes_to_an_end_is_stopped_by_its_limit_of_turns(hire: Hire, player: Player) -> None:
    office = hire(player, max_turns=2)
    failed(office.review("endless"), FailureKind.REFUSED)
    assert len(office.answers) <= 5  # one that burnish stops may be quick to go on


@pytest.mark.parametrize("player", clients(lambda player: player.bills_steps))
def test_one_that_bills_its_steps_is_stopped_when_its_share_of_tokens_is_used_up(hire: Hire, player: Player) -> None:
    found = failed(hire(player).review("endless", share=Share(tokens=20_000)), FailureKind.OVER_BUDGET)
    # Without the stop it would never end; on a busy machine it may be some steps ahead.
    assert 20_000 < found.usage.tokens < 400_000
    assert found.usage.seconds > 0


def test_claude_keeps_to_its_share_of_the_money_itself(hire: Hire) -> None:
    found = failed(hire(CLAUDE).review("endless", share=Share(cost_usd=0.10)), FailureKind.OVER_BUDGET)
    assert 0.10 <= found.usage.cost_usd < 0.30
