"""Runs that are begun as real ones in a real repository and keep their records; what agents do is played."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from burnish.core.effects import AskPerson, Effect, MakeSeal, StartFix, StartReview, StartTimer, StartValidation
from burnish.core.events import (
    AnyEvent,
    Cancelled,
    Change,
    Closed,
    Decided,
    Fixed,
    Mode,
    Reviewed,
    Sealed,
    SessionFinished,
    StoryStatus,
    TimerFired,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.findings import Finding, Severity
from burnish.core.loop import decide
from burnish.core.reviews import Answer, ContractName, Failure, FailureKind
from burnish.core.state import Ended, Run
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.script import read_answer
from burnish.settings.loading import Flags
from burnish.system import clock
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.plan_run import Plan, RunRequest, plan
from burnish.usecases.start_run import begin
from burnish.usecases.write_records import RecordKeeper
from burnish.workspace.repository import Repository

PROTOCOLS = ("panel", "epic", "ticket", "story", "drift")
OUTCOMES = ("clean", "failed", "did-not-run", "cancelled")
_CODE = "".join(f"line_{number} = {number}\n" for number in range(1, 9))
_POLICY = '[agents.mine]\nkind = "command"\ncommand = ["/bin/true"]\n[roles]\nreview = "mine"\nfix = "mine"\n'
_ROUNDS = 2
_BAD = {"ticket": "scores 80 95 80 80 80 90; notes More", "drift": "drift: more"}
_GOOD = {"ticket": "scores 95 95 80 80 80 90", "drift": "pass"}


class Project:
    """A branch that changes one file, made unless it is there, and any number of runs over it."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "repository"
        if not self.checkout.exists():
            builder = RepositoryBuilder(self.checkout).commit({"app.py": _CODE, "burnish.toml": _POLICY}, "A")
            builder.branch("change").commit({"app.py": _CODE.replace("= 5", "= 50")}, "B")
        self.repository = Repository.discover(self.checkout)
        self.environment = {"HOME": str(folder)}
        self._plans: dict[tuple[str, Mode, str], Plan] = {}

    def ledger(self) -> AbstractContextManager[Ledger]:
        return open_ledger(self.repository.state_dir)

    def planned(self, protocol: str, mode: Mode = Mode.FIX, story: str = "") -> Plan:
        key = (protocol, mode, story)
        if key not in self._plans:
            wanted = RunRequest(mode=mode, branch="change", base="main", flags=Flags(protocol=protocol), story=story)
            self._plans[key] = plan(self.checkout, wanted, self.environment)
        return self._plans[key]

    def run(self, ledger: Ledger, protocol: str, outcome: str, story: str = "") -> Run:
        """A run of the change to this outcome, after which its records are up to date."""
        *_, last = self.play(ledger, protocol, outcome, story)
        return last

    def play(self, ledger: Ledger, protocol: str, outcome: str, story: str = "") -> Iterator[Run]:
        """The run after each of its events, with its records."""
        # A session that gives nothing uses up its round, so that only a review of its own can end without one.
        mode = Mode.REVIEW if (protocol, outcome) == ("story", "did-not-run") else Mode.FIX
        planned = self.planned(protocol, mode, story)
        journal = begin(planned, ledger, self.environment, mode=mode, max_rounds=_ROUNDS, interactive=False)
        keeper = RecordKeeper(self.repository, ledger)
        try:
            keeper.recover(journal.state, clock.now())
            yield journal.state
            for event in _happens(lambda: journal.state, protocol, outcome):
                journal.record(event)
                keeper.write(event, journal.state)
                yield journal.state
            keeper.bring_up_to_date(journal.state, journal.state.at)
            assert not keeper.notices
        finally:
            journal.release()
        self.repository.let_go(journal.state.id)
        if outcome == "cancelled":
            self._commit_by_hand(journal.state.id)
        yield journal.state

    def _commit_by_hand(self, name: str) -> None:
        """Start a new count: the reviews of a run that was ended count towards the cap for the same tree."""
        (self.checkout / "NOTES.md").write_text(f"{name} was cancelled.\n")
        git = RepositoryBuilder(self.checkout).git
        git.run("add", "NOTES.md")
        git.run("commit", "--quiet", "--message", "A note")
        self._plans.clear()


def _happens(state: Callable[[], Run], protocol: str, outcome: str) -> Iterator[AnyEvent]:
    for _ in itertools.repeat(None, 200):
        run = state()
        if isinstance(run.phase, Ended):
            yield Closed(at=clock.now(), outcome=run.phase.outcome, reason=run.phase.reason)
            return
        effect = decide(run)[0]
        if isinstance(effect, AskPerson):
            yield Decided(at=clock.now(), choice=effect.choices[0].key)
        elif isinstance(effect, StartTimer):
            yield TimerFired(at=effect.until, effect=effect.id)
        else:
            agent = getattr(effect, "agent", "burnish")
            yield WorkStarted(at=clock.now(), effect=effect.id, agent=agent)
            if outcome == "cancelled" and _is_last_before_cancelling(effect, protocol):
                yield Cancelled(at=clock.now())
                yield WorkLost(at=clock.now(), effect=effect.id)
            else:
                yield _result(state(), effect, protocol, outcome)
    raise AssertionError("the run does not end")


def _is_last_before_cancelling(effect: Effect, protocol: str) -> bool:
    """In the fix after the first round, or in the second session."""
    return isinstance(effect, StartFix) or (
        protocol == "story" and isinstance(effect, StartReview) and effect.round == 2
    )


def _result(run: Run, effect: Effect, protocol: str, outcome: str) -> AnyEvent:
    now = clock.now()
    match effect:
        case StartValidation():
            return Validated(at=now, effect=effect.id, status=ValidationStatus.SKIPPED)
        case StartReview():
            if outcome == "did-not-run":
                failure = Failure(kind=FailureKind.CANNOT_RUN, message="not installed")
                return WorkFailed(at=now, effect=effect.id, failure=failure)
            evidence = Evidence(examined=tuple(Examined(path=file.path, level=Level.READ) for file in run.changed))
            answer = _answer(run, protocol, outcome)
            if not effect.session:
                return Reviewed(at=now, effect=effect.id, answer=answer, evidence=evidence)
            status = StoryStatus.DONE if answer.clean else StoryStatus.NOT_DONE
            change = Change(commit=run.commit, tree=run.tree, changed=run.changed)
            return SessionFinished(
                at=now, effect=effect.id, answer=answer, change=change, status=status, evidence=evidence
            )
        case StartFix():
            # The commit is a real one, which records ask for its paths; only the tree is another.
            change = Change(commit=run.commit, tree=f"tree-{effect.order.number}", changed=run.changed)
            return Fixed(at=now, effect=effect.id, change=change, summary="changed")
        case MakeSeal():
            return Sealed(at=now, effect=effect.id, digest="d")
        case _:
            raise AssertionError(effect)


def _answer(run: Run, protocol: str, outcome: str) -> Answer:
    if outcome == "clean":
        return read_answer(_GOOD.get(protocol, "clean"), run.protocol)
    if run.protocol.contract in (ContractName.REPORT, ContractName.VERDICT):
        return read_answer(_BAD[protocol], run.protocol)
    return Answer(clean=False, findings=(Finding(severity=Severity.CRITICAL, title=f"Wrong {len(run.rounds)}"),))
