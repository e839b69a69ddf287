"""Money, tokens and minutes from the command line: what is said before, what ends a run, and what is kept."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish.core.budget import Share
from burnish.core.events import AnyEvent, Reviewed, WorkLost, WorkStarted, decode
from burnish.settings.agent_kinds import AgentKind
from burnish.testing.model_server.scenario import ModelAnswer, TokenCounts, Write
from burnish.testing.model_server.server import ModelServer, model_server
from tests.agents.clients.live import installed, service
from tests.end_to_end.machine import HANGS, Done, Machine
from tests.end_to_end.simple import FIXED, drift_machine
from tests.end_to_end.world import Before, check_nothing_left

DEAR = TokenCounts(input=100_000, output=1_000)
"""About a fifth of a dollar, as Claude Code reckons."""
DRIFT = '{"verdict": "drift", "followUpPrompt": "Divide by two."}'
CLEAN = '{"verdict": "pass", "followUpPrompt": ""}'
FIXING = "# Fix this change"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    fix = ModelAnswer(when=(FIXING,), turn=1, call=(Write(file="app.py", text="x = 2\n"),), usage=DEAR)
    scenarios = {
        "drift": (fix, ModelAnswer(when=(FIXING,), say="Divided", usage=DEAR), ModelAnswer(answer=DRIFT, usage=DEAR)),
        "pass": (ModelAnswer(answer=CLEAN, usage=DEAR),),
    }
    with model_server(scenarios) as server:
        yield server


def claude_machine(folder: Path, limits: str = "") -> Machine:
    """A user who lets Claude Code review and fix."""
    installed(AgentKind.CLAUDE)
    made = Machine(folder)
    agent = '[agents.claude]\nkind = "claude"\nmodel = "sonnet"\n'
    policy = f'protocol = "drift"\n{agent}[roles]\ndefault = "claude"\n{limits}'
    made.repository.commit({"app.py": "x = 1\n", "burnish.toml": policy}, "Begin")
    made.repository.branch("change").commit({"app.py": "x = 1 / 0\n"}, "Divide")
    made.leave_work_lying_around()
    return made


def burnish(machine: Machine, url: str, *words: str, **variables: Any) -> Done:
    everything: dict[str, Any] = {**service(AgentKind.CLAUDE, url), **variables}
    return machine.burnish(*words, **everything)


def events(machine: Machine, run: str) -> list[AnyEvent]:
    with machine.ledger() as ledger:
        return [decode(event.body) for event in ledger.read(f"run/{run}")]


def shares(machine: Machine, run: str) -> dict[str, Share | None]:
    return {event.effect: event.share for event in events(machine, run) if isinstance(event, WorkStarted)}


def test_a_fixer_that_needs_more_than_is_left_ends_the_run_and_the_review_is_kept(
    tmp_path: Path, model: ModelServer
) -> None:
    machine = claude_machine(tmp_path)
    before = Before.of(machine)
    done = burnish(machine, model.url("drift"), "fix", "--json", BURNISH_COST_USD="0.5")
    view = done.view
    assert (done.code, view["outcome"]) == (5, "over-budget"), view["reason"]
    assert view["reason"].startswith("the fixer over-budget: ")
    assert [(review["status"], view["rounds"][0]["judgement"]["clean"]) for review in view["rounds"][0]["reviews"]] == [
        ("findings", False)
    ]
    reserved = shares(machine, view["run"])
    reviewed = next(event for event in events(machine, view["run"]) if isinstance(event, Reviewed))
    assert reserved["review:1:reviewer:1"] == Share(cost_usd=0.25)
    assert reserved["fix:1:1"] == Share(cost_usd=0.5).without(reviewed.usage)
    assert view["usage"]["cost_usd"] > reviewed.usage.cost_usd > 0.2
    assert view["budget"] == {"cost_usd": 0.5, "tokens": None, "minutes": None}
    lines = done.err.splitlines()
    estimate = next(place for place, line in enumerate(lines) if line.startswith("note: A round calls paid agents"))
    first_call = next(place for place, line in enumerate(lines) if "round 1: reviewer" in line)
    assert estimate < first_call
    assert "The run may use at most 0.50 USD." in lines[estimate]
    assert "Next: BURNISH_COST_USD=1 burnish fix --branch change --base main" in done.err
    check_nothing_left(machine, before, view["run"])


@pytest.mark.prove
def test_what_ran_when_the_command_was_killed_gives_its_share_back_and_counts_once(
    tmp_path: Path, model: ModelServer
) -> None:
    machine = claude_machine(tmp_path)
    before = Before.of(machine)
    asked = len(model.asked())
    variables: dict[str, Any] = {**service(AgentKind.CLAUDE, model.url("hang"))}
    process = machine.start("review", "--json", **variables)
    run = machine.wait_for_run(process)
    model.wait_for(asked + 1)
    machine.cut_down(process)
    assert shares(machine, run)["review:1:reviewer:1"] == Share(cost_usd=2.5)
    done = burnish(machine, model.url("pass"), "resume", "--json")
    assert (done.code, done.view["outcome"], done.view["run"]) == (0, "approved", run)
    happened = events(machine, run)
    started = [event.share for event in happened if isinstance(event, WorkStarted) and event.agent == "claude"]
    assert started == [Share(cost_usd=2.5)] * 2
    assert len([event for event in happened if isinstance(event, WorkLost)]) == 1
    (reviewed,) = (event for event in happened if isinstance(event, Reviewed))
    assert done.view["usage"]["tokens"] == reviewed.usage.tokens == DEAR.input + DEAR.output
    check_nothing_left(machine, before, run)


@pytest.mark.prove
def test_a_reviewer_is_ended_when_its_tokens_are_used_up(tmp_path: Path, model: ModelServer) -> None:
    machine = claude_machine(tmp_path)
    done = burnish(machine, model.url("endless"), "review", "--json", BURNISH_TOKENS="2000")
    assert (done.code, done.view["outcome"]) == (5, "over-budget")
    assert "tokens of 1,000" in done.view["reason"]
    assert done.view["usage"]["tokens"] > 1_000


@pytest.mark.prove
def test_a_used_up_ticket_calls_nobody(tmp_path: Path, model: ModelServer) -> None:
    machine = claude_machine(tmp_path, "[limits.ticket]\ncost_usd = 0.2\n")
    first = burnish(machine, model.url("pass"), "review", "--json", "--story", "1-2")
    assert first.view["usage"]["cost_usd"] > 0.2
    asked = len(model.asked())
    second = burnish(machine, model.url("pass"), "review", "--json", "--story", "1-2")
    assert (second.code, second.view["outcome"]) == (5, "over-budget")
    assert second.view["reason"] == "budget reached: 0.00 USD, all that is left of the ticket's 0.20 USD"
    assert len(model.asked()) == asked
    assert "Raise cost_usd in [limits.ticket] of burnish.toml, then:\nNext: burnish review" in second.err
    other = burnish(machine, model.url("pass"), "review", "--dry-run", "--story", "9-9")
    assert "at most 0.20 USD" in other.err


def test_whoever_costs_nothing_reserves_nothing_and_hears_of_no_budget(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED, settings="[limits]\ncost_usd = 1\n[limits.ticket]\ncost_usd = 1\n")
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert set(shares(machine, done.view["run"]).values()) == {None}
    assert done.view["budget"] == {"cost_usd": None, "tokens": None, "minutes": None}
    assert "paid agents" not in done.err


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, {"review:*": HANGS}, settings="[limits]\nminutes = 0.01\n")
    before = Before.of(machine)
    done = machine.burnish("fix")
    assert done.code == 5
    assert "over-budget: budget reached: 0.01 minutes" in done.out
    assert "of 0.01 minutes active" in done.out
    (run,) = machine.runs()
    shown = machine.burnish("status", run).out
    assert "  usage: 0.0 s of agent time, 0.0 of 0.01 minutes active" in shown
    check_nothing_left(machine, before, run)


def test_a_dry_run_estimates_and_touches_nothing(tmp_path: Path) -> None:
    settings = "[limits]\ncost_usd = 3\n[limits.ticket]\ncost_usd = 2\n"
    machine = drift_machine(tmp_path, {}, settings=settings)
    done = machine.burnish("fix", "--dry-run", "--agent", "codex", "--model", "gpt-5.5")
    assert done.code == 0
    assert "note: A round calls paid agents about 2 times (1 review, 1 fix)" in done.err
    assert "The run may use at most 2.00 USD, the ticket's cap." in done.err
    assert not machine.state.exists()
