"""A driver that plays a script instead of agents: the same loop, no process, no clock, no repository.

Authors of protocols see what theirs does before it costs anything, and the tests of every protocol are rehearsals.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from burnish.core.effects import (
    AskPerson,
    Effect,
    MakeSeal,
    ReachBudget,
    StartBuild,
    StartFix,
    StartReview,
    StartTimer,
    StartValidation,
    StopWork,
)
from burnish.core.events import (
    RULES,
    AnyEvent,
    BudgetReached,
    Built,
    Cancelled,
    Change,
    Decided,
    FindingAdded,
    FindingAnnotated,
    FindingRefuted,
    FindingWaived,
    Fixed,
    Intent,
    Reviewed,
    Roles,
    RunStarted,
    Sealed,
    SessionFinished,
    Skipped,
    Subject,
    TimerFired,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
    WorkStarted,
)
from burnish.core.findings import Finding, FindingStatus
from burnish.core.line_changes import FileChange
from burnish.core.loop import IllegalEventError, decide, evolve
from burnish.core.protocol import ChoiceAction, Protocol
from burnish.core.reviews import Usage
from burnish.core.state import Run, Waiting
from burnish.core.steps.person import other_agent
from burnish.core.work import Assignment
from burnish.runtime.script import (
    CHANGED,
    EXAMINED,
    RehearsalScript,
    ScriptError,
    read_answer,
    read_entry,
    read_evidence,
    read_finding,
    read_session,
)

START = 1_700_000_000.0
Work = StartReview | StartFix | StartBuild | StartValidation | MakeSeal

_VALIDATIONS = frozenset(status.value for status in ValidationStatus)
MOST_TURNS = 10_000
"""Every run ends within its limits; a script that could go on longer shows a bug."""


class Moment(NamedTuple):
    """An event and the state that it led to."""

    event: AnyEvent
    run: Run


class Rehearsal:
    """One play of a script under a protocol."""

    def __init__(self, script: RehearsalScript, protocol: Protocol) -> None:
        self._script = script
        self._agents = ScriptedAgents(script, protocol)
        self._run: Run | None = None

    def play(self) -> Iterator[Moment]:
        """Play until the run ends, or waits for a decision that the script does not hold."""
        moment = self._happen(self._agents.started())
        yield moment
        if self._script.skip is not None:
            moment = self._happen(Skipped(at=self._agents.tick(), reason=self._script.skip))
            yield moment
        for _ in range(MOST_TURNS):
            before = moment
            for event in self._turn(moment.run):
                moment = self._happen(event)
                yield moment
            if moment is before:
                return
        raise ScriptError(
            "The rehearsal does not end.", hint="Please report the script: every run ends within its limits."
        )

    def _happen(self, event: AnyEvent) -> Moment:
        try:
            self._run = evolve(self._run, event)
        except IllegalEventError as error:
            hint = "The script contains something that cannot happen here."
            raise ScriptError(str(error), hint=hint) from None
        return Moment(event, self._run)

    def _turn(self, run: Run) -> Iterator[AnyEvent]:
        """Start everything that is asked for, as a panel does, then let the results come in."""
        effects = decide(run)
        for effect in effects:
            if isinstance(effect, StartBuild | StartFix | StartReview):
                yield WorkStarted(at=self._agents.tick(), effect=effect.id, agent=effect.agent)
            elif isinstance(effect, StartValidation | MakeSeal):
                yield WorkStarted(at=self._agents.tick(), effect=effect.id, agent="burnish")
        for effect in effects:
            current = self._run or run
            stopped = {one.effect for one in decide(current) if isinstance(one, StopWork)}
            if effect.id not in stopped:
                yield from self._result(effect, current)

    def _result(self, effect: Effect, run: Run) -> Iterator[AnyEvent]:
        match effect:
            case StartTimer():
                self._agents.time = max(self._agents.time, effect.until)
                yield TimerFired(at=self._agents.time, effect=effect.id)
            case ReachBudget():
                yield BudgetReached(at=self._agents.tick(), limit=effect.limit)
            case StopWork():
                yield WorkLost(at=self._agents.tick(), effect=effect.effect)
            case AskPerson():
                decision = self._agents.decision(run)
                if decision is not None:
                    yield decision
            case StartReview() | StartFix() | StartBuild() | StartValidation() | MakeSeal():
                yield self._agents.result(effect, run)


class ScriptedAgents:
    """Scripted reviewers, fixers, builders and people: for each effect the event that the script holds."""

    def __init__(self, script: RehearsalScript, protocol: Protocol) -> None:
        self._script = script
        self._protocol = protocol
        self._trees = 0
        self._used: dict[str, int] = {}
        self.time = START

    def tick(self, seconds: float = 1.0) -> float:
        self.time += seconds
        return self.time

    def started(self) -> RunStarted:
        def assigned(role: str) -> Assignment:
            return Assignment(agent="scripted", fallback=self._script.fallbacks.get(role))

        return RunStarted(
            at=self.time,
            run="rehearsal",
            mode=self._script.mode,
            subject=Subject(
                branch="change", base="main", base_commit="base", head="commit-0", tree="tree-0", changed=CHANGED
            ),
            protocol=self._protocol,
            roles=Roles(review=assigned("review"), fix=assigned("fix"), build=assigned("build")),
            build=self._script.build,
            interactive=self._script.interactive,
            max_reviews=self._script.max_rounds,
            rules=RULES,
            allow_unexamined=self._script.allow_unexamined,
        )

    def result(self, effect: Work, run: Run) -> AnyEvent:
        if isinstance(effect, MakeSeal):
            return Sealed(at=self.tick(), effect=effect.id, digest=f"seal-of-{effect.tree}")
        said = read_entry(self._next(effect))
        at, words, usage = self.tick(said.seconds), said.words, Usage(seconds=said.seconds)
        if said.failure is not None:
            return WorkFailed(at=at, effect=effect.id, failure=said.failure, usage=usage)
        match words:
            case "lost":
                return WorkLost(at=at, effect=effect.id)
            case "cancelled":
                return Cancelled(at=at, by="scripted")
            case "budget-reached":
                return BudgetReached(at=at, limit="scripted")
            case _:
                return self._done(effect, run, words, usage)

    def _next(self, effect: StartReview | StartFix | StartBuild | StartValidation) -> str:
        script = self._script
        match effect:
            case StartReview(reviewer=name):
                return self._entry(name, script.reviews.get(name, script.reviews.get("*", ())))
            case StartFix():
                return self._entry("fixes", script.fixes)
            case StartBuild():
                return self._entry("builds", script.builds)
            case StartValidation():  # where the script is silent, nothing is configured to be run
                return self._entry("validations", script.validations, otherwise="skipped")

    def _entry(self, name: str, entries: tuple[str, ...], otherwise: str = "") -> str:
        used = self._used.get(name, 0)
        self._used[name] = used + 1
        if used < len(entries):
            return entries[used]
        if otherwise:
            return otherwise
        raise ScriptError(
            f"The script has {len(entries)} entries for '{name}', and the loop needs one more.",
            hint="Nothing is clean by default: add what happens next.",
        )

    def _done(
        self, effect: StartReview | StartFix | StartBuild | StartValidation, run: Run, words: str, usage: Usage
    ) -> AnyEvent:
        """The result of work that came to its own end."""
        at, name = self.time, effect.id
        match effect:
            case StartReview(session=False):
                answer, evidence = read_answer(words, self._protocol), read_evidence(words)
                return Reviewed(at=at, effect=name, answer=answer, evidence=evidence, usage=usage)
            case StartReview():
                answer, status, newly_done = read_session(words, self._protocol)
                return SessionFinished(
                    at=at,
                    effect=name,
                    answer=answer,
                    change=self._new_tree(self._rewritten(entry.finding for entry in run.findings)),
                    status=status,
                    newly_done=newly_done,
                    evidence=EXAMINED,
                    usage=usage,
                )
            case StartFix():
                return Fixed(at=at, effect=name, change=self._fix_change(words, effect, run), summary=words)
            case StartBuild():
                return Built(at=at, effect=name, change=self._new_tree(()), summary=words)
            case StartValidation():
                if words not in _VALIDATIONS:
                    raise ScriptError(
                        f"The script's validation '{words}' is unknown.", hint="Use passed, failed or skipped."
                    )
                return Validated(at=at, effect=name, status=ValidationStatus(words), output=f"scripted: {words}")

    def _new_tree(self, files: tuple[FileChange, ...]) -> Change:
        self._trees += 1
        return Change(commit=f"commit-{self._trees}", tree=f"tree-{self._trees}", files=files, changed=CHANGED)

    def _rewritten(self, findings: Iterable[Finding]) -> tuple[FileChange, ...]:
        """A change of every file that the findings name."""
        places = {finding.location.file for finding in findings if finding.location is not None}
        return tuple(FileChange(path=path, new_path=path, whole=True) for path in sorted(places))

    def _fix_change(self, words: str, effect: StartFix, run: Run) -> Change:
        """`fixed` changes the lines of what must be fixed, `elsewhere` others; `restored` is the tree of the start."""
        match words:
            case "fixed":
                return self._new_tree(self._rewritten(effect.order.must))
            case "elsewhere":
                return self._new_tree((FileChange(path="elsewhere", new_path="elsewhere", whole=True),))
            case "unchanged":
                return Change(commit=run.commit, tree=run.tree)
            case "restored":
                return Change(commit=run.subject.head, tree=run.subject.tree, changed=CHANGED)
            case _:
                raise ScriptError(
                    f"The script's fix '{words}' is unknown.",
                    hint="Use fixed, elsewhere, unchanged, restored, or the name of a failure.",
                )

    def decision(self, run: Run) -> Intent | None:
        """What a person says next, or None when the script holds no more."""
        if self._used.get("decisions", 0) >= len(self._script.decisions):
            return None
        words = self._entry("decisions", self._script.decisions)
        at = self.tick()
        match words.split():
            case ["cancel"]:
                return Cancelled(at=at, by="scripted")
            case ["waive", number] if number.isdecimal():
                return FindingWaived(at=at, finding=_open(run, int(number)), reason="scripted", by="scripted")
            case ["refute", number] if number.isdecimal():
                return FindingRefuted(at=at, finding=_open(run, int(number)), evidence="scripted", by="scripted")
            case ["annotate", number, *note] if number.isdecimal():
                return FindingAnnotated(at=at, finding=_open(run, int(number)), note=" ".join(note), by="scripted")
            case ["add", *finding]:
                return FindingAdded(at=at, finding=read_finding(" ".join(finding)), by="scripted")
            case [key, agent]:
                return Decided(at=at, choice=key, agent=agent, by="scripted")
            case _:
                return Decided(at=at, choice=words, agent=_another(run, words), by="scripted")


def _another(run: Run, key: str) -> str | None:
    """The agent that reviews instead, where that was chosen and no agent was named."""
    offered = run.phase.choices if isinstance(run.phase, Waiting) else ()
    calls_another = any(one.key == key and one.action is ChoiceAction.ANOTHER_AGENT for one in offered)
    return other_agent(run) if calls_another else None


def _open(run: Run, number: int) -> str:
    """The id of the n-th open finding, from 1."""
    entries = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    if not 1 <= number <= len(entries):
        raise ScriptError(f"There is no open finding {number}.", hint=f"{len(entries)} are open.")
    return entries[number - 1].finding.id
