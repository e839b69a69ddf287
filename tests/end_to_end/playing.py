"""Play a plot with the real command, and hold what came of it against the rehearsal."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from burnish.core.events import (
    AnyEvent,
    Closed,
    Fixed,
    ProcessStarted,
    Reviewed,
    RunStarted,
    Sealed,
    SessionFinished,
    Validated,
    ValidationStatus,
    WorkLost,
    decode,
)
from burnish.core.findings import FindingStatus
from burnish.core.protocol import ScoreGate
from burnish.core.state import Fixing, Run, Sealing
from burnish.ledger.interface import Ledger
from burnish.report.account import Account
from burnish.report.json_objects import run_object
from burnish.report.words import what_happened
from tests.end_to_end.machine import Done, Machine
from tests.end_to_end.plots import STORY, Plot
from tests.end_to_end.world import Before, check_commits, check_nothing_left, check_refs, sealed_kinds

CODES = {
    "approved": 0,
    "accepted": 0,
    "skipped": 0,
    "failed": 1,
    "stopped": 1,
    "blocked": 1,
    "cancelled": 1,
    "did-not-run": 4,
    None: 3,
}


def arguments(plot: Plot) -> list[str]:
    """How a user asks for it."""
    words = [plot.script.mode.value, "--json"]
    words += ["--max-rounds", str(plot.script.max_rounds)] if plot.script.max_rounds else []
    statuses = [event.status for event in plot.events if isinstance(event, SessionFinished)]
    return [*words, *(["--story", STORY] if any(one.value != "absent" for one in statuses) else [])]


def perform(machine: Machine, plot: Plot) -> Done:
    """From the first command to the last decision."""
    process = machine.start(*arguments(plot))
    happens = plot.until_cancelled
    if happens is not None:
        cancel_after(machine, process, happens)
    done = machine.end_of(process)
    run = done.view["run"]
    for words in plot.script.decisions:
        assert done.code == 3, done
        assert done.view["state"] == "waiting"
        done = decided(machine, done.view, words.split())
        if done.view["state"] == "running":  # agents must work first
            done = machine.burnish("resume", run, "--json")
        done = done._replace(code=CODES[done.view["outcome"]])
    return done


def cancel_after(machine: Machine, process: "subprocess.Popen[bytes]", happens: Iterable[AnyEvent]) -> None:
    """Cancel from another process, once everything before has happened."""
    before = Counter(trail(happens))
    run = machine.wait_for_run(process)

    def all_of_it(ledger: Ledger) -> bool:
        return before <= Counter(trail(decode(event.body) for event in ledger.read(f"run/{run}")))

    machine.wait_until(process, all_of_it)
    assert machine.burnish("cancel", run).code == 0


def decided(machine: Machine, waiting: dict[str, Any], words: list[str]) -> Done:
    """A person's word, given with the command that is meant for it."""
    still_open = [one["id"] for one in waiting["findings"] if one["status"] == FindingStatus.OPEN.value]
    match words:
        case ["cancel"]:
            said = ["cancel", waiting["run"]]
        case ["waive", number]:
            said = ["findings", waiting["run"], "waive", still_open[int(number) - 1], "--reason", "known"]
        case ["refute", number]:
            said = ["findings", waiting["run"], "refute", still_open[int(number) - 1], "--evidence", "it is false"]
        case ["annotate", number, *note]:
            said = ["findings", waiting["run"], "annotate", still_open[int(number) - 1], "--note", " ".join(note)]
        case ["add", severity, place, *title]:
            file, _, line = place.partition(":")
            said = ["findings", waiting["run"], "add", "--severity", severity, "--file", file, "--line", line]
            said += ["--title", " ".join(title)]
        case [key, *agent]:
            said = ["decide", waiting["run"], key, *(["--agent", agent[0]] if agent else [])]
        case _:
            raise AssertionError(f"Nobody can say {words}.")
    done = machine.burnish(*said, "--json")
    assert done.code == 0, done
    return done


def trail(events: Iterable[AnyEvent]) -> list[str]:
    """Events in words that hold for a rehearsal and for the real thing."""
    return [words for event in events if (words := _words(event))]


def _words(event: AnyEvent) -> str:
    match event:
        case ProcessStarted() | Closed() | RunStarted():
            return ""
        case Reviewed():
            return f"{event.effect} {'clean' if event.answer.clean else 'not clean'}"
        case SessionFinished():
            said = "unreadable" if event.answer is None else "clean" if event.answer.clean else "not clean"
            return f"{event.effect} {said}, {event.status.value}"
        case Validated():
            return f"{event.effect} {'failed' if event.status is ValidationStatus.FAILED else 'passed'}"
        case Fixed():
            return f"{event.effect} {event.summary}"
        case Sealed():
            return f"{event.effect} done"
        case WorkLost():
            return f"{event.effect} lost"
        case _:
            return what_happened(event)


