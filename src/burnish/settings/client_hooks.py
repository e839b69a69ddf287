"""Hooks in the JSON settings of a client: ours are added and taken away, and every other byte stays as it is.

Claude Code and Codex use the same form: `{"hooks": {"Stop": [{"matcher": "…", "hooks": [{"command": "…"}]}]}}`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from burnish.core.errors import BurnishError, ErrorKind

HookGroups = Mapping[str, Sequence[Mapping[str, Any]]]
"""What is run at each event."""

_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
_UNIT = "  "


class ClientSettingsError(BurnishError):
    kind = ErrorKind.CONFIGURATION


class _Entry(NamedTuple):
    """A member of an object, or an item of an array: where it is, and its value."""

    start: int
    """For a member, of its key."""
    value_start: int
    end: int
    key: str
    value: Any


def add_hooks(text: str, groups: HookGroups, mark: str) -> str:
    """The settings with our hooks at the end of each list. Where the very same are there already, nothing changes."""
    if not text.strip():
        return json.dumps({"hooks": groups}, indent=2, ensure_ascii=False) + "\n"
    if _ours(_value(text), mark) == {event: [dict(group) for group in listed] for event, listed in groups.items()}:
        return text
    text = remove_hooks(text, mark) or "{}\n"
    for event, listed in groups.items():
        for group in listed:
            text = _with_member(text, _top(text), "hooks", "{}")
            text = _with_member(text, _hooks(text), event, "[]")
            text = _appended(text, _list(text, event), json.dumps(group, ensure_ascii=False, indent=_unit(text)))
    return text


def remove_hooks(text: str, mark: str) -> str:
    """The settings without our hooks: those whose command names `mark`. Empty where nothing else was in them.

    A list that is empty without them goes, too.
    """
    while True:
        found = next(_marked(text, mark), None)
        if found is None:
            return "" if not _value(text) else text
        event, index = found
        text = _without(text, _list(text, event), index)
        if not _value(text)["hooks"][event]:
            text = _without(text, _hooks(text), _index(text, _hooks(text), event))
        if not _value(text)["hooks"]:
            text = _without(text, _top(text), _index(text, _top(text), "hooks"))


def has_hooks(text: str, mark: str) -> bool:
    return bool(text.strip()) and next(_marked(text, mark), None) is not None


def _value(text: str) -> dict[str, Any]:
    """The settings as a value. Raises `ClientSettingsError` where they do not have the form of a client's."""
    try:
        value: Any = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ClientSettingsError(f"it is not JSON: {error}.", hint="Correct the file, then try again.") from None
    settings = _table(value)
    hooks = None if settings is None else _table(settings.get("hooks", {}))
    if settings is None or hooks is None or not all(isinstance(listed, list) for listed in hooks.values()):
        raise ClientSettingsError(
            "its hooks are not lists by event.", hint="Look at it: a client would not understand it, either."
        )
    return settings


def _table(value: Any) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _marked(text: str, mark: str) -> Iterator[tuple[str, int]]:
    for event, listed in _value(text).get("hooks", {}).items():
        yield from ((event, index) for index, group in enumerate(listed) if _is_ours(group, mark))


def _ours(value: Mapping[str, Any], mark: str) -> dict[str, list[Any]]:
    found = {
        event: [group for group in listed if _is_ours(group, mark)] for event, listed in value.get("hooks", {}).items()
    }
    return {event: listed for event, listed in found.items() if listed}


def _is_ours(group: Any, mark: str) -> bool:
    """Whether all that a group runs is ours. A command that a person has put beside it keeps the group."""
    hooks: Any = (_table(group) or {}).get("hooks")
    return bool(hooks) and all(mark in str(hook) for hook in hooks)


# --- where things are in the text


def _top(text: str) -> int:
    return _skip(text, 0)


def _hooks(text: str) -> int:
    return _member(text, _top(text), "hooks")


def _list(text: str, event: str) -> int:
    return _member(text, _hooks(text), event)


def _member(text: str, container: int, key: str) -> int:
    """Where the value of a member begins; of a key that is there twice, the last counts, as for every parser."""
    return next(entry.value_start for entry in reversed(_entries(text, container)) if entry.key == key)


def _index(text: str, container: int, key: str) -> int:
    return next(index for index, entry in reversed(list(enumerate(_entries(text, container)))) if entry.key == key)


def _entries(text: str, container: int) -> list[_Entry]:
    """What is in the object or the array that begins there."""
    entries: list[_Entry] = []
    at = _skip(text, container + 1)
    while text[at] not in "}]":
        start, key = at, ""
        if text[container] == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # over the colon
        value, end = _DECODER.raw_decode(text, at)
        entries.append(_Entry(start, at, end, key, value))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return entries


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


# --- changing it


def _with_member(text: str, container: int, key: str, empty: str) -> str:
    if any(entry.key == key for entry in _entries(text, container)):
        return text
    return _appended(text, container, f"{json.dumps(key)}: {empty}")


def _appended(text: str, container: int, new: str) -> str:
    """The text with one more entry at the end of a container, in the style of those before it."""
    entries = _entries(text, container)
    line = text.rfind("\n", 0, container) + 1
    outer = text[line : _skip(text, line)].partition("\n")[0] if text[line : line + 1].isspace() else ""
    if not entries:
        inner = outer + _unit(text)
        end = text.index("}" if text[container] == "{" else "]", container)
        return f"{text[: container + 1]}\n{inner}{_indented(new, inner)}\n{outer}{text[end:]}"
    last = entries[-1]
    gap = text[container + 1 : entries[0].start]
    if "\n" not in gap:  # all in one line
        return f"{text[: last.end]}, {json.dumps(json.loads(new)) if new[0] in '{[' else new}{text[last.end :]}"
    inner = gap.rpartition("\n")[2]
    return f"{text[: last.end]},\n{inner}{_indented(new, inner)}{text[last.end :]}"


def _unit(text: str) -> str:
    """How the file is indented."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else _UNIT


def _indented(new: str, inner: str) -> str:
    return new.replace("\n", f"\n{inner}")


def _without(text: str, container: int, index: int) -> str:
    """The text without one entry, its comma, and the space around it."""
    entries = _entries(text, container)
    if index > 0:
        return text[: entries[index - 1].end] + text[entries[index].end :]
    if len(entries) > 1:
        return text[: entries[0].start] + text[entries[1].start :]
    close = _skip(text, entries[0].end)
    return text[: container + 1] + text[close:]
