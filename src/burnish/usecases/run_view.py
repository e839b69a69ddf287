"""A run as the one JSON object that `--json` prints: documented, versioned, and made from the state alone."""

from collections.abc import Sequence
from typing import Any

from burnish.contracts.finding_json import source_object
from burnish.core.budget import Cap
from burnish.core.evidence import CensusEntry, Missing
from burnish.core.findings import Counts, FixVerdict, Tracked
from burnish.core.gates import Judgement
from burnish.core.state import (
    Ended,
    FixerAnswer,
    FixResult,
    GoodReview,
    MissingReview,
    Outcome,
    Review,
    Reviewing,
    Round,
    Run,
    Seat,
    Waiting,
)
from burnish.records.escalation import escalation
from burnish.runtime.inputs import inputs_of
from burnish.usecases.next_steps import Step

VERSION = 1
WAITING_EXIT = 3
PAUSED_EXIT = 1
"""One round is behind, and the gate did not pass."""
RUNNING_EXIT = 4
"""A command that stops while its run goes on has not seen the outcome."""

_EXIT_CODES = {
    Outcome.APPROVED: 0,
    Outcome.ACCEPTED: 0,
    Outcome.SKIPPED: 0,
    Outcome.FAILED: 1,
    Outcome.STOPPED: 1,
    Outcome.BLOCKED: 1,
    Outcome.CANCELLED: 1,
    Outcome.DID_NOT_RUN: 4,
    Outcome.OVER_BUDGET: 5,
    Outcome.UNPROVEN: 6,
}


def exit_code(run: Run) -> int:
    """What a command that followed the run to this point exits with."""
    match run.phase:
        case Ended():
            return _EXIT_CODES[run.phase.outcome]
        case Waiting():
            return WAITING_EXIT
        case _:
            return RUNNING_EXIT


def state_of(run: Run) -> str:
    """`running`, `waiting` or `ended`."""
    match run.phase:
        case Ended():
            return "ended"
        case Waiting():
            return "waiting"
        case _:
            return "running"


def view(run: Run, steps: Sequence[Step] = ()) -> dict[str, Any]:
    """The whole object. `steps` are what a person could do next."""
    phase = run.phase
    subject = run.subject
    choices = phase.choices if isinstance(phase, Waiting) else ()
    return {
        "version": VERSION,
        "run": run.id,
        "protocol": run.protocol.name,
        "state": state_of(run),
        "outcome": phase.outcome.value if isinstance(phase, Ended) else None,
        "reason": phase.reason if isinstance(phase, Ended | Waiting) else "",
        "policy": policy_view(run),
        "subject": {"branch": subject.branch, "base": subject.base, "head": run.commit, "tree": run.tree},
        "supersedes": list(run.started.supersedes),
        "rounds": [_round(run, round_) for round_ in run.rounds],
        "findings": [_finding(entry) for entry in run.findings],
        "census": [_census(entry) for entry in run.census],
        "choices": [{"key": choice.key, "action": choice.action.value, "text": choice.text} for choice in choices],
        "escalation": _escalation(run),
        "seal": {"tree": run.tree, "digest": run.seal} if run.seal else None,
        "usage": {
            "seconds": round(run.usage.seconds, 3),
            "tokens": run.usage.tokens,
            "cost_usd": round(run.usage.cost_usd, 6),
        },
        "budget": {cap.value: run.started.budget.caps.get(cap) for cap in Cap},
        "next": [step.view for step in steps],
    }


def _escalation(run: Run) -> dict[str, Any] | None:
    """What is left, and where to read it, for the person whom the run waits for."""
    told = escalation(run)
    return None if told is None else {"counts": counts_view(told.counts), "document": told.document or None}


def policy_view(run: Run) -> dict[str, Any]:
    """Whose settings governed, and what was said of those that are not used."""
    if not run.started.inputs:
        return {"origin": None, "base": run.subject.base_commit, "notes": []}
    inputs = inputs_of(run)
    return {
        "origin": inputs.policy.value,
        "base": run.subject.base_commit,
        "notes": list(inputs.governance.notices),
    }


def seats_of(run: Run, round_: Round) -> tuple[Seat, ...]:
    """Who reviews in a round: those at work while it is under way, else those with a review."""
    if isinstance(run.phase, Reviewing) and run.phase.round == round_.number:
        return run.phase.seats
    return tuple(Seat(reviewer=review.reviewer, work=review) for review in round_.reviews)


def _round(run: Run, round_: Round) -> dict[str, Any]:
    works = (seat.work for seat in seats_of(run, round_))
    reviews = [work for work in works if isinstance(work, GoodReview | MissingReview)]
    return {
        "round": round_.number,
        "scope": round_.scope.value,
        "reviews": [_review(review) for review in reviews],
        "judgement": _judgement(round_.judgement),
        "fix": _fix(round_.fix),
    }


def _review(review: Review) -> dict[str, Any]:
    said: dict[str, Any] = {
        "reviewer": review.reviewer,
        "status": review.status.value,
        "counts": counts_view(review.counts),
    }
    match review:
        case GoodReview():
            slow = {"slow": True} if review.slow else {}
            lacking = {} if review.evidence.missing is None else {"missing": _missing(review.evidence.missing)}
            return {**said, "agent": review.agent, "notes": list(review.answer.notes), **lacking, **slow}
        case MissingReview():
            return {**said, "failure": {"kind": review.failure.kind.value, "message": review.failure.message}}


def _missing(missing: Missing) -> dict[str, Any]:
    return {"reason": missing.reason, "hint": missing.hint, "excused": missing.excused}


def counts_view(counts: Counts) -> dict[str, int]:
    """Counts by severity, the worst first."""
    return {
        "critical": counts.critical,
        "high": counts.high,
        "medium": counts.medium,
        "low": counts.low,
        "info": counts.info,
    }


def _judgement(judgement: Judgement | None) -> dict[str, Any] | None:
    """A round that could not be judged has no judgement, which is never the same as a clean one."""
    if judgement is None:
        return None
    return {
        "clean": judgement.passes,
        "blocking": len(judgement.blocking) + len(judgement.carried),
        "reasons": list(judgement.reasons),
        "gaps": [{"subject": gap.subject, "reason": gap.reason, "hint": gap.hint} for gap in judgement.gaps],
    }


def _fix(fix: FixResult | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "status": fix.status.value,
        "commit": fix.commit or None,
        "summary": fix.summary,
        "answers": [_answer(each) for each in fix.answers],
        "unknown_answers": [_answer(each) for each in fix.strays],
    }


def _answer(answer: FixerAnswer) -> dict[str, Any]:
    verdict = answer.verdict
    fixed = verdict is FixVerdict.FIXED
    return {"finding": answer.finding, "answer": verdict.value, "fixed": fixed, "text": answer.text}


def _census(entry: CensusEntry) -> dict[str, Any]:
    """How closely a changed file was examined, by whom, and whether that is enough."""
    return {
        "file": entry.file.path,
        "need": entry.file.need.value,
        "level": entry.level.value,
        "enough": entry.enough,
        "by": list(entry.by),
        "why": entry.file.why,
    }


def _finding(entry: Tracked) -> dict[str, Any]:
    finding = entry.finding
    place = finding.location
    return {
        "id": finding.id,
        "severity": finding.severity.value,
        "category": finding.category,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "title": finding.title,
        "status": entry.status.value,
        "found_by": list(finding.found_by),
        "round": entry.round,
        "sources": [source_object(source) for source in finding.sources],
    }
