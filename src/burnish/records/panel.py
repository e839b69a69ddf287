"""Records of the `panel` layout: what each reviewer and the fixer wrote, by round, and the state of the loop."""

from burnish.contracts.issues_record import render_issues, render_verdict_aggregate
from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.contracts.markdown.inert import inert
from burnish.core.state import (
    AnsweredReview,
    Building,
    Ended,
    FixerAnswer,
    Fixing,
    FixResult,
    FixStatus,
    Outcome,
    Phase,
    Reviewing,
    ReviewStatus,
    Round,
    Run,
    Stopping,
    Validating,
    Waiting,
)
from burnish.core.text import clean_text
from burnish.records.interface import RecordFile, RecordTexts, answered_so_far, moment, slug

PHASES = ".agents/tmp/phases"
_OUTCOMES = {
    FixStatus.FIXED: "Fixed.",
    FixStatus.UNCHANGED: "The fixer ran and changed nothing.",
    FixStatus.DID_NOT_RUN: "The fixer did not run to its end.",
}
STATE_PATH = ".agents/tmp/state.json"
PLUGIN = "burnish"
"""Whose file it is: a state with another name here belongs to another tool."""

REVIEW_PHASE, FIX_PHASE = "R1", "R2"
_DONE = (Outcome.APPROVED, Outcome.ACCEPTED)
_SCHEDULE: Json = [
    {"phase": REVIEW_PHASE, "name": "Review", "type": "review"},
    {"phase": FIX_PHASE, "name": "Fix", "type": "fix"},
]
_FIX_STATUS = {FixStatus.FIXED: "complete", FixStatus.UNCHANGED: "complete", FixStatus.DID_NOT_RUN: "failed"}


class PanelRecorder:
    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        state = RecordFile(path=STATE_PATH, text=state_text(run, texts), shared=True)
        return (*(file for round_ in run.rounds for file in _phase_files(run, round_, texts)), state)

    def place(self, run: Run) -> str:
        """One for all subjects: the tools that read it look nowhere else."""
        del run
        return PHASES


RECORDER = PanelRecorder()


def _phase_files(run: Run, round_: Round, texts: RecordTexts) -> list[RecordFile]:
    folder = f"{PHASES}/review-{round_.number}"
    reviewed = texts.reviewed.get(round_.number, ())
    reviews = answered_so_far(run, round_)
    files = [
        RecordFile(
            path=f"{folder}/r1-{slug(review.reviewer)}.json",
            text=_issues(review, reviewed),
            findings_of=round_.number,
        )
        for review in reviews
    ]
    if round_.fix is not None:
        files.append(RecordFile(path=f"{folder}/r2-fix-summary.md", text=_fix_summary(round_.number, round_.fix)))
    if round_.judgement is not None:
        # Only of a complete panel: a verdict without one of the reviewers could look clean.
        verdict = render_verdict_aggregate(
            {review.reviewer: review.answer for review in reviews},
            without_evidence=[review.reviewer for review in reviews if review.status is ReviewStatus.NO_EVIDENCE],
            passes=round_.judgement.passes,
        )
        files.append(RecordFile(path=f"{folder}/r1-verdict.json", text=verdict, is_verdict=True))
    return files


def _issues(review: AnsweredReview, reviewed: tuple[str, ...]) -> str:
    no_evidence = review.status is ReviewStatus.NO_EVIDENCE
    return render_issues(review.reviewer, review.answer, moment(review.finished_at), reviewed, no_evidence=no_evidence)


def _fix_summary(number: int, fix: FixResult) -> str:
    lines = [f"# Fix Summary - Iteration {number}", "", f"**Outcome:** {_OUTCOMES[fix.status]}"]
    lines += [f"**Commit:** {fix.commit}"] if fix.commit else []
    summary = clean_text(fix.text or fix.summary).strip()
    lines += ["", *map(inert, summary.splitlines())] if summary else []
    lines += ["", "## Answers", ""] if fix.answers or fix.strays else []
    lines += [f"- {_answer(one)}" for one in fix.answers]
    lines += [f"- {_answer(one)} (the fixer was not handed this finding)" for one in fix.strays]
    return "\n".join(lines) + "\n"


