"""A driver that plays a script instead of agents: the same loop, no process, no clock, no repository.

Authors of protocols see what theirs does before it costs anything, and the tests of every protocol are rehearsals.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from burnish.core.drift import FileChange
from burnish.core.effects import (
    AskPerson,
    Effect,
    MakeSeal,
    StartBuild,
    StartFix,
    StartReview,
    StartTimer,
    StartValidation,
    StopWork,
)
from burnish.core.events import (
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
from burnish.core.findings import Finding
from burnish.core.loop import IllegalEventError, decide, evolve
from burnish.core.protocol import Protocol
from burnish.core.reviews import Usage
from burnish.core.state import FindingStatus, Run, Tracked
from burnish.core.work import Assignment
from burnish.runtime.script import Said, Script, ScriptError, read_answer, read_entry, read_finding, read_session

START = 1_700_000_000.0
MOST_EVENTS = 10_000
"""Every run ends within its limits; a script that could go on longer shows a bug."""


_VALIDATIONS = frozenset(status.value for status in ValidationStatus)


class Moment(NamedTuple):
    """An event and the state that it led to."""

    event: AnyEvent
    run: Run


class Rehearsal:
    """One play of a script under a protocol."""

    def __init__(self, script: Script, protocol: Protocol) -> None:
        self._script = script
        self._protocol = protocol
        self._time = START
        self._trees = 0
        self._used: dict[str, int] = {}
        self.run: Run | None = None

    def play(self) -> Iterator[Moment]:
        """Play until the run ends, or waits for a decision that the script does not hold."""
        yield self._happen(self._started())
        if self._script.skip is not None:
            yield self._happen(Skipped(at=self._tick(), reason=self._script.skip))
        for _ in range(MOST_EVENTS):
            effects = decide(self._current())
            if not effects:
                return
            moved = False
            for event in self._carry_out(effects):
                moved = True
                yield self._happen(event)
            if not moved:
                return
        raise ScriptError("The rehearsal does not end.", hint="Report the script: every run ends within its limits.")

    def _current(self) -> Run:
        if self.run is None:
            raise ScriptError("The rehearsal has not begun.")
        return self.run

    def _happen(self, event: AnyEvent) -> Moment:
        try:
            self.run = evolve(self.run, event)
        except IllegalEventError as error:
            hint = "The script asks for something that cannot happen here."
            raise ScriptError(str(error), hint=hint) from None
        return Moment(event, self.run)

    def _tick(self, seconds: float = 1.0) -> float:
        self._time += seconds
        return self._time

    def _started(self) -> RunStarted:
        def assigned(role: str) -> Assignment:
            return Assignment(agent="scripted", fallback=self._script.fallbacks.get(role))

        return RunStarted(
            at=self._time,
            run="rehearsal",
            mode=self._script.mode,
            subject=Subject(branch="change", base="main", base_commit="base", head="commit-0", tree="tree-0"),
            protocol=self._protocol,
            roles=Roles(review=assigned("review"), fix=assigned("fix"), build=assigned("build")),
            build=self._script.build,
            interactive=self._script.interactive,
            max_reviews=self._script.max_rounds,
        )

    def _carry_out(self, effects: tuple[Effect, ...]) -> Iterator[AnyEvent]:
        """Start everything that is asked for, as a panel does, then let the results come in."""
        for effect in effects:
            if isinstance(effect, StartBuild | StartFix | StartReview):
                yield WorkStarted(at=self._tick(), effect=effect.id, agent=effect.agent)
            elif isinstance(effect, StartValidation | MakeSeal):
                yield WorkStarted(at=self._tick(), effect=effect.id, agent="burnish")
        for effect in effects:
            if effect.id in self._interrupted():
                continue
            yield from self._result(effect)

    def _interrupted(self) -> tuple[str, ...]:
        """Effects whose end was decided while others answered: they are asked to stop, not to answer."""
        stops = (effect for effect in decide(self._current()) if isinstance(effect, StopWork))
        return tuple(effect.effect for effect in stops)

    def _result(self, effect: Effect) -> Iterator[AnyEvent]:
        match effect:
            case StartReview():
                yield self._review(effect)
            case StartFix():
                yield self._fix(effect)
            case StartBuild():
                yield self._build(effect)
            case StartValidation():
                yield self._validate(effect)
            case MakeSeal():
                yield Sealed(at=self._tick(), effect=effect.id, digest=f"seal-of-{effect.tree}")
            case StartTimer():
                self._time = max(self._time, effect.until)
                yield TimerFired(at=self._time, effect=effect.id)
            case StopWork():
                yield WorkLost(at=self._tick(), effect=effect.effect)
            case AskPerson():
                yield from self._decision()

    def _next(self, name: str, entries: tuple[str, ...], otherwise: str = "") -> str:
        used = self._used.get(name, 0)
        self._used[name] = used + 1
        if used < len(entries):
            return entries[used]
        if otherwise:
            return otherwise
        raise ScriptError(
            f"The script has {len(entries)} entries for '{name}', and the loop asks for one more.",
            hint="Nothing is clean by default: add what happens next.",
        )

    def _interruption(self, effect: str, said: Said) -> AnyEvent | None:
        """What ends an attempt without a result of its own."""
        at = self._tick(said.seconds)
        if said.failure is not None:
            return WorkFailed(at=at, effect=effect, failure=said.failure, usage=Usage(seconds=said.seconds))
        ends: dict[str, Callable[[], AnyEvent]] = {
            "lost": lambda: WorkLost(at=at, effect=effect),
            "cancelled": lambda: Cancelled(at=at, by="scripted"),
            "over-budget": lambda: BudgetReached(at=at, limit="scripted"),
        }
        return ends[said.words]() if said.words in ends else None

    def _review(self, effect: StartReview) -> AnyEvent:
        name = effect.reviewer if effect.reviewer in self._script.reviews else "*"
        entries = self._script.reviews.get(name, ())
        said = read_entry(self._next(effect.reviewer, entries))
        interruption = self._interruption(effect.id, said)
        if interruption is not None:
            return interruption
        usage = Usage(seconds=said.seconds)
        if not effect.session:
            answer = read_answer(said.words, self._protocol)
            return Reviewed(at=self._time, effect=effect.id, answer=answer, usage=usage)
        answer, status, newly_done = read_session(said.words, self._protocol)
        return SessionFinished(
            at=self._time,
            effect=effect.id,
            answer=answer,
            change=self._new_tree(self._rewritten(entry.finding for entry in self._current().findings)),
            status=status,
            newly_done=newly_done,
            usage=usage,
        )

    def _new_tree(self, files: tuple[FileChange, ...]) -> Change:
        self._trees += 1
        return Change(commit=f"commit-{self._trees}", tree=f"tree-{self._trees}", files=files)

    def _rewritten(self, findings: Iterable[Finding]) -> tuple[FileChange, ...]:
        """A change of every file that the findings name."""
        places = {finding.location.file for finding in findings if finding.location is not None}
        return tuple(FileChange(path=path, new_path=path, whole=True) for path in sorted(places))

    def _fix(self, effect: StartFix) -> AnyEvent:
        said = read_entry(self._next("fixes", self._script.fixes))
        interruption = self._interruption(effect.id, said)
        if interruption is not None:
            return interruption
        return Fixed(at=self._time, effect=effect.id, change=self._fix_change(said.words, effect), summary=said.words)

    def _fix_change(self, words: str, effect: StartFix) -> Change:
        """`fixed` changes the lines of what must be fixed, `elsewhere` others; `restored` is the tree of the start."""
        run = self._current()
        match words:
            case "fixed":
                return self._new_tree(self._rewritten(effect.order.must))
            case "elsewhere":
                return self._new_tree((FileChange(path="elsewhere", new_path="elsewhere", whole=True),))
            case "unchanged":
                return Change(commit=run.commit, tree=run.tree)
            case "restored":
                return Change(commit=run.subject.head, tree=run.subject.tree)
            case _:
                raise ScriptError(
                    f"The script's fix '{words}' is unknown.",
                    hint="Write fixed, elsewhere, unchanged, restored, or a failure's name.",
                )

    def _build(self, effect: StartBuild) -> AnyEvent:
        said = read_entry(self._next("builds", self._script.builds))
        return self._interruption(effect.id, said) or Built(
            at=self._time, effect=effect.id, change=self._new_tree(()), summary=said.words
        )

    def _validate(self, effect: StartValidation) -> AnyEvent:
        """Where the script is silent, nothing is configured to be run."""
        said = read_entry(self._next("validations", self._script.validations, otherwise="skipped"))
        interruption = self._interruption(effect.id, said)
        if interruption is not None:
            return interruption
        if said.words not in _VALIDATIONS:
            raise ScriptError(
                f"The script's validation '{said.words}' is unknown.", hint="Write passed, failed or skipped."
            )
        status = ValidationStatus(said.words)
        return Validated(at=self._time, effect=effect.id, status=status, output=f"scripted: {said.words}")

    def _decision(self) -> Iterator[AnyEvent]:
        used = self._used.get("decisions", 0)
        if used >= len(self._script.decisions):
            return
        words = self._next("decisions", self._script.decisions)
        at = self._tick()
        match words.split():
            case ["cancel"]:
                yield Cancelled(at=at, by="scripted")
            case ["waive", number] if number.isdecimal():
                yield FindingWaived(at=at, finding=self._open(int(number)), reason="scripted", by="scripted")
            case ["refute", number] if number.isdecimal():
                yield FindingRefuted(at=at, finding=self._open(int(number)), evidence="scripted", by="scripted")
            case ["annotate", number, *note] if number.isdecimal():
                yield FindingAnnotated(at=at, finding=self._open(int(number)), note=" ".join(note), by="scripted")
            case ["add", *finding]:
                yield FindingAdded(at=at, finding=read_finding(" ".join(finding)), by="scripted")
            case [key, agent]:
                yield Decided(at=at, choice=key, agent=agent, by="scripted")
            case _:
                yield Decided(at=at, choice=words, by="scripted")

    def _open(self, number: int) -> str:
        """The id of the n-th open finding, from 1."""
        entries: list[Tracked] = [entry for entry in self._current().findings if entry.status is FindingStatus.OPEN]
        if not 1 <= number <= len(entries):
            raise ScriptError(f"There is no open finding {number}.", hint=f"{len(entries)} are open.")
        return entries[number - 1].finding.id
