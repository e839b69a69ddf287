"""What is said before the first paid call: how many calls, about how much, and what that rests on."""

import textwrap
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.core.events import Mode
from burnish.core.reviews import Usage
from burnish.usecases.allocate_budget import OWN_TOKENS, TYPICAL_WORK, TypicalWork, likely
from burnish.usecases.plan_run import Plan
from tests.usecases.planned_runs import Project

OPUS = 'protocol = "panel"\n[agents.claude]\nkind = "claude"\nmodel = "claude-opus-5"\n[roles]\ndefault = "claude"\n'


def said(planned: Plan) -> str:
    return "".join(textwrap.fill(notice, 100) + "\n" for notice in planned.notices if "A round" in notice)


def flat(planned: Plan) -> str:
    return " ".join(said(planned).split())


def test_the_first_time_by_a_rule_of_thumb(tmp_path: Path) -> None:
    assert said(Project(tmp_path, OPUS).plan()) == snapshot("""\
A round calls paid agents about 6 times (5 reviews, 1 fix) and uses about 1,800,000 tokens, about
2.80 USD, estimated from the size of the change. The run may use at most 5.00 USD.
""")


def test_one_round_of_reviews_has_no_fix(tmp_path: Path) -> None:
    assert "5 times (5 reviews)" in flat(Project(tmp_path, OPUS).plan(Mode.REVIEW))


def test_a_session_is_called_once_and_works_like_a_fixer(tmp_path: Path) -> None:
    assert said(Project(tmp_path, OPUS.replace("panel", "story")).plan()) == snapshot("""\
A round calls paid agents about once (1 review) and uses about 650,000 tokens, about 0.88 USD,
estimated from the size of the change. The run may use at most 5.00 USD.
""")


def test_without_a_price_only_tokens_are_told(tmp_path: Path) -> None:
    assert said(Project(tmp_path, '[roles]\nreview = "claude"\n').plan()) == snapshot("""\
A round calls paid agents about once (1 review) and uses about 230,000 tokens, estimated from the
size of the change. The cost of 'claude' cannot be estimated. The run may use at most 5.00 USD.
""")


def test_those_who_are_free_are_not_counted_and_alone_not_mentioned(tmp_path: Path) -> None:
    assert said(Project(tmp_path, "").plan()) == ""
    only_bugs = '[roles.reviewers]\nbugs = "claude"\n'
    assert "paid agents about once (1 review)" in flat(Project(tmp_path / "bugs", only_bugs).plan())
    fallback = "[roles]\nreview = { agent = 'analysers', fallback = 'claude' }\n"
    assert said(Project(tmp_path / "fallback", fallback).plan()) == ""


def test_as_much_as_the_same_agents_used_up_before(tmp_path: Path) -> None:
    project = Project(tmp_path, OPUS)
    first = project.plan(Mode.REVIEW)
    project.ran(first, Usage(tokens=90_000, cost_usd=0.2), Usage(tokens=110_000, cost_usd=0.4))
    project.ran(first, Usage(tokens=100_000, cost_usd=0.3))
    assert said(project.plan(Mode.REVIEW)) == snapshot("""\
A round calls paid agents about 5 times (5 reviews) and uses about 500,000 tokens, about 1.50 USD,
as in earlier runs here. The run may use at most 5.00 USD.
""")
    assert "partly as in earlier runs here, partly estimated" in flat(project.plan())


def test_calls_that_told_nothing_and_other_models_are_no_guide(tmp_path: Path) -> None:
    project = Project(tmp_path, OPUS)
    project.ran(project.plan(Mode.REVIEW), Usage(seconds=3.0))
    assert "estimated from" in flat(project.plan(Mode.REVIEW))
    project.ran(project.plan(Mode.REVIEW), Usage(tokens=100_000, cost_usd=0.3))
    assert "estimated from" not in flat(project.plan(Mode.REVIEW))
    project.builder.switch("main").commit({"burnish.toml": OPUS.replace("opus-5", "sonnet-5")}, "Other model")
    assert "estimated from" in flat(project.plan(Mode.REVIEW, branch="change"))


@pytest.mark.parametrize("prompt", [0, 12_500])
def test_the_rule_of_thumb(prompt: int) -> None:
    once = likely(TypicalWork(turns=1, read=3_000, said=500), prompt)
    assert (once.input, once.cached, once.output) == (OWN_TOKENS + prompt, 0, 500)
    # The second turn repeats the first prompt; the third repeats what the second one added, too.
    thrice = likely(TypicalWork(turns=3, read=3_000, said=500), prompt)
    assert thrice.input == OWN_TOKENS + prompt + 6_000
    assert thrice.cached == 2 * (OWN_TOKENS + prompt) + 3_500
    assert thrice.output == 1_500
    assert likely(TYPICAL_WORK["fix"], prompt).total > likely(TYPICAL_WORK["review"], prompt).total
