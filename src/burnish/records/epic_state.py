"""Records of an epic: `epic-state.json`, and a completion report of each ticket, as the tools that read them expect.

Both stand in `artifacts/` beside the source of the epic. The state is a file that other tools write, too: what they put
into it stays. A ticket is `completed` there only once its work is merged, or was built without a review.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

import msgspec

from burnish.contracts.json_text import Json, JsonObject, read_object, write_json
from burnish.contracts.report_record import unscored_history_entry, unscored_report
from burnish.core.epics.plan import branch_of
from burnish.core.epics.state import (
    SETTLED,
    Epic,
    TicketApproved,
    TicketBlocked,
    TicketCompleted,
    TicketConflicting,
    TicketFailed,
    TicketMerging,
    TicketPending,
    TicketProgress,
    TicketRunning,
    TicketSkipped,
    TicketWaiting,
    run_of,
)
from burnish.core.events import Outcome, ValidationStatus
from burnish.core.protocol import ScoreGate
from burnish.core.state import Fixing, Run, SealKind, Stopping
from burnish.core.values import Value
from burnish.records.interface import RecordFile, RecordTexts, RefusedRecordError, moment, slug
from burnish.records.ticket import is_approved, ticket_fields, ticket_status

STATE = "epic-state.json"
REPORTS = "completion-reports"
_MOVE = "Move it away to have it written; burnish keeps its own copy."
_GOOD = (Outcome.APPROVED, Outcome.ACCEPTED)
_SUITE = {ValidationStatus.PASSED: "passing", ValidationStatus.FAILED: "failing", ValidationStatus.SKIPPED: "skipped"}
_BEFORE = {
    "queued": "pending",
    "executing": "queued",
    "validating": "executing",
    "reviewing": "validating",
    "needs_revision": "reviewing",
}
"""The status that comes before another in the life of a ticket."""
_REVIEW_FIELDS = (
    "revision_count",
    "review_started_at",
    "review_completed_at",
    "review_approved",
    "review_history",
    "current_review_report",
)
_OF_WORK = ("git_info", "started_at", "completed_at", "previous_status", *_REVIEW_FIELDS)
"""What only the one who did the work of a ticket knows."""


def epic_files(epic: Epic, runs: Mapping[str, Run]) -> tuple[RecordFile, ...]:
    """Everything that is to be on record of an epic: its state first, then a report of each ticket that is settled.

    `runs` are those of its tickets, by their names, those that earlier runs of the epic have merged included.
    """
    return EpicStateRecorder().files(epic, runs)


def folder_of(epic: Epic) -> str | None:
    """Where the records of an epic belong in a checkout; None where its source is not in the repository.

    Beads have a tracker that other tools read instead.
    """
    source = PurePosixPath(epic.plan.source)
    is_elsewhere = source.is_absolute() or ".." in source.parts or epic.plan.kind == "beads"
    return None if is_elsewhere else str(source.parent / "artifacts")


class _Known(Value):
    """A ticket as it was when its fields were made."""

    one: TicketProgress
    waits: tuple[str, ...]
    runs: tuple[Run, ...]
    fields: JsonObject
    report: RecordFile | None


class EpicStateRecorder:
    """Makes the records of an epic again and again: of a ticket that is as it was, nothing is made anew."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def files(self, epic: Epic, runs: Mapping[str, Run]) -> tuple[RecordFile, ...]:
        place = folder_of(epic)
        folder = place or "artifacts"
        known = [self._ticket(epic, one, runs, folder) for one in epic.tickets.values()]
        fields = _epic_fields(epic, runs, {each.one.ticket.id: each.fields for each in known})
        state = RecordFile(
            path=f"{folder}/{STATE}",
            text=_text(fields),
            in_checkout=place is not None,
            take_over=partial(_taken_over, fields),
        )
        return (state, *(each.report for each in known if each.report is not None))

    def _ticket(self, epic: Epic, one: TicketProgress, runs: Mapping[str, Run], folder: str) -> _Known:
        names = dict.fromkeys((*one.runs, run_of(one.state)))
        own = tuple(runs[name] for name in names if name in runs)
        waits = _waits_for(epic, one)
        known = self._known.get(one.ticket.id)
        if known and known.one is one and known.waits == waits and _same(known.runs, own):
            return known
        fields = _ticket_fields(epic, one, own)
        report = _report(one, own, fields)
        path, shown = f"{folder}/{REPORTS}/{slug(one.ticket.id)}.json", folder_of(epic) is not None
        file = None if report is None else RecordFile(path=path, text=write_json(report), in_checkout=shown)
        self._known[one.ticket.id] = _Known(one=one, waits=waits, runs=own, fields=fields, report=file)
        return self._known[one.ticket.id]


