"""Records of stories: their words in the sprint status and in their own files, and the document of the run.

The first two are files of the user's own, mostly tracked by git, and other tools write them, too. burnish changes
single words in them, also on the epic's branch when a story is merged. In the document of the run, the front matter is
the truth; fields, comments and text that others put there stay.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

from burnish.core.epics.state import (
    Epic,
    TicketApproved,
    TicketBlocked,
    TicketCompleted,
    TicketConflicting,
    TicketFailed,
    TicketMerging,
    TicketProgress,
    TicketRunning,
    TicketSkipped,
    TicketState,
    TicketWaiting,
    run_of,
)
from burnish.core.events import Outcome
from burnish.core.findings import Finding, FindingStatus
from burnish.core.state import Reviewing, Run, Stopping
from burnish.core.story_text import story_id, with_action_items, with_file_status, with_statuses
from burnish.core.text import clean_text
from burnish.records.interface import RecordFile, moment, slug

FOLDER = "docs/progress"
_TITLE = "## Stories"
_COLUMNS = ("Story", "Status", "Review rounds", "Duration", "Commit")
_KEY = re.compile(r"""^(?P<indent> *)(?P<quote>["']?)(?P<key>[^\s:"'#][^:"']*)(?P=quote):(?:\s|$)""")
_COMMENT = re.compile(r"""\s#[^"']*$""")
_FENCE = "---"

Fields = Mapping[str, "str | int | Fields | None"]


_WORDS: dict[type[TicketState], str] = {
    TicketWaiting: "paused",
    TicketApproved: "review",
    TicketMerging: "review",
    TicketConflicting: "in-progress",
    TicketBlocked: "blocked",
}


def word_of(one: TicketProgress, runs: Mapping[str, Run]) -> str | None:
    """The status of a story; None where nothing is to be said about it: it has not begun, or its source said it."""
    state = one.state
    match state:
        case TicketRunning():
            run = runs.get(state.run)
            phase = None if run is None else run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
            return "review" if isinstance(phase, Reviewing) else "in-progress"
        case TicketCompleted() | TicketSkipped():
            word = "done" if isinstance(state, TicketCompleted) else "skipped"
            return word if state.run else None
        case TicketFailed():
            return "blocked" if state.outcome is Outcome.BLOCKED else "in-progress"
        case _:
            return _WORDS.get(type(state))


def action_items(run: Run | None) -> tuple[Finding, ...]:
    """What reviews found and left, because it does not hold the story up."""
    if run is None or run.outcome not in (Outcome.APPROVED, Outcome.ACCEPTED):
        return ()
    listed = (FindingStatus.OPEN, FindingStatus.FILED)
    return tuple(entry.finding for entry in run.findings if entry.status in listed)


class StoriesRecorder:
    def files(self, epic: Epic, runs: Mapping[str, Run]) -> tuple[RecordFile, ...]:
        """Everything that is to be on record: the document of the run, the sprint status, the stories' files."""
        words = {name: word for name, one in epic.tickets.items() if (word := word_of(one, runs))}
        document = _document(epic, runs)
        sprint = epic.plan.source
        own = "".join(f"  {name}: {word}\n" for name, word in words.items())
        found = [
            document,
            RecordFile(
                path=_below(sprint) or PurePosixPath(sprint).name,
                text=f"development_status:\n{own}",
                in_checkout=bool(_below(sprint)),
                take_over=partial(_with_words, words),
                is_edit=True,
            ),
        ]
        for name, word in words.items():
            one = epic.tickets[name]
            path = _below(one.ticket.file)
            if not path:
                continue
            items = action_items(runs.get(run_of(one.state)))
            text = with_action_items(f"Status: {word}\n", items)
            take_over = partial(_with_story_word, word, items)
            found.append(RecordFile(path=path, text=text, take_over=take_over, is_edit=True))
        return tuple(found)


def _below(path: str) -> str:
    """A path where it is below the root of the repository."""
    return "" if not path or path.startswith("/") or ".." in PurePosixPath(path).parts else path


def _decoded(existing: bytes) -> str:
    return existing.decode("utf-8", errors="surrogateescape")


def _with_words(words: Mapping[str, str], existing: bytes) -> str:
    return with_statuses(_decoded(existing), words)


def _with_story_word(word: str, items: Sequence[Finding], existing: bytes) -> str:
    return with_action_items(with_file_status(_decoded(existing), word), items)


# --- the document of the run --------------------------------------------------------------------------------------


def document_path(epic: Epic) -> str:
    return f"{FOLDER}/epic-{slug(epic.plan.id)}-auto-run.md"


def _document(epic: Epic, runs: Mapping[str, Run]) -> RecordFile:
    stories = {_name(epic, name): _story(one, runs) for name, one in epic.tickets.items()}
    at = max((epic.at, *(run.at for run in runs.values())))
    fields: dict[str, str | int | Fields | None] = {
        "epic_id": epic.plan.id,
        "status": _epic_word(epic),
        "scope": ", ".join(epic.plan.scope) or "all",
        "started": moment(epic.started.at),
        "last_updated": moment(at),
        "run": epic.id,
        "stories": stories,
    }
    table = _table(stories)
    front = "\n".join([_FENCE, *_written(fields, ""), _FENCE])
    title = clean_text(epic.plan.title) or f"Epic {clean_text(epic.plan.id)}"
    text = f"{front}\n\n# {title}\n\n{_TITLE}\n\n{table}\n"
    return RecordFile(
        path=document_path(epic),
        text=text,
        take_over=partial(_taken_over, fields, table, text),
        is_edit=True,
        is_made=True,
    )


