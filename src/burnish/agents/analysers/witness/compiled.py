"""What a runner compiled, and which lines of it ran, from what go and cargo leave behind."""

import re
from collections.abc import Iterable

from burnish.agents.analysers.witness.values import FileLines

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
