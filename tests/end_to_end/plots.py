"""A rehearsed script, staged: the same situation on a real repository, with agents that say what the script holds.

The rehearsal tells which effects there will be and what comes of each. Here every one of them becomes a few lines of
shell, so that the real command can be held against the rehearsal event by event.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from burnish.core.events import (
    AnyEvent,
    Cancelled,
    Change,
    Fixed,
    Reviewed,
    SessionFinished,
    StoryStatus,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkStarted,
)
from burnish.core.protocol import Protocol, Reviewer, SeatKind
from burnish.core.reviews import FailureKind
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.protocols.loader import load
from burnish.runtime.rehearsal import Moment, Rehearsal
from burnish.runtime.script import RehearsalScript
from tests.end_to_end.answers import UNREADABLE, answer_text
from tests.end_to_end.machine import CHATTERS, CRASHES, HANGS, Machine, says, writes

FILES = ("a.py", "app.py", "b.py", "c.py")
STORY = "1-2"
SPRINT = "sprint-status.yaml"
_LINES = 10
_FAILURES = {
    FailureKind.CRASHED: CRASHES,
    FailureKind.STUCK: HANGS,
    FailureKind.TIMED_OUT: CHATTERS,
    FailureKind.UNREADABLE: says(UNREADABLE),
    FailureKind.UNAUTHORISED: "echo 'HTTP 401: unauthorized' >&2\nexit 1",
    FailureKind.CANNOT_RUN: "exit 127",
}


class Plot(NamedTuple):
    """A script, its rehearsal, and what agents must do for it to come true."""

    script: RehearsalScript
    protocol: Protocol
    moments: tuple[Moment, ...]
    conduct: dict[str, str]

    @property
    def end(self) -> Run:
        return self.moments[-1].run

    @property
    def events(self) -> list[AnyEvent]:
        return [moment.event for moment in self.moments]

    @property
    def until_cancelled(self) -> list[AnyEvent] | None:
        """What happens before somebody cancels a run at work; None where nobody does."""
        for place, event in enumerate(self.events):
            if isinstance(event, Cancelled) and not self.script.decisions:
                return self.events[:place]
        return None


SCRIPTED_DEFAULT = "scripted-default.toml"
_SCRIPTED_DEFAULT = 'extends = "default"\nname = "default"\n' + "".join(
    f'[[panel]]\nname = "{seat.name}"\n' for seat in load("default").protocol.panel if seat.kind is SeatKind.CHECK
)
"""The default protocol with scripted agents in place of its checks: the loop is the same."""


def rehearsed(script: RehearsalScript) -> Plot:
    protocol = load(script.protocol).protocol
    if script.protocol == "default":
        seats = tuple(Reviewer(name=seat.name) for seat in protocol.panel if seat.kind is SeatKind.CHECK)
        protocol = replace(protocol, panel=seats)
    moments = tuple(Rehearsal(script, protocol).play())
    return Plot(script, protocol, moments, dict(_conduct(moments, protocol)))


def staged(folder: Path, plot: Plot, settings: str = "") -> Machine:
    """A machine on which the script will come true."""
    machine = Machine(folder)
    script = machine.script(plot.conduct)
    status = first_status(plot)
    return furnished(machine, toml(plot, script) + settings, {SPRINT: sprint(status)} if status else {})


def furnished(machine: Machine, policy: str, further: Mapping[str, str] | None = None) -> Machine:
    """A repository whose base has the policy and whose branch `change`, checked out, changes all files."""
    base = {"burnish.toml": policy, SCRIPTED_DEFAULT: _SCRIPTED_DEFAULT, ".gitignore": "*.env\n"}
    builder = machine.repository.commit(base)
    builder.commit(dict.fromkeys(FILES, "old = True\n"), "Begin").branch("change")
    builder.commit({**{path: content(path, 0) for path in FILES}, **(further or {})}, "Change everything")
    machine.leave_work_lying_around()
    return machine


def toml(plot: Plot, script: Path) -> str:
    """The policy of the base."""
    names = ("scripted", *sorted({"other", "claude", *plot.script.fallbacks.values()}))
    limits = _limits(plot)
    agents = "".join(f'[agents.{name}]\nkind = "command"\ncommand = ["sh", "{script}"]\n{limits}\n' for name in names)
    roles = "".join(f"{role} = {_role(plot, role)}\n" for role in ("review", "fix"))
    validated = any(isinstance(event, Validated | WorkFailed) and _checks(event) for event in plot.events)
    cancelled_check = plot.script.validations and plot.until_cancelled is not None
    checks = f'[validate]\ntests = ["sh", "{script}"]\n' if validated or cancelled_check else ""
    protocol = f"./{SCRIPTED_DEFAULT}" if plot.script.protocol == "default" else plot.script.protocol
    return f'protocol = "{protocol}"\n{agents}\n[roles]\n{roles}\n{checks}'


def _role(plot: Plot, role: str) -> str:
    fallback = plot.script.fallbacks.get(role)
    return f'{{ agent = "scripted", fallback = "{fallback}" }}' if fallback else '"scripted"'


def _limits(plot: Plot) -> str:
    """Short limits only where somebody is to run into them: a busy machine must not make others late."""
    kinds = {event.failure.kind for event in plot.events if isinstance(event, WorkFailed)}
    lines = ["silent = 1.0"] if FailureKind.STUCK in kinds else []
    return "\n".join([*lines, *(["timeout = 1.5"] if FailureKind.TIMED_OUT in kinds else [])])


def _checks(event: Validated | WorkFailed) -> bool:
    if isinstance(event, Validated):
        return event.status is not ValidationStatus.SKIPPED
    return event.effect.startswith("validate:")


def content(path: str, version: int) -> str:
    """A file after so many fixes: every line is another one, but says the same."""
    name = path.removesuffix(".py")
    return "".join(f"{' ' * version}{name}_{number} = {number}\n" for number in range(1, _LINES + 1))


def sprint(status: str) -> str:
    return f"development_status:\n  epic-1: in-progress\n  {STORY}-login: {status} # by hand\n"


def first_status(plot: Plot) -> str:
    """What the story's status is before the first session."""
    sessions = [event for event in plot.events if isinstance(event, SessionFinished)]
    if not sessions or all(event.status is StoryStatus.ABSENT for event in sessions):
        return ""
    first = sessions[0]
    was_done = first.answer is None and first.status is StoryStatus.DONE and not first.newly_done
    return "done" if was_done else "review"


