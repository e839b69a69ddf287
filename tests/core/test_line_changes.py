"""Where lines go when files change."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.findings import Location
from burnish.core.line_changes import Drift, FileChange, Hunk, origins


def hunk(old_start: int, old_lines: int, new_lines: int) -> Hunk:
    return Hunk(old_start=old_start, old_lines=old_lines, new_start=1, new_lines=new_lines)


def change(*hunks: Hunk, new_path: str | None = "a.py", whole: bool = False) -> FileChange:
    return FileChange(path="a.py", new_path=new_path, hunks=hunks, whole=whole)


def at(line: int | None, end_line: int | None = None, file: str = "a.py") -> Location:
    return Location(file=file, line=line, end_line=end_line)


def follow(location: Location, changes: list[FileChange]) -> Location | None:
    return Drift(changes).follow(location)


@pytest.mark.parametrize(
    ("edit", "now"),
    [
        (hunk(3, 0, 2), at(12, 14)),
        (hunk(9, 0, 2), at(12, 14)),
        (hunk(0, 0, 1), at(11, 13)),
        (hunk(8, 2, 0), at(8, 10)),
        (hunk(8, 2, 5), at(13, 15)),
        (hunk(12, 0, 2), at(10, 12)),
        (hunk(13, 1, 0), at(10, 12)),
        (hunk(10, 0, 1), None),
        (hunk(11, 0, 1), None),
        (hunk(10, 1, 1), None),
        (hunk(12, 5, 0), None),
        (hunk(1, 10, 3), None),
        (hunk(1, 50, 50), None),
    ],
)
def test_a_range_of_three_lines_against_one_edit(edit: Hunk, now: Location | None) -> None:
    assert follow(at(10, 12), [change(edit)]) == now


def test_an_insertion_around_a_single_line_only_shifts_it() -> None:
    assert follow(at(10), [change(hunk(9, 0, 1), hunk(10, 0, 1))]) == at(11)


def test_hunks_in_any_order_are_the_same_change() -> None:
    hunks = (hunk(20, 1, 1), hunk(2, 0, 3), hunk(5, 2, 0))
    assert follow(at(10), [change(*hunks)]) == at(11)
    assert follow(at(18, 20), [change(*hunks)]) is None


def test_a_file_that_is_not_named_did_not_change() -> None:
    assert follow(at(10, file="b.py"), [change(hunk(1, 1, 0))]) == at(10, file="b.py")


def test_a_rename_moves_the_path_and_the_lines() -> None:
    renamed = change(hunk(1, 0, 4), new_path="b.py")
    assert follow(at(10), [renamed]) == at(14, file="b.py")
    assert follow(at(None), [renamed]) is None
    assert follow(at(None), [change(new_path="b.py")]) == at(None, file="b.py")


@pytest.mark.parametrize("gone", [change(new_path=None), change(whole=True), change(new_path="b.py", whole=True)])
@pytest.mark.parametrize("location", [at(None), at(1), at(1, 5)])
def test_a_deleted_file_or_one_whose_lines_are_unknown_is_touched(gone: FileChange, location: Location) -> None:
    assert follow(location, [gone]) is None


def test_a_finding_about_a_whole_file_is_touched_by_any_hunk() -> None:
    assert follow(at(None), [change(hunk(99, 0, 1))]) is None


@pytest.mark.parametrize("order", [1, -1])
def test_a_copy_does_not_take_the_lines_along(order: int) -> None:
    copied, changed = change(new_path="copy.py"), change(hunk(1, 0, 1))
    assert Drift([copied, changed][::order]).follow(at(10)) == at(11)


def test_a_range_that_ends_before_it_starts_means_its_first_line() -> None:
    assert follow(at(10, 3), [change(hunk(5, 1, 2))]) == at(11, 11)


def test_origins_are_the_old_paths_of_renamed_files_only() -> None:
    changes = [
        change(new_path="b.py"),
        FileChange(path="c.py", new_path="c.py"),
        FileChange(path="d.py", new_path=None),
    ]
    assert origins(changes) == {"b.py": "a.py"}


def hunks_between(old: list[int], new: list[int]) -> tuple[Hunk, ...]:
    """The difference of two files in git's convention: an empty side names the line before it."""
    edits = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(
        Hunk(old_start=i + (j > i), old_lines=j - i, new_start=k + (m > k), new_lines=m - k)
        for kind, i, j, k, m in edits
        if kind != "equal"
    )


@st.composite
def edited_files(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A file of distinct lines, and the same file after some of them were replaced, deleted or joined by new ones."""
    old = list(range(1, draw(st.integers(1, 14)) + 1))
    new: list[int] = []
    fresh = iter(range(100, 1000))
    for line in old:
        new += [next(fresh) for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2])))]
        match draw(st.sampled_from(["keep", "keep", "keep", "delete", "replace"])):
            case "keep":
                new.append(line)
            case "replace":
                new.append(next(fresh))
            case _:
                pass
    new += [next(fresh) for _ in range(draw(st.integers(0, 2)))]
    return old, new


@given(edited_files())
def test_every_range_of_an_edited_file_is_where_its_lines_are(files: tuple[list[int], list[int]]) -> None:
    old, new = files
    drift = Drift([change(*hunks_between(old, new))])
    for first in old:
        for last in range(first, len(old) + 1):
            lines = old[first - 1 : last]
            start = new.index(first) if first in new else -1
            together = start >= 0 and new[start : start + len(lines)] == lines
            now = at(start + 1, start + len(lines))
            assert drift.follow(at(first, last)) == (now if together else None)
