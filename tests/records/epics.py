"""Epics in states that are told of: folded from events, with rehearsed runs as their children."""

from collections.abc import Callable

from burnish.core.epics.events import (
    AnyEpicEvent,
    CarriedTicket,
    EpicStarted,
    MergeConflict,
    MergeConflicted,
    MergePrepared,
    TicketEnded,
    TicketMerged,
    TicketStarted,
    TicketWaits,
)
from burnish.core.epics.loop import replay
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.epics.state import Epic
from burnish.core.events import Outcome
from burnish.core.reviews import Usage
from burnish.core.state import Phase, Run
from burnish.core.values import replace
from burnish.protocols.loader import load
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript

START = 1_700_000_000.0
BASE = "0" * 40
GOOD = "scores 95 100 80 85 70 90"
LOW = "scores 80 95 80 80 80 90; notes Add the missing check"
PASSES = RehearsalScript(protocol="ticket", reviews={"*": (LOW, GOOD)}, fixes=("fixed",))
FAILS = RehearsalScript(protocol="ticket", reviews={"*": (LOW, LOW, LOW)}, fixes=("fixed", "fixed"))
ASKS = RehearsalScript(protocol="epic", reviews={"*": ("critical a.py:3 Leak",) * 3}, fixes=("fixed", "fixed"))


def ticket(name: str, *needs: str, **fields: object) -> Ticket:
    values: dict[str, object] = {"acceptance": (f"{name} works",), "file": f"plans/tickets/{name}.md", **fields}
    return replace(Ticket(id=name, text=f"Build {name}.", depends_on=needs), **values)


def plan_of(*tickets: Ticket, source: str = "plans/user-auth.yaml") -> EpicPlan:
    return EpicPlan(id="user-auth", title="User accounts", tickets=tickets, source=source, kind="epic")


def run_of(script: RehearsalScript, name: str, ticket: str, until: Callable[[Phase], bool] | None = None) -> Run:
    """A rehearsed run of a ticket: at its end, or where it first is in such a phase."""
    last: Run | None = None
    for _, last in Rehearsal(script, load(script.protocol).protocol).play():
        if until is not None and until(last.phase):
            break
    assert last is not None
    subject = replace(last.subject, story=ticket, branch=f"ticket/{ticket}")
    return replace(last, started=replace(last.started, run=name, subject=subject))


class Story:
    """What happens in an epic, one event after the other."""

    def __init__(self, plan: EpicPlan, *carried: CarriedTicket, name: str = "20261116-0900-ab12") -> None:
        started = EpicStarted(
            at=START,
            epic=name,
            plan=plan,
            branch="epic/user-auth",
            base="main",
            baseline=BASE,
            parallel=3,
            carried=carried,
        )
        self.events: list[AnyEpicEvent] = [started]
        self.runs: dict[str, Run] = {}

    @property
    def at(self) -> float:
        return START + 60.0 * len(self.events)

    @property
    def epic(self) -> Epic:
        epic = replay(self.events)
        assert epic is not None
        return epic

    def add(self, event: AnyEpicEvent) -> None:
        self.events.append(event)

    def start(self, name: str, run: Run | None = None, conflict: MergeConflict | None = None) -> str:
        running = f"20261116-{len(self.events):04}-{name}"
        self.add(TicketStarted(at=self.at, ticket=name, run=running, onto=BASE, conflict=conflict))
        if run is not None:
            self.runs[running] = replace(run, started=replace(run.started, run=running))
        return running

    def end(self, name: str, run: str, outcome: Outcome = Outcome.APPROVED, reason: str = "the gate passes") -> None:
        usage = Usage(seconds=75.0, tokens=1_200, cost_usd=0.34)
        self.add(
            TicketEnded(
                at=self.at,
                ticket=name,
                run=run,
                outcome=outcome,
                reason=reason,
                commit=f"{name:a<40}",
                tree="tree",
                usage=usage,
            )
        )

    def merge(self, name: str) -> None:
        commit = f"{name:b<40}"
        self.add(MergePrepared(at=self.at, ticket=name, onto=BASE, commit=commit))
        self.add(TicketMerged(at=self.at, ticket=name, commit=commit))

    def complete(self, name: str) -> None:
        run = self.start(name, run_of(PASSES, "", name))
        self.end(name, run)
        self.merge(name)

    def fail(self, name: str) -> None:
        run = self.start(name, run_of(FAILS, "", name))
        self.end(name, run, Outcome.FAILED, "Review failed after 2 revisions")


def mixed() -> Story:
    """Twelve tickets, and each in another state, as far as there are so many."""
    story = Story(
        plan_of(
            ticket("base", critical=True),
            ticket("docs", done=True),
            ticket("api", "base"),
            ticket("login-form", "base", title="A form to log in, with a field for a code that is sent by mail"),
            ticket("mail", "base"),
            ticket("tokens", "base"),
            ticket("audit", "base"),
            ticket("sessions", "api"),
            ticket("mail-templates", "mail"),
            ticket("web", "api", "login-form", "sessions"),
            ticket("limits"),
            ticket("sketch", reviewed=False),
        )
    )
    story.complete("base")
    story.complete("api")
    story.fail("mail")
    waiting = story.start("tokens", run_of(ASKS, "", "tokens"))
    story.add(TicketWaits(at=story.at, ticket="tokens", run=waiting, reason="3 rounds, and 1 finding blocks"))
    story.end("audit", story.start("audit", run_of(PASSES, "", "audit")))
    conflict = MergeConflict(commit=BASE, onto=BASE, files=("app/audit.py",))
    story.add(MergeConflicted(at=story.at, ticket="audit", conflict=conflict))
    story.start("audit", conflict=conflict)
    story.start("sessions", run_of(PASSES, "", "sessions", lambda phase: type(phase).__name__ == "Reviewing"))
    story.end("sketch", story.start("sketch", run_of(PASSES, "", "sketch")), Outcome.SKIPPED, "not reviewed")
    story.end("limits", story.start("limits", run_of(PASSES, "", "limits")))
    return story