def _epic_word(epic: Epic) -> str:
    if epic.end is not None:
        return "done" if epic.end.outcome in (Outcome.APPROVED, Outcome.ACCEPTED, Outcome.SKIPPED) else "blocked"
    return "paused" if epic.paused or epic.waiting else "in-progress"


def _name(epic: Epic, key: str) -> str:
    """`1.2`, as the document calls a story; its key where two stories would share that."""
    short = story_id(key)
    return short if sum(story_id(other) == short for other in epic.tickets) == 1 else key


def _story(one: TicketProgress, runs: Mapping[str, Run]) -> Fields:
    state = one.state
    done = isinstance(state, TicketCompleted)
    word = word_of(one, runs) or ("done" if done else "skipped" if isinstance(state, TicketSkipped) else "pending")
    settled = one.settled_at if one.settled_at and one.started_at else 0.0
    return {
        "status": word,
        "pr": None,
        "commit": (state.commit or None) if isinstance(state, TicketCompleted) else None,
        "coverage": None,
        "review_rounds": sum(len(runs[name].rounds) for name in one.runs if name in runs),
        "duration": _duration(settled - one.started_at) if settled else None,
        "startedAt": moment(one.started_at) if one.started_at else None,
        "completedAt": moment(settled) if settled and done else None,
    }


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def _table(stories: Mapping[str, Fields]) -> str:
    rows = [" | ".join(_COLUMNS), " | ".join("---" for _ in _COLUMNS)]
    for name, fields in stories.items():
        cells = (name, *(fields[key] for key in ("status", "review_rounds", "duration", "commit")))
        rows.append(" | ".join("–" if cell is None else clean_text(str(cell)).replace("|", "\\|") for cell in cells))
    return "\n".join(f"| {row} |" for row in rows)


def _scalar(value: "str | int | Fields | None") -> str:
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(value)
    text = str(value)
    plain = re.fullmatch(r"[A-Za-z][\w ./-]*\w|[a-z]", text) and text.lower() not in (
        "null",
        "true",
        "false",
        "yes",
        "no",
    )
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return text if plain else f'"{escaped}"'


def _written(fields: Fields, indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in fields.items():
        name = key if re.fullmatch(r"[A-Za-z]\w*", key) else f'"{key}"'
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}:", *_written(value, f"{indent}  ")]
        else:
            lines.append(f"{indent}{name}: {_scalar(value)}")
    return lines


def _taken_over(fields: Fields, table: str, whole: str, existing: bytes) -> str:
    """The document that is there with our fields and our table in it. Everything else in it stays."""
    text = _decoded(existing)
    lines = text.split("\n")
    if not lines or lines[0].strip() != _FENCE:
        return whole if not text.strip() else f"{whole}\n{text}"
    end = next((at for at in range(1, len(lines)) if lines[at].strip() == _FENCE), None)
    if end is None:
        return f"{whole}\n{text}"
    front = _edited(lines[1:end], fields, "")
    return "\n".join([lines[0], *front, lines[end], *_with_table(lines[end + 1 :], table)])


def _edited(lines: Sequence[str], fields: Fields, indent: str) -> list[str]:
    """The lines of a mapping with our values in it; what is not ours stays as it is, and where it is."""
    keys = [(at, found) for at, line in enumerate(lines) if (found := _KEY.match(line))]
    depth = min((len(found["indent"]) for _, found in keys), default=len(indent))
    begins = [(at, found["key"]) for at, found in keys if len(found["indent"]) == depth]
    result = list(lines[: begins[0][0]] if begins else lines)
    for number, (at, key) in enumerate(begins):
        stop = begins[number + 1][0] if number + 1 < len(begins) else len(lines)
        result += _entry(lines[at:stop], fields[key]) if key in fields else lines[at:stop]
    there = {key for _, key in begins}
    return result + _written({key: value for key, value in fields.items() if key not in there}, " " * depth)


def _entry(lines: Sequence[str], value: "str | int | Fields | None") -> list[str]:
    head, body = lines[0], lines[1:]
    found = _KEY.match(head)
    if found is None:
        return list(lines)
    name = head[: found.end("key") + len(found["quote"])]
    if isinstance(value, Mapping):
        comment = _COMMENT.search(head)
        return [f"{name}:{comment[0] if comment else ''}", *_edited(body, value, f"{found['indent']}  ")]
    comment = _COMMENT.search(head)
    kept = [line for line in body if not line.strip() or line.strip().startswith("#")]
    return [f"{name}: {_scalar(value)}{comment[0] if comment else ''}", *kept]


def _with_table(lines: Sequence[str], table: str) -> list[str]:
    heading = next((at for at, line in enumerate(lines) if line.strip() == _TITLE), None)
    if heading is None:
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        return [*lines, "", _TITLE, "", *table.split("\n"), ""]
    begin = next((at for at in range(heading + 1, len(lines)) if lines[at].startswith("|")), None)
    if begin is None or any(line.startswith("#") for line in lines[heading + 1 : begin]):
        return [*lines[: heading + 1], "", *table.split("\n"), *lines[heading + 1 :]]
    end = next((at for at in range(begin, len(lines)) if not lines[at].startswith("|")), len(lines))
    return [*lines[:begin], *table.split("\n"), *lines[end:]]
