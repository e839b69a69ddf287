"""JSON in the text of an agent: found in linear time, read strictly, or refused with a reason.

The standard library's decoder is used, not msgspec's: only the former can start in the middle of a text, show duplicate
keys and refuse NaN. A scan for brackets goes first, so that no depth or length of nesting ever reaches the decoder.

Prose may hold braces, so an object begins only where a key and a colon follow the brace. What begins so and does not
end is a cut answer: the whole text is refused, since a part of it could say the opposite of the whole. What ends but
is no JSON is kept as `Broken`, for the contract to say whether it matters. Objects inside it are never read.
"""

import json
import math
import re
from typing import TypeAlias

from burnish.contracts.errors import UnreadableError
from burnish.core.values import Value

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = dict[str, Json]

MAX_DEPTH = 200
MAX_BRACKETS = 4_000_000
"""Two million objects and lists: far above any review, and few enough to hold in memory."""

MAX_DOCUMENTS = 100_000
MAX_BROKEN = 1_000

_START = re.compile(r'(?:\[\s*+)?\{\s*+(?:"(?:[^"\\\n]++|\\.)*+"\s*+:|\})')
_NEXT_BRACKET = re.compile(r'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+(["{}\[\]]|\Z)', re.DOTALL)


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
    objects: list[JsonObject] = []
    lists: list[list[Json]] = []
    broken: list[Broken] = []
    prose: list[str] = []
    position = 0
    while start := _START.search(text, position):
        prose.append(text[position : start.start()])
        position = _extent(text, start.start())
        found = _decoded(text[start.start() : position])
        if isinstance(found, Broken):
            broken.append(found)
        elif isinstance(found, dict):
            objects.append(found)
        elif isinstance(found, list):
            lists.append(found)
        if len(objects) + len(lists) > MAX_DOCUMENTS or len(broken) > MAX_BROKEN:
            raise UnreadableError("The text holds too many pieces of JSON.", hint="Ask for one JSON object.")
    prose.append(text[position:])
    return Documents(objects=tuple(objects), lists=tuple(lists), broken=tuple(broken), prose=" ".join(prose))


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
                f"The JSON is nested deeper than {MAX_DEPTH} or holds more than {MAX_BRACKETS:,} brackets.",
                hint="Ask for the answer in the form of its schema.",
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
        raise ValueError("a key stands twice in one object")
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
