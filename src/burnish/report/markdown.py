"""A run as a findings document in markdown, which `burnish parse --contract findings` reads back."""

import time

from burnish.contracts.markdown.render import FindingsDocument
from burnish.contracts.markdown.render import render as render_document
from burnish.report import words
from burnish.report.account import Account, still_open


def render(account: Account) -> str:
    """What is still open, what was not examined, and what the fixers said, round by round."""
    run = account.run
    reviewers = [review.reviewer for round_ in run.rounds[-1:] for review in round_.reviews]
    fixes = [(round_.number, round_.fix) for round_ in run.rounds if round_.fix is not None]
    return render_document(
        FindingsDocument(
            story=run.subject.story,
            round=max(1, len(run.rounds)),
            date=time.strftime("%Y-%m-%d %H:%M", time.gmtime(run.at)),
            branch=run.subject.branch,
            reviewer=", ".join(reviewers) or "none yet",
            findings=still_open(run),
            unproven=tuple(words.gap_lines(run)),
            waiting=words.waiting_lines(account),
            answers=tuple(f"Round {number}: {line}" for number, fix in fixes for line in words.fix_answers(fix)),
        )
    )
