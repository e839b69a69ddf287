"""A story's own files: which of them says how the story stands, what it says, and where its action items go.

One file counts: the sprint status that lists the story, else the story's own file. It is chosen once, before the
first session, so that the prompt names the file that is checked, and no file that a session adds takes its place.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import StoryStatus, Subject
from burnish.core.findings import Finding
from burnish.core.text import clean_text
from burnish.system.nofollow import write_new
from burnish.workspace.folders import read_inside
from burnish.workspace.repository import Repository

_SPRINT_STATUS = "sprint-status.yaml"
_BLOCK = "development_status"
_ENTRY = re.compile(
    r"""^(?P<indent>\s*)(?P<quote>["']?)(?P<key>[^\s:"'#][^:"']*)(?P=quote)\s*:(?:\s+(?P<value>.*))?$"""
)
_VALUE = re.compile(r"""(?P<quote>["']?)(?P<word>[^"'#]*?)(?P=quote)\s*(?:#.*)?""")
_STATUS_LINE = re.compile(r"^[^\w\n]*status[^\w\n]*:[^\w\n]*(?P<word>[A-Za-z-]+)", re.IGNORECASE | re.MULTILINE)
_STATUS_HEADING = re.compile(r"^#+[ \t]*status[ \t]*\n\s*(?P<word>[A-Za-z-]+)", re.IGNORECASE | re.MULTILINE)
_ID_PART = re.compile(r"\d+[A-Za-z]?|[A-Z]\d+")
_MAX_NAMED = 5
_MAX_TITLE = 300
_MAX_STORY_BYTES = 1024 * 1024
ACTION_ITEMS = "## Review Action Items"


class StoryError(BurnishError):
    """A story whose status cannot be told, because no file or more than one could hold it."""

    kind = ErrorKind.USAGE


class _Name(NamedTuple):
    """`1-2-some-slug`, taken apart: the id is compared as a whole, never by its beginning."""

    id: tuple[str, ...]
    slug: str


def find_status_file(repository: Repository, commit: str, story: str) -> str:
    """The file that says how a story stands; empty where a commit has no sprint status and no file of the story.

    Raises `StoryError` where several files could, or where a sprint status is there and nothing knows the story.
    """
    paths = sorted(repository.files(commit))
    sprints = [path for path in paths if path.rpartition("/")[2] == _SPRINT_STATUS]
    keys = [(path, key) for path in sprints for key in _entries(_text(repository, commit, path))]
    listed = [(path, key) for path, key in keys if is_story(key, story)]
    holders = list(dict.fromkeys(path for path, _ in listed)) or [
        path for path in paths if _is_story_file(path, story) and _file_word(_text(repository, commit, path))
    ]
    if len(holders) > 1:
        raise StoryError(
            f"The status of story {story} is in more than one file: {_named(holders)}.",
            hint="Keep one of them, or use the whole key with --story, such as 1-2-some-slug.",
        )
    if len(listed) > 1:
        named = _named(key for _, key in listed)
        raise StoryError(
            f"{holders[0]} lists story {story} more than once: {named}.", hint="Use the whole key with --story."
        )
    if not holders and sprints:
        raise _unlisted(story, sprints, [key for _, key in keys])
    return holders[0] if holders else ""


def story_status(repository: Repository, commit: str, subject: Subject) -> StoryStatus:
    """Done, not done, or absent, in the file that was chosen at the start; where there was none, in one of now."""
    if not subject.story:
        return StoryStatus.ABSENT
    try:
        path = subject.status_file or find_status_file(repository, commit, subject.story)
    except StoryError:
        return StoryStatus.NOT_DONE
    if not path:
        return StoryStatus.ABSENT
    words = _words(path, _text(repository, commit, path), subject.story)
    return StoryStatus.DONE if words and all(word.lower() == "done" for word in words) else StoryStatus.NOT_DONE


def find_story_file(repository: Repository, commit: str, story: str) -> str:
    """The story's own file; empty where it has none, or where it cannot be told which of several it is."""
    found = [path for path in repository.files(commit) if _is_story_file(path, story)]
    return found[0] if len(found) == 1 else ""


def note_action_items(folder: Path, path: str, findings: Sequence[Finding]) -> None:
    """Add findings to a story's file in a session's clone. Whatever is not a regular file there is left alone."""
    raw = read_inside(folder, path, _MAX_STORY_BYTES + 1)
    if raw is None or len(raw) > _MAX_STORY_BYTES:
        return
    noted = with_action_items(raw, findings)
    if noted != raw:
        write_new(folder, path, noted, mode=0o644)


def with_action_items(story: bytes, findings: Sequence[Finding]) -> bytes:
    """A story's text with each of these findings as a task to be done. What it has already is not added again."""
    lines = story.decode("utf-8", errors="surrogateescape").splitlines(keepends=True)
    there = "".join(lines)
    items = dict.fromkeys(_action_item(finding) for finding in findings)
    new = [f"- [ ] {item}{place}\n" for item, place in items if item not in there]
    if not new:
        return story
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    heading = next((at for at, line in enumerate(lines) if line.strip() == ACTION_ITEMS), None)
    if heading is None:
        lines += ["\n", f"{ACTION_ITEMS}\n", "\n", *new]
    else:
        end = next((at for at in range(heading + 1, len(lines)) if lines[at].startswith("#")), len(lines))
        last = max(at for at in range(heading, end) if at == heading or lines[at].strip())
        lines[last + 1 : last + 1] = ["\n", *new] if last == heading else new
    return "".join(lines).encode("utf-8", errors="surrogateescape")


def _action_item(finding: Finding) -> tuple[str, str]:
    """What is to be done, by which it is known again, and where, which moves with every change."""
    title = " ".join(clean_text(finding.title).split())[:_MAX_TITLE]
    where = finding.location
    line = "" if where is None or where.line is None else f":{where.line}"
    return f"[{finding.severity.value.upper()}] {title}", "" if where is None else f" ({where.file}{line})"


def is_story(name: str, story: str) -> bool:
    """Whether a key or file name is that of a story: `1.2`, `1-2` and `1-2-some-slug` are one, `1-2-1-other` is not."""
    one, other = _taken_apart(name), _taken_apart(story)
    if not one.id:
        return one == other
    return one.id == other.id and (not one.slug or not other.slug or one.slug == other.slug)


def _taken_apart(name: str) -> _Name:
    parts = name.replace(".", "-").split("-")
    length = next((at for at, part in enumerate(parts) if not _ID_PART.fullmatch(part)), len(parts))
    return _Name(tuple(parts[:length]), "-".join(parts[length:]))


def _text(repository: Repository, commit: str, path: str) -> str:
    return (repository.read_file(commit, path) or b"").decode("utf-8", errors="replace")


def _words(path: str, text: str, story: str) -> Sequence[str]:
    """Everything that a status file says of a story's status."""
    if path.rpartition("/")[2] == _SPRINT_STATUS:
        return [word for key, words in _entries(text).items() if is_story(key, story) for word in words]
    word = _file_word(text)
    return [word] if word else []


def _entries(text: str) -> dict[str, list[str]]:
    """The statuses of a sprint by key. A key that stands there twice has two."""
    lines = [entry for entry in map(_ENTRY.match, text.splitlines()) if entry]
    has_block = any(not entry["indent"] and entry["key"] == _BLOCK for entry in lines)
    found: dict[str, list[str]] = {}
    inside = not has_block
    for entry in lines:
        if not entry["indent"] and has_block:
            inside = entry["key"] == _BLOCK
        elif inside and entry["value"] is not None:
            value = _VALUE.fullmatch(entry["value"])
            found.setdefault(entry["key"].strip(), []).append((value["word"] if value else entry["value"]).strip())
    return found


def _is_story_file(path: str, story: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".md") and is_story(name.removesuffix(".md"), story)


def _file_word(text: str) -> str:
    """The status in a story's own file: a line `Status: done`, also as front matter, or a heading `Status`."""
    found = _STATUS_LINE.search(text) or _STATUS_HEADING.search(text)
    return found["word"] if found else ""


def _unlisted(story: str, sprints: Sequence[str], keys: Sequence[str]) -> StoryError:
    first = _taken_apart(story).id[:1]
    near = [key for key in keys if first and _taken_apart(key).id[:1] == first] or keys
    hint = f"Use --story with one of {_named(near)}, or add the story." if near else "Add the story to it."
    return StoryError(
        f"{_named(sprints)} does not list story {story}, and the story has no file of its own.", hint=hint
    )


def _named(words: Iterable[str]) -> str:
    every = list(words)
    more = f" and {len(every) - _MAX_NAMED} more" if len(every) > _MAX_NAMED else ""
    return ", ".join(every[:_MAX_NAMED]) + more
