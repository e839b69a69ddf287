"""Records of the `epic` layout: one findings document for each round, beside the stories."""

from burnish.core.state import Round, Run
from burnish.records.interface import RecordFile, RecordTexts, minute, slug

FOLDER = "docs/progress"


def document_path(run: Run, number: int) -> str:
    return f"{_documents(run)}{number}.md"


def _documents(run: Run) -> str:
    return f"{FOLDER}/story-{slug(run.subject.story_or_branch)}-review-findings-round-"


class EpicRecorder:
    """Findings documents, written by burnish in the fixed form, whatever the reviewer's own looked like."""

    def files(self, run: Run, texts: RecordTexts) -> tuple[RecordFile, ...]:
        del texts
        documents = ((round_.number, _document(run, round_)) for round_ in run.rounds)
        return tuple(
            RecordFile(path=document_path(run, number), text=text, findings_of=number, is_verdict=True)
            for number, text in documents
            if text is not None
        )

    def place(self, run: Run) -> str:
        return _documents(run)


RECORDER = EpicRecorder()


def _document(run: Run, round_: Round) -> str | None:
    """None while a round is not complete, and where it could not be judged: an empty document would look clean."""
    reviews = round_.answered
    if round_.judgement is None or not reviews:
        return None
    from burnish.contracts.markdown.render import FindingsDocument, render  # noqa: PLC0415 - no other layout needs it

    listed = tuple(finding for review in reviews for finding in review.answer.findings)
    # Where reviewers objected without a list, the objection stands for it.
    objections = () if all(review.answer.clean for review in reviews) else round_.judgement.blocking
    document = FindingsDocument(
        story=run.subject.story_or_branch,
        round=round_.number,
        date=minute(max(review.finished_at for review in reviews)),
        branch=run.subject.branch,
        findings=listed or objections,
        unproven=tuple(f"{gap.subject}: {gap.reason}" for gap in round_.judgement.gaps),
    )
    return render(document)