def _same(one: Sequence[Run], other: Sequence[Run]) -> bool:
    return len(one) == len(other) and all(first is second for first, second in zip(one, other, strict=True))


def _text(fields: JsonObject) -> str:
    """What `write_json` makes of it, many times faster: the state of a large epic is written often."""
    try:
        return msgspec.json.format(msgspec.json.encode(fields), indent=2).decode() + "\n"
    except (UnicodeError, OverflowError):  # half a character, or a very large number, that another tool wrote
        return json.dumps(fields, indent=2) + "\n"


# --- the epic ----------------------------------------------------------------------------------------------------


def _epic_fields(epic: Epic, runs: Mapping[str, Run], tickets: JsonObject) -> JsonObject:
    status, end = _epic_status(epic), epic.end
    return {
        "epic_id": epic.plan.id,
        "epic_branch": epic.started.branch,
        "baseline_commit": epic.started.baseline,
        "epic_pr_url": epic.pull_request or None,
        "status": status,
        "started_at": moment(epic.started.at),
        "completed_at": None if end is None else moment(end.at),
        "failure_reason": end.reason if end is not None and status != "completed" else None,
        "last_updated": moment(max((epic.at, *(run.at for run in runs.values())))),
        "tickets": tickets,
    }


def _epic_status(epic: Epic) -> str:
    if epic.end is None:
        begun = any(one.runs for one in epic.tickets.values())
        return "executing_wave" if begun else "ready_to_execute"
    if epic.rolled_back:
        return "rolled_back"
    if epic.end.outcome in (*_GOOD, Outcome.SKIPPED):
        return "completed"
    # Some of its tickets came to nothing, none of them critical; what was merged is approved.
    approved = epic.is_approved if epic.plan.reviewed_whole else bool(epic.merged)
    is_partial = approved and epic.failed_critical is None and epic.cancelled is None
    return "partial_success" if is_partial else "failed"


# --- a ticket ----------------------------------------------------------------------------------------------------


def _ticket_fields(epic: Epic, one: TicketProgress, runs: Sequence[Run]) -> JsonObject:
    """One ticket. `runs` are those of its runs that have begun, the last one last."""
    ticket, state, run = one.ticket, one.state, runs[-1] if runs else None
    status = _status(epic, one, run)
    done = status == "completed"
    reviews = _review_fields(ticket.file or epic.plan.source, runs)
    if isinstance(state, TicketConflicting) or (run and run.id != run_of(state)):
        reviews["review_approved"] = None  # what was approved cannot be merged, and is about to be changed
    return {
        "path": ticket.file or epic.plan.source,
        "depends_on": list(ticket.depends_on),
        "critical": ticket.critical,
        "status": status,
        "phase": "completed" if done else "not-started",
        "git_info": _git_info(epic, one, run),
        "started_at": _moment(one.started_at or (run.started.at if run else 0.0)),
        "completed_at": _moment(one.settled_at or (run.ended_at if run else 0.0)) if done else None,
        "failure_reason": state.reason if isinstance(state, TicketFailed | TicketBlocked) else None,
        "blocking_dependency": state.by if isinstance(state, TicketBlocked) else None,
        "previous_status": _previous_status(one, run, status),
        "waiting_for": [f"{name}.completed" for name in _waits_for(epic, one)],
        **reviews,
    }


def _waits_for(epic: Epic, one: TicketProgress) -> tuple[str, ...]:
    return epic.waits_for(one.ticket) if isinstance(one.state, TicketPending) else ()


def _moment(at: float) -> str | None:
    return moment(at) if at else None


