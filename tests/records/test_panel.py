"""Phase files and `state.json`: what each reviewer found, the verdict of the round, and where the loop is."""

import json
from typing import Any

from inline_snapshot import snapshot

from burnish.core.findings import FixVerdict
from burnish.core.protocol import Protocol, RecordLayout
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.protocols.loader import load
from burnish.records.interface import RecordTexts
from burnish.records.registry import record_files
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript
from tests.records.playing import about, played, texts

STATE = ".agents/tmp/state.json"
FIXED_ONCE = RehearsalScript(
    protocol="panel",
    reviews={"*": ("clean", "clean"), "critic": ("medium a.py:4 Error is swallowed; info", "clean")},
    fixes=("fixed",),
)


def panel() -> Protocol:
    return load("panel").protocol


def state_of(run: Run) -> dict[str, Any]:
    return json.loads(texts(run)[STATE])


def states(script: RehearsalScript) -> list[dict[str, Any]]:
    """The state after each event of a rehearsal."""
    return [state_of(about(moment.run)) for moment in Rehearsal(script, panel()).play()]


def test_the_layout_of_a_run() -> None:
    reviewers = ("critic", "pedant", "witness", "security-reviewer", "silent-failure-hunter")
    assert list(texts(played(FIXED_ONCE))) == [
        *(f".agents/tmp/phases/review-1/r1-{reviewer}.json" for reviewer in reviewers),
        ".agents/tmp/phases/review-1/r2-fix-summary.md",
        ".agents/tmp/phases/review-1/r1-verdict.json",
        *(f".agents/tmp/phases/review-2/r1-{reviewer}.json" for reviewer in reviewers),
        ".agents/tmp/phases/review-2/r1-verdict.json",
        STATE,
    ]


def test_what_the_files_hold() -> None:
    files = texts(played(FIXED_ONCE))
    folder = ".agents/tmp/phases/review-1"
    assert json.loads(files[f"{folder}/r1-critic.json"]) == snapshot(
        {
            "reviewer": "critic",
            "reviewed_at": "2023-11-14T22:13:28Z",
            "files_reviewed": ["a.py", "b.py"],
            "issues": [
                {
                    "severity": "warning",
                    "category": "",
                    "file": "a.py",
                    "line": 4,
                    "description": "Error is swallowed",
                    "evidence": "",
                    "suggestion": "",
                    "title": "Error is swallowed",
                },
                {
                    "severity": "info",
                    "category": "",
                    "file": None,
                    "line": None,
                    "description": "Info problem 2",
                    "evidence": "",
                    "suggestion": "",
                    "title": "Info problem 2",
                },
            ],
            "summary": {"critical": 0, "warning": 1, "info": 1, "verdict": "issues_found"},
        }
    )
    assert json.loads(files[f"{folder}/r1-verdict.json"]) == snapshot(
        {
            "critic": {"verdict": "issues_found", "issues": 2},
            "pedant": {"verdict": "clean", "issues": 0},
            "witness": {"verdict": "clean", "issues": 0},
            "security_reviewer": {"verdict": "clean", "issues": 0},
            "silent_failure_hunter": {"verdict": "clean", "issues": 0},
            "overall_verdict": "issues_found",
            "total_issues": 2,
        }
    )
    assert files[f"{folder}/r2-fix-summary.md"] == snapshot("""\
# Fix Summary - Iteration 1

**Outcome:** Fixed.
**Commit:** commit-1

fixed

## Answers

- b9fd34824994548a: no answer
- 149978fe726fd075: no answer
""")


def test_the_state_of_a_run_that_is_done() -> None:
    assert state_of(played(FIXED_ONCE)) == snapshot(
        {
            "version": 1,
            "plugin": "burnish",
            "pipeline": "review",
            "status": "complete",
            "task": "Log in",
            "ownerPpid": "",
            "sessionId": "rehearsal",
            "iteration": 2,
            "maxIterations": 5,
            "currentPhase": "DONE",
            "startedAt": "2023-11-14T22:13:20Z",
            "updatedAt": "2023-11-14T22:13:44Z",
            "schedule": [
                {"phase": "R1", "name": "Review", "type": "review"},
                {"phase": "R2", "name": "Fix", "type": "fix"},
            ],
            "files": [],
            "failure": None,
            "iterations": [
                {
                    "iteration": 1,
                    "startedAt": "2023-11-14T22:13:23Z",
                    "r1": {"status": "complete", "verdict": "issues_found"},
                    "r2": {"status": "complete"},
                    "verdict": "issues_found",
                },
                {
                    "iteration": 2,
                    "startedAt": "2023-11-14T22:13:35Z",
                    "r1": {"status": "complete", "verdict": "clean"},
                    "r2": {"status": "pending"},
                    "verdict": "clean",
                },
            ],
        }
    )