_Result = Reviewed | SessionFinished | Fixed | Validated | WorkFailed


def _conduct(moments: tuple[Moment, ...], protocol: Protocol) -> Iterator[tuple[str, str]]:
    """What each effect that was started does. One without a result never ends: somebody cancelled the run."""
    results: dict[str, str] = {}
    for number, (before, moment) in enumerate(pairwise(moments), start=1):
        if isinstance(moment.event, _Result):
            results[moment.event.effect] = _lines(moment.event, protocol, before.run, number)
    for moment in moments:
        if isinstance(moment.event, WorkStarted) and not moment.event.effect.startswith("seal:"):
            lines = results.get(moment.event.effect, HANGS)
            yield from [(moment.event.effect, lines)] if lines else []


def _lines(event: _Result, protocol: Protocol, before: Run, version: int) -> str:
    match event:
        case Reviewed():
            return says(answer_text(protocol.contract, event.answer, before.revisions))
        case WorkFailed():
            return _FAILURES[event.failure.kind]
        case Validated(status=ValidationStatus.SKIPPED):
            return ""
        case Validated():
            return f"echo the checks have {event.status.value}\nexit {int(event.status is ValidationStatus.FAILED)}"
        case Fixed():
            return f"{_changing(event.change, before, version)}\necho {event.summary}"
        case SessionFinished():
            return f"{_changing(event.change, before, version)}\n{_session(event, protocol)}"


def _changing(change: Change, before: Run, version: int) -> str:
    if change.tree == before.tree:
        return ":"
    if change.tree == before.subject.tree:
        return "\n".join(writes(path, content(path, 0)) for path in FILES)
    if not change.files:
        return writes("progress.txt", f"step {version}")
    return "\n".join(writes(file.path, content(file.path, version)) for file in change.files)


def _session(event: SessionFinished, protocol: Protocol) -> str:
    text = UNREADABLE if event.answer is None else answer_text(protocol.contract, event.answer)
    status = {StoryStatus.DONE: "done", StoryStatus.NOT_DONE: "review", StoryStatus.ABSENT: ""}[event.status]
    return "\n".join([*([writes(SPRINT, sprint(status))] if status else []), says(text)])
