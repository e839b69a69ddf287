"""Runs as the JSON objects that `--json` prints: documented, versioned, every key always there."""

from typing import Any

from burnish.contracts.finding_json import source_object
from burnish.core.budget import Cap
from burnish.core.evidence import CensusEntry, Missing
from burnish.core.findings import Counts, FixVerdict, Tracked
from burnish.core.gates import Judgement
from burnish.core.state import (
    AnsweredReview,
    Ended,
    FailedReview,
    FixerAnswer,
    FixResult,
    Review,
    Round,
    Run,
    Stopping,
    Waiting,
)
from burnish.report.account import (
    Account,
    RunList,
    UnreadableRun,
    WorkInProgress,
    left_of_last_round,
    open_blockers,
    seats_of,
    state_of,
)
from burnish.report.output import json_text
from burnish.system import clock

VERSION = 1


def render(account: Account) -> str:
    """The object as text."""
    return json_text(run_object(account))


def run_object(account: Account) -> dict[str, Any]:
    """The whole account of a run."""
    run, phase = account.run, account.run.phase
    subject = run.subject
    choices = phase.choices if isinstance(phase, Waiting) else ()
    return {
        "version": VERSION,
        "run": run.id,
        "protocol": run.protocol.name,
        "state": state_of(run),
        "outcome": phase.outcome.value if isinstance(phase, Ended) else None,
        "reason": phase.reason if isinstance(phase, Ended | Waiting) else "",
        "policy": {
            "origin": account.policy_origin,
            "base": subject.base_commit,
            "notes": list(account.policy_notes),
        },
        "subject": {"branch": subject.branch, "base": subject.base, "head": run.commit, "tree": run.tree},
        "supersedes": list(run.started.supersedes),
        "rounds": [_round(run, round_) for round_ in run.rounds],
        "findings": [_finding(entry) for entry in run.findings],
        "census": [_census(entry) for entry in run.census],
        "choices": [{"key": choice.key, "action": choice.action.value, "text": choice.text} for choice in choices],
        "escalation": _escalation(account),
        "seal": {"tree": run.tree, "digest": run.seal} if run.seal else None,
        "usage": {
            "seconds": round(run.usage.seconds, 3),
            "tokens": run.usage.tokens,
            "cost_usd": round(run.usage.cost_usd, 6),
        },
        "budget": {cap.value: run.started.budget.caps.get(cap) for cap in Cap},
        "next": [{"command": step.command, "does": step.does, "first": step.first} for step in account.steps],
    }


def _escalation(account: Account) -> dict[str, Any] | None:
    """What is left, and where to read it, for the person whom the run waits for."""
    if not isinstance(account.run.phase, Waiting):
        return None
    return {"counts": counts_object(left_of_last_round(account.run)), "document": account.document or None}


def _round(run: Run, round_: Round) -> dict[str, Any]:
    works = (seat.work for seat in seats_of(run, round_))
    reviews = [work for work in works if isinstance(work, AnsweredReview | FailedReview)]
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
        "counts": counts_object(review.counts),
    }
    match review:
        case AnsweredReview():
            slow = {"slow": True} if review.slow else {}
            lacking = {} if review.evidence.missing is None else {"missing": _missing(review.evidence.missing)}
            return {**said, "agent": review.agent, "notes": list(review.answer.notes), **lacking, **slow}
        case FailedReview():
            return {**said, "failure": {"kind": review.failure.kind.value, "message": review.failure.message}}


def _missing(missing: Missing) -> dict[str, Any]:
    return {"reason": missing.reason, "hint": missing.hint, "excused": missing.excused}


def counts_object(counts: Counts) -> dict[str, int]:
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


def list_object(runs: RunList) -> dict[str, Any]:
    """The object that `status --json` prints."""
    return {"version": VERSION, "runs": [_row(row) for row in runs.rows], "left_out": runs.left_out}


def _row(row: Account | UnreadableRun) -> dict[str, Any]:
    if isinstance(row, UnreadableRun):
        return {"run": row.name, "state": "unreadable", "reason": row.error}
    run, phase = row.run, row.run.phase
    return {
        "run": run.id,
        "state": state_of(run),
        "interrupted": row.interrupted,
        "outcome": phase.outcome.value if isinstance(phase, Ended) else None,
        "reason": phase.reason if isinstance(phase, Ended | Waiting | Stopping) else "",
        "protocol": run.protocol.name,
        "mode": run.started.mode.value,
        "branch": run.subject.branch,
        "base": run.subject.base,
        "rounds": len(run.rounds),
        "limit": run.limit,
        "blocking": open_blockers(run),
        "choices": [choice.key for choice in phase.choices] if isinstance(phase, Waiting) else [],
        "started_at": run.started.at,
        "process": None if row.driver is None else {"pid": row.driver.pid, "host": row.driver.host},
        "at_work": [_work(work) for work in row.at_work],
    }


def _work(work: WorkInProgress) -> dict[str, Any]:
    return {
        "effect": work.effect,
        "name": work.name,
        "agent": work.agent,
        "seconds": round(max(0.0, clock.now() - work.since), 1),
        "doing": work.doing,
    }
