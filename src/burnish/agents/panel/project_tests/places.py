"""Where a failure happened: the file and line of the repository that its output names."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from burnish.agents.panel.project_tests.values import Case, Framework
from burnish.contracts.paths import confine
from burnish.core.findings import Location

IsFile = Callable[[str], bool]

# Each run of characters is looked at once: a text made to be slow is as quick as any other.
_PLACE = re.compile(
    r"""File\ "(?P<quoted>[^"\n]{1,1000}+)",\ line\ (?P<at>\d+)              # a traceback of Python
      | (?:file://|(?<![\w@+./-]))(?P<path>[\w@+./-]++):(?P<line>\d+)   # nearly everybody else
    """,
    re.VERBOSE,
)
_OUTERMOST_FIRST = frozenset({Framework.PYTEST, Framework.UNITTEST, Framework.COMMAND})


class Tree(NamedTuple):
    """The tree that was tested."""

    root: str
    """As the tests saw it."""
    is_file: IsFile
    project: str = ""
    """The folder in which they ran: what they name is named from there, or from the root."""
    text: Callable[[str], str] = lambda _: ""
    """The text of a file."""

    def source(self, place: Location) -> str:
        """A line with its place, as compilers print them; empty where there is none."""
        lines = self.text(place.file).splitlines() if place.line else []
        found = lines[place.line - 1].strip() if place.line and place.line <= len(lines) else ""
        return f"{place.file}:{place.line}: {found}" if found else ""


def place_of(case: Case, framework: Framework, tree: Tree) -> Location | None:
    """The line of the repository closest to the failure; else where the test itself is."""
    named = list(_named(case, tree))
    if named:
        return named[-1 if framework in _OUTERMOST_FIRST else 0]
    file = _inside(case.file, tree)
    return Location(file=file, line=case.line) if file else None


def _named(case: Case, tree: Tree) -> Iterator[Location]:
    for match in _PLACE.finditer(case.text):
        path = match["quoted"] or match["path"]
        file = (_inside(f"{case.folder}/{path}", tree) if case.folder else None) or _inside(path, tree)
        line = int((match["at"] or match["line"])[:9])
        if file and line:
            yield Location(file=file, line=line)


def _inside(path: str, tree: Tree) -> str | None:
    """A path of the repository. An absolute one must be of this very copy: others are of libraries."""
    inner = path.removeprefix(f"{tree.root}/")
    if not inner or inner.startswith("/"):
        return None
    for name in (f"{tree.project}/{inner}", inner) if tree.project else (inner,):
        confined = confine(name, tree.is_file)
        if confined and tree.is_file(confined):
            return confined
    return None
