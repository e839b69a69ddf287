"""The fields of a YAML mapping by their meaning. What is wrong is collected, so that all of it can be told."""

from collections.abc import Iterator

from burnish.core.errors import KeyPath
from burnish.core.text import clean_text
from burnish.settings.documents import Problem, SourcePlace, key_text
from burnish.settings.yaml_nodes import YamlError, YamlNode, documents
from burnish.sources.interface import MAX_SOURCE_BYTES, source_error

_MAX_WEIGHT = 4 * MAX_SOURCE_BYTES
_MERGED = "<<"
_TRUE = ("true", "yes", "on")


def read_yaml(text: str, file: str) -> YamlNode:
    """The only document of a text. Raises `SourceError`."""
    try:
        found = documents(text)
    except YamlError as error:
        message = f"The YAML cannot be read: {clean_text(error.message)}."
        hint = "Check this line and the one above; put text with ':' or '#' in quotes."
        raise source_error(file, message, hint, error.line) from None
    if len(found) != 1:
        message = f"The file holds {len(found)} YAML documents." if found else "The file is empty."
        raise source_error(file, message, "Write one mapping with the key 'tickets'.")
    if found[0].weight > _MAX_WEIGHT:
        message = f"With its aliases written out, the file is larger than {_MAX_WEIGHT:,} bytes."
        raise source_error(file, message, "Replace the aliases (*name) by the values themselves.")
    return found[0]


def is_null(node: YamlNode) -> bool:
    return node.is_scalar and node.tag == "null"


class Fields:
    """A mapping. Several names of one field are several dialects. Keys that are not asked for mean nothing here."""

    def __init__(self, node: YamlNode, file: str, problems: list[Problem], path: KeyPath = ()) -> None:
        self._file = file
        self._path = path
        self._problems = problems
        self._line = node.line
        self._values: dict[str, YamlNode] = {}
        for key, value in node.pairs:
            if not key.is_scalar or key.text == _MERGED:
                continue
            if key.text in self._values:
                self._wrong(key.text, key.line, "The key is there twice.", "Remove one of the two.")
            self._values[key.text] = value
        for key, value in _merged_pairs(node):
            self._values.setdefault(key.text, value)

    def place(self, *names: str) -> SourcePlace:
        """Where the first of these fields that is there is written, else where the mapping begins."""
        lines = (self._values[name].line for name in names if name in self._values)
        return SourcePlace(file=self._file, line=next(lines, self._line))

    def problem(self, name: str, message: str, hint: str) -> None:
        self._wrong(name, self.place(name).line, message, hint)

    def node(self, name: str) -> YamlNode | None:
        """The value of a field; None where there is none, or a null."""
        found = self._values.get(name)
        return None if found is None or is_null(found) else found

    def text(self, *names: str) -> str:
        """The first of these fields that holds a text. A number is the text that it is written with."""
        texts: list[str] = []
        for name in names:
            node = self.node(name)
            if node is None:
                continue
            if node.is_scalar:
                texts.append(node.text.strip())
            else:
                self._wrong(name, node.line, "It must be a text.", f"Write '{name}: text'.")
        return next((text for text in texts if text), "")

    def flag(self, *names: str) -> bool | None:
        """Whether a field is true; None where it is not there."""
        for name in names:
            node = self.node(name)
            if node is None:
                continue
            if node.tag == "bool":
                return node.text.lower() in _TRUE
            self._wrong(name, node.line, "It must be true or false, without quotes.", f"Write '{name}: true'.")
        return None

    def sentences(self, *names: str) -> tuple[str, ...]:
        """The items of lists for people to read. A text alone is one item, and `key: text` was meant as a sentence."""
        found: list[str] = []
        for name, item in self._items(names):
            pair = item.pairs[0] if len(item.pairs) == 1 else None
            if item.is_scalar:
                found.append(item.text)
            elif pair and pair[0].is_scalar and pair[1].is_scalar:
                found.append(f"{pair[0].text}: {pair[1].text}")
            else:
                self._wrong(name, item.line, "Each item must be a text.", "Put text that contains ':' in quotes.")
        return tuple(text for text in (clean_text(text).strip() for text in found) if text)

    def names(self, *names: str) -> dict[str, SourcePlace]:
        """The items of lists of names, with their places. A text alone is one name."""
        found: dict[str, SourcePlace] = {}
        for name, item in self._items(names):
            if not item.is_scalar:
                self._wrong(name, item.line, "Each item must be a name.", f"Write '{name}: [one, two]'.")
            elif item.text.strip():
                found.setdefault(item.text.strip(), SourcePlace(file=self._file, line=item.line))
        return found

    def _items(self, names: tuple[str, ...]) -> Iterator[tuple[str, YamlNode]]:
        for name in names:
            node = self.node(name)
            if node is None:
                continue
            if node.pairs:
                self._wrong(name, node.line, "It must be a list.", f"Write '{name}: [one, two]'.")
                continue
            for item in (node,) if node.is_scalar else node.items:
                if not is_null(item):
                    yield name, item

    def _wrong(self, name: str, line: int | None, message: str, hint: str) -> None:
        key = key_text((*self._path, clean_text(name)))
        self._problems.append(Problem(file=self._file, line=line, key=key, message=message, hint=hint))


def _merged_pairs(node: YamlNode) -> Iterator[tuple[YamlNode, YamlNode]]:
    """What `<<: *alias` takes over, and what that takes over in turn; the nearest first."""
    todo = [value for key, value in node.pairs if key.text == _MERGED]
    while todo:
        merged = todo.pop(0)
        todo += merged.items
        for key, value in merged.pairs:
            if key.text == _MERGED:
                todo.append(value)
            elif key.is_scalar:
                yield key, value
