"""A whole prompt of each protocol, as it is sent."""

from inline_snapshot import external_file
from tests.prompts.conftest import NONCE

from burnish.core.events import Subject
from burnish.core.findings import Finding
from burnish.core.reviews import ContractName, DimensionScore, ScoreCard
from burnish.core.state import FixOrder
from burnish.core.values import replace
from burnish.prompts.context import (
    BuildMaterial,
    Criterion,
    FixMaterial,
    ReviewMaterial,
    Ticket,
    builder_prompt,
    fixer_prompt,
    reviewer_prompt,
    session_prompt,
)
from burnish.protocols.loader import load


def test_epic_reviewer(small_change: ReviewMaterial) -> None:
    material = replace(
        small_change,
        brief="Users log in with a name.",
        intent="Make it simple.",
        acceptance=("A name suffices", "Nothing is logged"),
        guidance=(("REVIEW.md", "Look at logs."), ("AGENTS.md", " ")),
        rules=(("src/**", "No passwords."),),
        left_out=("poetry.lock",),
    )
    assert reviewer_prompt(load("epic").protocol, material, nonce=NONCE) == external_file(
        "snapshots/epic-reviewer.md", format=".txt"
    )


def test_epic_fixer(first_fix: FixMaterial) -> None:
    material = replace(
        first_fix,
        brief="Users log in with a name.",
        brief_path="docs/stories/1-2-login.md",
        findings_document="docs/progress/story-1.2-review-findings-round-1.md",
        test_commands=("pytest -q", "ruff check ."),
        coverage_floor=80.0,
        notes=(("f1", "Do not touch the audit log."), ("", "Keep it small.")),
        validation_output="1 failed",
        hook_rejection="tdd-guard: write the test first",
    )
    assert fixer_prompt(load("epic").protocol, material, nonce=NONCE) == external_file(
        "snapshots/epic-fixer.md", format=".txt"
    )


def test_ticket_reviewer_of_a_revision(small_change: ReviewMaterial) -> None:
    material = replace(
        small_change,
        reviewer="code-review",
        contract=ContractName.REPORT,
        coordination="authenticateUser has arity 2",
        revision_count=1,
        previous_feedback="Add a test.",
        scratch="/scratch/copy",
        ticket=Ticket(
            ticket_id="auth-base",
            ticket_path="tickets/auth-base.md",
            epic_path="epic.yaml",
            acceptance_criteria=(Criterion(criterion="A name suffices", met=True),),
        ),
    )
    assert reviewer_prompt(load("ticket").protocol, material, nonce=NONCE) == external_file(
        "snapshots/ticket-reviewer-of-a-revision.md", format=".txt"
    )


def test_ticket_fixer(first_fix: FixMaterial) -> None:
    scores = (DimensionScore(name="requirement_adherence", score=95), DimensionScore(name="test_quality", score=40))
    order = replace(first_fix.order, instructions="Add a test for the empty name.")
    material = replace(first_fix, order=order, card=ScoreCard(dimensions=scores))
    assert fixer_prompt(load("ticket").protocol, material, nonce=NONCE) == external_file(
        "snapshots/ticket-fixer.md", format=".txt"
    )


def test_story_session(small_change: ReviewMaterial) -> None:
    material = replace(
        small_change, reviewer="session", status_files=("sprint-status.yaml",), acceptance=("A name suffices",)
    )
    assert session_prompt(load("story").protocol, material, nonce=NONCE) == external_file(
        "snapshots/story-session.md", format=".txt"
    )


def test_panel_reviewer(small_change: ReviewMaterial) -> None:
    material = replace(small_change, reviewer="critic", contract=ContractName.ISSUES)
    assert reviewer_prompt(load("panel").protocol, material, nonce=NONCE) == external_file(
        "snapshots/panel-reviewer.md", format=".txt"
    )


def test_panel_fixer(first_fix: FixMaterial, logged_password: Finding, unclear_name: Finding) -> None:
    order = FixOrder(number=1, round=1, must=(logged_password, unclear_name))
    assert fixer_prompt(load("panel").protocol, replace(first_fix, order=order), nonce=NONCE) == external_file(
        "snapshots/panel-fixer.md", format=".txt"
    )


def test_drift_reviewer_after_a_fix(small_change: ReviewMaterial) -> None:
    material = replace(
        small_change,
        contract=ContractName.VERDICT,
        brief="Bead b-1: log in",
        implementer_output="I did it.",
        attempt=2,
        previous_feedback="Do not log the password.",
        parallel_agents=True,
    )
    assert reviewer_prompt(load("drift").protocol, material, nonce=NONCE) == external_file(
        "snapshots/drift-reviewer-after-a-fix.md", format=".txt"
    )


def test_drift_fixer(first_fix: FixMaterial) -> None:
    order = FixOrder(number=2, round=2, instructions="Do not log the password.")
    material = replace(first_fix, round=2, order=order)
    assert fixer_prompt(load("drift").protocol, material, nonce=NONCE) == external_file(
        "snapshots/drift-fixer.md", format=".txt"
    )


def test_default_reviewer_in_a_ratchet_round(small_change: ReviewMaterial, logged_password: Finding) -> None:
    material = replace(
        small_change,
        round=2,
        reviewer="silent-failure-hunter",
        contract=ContractName.ISSUES,
        former=(logged_password,),
        fix_diff="diff --git a/src/login.py b/src/login.py\n-log(name, password)\n+log(name)\n",
    )
    assert reviewer_prompt(load("default").protocol, material, nonce=NONCE) == external_file(
        "snapshots/default-reviewer-in-a-ratchet-round.md", format=".txt"
    )


def test_default_fixer(first_fix: FixMaterial) -> None:
    assert fixer_prompt(load("default").protocol, first_fix, nonce=NONCE) == external_file(
        "snapshots/default-fixer.md", format=".txt"
    )


def test_repair_after_a_failed_validation(first_fix: FixMaterial) -> None:
    order = FixOrder(number=1, round=0, instructions="FAILED test_login", after_validation=True)
    material = replace(first_fix, round=0, order=order, test_commands=("pytest -q",))
    assert fixer_prompt(load("story").protocol, material, nonce=NONCE) == external_file(
        "snapshots/repair-after-a-failed-validation.md", format=".txt"
    )


def test_builder(subject: Subject) -> None:
    material = BuildMaterial(
        run="r1",
        subject=subject,
        brief="Users log in with a name.",
        acceptance=("A name suffices",),
        test_commands=("pytest -q",),
        coverage_floor=80.0,
    )
    assert builder_prompt(material, nonce=NONCE) == external_file("snapshots/builder.md", format=".txt")
