"""JSON in the text of an agent: found in linear time, read strictly, or refused with a reason.

The standard library's decoder is used, not msgspec's: only the former can start in the middle of a text, show duplicate
keys and refuse NaN. A scan for brackets goes first, so that no depth or length of nesting ever reaches the decoder.

Prose may hold braces, so an object begins only where a key and a colon follow the brace. What begins so and does not
end is a cut answer: the whole text is refused, since a part of it could say the opposite of the whole. What ends but
is no JSON is kept as `Broken`, for the contract to say whether it matters. Objects inside it are never read.

Single fields are read leniently and bounded: one that cannot be read is None or empty, and the contract judges that.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import TypeAlias

from burnish.contracts.paths import IsFile, confine
from burnish.contracts.text import UnreadableError, bounded
from burnish.core.findings import Action, Location, Severity
from burnish.core.text import clean_text
from burnish.core.values import Value

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]

MAX_DEPTH = 200
MAX_BRACKETS = 4_000_000
"""Two million objects and lists: far above any review, and few enough to hold in memory."""

MAX_DOCUMENTS = 100_000
MAX_BROKEN = 1_000

TITLE_LIMIT = 200
FIELD_LIMIT = 4_000
MAX_LINE = 10_000_000
MAX_LISTED = 10_000
"""More findings than this in one answer are not a review."""
MAX_CORRECTIONS = 50
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?")
_LINES = re.compile(r"[Ll]?(?:ines?)?\s*(\d{1,9})(?:\s*(?:-|–|\.\.|:|,|to)\s*[Ll]?(\d{1,9}))?")
_FILE_AND_LINES = re.compile(r"(.+?):(\d{1,9})(?:[-:](\d{1,9}))?")
_TOLD_FAILURES = frozenset({"error", "errors", "exception", "traceback", "failure", "failure_reason", "error_message"})
_FLAGS = {"is_error": True, "iserror": True, "success": False, "ok": False, "truncated": True, "incomplete": True}
_FAILED = frozenset({"error", "failed", "failure", "aborted", "cancelled", "incomplete"})
_LISTS = ("issues", "findings", "blocking_issues", "results")
_NO_FAILURE = frozenset({"", "none", "null", "no", "n/a", "0", "false"})
SEVERITY_NAMES = {
    **dict.fromkeys(("critical", "blocker", "blocking"), Severity.CRITICAL),
    **dict.fromkeys(("high", "error", "major", "important"), Severity.HIGH),
    **dict.fromkeys(("warning", "medium", "moderate"), Severity.MEDIUM),
    **dict.fromkeys(("low", "minor"), Severity.LOW),
    **dict.fromkeys(("info", "nit", "note"), Severity.INFO),
}
_START = re.compile(r'(?:\[\s*+)?\{\s*+(?:"(?:[^"\\\n]++|\\.)*+"\s*+:|\})')
_NEXT_BRACKET = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+(["{}\[\]]|\Z)', re.DOTALL)


class FinalMessage(Value):
    """The end of a client's complete stream: the message, its structured form where there is one, and the noise."""

    text: str
    structured: JsonObject | None
    outside: str


class Broken(Value):
    """What looks like a JSON object or list and is none, with the reason."""

    text: str
    reason: str
    template: bool = False
    """The decoder stopped at `|`: alternatives, as in a quoted description of the format."""


class Documents(Value):
    """What stands at the top level of a text: objects, lists that begin with one, and what is broken."""

    objects: tuple[JsonObject, ...]
    lists: tuple[list[Json], ...]
    broken: tuple[Broken, ...]
    prose: str
    """What stands around them."""


def read_documents(text: str) -> Documents:
    """Find and read every JSON object in a text, whatever stands around them."""
    found: list[Json | Broken] = []
    broken = position = 0
    prose: list[str] = []
    while start := _START.search(text, position):
        prose.append(text[position : start.start()])
        position = _extent(text, start.start())
        found.append(_decoded(text[start.start() : position]))
        broken += isinstance(found[-1], Broken)
        if len(found) - broken > MAX_DOCUMENTS or broken > MAX_BROKEN:
            raise UnreadableError("The text contains too many pieces of JSON.", hint="Ask for one JSON object.")
    prose.append(text[position:])
    return Documents(
        objects=tuple(one for one in found if isinstance(one, dict)),
        lists=tuple(one for one in found if isinstance(one, list)),
        broken=tuple(one for one in found if isinstance(one, Broken)),
        prose=" ".join(prose),
    )


def read_object(text: str) -> JsonObject | None:
    """The object that a text consists of, or None where it is anything else."""
    text = text.strip()
    if not _START.match(text):
        return None
    try:
        complete = _extent(text, 0) == len(text)
    except UnreadableError:
        return None
    found = _decoded(text) if complete else None
    return found if isinstance(found, dict) else None


def write_json(value: Json) -> str:
    """The text of a record: indented, in the order of the keys given, ending in a newline."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _extent(text: str, start: int) -> int:
    """Where the brackets that open at `start` are closed, with strings left out of account."""
    depth = 0
    for number, match in enumerate(_NEXT_BRACKET.finditer(text, start)):
        bracket = match.group(1)
        if bracket in ("", '"'):
            break
        depth += 1 if bracket in "{[" else -1
        if depth == 0:
            return match.end()
        if depth > MAX_DEPTH or number > MAX_BRACKETS:
            raise UnreadableError(
                f"The JSON is nested deeper than {MAX_DEPTH} or has more than {MAX_BRACKETS:,} brackets.",
                hint="Ask for an answer that follows the schema.",
            )
    raise UnreadableError(
        f"The JSON that begins at character {start + 1} does not end: the answer was cut.",
        hint="A cut answer is never a review: ask again, for a shorter one.",
    )


def _decoded(text: str) -> "Json | Broken":
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        template = text[error.pos : error.pos + 1] == "|"
        return Broken(text=text, reason=f"{error.msg} at line {error.lineno}", template=template)
    except ValueError as error:
        return Broken(text=text, reason=str(error))


def _unique(pairs: list[tuple[str, Json]]) -> JsonObject:
    """Two readers could take different ones of two equal keys, so neither is believed."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has a key twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_no_constant,
    parse_float=_finite,
    strict=False,  # models write line breaks into strings; that can be read in one way only
)