def test_the_phases_in_their_order() -> None:
    seen = [(state["currentPhase"], state["iteration"], state["status"]) for state in states(FIXED_ONCE)]
    order = [now for before, now in zip([None, *seen], seen, strict=False) if now != before]
    assert order == [
        ("R1", 1, "in_progress"),
        ("R2", 1, "in_progress"),
        ("R1", 2, "in_progress"),
        ("DONE", 2, "complete"),
    ]


def test_a_round_under_way() -> None:
    first = [state["iterations"][0] for state in states(FIXED_ONCE)]
    seen = [(entry["r1"]["status"], entry["r2"]["status"], entry["verdict"]) for entry in first]
    order = [now for before, now in zip([None, *seen], seen, strict=False) if now != before]
    assert order == [
        ("pending", "pending", None),
        ("in_progress", "pending", None),
        ("complete", "in_progress", "issues_found"),
        ("complete", "complete", "issues_found"),
    ]


def test_a_reviewer_that_answered_is_on_record_before_the_others() -> None:
    seen = [
        sum(path.startswith(".agents/tmp/phases/review-1/r1-") for path in texts(about(moment.run)))
        for moment in Rehearsal(FIXED_ONCE, panel()).play()
    ]
    assert sorted(set(seen)) == [0, 1, 2, 3, 4, 6], "the verdict comes with the fifth review"


def test_stopped_after_the_last_iteration() -> None:
    again = ("medium a.py:9 odd",) * 5
    script = RehearsalScript(protocol="panel", reviews={"*": ("clean",) * 5, "critic": again}, fixes=("fixed",) * 4)
    state = state_of(played(script))
    assert (state["status"], state["currentPhase"], state["iteration"]) == ("stopped", "STOPPED", 5)
    assert state["failure"] is None
    assert [entry["verdict"] for entry in state["iterations"]] == ["issues_found"] * 5
    assert state["iterations"][-1]["r2"] == {"status": "pending"}


def test_a_reviewer_that_never_answers_leaves_no_verdict() -> None:
    run = played(RehearsalScript(protocol="panel", reviews={"*": ("clean",), "witness": ("unreadable",) * 3}))
    files = texts(run)
    assert ".agents/tmp/phases/review-1/r1-critic.json" in files
    assert ".agents/tmp/phases/review-1/r1-witness.json" not in files
    assert ".agents/tmp/phases/review-1/r1-verdict.json" not in files
    state = state_of(run)
    assert (state["status"], state["currentPhase"]) == ("stopped", "STOPPED")
    assert state["failure"].startswith("did-not-run: ")
    assert state["iterations"][0]["r1"] == {"status": "failed"}
    assert state["iterations"][0]["verdict"] is None


def test_a_run_that_waits_stands_still() -> None:
    """Any protocol can be recorded in this layout."""
    run = played(RehearsalScript(protocol="epic", reviews={"*": ("critical",) * 3}, fixes=("fixed", "fixed")))
    state = json.loads(texts(run, RecordLayout.PANEL)[STATE])
    assert (state["status"], state["currentPhase"]) == ("stopped", "STOPPED")
    assert state["failure"]


def test_the_time_of_the_last_event_is_the_time_of_the_update() -> None:
    [*_, file] = record_files(played(FIXED_ONCE), RecordTexts(updated_at=1_700_009_999.0))
    assert json.loads(file.text)["updatedAt"] == "2023-11-15T00:59:59Z"


def test_a_fixers_words_are_harmless_text() -> None:
    run = played(FIXED_ONCE)
    first = run.rounds[0]
    assert first.fix is not None
    said = tuple(replace(one, verdict=FixVerdict.FIXED, text="\x1b[2Ja\n# b") for one in first.fix.answers[:1])
    evil = replace(first, fix=replace(first.fix, text="\x1b[2Jdone\r\n\x00", answers=said))
    text = texts(replace(run, rounds=(evil, *run.rounds[1:])))[".agents/tmp/phases/review-1/r2-fix-summary.md"]
    assert text.endswith(f"\ndone\n\n## Answers\n\n- {said[0].finding}: fixed - a # b\n")
    assert "\x1b" not in text
