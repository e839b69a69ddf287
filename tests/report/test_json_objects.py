"""The one JSON object of a run, in every state that a command may stop in."""

import pytest
from inline_snapshot import snapshot
from msgspec import to_builtins
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

from burnish.core.events import BudgetReached, Cancelled
from burnish.core.findings import Counts, Severity
from burnish.core.protocol import Ask, Choice, ChoiceAction, Reviewer, RoundLimits, ScoreGate
from burnish.core.reviews import FailureKind, Usage
from burnish.core.state import Ended, Outcome
from burnish.core.values import replace
from burnish.report.account import Account, state_of
from burnish.report.json_objects import run_object

PAIR = replace(PLAIN, panel=(Reviewer(name="critic"), Reviewer(name="pedant")))
CHOICE = Choice(key="a", action=ChoiceAction.MANUAL, text="by hand")


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Outcome.APPROVED, 0),
        (Outcome.ACCEPTED, 0),
        (Outcome.SKIPPED, 0),
        (Outcome.FAILED, 1),
        (Outcome.STOPPED, 1),
        (Outcome.BLOCKED, 1),
        (Outcome.CANCELLED, 1),
        (Outcome.DID_NOT_RUN, 4),
        (Outcome.OVER_BUDGET, 5),
    ],
)
def test_every_outcome_has_its_exit_code(outcome: Outcome, code: int) -> None:
    run = replace(Driven().run, phase=Ended(outcome=outcome, reason="so"))
    assert (Account(run=run).exit_code, state_of(run)) == (code, "ended")
    assert (run_object(Account(run=run))["outcome"], run_object(Account(run=run))["reason"]) == (outcome.value, "so")


def test_a_run_that_goes_on_has_no_outcome_and_exits_4() -> None:
    run = Driven().run
    assert (Account(run=run).exit_code, state_of(run)) == (4, "running")
    assert (run_object(Account(run=run))["outcome"], run_object(Account(run=run))["reason"]) == (None, "")


def test_a_run_that_waits_shows_its_choices_and_exits_3() -> None:
    driven = Driven(replace(PLAIN, exhausted=Ask(choices=(CHOICE,))), max_reviews=1)
    driven.answer(found(problem()))
    shown = run_object(Account(run=driven.run))
    assert (Account(run=driven.run).exit_code, shown["state"], shown["outcome"]) == (3, "waiting", None)
    assert shown["reason"] == "1 blocking finding remains after 1 review"
    assert shown["choices"] == [{"key": "a", "action": "manual", "text": "by hand"}]
    assert shown["seal"] is None


def test_an_approved_run_whole() -> None:
    driven = Driven(replace(PAIR, limits=RoundLimits(reviews=3, hard_cap=5, slow_review_seconds=100)))
    driven.start()
    driven.answer(found(replace(problem("bad"), category="logic"), problem("small", Severity.LOW, None)), after=200)
    driven.answer(CLEAN, "pedant", usage=Usage(seconds=1.23456, tokens=7, cost_usd=0.12345678))
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(CLEAN)
    driven.answer(CLEAN, "pedant")
    driven.seal()
    assert run_object(Account(run=driven.run)) == snapshot(
        {
            "version": 1,
            "run": "run-1",
            "protocol": "plain",
            "state": "ended",
            "outcome": "approved",
            "reason": "no blocking findings in round 2",
            "policy": {"origin": None, "base": "c", "notes": []},
            "subject": {"branch": "topic", "base": "main", "head": "commit of tree-1", "tree": "tree-1"},
            "supersedes": [],
            "rounds": [
                {
                    "round": 1,
                    "scope": "full",
                    "reviews": [
                        {
                            "reviewer": "critic",
                            "status": "findings",
                            "counts": {"critical": 0, "high": 1, "medium": 0, "low": 1, "info": 0},
                            "agent": "first",
                            "notes": [],
                            "slow": True,
                        },
                        {
                            "reviewer": "pedant",
                            "status": "clean",
                            "counts": {"critical": 0, "high": 0, "medium": 0, "low": 0, "info": 0},
                            "agent": "first",
                            "notes": [],
                            "slow": True,
                        },
                    ],
                    "judgement": {"clean": False, "blocking": 1, "reasons": [], "gaps": []},
                    "fix": {
                        "status": "fixed",
                        "commit": "commit of tree-1",
                        "summary": "done",
                        "answers": [{"finding": "144c7ae40fe653c7", "answer": "no-answer", "fixed": False, "text": ""}],
                        "unknown_answers": [],
                    },
                },
                {
                    "round": 2,
                    "scope": "full",
                    "reviews": [
                        {
                            "reviewer": "critic",
                            "status": "clean",
                            "counts": {"critical": 0, "high": 0, "medium": 0, "low": 0, "info": 0},
                            "agent": "first",
                            "notes": [],
                        },
                        {
                            "reviewer": "pedant",
                            "status": "clean",
                            "counts": {"critical": 0, "high": 0, "medium": 0, "low": 0, "info": 0},
                            "agent": "first",
                            "notes": [],
                        },
                    ],
                    "judgement": {"clean": True, "blocking": 0, "reasons": [], "gaps": []},
                    "fix": None,
                },
            ],
            "findings": [
                {
                    "id": "144c7ae40fe653c7",
                    "severity": "high",
                    "category": "logic",
                    "rule": "",
                    "file": "a.py",
                    "line": 3,
                    "end_line": None,
                    "title": "bad",
                    "problem": "",
                    "impact": "",
                    "evidence": "",
                    "suggestion": "",
                    "confidence": None,
                    "action": "fix",
                    "also_at": [],
                    "status": "resolved",
                    "synthetic": False,
                    "found_by": ["critic"],
                    "count": 1,
                    "fixable": False,
                    "code": None,
                    "round": 1,
                    "note": "",
                    "sources": [],
                },
                {
                    "id": "055dac9f2aece6cf",
                    "severity": "low",
                    "category": "",
                    "rule": "",
                    "file": None,
                    "line": None,
                    "end_line": None,
                    "title": "small",
                    "problem": "",
                    "impact": "",
                    "evidence": "",
                    "suggestion": "",
                    "confidence": None,
                    "action": "fix",
                    "also_at": [],
                    "status": "resolved",
                    "synthetic": False,
                    "found_by": ["critic"],
                    "count": 1,
                    "fixable": False,
                    "code": None,
                    "round": 1,
                    "note": "",
                    "sources": [],
                },
            ],
            "census": [
                {"file": "a.py", "need": "code", "level": "read", "enough": True, "by": ["critic", "pedant"], "why": ""}
            ],
            "choices": [],
            "escalation": None,
            "enforced": True,
            "seal": {"tree": "tree-1", "digest": "digest", "kinds": ["approved"]},
            "break_glass": [],
            "usage": {"seconds": 1.235, "tokens": 7, "cost_usd": 0.123457},
            "budget": {"cost_usd": None, "tokens": None, "minutes": None},
            "next": [],
        }
    )


