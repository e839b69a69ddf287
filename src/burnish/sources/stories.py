"""Stories: a sprint status with a line for each, and a markdown file for each that is to be built.

The file is the user's, and other tools write it, too: only lines about stories are looked at, and all that is wrong is
told at once.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from burnish.core.brief_text import (
    MAX_BRIEF_BYTES,
    acceptance_criteria,
    front_matter_values,
    markdown_lines,
    one_line,
    title_of,
)
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.story_text import (
    SPRINT_STATUS_FILES,
    SprintEntry,
    is_of_same_epic,
    is_story,
    is_story_file,
    is_story_key,
    neutral_text,
    slug_words,
    sprint_entries,
    story_id,
)
from burnish.core.values import Value
from burnish.settings.documents import Problem, SourcePlace, did_you_mean, quoted
from burnish.settings.yaml_nodes import YamlNode
from burnish.sources.checks import PlacedTicket, problems_of
from burnish.sources.fields import Fields, read_yaml
from burnish.sources.interface import SourceError, read_text, refuse, slug, source_error
from burnish.sources.story_agents import LEVELS, StoryAgents, read_story_agents
from burnish.sources.ticket_file import TicketFile, read_ticket_file

KIND = "stories"
TO_BUILD = ("backlog", "drafted", "ready-for-dev", "pending")
GONE_ON_WITH = ("in-progress", "review", "blocked", "paused")
_DONE = "done"
_SKIPPED = "skipped"
_STATUSES = (*TO_BUILD, *GONE_ON_WITH, _DONE, _SKIPPED)
_BLOCK = "development_status"
_PROTOCOLS = ("story", "epic")
_STORY_HEADING = re.compile(r"^story\s+(?P<id>[\w.-]*\w)\s*(?:[:—–-]\s*(?P<title>.*))?$", re.IGNORECASE)
_LEFT_OUT = ("node_modules", "vendor", "dist", "build")
_MOST_FOLDERS = 5_000


class SourceOptions(Value):
    """What a user may say about a source beside its path."""

    scope: tuple[str, ...] = ()
    """The stories that are meant; all where it is empty."""
    state_file: str = ""
    """The state document of an orchestrator."""


class _Reader(NamedTuple):
    """What is known while the stories are read."""

    file: str
    root: Path
    entries: tuple[SprintEntry, ...]
    scope: frozenset[str]
    agents: StoryAgents
    problems: list[Problem]


class _Line(Value):
    """One story of the sprint status, with what was read for it."""

    entry: SprintEntry
    file: TicketFile | None = None
    matter: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    text: str = ""
    title: str = ""


def read_stories(path: Path, root: Path, options: SourceOptions = SourceOptions()) -> EpicPlan:  # noqa: B008
    """The plan that a sprint status holds. Raises `SourceError` with everything that is wrong."""
    text, file = read_text(path), str(path)
    top = read_yaml(text, file)
    problems: list[Problem] = []
    fields = Fields(top, file, problems)
    entries = _stories(text, top, fields, file, problems)
    scope = _scope(options.scope, entries, file, problems)
    refuse(problems)
    agents = read_story_agents(options.state_file, path, root, problems)
    folders = tuple(_folders(path, root, fields))
    reader = _Reader(file, root, entries, scope, agents, problems)
    lines = [_read(entry, folders, reader) for entry in entries if entry.key in scope]
    placed = [_ticket(line, reader) for line in lines]
    refuse([*problems, *problems_of(placed, "story/<key>")])
    protocol = fields.text("protocol") or agents.protocol
    if protocol and protocol not in _PROTOCOLS:
        fields.problem("protocol", f"'{protocol}' is not a protocol for stories.", f"Use {quoted(_PROTOCOLS)}.")
    refuse(problems)
    name = _id([entry.key for entry in entries if entry.key in scope], fields)
    return EpicPlan(
        id=name,
        title=one_line(fields.text("project")),
        tickets=tuple(one.ticket for one in placed),
        source=file,
        kind=KIND,
        reviewed_whole=False,
        in_order=True,
        protocol=protocol,
        scope=options.scope,
        state_file=options.state_file,
    )


def find_sprint_status(folder: Path) -> Path | None:
    """The sprint status in a folder or below it; None where there is none. Raises where there are several."""
    direct = [folder / name for name in SPRINT_STATUS_FILES if (folder / name).is_file()]
    found = direct or [path for path in _walk(folder) if path.name in SPRINT_STATUS_FILES]
    if len(found) > 1:
        names = quoted(str(path) for path in found)
        raise source_error(folder, f"The folder holds several sprint statuses: {names}.", f"Name one: {found[0]}")
    return found[0] if found else None


def _walk(folder: Path) -> Iterator[Path]:
    for number, (place, names, files) in enumerate(os.walk(folder)):
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in _LEFT_OUT)
        yield from (Path(place) / name for name in sorted(files))
        if number >= _MOST_FOLDERS:
            return


def _stories(text: str, top: YamlNode, fields: Fields, file: str, problems: list[Problem]) -> tuple[SprintEntry, ...]:
    """The lines about stories. Each must be a line of its own, because a status is changed in its line."""
    block = fields.node(_BLOCK)
    if block is None or not block.pairs:
        hint = f"Write '{_BLOCK}:' with a line '  1-1-some-slug: ready-for-dev' for each story below it."
        raise source_error(file, f"The file has no stories below '{_BLOCK}'.", hint, top.line)
    found = {(entry.key, entry.line): entry for entry in sprint_entries(text)}
    first: dict[str, int] = {}
    stories: list[SprintEntry] = []
    for key, value in block.pairs:
        if key.text in first:
            message = f"The key '{key.text}' is there twice, first on line {first[key.text]}."
            problems.append(Problem(file=file, line=key.line, message=message, hint="Remove one of the two."))
        first.setdefault(key.text, key.line)
        entry = found.get((key.text, key.line))
        if not is_story_key(key.text):
            continue
        if entry is None or entry.status != value.text:
            message = f"The line of '{key.text}' cannot be changed by a program."
            hint = f"Write '{key.text}: {value.text or 'ready-for-dev'}' on a line of its own."
            problems.append(Problem(file=file, line=key.line, message=message, hint=hint))
        elif entry.status.lower() not in _STATUSES:
            message = f"Story '{key.text}' has the unknown status '{entry.status}'."
            hint = did_you_mean(entry.status.lower(), _STATUSES) or f"The statuses are {', '.join(_STATUSES)}."
            problems.append(Problem(file=file, line=key.line, message=message, hint=hint))
        else:
            stories.append(entry)
    return tuple(stories)


def _scope(named: Sequence[str], entries: Sequence[SprintEntry], file: str, problems: list[Problem]) -> frozenset[str]:
    if not named:
        return frozenset(entry.key for entry in entries)
    chosen: set[str] = set()
    for name in named:
        found = [entry.key for entry in entries if is_story(entry.key, name)]
        if len(found) == 1:
            chosen.add(found[0])
            continue
        near = [entry.key for entry in entries if is_of_same_epic(entry.key, name)]
        message = f"--stories names '{name}', which is not listed."
        hint = f"Use one of {', '.join(near[:5])}." if near else "Add it to the sprint status."
        if found:
            message = f"--stories names '{name}', which could be any of {', '.join(found)}."
            hint = "Use the whole key."
        problems.append(Problem(file=file, message=message, hint=hint))
    return frozenset(chosen)


def _folders(path: Path, root: Path, fields: Fields) -> Iterator[Path]:
    """Where story files may be: as the sprint status says, beside it, and where people keep them."""
    named = fields.text("story_location", "story_dir")
    if named:
        yield root / re.sub(r"^\{project[-_]root\}/?", "", named)
    yield path.parent
    yield path.parent / "stories"
    yield root / "docs" / "stories"


def _read(entry: SprintEntry, folders: Sequence[Path], reader: _Reader) -> _Line:
    """What is written about a story: its own file, else its section in a file of epics."""
    root, problems = reader.root, reader.problems
    is_open = entry.status.lower() not in (_DONE, _SKIPPED)
    if not is_open:
        problems = list[Problem]()  # nothing is built for it, so nothing in its file matters
    found = dict.fromkeys(file.resolve() for file in _files_of(entry.key, folders))
    if len(found) > 1:
        names = ", ".join(str(file) for file in found)
        message, hint = f"Story '{entry.key}' has several files: {names}.", "Keep one of them."
        problems.append(Problem(file=str(next(iter(found))), message=message, hint=hint))
        return _Line(entry=entry)
    try:
        for file in found:
            inside = file.is_relative_to(root.resolve())
            shown = file.relative_to(root.resolve()).as_posix() if inside else str(file)
            return _with_file(entry, read_ticket_file(file, shown, problems))
        for text, title in _sections(entry.key, folders, root):
            return _Line(entry=entry, text=text, title=title)
    except SourceError as error:
        problems += error.problems
        return _Line(entry=entry)
    if not is_open:
        return _Line(entry=entry)
    looked = ", ".join(dict.fromkeys(str(folder) for folder in folders[:2]))
    message = f"Story '{entry.key}' has no file {entry.key}.md and no section in an epics.md (looked in {looked})."
    hint = "Write it, or leave the story out with --stories."
    problems.append(Problem(file=reader.file, line=entry.line, message=message, hint=hint))
    return _Line(entry=entry)


def _files_of(key: str, folders: Iterable[Path]) -> Iterator[Path]:
    for folder in dict.fromkeys(folders):
        try:
            files = sorted(folder.iterdir())
        except OSError:
            continue
        yield from (file for file in files if is_story_file(file.name, key) and file.is_file())


def _sections(key: str, folders: Sequence[Path], root: Path) -> Iterator[tuple[str, str]]:
    """The part of a file of epics that is about a story, and its title."""
    places = (*folders, root / "docs")
    for place in dict.fromkeys(places):
        for file in sorted(place.glob("epic*.md")) if place.is_dir() else ():
            text = read_text(file)
            lines = [line for line in markdown_lines(text) if not line.in_code]
            for line in lines:
                heading = _STORY_HEADING.match(line.title) if line.level else None
                if heading is None or not is_story(heading["id"], key):
                    continue
                after = (
                    other.number for other in lines if other.number > line.number and 0 < other.level <= line.level
                )
                end = next(after, len(text.splitlines()) + 1)
                yield "\n".join(text.splitlines()[line.number - 1 : end - 1]).rstrip() + "\n", heading["title"] or ""


def _with_file(entry: SprintEntry, file: TicketFile) -> _Line:
    return _Line(
        entry=entry,
        file=file,
        matter=front_matter_values(file.text),
        text=neutral_text(file.text),
        title=title_of(file.text),
    )


def _ticket(line: _Line, reader: _Reader) -> PlacedTicket:
    file, agents, problems = reader.file, reader.agents, reader.problems
    entry, place = line.entry, SourcePlace(file=file, line=line.entry.line)
    own = line.matter.get("id", "")
    if line.file is not None and own and not is_story(own, entry.key):
        message = f"Its id is '{own}', but the sprint status calls the story '{entry.key}'."
        problems.append(Problem(file=line.file.name, line=1, key="id", message=message, hint="Correct one of the two."))
    complexity = _complexity(line, agents, problems)
    status = entry.status.lower()
    depends_on = _dependencies(line, reader)
    criteria = acceptance_criteria(line.text)
    ticket = Ticket(
        id=entry.key,
        title=one_line(line.title or slug_words(entry.key)) or entry.key,
        text=line.text or f"# Story {story_id(entry.key)}\n",
        file=line.file.path if line.file else "",
        depends_on=tuple(depends_on),
        acceptance=tuple(dict.fromkeys(criterion.text for criterion in criteria)),
        ticked=tuple(criterion.text for criterion in criteria if criterion.ticked),
        boxes=tuple(criterion.text for criterion in criteria if criterion.ticked is not None),
        touches=line.file.touches if line.file else (),
        done=status == _DONE,
        skipped=status == _SKIPPED,
        begun=status in ("in-progress", "review"),
        built=status == "review",
        complexity=complexity,
        agents=agents.agents_of(entry.key, complexity) or None,
    )
    if len(ticket.text.encode()) > MAX_BRIEF_BYTES:
        message = f"The text is larger than {MAX_BRIEF_BYTES:,} bytes."
        problems.append(Problem(file=file, line=entry.line, message=message, hint="Split the story."))
    return PlacedTicket(ticket=ticket, place=place, dependencies=depends_on)


def _complexity(line: _Line, agents: StoryAgents, problems: list[Problem]) -> str:
    """As the agents file says, else as the story's own file does, which may call it its risk."""
    said = agents.complexity_of(line.entry.key) or line.matter.get("complexity", "") or line.matter.get("risk", "")
    level = said.lower()
    if level and level not in LEVELS:
        if not line.matter.get("complexity"):
            return ""  # a risk may be told in words
        hint = f"The levels are {', '.join(LEVELS)}."
        name = line.file.name if line.file else line.entry.key
        message = f"There is no complexity '{said}'."
        problems.append(Problem(file=name, line=1, key="complexity", message=message, hint=hint))
        return ""
    return level


