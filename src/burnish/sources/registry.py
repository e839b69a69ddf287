"""Which reader understands a source: told by its name."""

import shlex
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from burnish.core.brief_text import is_epic_name, one_line
from burnish.core.epics.plan import EpicPlan
from burnish.core.story_text import SPRINT_STATUS_FILES
from burnish.core.values import Value, replace
from burnish.settings.documents import did_you_mean, quoted
from burnish.sources.beads import read_beads, tracker_folder
from burnish.sources.epic import read_epic
from burnish.sources.interface import SourceError, source_error
from burnish.sources.stories import SourceOptions, find_sprint_status, read_stories
from burnish.sources.tasks import read_tasks

_YAML = (".yaml", ".yml")
_MARKDOWN = (".md", ".markdown")
_SOURCES = (
    "Name an epic (.yaml), a sprint-status.yaml, a markdown file with a task list (.md), .beads, or a folder with one "
    "of them."
)


class BeadQuery(Value):
    """What a list of beads is asked for, beside its path."""

    environment: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """What `bd` and `tsq` are started with."""
    own: frozenset[str] = frozenset()
    """The beads that a run of burnish has at work."""
    top: str = ""
    """The bead that the list is limited to, with those below it; empty for all."""


def read_source(
    path: Path, root: Path, options: SourceOptions | None = None, beads: BeadQuery | None = None
) -> EpicPlan:
    """The plan that a file or folder holds; `root` is that of the repository. Raises `SourceError`.

    Its `source` is the path below the root, else the whole one.
    """
    plan, top = _read(path, root, options or SourceOptions(), beads or BeadQuery()), root.resolve()
    if options is not None and options.scope and plan.kind != "stories":
        raise source_error(path, "It lists no stories.", "Omit --stories.")
    source = Path(plan.source).resolve()
    return replace(plan, source=source.relative_to(top).as_posix() if source.is_relative_to(top) else str(source))


def is_beads(path: Path) -> bool:
    """Whether a source is a list of beads. An epic or a sprint status in the same folder comes first."""
    mode = _mode(path)
    if mode is None:
        return False
    tracker = tracker_folder(path)
    if tracker is None or tracker in (path, path.parent):
        return tracker is not None
    return not any(_epics_in(path)) and find_sprint_status(path) is None


def _read(path: Path, root: Path, options: SourceOptions, beads: BeadQuery) -> EpicPlan:
    mode = _mode(path)
    if mode is None:
        raise _missing(path)
    tracker = tracker_folder(path) if is_beads(path) else None
    if tracker is not None:
        return read_beads(tracker, beads.environment, own=beads.own, top=beads.top)
    if path.name in SPRINT_STATUS_FILES:
        return read_stories(path, root, options)
    if stat.S_ISDIR(mode):
        epic = _epic_in(path)
        return read_stories(epic, root, options) if epic.name in SPRINT_STATUS_FILES else read_epic(epic, root)
    suffix = path.suffix.lower()
    if suffix in _YAML:
        return read_epic(path, root)
    if suffix in _MARKDOWN:
        return read_tasks(path)
    raise source_error(path, "Files of this kind are not a source of tickets.", _SOURCES)


def _mode(path: Path) -> int | None:
    """The kind of file that is at a path; None where there is none. A sentence is no path, though it looks like one."""
    try:
        return path.stat().st_mode
    except PermissionError:
        raise source_error(path, "You may not read it.", "Check its permissions.") from None
    except (OSError, ValueError):
        return None


def _missing(path: Path) -> SourceError:
    text = one_line(str(path))
    if path.suffix.lower() not in (*_YAML, *_MARKDOWN) and " " in text:
        intent = shlex.quote(text) if text == str(path) else "TEXT"
        hint = f"If this is a task in words, type: burnish fix --build --intent {intent}"
        return source_error(text, "This is neither a file nor a folder.", hint)
    try:
        siblings = sorted(sibling.name for sibling in path.parent.iterdir())
    except (OSError, ValueError):
        siblings = []
    close = did_you_mean(path.name, siblings, alike=0.75)
    return source_error(text, "There is no such file or folder.", close or _SOURCES)


def _epics_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(file for file in folder.iterdir() if is_epic_name(file.name) and file.is_file())
    return []


def _epic_in(folder: Path) -> Path:
    try:
        found = sorted(file for file in folder.iterdir() if is_epic_name(file.name) and file.is_file())
    except OSError as error:
        raise source_error(folder, f"The folder cannot be read: {error.strerror}.", "Check its permissions.") from None
    sprint = find_sprint_status(folder)
    if found and sprint is not None and sprint.parent == folder:
        names = quoted((found[0].name, sprint.name))
        raise source_error(folder, f"The folder holds two sources: {names}.", f"Name one of them: {found[0]}")
    if len(found) == 1:
        return found[0]
    if sprint is not None and not found:
        return sprint
    if found:
        names = quoted(file.name for file in found)
        raise source_error(folder, f"The folder holds several epics: {names}.", f"Name one of them: {found[0]}")
    message = "The folder holds no epic.yaml, epic.yml, *.epic.yaml, *.epic.yml, sprint-status.yaml or .beads."
    raise source_error(folder, message, _SOURCES)
