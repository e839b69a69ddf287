"""Single fields of a JSON answer, read leniently and bounded: text, numbers, lines and places.

Nothing here decides whether an answer is clean; what cannot be read is None or empty, and the contract judges that.
"""

import json
import math
import re

from burnish.contracts.errors import UnreadableError
from burnish.contracts.json_text import Json, JsonObject
from burnish.contracts.paths import IsFile, confine
from burnish.contracts.text import bounded
from burnish.core.findings import Action, Location
from burnish.core.text import clean_text

TITLE_LIMIT = 200
FIELD_LIMIT = 4_000
MAX_LINE = 10_000_000
MAX_LISTED = 10_000
"""More findings than this in one answer are not a review."""
MAX_CORRECTIONS = 50

_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{1,15})?")
_LINES = re.compile(r"[Ll]?(?:ines?)?\s*(\d{1,9})(?:\s*(?:-|–|\.\.|:|,|to)\s*[Ll]?(\d{1,9}))?")
_FILE_AND_LINES = re.compile(r"(.+?):(\d{1,9})(?:[-:](\d{1,9}))?")


def text_of(value: Json, limit: int = FIELD_LIMIT) -> str:
    """Any value as bounded, harmless text: strings as they are, lists of strings as lines, the rest as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return bounded(clean_text(value), limit)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return bounded(clean_text("\n".join(item for item in value if isinstance(item, str))), limit)
    return bounded(clean_text(json.dumps(value, ensure_ascii=False)), limit)


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
    number = number_of(value)
    return int(number) if number is not None and 1 <= number <= MAX_LINE else None


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


def failure_of(record: JsonObject) -> str:
    """What an object says of a failure on its top level: an error, a flag, a type; empty where it says nothing."""
    return next((text_of({key: value}, 200) for key, value in record.items() if _is_failure(key, value)), "")


def speaks_against(value: Json) -> str:
    """What a value beside a clean answer holds, at any depth, of failures or findings; empty where it holds neither."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            listed = next(
                (text_of({key: one[key]}, 200) for key in _LISTS if isinstance(one.get(key), list) and one[key]), ""
            )
            if said := failure_of(one) or listed:
                return said
            left += one.values()
    return ""


_TOLD_FAILURES = frozenset({"error", "errors", "exception", "traceback", "failure", "failure_reason", "error_message"})
_FLAGS = {"is_error": True, "iserror": True, "success": False, "ok": False, "truncated": True, "incomplete": True}
_FAILED = frozenset({"error", "failed", "failure", "aborted", "cancelled", "incomplete"})
_LISTS = ("issues", "findings", "blocking_issues", "results")
_NO_FAILURE = frozenset({"", "none", "null", "no", "n/a", "0", "false"})


def _is_failure(name: str, value: Json) -> bool:
    key = name.lower().replace("-", "_")
    if key in _TOLD_FAILURES:
        return bool(value) and text_of(value, 20).lower().strip(" .") not in _NO_FAILURE
    if key in _FLAGS:
        return value is _FLAGS[key]
    return key in ("type", "status") and isinstance(value, str) and value.lower() in _FAILED
