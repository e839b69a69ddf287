"""Runs that are planned, begun and sealed as real ones, in a real repository and its ledger; only agents are played."""

from collections.abc import Sequence
from pathlib import Path

from burnish.agents.census import changed_files
from burnish.core.effects import AskPerson, Effect, MakeSeal, StartFix, StartReview, StartValidation
from burnish.core.events import (
    AnyEvent,
    Change,
    Closed,
    Decided,
    FindingRefuted,
    FindingWaived,
    Fixed,
    Mode,
    Reviewed,
    Sealed,
    Validated,
    ValidationStatus,
    WorkStarted,
)
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.finding_identity import anchored
from burnish.core.findings import Finding, Location, Severity
from burnish.core.loop import decide
from burnish.core.reviews import Answer
from burnish.core.state import Ended, Run
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.context import context_of
from burnish.runtime.journal import Journal, intend, load_run
from burnish.runtime.sealing import statement_of
from burnish.settings.loading import Flags
from burnish.settings.types import Allowance
from burnish.system import clock
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.plan_run import RunRequest, plan
from burnish.usecases.start_run import begin
from burnish.usecases.verify_seal import Demands, Verification, verify
from burnish.workspace.diffs import changes
from burnish.workspace.repository import Repository
from burnish.workspace.seals import store

CODE = "".join(f"line_{number} = {number}\n" for number in range(1, 21))
MINE = '[agents.mine]\nkind = "command"\ncommand = ["/bin/true"]\n'
YES = '[agents.yes]\nkind = "command"\ncommand = ["/bin/echo", "yes"]\n'
POLICY = f'protocol = "epic"\n{MINE}[roles]\nreview = "mine"\nfix = "mine"\n'


class Project:
    """A repository whose base names one reviewer, and a branch that changes one file."""

    def __init__(self, folder: Path, policy: str | None = POLICY, **further: str) -> None:
        self.folder = folder
        files = {"app.py": CODE, **further, **({} if policy is None else {"burnish.toml": policy})}
        self.builder = RepositoryBuilder(folder / "repository").commit(files, "Begin").branch("change")
        self.builder.commit({"app.py": CODE.replace("= 10\n", "= 11\n")}, "Change")
        self.environment = {"HOME": str(folder / "home"), "XDG_CONFIG_HOME": str(folder / "settings")}

    @property
    def repository(self) -> Repository:
        return Repository.discover(self.builder.path)

    def own_settings(self, text: str) -> None:
        """The user's own settings."""
        (self.folder / "settings" / "burnish").mkdir(parents=True, exist_ok=True)
        (self.folder / "settings" / "burnish" / "config.toml").write_text(text)

    def verify(
        self, ref: str = "change", *, base: str = "main", allow: Sequence[Allowance] = (), **more: object
    ) -> Verification:
        return verify(self.repository, ref, Demands(base=base, allow=tuple(allow), **more))  # pyright: ignore[reportArgumentType]

    def run(
        self,
        *answers: Sequence[Finding],
        mode: Mode = Mode.REVIEW,
        base: str = "main",
        branch: str | None = "change",
        protocol: str | None = None,
        agents: Sequence[str] = (),
        level: Level = Level.READ,
        unexamined: bool = False,
        key: Path | None = None,
        max_rounds: int | None = None,
        trust: bool = False,
    ) -> Run:
        """A run to its end. The reviewers of each round find what the round's answer lists; a fix changes line 1."""
        wanted = RunRequest(
            mode=mode,
            branch=branch,
            base=base,
            flags=Flags(protocol=protocol),
            agents=tuple(agents),
            allow_unexamined=unexamined,
            max_rounds=max_rounds,
        )
        planned = plan(self.builder.path, wanted, self.environment, (lambda _content: True) if trust else None)
        with open_ledger(self.repository.state_dir) as ledger:
            journal = begin(planned, ledger, self.environment, mode=mode, max_rounds=max_rounds, interactive=False)
            try:
                self._drive(journal, answers, level, key)
                journal.record(_end(journal.state))
            finally:
                journal.release()
        self.repository.let_go(journal.state.id)
        return journal.state

    def _drive(self, journal: Journal, answers: Sequence[Sequence[Finding]], level: Level, key: Path | None) -> None:
        for _ in range(100):
            if not (wanted := decide(journal.state)):
                return
            effect = wanted[0]
            if isinstance(effect, AskPerson):
                journal.record(Decided(at=clock.now(), choice="a"))
                continue
            journal.record(WorkStarted(at=clock.now(), effect=effect.id, agent=getattr(effect, "agent", "burnish")))
            journal.record(self._result(journal.state, effect, answers, level, key))
        raise AssertionError("the run does not end")

    def _result(
        self, run: Run, effect: Effect, answers: Sequence[Sequence[Finding]], level: Level, key: Path | None
    ) -> AnyEvent:
        now = clock.now()
        match effect:
            case StartValidation():
                return Validated(at=now, effect=effect.id, status=ValidationStatus.SKIPPED)
            case StartReview():
                found = answers[min(effect.round, len(answers)) - 1] if answers else ()
                content = (self.repository.read_file(run.commit, "app.py") or b"").decode().splitlines()
                findings = anchored(found, lambda _path: content)
                evidence = Evidence(examined=tuple(Examined(path=file.path, level=level) for file in run.changed))
                answer = Answer(clean=not findings, findings=findings)
                return Reviewed(at=now, effect=effect.id, answer=answer, evidence=evidence, prompt="a" * 64)
            case StartFix():
                return Fixed(at=now, effect=effect.id, change=self._fix(run))
            case MakeSeal():
                digest = store(self.repository, statement_of(run, effect), key)
                return Sealed(at=now, effect=effect.id, digest=digest)
            case _:
                raise AssertionError(effect)

    def _fix(self, run: Run) -> Change:
        """A fix far from everything that is found: another value in the first line."""
        self.builder.git.run("checkout", "--quiet", run.commit)
        text = (self.builder.path / "app.py").read_text()
        first, rest = text.split("\n", 1)
        self.builder.commit({"app.py": f"{first}0\n{rest}"}, "Fix")
        commit, tree = self.builder.head, self.builder.tree
        self.builder.git.run("checkout", "--quiet", run.subject.branch)
        return Change(
            commit=commit,
            tree=tree,
            files=changes(self.repository, run.commit, commit),
            changed=changed_files(self.repository, context_of(run).settings, run.subject.base_commit, commit),
        )

    def say(self, run: Run, *, waive: bool) -> Run:
        """A person sets the run's only finding aside."""
        (entry,) = run.findings
        name, now = entry.finding.id, clock.now()
        with open_ledger(self.repository.state_dir) as ledger:
            if waive:
                return intend(ledger, run.id, FindingWaived(at=now, finding=name, reason="known"))
            return intend(ledger, run.id, FindingRefuted(at=now, finding=name, evidence="a constant"))

    def reload(self, run: Run) -> Run:
        with open_ledger(self.repository.state_dir) as ledger:
            return load_run(ledger, run.id)


def _end(run: Run) -> Closed:
    assert isinstance(run.phase, Ended), run.phase
    return Closed(at=clock.now(), outcome=run.phase.outcome, reason=run.phase.reason)


def problem(
    line: int = 10, severity: Severity = Severity.CRITICAL, title: str = "Wrong value", rule: str = ""
) -> Finding:
    return Finding(severity=severity, title=title, location=Location(file="app.py", line=line), rule=rule)