def _dependencies(line: _Line, reader: _Reader) -> Mapping[str, SourcePlace]:
    """The stories that a story waits for, by their keys. Those that are done are waited for no longer."""
    found: dict[str, SourcePlace] = {}
    is_open = line.entry.status.lower() not in (_DONE, _SKIPPED)
    for name, place in line.file.dependencies.items() if line.file and is_open else ():
        meant = [entry for entry in reader.entries if is_story(entry.key, name)]
        if len(meant) != 1:
            found[name] = place  # unknown, which is told with all others
            continue
        key, is_done = meant[0].key, meant[0].status.lower() == _DONE
        if key in reader.scope:
            found[key] = place
        elif not is_done:
            message = f"Story '{line.entry.key}' depends on '{key}', which is not done and not among --stories."
            hint = f"Add {story_id(key)} to --stories."
            reader.problems.append(Problem(file=place.file, line=place.line, message=message, hint=hint))
    return found


def _id(keys: Sequence[str], fields: Fields) -> str:
    """The number of the epic where all stories belong to one, else the name of the project."""
    first = {story_id(key).partition(".")[0] for key in keys}
    if len(first) == 1 and keys and is_of_same_epic(keys[0], keys[0]):
        return next(iter(first))
    return slug(fields.text("project")) or "sprint"