def _status(epic: Epic, one: TicketProgress, run: Run | None) -> str:
    match one.state:
        case TicketPending():
            needed = (epic.tickets[name].state for name in one.ticket.depends_on)
            return "queued" if all(isinstance(state, TicketCompleted) for state in needed) else "pending"
        case TicketRunning() | TicketWaiting():
            # Its last run may not have begun yet.
            is_this = run is not None and run.id == run_of(one.state)
            return ticket_status(run) if run is not None and is_this else "queued"
        case TicketApproved() | TicketMerging():
            return "reviewing"
        case TicketConflicting():
            return "needs_revision"
        case TicketCompleted():
            return "completed"
        case TicketFailed():
            return "failed"
        case TicketSkipped():
            return "skipped"
        case TicketBlocked():
            return "blocked"


def _previous_status(one: TicketProgress, run: Run | None, status: str) -> str | None:
    """The status before this one, as far as it follows from where the ticket is."""
    if status in ("completed", "failed", "skipped", "blocked"):
        if run is not None:
            return "reviewing" if run.rounds else "validating" if run.validations else "executing"
        return "pending" if isinstance(one.state, TicketBlocked) else None
    if status == "queued" and one.resolutions:
        return "needs_revision"
    phase = None if run is None else run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    if status == "executing" and isinstance(phase, Fixing):
        return "validating" if phase.order.after_validation else "needs_revision"
    return _BEFORE.get(status)


def _git_info(epic: Epic, one: TicketProgress, run: Run | None) -> JsonObject | None:
    state = one.state.running if isinstance(one.state, TicketWaiting) else one.state
    if isinstance(state, TicketRunning) and (run is None or run.id != state.run):
        return {"base_commit": state.onto, "branch_name": branch_of(epic.plan, one.ticket.id), "final_commit": None}
    if run is None:
        return None
    final = run.commit if run.outcome is not None else None
    return {"base_commit": run.subject.base_commit, "branch_name": run.subject.branch, "final_commit": final}


def _review_fields(path: str, runs: Sequence[Run]) -> JsonObject:
    """What reviews add to a ticket: of its last run; its history and its revisions are those of all of them."""
    fields: JsonObject = dict.fromkeys(_REVIEW_FIELDS)
    history: list[Json] = []
    rounds = revisions = 0
    for run in runs:
        fields = _reviews_of(run, path)
        history += [{**entry, "attempt": _attempt(entry) + rounds} for entry in _entries(fields)]
        rounds += len(run.rounds)
        revisions += run.revisions_begun
    return {**fields, "revision_count": revisions, "review_history": history}


def _entries(fields: JsonObject) -> list[JsonObject]:
    entries = fields["review_history"]
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _attempt(entry: JsonObject) -> int:
    attempt = entry["attempt"]
    return attempt if isinstance(attempt, int) else 0


def _reviews_of(run: Run, path: str) -> JsonObject:
    gate = run.protocol.gate
    if isinstance(gate, ScoreGate):
        fields = ticket_fields(run, gate, RecordTexts(brief_path=path))
        return {name: fields[name] for name in _REVIEW_FIELDS}
    judged = [(round_, round_.judgement) for round_ in run.rounds if round_.judgement is not None]
    times = [max((review.finished_at for review in round_.answered), default=round_.opened_at) for round_, _ in judged]
    history: list[Json] = [
        unscored_history_entry(judgement, attempt=round_.number - 1, reviewed_at=moment(at))
        for (round_, judgement), at in zip(judged, times, strict=True)
    ]
    report = None
    if judged:
        round_, judgement = judged[-1]
        report = unscored_report(
            judgement,
            tuple(finding for review in round_.answered for finding in review.answer.findings),
            ticket_id=run.subject.story_or_branch,
            reviewer=", ".join(review.reviewer for review in round_.answered),
            reviewed_at=moment(times[-1]),
            revision_count=round_.number - 1,
        )
    return {
        "revision_count": run.revisions_begun,
        "review_started_at": moment(run.rounds[-1].opened_at) if run.rounds else None,
        "review_completed_at": moment(times[-1]) if run.judgement and times else None,
        "review_approved": is_approved(run),
        "review_history": history,
        "current_review_report": report,
    }


