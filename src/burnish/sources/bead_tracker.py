"""Where beads are kept, read and marked: `bd` or `tsq` where they are installed, else the file `.beads/issues.jsonl`.

A bead has fields that only its tracker understands. Nothing of them is lost here: a tool changes the status itself, and
in a file only the values that change are replaced. All other lines stay as they are, byte for byte.
"""

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from burnish.contracts.json_text import Json, JsonObject
from burnish.core.brief_text import one_line
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.text import clean_text
from burnish.settings.documents import Problem, SourcePlace
from burnish.sources.interface import read_text, refuse, source_error
from burnish.system import clock
from burnish.system.files import write_atomically
from burnish.system.process import Command, Finished, ProcessError, run_now

BEADS = ".beads"
TASQUE = ".tasque"
ISSUES = "issues.jsonl"
MARK = "burnish: "
"""How a note of burnish's own begins. It is not part of what a bead asks for."""
_TOOL_SECONDS = 20.0
_MOST_BYTES = 64 * 1024 * 1024
_MOST_FILE_BYTES = 32 * 1024 * 1024
_LISTS = ("tasks", "issues", "items", "results")
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})")
_SPACE = re.compile(r"[ \t\r\n]*")


class BeadStatus(Enum):
    OPEN = "open"
    IN_PROGRESS = "in_progress"
    CLOSED = "closed"


class WrittenBead(NamedTuple):
    """A bead as its tracker has it, and where that is written."""

    fields: JsonObject
    place: SourcePlace


class TrackerError(BurnishError):
    """A tracker could not be asked, or did not take what it was told."""

    kind = ErrorKind.INFRASTRUCTURE


class BeadTracker(Protocol):
    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def beads(self) -> list[WrittenBead]:
        """All beads, in the order of the tracker. Raises `SourceError` or `TrackerError`."""
        ...

    def mark(self, bead: str, status: BeadStatus, note: str) -> None:
        """Set the status of a bead, and leave a note of why. Raises `TrackerError`."""
        ...


def tracker_of(folder: Path, environment: Mapping[str, str]) -> tuple[BeadTracker, str]:
    """The tracker of a folder `.beads` or `.tasque`, and what its user should know of the choice."""
    file = folder / ISSUES
    if folder.name == TASQUE:
        return _ToolTracker("tsq", folder.parent, environment), ""
    tool = _ToolTracker("bd", folder.parent, environment)
    if not tool.is_installed:
        return _FileTracker(file), ""
    try:
        tool.beads()
    except TrackerError as error:
        if not file.exists():
            raise
        return _FileTracker(file), f"{error.message} burnish reads and writes {file} instead."
    return tool, ""


# --- a tool ------------------------------------------------------------------------------------------------------


class _ToolTracker:
    def __init__(self, name: str, folder: Path, environment: Mapping[str, str]) -> None:
        self._name = name
        self._folder = folder
        self._environment = dict(environment)
        self._listed: list[WrittenBead] | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def is_installed(self) -> bool:
        return shutil.which(self._name, path=self._environment.get("PATH", "")) is not None

    def beads(self) -> list[WrittenBead]:
        listed, self._listed = self._listed, None  # `tracker_of` has asked just now
        if listed is None:
            asked = ("--readonly", "list", "--json", "--all", "--limit", "0")
            said = self._run(*(asked if self._name == "bd" else ("list", "--json")))
            try:
                value = cast("Json", json.loads(said or "[]"))
            except (ValueError, RecursionError):
                raise TrackerError(f"`{self._name} list --json` did not print JSON.", hint=self._hint) from None
            found = _listed_in(value)
            if found is None:
                raise TrackerError(f"`{self._name} list --json` printed no list of beads.", hint=self._hint)
            listed = [WrittenBead(fields, SourcePlace(file=self._name)) for fields in found]
            self._listed = listed
        return listed

    def mark(self, bead: str, status: BeadStatus, note: str) -> None:
        if status is BeadStatus.CLOSED:
            self._run("close", bead, "--reason", note or "done")
            return
        self._run("update", bead, "--status", status.value)
        if note:
            comment = ("comments", "add") if self._name == "bd" else ("note", "add")
            with suppress(TrackerError):  # older versions have no notes, and the status is what matters
                self._run(*comment, bead, f"{MARK}{note}")

    @property
    def _hint(self) -> str:
        return f"Run `{self._name} list --json` in {self._folder} to see what is wrong."

    def _run(self, *arguments: str) -> str:
        self._listed = None
        command = Command(argv=(self._name, *arguments), folder=str(self._folder), environment=dict(self._environment))
        try:
            finished = run_now(command, seconds=_TOOL_SECONDS, kept_bytes=_MOST_BYTES)
        except ProcessError as error:
            raise TrackerError(f"`{self._name} {arguments[0]}` failed: {error.message}", hint=self._hint) from None
        if finished.code != 0:
            verb = next(word for word in arguments if not word.startswith("-"))
            raise TrackerError(f"`{self._name} {verb}` failed: {_why(finished)}", hint=self._hint)
        return finished.stdout.decode("utf-8", errors="replace")


