"""A floor for coverage: only a report that the commands wrote, and that can be read, reaches it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.runtime.validation import check_coverage, stamps

GOOD = '{"totals": {"percent_covered": 90}}'


def written(content: str, name: str = "coverage.json") -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_text(content)

    return write


def nothing(folder: Path) -> None:
    pass


def link(folder: Path) -> None:
    (folder / "elsewhere.json").write_text(GOOD)
    (folder / "coverage.json").symlink_to("elsewhere.json")


def linked_folder(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "lcov.info").write_text("LF:10\nLH:10\n")
    (folder / "coverage").symlink_to("elsewhere")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "coverage.json")


def directory(folder: Path) -> None:
    (folder / "coverage.json").mkdir()


def good_and_broken(folder: Path) -> None:
    (folder / "coverage.json").write_text(GOOD)
    (folder / "lcov.info").write_text("LF:ten\n")


NOT_MEASURED: dict[str, Callable[[Path], None]] = {
    "nothing": nothing,
    "NaN": written('{"totals": {"percent_covered": NaN}}'),
    "NaN in XML": written('<coverage line-rate="NaN">', "coverage.xml"),
    "infinite": written('{"totals": {"percent_covered": 1e999}}'),
    "above 100": written('{"totals": {"percent_covered": 101}}'),
    "below 0": written('{"totals": {"percent_covered": -1}}'),
    "no number": written('{"totals": {"percent_covered": "90"}}'),
    "null": written('{"totals": {"percent_covered": null}}'),
    "cut": written('{"totals": {"percent_covered": 90'),
    "empty": written(""),
    "no lines": written("LF:0\nLH:0\n", "lcov.info"),
    "link": link,
    "link of a folder": linked_folder,
    "pipe": pipe,
    "directory": directory,
    "one good, one broken": good_and_broken,
}


@pytest.mark.parametrize("name", NOT_MEASURED)
def test_what_was_not_measured_does_not_reach_the_floor(name: str, tmp_path: Path) -> None:
    before = stamps(tmp_path)
    NOT_MEASURED[name](tmp_path)
    verdict = check_coverage(tmp_path, before, 0.0)
    assert verdict.fails
    assert verdict.words.startswith("Coverage: not measured, though the floor is 0 %: ")
    assert verdict.words.endswith("or remove coverage_floor.")


def test_a_report_that_was_there_before_was_not_measured(tmp_path: Path) -> None:
    written(GOOD)(tmp_path)
    assert check_coverage(tmp_path, stamps(tmp_path), 80).fails


def test_a_report_that_the_commands_wrote_counts(tmp_path: Path) -> None:
    written('{"totals": {"percent_covered": 1}}')(tmp_path)
    before = stamps(tmp_path)
    (tmp_path / "coverage.json").unlink()
    written(GOOD)(tmp_path)
    assert not check_coverage(tmp_path, before, 90).fails
    assert check_coverage(tmp_path, before, 90.1).fails


def test_without_a_floor_nothing_is_said(tmp_path: Path) -> None:
    assert check_coverage(tmp_path, stamps(tmp_path), None).words == ""
