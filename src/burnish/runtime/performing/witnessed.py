"""What the witness must know of a change: its lines, its new names, and what it took away."""

import re
from functools import cached_property

from burnish.agents.analysers.witness.findings import Change
from burnish.agents.analysers.witness.pythons import is_test_file
from burnish.agents.analysers.witness.uncovered import can_be_measured
from burnish.workspace.diffs import changes, difference
from burnish.workspace.repository import Repository

MOST_MEASURED = 500
"""Files whose lines are measured."""
_DEPENDENCIES = re.compile(
    r"(?:.*/)?(?:pyproject\.toml|setup\.(?:py|cfg)|[^/]*requirements[^/]*\.(?:txt|in)|Pipfile|[^/]+\.lock|environment\.ya?ml)"
)
_WORD = re.compile(r"\w+")


class Witnessed:
    """A change, from the commit where it left its base to its head."""

    def __init__(self, repository: Repository, base_commit: str, head_commit: str) -> None:
        self._repository = repository
        self._shown = difference(repository, base_commit, head_commit)
        self.base = self._shown.merge_base
        self.head = head_commit
        self.files = repository.files(head_commit)

    @property
    def renames(self) -> dict[str, str]:
        return {file.old_path: file.path for file in self._shown.files if file.status == "R"}

    @cached_property
    def lines(self) -> dict[str, set[int]]:
        """The new lines of changed files in which a test could be missed."""
        whole = {file.path: set(range(1, file.added + 1)) for file in self._shown.files if file.status == "A"}
        edited = {
            change.new_path: {
                line for hunk in change.hunks for line in range(hunk.new_start, hunk.new_start + hunk.new_lines)
            }
            for change in changes(self._repository, self.base, self.head)
            if change.new_path is not None
        }
        found = {path: lines for path, lines in {**edited, **whole}.items() if lines and can_be_measured(path)}
        return dict(sorted(found.items())[:MOST_MEASURED])

    def change(self) -> Change:
        return Change(
            dependencies=any(_DEPENDENCIES.fullmatch(file.path) for file in self._shown.files),
            deleted_with_code=frozenset(self._deleted_with_code()),
        )

    def _deleted_with_code(self) -> list[str]:
        """Deleted tests that name a module which is deleted, too."""
        deleted = [file.path for file in self._shown.files if file.status == "D"]
        modules = {path.rpartition("/")[2].partition(".")[0] for path in deleted if not is_test_file(path)}
        return [path for path in deleted if is_test_file(path) and modules & self._words(path)]

    def _words(self, path: str) -> set[str]:
        content = self._repository.read_file(self.base, path) or b""
        return set(_WORD.findall(content.decode("utf-8", errors="replace")))
