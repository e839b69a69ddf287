"""Records of the `panel` layout: what each reviewer and the fixer wrote, by round, and the state of the loop."""

from burnish.contracts.issues_record import render_issues, render_verdict_aggregate
from burnish.contracts.markdown.inert import inert
from burnish.core.state import FixerAnswer, FixResult, FixStatus, GoodReview, ReviewStatus, Round, Run
from burnish.core.text import clean_text
from burnish.records.interface import RecordFile, RecordTexts
from burnish.records.naming import answered, moment, reviews_of, slug
from burnish.records.panel_state import STATE_PATH, state_text

PHASES = ".agents/tmp/phases"
_OUTCOMES = {
    FixStatus.FIXED: "Fixed.",
    FixStatus.UNCHANGED: "The fixer ran and changed nothing.",
    FixStatus.DID_NOT_RUN: "The fixer did not run to its end.",
}


class PanelRecorder:
    """Phase files and `state.json`."""

    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        state = RecordFile(path=STATE_PATH, text=state_text(run, texts), shared=True)
        return (*(file for round_ in run.rounds for file in _phase_files(run, round_, texts)), state)

    def place(self, run: Run) -> str:
        """One for all subjects: the tools that read it look nowhere else."""
        del run
        return PHASES


def _phase_files(run: Run, round_: Round, texts: RecordTexts) -> list[RecordFile]:
    folder = f"{PHASES}/review-{round_.number}"
    reviewed = texts.reviewed.get(round_.number, ())
    reviews = answered(reviews_of(run, round_))
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


def _issues(review: GoodReview, reviewed: tuple[str, ...]) -> str:
    no_evidence = review.status is ReviewStatus.NO_EVIDENCE
    return render_issues(review.reviewer, review.answer, moment(review.finished_at), reviewed, no_evidence=no_evidence)


def _fix_summary(number: int, fix: FixResult) -> str:
    lines = [f"# Fix Summary - Iteration {number}", "", f"**Outcome:** {_OUTCOMES[fix.status]}"]
    if fix.commit:
        lines.append(f"**Commit:** {fix.commit}")
    text = fix.text or fix.summary
    summary = [inert(line) for line in clean_text(text).strip().splitlines()]
    answers = [f"- {_answer(one)}" for one in fix.answers]
    answers += [f"- {_answer(one)} (the fixer was not handed this finding)" for one in fix.strays]
    parts = [lines, ["", *summary] if summary else [], ["", "## Answers", "", *answers] if answers else []]
    return "\n".join(line for part in parts for line in part) + "\n"


def _answer(answer: FixerAnswer) -> str:
    said = " ".join(clean_text(answer.text).split())
    return inert(f"{answer.finding}: {answer.verdict.words}" + (f" - {said}" if said else ""))
