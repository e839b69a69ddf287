"""Plain values into typed ones, and back.

`msgspec` stops at the first mismatch and speaks of JSON. Users who edit a file want to see all of them, in the terms of
the file: `mismatches` finds them, and the value itself is made by `msgspec` afterwards.
"""

import json
import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect

from burnish.core.errors import KeyPath, Violation
from burnish.core.values import Value
from burnish.settings.documents import Document, children, did_you_mean, quoted, refuse

Converted = TypeVar("Converted")

_SCALARS: Mapping[type[inspect.Type], tuple[str, str]] = {
    inspect.StrType: ("text", "Put the text in quotes."),
    inspect.BoolType: ("true or false", "Write true or false, without quotes."),
    inspect.IntType: ("a whole number", "Write digits, without quotes."),
    inspect.FloatType: ("a number", "Write digits, without quotes."),
}
"""What messages call each type of plain value, and how it is written."""


def convert(document: Document, kind: type[Converted]) -> Converted:
    """A document as a value of this type. Raises `DocumentError` with everything in it that does not fit."""
    refuse(map(document.problem, mismatches(document.values, kind)))
    return msgspec.convert(document.values, kind, strict=True)


def mismatches(values: Mapping[str, Any], kind: type) -> tuple[Violation, ...]:
    """Everything in these values that keeps them from being a value of this type."""
    return tuple(_check(inspect.type_info(kind), dict(values), ()))


def plain(value: Value) -> dict[str, Any]:
    """A value as a document would hold it, with its defaults, which its JSON leaves out. What is None is left out."""
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


def _check(kind: inspect.Type, value: object, path: KeyPath) -> list[Violation]:
    shape = type(value)
    match kind:
        case inspect.EnumType():
            return _check_word(value, [member.value for member in kind.cls], path)
        case inspect.VarTupleType() if shape is not list:
            return [_wrong(path, _expected(kind), value, "Write it in square brackets.")]
        case inspect.UnionType() if not any(isinstance(one, inspect.StructType) for one in kind.types):
            # "or nothing": a file says so by leaving the key out.
            return _check_any([one for one in kind.types if not isinstance(one, inspect.NoneType)], value, path)
        case inspect.StructType() | inspect.UnionType() | inspect.DictType() if shape is not dict:
            return [_wrong(path, "a table", value, "Open it with a header in square brackets, and put its keys below.")]
        case inspect.StructType():
            return _check_table(kind, cast("dict[str, object]", value), path)
        case inspect.UnionType():
            return _check_tagged(kind, cast("dict[str, object]", value), path)
        case inspect.VarTupleType() | inspect.DictType():  # in a dictionary, keys are the user's own words
            inner = kind.item_type if isinstance(kind, inspect.VarTupleType) else kind.value_type
            return [found for key, item in children(value) for found in _check(inner, item, (*path, key))]
        case _:
            return _check_scalar(kind, value, path)


def _check_any(kinds: Sequence[inspect.Type], value: object, path: KeyPath) -> list[Violation]:
    """One of several plain types: a number or a word, a word or an array."""
    ways = [_check(kind, value, path) for kind in kinds]
    # What has the right shape, and something wrong inside of it, is told by what is wrong there.
    inside = next((way for way in ways if all(len(found.path) > len(path) for found in way)), None)
    if inside is not None or len(ways) == 1:
        return ways[0] if inside is None else inside
    expected = " or ".join(map(_expected, kinds))
    return [_wrong(path, expected, value, f"Write {expected}.")]


def _check_table(kind: inspect.StructType, table: dict[str, object], path: KeyPath) -> list[Violation]:
    fields = {field.encode_name: field for field in kind.fields}
    found: list[Violation] = []
    for key, inner in table.items():
        if key in fields:
            found += _check(fields[key].type, inner, (*path, key))
        elif key != kind.tag_field:
            listed = f"The keys here are {quoted(fields)}." if fields else "There are no keys here."
            hint = _HINTS.get(_normalised(key)) or did_you_mean(key, fields) or listed
            found.append(Violation(path=(*path, key), message="unknown key.", hint=hint))
    for key, field in fields.items():
        if field.required and key not in table:
            hint = f"Add it: {_expected(field.type)}."
            found.append(Violation(path=(*path, key), message="missing.", hint=hint))
    return found


def _check_tagged(kind: inspect.UnionType, table: dict[str, object], path: KeyPath) -> list[Violation]:
    """One of several tables, told apart by the value of one key."""
    by_tag = {str(one.tag): one for one in kind.types if isinstance(one, inspect.StructType)}
    tag_field = str(next(iter(by_tag.values())).tag_field)
    tag = table.get(tag_field)
    if tag is None:
        return [Violation(path=(*path, tag_field), message="missing.", hint=f"Set it to one of {quoted(by_tag)}.")]
    if not isinstance(tag, str) or tag not in by_tag:
        return _check_word(tag, list(by_tag), (*path, tag_field))
    return _check_table(by_tag[tag], table, path)


def _check_word(value: object, allowed: list[str], path: KeyPath) -> list[Violation]:
    if isinstance(value, str) and value in allowed:
        return []
    hint = did_you_mean(value, allowed) if isinstance(value, str) else ""
    return [_wrong(path, f"one of {quoted(allowed)}", value, hint or "Choose one of them, in quotes.")]


