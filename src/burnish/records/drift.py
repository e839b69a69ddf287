"""Records of the `drift` layout: the verdict of each review, and the attempts to fix, as a slot reports them."""

from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.contracts.verdict import render
from burnish.core.evidence import summary
from burnish.core.reviews import Answer
from burnish.core.state import Ended, FixResult, Outcome, Round, Run
from burnish.core.values import replace
from burnish.records.interface import RecordFile, RecordTexts, moment

ATTEMPTS = "fix-attempts.json"
_STATUSES = {Outcome.APPROVED: "passed", Outcome.ACCEPTED: "passed", Outcome.SKIPPED: "skipped"}


class DriftRecorder:
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


RECORDER = DriftRecorder()


def _answer(round_: Round) -> Answer | None:
    """What the round said as one verdict: where reviewers disagree, drift holds. None where one did not answer."""
    if round_.judgement is None or not round_.answered:
        return None
    said = min((review.answer for review in round_.answered), key=lambda answer: answer.clean)  # one that is not clean
    titles = "\n".join(finding.title for finding in round_.judgement.blocking) or summary(round_.judgement.gaps)
    return replace(said, clean=round_.judgement.passes, follow_up=said.follow_up or titles)


def _slot(run: Run) -> JsonObject:
    # A slot passes or fails: an agent that broke its contract fails it, though it said nothing of the code.
    status = "running" if run.outcome is None else _STATUSES.get(run.outcome, "failed")
    return {
        "id": run.subject.story_or_branch,
        "title": run.subject.title,
        "status": status,
        "failure": run.phase.reason if isinstance(run.phase, Ended) and status != "passed" else None,
        "reviewMaxFixAttempts": run.limit - 1,
        "fixAttempts": run.revisions,
        "reviews": [_review(round_) for round_ in run.rounds],
    }


def _review(round_: Round) -> JsonObject:
    answer = _answer(round_)
    verdict, follow_up = (None, None) if answer is None else ("pass" if answer.clean else "drift", answer.follow_up)
    return {
        "attempt": round_.number - 1,
        "startedAt": moment(round_.opened_at),
        "verdict": verdict,
        "followUpPrompt": follow_up,
        "fix": None if round_.fix is None else _fix(round_.fix),
    }


def _fix(fix: FixResult) -> JsonObject:
    answers: list[Json] = [
        {"finding": one.finding, "answer": one.verdict.value, "text": one.text} for one in fix.answers
    ]
    return {"status": fix.status.value, "commit": fix.commit or None, "answers": answers}
