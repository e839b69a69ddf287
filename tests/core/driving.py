"""Drive a run by hand: one method for each thing that a driver or a person may append, with time going on by itself."""

from burnish.core.budget import Budget, Share
from burnish.core.effects import Effect, ReachBudget, StartBuild, StartFix, StartReview, StartTimer
from burnish.core.events import (
    RULES,
    AnyEvent,
    BudgetReached,
    Built,
    Change,
    Decided,
    FindingRefuted,
    FindingWaived,
    FixAnswer,
    Fixed,
    Mode,
    Reviewed,
    Roles,
    RunStarted,
    Sealed,
    SessionFinished,
    StoryStatus,
    Subject,
    TimerFired,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.evidence import CensusFile, Evidence, Examined, Level, Need
from burnish.core.findings import Finding, FindingStatus, Location, Severity, Tracked
from burnish.core.line_changes import FileChange
from burnish.core.loop import IllegalEventError, decide, evolve
from burnish.core.protocol import (
    Fail,
    FixInput,
    FixRule,
    Protocol,
    Reviewer,
    RoundLimits,
    SeverityGate,
    SkipReason,
    ValidateRule,
)
from burnish.core.reviews import Answer, ContractName, Failure, FailureKind, Usage
from burnish.core.state import Ended, Fixing, Outcome, Reviewing, Run, Stopping, Validating, Waiting
from burnish.core.steps.flow import running_effects
from burnish.core.work import Assignment, Ready

ROLES = Roles(review=Assignment(agent="first"), fix=Assignment(agent="fixer"))
CLEAN = Answer(clean=True)
NO_USAGE = Usage()
NO_BUDGET = Budget()
CHANGED = (CensusFile(path="a.py", need=Need.CODE, before="1", after="2"),)
"""What the change touches: one file of code."""
EXAMINED = Evidence(examined=(Examined(path="a.py", level=Level.READ),))
"""What a reviewer that was given the whole diff has examined."""

PLAIN = Protocol(
    name="plain",
    description="One reviewer, nothing that is optional.",
    contract=ContractName.FINDINGS,
    panel=(Reviewer(name="critic"),),
    gate=SeverityGate(block=Severity.HIGH),
    limits=RoundLimits(reviews=3, hard_cap=5),
    fix=FixRule(input=FixInput.BLOCKING),
    exhausted=Fail(reason="no more after {reviews} reviews and {revisions} revisions"),
    validate=ValidateRule(before_first_review=False),
)
"""The simplest protocol; each test changes the one thing that it is about."""


def problem(
    title: str = "wrong result", severity: Severity = Severity.HIGH, file: str | None = "a.py", line: int | None = 3
) -> Finding:
    """A finding in one line of one file; without a file, about the change as a whole."""
    location = None if file is None else Location(file=file, line=line)
    return Finding(severity=severity, title=title, location=location)


def found(*findings: Finding) -> Answer:
    """An answer that lists findings."""
    return Answer(clean=not findings, findings=findings)


def rewritten(*files: str) -> tuple[FileChange, ...]:
    """A change of every line of some files."""
    return tuple(FileChange(path=file, new_path=file, whole=True) for file in files)


def started(effect: Effect, at: float) -> WorkStarted:
    """The event with which a driver begins work."""
    if isinstance(effect, StartBuild | StartFix | StartReview):
        share = None if effect.share == Share() else effect.share
        return WorkStarted(at=at, effect=effect.id, agent=effect.agent, share=share)
    return WorkStarted(at=at, effect=effect.id, agent="burnish")


class Driven:
    """A run under way. Times are whole seconds from 0 on, one for each event."""

    def __init__(
        self,
        protocol: Protocol = PLAIN,
        *,
        roles: Roles = ROLES,
        mode: Mode = Mode.FIX,
        build: bool = False,
        interactive: bool = False,
        max_reviews: int | None = None,
        budget: Budget = NO_BUDGET,
        validates: bool = False,
        allow_unexamined: bool = False,
        local_policy: bool = False,
        enforced: bool = True,
        waivers: tuple[str, ...] = (),
        remembered: tuple[Tracked, ...] = (),
        rules: int = RULES,
        session: str = "",
        paths: tuple[str, ...] = (),
        as_is: bool = False,
        skip: SkipReason | None = None,
    ) -> None:
        """`validates`: the test plays the validation before a seal itself; else it passes by itself."""
        self.at = 0.0
        self.validates = validates
        started = RunStarted(
            at=0.0,
            run="run-1",
            mode=mode,
            subject=Subject(
                branch="topic",
                base="main",
                base_commit="c",
                head="commit-0",
                tree="tree-0",
                changed=CHANGED,
                paths=paths,
                as_is=as_is,
            ),
            protocol=protocol,
            roles=roles,
            build=build,
            interactive=interactive,
            max_reviews=max_reviews,
            budget=budget,
            rules=rules,
            allow_unexamined=allow_unexamined,
            local_policy=local_policy,
            enforced=enforced,
            waivers=waivers,
            remembered=remembered,
            session=session,
            skip=skip,
        )
        self.run: Run = evolve(None, started)

    def happen(self, event: AnyEvent) -> Run:
        self.run = evolve(self.run, event)
        phase = self.run.phase
        waits = isinstance(phase, Validating) and phase.approval is not None and isinstance(phase.work, Ready)
        return self.validate(ValidationStatus.SKIPPED) if waits and not self.validates else self.run

    def refusal(self, event: AnyEvent) -> str:
        """Why an event is illegal here. The run stays as it was."""
        before = self.run
        try:
            evolve(self.run, event)
        except IllegalEventError as error:
            assert self.run is before
            return str(error)
        raise AssertionError(f"{event} was not refused")

    def tick(self) -> float:
        self.at += 1.0
        return self.at

    @property
    def wanted(self) -> tuple[Effect, ...]:
        return decide(self.run)

    @property
    def running(self) -> tuple[str, ...]:
        phase = self.run.phase.interrupted if isinstance(self.run.phase, Stopping) else self.run.phase
        return () if isinstance(phase, Waiting | Ended) else running_effects(phase)

    def start(self) -> tuple[str, ...]:
        """Start all work that is asked for; what now runs."""
        for effect in self.wanted:
            if isinstance(effect, StartTimer | ReachBudget):
                continue
            self.happen(started(effect, self.tick()))
        return self.running

    def lose(self) -> Run:
        """The driver dies: whoever takes over records what ran as lost."""
        for effect in self.running:
            self.happen(WorkLost(at=self.tick(), effect=effect))
        return self.run

    def reach_budget(self) -> Run:
        """Let the one cap that is asked for be reached."""
        (reach,) = (effect for effect in self.wanted if isinstance(effect, ReachBudget))
        self.at += reach.seconds
        return self.happen(BudgetReached(at=self.at, limit=reach.limit))

    def _effect(self, part: str) -> str:
        """The one effect with this part in its name, started where it does not run yet."""
        running = self.running if any(part in effect for effect in self.running) else self.start()
        (effect,) = (effect for effect in running if part in effect)
        return effect

    def answer(
        self,
        answer: Answer,
        reviewer: str = "critic",
        *,
        usage: Usage = NO_USAGE,
        after: float = 1.0,
        evidence: Evidence = EXAMINED,
    ) -> Run:
        effect = self._effect(f":{reviewer}:")
        self.at += after - 1.0
        return self.happen(Reviewed(at=self.tick(), effect=effect, answer=answer, evidence=evidence, usage=usage))

    def session(
        self,
        answer: Answer | None,
        status: StoryStatus = StoryStatus.ABSENT,
        *,
        tree: str = "tree-1",
        newly_done: bool = False,
        usage: Usage = NO_USAGE,
    ) -> Run:
        effect = self._effect("review:")
        change = Change(commit=f"commit of {tree}", tree=tree, changed=CHANGED)
        return self.happen(
            SessionFinished(
                at=self.tick(),
                effect=effect,
                answer=answer,
                change=change,
                status=status,
                newly_done=newly_done,
                evidence=EXAMINED,
                usage=usage,
            )
        )

    def fix(
        self,
        tree: str,
        files: tuple[FileChange, ...] = (),
        *,
        summary: str = "done",
        usage: Usage = NO_USAGE,
        by_rule: bool = False,
        answers: tuple[FixAnswer, ...] = (),
    ) -> Run:
        effect = self._effect("fix:")
        change = Change(commit=f"commit of {tree}", tree=tree, files=files, changed=CHANGED)
        return self.happen(
            Fixed(
                at=self.tick(),
                effect=effect,
                change=change,
                summary=summary,
                usage=usage,
                by_rule=by_rule,
                answers=answers,
            )
        )

    def build(self, tree: str, *, usage: Usage = NO_USAGE) -> Run:
        effect = self._effect("build:")
        change = Change(commit=f"commit of {tree}", tree=tree, changed=CHANGED)
        return self.happen(Built(at=self.tick(), effect=effect, change=change, usage=usage))

    def validate(
        self, status: ValidationStatus = ValidationStatus.PASSED, output: str = "", *, usage: Usage = NO_USAGE
    ) -> Run:
        effect = self._effect("validate:")
        return self.happen(Validated(at=self.tick(), effect=effect, status=status, output=output, usage=usage))

    def seal(self) -> Run:
        effect = self._effect("seal:")
        return self.happen(Sealed(at=self.tick(), effect=effect, digest="digest"))

    def fail(
        self,
        kind: FailureKind,
        part: str = ":critic:",
        *,
        message: str = "no luck",
        retry_after: float | None = None,
        usage: Usage = NO_USAGE,
    ) -> Run:
        effect = self._effect(part)
        failure = Failure(kind=kind, message=message, retry_after=retry_after)
        return self.happen(WorkFailed(at=self.tick(), effect=effect, failure=failure, usage=usage))

    def wait(self) -> Run:
        """Let the one pause that is asked for go by."""
        (timer,) = (effect for effect in self.wanted if isinstance(effect, StartTimer))
        self.at = max(self.at, timer.until)
        return self.happen(TimerFired(at=self.at, effect=timer.id))

    def decide(self, choice: str, *, note: str = "", agent: str | None = None) -> Run:
        return self.happen(Decided(at=self.tick(), choice=choice, note=note, agent=agent))

    def waive(self, finding: str, reason: str = "known") -> Run:
        return self.happen(FindingWaived(at=self.tick(), finding=finding, reason=reason))

    def refute(self, finding: str, evidence: str = "shown") -> Run:
        return self.happen(FindingRefuted(at=self.tick(), finding=finding, evidence=evidence))

    def tracked(self, title: str) -> Tracked:
        (entry,) = (entry for entry in self.run.findings if entry.finding.title == title)
        return entry

    def status(self, title: str) -> FindingStatus:
        return self.tracked(title).status

    @property
    def ended(self) -> tuple[Outcome, str]:
        assert isinstance(self.run.phase, Ended), self.run.phase
        return self.run.phase.outcome, self.run.phase.reason

    @property
    def waiting(self) -> Waiting:
        assert isinstance(self.run.phase, Waiting), self.run.phase
        return self.run.phase

    @property
    def fixing(self) -> Fixing:
        assert isinstance(self.run.phase, Fixing), self.run.phase
        return self.run.phase

    @property
    def reviewing(self) -> Reviewing:
        assert isinstance(self.run.phase, Reviewing), self.run.phase
        return self.run.phase
