"""Short ways to write a setting, spelled out, so that every layer has the same shape before layers are merged.

A role may be a word instead of a table, `fallback = false` means `"none"`, the commands of `[validate]` stand beside
its other keys, and one file of signers needs no brackets. Values of a wrong type are left as they are: checking them is
for others.
"""

from collections.abc import Mapping
from typing import Any, cast

from burnish.config.settings import NO_FALLBACK
from burnish.core.values import replace
from burnish.protocols.layers import Layer, Place
from burnish.protocols.positions import KeyPath

_ROLES = ("default", "review", "fix", "build")
_NO_FALLBACK = (False, "false", "none", "null")
_VALIDATE_KEYS = ("coverage_floor",)
_COMMANDS: KeyPath = ("validate", "commands")


def spelled_out(layer: Layer) -> Layer:
    """The same settings without shorthand. Keys that are made here have the place of what they stand for."""
    places = dict(layer.places)
    values = dict(layer.values)
    if isinstance(roles := values.get("roles"), dict):
        values["roles"] = _roles(cast("dict[str, object]", roles), places)
    if isinstance(validate := values.get("validate"), dict):
        values["validate"] = _validate(cast("dict[str, object]", validate), places)
    if isinstance(seal := values.get("seal"), dict):
        values["seal"] = _seal(cast("dict[str, object]", seal), places)
    return replace(layer, values=values, places=places)


def as_written(path: KeyPath) -> KeyPath:
    """The path of a spelled-out value as a user writes it."""
    if path[:2] != _COMMANDS:
        return path
    written: KeyPath = ("validate", *path[2:3])
    return (*written, *path[4:])


def _roles(roles: dict[str, object], places: dict[KeyPath, Place]) -> dict[str, object]:
    spelled = dict(roles)
    for name in _ROLES:
        if name in spelled:
            spelled[name] = _choice(spelled[name], ("roles", name), places)
    if "reviewers" in spelled:
        spelled["reviewers"] = _choices(spelled["reviewers"], ("roles", "reviewers"), places)
    if isinstance(levels := spelled.get("complexity"), dict):
        path: KeyPath = ("roles", "complexity")
        tables = cast("dict[str, object]", levels).items()
        spelled["complexity"] = {level: _choices(table, (*path, level), places) for level, table in tables}
    return spelled


def _seal(seal: dict[str, object], places: dict[KeyPath, Place]) -> dict[str, object]:
    if not isinstance(seal.get("signers"), str):
        return seal
    _move(places, ("seal", "signers"), ("seal", "signers", 0))
    return {**seal, "signers": [seal["signers"]]}


def _choices(table: object, path: KeyPath, places: dict[KeyPath, Place]) -> object:
    if not isinstance(table, dict):
        return table
    return {name: _choice(value, (*path, name), places) for name, value in cast("dict[str, object]", table).items()}


def _choice(value: object, path: KeyPath, places: dict[KeyPath, Place]) -> dict[str, object]:
    if not isinstance(value, dict):
        _move(places, path, (*path, "agent"))
        return {"agent": value}
    choice = dict(cast("dict[str, object]", value))
    if "fallback" in choice and _is_no_fallback(choice["fallback"]):
        choice["fallback"] = NO_FALLBACK
    return choice


def _is_no_fallback(value: object) -> bool:
    # 0 equals false, but is no way to write it.
    return isinstance(value, bool | str) and value in _NO_FALLBACK


def _validate(table: dict[str, object], places: dict[KeyPath, Place]) -> dict[str, object]:
    spelled = {key: value for key, value in table.items() if key in _VALIDATE_KEYS}
    commands: dict[str, object] = {}
    for name, value in table.items():
        if name not in _VALIDATE_KEYS:
            commands[name] = _command(name, value, places)
    return {**spelled, "commands": commands} if commands else spelled


def _command(name: str, value: object, places: dict[KeyPath, Place]) -> Mapping[str, Any]:
    written: KeyPath = ("validate", name)
    key = "argv" if isinstance(value, list) else "line"
    for target in ((), ("line",), ("argv",)):
        _move(places, written, (*_COMMANDS, name, *target))
    for path in [path for path in places if path[:2] == written and len(path) > 2]:
        _move(places, path, (*_COMMANDS, name, key, *path[2:]))
    # Both keys, so that a command of a higher layer replaces the whole of a lower one.
    return {"line": "", "argv": [], key: value}


def _move(places: dict[KeyPath, Place], source: KeyPath, target: KeyPath) -> None:
    """Give a new key the place of the one that it comes from. Both stay known."""
    if source in places:
        places[target] = places[source]
