"""Short ways to write a setting, spelled out, so that every document has the same shape before documents are merged.

A role may be a word instead of a table, `fallback = false` means `"none"`, the commands of `[validate]` stand beside
its other keys, and one file of signers needs no brackets. Values of a wrong type are left as they are, to be reported
later.
"""

from typing import cast

from burnish.core.errors import KeyPath
from burnish.core.values import replace
from burnish.settings.documents import Document, SourcePlace
from burnish.settings.types import NO_FALLBACK

_COMMANDS: KeyPath = ("validate", "commands")
_Places = dict[KeyPath, SourcePlace]
_Table = dict[str, object]


def spelled_out(document: Document) -> Document:
    """The same settings without shorthand. Keys that are made here have the place of what they stand for."""
    places = dict(document.places)
    values = dict(document.values)
    for key, spell in (("roles", _roles), ("validate", _validate), ("seal", _seal)):
        if isinstance(table := values.get(key), dict):
            values[key] = spell(cast("_Table", table), places)
    return replace(document, values=values, places=places)


def as_written(path: KeyPath) -> KeyPath:
    """The path of a spelled-out value as a user writes it."""
    if path[:2] != _COMMANDS:
        return path
    return ("validate", *path[2:3], *path[4:])


def _roles(roles: _Table, places: _Places) -> _Table:
    spelled: _Table = {}
    for name, value in roles.items():
        path: KeyPath = ("roles", name)
        if name in ("default", "review", "fix", "build"):
            spelled[name] = _choice(value, path, places)
        elif name == "reviewers":
            spelled[name] = _choices(value, path, places)
        elif name == "complexity" and isinstance(value, dict):
            levels = cast("_Table", value).items()
            spelled[name] = {level: _choices(table, (*path, level), places) for level, table in levels}
        else:
            spelled[name] = value
    return spelled


def _choices(table: object, path: KeyPath, places: _Places) -> object:
    if not isinstance(table, dict):
        return table
    return {name: _choice(value, (*path, name), places) for name, value in cast("_Table", table).items()}


def _choice(value: object, path: KeyPath, places: _Places) -> _Table:
    if not isinstance(value, dict):
        _copy_place(places, path, (*path, "agent"))
        return {"agent": value}
    choice = dict(cast("_Table", value))
    fallback = choice.get("fallback")
    # 0 equals false, but is not a way to write it.
    if isinstance(fallback, bool | str) and fallback in (False, "false", "none", "null"):
        choice["fallback"] = NO_FALLBACK
    return choice


def _validate(table: _Table, places: _Places) -> _Table:
    spelled = {key: value for key, value in table.items() if key == "coverage_floor"}
    commands = {name: _command(name, value, places) for name, value in table.items() if name != "coverage_floor"}
    return {**spelled, "commands": commands} if commands else spelled


def _command(name: str, value: object, places: _Places) -> _Table:
    written: KeyPath = ("validate", name)
    spelled: KeyPath = (*_COMMANDS, name)
    key = "argv" if isinstance(value, list) else "line"
    for target in (spelled, (*spelled, "line"), (*spelled, "argv")):
        _copy_place(places, written, target)
    for path in [path for path in places if path[:2] == written and len(path) > 2]:
        _copy_place(places, path, (*spelled, key, *path[2:]))
    # Both keys, so that a command of a higher document replaces the whole of a lower one.
    return {"line": "", "argv": [], key: value}


def _seal(seal: _Table, places: _Places) -> _Table:
    if not isinstance(seal.get("signers"), str):
        return seal
    _copy_place(places, ("seal", "signers"), ("seal", "signers", 0))
    return {**seal, "signers": [seal["signers"]]}


def _copy_place(places: _Places, source: KeyPath, target: KeyPath) -> None:
    if source in places:
        places[target] = places[source]
