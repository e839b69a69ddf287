"""What the check `tests` must know of a change: its lines, its tests as they were, and what it did to them."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from burnish.agents.panel.project_tests.findings import DependencyChange
from burnish.agents.panel.project_tests.former_tests import EditedTestFile
from burnish.agents.panel.project_tests.projects import can_be_reached, is_test, language_of, steers_tests
from burnish.agents.panel.project_tests.silenced import EditedSource, is_emptied
from burnish.agents.panel.project_tests.uncovered import can_be_measured
from burnish.agents.project_copies import MANIFESTS
from burnish.core.line_changes import FileChange
from burnish.workspace.diffs import ChangedFile, changes, difference
from burnish.workspace.messages import commit_messages
from burnish.workspace.repository import Repository
from burnish.workspace.slices import tree_files
from burnish.workspace.views import NODE_LOCKS, PYTHON_LOCKS

MOST_MEASURED = 500
"""Files whose lines are measured."""
MOST_BYTES = 1_000_000
MOST_READ = 2_000
"""Files that are read where names must tell what tests reach."""
_DEPENDENCIES = re.compile(
    r"(?:.*/)?(?:pyproject\.toml|setup\.(?:py|cfg)|[^/]*requirements[^/]*\.(?:txt|in)|Pipfile|[^/]+\.lock|environment\.ya?ml)"
)
_PYTEST_TABLE = re.compile(r"^\[(?:tool\.pytest|tool:pytest|pytest)[^\]]*\].*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
_DECIDING = frozenset((*MANIFESTS, *NODE_LOCKS, *PYTHON_LOCKS, "Makefile", "makefile", "GNUmakefile", "noxfile.py"))
_PACKAGE_KEYS = ("scripts", "jest", "vitest", "mocha", "ava", "tap", "nyc", "c8")


class ChangeUnderTest:
    """A change, from the commit where it left its base to its head."""

    def __init__(self, repository: Repository, base_commit: str, head_commit: str, paths: Sequence[str] = ()) -> None:
        self._repository = repository
        self._shown = difference(repository, base_commit, head_commit, paths)
        self.base = self._shown.merge_base
        self.head = head_commit
        self.files = repository.files(head_commit)

    @cached_property
    def base_files(self) -> frozenset[str]:
        return self._repository.files(self.base)

    @property
    def changed(self) -> tuple[ChangedFile, ...]:
        return self._shown.files

    @cached_property
    def reachable(self) -> tuple[ChangedFile, ...]:
        """The changed files that tests may see."""
        return tuple(file for file in self.changed if can_be_reached(file.path) and not file.is_submodule)

    @property
    def renames(self) -> dict[str, str]:
        return {file.old_path: file.path for file in self.changed if file.status == "R"}

    @cached_property
    def moves(self) -> dict[str, FileChange]:
        """How the lines of each changed file of the base moved, by its path there."""
        return {change.path: change for change in changes(self._repository, self.base, self.head)}

    @cached_property
    def new_lines(self) -> dict[str, set[int]]:
        """The new lines of every changed file that is still there; none, where lines only went."""
        whole = {file.path: set(range(1, file.added + 1)) for file in self.changed if file.status == "A"}
        edited = {
            change.new_path: {
                line for hunk in change.hunks for line in range(hunk.new_start, hunk.new_start + hunk.new_lines)
            }
            for change in self.moves.values()
            if change.new_path is not None
        }
        return {**edited, **whole}

    @cached_property
    def lines(self) -> dict[str, set[int]]:
        """The new lines of changed files in which a test could be missed."""
        found = {path: lines for path, lines in self.new_lines.items() if lines and can_be_measured(path)}
        return dict(sorted(found.items())[:MOST_MEASURED])

    def change(self) -> DependencyChange:
        return DependencyChange(dependencies=any(_DEPENDENCIES.fullmatch(file.path) for file in self.changed))

    @cached_property
    def edits(self) -> dict[str, EditedTestFile]:
        """Tests that the change edits, moves or deletes, and edits of what steers tests: by the path of the base."""
        found: dict[str, EditedTestFile] = {}
        for file in self.changed:
            known = file.status != "A"
            if file.is_submodule or file.binary or not (steers_tests(file.path) or (known and is_test(file.old_path))):
                continue
            before = self.text(self.base, file.old_path) if known else ""
            now = self.text(self.head, file.path) if file.status != "D" else ""
            if is_test(file.old_path) or _steering(file.path, before) != _steering(file.path, now):
                found[file.old_path] = EditedTestFile(path=file.path, before=before, now=now)
        return found

    @cached_property
    def keeps_plans(self) -> bool:
        """Whether how the project is tested cannot depend on the change: it is found out from names and manifests."""
        return not any(
            steers_tests(path) or path.rpartition("/")[2] in _DECIDING or _DEPENDENCIES.fullmatch(path)
            for file in self.changed
            for path in (file.old_path, file.path)
        ) and not any(
            file.status != "M" and is_test(path) for file in self.changed for path in (file.old_path, file.path)
        )

    def tree(self, commit: str) -> str:
        return self._repository.tree_of(commit)

    def small_texts(self, paths: Iterable[str]) -> dict[str, str]:
        """Files of the change that are not too large to be looked through."""
        files = tree_files(self._repository, self.head, paths, MOST_BYTES)
        return {file.path: file.content.decode("utf-8", errors="replace") for file in files if file.content is not None}

    def empties(self, name: str) -> bool:
        """Whether a test of the base is still there, and does nothing any more."""
        edit = self.edits.get(name.partition("::")[0])
        return bool(edit and edit.path.endswith(".py") and is_emptied(edit.before, edit.now, name))

    def text(self, commit: str, path: str) -> str:
        return (self.content(commit, path) or b"").decode("utf-8", errors="replace")

    def content(self, commit: str, path: str) -> bytes | None:
        return self._repository.read_file(commit, path)

    @cached_property
    def messages(self) -> tuple[str, ...]:
        """What the author wrote into the commits of the change."""
        return commit_messages(self._repository, self.base, self.head)

    def sources(self, paths: Iterable[str]) -> dict[str, EditedSource]:
        """Files of the base that are still there, by their path in the base."""
        now = {path: self.moves[path].new_path if path in self.moves else path for path in paths}
        here = {path: new for path, new in now.items() if new is not None and new in self.files}
        before, after = self._texts(self.base, here), self._texts(self.head, here.values())
        return {
            path: EditedSource(path=new, before=before[path], now=after[new], change=self.moves.get(path))
            for path, new in here.items()
            if path in before and new in after
        }

    def texts(self, commit: str, paths: Iterable[str]) -> dict[str, str]:
        """Files of code in a commit, as far as they are few enough to be read."""
        return self._texts(commit, [path for path in sorted(paths) if language_of(path) is not None][:MOST_READ])

    def _texts(self, commit: str, paths: Iterable[str]) -> dict[str, str]:
        files = tree_files(self._repository, commit, paths, MOST_BYTES)
        return {file.path: (file.content or b"").decode("utf-8", errors="replace") for file in files}


def _steering(path: str, text: str) -> object:
    """What of a file steers tests, where it says other things, too."""
    name = path.rpartition("/")[2]
    if name in ("pyproject.toml", "setup.cfg", "tox.ini"):
        return _PYTEST_TABLE.findall(text)
    if name != "package.json":
        return text
    try:
        table = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return text
    return [bytes(table[key]) for key in _PACKAGE_KEYS if key in table]
