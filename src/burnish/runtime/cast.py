"""Scripted reviewers, fixers, builders and people: for each effect of the loop, the event that the script holds."""

from collections.abc import Callable, Iterable

from burnish.core.effects import MakeSeal, StartBuild, StartFix, StartReview, StartValidation
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
    Subject,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
)
from burnish.core.findings import Finding, FindingStatus
from burnish.core.line_changes import FileChange
from burnish.core.protocol import ChoiceAction, Protocol
from burnish.core.reviews import Usage
from burnish.core.state import Run, Waiting
from burnish.core.steps.person import other_agent
from burnish.core.work import Assignment
from burnish.runtime.script import (
    CHANGED,
    EXAMINED,
    RehearsalScript,
    ScriptEntry,
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


class Cast:
    """Everybody who speaks in a script, and the time that passes while they do."""

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
        """How the scripted run begins."""

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
        """What comes of an effect."""
        match effect:
            case StartReview():
                return self._review(effect, run)
            case StartFix():
                return self._fix(effect, run)
            case StartBuild():
                return self._build(effect)
            case StartValidation():
                return self._validate(effect)
            case MakeSeal():
                return Sealed(at=self.tick(), effect=effect.id, digest=f"seal-of-{effect.tree}")

    def _next(self, name: str, entries: tuple[str, ...], otherwise: str = "") -> str:
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

    def _interruption(self, effect: str, said: ScriptEntry) -> AnyEvent | None:
        """What ends an attempt without a result of its own."""
        at = self.tick(said.seconds)
        if said.failure is not None:
            return WorkFailed(at=at, effect=effect, failure=said.failure, usage=Usage(seconds=said.seconds))
        ends: dict[str, Callable[[], AnyEvent]] = {
            "lost": lambda: WorkLost(at=at, effect=effect),
            "cancelled": lambda: Cancelled(at=at, by="scripted"),
            "budget-reached": lambda: BudgetReached(at=at, limit="scripted"),
        }
        return ends[said.words]() if said.words in ends else None

    def _review(self, effect: StartReview, run: Run) -> AnyEvent:
        name = effect.reviewer if effect.reviewer in self._script.reviews else "*"
        entries = self._script.reviews.get(name, ())
        said = read_entry(self._next(effect.reviewer, entries))
        interruption = self._interruption(effect.id, said)
        if interruption is not None:
            return interruption
        usage = Usage(seconds=said.seconds)
        if not effect.session:
            answer = read_answer(said.words, self._protocol)
            evidence = read_evidence(said.words)
            return Reviewed(at=self.time, effect=effect.id, answer=answer, evidence=evidence, usage=usage)
        answer, status, newly_done = read_session(said.words, self._protocol)
        return SessionFinished(
            at=self.time,
            effect=effect.id,
            answer=answer,
            change=self._new_tree(self._rewritten(entry.finding for entry in run.findings)),
            status=status,
            newly_done=newly_done,
            evidence=EXAMINED,
            usage=usage,
        )

    def _new_tree(self, files: tuple[FileChange, ...]) -> Change:
        self._trees += 1
        return Change(commit=f"commit-{self._trees}", tree=f"tree-{self._trees}", files=files, changed=CHANGED)

    def _rewritten(self, findings: Iterable[Finding]) -> tuple[FileChange, ...]:
        """A change of every file that the findings name."""
        places = {finding.location.file for finding in findings if finding.location is not None}
        return tuple(FileChange(path=path, new_path=path, whole=True) for path in sorted(places))

    def _fix(self, effect: StartFix, run: Run) -> AnyEvent:
        said = read_entry(self._next("fixes", self._script.fixes))
        interruption = self._interruption(effect.id, said)
        if interruption is not None:
            return interruption
        return Fixed(
            at=self.time, effect=effect.id, change=self._fix_change(said.words, effect, run), summary=said.words
        )

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

    def _build(self, effect: StartBuild) -> AnyEvent:
        said = read_entry(self._next("builds", self._script.builds))
        return self._interruption(effect.id, said) or Built(
            at=self.time, effect=effect.id, change=self._new_tree(()), summary=said.words
        )

    def _validate(self, effect: StartValidation) -> AnyEvent:
        """Where the script is silent, nothing is configured to be run."""
        said = read_entry(self._next("validations", self._script.validations, otherwise="skipped"))
        interruption = self._interruption(effect.id, said)
        if interruption is not None:
            return interruption
        if said.words not in _VALIDATIONS:
            raise ScriptError(
                f"The script's validation '{said.words}' is unknown.", hint="Use passed, failed or skipped."
            )
        status = ValidationStatus(said.words)
        return Validated(at=self.time, effect=effect.id, status=status, output=f"scripted: {said.words}")

    def decision(self, run: Run) -> Intent | None:
        """What a person says next, or None when the script holds no more."""
        if self._used.get("decisions", 0) >= len(self._script.decisions):
            return None
        words = self._next("decisions", self._script.decisions)
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
