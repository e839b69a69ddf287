"""A story's own files in a commit: which of them says how the story stands, what it says, and where action items go.

One file counts: the sprint status that lists the story, else the story's own file. It is chosen once, before the
first session, so that the prompt names the file that is checked, and no file that a session adds takes its place.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import StoryStatus, Subject
from burnish.core.findings import Finding
from burnish.core.story_text import (
    file_status,
    is_of_same_epic,
    is_sprint_status,
    is_story,
    is_story_file,
    sprint_entries,
    with_action_items,
)
from burnish.core.values import Value
from burnish.system.nofollow import write_new
from burnish.workspace.folders import read_inside
from burnish.workspace.repository import Repository

_MAX_NAMED = 5
_MAX_STORY_BYTES = 1024 * 1024


class StoryError(BurnishError):
    """A story whose status cannot be told, because no file or more than one could hold it."""

    kind = ErrorKind.USAGE


class StoryWords(Value):
    """What the files of a commit say of a story. A word is empty where there is none."""

    sprint_file: str = ""
    sprint: str = ""
    story_file: str = ""
    story: str = ""


def find_status_file(repository: Repository, commit: str, story: str) -> str:
    """The file that says how a story stands; empty where a commit has no sprint status and no file of the story.

    Raises `StoryError` where several files could, or where a sprint status is there and nothing knows the story.
    """
    paths = sorted(repository.files(commit))
    sprints = [path for path in paths if is_sprint_status(path)]
    keys = [(path, entry.key) for path in sprints for entry in sprint_entries(_text(repository, commit, path))]
    listed = dict.fromkeys((path, key) for path, key in keys if is_story(key, story))
    holders = list(dict.fromkeys(path for path, _ in listed)) or [
        path for path in paths if is_story_file(path, story) and file_status(_text(repository, commit, path))
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


def lists_story(repository: Repository, commit: str, path: str, story: str) -> bool:
    return any(is_story(entry.key, story) for entry in sprint_entries(_text(repository, commit, path)))


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


def story_words(repository: Repository, commit: str, story: str) -> StoryWords:
    """What both files say. Raises `StoryError` where it cannot be told which files are meant."""
    chosen = find_status_file(repository, commit, story)
    sprint = chosen if is_sprint_status(chosen) else ""
    own = find_story_file(repository, commit, story) or ("" if sprint else chosen)
    said = _words(sprint, _text(repository, commit, sprint), story) if sprint else ()
    return StoryWords(
        sprint_file=sprint,
        sprint=said[0] if len(set(said)) == 1 else "",
        story_file=own,
        story=file_status(_text(repository, commit, own)) if own else "",
    )


def find_story_file(repository: Repository, commit: str, story: str) -> str:
    """The story's own file; empty where it has none, or where it cannot be told which of several it is."""
    found = [path for path in repository.files(commit) if is_story_file(path, story)]
    return found[0] if len(found) == 1 else ""


def note_action_items(folder: Path, path: str, findings: Sequence[Finding]) -> None:
    """Add findings to a story's file in a session's clone. Whatever is not a regular file there is left alone."""
    raw = read_inside(folder, path, _MAX_STORY_BYTES + 1)
    if raw is None or len(raw) > _MAX_STORY_BYTES:
        return
    noted = with_action_items(raw.decode("utf-8", errors="surrogateescape"), findings)
    data = noted.encode("utf-8", errors="surrogateescape")
    if data != raw:
        write_new(folder, path, data, mode=0o644)


def _text(repository: Repository, commit: str, path: str) -> str:
    return (repository.read_file(commit, path) or b"").decode("utf-8", errors="replace")


def _words(path: str, text: str, story: str) -> Sequence[str]:
    """Everything that a status file says of a story's status."""
    if is_sprint_status(path):
        return [entry.status for entry in sprint_entries(text) if is_story(entry.key, story)]
    word = file_status(text)
    return [word] if word else []


def _unlisted(story: str, sprints: Sequence[str], keys: Sequence[str]) -> StoryError:
    near = [key for key in keys if is_of_same_epic(key, story)] or keys
    hint = f"Use --story with one of {_named(near)}, or add the story." if near else "Add the story to it."
    return StoryError(
        f"{_named(sprints)} does not list story {story}, and the story has no file of its own.", hint=hint
    )


def _named(words: Iterable[str]) -> str:
    every = list(words)
    more = f" and {len(every) - _MAX_NAMED} more" if len(every) > _MAX_NAMED else ""
    return ", ".join(every[:_MAX_NAMED]) + more
