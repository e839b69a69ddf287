"""What a run may use up: defaults, settings, what a ticket has left, and who counts as paid."""

from pathlib import Path

import pytest

from burnish.core.budget import Budget, Cap
from burnish.core.errors import BurnishError
from burnish.core.events import Mode
from burnish.core.reviews import Usage
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.usecases.allocate_budget import DEFAULT_COST_USD, DEFAULT_TOKENS, agents_called, has_price
from burnish.usecases.plan_run import Plan
from burnish.usecases.runs import runs_of
from burnish.usecases.submit_intent import decide_run
from tests.usecases.planned_runs import Project

CLAUDE = 'protocol = "panel"\n[roles]\nreview = "claude"\n'
FREE = 'protocol = "epic"\n[agents.mine]\nkind = "command"\ncommand = ["./review.sh"]\n[roles]\ndefault = "mine"\n'


def budget(folder: Path, policy: str, mode: Mode = Mode.FIX) -> Budget:
    return Project(folder, policy).plan(mode).budget


def test_without_anybody_who_is_paid_there_is_no_cap_on_money(tmp_path: Path) -> None:
    assert budget(tmp_path, f"{FREE}[limits]\ncost_usd = 3\ntokens = 9\n[limits.ticket]\ncost_usd = 1\n") == Budget()


def test_a_cap_on_minutes_holds_for_everybody(tmp_path: Path) -> None:
    assert budget(tmp_path, f"{FREE}[limits]\nminutes = 30\n") == Budget(minutes=30.0)


def test_whoever_is_paid_has_a_cap_by_default(tmp_path: Path) -> None:
    assert budget(tmp_path, CLAUDE) == Budget(cost_usd=DEFAULT_COST_USD, paid=("claude",))


def test_the_caps_that_were_set_hold(tmp_path: Path) -> None:
    found = budget(tmp_path, f"{CLAUDE}[limits]\ncost_usd = 1.5\ntokens = 70000\nminutes = 10\n")
    assert found.caps == {Cap.COST: 1.5, Cap.TOKENS: 70_000, Cap.MINUTES: 10.0}


@pytest.mark.parametrize(
    ("kind", "model", "known"),
    [
        (AgentKind.CLAUDE, "", True),
        (AgentKind.CODEX, "", False),
        (AgentKind.CODEX, "gpt-5.5", True),
        (AgentKind.GEMINI, "gemini-9-secret", False),
        (AgentKind.GEMINI, "gemini-2.5-pro", True),
        (AgentKind.OPENCODE, "anthropic/claude-sonnet-5", True),
        (AgentKind.OPENCODE, "local/llama", False),
        (AgentKind.ACP, "gpt-5.5", False),
        (AgentKind.COMMAND, "", True),
    ],
)
def test_whose_price_is_known(kind: AgentKind, model: str, *, known: bool) -> None:
    assert has_price(AgentSettings(kind=kind, model=model)) is known


def test_where_a_price_is_not_known_tokens_are_the_cap_and_a_notice_says_so(tmp_path: Path) -> None:
    policy = f"{CLAUDE}fix = {{ agent = 'claude', fallback = 'codex' }}\n"
    planned = Project(tmp_path, policy).plan()
    assert planned.budget.caps == {Cap.COST: DEFAULT_COST_USD, Cap.TOKENS: DEFAULT_TOKENS}
    assert told(planned, "'codex' cannot be counted: the price is not known. The cap is 2,000,000 tokens")
    # In one round of reviews nobody is called to fix.
    assert budget(tmp_path / "review", policy, Mode.REVIEW).caps == {Cap.COST: DEFAULT_COST_USD}


def test_a_cap_on_tokens_that_was_set_needs_no_notice(tmp_path: Path) -> None:
    planned = Project(tmp_path, "[roles]\nreview = 'codex'\n[limits]\ntokens = 500000\n").plan()
    assert planned.budget.tokens == 500_000
    assert not told(planned, "cannot be counted")


def test_an_acp_agent_may_say_nothing(tmp_path: Path) -> None:
    policy = '[agents.other]\nkind = "acp"\ncommand = ["other", "--acp"]\n[roles]\nreview = "other"\n'
    assert told(Project(tmp_path, policy).plan(), "Not every ACP agent reports its usage")


def test_everybody_who_may_be_called_counts(tmp_path: Path) -> None:
    policy = (
        'protocol = "panel"\n[roles]\nreview = { agent = "analysers", fallback = "gemini" }\n'
        'fix = { agent = "analysers", fallback = "opencode" }\nby_round = ["analysers", "codex"]\n'
        '[roles.reviewers]\ncritic = { agent = "claude", fallback = false }\n'
    )
    planned = Project(tmp_path, policy).plan()
    assert planned.budget.paid == ("claude", "gemini", "opencode", "codex")
    reviewing = agents_called(planned.protocol, planned.roles, Mode.REVIEW)
    assert set(reviewing) == {"claude", "analysers", "gemini"}


