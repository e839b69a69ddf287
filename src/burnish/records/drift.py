"""Records of the `drift` layout: the verdict of each review, and the attempts to fix, as a slot reports them."""

from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.contracts.verdict import render
from burnish.core.evidence import summary
from burnish.core.reviews import Answer
from burnish.core.state import Ended, FixResult, Outcome, Round, Run
from burnish.core.values import replace
from burnish.records.interface import RecordFile, RecordTexts, answered, moment

ATTEMPTS = "fix-attempts.json"
_PASSED = (Outcome.APPROVED, Outcome.ACCEPTED)


class DriftRecorder:
    """Verdicts and attempts."""

    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        del texts
        verdicts = [
            RecordFile(path=f"verdict-{round_.number}.json", text=render(answer), in_checkout=False)
            for round_ in run.rounds
            if (answer := _answer(round_)) is not None
        ]
        return (*verdicts, RecordFile(path=ATTEMPTS, text=write_json(_slot(run)), in_checkout=False))

    def place(self, run: Run) -> str:
        del run
        return ""


def _answer(round_: Round) -> Answer | None:
    """What the round said as one verdict: where reviewers disagree, drift holds. None where one did not answer."""
    answers = [review.answer for review in answered(round_.reviews)]
    if round_.judgement is None or not answers:
        return None
    said = next((answer for answer in answers if not answer.clean), answers[0])
    clean = round_.judgement.passes
    titles = "\n".join(finding.title for finding in round_.judgement.blocking) or summary(round_.judgement.gaps)
    return replace(said, clean=clean, follow_up=said.follow_up or titles)


def _slot(run: Run) -> JsonObject:
    phase = run.phase
    return {
        "id": run.subject.story_or_branch,
        "title": run.subject.title,
        "status": _status(run),
        "failure": phase.reason if isinstance(phase, Ended) and phase.outcome not in _PASSED else None,
        "reviewMaxFixAttempts": run.limit - 1,
        "fixAttempts": run.revisions,
        "reviews": [_review(round_) for round_ in run.rounds],
    }


def _status(run: Run) -> str:
    """A slot passes or fails: an agent that broke its contract fails it, though it said nothing of the code."""
    if not isinstance(run.phase, Ended):
        return "running"
    if run.phase.outcome in _PASSED:
        return "passed"
    return "skipped" if run.phase.outcome is Outcome.SKIPPED else "failed"


def _review(round_: Round) -> JsonObject:
    answer = _answer(round_)
    verdict: Json = None if answer is None else "pass" if answer.clean else "drift"
    return {
        "attempt": round_.number - 1,
        "startedAt": moment(round_.opened_at),
        "verdict": verdict,
        "followUpPrompt": None if answer is None else answer.follow_up,
        "fix": None if round_.fix is None else _fix(round_.fix),
    }


def _fix(fix: FixResult) -> JsonObject:
    answers: list[Json] = [
        {"finding": one.finding, "answer": one.verdict.value, "text": one.text} for one in fix.answers
    ]
    return {"status": fix.status.value, "commit": fix.commit or None, "answers": answers}
