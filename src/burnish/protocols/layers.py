"""Documents laid over each other, each value knowing the document and line that it came from."""

from collections.abc import Mapping
from typing import Any, cast

from burnish.core.values import Value
from burnish.protocols.documents import Document, nearest
from burnish.protocols.positions import KeyPath


class Place(Value):
    """Where a value was written. What comes with burnish has no line: nobody can edit it there."""

    file: str
    line: int | None = None

    @property
    def text(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Layer(Value):
    """Plain values, the place of every key path in them, and the file on top."""

    file: str
    values: Mapping[str, Any]
    places: Mapping[KeyPath, Place]

    def place_of(self, path: KeyPath) -> Place:
        """The place of a key, or of the nearest table around it that is written down, or the top of the file."""
        return nearest(self.places, path) or Place(file=self.file, line=1)


def layer(document: Document, *, builtin: bool = False) -> Layer:
    """A single document as a layer."""
    places = {path: Place(file=document.file, line=None if builtin else line) for path, line in document.lines.items()}
    return Layer(file=document.file, values=document.values, places=places)


def overlay(lower: Layer, upper: Layer, tags: Mapping[KeyPath, str]) -> Layer:
    """The upper layer over the lower one: tables are merged, everything else is replaced.

    `tags` names the tables whose kind is told by one of their keys. Where the upper layer changes the kind, the table
    is replaced as a whole: keys of the former kind would have no meaning in it.
    """
    merge = _Merge(lower, upper, tags)
    values = merge.tables((), lower.values, upper.values)
    return Layer(file=upper.file, values=values, places=merge.places)


class _Merge:
    """One pass over two trees of tables, collecting the places of what is kept."""

    def __init__(self, lower: Layer, upper: Layer, tags: Mapping[KeyPath, str]) -> None:
        self._lower = lower
        self._upper = upper
        self._tags = tags
        self.places: dict[KeyPath, Place] = {}

    def tables(self, path: KeyPath, lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for key in [*lower, *(key for key in upper if key not in lower)]:
            here = (*path, key)
            if key not in upper:
                self._keep_places(here, lower[key], self._lower)
                merged[key] = lower[key]
            elif key in lower and self._are_merged(here, lower[key], upper[key]):
                self._copy_place(here, self._upper)
                merged[key] = self.tables(here, lower[key], upper[key])
            else:
                self._keep_places(here, upper[key], self._upper)
                merged[key] = upper[key]
        return merged

    def _are_merged(self, path: KeyPath, lower: object, upper: object) -> bool:
        if not (isinstance(lower, dict) and isinstance(upper, dict)):
            return False
        tag = self._tags.get(path)
        if tag is None or tag not in upper:
            return True
        return cast("dict[str, object]", lower).get(tag) == cast("dict[str, object]", upper)[tag]

    def _keep_places(self, path: KeyPath, value: object, origin: Layer) -> None:
        self._copy_place(path, origin)
        if isinstance(value, dict):
            for key, inner in cast("dict[str, object]", value).items():
                self._keep_places((*path, key), inner, origin)
        elif isinstance(value, list):
            for index, inner in enumerate(cast("list[object]", value)):
                self._keep_places((*path, index), inner, origin)

    def _copy_place(self, path: KeyPath, origin: Layer) -> None:
        place = origin.places.get(path)
        if place is not None:
            self.places[path] = place