def _check_scalar(kind: inspect.Type, value: object, path: KeyPath) -> list[Violation]:
    match kind:
        case inspect.StrType():
            fits = isinstance(value, str)
        case inspect.BoolType():
            fits = isinstance(value, bool)
        case inspect.IntType():
            fits = isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            fits = isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)
        case _:
            raise TypeError(f"Settings of type {type(kind).__name__} cannot be checked.")
    expected, hint = _SCALARS[type(kind)]
    return [] if fits else [_wrong(path, expected, value, hint)]


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number that no float can hold
        return False


def _wrong(path: KeyPath, expected: str, value: object, hint: str) -> Violation:
    return Violation(path=path, message=f"expected {expected}, got {_shown(value)}.", hint=hint)


def _expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.EnumType():
            return f"one of {quoted(member.value for member in kind.cls)}"
        case inspect.VarTupleType():
            return "an array of tables" if isinstance(kind.item_type, inspect.StructType) else "an array"
        case _:
            return _SCALARS[type(kind)][0] if type(kind) in _SCALARS else "a table"


def _shown(value: object) -> str:
    match value:
        case str():
            text = json.dumps(value, ensure_ascii=False)
            return text if len(text) <= 60 else f'{text[:56]}…"'
        case bool() | int() | float():
            return str(value).lower()[:60]
        case dict():
            return "a table"
        case list():
            return "an array"
        case _:
            return "a date or time"


# What other review loops call their settings, and what says the same here. No such key is accepted as it is: a setting
# that switches reviews off, or allows more of them, must be a decision and not a leftover.
_REVIEWS = "'reviews' in [limits] of a protocol of your own"
_ROLE = 'Name agents in [roles], such as review = { agent = "claude", fallback = "codex" }.'

_OTHER_NAMES = {
    # How often.
    "reviewMaxFixAttempts": f"Use --review-max-fix-attempts N, or set {_REVIEWS} to one more than that.",
    "maxFixAttempts": f"Use --review-max-fix-attempts N, or set {_REVIEWS} to one more than that.",
    "maxRevisions": f"Set {_REVIEWS} to one more than that, or use --max-rounds.",
    "maxRounds": f"Use --max-rounds N, or set {_REVIEWS}.",
    "maxReviewRounds": f"Use --max-rounds N, or set {_REVIEWS}.",
    "maxCycles": f"Use --max-rounds N, or set {_REVIEWS}.",
    "maxIterations": f"Use --max-rounds N, or set {_REVIEWS}.",
    "reviewCycle": "burnish counts the rounds itself; remove the key.",
    "iteration": "burnish counts the rounds itself; remove the key.",
    # Whether.
    "reviewEnabled": "Remove it: reviews are on. --no-review skips one, and seals nothing; for beads, see [beads].",
    "coverageThreshold": "Set 'coverage_floor' in [validate], in percent.",
    "minCoverage": "Set 'coverage_floor' in [validate], in percent.",
    # Who.
    "agentConfig": _ROLE,
    "defaultPrimary": 'Set \'default\' in [roles], such as default = { agent = "codex", fallback = "claude" }.',
    "defaultFallback": 'Set \'default\' in [roles], such as default = { agent = "codex", fallback = "claude" }.',
    "perTask": "Set 'review', 'fix' and 'build' in [roles].",
    "primary": "Set 'agent' instead; 'fallback' stays.",
    "complexityOverrides": "Set [roles.complexity.low], medium and high, and use --complexity.",
    "agentsFile": _ROLE,
    "stateFile": "Remove the key: burnish keeps its state in the git directory. Set agents in [roles].",
    "provider": "Set 'default' in [roles], such as default = \"claude\".",
    "reviewerProvider": "Set 'review' in [roles], such as review = \"claude\".",
    "reviewerModel": "Define an agent with that 'model' in [agents.NAME], and name it as 'review' in [roles].",
    "reasoningEffort": "Set the 'model' of [agents.NAME]; the client decides about the reasoning effort.",
    "command": "Define an agent, [agents.NAME] with kind = \"command\" and its 'command', and name it in [roles].",
    "yolo": "Remove it: agents never ask for permission and run in a sandbox ('sandbox').",
    # What they are told.
    "promptPath": "Set 'builder' in [prompts], or use --developer-prompt.",
    "developerPromptPath": "Set 'builder' in [prompts], or use --developer-prompt.",
    "reviewerPromptPath": "Set 'reviewer' in [prompts], or use --reviewer-prompt.",
    # Where work comes from, and how it is shown.
    "beadMode": "Remove it; 'burnish run .beads' uses bd, and 'burnish run .tasque' uses tsq.",
    "taskMode": "Remove it; 'burnish run .beads' uses bd, and 'burnish run .tasque' uses tsq.",
    "topLevelBeadId": "Set 'top' in [beads], or use 'burnish run .beads --top-level-bead ID'.",
    "parallelAgents": "Set 'parallel' in [epics], or use 'burnish run --parallel N'.",
    "iterationLimit": "Set 'iterations' in [beads], or use 'burnish run .beads --iterations N'.",
    "pauseMs": "Set 'pause' in [beads], in seconds, or use 'burnish run .beads --pause S'.",
    "previewLines": "Remove it; 'burnish logs -f RUN' shows everything that agents write.",
    "logDir": "Remove it; 'burnish logs RUN' shows the logs, which burnish keeps in the git directory.",
}


def _normalised(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


_HINTS = {_normalised(key): hint for key, hint in _OTHER_NAMES.items()}
"""Other tools' keys, however they are spelled."""


def other_name(key: str) -> str:
    """What says the same here as a key of another tool; empty for a key that no tool has."""
    return _HINTS.get(_normalised(key), "")