def real_events(machine: Machine, run: str) -> list[AnyEvent]:
    with machine.ledger() as ledger:
        return [decode(event.body) for event in ledger.read(f"run/{run}")]


def check(machine: Machine, plot: Plot, before: Before, done: Done) -> None:
    """Everything: exit code, JSON, events, commits, refs, seal, records, and nothing left."""
    assert done.code == CODES[run_object(Account(run=plot.end))["outcome"]], done
    check_state(machine, plot, before, done.view)
    assert sorted(trail(real_events(machine, done.view["run"]))) == sorted(trail(plot.events))


def check_state(machine: Machine, plot: Plot, before: Before, real: dict[str, Any]) -> None:
    """The run is where the rehearsal is, and the machine looks like it."""
    scored = isinstance(plot.protocol.gate, ScoreGate)
    assert comparable(real, scored=scored) == comparable(run_object(Account(run=plot.end)), scored=scored)
    check_commits(machine, before, real["run"], titles(plot))
    check_refs(machine, before, real)
    check_seal(machine, plot, real)
    check_nothing_left(machine, before, real["run"])


def check_seal(machine: Machine, plot: Plot, real: dict[str, Any]) -> None:
    """Sealed is the very tree of the branch, with the right word for it; or nothing is sealed."""
    kinds = sealed_kinds(machine, real["subject"]["tree"])
    if real["seal"] is None:
        assert kinds == []
        return
    (expected,) = {moment.run.phase.kinds for moment in plot.moments if isinstance(moment.run.phase, Sealing)}
    assert kinds == [kind.value for kind in expected]
    assert real["seal"]["tree"] == machine.git("rev-parse", "change^{tree}")


def titles(plot: Plot) -> list[str]:
    """How the message of each commit begins."""
    return [
        f"{_beginning(before.run)} - {_first_words(moment.event)}"
        for before, moment in pairwise(plot.moments)
        if isinstance(moment.event, Fixed | SessionFinished) and moment.event.change.tree != before.run.tree
    ]


def _beginning(run: Run) -> str:
    repairs = isinstance(run.phase, Fixing) and run.phase.order.after_validation
    return "fix: address failed validation" if repairs else f"fix: address code review round {len(run.rounds)}"


def _first_words(event: Fixed | SessionFinished) -> str:
    if isinstance(event, Fixed):
        return event.summary
    return "I have looked at everything" if event.answer is None else "Story 1.2 Code Review Findings"


def comparable(view: Mapping[str, Any], *, scored: bool) -> dict[str, Any]:
    """The JSON object without what only one of both can know: names, commits, times, records, words, code.

    A score card that fails without naming an issue gets one from the parser, which the rehearsal does not have.
    """
    rounds = [
        {
            **one,
            "reviews": [
                {**review, "counts": None if scored else review["counts"], "failure": _kind(review)}
                for review in one["reviews"]
            ],
            "judgement": one["judgement"] and {**one["judgement"], "reasons": None},
            "fix": one["fix"] and one["fix"]["status"],
        }
        for one in view["rounds"]
    ]
    panel = {review["reviewer"] for one in view["rounds"] for review in one["reviews"]}
    found = (
        []
        if scored
        else [
            {
                **{key: one[key] for key in ("severity", "file", "line", "title", "status", "round")},
                "found_by": _names(one, panel),
                "sources": _titles(one),
            }
            for one in view["findings"]
        ]
    )
    return {
        **view,
        "census": all(entry["enough"] for entry in view["census"]),
        "policy": None,
        "next": None,
        "run": "",
        "reason": re.sub(r": .*", "", view["reason"]),
        "subject": {**view["subject"], "head": "", "tree": ""},
        "rounds": rounds,
        "findings": found,
        "escalation": view["escalation"] and {**view["escalation"], "document": None},
        "seal": view["seal"] is not None,
        "usage": sorted(view["usage"]),
        "budget": sorted(view["budget"]),
    }


def _kind(review: dict[str, Any]) -> str:
    failure: dict[str, str] = review.get("failure", {})
    return failure.get("kind", "")


def _titles(finding: dict[str, Any]) -> list[tuple[str, str]]:
    """What several reviewers called the same problem; what else they said depends on their contract."""
    return [(source["severity"], source["title"]) for source in finding.get("sources") or ()]


def _names(finding: dict[str, Any], panel: set[str]) -> list[str]:
    """Who found it; a person has another name on each machine."""
    return [name if name in panel else "a person" for name in finding["found_by"]]
