"""YAML as nodes that know their lines. Nothing is constructed from them, so that no tag can do anything.

The nodes are made from events: the composer of libyaml takes one stack frame a level, and a file of brackets ends the
process.
"""

from collections.abc import Iterator
from typing import Any, cast

from burnish.core.values import Value

_DEEPEST = 100
_CORE_TAG = "tag:yaml.org,2002:"


class YamlError(Exception):
    """A text is not YAML."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class YamlNode(Value):
    """A text, a list or a mapping."""

    line: int
    text: str = ""
    """Of a scalar, as it is written; empty for all others."""
    is_scalar: bool = False
    tag: str = ""
    """What a scalar is without quotes: `str`, `bool`, `int`, `null` …; empty for all others."""
    items: tuple["YamlNode", ...] = ()
    pairs: tuple[tuple["YamlNode", "YamlNode"], ...] = ()
    weight: int = 1
    """How many values and characters it holds, with what aliases lead to counted each time."""

    def get(self, name: str) -> "YamlNode":
        """The value of a key; an empty node where there is none."""
        return next((value for key, value in self.pairs if key.text == name), NOTHING)


NOTHING = YamlNode(line=0)


def documents(text: str) -> tuple[YamlNode, ...]:
    """The documents of a text. Raises `YamlError`."""
    import yaml  # noqa: PLC0415 - needed for few changes, and not loaded for the others

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        events = cast("Iterator[Any]", yaml.parse(text, loader))  # pyright: ignore[reportUnknownMemberType]
        return tuple(_Composer(events, yaml.resolver.Resolver()).documents())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or error.context or "not YAML", mark.line + 1 if mark else None) from error
    except (yaml.YAMLError, ValueError) as error:  # the parser in Python lets the latter through
        raise YamlError(str(error).splitlines()[0], None) from error


class _Composer:
    """Makes nodes from the events of a parser."""

    def __init__(self, events: Iterator[Any], resolver: Any) -> None:
        self._events = events
        self._resolver = resolver
        self._anchors: dict[str, YamlNode] = {}

    def documents(self) -> Iterator[YamlNode]:
        for event in self._events:
            if type(event).__name__ == "DocumentStartEvent":
                self._anchors = {}
                yield self._node(next(self._events), 0)

    def _node(self, event: Any, depth: int) -> YamlNode:
        line = event.start_mark.line + 1
        if depth > _DEEPEST:
            raise YamlError("nested too deeply", line)
        kind = type(event).__name__
        if kind == "AliasEvent":
            if event.anchor not in self._anchors:
                raise YamlError(f"unknown alias '{event.anchor}'", line)
            return self._anchors[event.anchor]
        if event.anchor:
            self._anchors[event.anchor] = YamlNode(line=line)  # what an alias inside of it leads to
        match kind:
            case "MappingStartEvent":
                made = self._mapping(line, depth)
            case "SequenceStartEvent":
                items = tuple(self._nodes(depth))
                made = YamlNode(line=line, items=items, weight=1 + sum(item.weight for item in items))
            case _:
                made = self._scalar(event, line)
        if event.anchor:
            self._anchors[event.anchor] = made
        return made

    def _mapping(self, line: int, depth: int) -> YamlNode:
        found = tuple(self._nodes(depth))
        pairs = tuple(zip(found[::2], found[1::2], strict=True))
        return YamlNode(line=line, pairs=pairs, weight=1 + sum(node.weight for node in found))

    def _nodes(self, depth: int) -> Iterator[YamlNode]:
        for event in self._events:
            if type(event).__name__ in ("MappingEndEvent", "SequenceEndEvent"):
                return
            yield self._node(event, depth + 1)

    def _scalar(self, event: Any, line: int) -> YamlNode:
        import yaml  # noqa: PLC0415 - as above

        tag = event.tag
        if tag is None or tag == "!":
            tag = cast("str", self._resolver.resolve(yaml.ScalarNode, event.value, event.implicit))
        return YamlNode(
            line=line,
            text=event.value,
            is_scalar=True,
            tag=tag.removeprefix(_CORE_TAG),
            weight=1 + len(event.value),
        )
