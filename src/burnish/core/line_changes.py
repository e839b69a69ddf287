"""Where lines go when files change.

A finding is made on one tree and asked about on a later one: did the fix touch its lines, and if not, where are they
now? The answer comes from the difference of both trees alone, as git prints it with no context (`-U0 -M`). Nothing
here reads a diff or guesses from the text of a line: what was not changed is known exactly, everything else is
touched.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from itertools import accumulate

from burnish.core.findings import Location
from burnish.core.values import Value


class Hunk(Value):
    """Some old lines replaced by some new ones, in git's convention.

    With `old_lines == 0` the new lines were inserted AFTER the old line `old_start`; with `new_lines == 0` the old
    ones were deleted.
    """

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int

    @property
    def last_old_line(self) -> int:
        """The last line that is replaced; of an insertion, the line that it follows."""
        return self.old_start + max(self.old_lines - 1, 0)

    def touches(self, first: int, last: int) -> bool:
        """Whether a line of the range is replaced or deleted, or a line is inserted between two of its lines."""
        if self.old_lines:
            return self.old_start <= last and first <= self.last_old_line
        return first <= self.old_start < last


class FileChange(Value):
    """How one file of the old tree changed. A file that is not named did not."""

    path: str
    new_path: str | None
    """Its path in the new tree: the same where it was not renamed, None where it was deleted."""
    hunks: tuple[Hunk, ...] = ()
    whole: bool = False
    """Every line counts as changed: a binary file, or a change whose lines are not known."""


class _FileDrift:
    """The hunks of one file, in order, and how far each of them shifts the lines after it."""

    def __init__(self, change: FileChange) -> None:
        self.new_path = None if change.whole else change.new_path
        self._hunks = sorted(change.hunks, key=lambda hunk: (hunk.last_old_line, hunk.old_start))
        self._ends = [hunk.last_old_line for hunk in self._hunks]
        self._shifts = list(accumulate((hunk.new_lines - hunk.old_lines for hunk in self._hunks), initial=0))

    def follow(self, location: Location) -> Location | None:
        if self.new_path is None:
            return None
        if location.line is None:
            return None if self._hunks else Location(file=self.new_path)
        first, last = location.line, max(location.line, location.last_line or 0)
        before = bisect_left(self._ends, first)
        # Hunks are apart from each other: where the first that does not end above the range leaves it alone, all do.
        if any(hunk.touches(first, last) for hunk in self._hunks[before : before + 1]):
            return None
        shift = self._shifts[before]
        end_line = None if location.end_line is None else last + shift
        return Location(file=self.new_path, line=first + shift, end_line=end_line)


class Drift:
    """The changes between two trees, indexed by path, so that following many locations is cheap."""

    def __init__(self, changes: Iterable[FileChange]) -> None:
        by_path: dict[str, FileChange] = {}
        for change in changes:
            # A copy is listed beside the file itself. The lines of the file are where they were.
            if change.path not in by_path or change.new_path == change.path:
                by_path[change.path] = change
        self._files = {path: _FileDrift(change) for path, change in by_path.items()}

    def follow(self, location: Location) -> Location | None:
        """Where the lines of a location are in the new tree; None where one was touched, or another came between.

        Without lines, the whole file is meant.
        """
        file = self._files.get(location.file)
        return location if file is None else file.follow(location)


def origins(changes: Iterable[FileChange]) -> Mapping[str, str]:
    """The old path of each renamed file, by its new one: what `identify` takes as `origin`."""
    return {
        change.new_path: change.path
        for change in changes
        if change.new_path is not None and change.new_path != change.path
    }
