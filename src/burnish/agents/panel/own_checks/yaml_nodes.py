"""YAML as nodes that know their lines. Nothing is constructed from them: tags mean nothing here."""

from collections.abc import Iterator
from typing import Any, cast

from burnish.core.values import Value


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
    items: tuple["YamlNode", ...] = ()
    pairs: tuple[tuple["YamlNode", "YamlNode"], ...] = ()

    def get(self, name: str) -> "YamlNode":
        """The value of a key; an empty node where there is none."""
        return next((value for key, value in self.pairs if key.text == name), NOTHING)


NOTHING = YamlNode(line=0)


def documents(text: str) -> tuple[YamlNode, ...]:
    """The documents of a text. Raises `YamlError`."""
    import yaml  # noqa: PLC0415 - needed for few changes, and not loaded for the others

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    try:
        composed = cast("Iterator[Any]", yaml.compose_all(text, loader))  # pyright: ignore[reportUnknownMemberType]
        return tuple(_node(document, {}) for document in composed)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or error.context or "not YAML", mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise YamlError(str(error).splitlines()[0], None) from error
    except RecursionError as error:
        raise YamlError("nested too deeply", None) from error


def _node(node: Any, known: dict[int, YamlNode]) -> YamlNode:
    """Each node once: an alias leads to one a second time, or back to the one that it is in."""
    if id(node) in known:
        return known[id(node)]
    line = node.start_mark.line + 1
    known[id(node)] = YamlNode(line=line)
    match node.id:
        case "mapping":
            made = YamlNode(
                line=line, pairs=tuple((_node(key, known), _node(value, known)) for key, value in node.value)
            )
        case "sequence":
            made = YamlNode(line=line, items=tuple(_node(item, known) for item in node.value))
        case _:
            made = YamlNode(line=line, text=node.value, is_scalar=True)
    known[id(node)] = made
    return made
