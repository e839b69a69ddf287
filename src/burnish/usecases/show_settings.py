"""Every setting that holds in a folder, its value, and where it was made."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import msgspec

from burnish.core.values import Value
from burnish.settings.documents import KeyPath, key_text
from burnish.settings.loading import LayerName, PolicyOrigin
from burnish.usecases.list_agents import resolve_local_settings


class SettingRow(Value):
    key: str
    value: object
    origin: str
    """`default`, a variable, or a file with its line."""
    is_default: bool


class ShownSettings(Value):
    policy: PolicyOrigin
    rows: tuple[SettingRow, ...]
    notices: tuple[str, ...] = ()


def show_settings(folder: Path, environment: Mapping[str, str]) -> ShownSettings:
    local = resolve_local_settings(folder, environment)
    merged = local.merged
    rows: list[SettingRow] = []
    for path, value in _leaves(merged.settings):
        origin = merged.origin(*path)
        is_default = origin.layer is LayerName.DEFAULT
        rows.append(SettingRow(key=key_text(path), value=value, origin=origin.text, is_default=is_default))
    return ShownSettings(policy=merged.policy, rows=tuple(rows), notices=(*local.notices, *merged.refusals))


def _leaves(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Every value inside of a table, defaults as well."""
    if isinstance(value, msgspec.Struct):
        fields = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        inside = {key: getattr(value, name) for key, name in fields}
    else:
        inside = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    for key, part in inside.items():
        yield from _leaves(part, (*path, key))
    if path and not inside:
        yield path, msgspec.to_builtins(value)