def test_whoever_a_person_may_call_instead_counts_too(tmp_path: Path) -> None:
    planned = Project(tmp_path, FREE.replace("epic", "story")).plan()
    assert planned.budget.cost_usd == DEFAULT_COST_USD
    assert planned.budget.paid == ("claude", "codex", "gemini", "opencode")
    assert not told(planned, "cannot be counted")


def test_a_person_cannot_call_somebody_whom_no_cap_would_hold(tmp_path: Path) -> None:
    project = Project(tmp_path, FREE.replace("epic", "story"))
    planned = project.plan()
    name = project.asked(planned)
    with runs_of(planned.repository) as runs:
        with pytest.raises(BurnishError, match="The cost of 'codex' cannot be counted"):
            decide_run(runs, name, "2", agent="codex")
        result = decide_run(runs, name, "2", agent="claude")
    assert result.account.run.other_agent == "claude"


TICKET = f"{CLAUDE}[limits.ticket]\ncost_usd = 6\ntokens = 1000000\nminutes = 60\n"


def test_a_ticket_that_used_nothing_up_yet_leaves_the_run_its_own_cap(tmp_path: Path) -> None:
    planned = Project(tmp_path, TICKET).plan()
    assert planned.budget.caps == {Cap.COST: DEFAULT_COST_USD, Cap.TOKENS: 1_000_000, Cap.MINUTES: 60.0}
    assert not (planned.repository.state_dir / "ledger.db").exists()


def test_what_earlier_runs_of_the_branch_used_up_is_subtracted(tmp_path: Path) -> None:
    project = Project(tmp_path, TICKET)
    project.ran(project.plan(), Usage(cost_usd=1.5, tokens=100_000), Usage(cost_usd=1.0))
    project.ran(project.plan(Mode.REVIEW), Usage(cost_usd=0.5, tokens=1))
    project.builder.branch("other").commit({"more.py": "x = 1\n"}, "More")
    project.ran(project.plan(branch="other"), Usage(cost_usd=9.0))
    found = project.plan(branch="change").budget
    assert found.caps == {Cap.COST: 3.0, Cap.TOKENS: 899_999, Cap.MINUTES: 60 - 30 / 60}
    assert found.words(Cap.COST) == "3.00 USD, all that is left of the ticket's 6.00 USD"


def test_runs_of_one_story_belong_together_on_whatever_branch_they_are(tmp_path: Path) -> None:
    project = Project(tmp_path, TICKET)
    project.ran(project.plan(story="1-2"), Usage(cost_usd=2.0))
    project.ran(project.plan(story="1-3"), Usage(cost_usd=1.0))
    project.builder.branch("other").commit({"more.py": "x = 1\n"}, "More")
    assert project.plan(branch="other", story="1-2").budget.cost_usd == 4.0
    assert project.plan(branch="other", story="9-9").budget.cost_usd == DEFAULT_COST_USD
    assert project.plan(branch="change").budget.cost_usd == 3.0


def test_a_run_that_can_still_go_on_elsewhere_holds_all_that_it_may_use_up(tmp_path: Path) -> None:
    project = Project(tmp_path, TICKET)
    project.ran(project.plan(story="1-2"), Usage(cost_usd=0.5), ended=False)
    # On the same branch it is taken up again, or ended by the run that takes its place.
    assert project.plan(story="1-2").budget.cost_usd == DEFAULT_COST_USD
    project.builder.branch("other").commit({"more.py": "x = 1\n"}, "More")
    assert project.plan(branch="other", story="1-2").budget.cost_usd == 1.0


def test_a_used_up_ticket_leaves_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path, TICKET)
    project.ran(project.plan(), Usage(cost_usd=7.0))
    assert project.plan().budget.cost_usd == 0.0


EPIC = f"{CLAUDE}[limits.ticket]\ncost_usd = 4\n[limits.epic]\ncost_usd = 6\n"


def test_the_stories_of_an_epic_share_its_cap(tmp_path: Path) -> None:
    project = Project(tmp_path, EPIC)
    project.ran(project.plan(story="1-2-login"), Usage(cost_usd=3.0))
    project.ran(project.plan(story="1.3"), Usage(cost_usd=2.0))
    project.ran(project.plan(story="12-1"), Usage(cost_usd=1.0))
    planned = project.plan(story="1-4-logout")
    assert planned.budget.cost_usd == 1.0
    assert planned.budget.words(Cap.COST) == "1.00 USD, all that is left of the epic's 6.00 USD"
    assert project.plan(story="12-2").budget.cost_usd == 4.0
    assert not told(planned, "[limits.epic]")


def test_a_run_that_names_no_epic_says_that_the_cap_of_one_does_not_hold(tmp_path: Path) -> None:
    planned = Project(tmp_path, EPIC).plan(story="login")
    assert planned.budget.cost_usd == 4.0
    assert told(planned, "[limits.epic] does not apply to this run")


def told(planned: Plan, words: str) -> bool:
    return any(words in notice for notice in planned.notices)
