"""A loaded protocol as a TOML document that could be loaded again, each value with the place that it came from."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard, cast

from burnish.core.errors import KeyPath
from burnish.protocols.loader import LoadedProtocol
from burnish.settings.conversion import plain
from burnish.settings.documents import SourcePlace

_COLUMN = 56
"""Where the places begin, when the value leaves room for it."""

NOT_SET = "(not set)"
"""Marks a value that no file of the chain sets."""

_Table = dict[str, Any]

# Beside what TOML demands, everything that could move a cursor or turn the direction of a line.
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]')


def render(loaded: LoadedProtocol) -> str:
    """The whole protocol as TOML; values that no file sets are marked so."""
    lines = list(_table((), plain(loaded.protocol), loaded.places))
    return "\n".join(lines).strip("\n") + "\n"


def _table(path: KeyPath, table: _Table, places: Mapping[KeyPath, SourcePlace]) -> Iterator[str]:
    """The keys of a table, those with a plain value first: after a header, keys belong to the header's table."""
    for key, value in table.items():
        if not _is_table(value) and not _is_array_of_tables(value):
            place = places.get((*path, key))
            # A line break in the name of a file would end the comment.
            origin = NOT_SET if place is None else " ".join(place.text.split())
            yield f"{f'{key} = {_literal(value)}':<{_COLUMN}}  # {origin}"
    for key, value in table.items():
        here = (*path, key)
        if _is_table(value):
            yield from ("", f"[{_dotted(here)}]", *_table(here, value, places))
        elif _is_array_of_tables(value):
            for index, item in enumerate(value):
                yield from ("", f"[[{_dotted(here)}]]", *_table((*here, index), item, places))


def _is_table(value: object) -> TypeGuard[_Table]:
    return isinstance(value, dict)


def _is_array_of_tables(value: object) -> TypeGuard[list[_Table]]:
    return isinstance(value, list) and value != [] and _is_table(cast("list[object]", value)[0])


def _dotted(path: KeyPath) -> str:
    """The path of a header; indices are left out, since it means the table that was opened last."""
    return ".".join(part for part in path if isinstance(part, str))


def _literal(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            escaped = _ESCAPED.sub(lambda match: _escape(match[0]), value)
            return f'"{escaped}"'
        case list():
            return f"[{', '.join(_literal(item) for item in cast('list[object]', value))}]"
        case _:
            raise TypeError(f"A {type(value).__name__} has no form in TOML.")


def _escape(character: str) -> str:
    return f"\\{character}" if character in '"\\' else f"\\u{ord(character):04x}"
