"""Fixers may remember what they did; reviewers never do."""

import pytest

from burnish.core.events import Fixed
from tests.agents.contract.conftest import Hire
from tests.agents.contract.office import reviewed
from tests.agents.contract.parts import TOKENS
from tests.agents.contract.players import Player, clients


@pytest.mark.parametrize("player", clients(lambda player: player.can_resume))
def test_a_fixer_goes_on_with_its_session_and_pays_for_each_part_once(hire: Hire, player: Player) -> None:
    office = hire(player, resume=True)
    first, second = office.fix("fixes-again"), office.fix("fixes-again")
    assert isinstance(first, Fixed), first
    assert isinstance(second, Fixed), second
    assert (office.file(first, "app.py"), office.file(second, "new.py")) == ("x = 2\n", "y = 2\n")
    assert second.summary == "So is the second."
    assert [one.turn for one in office.answers] == [1, 2, 3, 4]
    assert (first.usage.tokens, second.usage.tokens) == (TOKENS * 2, TOKENS * 2)


@pytest.mark.prove
@pytest.mark.parametrize("player", clients(lambda player: player.can_resume))
def test_a_reviewer_has_fresh_eyes_all_the_same(hire: Hire, player: Player) -> None:
    office = hire(player, resume=True)
    for _ in range(2):
        reviewed(office.review("clean"))
    assert [one.turn for one in office.answers] == [1, 1]