def test_answers_of_a_round_under_way_are_shown() -> None:
    driven = Driven(PAIR)
    driven.start()
    driven.answer(CLEAN, "pedant")
    (shown,) = run_object(Account(run=driven.run))["rounds"]
    assert [review["reviewer"] for review in shown["reviews"]] == ["pedant"]
    assert shown["judgement"] is None
    assert shown["fix"] is None


def test_a_review_that_did_not_run_says_why() -> None:
    driven = Driven()
    driven.fail(FailureKind.REFUSED, message="no key")
    (shown,) = run_object(Account(run=driven.run))["rounds"]
    assert shown["reviews"] == [
        {
            "reviewer": "critic",
            "status": "did-not-run",
            "counts": {"critical": 0, "high": 0, "medium": 0, "low": 0, "info": 0},
            "failure": {"kind": "refused", "message": "no key"},
        }
    ]


def test_a_carried_blocker_is_counted_and_an_objection_named() -> None:
    driven = Driven()
    driven.answer(found(problem("bad")))
    driven.fix("tree-1")
    driven.answer(found(problem("new", file="b.py")))
    assert run_object(Account(run=driven.run))["rounds"][1]["judgement"] == {
        "clean": False,
        "blocking": 2,
        "reasons": [],
        "gaps": [],
    }
    unscored = Driven(replace(PLAIN, gate=ScoreGate()))
    unscored.answer(CLEAN)
    expected = {"clean": False, "blocking": 1, "reasons": ["the answer has no scores"], "gaps": []}
    assert run_object(Account(run=unscored.run))["rounds"][0]["judgement"] == expected


def test_a_fix_without_a_result_has_no_commit() -> None:
    driven = Driven()
    driven.answer(found(problem("bad")))
    driven.fail(FailureKind.REFUSED, "fix:")
    fix = run_object(Account(run=driven.run))["rounds"][0]["fix"]
    assert fix == {"status": "did-not-run", "commit": None, "summary": "", "answers": [], "unknown_answers": []}


def test_stopping_is_still_running() -> None:
    driven = Driven()
    driven.start()
    driven.happen(Cancelled(at=9))
    assert (state_of(driven.run), Account(run=driven.run).exit_code) == ("running", 4)
    idle = Driven()
    idle.happen(BudgetReached(at=1, limit="5 USD"))
    assert Account(run=idle.run).exit_code == 5


def test_counts_name_every_severity() -> None:
    counts = Counts(critical=1, high=2, medium=3, low=4, info=5)
    assert to_builtins(counts) == {"critical": 1, "high": 2, "medium": 3, "low": 4, "info": 5}
