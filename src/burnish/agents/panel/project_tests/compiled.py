"""What a runner compiled, and which lines of it ran, from what go, cargo and node leave behind."""

import re
from collections.abc import Iterable, Mapping

import msgspec

from burnish.agents.panel.project_tests.values import FileLines
from burnish.core.values import Value

_BLOCK = re.compile(r"^(?P<file>.+):(?P<first>\d+)\.\d+,(?P<last>\d+)\.\d+ \d+ (?P<count>\d+)$", re.MULTILINE)
_MODULE = re.compile(r'^module\s+"?([^\s"]+)', re.MULTILINE)


def listed_files(listing: str, root: str) -> frozenset[str]:
    """Files of the repository among those that `go list` names."""
    lines = (line for line in listing.splitlines() if line.startswith(f"{root}/"))
    return frozenset(line.removeprefix(f"{root}/") for line in lines)


def profile_lines(profile: str, go_mod: str, project: str) -> dict[str, FileLines]:
    """The lines of a profile of go: it names files by the path of their module."""
    module = _MODULE.search(go_mod)
    if module is None:
        return {}
    folder = f"{project}/" if project else ""
    statements: dict[str, set[int]] = {}
    executed: dict[str, set[int]] = {}
    for block in _BLOCK.finditer(profile):
        if not block["file"].startswith(f"{module[1]}/"):
            continue
        file = folder + block["file"].removeprefix(f"{module[1]}/")
        lines = range(int(block["first"][:7]), min(int(block["last"][:7]), int(block["first"][:7]) + 10_000) + 1)
        statements.setdefault(file, set()).update(lines)
        if block["count"].strip("0"):
            executed.setdefault(file, set()).update(lines)
    return {
        file: FileLines(statements=frozenset(lines), executed=frozenset(executed.get(file, ())))
        for file, lines in statements.items()
    }


def dependency_files(informations: Iterable[str], root: str, project: str) -> frozenset[str]:
    """Files of the repository that rustc read, from its dependency files: `output: source source`."""
    folder = f"{project}/" if project else ""
    found: set[str] = set()
    for text in informations:
        for line in text.splitlines():
            _, separator, sources = line.partition(": ")
            for name in re.split(r"(?<!\\) ", sources) if separator else ():
                path = name.replace("\\ ", " ").strip()
                if path.startswith(f"{root}/"):
                    found.add(path.removeprefix(f"{root}/"))
                elif path and not path.startswith("/"):
                    found.add(f"{folder}{path}")
    return frozenset(found)


class _Range(Value, forbid_unknown_fields=False, rename="camel"):
    start_offset: int
    end_offset: int
    count: int


class _Function(Value, forbid_unknown_fields=False):
    ranges: tuple[_Range, ...]


class _Script(Value, forbid_unknown_fields=False):
    url: str
    functions: tuple[_Function, ...] = ()


class _V8Report(Value, forbid_unknown_fields=False):
    result: tuple[_Script, ...]


def v8_lines(reports: Iterable[bytes], texts: Mapping[str, str], root: str) -> dict[str, FileLines]:
    """The lines of some files that ran in processes of node, from what V8 counted (NODE_V8_COVERAGE)."""
    executed: dict[str, set[int]] = {}
    for raw in reports:
        try:
            report = msgspec.json.decode(raw, type=_V8Report)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        for script in report.result:
            path = script.url.removeprefix("file://").removeprefix(f"{root}/")
            if path in texts and _is_source(script, texts[path]):
                executed.setdefault(path, set()).update(_run_lines(script, texts[path]))
    return {path: FileLines(statements=frozenset(lines), executed=frozenset(lines)) for path, lines in executed.items()}


def _is_source(script: _Script, text: str) -> bool:
    """Whether it is the file itself that ran: of code that was compiled to other code the places mean nothing."""
    return any(
        each.end_offset == len(text) and not each.start_offset for one in script.functions for each in one.ranges
    )


def _run_lines(script: _Script, text: str) -> set[int]:
    ran = bytearray(len(text))
    for function in script.functions:
        for each in function.ranges:  # an inner range comes after the one around it
            width = max(0, min(each.end_offset, len(text)) - each.start_offset)
            ran[each.start_offset : each.start_offset + width] = (b"\1" if each.count else b"\0") * width
    found: set[int] = set()
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if any(ran[start + at] for at, character in enumerate(line) if not character.isspace()):
            found.add(number)
        start += len(line) + 1
    return found
