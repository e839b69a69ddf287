"""Runs that are planned in a real repository, and earlier ones in its ledger that have used something up."""

from pathlib import Path

from burnish.core.effects import StartReview, StartValidation
from burnish.core.events import (
    Change,
    Closed,
    Mode,
    Outcome,
    Reviewed,
    RunStarted,
    SessionFinished,
    StoryStatus,
    Validated,
    ValidationStatus,
    WorkStarted,
)
from burnish.core.findings import Finding, Severity
from burnish.core.loop import decide
from burnish.core.reviews import Answer, Usage
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.context import as_json
from burnish.runtime.journal import Journal
from burnish.system.identifiers import this_process
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.plan_run import Plan, RunRequest, plan

CODE = "def half(x):\n    return x / 2\n"


class Project:
    """A repository with a policy on its base, and a branch that changes something."""

    def __init__(self, folder: Path, policy: str) -> None:
        files = {"app.py": CODE, "burnish.toml": policy}
        self.builder = RepositoryBuilder(folder / "repository").commit(files, "Begin").branch("change")
        self.builder.commit({"app.py": CODE.replace("2", "3")}, "Change")
        self._environment = {"HOME": str(folder)}
        self._runs = 0

    def plan(self, mode: Mode = Mode.FIX, *, branch: str | None = None, story: str = "") -> Plan:
        return plan(self.builder.path, RunRequest(mode=mode, branch=branch, story=story), self._environment)

    def ran(self, planned: Plan, *usages: Usage, ended: bool = True) -> None:
        """A run of such a plan whose first reviewers have used up so much, in ten seconds each."""
        with open_ledger(planned.repository.state_dir) as ledger:
            journal = self._begun(ledger, planned)
            for number, usage in enumerate(usages):
                effect = _start(journal, at=10.0 * number)
                answer = Answer(clean=True)
                journal.record(Reviewed(at=10.0 * number + 10.0, effect=effect, answer=answer, usage=usage))
            if ended:
                journal.record(Closed(at=99.0, outcome=Outcome.STOPPED, reason="so"))
            journal.release()

    def asked(self, planned: Plan) -> str:
        """The name of a run of such a plan, by a session, that waits for a person after its only review."""
        with open_ledger(planned.repository.state_dir) as ledger:
            journal = self._begun(ledger, planned, max_reviews=1)
            change = Change(commit=planned.subject.head, tree=planned.subject.tree)
            found = Answer(clean=False, findings=(Finding(severity=Severity.CRITICAL, title="wrong"),))
            effect = _start(journal, at=1.0)
            journal.record(
                SessionFinished(at=2.0, effect=effect, answer=found, change=change, status=StoryStatus.NOT_DONE)
            )
            journal.release()
            return journal.state.id

    def _begun(self, ledger: Ledger, planned: Plan, max_reviews: int | None = None) -> Journal:
        self._runs += 1
        started = RunStarted(
            at=0.0,
            run=f"20261115-08150{self._runs}-aaaaaa",
            mode=planned.mode,
            subject=planned.subject,
            protocol=planned.protocol,
            roles=planned.roles,
            max_reviews=max_reviews,
            budget=planned.budget,
            context=as_json(planned.inputs),
        )
        return Journal.begin(ledger, started, this_process())


def _start(journal: Journal, at: float) -> str:
    """Begin what comes first of what is wanted, validation without any command before it."""
    effect = decide(journal.state)[0]
    if isinstance(effect, StartValidation):
        journal.record(WorkStarted(at=at, effect=effect.id, agent="burnish"))
        journal.record(Validated(at=at, effect=effect.id, status=ValidationStatus.SKIPPED))
        effect = decide(journal.state)[0]
    assert isinstance(effect, StartReview)
    journal.record(WorkStarted(at=at, effect=effect.id, agent=effect.agent, share=effect.share))
    return effect.id
