"""What must hold for every input of every parser. Each check takes bytes and raises where something is wrong.

An error of the documented kind is a good answer; any other exception is a crash. Beyond that, nothing is believed: a
clean answer is compared with a second, simpler reading of the same text, and faults that were planted must be found.
"""

import json
import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from burnish.agents.streams import read_answer
from burnish.contracts import findings, issues, report, sarif, verdict
from burnish.contracts.paths import confine
from burnish.contracts.text import UnreadableError, decode
from burnish.core import events
from burnish.core.errors import KeyPath
from burnish.core.reviews import Answer, ContractName
from burnish.settings.documents import DocumentError, read_document
from tests.fuzz.draw import Draw, Json
from tests.fuzz.planting import PLANTED

FILES = frozenset({"src/app.py", "src/with space.py", "a/b.py", "README.md"})
PARSER_MODULES = (findings, issues, report, sarif, verdict)
"""Imported here by name, for the registry would import them too late to be watched by the fuzzer."""

Parse = Callable[[ContractName, bytes], Answer]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_DENIAL = re.compile(
    r"\b(?:no|none|not|nothing|zero|0|without|clean|nil|n/a|never|free|empty)\b|✅|✔|0"
    r"|\b(?:fixed|resolved|addressed|closed|done|verified)\b",  # what stands beside each finding that is settled
    re.IGNORECASE,
)


class BrokenPromiseError(Exception):
    """A parser kept its form but not its word: a false clean, an unconfined path, a position that is wrong."""


def in_repository(path: str) -> bool:
    return path in FILES


def parse_in_repository(contract: ContractName, raw: bytes) -> Answer:
    return read_answer(contract, raw, in_repository)


def check_contract(contract: ContractName, data: bytes, parse: Parse = parse_in_repository) -> None:
    """Parse the bytes as they are, and a document with a planted fault that is made from them."""
    _check_raw(contract, data, parse)
    planted = PLANTED[contract](Draw(data))
    try:
        answer = parse(contract, planted)
    except UnreadableError:
        return
    _check_answer(answer)
    if answer.clean:
        raise BrokenPromiseError(f"A planted fault was called clean:\n{planted.decode()}")


def _check_raw(contract: ContractName, data: bytes, parse: Parse) -> None:
    try:
        answer = parse(contract, data)
    except UnreadableError:
        return
    _check_answer(answer)
    if answer.clean and not _may_be_clean(contract, decode(data)):
        raise BrokenPromiseError("A second reading says that this is not clean.")


def _check_answer(answer: Answer) -> None:
    msgspec.json.encode(answer)  # it will be stored
    for finding in answer.findings:
        if not finding.title:
            raise BrokenPromiseError("A finding has no title.")
        for location in (finding.location, *finding.also_at):
            if location is not None:
                _check_confined(location.file)


def _may_be_clean(contract: ContractName, text: str) -> bool:
    """A second reading that knows less: False only where the text surely says that something is wrong."""
    if contract is ContractName.FINDINGS:
        return _DENIAL.search(text) is not None
    try:
        found: Json = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return True  # an answer among other text is beyond this reading
    if not isinstance(found, dict) or "type" in found:
        return True
    return _OBJECTS[contract](found)


def _clean_report(answer: dict[str, Any]) -> bool:
    return answer["blocking_issues"] == [] and answer["status"].strip().lower() == "pass"


def _clean_log(answer: dict[str, Any]) -> bool:
    """Only results that say why they do not count may stand in a clean log."""
    results: list[dict[str, Any]] = [result for run in answer["runs"] for result in run["results"]]
    return all({"kind", "suppressions", "baselineState"} & result.keys() for result in results)


_OBJECTS: dict[ContractName, Callable[[dict[str, Any]], bool]] = {
    ContractName.ISSUES: lambda answer: answer["issues"] == [],
    ContractName.VERDICT: lambda answer: answer["verdict"] == "pass",
    ContractName.REPORT: _clean_report,
    ContractName.SARIF: _clean_log,
}


def check_text(data: bytes) -> None:
    """Decoded text is never blank, holds no control characters, and is left alone when decoded again."""
    try:
        text = decode(data)
    except UnreadableError:
        return
    if not text.strip() or _CONTROL.search(text):
        raise BrokenPromiseError(f"The text is blank or holds control characters: {text!r}")
    if decode(text.encode()) != text:
        raise BrokenPromiseError("Decoding twice is not the same as decoding once.")


def check_path(data: bytes) -> None:
    """Whatever is named, what comes back lies inside the repository."""
    path = confine(data.decode("utf-8", errors="replace"), in_repository)
    if path is not None:
        _check_confined(path)


def _check_confined(path: str) -> None:
    whole = posixpath.normpath(posixpath.join("/repository", path))
    if not whole.startswith("/repository/") or ".." in path.split("/") or _CONTROL.search(path) or "\n" in path:
        raise BrokenPromiseError(f"The path is not confined: {path!r}")


def check_document(data: bytes) -> None:
    """Every key of a document that can be read has a line, and no key that is not there has one."""
    try:
        document = read_document(data, "fuzzed.toml")
    except DocumentError:
        return
    paths = set(_paths(dict(document.values), ()))
    if differing := paths.symmetric_difference(document.places):
        raise BrokenPromiseError(f"Keys and places differ: {differing}")
    last = data.count(b"\n") + 1
    if any(not 1 <= (place.line or 0) <= last for place in document.places.values()):
        raise BrokenPromiseError(f"A line is outside the document: {document.places}")


def _paths(value: Json, path: KeyPath) -> Iterator[KeyPath]:
    if path:
        yield path
    match value:
        case dict():
            for key, member in value.items():
                yield from _paths(member, (*path, key))
        case list():
            for index, member in enumerate(value):
                yield from _paths(member, (*path, index))
        case _:
            pass


def check_event(data: bytes) -> None:
    """An event is read or refused, and one that was read survives being written."""
    try:
        event = events.decode(data)
    except events.UnknownEventError:
        return
    if events.decode(events.encode(event)) != event:
        raise BrokenPromiseError(f"The event changes when it is written and read: {event}")
