"""A story's own files in a commit: which of them says how the story stands, what it says, and where action items go.

One file counts: the sprint status that lists the story, else the story's own file. It is chosen once, before the
first session, so that the prompt names the file that is checked, and no file that a session adds takes its place.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

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


class UnlistedStoryError(StoryError):
    """No file knows the story."""


class StoryWords(Value):
    """What the files of a commit say of a story. A word is empty where there is none."""

    sprint_file: str = ""
    sprint: str = ""
    story_file: str = ""
    story: str = ""


class StoryTree(NamedTuple):
    """The files in which stories may be written: those of a commit, or of a work tree as it is."""

    paths: Sequence[str]
    read: Callable[[str], str]


def _of_commit(repository: Repository, commit: str) -> StoryTree:
    return StoryTree(sorted(repository.files(commit)), partial(_text, repository, commit))


def of_work_tree(root: Path) -> StoryTree:
    """The sprint statuses and markdown files below a folder, those that git ignores too."""
    paths: list[str] = []
    for place, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        inside = Path(place).relative_to(root)
        paths += [(inside / name).as_posix() for name in files if name.endswith(".md") or is_sprint_status(name)]

    def read(path: str) -> str:
        return (read_inside(root, path, _MAX_STORY_BYTES) or b"").decode("utf-8", errors="replace")

    return StoryTree(sorted(paths), read)


def find_status_file(repository: Repository, commit: str, story: str) -> str:
    """The file that says how a story stands; empty where a commit has no sprint status and no file of the story.

    Raises `StoryError` where several files could, or where a sprint status is there and nothing knows the story.
    """
    return _status_file(_of_commit(repository, commit), story)


def _status_file(tree: StoryTree, story: str) -> str:
    sprints = [path for path in tree.paths if is_sprint_status(path)]
    keys = [(path, entry.key) for path in sprints for entry in sprint_entries(tree.read(path))]
    listed = dict.fromkeys((path, key) for path, key in keys if is_story(key, story))
    holders = list(dict.fromkeys(path for path, _ in listed)) or [
        path for path in tree.paths if is_story_file(path, story) and file_status(tree.read(path))
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


def story_words(tree: StoryTree, story: str) -> StoryWords:
    """What both files say. Raises `StoryError` where it cannot be told which files are meant."""
    try:
        chosen = _status_file(tree, story)
    except UnlistedStoryError:
        chosen = ""
    sprint = chosen if is_sprint_status(chosen) else ""
    files = [path for path in tree.paths if is_story_file(path, story)]
    own = files[0] if len(files) == 1 else "" if sprint else chosen
    said = set(_words(sprint, tree.read(sprint), story)) if sprint else set[str]()
    return StoryWords(
        sprint_file=sprint,
        sprint=said.pop() if len(said) == 1 else "",
        story_file=own,
        story=file_status(tree.read(own)) if own else "",
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


def _unlisted(story: str, sprints: Sequence[str], keys: Sequence[str]) -> UnlistedStoryError:
    near = [key for key in keys if is_of_same_epic(key, story)] or keys
    hint = f"Use --story with one of {_named(near)}, or add the story." if near else "Add the story to it."
    return UnlistedStoryError(
        f"{_named(sprints)} does not list story {story}, and the story has no file of its own.", hint=hint
    )


def _named(words: Iterable[str]) -> str:
    every = list(words)
    more = f" and {len(every) - _MAX_NAMED} more" if len(every) > _MAX_NAMED else ""
    return ", ".join(every[:_MAX_NAMED]) + more
