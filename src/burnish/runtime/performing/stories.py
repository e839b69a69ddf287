"""What a story's own files say of its status, in the tree that a session left behind."""

import re

from burnish.core.events import StoryStatus, Subject
from burnish.workspace.repository import Repository

_SPRINT_STATUS = "sprint-status.yaml"
_ENTRY = re.compile(r"""^\s+["']?(?P<key>[^\s:"']+)["']?\s*:\s*["']?(?P<status>[A-Za-z-]+)["']?\s*(?:#.*)?$""")
_STORY_STATUS = re.compile(r"^\W*status\W*:\W*(?P<status>[A-Za-z-]+)", re.IGNORECASE | re.MULTILINE)


def story_status(repository: Repository, commit: str, subject: Subject) -> StoryStatus:
    """Done, not done, or absent: the sprint status first, else the story's own file."""
    if not subject.story:
        return StoryStatus.ABSENT
    words = _sprint_word(repository, commit, subject.story) or _file_word(repository, commit, subject.story)
    if words is None:
        return StoryStatus.ABSENT
    return StoryStatus.DONE if words.lower() == "done" else StoryStatus.NOT_DONE


def status_files(repository: Repository, commit: str, subject: Subject) -> tuple[str, ...]:
    """The files in which a session may say how its story stands."""
    if not subject.story:
        return ()
    names = sorted(repository.files(commit))
    return tuple(name for name in names if name.split("/")[-1] == _SPRINT_STATUS or _is_story_file(name, subject.story))


def was_done(repository: Repository, commit: str, subject: Subject) -> bool:
    return story_status(repository, commit, subject) is StoryStatus.DONE


def _key(story: str) -> str:
    """`1.2` and `1-2` are one story; so are `1-2` and `1-2-some-slug`."""
    return story.replace(".", "-")


def _sprint_word(repository: Repository, commit: str, story: str) -> str | None:
    for path in sorted(name for name in repository.files(commit) if name.split("/")[-1] == _SPRINT_STATUS):
        text = (repository.read_file(commit, path) or b"").decode("utf-8", errors="replace")
        for line in text.splitlines():
            entry = _ENTRY.match(line)
            if entry and _is_story(_key(entry["key"]), story):
                return entry["status"]
    return None


def _is_story_file(path: str, story: str) -> bool:
    name = path.rsplit("/", maxsplit=1)[-1]
    return name.endswith(".md") and _is_story(_key(name.removesuffix(".md")), story)


def _is_story(name: str, story: str) -> bool:
    key = _key(story)
    return name == key or name.startswith(f"{key}-")


def _file_word(repository: Repository, commit: str, story: str) -> str | None:
    for path in sorted(repository.files(commit)):
        if _is_story_file(path, story):
            text = (repository.read_file(commit, path) or b"").decode("utf-8", errors="replace")
            status = _STORY_STATUS.search(text)
            if status:
                return status["status"]
    return None
