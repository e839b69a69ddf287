"""From a name or a path to a protocol that can be run, or to every reason why it cannot."""

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec

from burnish.core.protocol import Protocol, RecordLayout
from burnish.core.protocol_rules import faults
from burnish.core.values import Value
from burnish.protocols import sources
from burnish.protocols.checking import Mismatch, mismatches
from burnish.protocols.documents import Document, key_text, nearest
from burnish.protocols.errors import DocumentError, Problem, ProtocolError
from burnish.protocols.layers import Layer, Place, layer, overlay
from burnish.protocols.positions import KeyPath
from burnish.protocols.sources import BuiltIn, ReadFile, Source, no_base

MAX_DEPTH = 10
"""How many times one protocol may extend another. A longer chain could not be followed by a reader."""

_TAGS: Mapping[KeyPath, str] = {("gate",): "type", ("exhausted",): "then"}
"""The tables of a protocol whose other keys depend on one of them."""


class LoadedProtocol(Value):
    """A protocol, the files that it was made of (its own first), and where each of its values was written."""

    protocol: Protocol
    chain: tuple[str, ...]
    places: Mapping[KeyPath, Place]


class _Link(Value):
    """One file of the chain."""

    source: Source
    document: Document


def load(reference: str, read: ReadFile = no_base) -> LoadedProtocol:
    """Load a built-in protocol by name, or a user's own by path. Raises `ProtocolError` with all problems.

    `read` gives files of the base of a change, which come before those of the working tree.
    """
    try:
        chain = _follow(reference, read)
    except DocumentError as error:
        raise ProtocolError(error.problems) from None
    merged = _merged(chain)
    protocol = _converted(merged)
    found = [Mismatch(path=fault.path, message=fault.message, hint=fault.hint) for fault in faults(protocol)]
    _refuse(found, merged)
    return LoadedProtocol(protocol=protocol, chain=tuple(link.source.label for link in chain), places=merged.places)


def _follow(reference: str, read: ReadFile) -> Sequence[_Link]:
    """The named protocol and those it extends, one after the other."""
    source = _first_source(reference)
    chain: list[_Link] = []
    seen: list[str] = []
    while True:
        chain.append(_Link(source=source, document=sources.read(source, read)))
        seen.append(sources.identity(source))
        following = _extended(chain[-1], read)
        if following is None:
            return chain
        if sources.identity(following) in seen:
            trail = " → ".join([*(link.source.label for link in chain), following.label])
            raise _extends_error(chain[-1], f"The protocols extend each other in a circle: {trail}.", "Break it.")
        if len(chain) > MAX_DEPTH:
            hint = "Bring some of the files together."
            raise _extends_error(chain[-1], f"More than {MAX_DEPTH} protocols extend each other.", hint)
        source = following


def _first_source(reference: str) -> Source:
    try:
        return sources.locate(reference)
    except LookupError as error:
        message = f"There is no protocol '{reference}'."
        raise ProtocolError([Problem(file="", message=message, hint=str(error))]) from None


def _extended(link: _Link, read: ReadFile) -> Source | None:
    reference = link.document.values.get("extends")
    if reference is None:
        return None
    if not isinstance(reference, str):
        raise _extends_error(link, "expected text.", "Name a protocol or the path of one, in quotes.")
    try:
        following = sources.locate(reference, beside=link.source)
    except LookupError as error:
        raise _extends_error(link, f"There is no protocol '{reference}'.", str(error)) from None
    if not isinstance(following, BuiltIn) and not sources.exists(following, read):
        hint = "The path is relative to the file that names it."
        raise _extends_error(link, f"There is no file '{following.path}'.", hint)
    return following


def _extends_error(link: _Link, message: str, hint: str) -> ProtocolError:
    line = link.document.line_of(("extends",))
    return ProtocolError([Problem(file=link.source.label, line=line, key="extends", message=message, hint=hint)])


def _merged(chain: Sequence[_Link]) -> Layer:
    """The chain as one layer, without what belongs to the files and not to the protocol."""
    layers = [layer(link.document, builtin=isinstance(link.source, BuiltIn)) for link in reversed(chain)]
    merged = reduce(lambda lower, upper: overlay(lower, upper, _TAGS), layers)
    own = chain[0].document
    values: dict[str, Any] = {key: value for key, value in merged.values.items() if key != "extends"}
    # A name and a description say what this very file is; those of the protocol below would be wrong here.
    places = dict(merged.places)
    for key, unset in (("name", Path(own.file).stem), ("description", _description(chain))):
        if key not in own.values:
            values[key] = unset
            places.pop((key,), None)
    values.setdefault("records", RecordLayout.NONE.value)  # a key that is missing is one of an older run
    return Layer(file=own.file, values=values, places=places)


def _description(chain: Sequence[_Link]) -> str:
    return f"Starts from {chain[1].source.label}." if len(chain) > 1 else ""


def _converted(merged: Layer) -> Protocol:
    _refuse(mismatches(merged.values, Protocol), merged)
    return msgspec.convert(merged.values, Protocol, strict=True)


def _refuse(found: Sequence[Mismatch], merged: Layer) -> None:
    if found:
        problems = [_problem(mismatch, merged) for mismatch in found]
        raise ProtocolError(sorted(problems, key=lambda problem: (problem.file, problem.line or 0)))


def _problem(mismatch: Mismatch, merged: Layer) -> Problem:
    path, message = mismatch.path, mismatch.message
    place = merged.place_of(path)
    if place.line is None:
        # What comes with burnish is right by itself: the change that does not fit it is in the user's file.
        message, place = f"{message} (It is set by {place.text}.)", _own_place(path, merged)
    return Problem(file=place.file, line=place.line, key=key_text(path), message=message, hint=mismatch.hint)


def _own_place(path: KeyPath, merged: Layer) -> Place:
    """The nearest table around a key that the user wrote, else the line that brought the key in."""
    own = {known: place for known, place in merged.places.items() if place.line is not None}
    return nearest(own, path) or nearest(own, ("extends",)) or Place(file=merged.file, line=1)