def _why(finished: Finished) -> str:
    said = one_line(clean_text(finished.tail(300)).strip() or finished.message or finished.how.value)
    return said if said.endswith(".") else f"{said}."


def _listed_in(value: Json) -> list[JsonObject] | None:
    """The objects of an array, or of one that is wrapped: `{"issues": […]}`, also below `data`."""
    if isinstance(value, list):
        return [one for one in value if isinstance(one, dict)]
    if not isinstance(value, dict):
        return None
    for name in _LISTS:
        if isinstance(value.get(name), list):
            return _listed_in(value[name])
    return _listed_in(value["data"]) if "data" in value else None


# --- a file ------------------------------------------------------------------------------------------------------


class _FileTracker:
    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def name(self) -> str:
        return str(self._file)

    def beads(self) -> list[WrittenBead]:
        return beads_in(self._text(), str(self._file))

    def mark(self, bead: str, status: BeadStatus, note: str) -> None:
        """Only the line of the bead changes, and in it only what the status concerns."""
        file = self._file.resolve()  # a link stays one
        self._text()  # which says what is wrong with it
        lines = file.read_bytes().decode().split("\n")
        at = next((at for at, line in enumerate(lines) if _id_in(line) == bead), None)
        if at is None:
            raise TrackerError(f"{self._file} has no bead '{bead}' any more.")
        lines[at] = _edited(lines[at], _changes(lines[at], status, note))
        try:
            mode = file.stat().st_mode & 0o777
            write_atomically(file, "\n".join(lines).encode(), mode=mode)
        except OSError as error:
            raise TrackerError(f"{self._file} cannot be written: {error.strerror}.") from None

    def _text(self) -> str:
        if not self._file.exists():
            hint = "Export the beads with `bd export -o .beads/issues.jsonl`, or install bd."
            raise source_error(self._file, "There is no such file, and `bd` is not installed.", hint)
        return read_text(self._file, _MOST_FILE_BYTES)


def beads_in(text: str, file: str) -> list[WrittenBead]:
    """The beads of a file with one JSON object on each line. Raises `SourceError` with all lines that are none."""
    problems: list[Problem] = []
    found: list[WrittenBead] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if _CONFLICT.match(line):
            hint = "Resolve the merge conflict in this file."
            problems.append(Problem(file=file, line=number, message="This line is a conflict marker.", hint=hint))
            continue
        value = _object_in(line)
        if isinstance(value, dict):
            found.append(WrittenBead(value, SourcePlace(file=file, line=number)))
        else:
            message = f"This line is not a bead: {value}."
            hint = "Each line is one JSON object, as bd exports it."
            problems.append(Problem(file=file, line=number, message=message, hint=hint))
    refuse(problems)
    return found


