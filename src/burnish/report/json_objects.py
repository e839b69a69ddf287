"""Runs as the JSON objects that `--json` prints: documented, versioned, every key always there."""

from collections.abc import Sequence

from msgspec import to_builtins

from burnish.contracts.finding_json import finding_object
from burnish.core.break_glass import BreakGlass
from burnish.core.budget import Cap
from burnish.core.evidence import CensusEntry
from burnish.core.findings import FixVerdict, Tracked
from burnish.core.gates import Judgement
from burnish.core.reviews import Usage
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
from burnish.report.json_types import (
    AnswerObject,
    BreakGlassObject,
    CensusObject,
    EpicRowObject,
    EscalationObject,
    FixObject,
    JudgementObject,
    ListObject,
    ReviewObject,
    RoundObject,
    RowObject,
    RunObject,
    SealObject,
    SubjectObject,
    TrackedFindingObject,
    UsageObject,
    WorkObject,
)
from burnish.report.output import json_text
from burnish.system import clock

VERSION = 1


def render(account: Account) -> str:
    return json_text(run_object(account))


def run_object(account: Account) -> RunObject:
    run, subject, waits = account.run, account.run.subject, isinstance(account.run.phase, Waiting)
    caps = run.started.budget.caps
    return {
        "version": VERSION,
        "run": run.id,
        "protocol": run.protocol.name,
        "state": state_of(run),
        "outcome": run.outcome.value if run.outcome else None,
        "reason": run.phase.reason if isinstance(run.phase, Ended | Waiting) else "",
        "policy": {"origin": account.policy_origin, "base": subject.base_commit, "notes": list(account.policy_notes)},
        "subject": _subject(run),
        "supersedes": list(run.started.supersedes),
        "rounds": [_round(run, round_) for round_ in run.rounds],
        "findings": [tracked_object(entry, account) for entry in run.findings],
        "census": [_census(entry) for entry in run.census],
        "choices": [{"key": choice.key, "action": choice.action.value, "text": choice.text} for choice in run.choices],
        "escalation": _escalation(account) if waits else None,
        "enforced": run.started.enforced,
        "seal": _seal(run) if run.seal else None,
        "break_glass": [break_glass_object(one) for one in account.break_glass],
        "usage": usage_object(run.usage),
        "budget": {
            "cost_usd": caps.get(Cap.COST),
            "tokens": caps.get(Cap.TOKENS),
            "minutes": caps.get(Cap.MINUTES),
        },
        "next": [{"command": step.command, "does": step.does, "first": step.first} for step in account.steps],
    }


def break_glass_object(record: BreakGlass) -> BreakGlassObject:
    return to_builtins(record)


def _seal(run: Run) -> SealObject:
    return {"tree": run.tree, "digest": run.seal, "kinds": [kind.value for kind in run.seal_kinds]}


def _subject(run: Run) -> SubjectObject:
    said: SubjectObject = {
        "branch": run.subject.branch,
        "base": run.subject.base,
        "head": run.commit,
        "tree": run.tree,
    }
    if run.subject.paths:
        said["paths"] = list(run.subject.paths)
    if run.subject.as_is:
        said["as_is"] = True
    if run.subject.imported:
        said["imported"] = True
    return said


def _escalation(account: Account) -> EscalationObject:
    """What is left, and where to read it, for the person whom the run waits for."""
    return {"counts": to_builtins(left_of_last_round(account.run)), "document": account.document or None}


def usage_object(usage: Usage) -> UsageObject:
    return {"seconds": round(usage.seconds, 3), "tokens": usage.tokens, "cost_usd": round(usage.cost_usd, 6)}


def _round(run: Run, round_: Round) -> RoundObject:
    works = (seat.work for seat in seats_of(run, round_))
    reviews = [work for work in works if isinstance(work, AnsweredReview | FailedReview)]
    return {
        "round": round_.number,
        "scope": round_.scope.value,
        "reviews": [_review(review) for review in reviews],
        # A round that could not be judged has no judgement, which is never the same as a clean one.
        "judgement": None if round_.judgement is None else _judgement(round_.judgement),
        "fix": None if round_.fix is None else _fix(round_.fix),
    }


