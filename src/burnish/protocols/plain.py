"""A value as plain tables, with everything in it: the defaults too, which its JSON leaves out."""

from enum import Enum
from typing import Any, cast

import msgspec

from burnish.core.values import Value


def plain(value: Value) -> dict[str, Any]:
    """Tables, arrays and scalars, as a document would hold them. What is not set is left out."""
    config = value.__struct_config__
    tag = {} if config.tag_field is None else {config.tag_field: config.tag}
    fields = {field.encode_name: getattr(value, field.name) for field in msgspec.structs.fields(value)}
    return {**tag, **{key: _plain(inner) for key, inner in fields.items() if inner is not None}}


def _plain(value: object) -> object:
    match value:
        case Value():
            return plain(value)
        case Enum():
            return value.value
        case tuple():
            return [_plain(item) for item in cast("tuple[object, ...]", value)]
        case _:
            return value