def _object_in(line: str) -> JsonObject | str:
    """The object on a line, or why there is none."""
    try:
        value = cast("Json", json.loads(line))
    except (ValueError, RecursionError) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        return f"{said[:1].lower()}{said[1:]}"
    return value if isinstance(value, dict) else "it is no JSON object"


def _id_in(line: str) -> str:
    value = _object_in(line.removeprefix("\ufeff")) if line.strip() else ""
    return id_of(value) if isinstance(value, dict) else ""


def id_of(fields: JsonObject) -> str:
    found = next((fields[name] for name in ("id", "issue_id", "key") if fields.get(name) not in (None, "")), "")
    return str(found).strip() if isinstance(found, str | int) and not isinstance(found, bool) else ""


def _changes(line: str, status: BeadStatus, note: str) -> dict[str, str | None]:
    """The members of an object that a new status concerns; None for those that have to go."""
    now = datetime.fromtimestamp(clock.now(), UTC).isoformat().replace("+00:00", "Z")
    changes: dict[str, str | None] = {"status": status.value, "updated_at": now, "closed_at": None}
    if status is BeadStatus.CLOSED:
        return {**changes, "closed_at": now, "close_reason": note or "done"}
    value = _object_in(line)
    if note and isinstance(value, dict):
        written = value.get("notes")
        kept = [*own_words(written if isinstance(written, str) else ""), f"{MARK}{note}"]
        changes["notes"] = "\n\n".join(kept)
    return {**changes, "close_reason": None}


def own_words(notes: str) -> list[str]:
    """The paragraphs of a note that burnish did not write."""
    return [part for part in re.split(r"\n{2,}", notes) if part.strip() and not part.startswith(MARK)]


class _Member(NamedTuple):
    key: str
    begin: int
    value: int
    end: int


def _edited(line: str, changes: Mapping[str, str | None]) -> str:
    """An object with other values for some members. Everything else of the line stays as it is written."""
    for key, value in changes.items():
        members = {member.key: member for member in _members(line)}
        member = members.get(key)
        if value is not None and member:
            line = line[: member.value] + _encoded(value) + line[member.end :]
        elif value is not None:
            close = line.rindex("}")
            comma = "," if members else ""
            line = f"{line[:close]}{comma}{_encoded(key)}:{_encoded(value)}{line[close:]}"
        elif member:
            begin, end = _extent(line, member)
            line = line[:begin] + line[end:]
    return line


def _extent(line: str, member: _Member) -> tuple[int, int]:
    """A member with the comma before it, or the one after it where it is the first."""
    before = line[: member.begin].rstrip()
    if before.endswith(","):
        return len(before) - 1, member.end
    after = _skipped(line, member.end)
    return member.begin, _skipped(line, after + 1) if line[after] == "," else member.end


def _encoded(text: str) -> str:
    """As bd writes it: not as ASCII, but without the signs that would end a script in a page."""
    written = json.dumps(text, ensure_ascii=False)
    for sign in "<>&\u2028\u2029":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return written


def _members(line: str) -> Iterator[_Member]:
    decoder = json.JSONDecoder()
    at = _skipped(line, line.index("{") + 1)
    while line[at] != "}":
        begin = at
        key, at = decoder.raw_decode(line, begin)
        value = _skipped(line, _skipped(line, at) + 1)
        _, end = decoder.raw_decode(line, value)
        yield _Member(str(key), begin, value, end)
        at = _skipped(line, end)
        if line[at] == ",":
            at = _skipped(line, at + 1)


def _skipped(line: str, at: int) -> int:
    found = _SPACE.match(line, at)
    return found.end() if found else at


def claimed_between(before: Iterable[WrittenBead], after: Iterable[WrittenBead]) -> list[str]:
    """The beads that were taken or closed from one state of a list to a later one, in its order."""
    status = {id_of(one.fields): one.fields.get("status") for one in before}
    taken = (BeadStatus.IN_PROGRESS.value, BeadStatus.CLOSED.value)
    found = [(id_of(one.fields), one.fields.get("status")) for one in after]
    return [name for name, now in found if now in taken and now != status.get(name, now)]
