"""The question to a person, word for word as the seeds show it."""

import pytest
from tests.records.playing import about, played

from burnish.contracts.findings import parse
from burnish.contracts.paths import no_repository
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.records.epic import document_path
from burnish.report.account import Account, RunSnapshot
from burnish.report.forms import render
from burnish.report.json_objects import run_object
from burnish.report.output import plain
from burnish.report.text import choice_lines, question, summary
from burnish.runtime.script import RehearsalScript
from burnish.usecases.tell_run import tell_state

THREE_ROUNDS = RehearsalScript(
    protocol="epic",
    reviews={
        "*": ("critical", "critical", "critical a.py:1 One; high a.py:2 Two; high a.py:3 Three; medium a.py:4 Four")
    },
    fixes=("fixed", "fixed"),
)


def told(run: Run, document: str | None = None) -> Account:
    account = tell_state(RunSnapshot(run=run))
    return account if document is None else replace(account, document=document)


def text(run: Run, document: str | None = None) -> str:
    return question(told(run, document))


def test_an_epic_that_waits() -> None:
    run = played(THREE_ROUNDS)
    assert text(run) == text(run, document_path(run, 3))
    assert text(run) == (
        """\
⚠️ Story 1.2 Review Blocked

After 3 review rounds, issues remain:
- Critical: 1
- Important: 2
- Minor: 1

Findings document: docs/progress/story-1.2-review-findings-round-3.md

Options:
a) Manual review and fix (pause autonomous workflow)
b) Accept findings and mark story complete (not recommended)
c) Continue with 1 more review round (override limit)

Your choice:"""
    )


def test_every_form_of_output_says_what_is_left_and_where_to_read_it() -> None:
    run = played(THREE_ROUNDS)
    left = "After 3 review rounds, issues remain: critical 1, important 2, minor 1"
    path = document_path(run, 3)
    assert run_object(told(run))["escalation"] == {
        "counts": {"critical": 1, "high": 2, "medium": 1, "low": 0, "info": 0},
        "document": path,
    }
    assert {left, f"Findings document: {path}"} <= set(plain(summary(told(run))).splitlines())
    shown = plain(choice_lines(told(run)))
    assert left in shown
    assert f"Findings document: {path}" in shown
    markdown = render(told(run), "markdown")
    assert f"> {left}\n> Findings document: {path}\n" in markdown
    assert [finding.title for finding in parse(markdown, no_repository).findings] == ["One", "Two", "Three", "Four"]


def test_only_a_waiting_run_is_escalated() -> None:
    run = played(RehearsalScript(protocol="epic", reviews={"*": ("clean",)}))
    assert run_object(told(run))["escalation"] is None
    assert "Waiting" not in render(told(run), "markdown")


def test_at_the_hard_cap_one_more_round_is_not_offered() -> None:
    script = RehearsalScript(
        protocol="epic", reviews={"*": ("critical",) * 5}, fixes=("fixed",) * 4, decisions=("c", "c")
    )
    said = text(played(script), "")
    assert "After 5 review rounds" in said
    assert "b) Accept" in said
    assert "c)" not in said
    assert "Findings document" not in said


@pytest.mark.parametrize(
    ("fallback", "second"),
    [
        ({"review": "claude"}, "2. **[2] Run with Claude** - Re-run code-review with Claude agent"),
        ({}, "2. **[2] Run with another agent** - Re-run code-review with the other agent"),
    ],
)
def test_a_story_that_waits(fallback: dict[str, str], second: str) -> None:
    cycles = ("critical a.py:1 One; low, not-done",) * 5
    run = played(RehearsalScript(protocol="story", reviews={"*": cycles}, fallbacks=fallback))
    head, *_, options, prompt = text(run).split("\n\n")
    assert head == "⚠️ CRITICAL: Story 1.2 Review Blocked"
    assert options == (
        "Options:\n"
        "1. **[1] Manual Fix** - Update sprint-status.yaml yourself\n"
        f"{second}\n"
        "3. **[3] Skip Story** - Mark story as skipped and continue"
    )
    assert prompt == "Your choice:"
    left = "After 5 review cycles, issues remain:\n- CRITICAL: 1\n- HIGH: 0\n- MEDIUM: 0\n- LOW: 1"
    assert f"\n\n{left}\n\n" in text(run)


def test_a_round_that_did_not_run_counts_nothing() -> None:
    said = text(played(RehearsalScript(protocol="story", reviews={"*": ("crashed",) * 5})))
    assert "- CRITICAL" not in said
    assert "After 5 review rounds: session gave no usable answer" in said


def test_without_a_story_the_branch_is_named() -> None:
    run = played(
        RehearsalScript(protocol="default", interactive=True, reviews={"*": ("high",) * 3}, fixes=("elsewhere",) * 3)
    )
    assert text(about(run, story="", branch="fix-login")).startswith("⚠️ Branch fix-login Review Blocked\n")
    assert text(about(played(THREE_ROUNDS), story="", branch="a/b")).startswith("⚠️ Story a/b Review Blocked\n")


def test_a_problem_that_five_reviewers_report_is_one() -> None:
    reviews = {"*": ("high a.py:3 Error is swallowed",)}
    run = played(RehearsalScript(protocol="default", interactive=True, reviews=reviews, fixes=("unchanged",)))
    assert "- Critical: 0\n- Important: 1\n- Minor: 0" in text(run)


def test_what_a_person_waived_no_longer_counts() -> None:
    decided = replace(THREE_ROUNDS, decisions=("waive 2",))
    assert "- Critical: 1\n- Important: 1\n- Minor: 1" in text(played(decided))


def test_the_last_round_alone_counts() -> None:
    """As in the document of that round; an earlier blocker on unchanged lines bars the seal, and is told there."""
    rounds = ("critical a.py:1 One", "high b.py:1 Two", "high b.py:9 Three")
    run = played(RehearsalScript(protocol="epic", reviews={"*": rounds}, fixes=("elsewhere", "elsewhere")))
    assert "- Critical: 0\n- Important: 1\n- Minor: 0" in text(run)


def test_a_run_that_does_not_wait_asks_nothing() -> None:
    assert text(played(RehearsalScript(protocol="epic", reviews={"*": ("clean",)}))) == ""


def test_a_terminal_is_not_driven_by_names() -> None:
    run = played(THREE_ROUNDS)
    subject = replace(run.subject, story="1\x1b[2J")
    said = text(replace(run, started=replace(run.started, subject=subject)), "\x1b]0;x\x07")
    assert "\x1b" not in said