def text_of(value: Json, limit: int = FIELD_LIMIT) -> str:
    """Any value as bounded, harmless text: strings as they are, lists of strings as lines, the rest as JSON."""
    if value is None or isinstance(value, str):
        text = value or ""
    elif isinstance(value, list) and (lines := [line for line in value if isinstance(line, str)]) == value:
        text = "\n".join(lines)
    else:
        text = json.dumps(value, ensure_ascii=False)
    return bounded(clean_text(text), limit)


def corrections_of(lines: list[str]) -> tuple[str, ...]:
    """The corrections of an answer, each once, and not so many that they drown the answer."""
    different = list(dict.fromkeys(lines))
    beyond = len(different) - MAX_CORRECTIONS
    return (*different[:MAX_CORRECTIONS], f"… and {beyond} more corrections.") if beyond > 0 else tuple(different)


def refuse_too_many(number: int) -> None:
    if number > MAX_LISTED:
        raise UnreadableError(
            f"The answer lists {number:,} findings; at most {MAX_LISTED:,} are read.",
            hint="Ask for the findings that matter.",
        )


def first_text(record: JsonObject, *keys: str) -> str:
    """The text under the first of the keys that has any."""
    return next((text for key in keys if (text := text_of(record.get(key)))), "")


def title_of(text: str) -> str:
    """The first line of a text, short enough for a heading."""
    return bounded(next((line for line in text.splitlines() if line.strip()), ""), TITLE_LIMIT)


def number_of(value: Json) -> float | None:
    """A finite number, also when written as a string; a boolean is none."""
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Integers may be too long for a float.
    return float(value) if abs(value) < 1e15 and math.isfinite(value) else None


def confidence_of(value: Json) -> float | None:
    number = number_of(value)
    return number if number is not None and 0 <= number <= 1 else None


def action_of(value: Json) -> Action:
    """What the finding asks for. Anything unknown is to be fixed."""
    word = text_of(value, 20).lower()
    return next((action for action in Action if action.value == word), Action.FIX)


def lines_of(start: Json, end: Json = None) -> tuple[int | None, int | None]:
    """First and last line from a number, a string such as "12" or "12-20", or a pair; (None, None) for none."""
    if isinstance(start, list):
        first, last = [*start[:2], None, None][:2]
        return lines_of(first, last if end is None else end)
    match = _LINES.fullmatch(start.strip()) if isinstance(start, str) else None
    line = _line(match.group(1) if match else start)
    last_line = _line(match.group(2)) if match and match.group(2) else _line(end)
    if line is None or last_line is None or last_line < line:
        return line, None
    return line, None if last_line == line else last_line


def _line(value: Json) -> int | None:
    number = number_of(value) or 0
    return int(number) if 1 <= number <= MAX_LINE else None


def location_of(file: Json, start: Json, end: Json, is_file: IsFile) -> Location | None:
    """A place inside the repository, or None where the file is missing or lies outside."""
    named = text_of(file, 2_000)
    line, end_line = lines_of(start, end)
    with_lines = _FILE_AND_LINES.fullmatch(named)
    if with_lines and not is_file(named):
        named = with_lines.group(1)
        if line is None:
            line, end_line = lines_of(with_lines.group(2), with_lines.group(3))
    path = confine(named, is_file)
    return None if path is None else Location(file=path, line=line, end_line=end_line)


def place_of(record: JsonObject, start: Json, end: Json, is_file: IsFile, corrections: list[str]) -> Location | None:
    """Where the finding of a record is. A path outside the repository is dropped, and said to be."""
    location = location_of(record.get("file"), start, end, is_file)
    if location is None and (named := text_of(record.get("file"), 200)):
        corrections.append(f"'{named}' is not a path inside the repository.")
    return location


def failure_of(record: JsonObject) -> str:
    """What an object says of a failure on its top level: an error, a flag, a type; empty where it says nothing."""
    return next((text_of({key: value}, 200) for key, value in record.items() if _is_failure(key, value)), "")


def speaks_against(value: Json) -> str:
    """What a value beside a clean answer holds, at any depth, of failures or findings; empty where it holds neither."""
    for one in objects_in(value):
        listed = (text_of({key: one[key]}, 200) for key in _LISTS if isinstance(one.get(key), list) and one[key])
        if said := failure_of(one) or next(listed, ""):
            return said
    return ""


def objects_in(value: Json) -> Iterator[JsonObject]:
    """Every object in a value, at any depth."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            yield one
            left += one.values()


def _is_failure(name: str, value: Json) -> bool:
    key = name.lower().replace("-", "_")
    if key in _TOLD_FAILURES:
        return bool(value) and text_of(value, 20).lower().strip(" .") not in _NO_FAILURE
    if key in _FLAGS:
        return value is _FLAGS[key]
    return key in ("type", "status") and isinstance(value, str) and value.lower() in _FAILED


def severity_named(word: Json) -> Severity | None:
    """The severity that a word means, or None where it means none."""
    return SEVERITY_NAMES.get(text_of(word, 20).lower()) if isinstance(word, str) else None
