"""Plain values against a typed value: everything that does not fit, each with its key and a hint.

`msgspec` stops at the first mismatch and speaks of JSON. A person who edits a file wants all of them, in the words of
the file. This module only finds them; the value itself is made by `msgspec` afterwards.
"""

import difflib
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

from msgspec import inspect

from burnish.core.values import Value
from burnish.protocols.other_names import hint_for
from burnish.protocols.positions import KeyPath


class Mismatch(Value):
    """A value that does not fit, by its path."""

    path: KeyPath
    message: str
    hint: str


def mismatches(values: Mapping[str, Any], kind: type) -> tuple[Mismatch, ...]:
    """Everything in these values that keeps them from being a value of this type."""
    return tuple(_check(inspect.type_info(kind), dict(values), ()))


def did_you_mean(word: str, known: Iterable[str], *, alike: float = 0.6) -> str:
    """A question with the closest known word, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=alike)
    return f"Did you mean '{close[0]}'?" if close else ""


def quoted(words: Iterable[str]) -> str:
    """Words in quotes, as a list in a sentence."""
    return ", ".join(f"'{word}'" for word in words)


def _check(kind: inspect.Type, value: object, path: KeyPath) -> list[Mismatch]:
    match kind:
        case inspect.StructType():
            return _check_table(kind, value, path)
        case inspect.UnionType():
            return _check_union(kind, value, path)
        case inspect.VarTupleType():
            return _check_array(kind, value, path)
        case inspect.DictType():
            return _check_map(kind, value, path)
        case inspect.EnumType():
            return _check_word(value, [member.value for member in kind.cls], path)
        case _:
            return _check_scalar(kind, value, path)


def _check_table(kind: inspect.StructType, value: object, path: KeyPath) -> list[Mismatch]:
    if not isinstance(value, dict):
        return [_wrong(path, "a table", value, "Open it with a header in brackets, and put its keys below.")]
    table = cast("dict[str, object]", value)
    fields = {field.encode_name: field for field in kind.fields}
    found: list[Mismatch] = []
    for key, inner in table.items():
        if key in fields:
            found += _check(fields[key].type, inner, (*path, key))
        elif key != kind.tag_field:
            found.append(_unknown(path, key, fields))
    for key, field in fields.items():
        if field.required and key not in table:
            hint = f"Add it; it is {_expected(field.type)}."
            found.append(Mismatch(path=(*path, key), message="missing.", hint=hint))
    return found


def _unknown(path: KeyPath, key: str, known: Iterable[str]) -> Mismatch:
    names = list(known)
    listed = f"The keys here are {quoted(names)}." if names else "There are no keys here."
    hint = hint_for(key) or did_you_mean(key, names) or listed
    return Mismatch(path=(*path, key), message="unknown key.", hint=hint)


def _check_union(kind: inspect.UnionType, value: object, path: KeyPath) -> list[Mismatch]:
    tables = [one for one in kind.types if isinstance(one, inspect.StructType)]
    if not tables:
        # "or nothing": a file says so by leaving the key out.
        return _check(next(one for one in kind.types if not isinstance(one, inspect.NoneType)), value, path)
    if not isinstance(value, dict):
        return [_wrong(path, "a table", value, "Open it with a header in brackets, and put its keys below.")]
    tag_field = str(tables[0].tag_field)
    by_tag = {str(table.tag): table for table in tables}
    tag = cast("dict[str, object]", value).get(tag_field)
    if tag is None:
        hint = f"Set it to one of {quoted(by_tag)}."
        return [Mismatch(path=(*path, tag_field), message="missing.", hint=hint)]
    if not isinstance(tag, str) or tag not in by_tag:
        return _check_word(tag, list(by_tag), (*path, tag_field))
    return _check_table(by_tag[tag], cast("object", value), path)


def _check_array(kind: inspect.VarTupleType, value: object, path: KeyPath) -> list[Mismatch]:
    if not isinstance(value, list):
        return [_wrong(path, _expected(kind), value, "Write it in square brackets.")]
    items = enumerate(cast("list[object]", value))
    return [mismatch for index, item in items for mismatch in _check(kind.item_type, item, (*path, index))]


def _check_map(kind: inspect.DictType, value: object, path: KeyPath) -> list[Mismatch]:
    """A table whose keys are the user's own words."""
    if not isinstance(value, dict):
        return [_wrong(path, "a table", value, "Open it with a header in brackets, and put its keys below.")]
    items = cast("dict[str, object]", value).items()
    return [mismatch for key, item in items for mismatch in _check(kind.value_type, item, (*path, key))]


def _check_word(value: object, allowed: list[str], path: KeyPath) -> list[Mismatch]:
    if isinstance(value, str) and value in allowed:
        return []
    hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
    return [_wrong(path, f"one of {quoted(allowed)}", value, hint or "Choose one of them, in quotes.")]


def _check_scalar(kind: inspect.Type, value: object, path: KeyPath) -> list[Mismatch]:
    match kind:
        case inspect.StrType():
            fits, hint = isinstance(value, str), "Put the text in quotes."
        case inspect.BoolType():
            fits, hint = isinstance(value, bool), "Write true or false, without quotes."
        case inspect.IntType():
            fits, hint = isinstance(value, int) and not isinstance(value, bool), "Write digits, without quotes."
        case inspect.FloatType():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            fits, hint = number and _is_finite(cast("float", value)), "Write digits, without quotes."
        case _:
            raise TypeError(f"Settings of type {type(kind).__name__} cannot be checked.")
    return [] if fits else [_wrong(path, _expected(kind), value, hint)]


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that no float can hold
        return False


def _wrong(path: KeyPath, expected: str, value: object, hint: str) -> Mismatch:
    return Mismatch(path=path, message=f"expected {expected}, got {_shown(value)}.", hint=hint)


def _expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.StrType():
            return "text"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number"
        case inspect.FloatType():
            return "a number"
        case inspect.EnumType():
            return f"one of {quoted(member.value for member in kind.cls)}"
        case inspect.VarTupleType():
            return "an array of tables" if isinstance(kind.item_type, inspect.StructType) else "an array"
        case _:
            return "a table"


def _shown(value: object) -> str:
    match value:
        case str():
            text = json.dumps(value, ensure_ascii=False)
            return text if len(text) <= 60 else f'{text[:56]}…"'
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)[:60]
        case dict():
            return "a table"
        case list():
            return "an array"
        case _:
            return "a date or time"
