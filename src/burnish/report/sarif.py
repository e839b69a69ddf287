"""A run as SARIF: what is still open, and how closely the change was examined."""

from burnish import __version__
from burnish.contracts.sarif_record import SarifAccount, render_sarif
from burnish.core.events import Outcome
from burnish.core.state import ReviewStatus
from burnish.report import words
from burnish.report.account import Account, gaps_of, state_of, still_open

_REVIEWED = (Outcome.APPROVED, Outcome.ACCEPTED, Outcome.FAILED, Outcome.STOPPED, Outcome.BLOCKED)
"""The ends of runs whose reviewers all answered."""
_SILENT = (ReviewStatus.NO_EVIDENCE, ReviewStatus.DID_NOT_RUN)


def render(account: Account) -> str:
    run = account.run
    silent = (review for round_ in run.rounds[-1:] for review in round_.reviews if review.status in _SILENT)
    return render_sarif(
        still_open(run),
        __version__,
        SarifAccount(
            outcome=run.outcome.value if run.outcome else state_of(run),
            complete=run.outcome in _REVIEWED and not gaps_of(run),
            notices=(
                *(f"{review.reviewer}: {words.review_words(review)}" for review in silent),
                *words.gap_lines(run),
            ),
            census=run.census,
        ),
    )