def _review(review: Review) -> ReviewObject:
    said: ReviewObject = {
        "reviewer": review.reviewer,
        "status": review.status.value,
        "counts": to_builtins(review.counts),
    }
    match review:
        case AnsweredReview():
            said["agent"] = review.agent
            said["notes"] = list(review.answer.notes)
            missing, tests = review.evidence.missing, review.evidence.tests
            if missing is not None:
                said["missing"] = {"reason": missing.reason, "hint": missing.hint, "excused": missing.excused}
            if tests is not None:
                said["tests"] = {"ran": tests.ran, "reaching": tests.reaching}
            if review.slow:
                said["slow"] = True
        case FailedReview():
            said["failure"] = {"kind": review.failure.kind.value, "message": review.failure.message}
    return said


def _judgement(judgement: Judgement) -> JudgementObject:
    return {
        "clean": judgement.passes,
        "blocking": len(judgement.blocking) + len(judgement.carried),
        "reasons": list(judgement.reasons),
        "gaps": [{"subject": gap.subject, "reason": gap.reason, "hint": gap.hint} for gap in judgement.gaps],
    }


def _fix(fix: FixResult) -> FixObject:
    return {
        "status": fix.status.value,
        "commit": fix.commit or None,
        "summary": fix.summary,
        "answers": [_answer(each) for each in fix.answers],
        "unknown_answers": [_answer(each) for each in fix.strays],
    }


def _answer(answer: FixerAnswer) -> AnswerObject:
    verdict = answer.verdict
    fixed = verdict is FixVerdict.FIXED
    return {"finding": answer.finding, "answer": verdict.value, "fixed": fixed, "text": answer.text}


def _census(entry: CensusEntry) -> CensusObject:
    return {
        "file": entry.file.path,
        "need": entry.file.need.value,
        "level": entry.level.value,
        "enough": entry.enough,
        "by": list(entry.by),
        "why": entry.file.why,
    }


def tracked_object(entry: Tracked, account: Account) -> TrackedFindingObject:
    """A finding of a run, with the line that it is about."""
    line = account.code.get(entry.finding.id)
    return {
        **finding_object(entry.finding),
        "count": 1 + len(entry.finding.also_at),
        "fixable": entry.finding.fixable,
        "code": None if line is None else line.text,
        "status": entry.status.value,
        "note": entry.note,
        "round": entry.round,
    }


def list_object(runs: RunList, epics: Sequence[EpicRowObject] = ()) -> ListObject:
    listed: ListObject = {"version": VERSION, "runs": [_row(row) for row in runs.rows], "left_out": runs.left_out}
    if epics:
        listed["epics"] = list(epics)
    return listed


def _row(row: Account | UnreadableRun) -> RowObject:
    if isinstance(row, UnreadableRun):
        return {"run": row.name, "state": "unreadable", "reason": row.error}
    run = row.run
    return {
        "run": run.id,
        "state": state_of(run),
        "interrupted": row.interrupted,
        "outcome": run.outcome.value if run.outcome else None,
        "reason": run.phase.reason if isinstance(run.phase, Ended | Waiting | Stopping) else "",
        "protocol": run.protocol.name,
        "mode": run.started.mode.value,
        "branch": run.subject.branch,
        "base": run.subject.base,
        "rounds": len(run.rounds),
        "limit": run.limit,
        "blocking": open_blockers(run),
        "choices": [choice.key for choice in run.choices],
        "started_at": run.started.at,
        "process": None if row.driver is None else {"pid": row.driver.pid, "host": row.driver.host},
        "at_work": [_work(work) for work in row.at_work],
    }


def _work(work: WorkInProgress) -> WorkObject:
    return {
        "effect": work.effect,
        "name": work.name,
        "agent": work.agent,
        "seconds": round(max(0.0, clock.now() - work.since), 1),
        "doing": work.doing,
    }