# --- the report of a ticket that is settled -----------------------------------------------------------------------


def _report(one: TicketProgress, runs: Sequence[Run], fields: JsonObject) -> JsonObject | None:
    """What came of a ticket; None while that is not settled, and where nothing was done for it."""
    state, ticket = one.state, one.ticket
    is_done_before = isinstance(state, TicketCompleted) and not runs
    if not isinstance(state, SETTLED) or is_done_before:
        return None
    run = runs[-1] if runs else None
    info = fields["git_info"] if isinstance(fields["git_info"], dict) else {}
    approved = isinstance(state, TicketCompleted) and state.outcome is Outcome.APPROVED
    ticked = ticket.ticked if isinstance(state, TicketCompleted) else ()
    report: JsonObject = {
        "ticket_id": ticket.id,
        "status": fields["status"],
        "branch_name": info.get("branch_name"),
        "base_commit": info.get("base_commit"),
        "final_commit": info.get("final_commit"),
        "files_modified": [file.path for file in run.changed] if run else [],
        "test_suite_status": _SUITE[run.validated.status] if run and run.validated else "skipped",
        "acceptance_criteria": [
            {"criterion": criterion, "met": approved or criterion in ticked} for criterion in ticket.acceptance
        ],
        "warnings": list(_warnings(one, run)),
    }
    for name in ("failure_reason", "blocking_dependency"):
        if fields[name] is not None:
            report[name] = fields[name]
    return report


def _warnings(one: TicketProgress, run: Run | None) -> list[str]:
    """What a reader should know of a ticket that did not take the usual way."""
    state = one.state
    told: list[str] = []
    if isinstance(state, TicketCompleted):
        if state.outcome is Outcome.ACCEPTED:
            told.append("A person accepted it with findings that are still open.")
        if not state.commit:
            told.append("It was not reviewed, so it is not merged.")
    if one.resolutions:
        told.append("It had conflicts with the branch of the epic.")
    kinds = [kind.value for kind in run.seal_kinds if kind is not SealKind.APPROVED] if run else []
    if kinds:
        told.append(f"Its seal is of kind {', '.join(kinds)}.")
    return told


# --- a state that is there already --------------------------------------------------------------------------------


def _taken_over(ours: JsonObject, existing: bytes) -> str:
    """Our state in a file that is there already, which may be another tool's, in its order and with all it holds.

    Raises `RefusedRecordError` where that would lose anything.
    """
    try:
        found = read_object(existing.decode())
    except UnicodeDecodeError:
        found = None
    if found is None:
        raise RefusedRecordError("It is not a JSON object, so burnish did not replace it.", _MOVE)
    if found.get("epic_id") != ours["epic_id"]:
        other = found.get("epic_id")
        whose = f"belongs to the epic '{other}'" if isinstance(other, str) else "does not name its epic"
        raise RefusedRecordError(f"It {whose}, so burnish did not replace it.", _MOVE)
    theirs, mine = found.get("tickets", {}), ours["tickets"]
    if not isinstance(theirs, dict) or not isinstance(mine, dict):
        raise RefusedRecordError("Its tickets are not a JSON object, so burnish did not replace it.", _MOVE)
    tickets = {**theirs, **{name: _ticket_taken_over(theirs.get(name, {}), one) for name, one in mine.items()}}
    address = ours["epic_pr_url"] or found.get("epic_pr_url")
    return _text({**found, **ours, "epic_pr_url": address, "tickets": tickets})


def _ticket_taken_over(found: Json, ours: Json) -> Json:
    if not isinstance(found, dict) or not isinstance(ours, dict):
        raise RefusedRecordError("A ticket in it is not a JSON object, so burnish did not replace it.", _MOVE)
    known = ours
    if ours["status"] == "completed" and ours["started_at"] is None:
        # Done before this epic began: the file may know how.
        known = {name: value for name, value in ours.items() if name not in _OF_WORK or name not in found}
    both = {**found, **known}
    theirs, mine = found.get("git_info"), known.get("git_info")
    return {**both, "git_info": {**theirs, **mine}} if isinstance(theirs, dict) and isinstance(mine, dict) else both
