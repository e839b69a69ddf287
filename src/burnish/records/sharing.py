"""A record that others add fields to: theirs are kept, ours are brought up to date.

Whose file it is, says its `plugin`; which run it tells of, its `sessionId`. Nothing is taken over from a file that
belongs to another tool.
"""

import json
from typing import cast

from burnish.contracts.json_text import Json, JsonObject, write_json

_OWNER = "plugin"
_SESSION = "sessionId"


def is_ours(existing: bytes, text: str) -> bool:
    """Whether the file that exists is an older version of this record, whoever has added to it since."""
    found, ours = _object(existing.decode("utf-8", errors="replace")), _object(text)
    return found is not None and ours is not None and _OWNER in ours and found.get(_OWNER) == ours[_OWNER]


def merged(existing: bytes, text: str) -> str:
    """Our text with the fields that only the existing file has."""
    found, ours = _object(existing.decode("utf-8", errors="replace")), _object(text)
    if found is None or ours is None:
        return text
    same_run = found.get(_SESSION) == ours.get(_SESSION)
    # Below the top, fields of another run would be put beside rounds that they do not belong to.
    kept = _with_unknown(ours, found) if same_run else {**found, **ours}
    return write_json(_in_order(ours, kept))


def _object(text: str) -> JsonObject | None:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("JsonObject", value) if isinstance(value, dict) else None


def _in_order(ours: JsonObject, kept: JsonObject) -> JsonObject:
    """Our keys first, in our order."""
    return {**{key: kept[key] for key in ours}, **{key: value for key, value in kept.items() if key not in ours}}


def _with_unknown(ours: JsonObject, found: JsonObject) -> JsonObject:
    both = {key: _merged(value, found[key]) if key in found else value for key, value in ours.items()}
    return {**both, **{key: value for key, value in found.items() if key not in ours}}


def _merged(ours: Json, found: Json) -> Json:
    if isinstance(ours, dict) and isinstance(found, dict):
        return _with_unknown(ours, found)
    if isinstance(ours, list) and isinstance(found, list):
        # Entries have their place for good: rounds are only ever added at the end.
        pairs = [_merged(ours[place], found[place]) for place in range(min(len(ours), len(found)))]
        return [*pairs, *ours[len(pairs) :]]
    return ours
