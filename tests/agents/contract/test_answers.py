"""What every agent promises of an answer: read once, counted, kept, asked for again where it cannot be read."""

import pytest

from burnish.core.events import Built, Fixed
from burnish.core.findings import Severity
from burnish.core.reviews import FailureKind
from tests.agents.contract.conftest import Hire
from tests.agents.contract.office import failed, reviewed
from tests.agents.contract.parts import COSTLY, TOKENS
from tests.agents.contract.players import CLAUDE, CODEX, OPENCODE, SCRIPTED, Player, clients, players


@pytest.mark.parametrize("player", players())
def test_a_clean_review_is_clean_and_all_that_was_said_is_kept(hire: Hire, player: Player) -> None:
    office = hire(player)
    found = reviewed(office.review("clean"))
    assert found.answer.clean
    assert found.usage.seconds > 0
    assert found.usage.tokens == TOKENS * len(office.answers)
    assert b"app.py" in office.ledger.get_blob(found.prompt)
    assert b"verdict" in office.ledger.get_blob(found.transcript)


@pytest.mark.parametrize("player", players())
def test_findings_are_tied_to_the_lines_that_they_name(hire: Hire, player: Player) -> None:
    found = reviewed(hire(player).review("findings")).answer
    assert not found.clean
    assert [(one.severity, one.location and one.location.line) for one in found.findings] == [
        (Severity.CRITICAL, 1),
        (Severity.INFO, 2),
    ]
    assert all(one.anchor for one in found.findings)


@pytest.mark.parametrize("player", players())
def test_an_agent_uses_its_tools_on_the_tree_under_review(hire: Hire, player: Player) -> None:
    office = hire(player)
    found = reviewed(office.review("tool-calls"))
    assert found.answer.clean
    if player.client is not None:
        assert len(office.answers) == 3
        came_back = office.answers[1].text.partition("First I read the code.")[2]
        assert player.starts_outside or "database.execute" in came_back
        assert found.usage.tokens == TOKENS * 3


@pytest.mark.parametrize("player", players())
def test_a_reviewer_that_tries_to_write_is_stopped_and_its_review_counts(hire: Hire, player: Player) -> None:
    assert reviewed(hire(player).review("write-attempt")).answer.clean


@pytest.mark.prove
@pytest.mark.parametrize("player", players())
def test_without_a_sandbox_a_client_stops_itself_and_a_command_is_found_out(hire: Hire, player: Player) -> None:
    event = hire(player).review("write-attempt", sandbox="off")
    if player is SCRIPTED:
        assert "written-by-the-model.txt" in failed(event, FailureKind.WROTE_TO_TREE).failure.message
    elif player.gives_up_when_denied:
        failed(event, FailureKind.CRASHED)
    else:
        assert reviewed(event).answer.clean


@pytest.mark.parametrize("player", players())
def test_words_where_json_was_asked_for_are_no_review(hire: Hire, player: Player) -> None:
    office = hire(player)
    found = failed(office.review("plain-text"), FailureKind.UNREADABLE)
    assert found.usage.tokens == TOKENS * len(office.answers)
    assert (len(office.answers) > 1) == player.can_resume


@pytest.mark.prove
@pytest.mark.parametrize("player", players())
def test_json_that_is_not_of_the_contract_is_no_review(hire: Hire, player: Player) -> None:
    """Also where the client itself has asked for it several times, and given up."""
    failed(hire(player).review("wrong-form"), FailureKind.UNREADABLE)


@pytest.mark.parametrize("player", clients())
def test_an_answer_that_breaks_off_is_asked_for_again(hire: Hire, player: Player) -> None:
    office = hire(player)
    event = office.review("repaired")
    if not player.can_resume:
        failed(event, FailureKind.UNREADABLE)
        return
    found = reviewed(event)
    assert found.answer.clean
    # Claude Code is held to the schema and asks again itself; others are asked once more by burnish.
    assert len(office.answers) == 2
    assert found.usage.tokens == TOKENS * 2


@pytest.mark.parametrize("player", clients(lambda player: player in (CLAUDE, CODEX, OPENCODE)))
def test_the_repair_goes_on_with_the_same_session_and_is_counted_once(hire: Hire, player: Player) -> None:
    """In a contract without a schema, where no client asks again by itself."""
    office = hire(player, protocol="epic")
    found = reviewed(office.review("told-to-repair"))
    assert found.answer.clean
    assert [one.turn for one in office.answers] == [1, 2]
    assert "It looks good to me." in office.answers[1].text
    assert found.usage.tokens == TOKENS * 2


@pytest.mark.parametrize("player", clients(lambda player: player is CODEX))
def test_where_a_broken_contract_ends_the_run_nobody_is_asked_again(hire: Hire, player: Player) -> None:
    office = hire(player, protocol="drift")
    failed(office.review("plain-text"), FailureKind.UNREADABLE)
    assert len(office.answers) == 1


@pytest.mark.parametrize("player", players())
def test_a_fixer_edits_files_and_runs_commands_and_burnish_commits(hire: Hire, player: Player) -> None:
    office = hire(player)
    event = office.fix("fixes")
    assert isinstance(event, Fixed), event
    assert office.file(event, "app.py") == "x = 1\n"
    assert office.file(event, "made-by-the-shell.txt") == "done\n"
    assert event.summary == "I have put it right."
    assert b"I have put it right." in office.ledger.get_blob(event.transcript)
    assert event.usage.tokens == TOKENS * len(office.answers)


@pytest.mark.prove
@pytest.mark.parametrize("player", clients())
def test_a_builder_makes_a_change_and_burnish_commits(hire: Hire, player: Player) -> None:
    office = hire(player)
    event = office.build("fixes")
    assert isinstance(event, Built), event
    assert office.file(event, "app.py") == "x = 1\n"


@pytest.mark.prove
@pytest.mark.parametrize("player", clients())
def test_what_is_spent_beyond_a_share_is_counted(hire: Hire, player: Player) -> None:
    """An answer that is there is kept, whatever it cost: the next one is not asked for."""
    office = hire(player)
    assert reviewed(office.review("costly")).usage.tokens == COSTLY