def _answer(answer: FixerAnswer) -> str:
    said = " ".join(clean_text(answer.text).split())
    return inert(f"{answer.finding}: {answer.verdict.words}" + (f" - {said}" if said else ""))


def state_text(run: Run, texts: RecordTexts) -> str:
    """The state as JSON text. Every key is always there."""
    started, phase = run.started, _current_phase(run.phase)
    updated = moment(max(texts.updated_at, _last_known(run)))
    iterations = [_iteration(run, round_) for round_ in run.rounds]
    if _awaits_round(run):
        iterations.append(_pending(len(run.rounds) + 1, updated))
    state: JsonObject = {
        "version": 1,
        "plugin": PLUGIN,
        "pipeline": "review",
        "status": "in_progress" if phase in (REVIEW_PHASE, FIX_PHASE) else "complete" if phase == "DONE" else "stopped",
        "task": started.subject.title or started.subject.story or started.subject.branch,
        "ownerPpid": str(run.owner or ""),
        "sessionId": run.session or run.id,
        "iteration": max(len(iterations), 1),
        "maxIterations": run.limit,
        "currentPhase": phase,
        "startedAt": moment(started.at),
        "updatedAt": updated,
        "schedule": _SCHEDULE,
        "files": list[Json](texts.reviewed.get(len(run.rounds), ())),
        "failure": _failure(run.phase),
        "iterations": list[Json](iterations),
    }
    return write_json(state)


def _current_phase(phase: Phase) -> str:
    match phase:
        case Ended():
            return "DONE" if phase.outcome in _DONE else "STOPPED"
        case Waiting():
            return "STOPPED"
        case Stopping():
            return _current_phase(phase.interrupted)
        case Fixing():
            return FIX_PHASE
        case _:
            return REVIEW_PHASE


def _awaits_round(run: Run) -> bool:
    """Whether the next round is due and not open yet. Readers count it from the end of the fix."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    match phase:
        case Reviewing():
            return phase.round > len(run.rounds)
        case Building():
            return True
        case Validating():
            return phase.approval is None
        case _:
            return False


def _failure(phase: Phase) -> Json:
    """Why the loop stopped; nothing where it stopped by its own rule."""
    if isinstance(phase, Waiting):
        return phase.reason
    if not isinstance(phase, Ended) or phase.outcome in (*_DONE, Outcome.STOPPED):
        return None
    return f"{phase.outcome.value}: {phase.reason}"


def _iteration(run: Run, round_: Round) -> JsonObject:
    verdict: Json = None
    if round_.judgement is not None:
        verdict = "clean" if round_.judgement.passes else "issues_found"
        reviewed: JsonObject = {"status": "complete", "verdict": verdict}
    elif isinstance(run.phase, Ended | Waiting) or round_.number < len(run.rounds):
        reviewed = {"status": "failed"}
    else:
        reviewed = {"status": "in_progress" if answered_so_far(run, round_) else "pending"}
    return {
        "iteration": round_.number,
        "startedAt": moment(round_.opened_at),
        "r1": reviewed,
        "r2": {"status": _fix_status(run, round_)},
        "verdict": verdict,
    }


def _pending(number: int, since: str) -> JsonObject:
    waiting: JsonObject = {"status": "pending"}
    return {"iteration": number, "startedAt": since, "r1": waiting, "r2": waiting, "verdict": None}


def _fix_status(run: Run, round_: Round) -> str:
    if round_.fix is not None:
        return _FIX_STATUS[round_.fix.status]
    is_last = round_.number == len(run.rounds)
    return "in_progress" if is_last and _current_phase(run.phase) == FIX_PHASE else "pending"


def _last_known(run: Run) -> float:
    """The latest moment that the state itself holds."""
    finished = (review.finished_at for round_ in run.rounds for review in answered_so_far(run, round_))
    return max((run.started.at, *(round_.opened_at for round_ in run.rounds), *finished))
