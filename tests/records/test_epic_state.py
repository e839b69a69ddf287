"""The state of an epic and the reports of its tickets, alone and in a file that other tools have written."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from burnish.core.epics.events import (
    CarriedTicket,
    EpicClosed,
    EpicReviewEnded,
    EpicReviewStarted,
    RolledBack,
)
from burnish.core.events import Outcome
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.records.epic_state import EpicStateRecorder, epic_files
from burnish.records.interface import RecordFile
from burnish.records.writing import Destination, Written, write
from tests.records.epics import PASSES, Story, mixed, plan_of, run_of, ticket

STATE = "plans/artifacts/epic-state.json"
SAMPLES = Path(__file__).parent / "samples"


def nothing(_path: str) -> bool:
    return False


def everything(_path: str) -> bool:
    return True


def state_of(story: Story) -> dict[str, Any]:
    return json.loads(epic_files(story.epic, story.runs)[0].text)


def reports_of(story: Story) -> dict[str, Any]:
    files = epic_files(story.epic, story.runs)[1:]
    return {file.path.removeprefix("plans/artifacts/completion-reports/"): json.loads(file.text) for file in files}


def written(root: Path, files: tuple[RecordFile, ...], *, is_tracked: Callable[[str], bool] = nothing) -> Written:
    destination = Destination(
        run_folder=root / "burnish/epics/one",
        checkout=root / "checkout",
        is_tracked=is_tracked,
        gives_way=nothing,
        makes_room=False,
    )
    return write(files, destination)


def lay(root: Path, content: bytes) -> Path:
    path = root / "checkout" / STATE
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_each_ticket_has_the_status_of_its_lifecycle() -> None:
    tickets = state_of(mixed())["tickets"]
    told = {name: (one["status"], one["previous_status"], one["review_approved"]) for name, one in tickets.items()}
    assert told == snapshot(
        {
            "base": ("completed", "reviewing", True),
            "docs": ("completed", None, None),
            "api": ("completed", "reviewing", True),
            "login-form": ("queued", "pending", None),
            "mail": ("failed", "reviewing", False),
            "tokens": ("blocked", "reviewing", False),
            "audit": ("queued", "needs_revision", None),
            "sessions": ("validating", "executing", None),
            "mail-templates": ("blocked", "pending", None),
            "web": ("pending", None, None),
            "limits": ("reviewing", "validating", True),
            "sketch": ("completed", "reviewing", True),
        }
    )
    assert tickets["web"]["waiting_for"] == ["login-form.completed", "sessions.completed"]
    assert {name for name, one in tickets.items() if one["phase"] == "completed"} == {"base", "docs", "api", "sketch"}


def test_a_ticket_that_was_revised_in_full() -> None:
    story = Story(plan_of(ticket("base", critical=True)))
    story.complete("base")
    state = state_of(story)
    report = state["tickets"]["base"].pop("current_review_report")
    assert (report["ticket_id"], report["status"], report["overall_score"]) == ("base", "pass", 88)
    assert state == snapshot(
        {
            "epic_id": "user-auth",
            "epic_branch": "epic/user-auth",
            "baseline_commit": "0000000000000000000000000000000000000000",
            "epic_pr_url": None,
            "status": "executing_wave",
            "started_at": "2023-11-14T22:13:20Z",
            "completed_at": None,
            "failure_reason": None,
            "last_updated": "2023-11-14T22:17:20Z",
            "tickets": {
                "base": {
                    "path": "plans/tickets/base.md",
                    "depends_on": [],
                    "critical": True,
                    "status": "completed",
                    "phase": "completed",
                    "git_info": {"base_commit": "base", "branch_name": "ticket/base", "final_commit": "commit-1"},
                    "started_at": "2023-11-14T22:14:20Z",
                    "completed_at": "2023-11-14T22:17:20Z",
                    "failure_reason": None,
                    "blocking_dependency": None,
                    "previous_status": "reviewing",
                    "waiting_for": [],
                    "revision_count": 1,
                    "review_started_at": "2023-11-14T22:13:29Z",
                    "review_completed_at": "2023-11-14T22:13:30Z",
                    "review_approved": True,
                    "review_history": [
                        {
                            "attempt": 0,
                            "reviewed_at": "2023-11-14T22:13:24Z",
                            "status": "fail",
                            "overall_score": 84,
                            "blocking_issues_count": 0,
                            "revision_notes": "Add the missing check",
                        },
                        {
                            "attempt": 1,
                            "reviewed_at": "2023-11-14T22:13:30Z",
                            "status": "pass",
                            "overall_score": 88,
                            "blocking_issues_count": 0,
                            "revision_notes": None,
                        },
                    ],
                }
            },
        }
    )
    assert reports_of(story) == snapshot(
        {
            "base.json": {
                "ticket_id": "base",
                "status": "completed",
                "branch_name": "ticket/base",
                "base_commit": "base",
                "final_commit": "commit-1",
                "files_modified": ["change"],
                "test_suite_status": "skipped",
                "acceptance_criteria": [{"criterion": "base works", "met": True}],
                "warnings": [],
            }
        }
    )


def test_settled_tickets_have_a_report_and_none_is_better_than_it_is() -> None:
    reports = reports_of(mixed())
    assert {name: (one["status"], one["acceptance_criteria"][0]["met"]) for name, one in reports.items()} == {
        "base.json": ("completed", True),
        "api.json": ("completed", True),
        "mail.json": ("failed", False),
        "mail-templates.json": ("blocked", False),
        "sketch.json": ("completed", False),
    }
    assert reports["mail-templates.json"]["blocking_dependency"] == "mail"
    assert reports["sketch.json"]["warnings"] == ["It was not reviewed, so it is not merged."]


@pytest.mark.parametrize(
    ("review", "outcome", "status"),
    [
        (Outcome.APPROVED, Outcome.FAILED, "partial_success"),
        (Outcome.FAILED, Outcome.FAILED, "failed"),
        (Outcome.UNPROVEN, Outcome.UNPROVEN, "failed"),
    ],
)
def test_an_epic_with_a_failed_ticket_is_a_success_in_part_only_if_the_rest_is_approved(
    review: Outcome, outcome: Outcome, status: str
) -> None:
    story = Story(plan_of(ticket("base"), ticket("extra")))
    assert state_of(story)["status"] == "ready_to_execute"
    story.complete("base")
    story.fail("extra")
    assert state_of(story)["status"] == "executing_wave"
    story.add(EpicReviewStarted(at=story.at, run="whole", onto="b"))
    story.add(EpicReviewEnded(at=story.at, run="whole", outcome=review, reason="so", commit="c"))
    story.add(EpicClosed(at=story.at, outcome=outcome, reason="1 of 2 tickets came to nothing: extra"))
    state = state_of(story)
    assert (state["status"], state["failure_reason"]) == (status, "1 of 2 tickets came to nothing: extra")


def test_an_epic_that_was_rolled_back() -> None:
    plan = replace(plan_of(ticket("base"), ticket("core", critical=True)), rollback_on_failure=True)
    story = Story(plan)
    story.complete("base")
    story.fail("core")
    story.add(RolledBack(at=story.at, former="b", kept="refs/burnish/epics/x"))
    story.add(EpicClosed(at=story.at, outcome=Outcome.FAILED, reason="core failed"))
    assert state_of(story)["status"] == "rolled_back"


def test_nothing_of_another_tool_is_lost(tmp_path: Path) -> None:
    before = (SAMPLES / "epic-state.json").read_bytes()
    path = lay(tmp_path, before)
    story = Story(plan_of(ticket("base"), ticket("docs", done=True), ticket("api", "base")))
    story.complete("base")
    assert written(tmp_path, epic_files(story.epic, story.runs)).notices == ()
    then, now = json.loads(before), json.loads(path.read_bytes())
    assert list(now)[: len(then)] == list(then)
    assert list(now["tickets"]) == ["retired", "base", "docs", "api"]
    assert now["tickets"]["retired"] == then["tickets"]["retired"]
    assert {name: now[name] for name in ("session_id", "wave", "note", "epic_pr_url")} == {
        name: then[name] for name in ("session_id", "wave", "note", "epic_pr_url")
    }
    base = now["tickets"]["base"]
    assert (base["status"], base["estimate"], base["labels"]) == ("completed", 1.5, ["müde", "☃"])
    assert base["git_info"]["worktree"] == "../base"
    # Who did it knows when and how; burnish only knows that it is done.
    assert now["tickets"]["docs"].items() >= then["tickets"]["docs"].items()
    again = path.stat().st_ino
    assert written(tmp_path, epic_files(story.epic, story.runs)).paths == ()
    assert path.stat().st_ino == again


def test_the_second_dialect_keeps_its_fields(tmp_path: Path) -> None:
    before = (SAMPLES / "epic-state-second-dialect.json").read_bytes()
    path = lay(tmp_path, before)
    story = Story(plan_of(ticket("base"), ticket("api", "base")))
    story.complete("base")
    written(tmp_path, epic_files(story.epic, story.runs))
    now = json.loads(path.read_bytes())
    assert (now["schema_version"], now["epic_state"], now["stats"]) == (1, "EXECUTING", {"total": 2, "completed": 0})
    assert (now["tickets"]["base"]["state"], now["tickets"]["base"]["status"]) == ("IN_PROGRESS", "completed")
    assert (now["tickets"]["api"]["state"], now["tickets"]["api"]["status"]) == ("PENDING", "queued")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"epic_id": "billing", "tickets": {}}', "It belongs to the epic 'billing'"),
        (b'{"tickets": {}}', "It does not name its epic"),
        (b"[]", "not a JSON object"),
        (b'{"epic_id": "user-auth", ', "not a JSON object"),
        (b'{"epic_id": "user-auth", "a": 1, "a": 2}', "not a JSON object"),
        (b'{"epic_id": "user-auth", "a": "\xff"}', "not a JSON object"),
        (b'{"epic_id": "user-auth", "tickets": [{"id": "base"}]}', "Its tickets are not a JSON object"),
        (b'{"epic_id": "user-auth", "tickets": {"base": "done"}}', "A ticket in it is not a JSON object"),
    ],
)
def test_what_would_be_lost_is_left_alone(tmp_path: Path, content: bytes, told: str) -> None:
    path = lay(tmp_path, content)
    story = Story(plan_of(ticket("base")))
    story.complete("base")
    [notice] = written(tmp_path, epic_files(story.epic, story.runs)).notices
    assert told in notice.message
    assert notice.hint
    assert path.read_bytes() == content
    assert not (path.parent / "completion-reports").exists()
    assert (tmp_path / "burnish/epics/one/records/plans/artifacts/completion-reports/base.json").exists()


def test_a_tracked_file_and_a_link_are_left_alone(tmp_path: Path) -> None:
    story = Story(plan_of(ticket("base")))
    story.complete("base")
    files = epic_files(story.epic, story.runs)
    content = b'{"epic_id": "user-auth"}'
    path = lay(tmp_path, content)
    [notice] = written(tmp_path, files, is_tracked=everything).notices
    assert "tracked by git" in notice.message
    elsewhere = tmp_path / "elsewhere.json"
    path.replace(elsewhere)
    path.symlink_to(elsewhere)
    [notice] = written(tmp_path, files).notices
    assert "symbolic link" in notice.message
    assert elsewhere.read_bytes() == content


def test_odd_values_of_another_tool_stay_what_they_are(tmp_path: Path) -> None:
    odd = b'{"epic_id": "user-auth", "half": "\\ud800", "large": 123456789012345678901234567890}'
    path = lay(tmp_path, odd)
    story = Story(plan_of(ticket("base")))
    assert written(tmp_path, epic_files(story.epic, story.runs)).notices == ()
    now = json.loads(path.read_bytes())
    assert (now["half"], now["large"]) == ("\ud800", 123456789012345678901234567890)


@pytest.mark.parametrize("source", ["/elsewhere/user-auth.yaml", "../user-auth.yaml"])
def test_beside_a_source_outside_of_the_repository_nothing_is_written(source: str) -> None:
    story = Story(plan_of(ticket("base"), source=source))
    story.complete("base")
    assert [(file.path, file.in_checkout) for file in epic_files(story.epic, story.runs)] == [
        ("artifacts/epic-state.json", False),
        ("artifacts/completion-reports/base.json", False),
    ]


def test_what_an_earlier_run_of_the_epic_merged_is_told_from_its_own_run() -> None:
    runs: Mapping[str, Run] = {"earlier": run_of(PASSES, "earlier", "base")}
    story = Story(
        plan_of(ticket("base"), ticket("api", "base")), CarriedTicket(ticket="base", run="earlier", commit="c")
    )
    story.runs.update(runs)
    base = state_of(story)["tickets"]["base"]
    assert (base["status"], base["review_approved"], base["git_info"]["branch_name"]) == (
        "completed",
        True,
        "ticket/base",
    )


def test_a_recorder_that_remembers_makes_the_same_bytes() -> None:
    story, recorder = mixed(), EpicStateRecorder()
    events, story.events = story.events, story.events[:1]
    for event in events[1:]:
        story.events.append(event)
        begun = {
            name: run
            for name, run in story.runs.items()
            if any(name in one.runs for one in story.epic.tickets.values())
        }
        kept = [(file.path, file.text) for file in recorder.files(story.epic, begun)]
        assert kept == [(file.path, file.text) for file in epic_files(story.epic, begun)]
