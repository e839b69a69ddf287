"""From a name or a path to a protocol that can be run, or to every reason why it cannot.

Protocols that come with burnish have names; a user's own goes by its path. One protocol may extend another.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from burnish.core.errors import KeyPath, Violation
from burnish.core.protocol import Protocol, RecordLayout
from burnish.core.protocol_rules import faults
from burnish.core.values import Value, replace
from burnish.settings.conversion import mismatches
from burnish.settings.documents import (
    Document,
    DocumentError,
    Problem,
    ReadFile,
    SourcePlace,
    did_you_mean,
    nearest,
    overlay,
    read_document,
    read_file,
    refuse,
)

BUILT_IN = ("default", "epic", "ticket", "story", "panel", "drift")
"""The protocols that come with burnish, in the order in which they are listed."""

MAX_DEPTH = 10
"""How many times one protocol may extend another. A longer chain could not be followed by a reader."""

_TAGS: Mapping[KeyPath, str] = {("gate",): "type", ("exhausted",): "then"}
"""The tables of a protocol whose other keys depend on one of them."""


class LoadedProtocol(Value):
    """A protocol, the files that it was made of (its own first), and where each of its values was written."""

    protocol: Protocol
    chain: tuple[str, ...]
    places: Mapping[KeyPath, SourcePlace]


def no_base(_path: str) -> bytes | None:
    """The `ReadFile` where nothing is under review."""
    return None


def load(reference: str, read: ReadFile = no_base) -> LoadedProtocol:
    """Load a built-in protocol by name, or a user's own by path. Raises `DocumentError` with all problems.

    `read` gives files of the base of a change, which come before those of the working tree.
    """
    if not _is_path(reference) and reference not in BUILT_IN:
        message = f"There is no protocol '{reference}'."
        raise DocumentError([Problem(file="", message=message, hint=_unknown_name_hint(reference))])
    chain = _follow(reference, read)
    merged = _merged(chain)
    refuse(_problem(each, merged) for each in mismatches(merged.values, Protocol))
    protocol = msgspec.convert(merged.values, Protocol, strict=True)
    refuse(_problem(each, merged) for each in faults(protocol))
    return LoadedProtocol(protocol=protocol, chain=tuple(document.file for document in chain), places=merged.places)


def _is_path(reference: str) -> bool:
    return "/" in reference or reference.endswith(".toml")


def _follow(reference: str, read: ReadFile) -> Sequence[Document]:
    following = str(Path(reference)) if _is_path(reference) else reference
    chain = [_read(following, read)]
    seen = [_identity(following)]
    while (following := _extended(chain[-1], read)) is not None:
        if _identity(following) in seen:
            trail = " → ".join([*(document.file for document in chain), following])
            raise _extends_error(
                chain[-1], f"Protocols extend each other in a circle: {trail}.", "Remove one 'extends'."
            )
        if len(chain) > MAX_DEPTH:
            hint = "Merge some of the files."
            raise _extends_error(chain[-1], f"More than {MAX_DEPTH} protocols extend one another.", hint)
        chain.append(_read(following, read))
        seen.append(_identity(following))
    return chain


def _identity(reference: str) -> str:
    """The same for two ways to write the same path."""
    return str(Path(reference).resolve()) if _is_path(reference) else reference


def _read(reference: str, read: ReadFile) -> Document:
    if not _is_path(reference):
        raw = resources.files("burnish.protocols").joinpath(f"{reference}.toml").read_bytes()
        return read_document(raw, reference, builtin=True)
    found = _from_base(reference, read)
    return read_document(read_file(reference) if found is None else found, reference)


def _from_base(path: str, read: ReadFile) -> bytes | None:
    pure = PurePosixPath(path)
    return None if pure.is_absolute() or ".." in pure.parts else read(str(pure))


def _extended(document: Document, read: ReadFile) -> str | None:
    """What a protocol extends: a name, or a path, which is relative to the file that names it."""
    reference = document.values.get("extends")
    if reference is None or (isinstance(reference, str) and reference in BUILT_IN):
        return reference
    if not isinstance(reference, str):
        raise _extends_error(document, "expected text.", "Use the name or path of a protocol, in quotes.")
    if not _is_path(reference):
        raise _extends_error(document, f"There is no protocol '{reference}'.", _unknown_name_hint(reference))
    folder = Path(document.file).parent if _is_path(document.file) else Path()
    path = str(folder / reference)
    if _from_base(path, read) is None and not Path(path).is_file():
        hint = "The path is relative to the file that contains it."
        raise _extends_error(document, f"There is no file '{path}'.", hint)
    return path


def _unknown_name_hint(name: str) -> str:
    question = did_you_mean(name, BUILT_IN)
    if not question and Path(f"{name}.toml").is_file():
        question = f"To use the file in this folder, write '{name}.toml'."
    names = f"Built in: {', '.join(BUILT_IN)}. Refer to your own by its path."
    return f"{question} {names}".strip()


def _extends_error(document: Document, message: str, hint: str) -> DocumentError:
    return DocumentError([document.problem(Violation(path=("extends",), message=message, hint=hint))])


def _merged(chain: Sequence[Document]) -> Document:
    """The chain as one document, without what belongs to the files and not to the protocol."""
    merged = reduce(lambda lower, upper: overlay(lower, upper, _TAGS), reversed(chain))
    own = chain[0]
    values: dict[str, Any] = {key: value for key, value in merged.values.items() if key != "extends"}
    places = dict(merged.places)
    # A name and a description say what this very file is; those of the protocol below would be wrong here.
    description = f"Extends {chain[1].file}." if len(chain) > 1 else ""
    for key, unset in (("name", Path(own.file).stem), ("description", description)):
        if key not in own.values:
            values[key] = unset
            places.pop((key,), None)
    values.setdefault("records", RecordLayout.NONE.value)  # a key that is missing is one of an older run
    return Document(file=own.file, values=values, places=places)


def _problem(violation: Violation, merged: Document) -> Problem:
    problem = merged.problem(violation)
    if problem.line is not None:
        return problem
    # What comes with burnish is right by itself: the change that does not fit it is in the user's file, in the nearest
    # table that the user wrote, else in the line that brought the key in.
    own = {path: place for path, place in merged.places.items() if place.line is not None}
    place = nearest(own, violation.path) or nearest(own, ("extends",)) or SourcePlace(file=merged.file, line=1)
    message = f"{violation.message} (Set in {problem.file}.)"
    return replace(problem, file=place.file, line=place.line, message=message)
