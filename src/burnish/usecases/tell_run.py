"""The account of a run, gathered in one place for every command and every form that tells of it."""

from pathlib import Path

from burnish.core.protocol import RecordLayout
from burnish.core.state import AnsweredReview, Run, Waiting
from burnish.core.values import replace
from burnish.records.interface import RecordTexts
from burnish.records.registry import record_files
from burnish.report.account import Account, RunSnapshot
from burnish.runtime.context import context_of, has_context
from burnish.usecases.next_steps import next_steps
from burnish.workspace.repository import Repository


def tell(repository: Repository, snapshot: RunSnapshot, folder: Path | None = None) -> Account:
    """The whole account. `folder` is where the user is, for the commands that come next."""
    return replace(tell_state(snapshot), steps=next_steps(repository, snapshot, folder))


def tell_state(snapshot: RunSnapshot) -> Account:
    """An account without what to do next, for which git must be asked."""
    run = snapshot.run
    account = Account(run=run, driver=snapshot.driver, document=_document(run))
    if not has_context(run.started):
        return account
    inputs = context_of(run)
    agents = {
        review.agent for round_ in run.rounds[-1:] for review in round_.reviews if isinstance(review, AnsweredReview)
    }
    kinds = {name: agent.kind for name in agents if (agent := inputs.settings.agent(name)) is not None}
    return replace(
        account,
        policy_origin=inputs.policy.value,
        policy_notes=inputs.governance.notices,
        by_rule=tuple(name for name, kind in kinds.items() if kind.is_by_rule),
    )


def _document(run: Run) -> str:
    """The newest findings document on record of a run that waits, in the layout that has them."""
    if not isinstance(run.phase, Waiting) or run.protocol.layout is not RecordLayout.EPIC:
        return ""
    files = record_files(run, RecordTexts())
    return files[-1].path if files else ""
