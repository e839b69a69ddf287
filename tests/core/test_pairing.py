"""Which findings of one file are compared at all: what overlaps and shares a class or enough rare words."""

from collections.abc import Sequence

from burnish.core.finding_likeness import NEARBY, features_of
from burnish.core.finding_merging import candidates
from burnish.core.findings import Finding, Location, Severity

CLASSES = {"S110": "swallowed", "BLE001": "swallowed"}


def at(first: int | None, last: int | None, title: str, rule: str = "", problem: str = "") -> Finding:
    location = Location(file="a.py", line=first, end_line=last)
    kind = CLASSES.get(rule, "")
    return Finding(
        severity=Severity.HIGH, title=title, rule=rule, problem_class=kind, problem=problem, location=location
    )


def compared(findings: Sequence[Finding]) -> list[tuple[int, int]]:
    return candidates([features_of(finding) for finding in findings])


def test_the_smaller_index_comes_first_whichever_line_does() -> None:
    assert compared([at(20, 30, "leak"), at(10, 25, "leak")]) == [(0, 1)]
    assert compared([at(10, 25, "leak"), at(20, 30, "leak")]) == [(0, 1)]


def test_lines_that_do_not_overlap_are_not_compared() -> None:
    assert compared([at(20, 30, "leak"), at(1, 5, "leak")]) == []
    assert compared([at(1, 5, "leak"), at(20, 30, "leak")]) == []
    assert compared([at(1, 5, "leak"), at(5, 9, "leak"), at(9, 9, "leak")]) == [(0, 1), (1, 2)]
    assert compared([at(1, 5, "leak"), at(5 + NEARBY, 9, "leak")]) == [(0, 1)]
    assert compared([at(1, 5, "leak"), at(6 + NEARBY, 9, "leak")]) == []


def test_a_finding_without_lines_meets_every_other() -> None:
    assert compared([at(None, None, "leak"), at(7, 7, "leak"), at(90, 90, "leak")]) == [(0, 1), (0, 2)]


def test_rules_of_one_class_meet_where_both_have_lines() -> None:
    assert compared([at(3, 3, "one", "S110"), at(3, 3, "other", "BLE001")]) == [(0, 1)]
    assert compared([at(None, None, "one", "S110"), at(3, 3, "other", "BLE001")]) == []
    assert compared([at(None, None, "one", "S110"), at(None, None, "other", "BLE001")]) == []


def test_what_has_no_word_in_common_is_not_compared() -> None:
    assert compared([at(1, 1, "uncle umpire"), at(1, 1, "vicar vector"), at(1, 1, "umpire window")]) == [(0, 2)]


def test_alike_problems_meet_whatever_their_titles_are() -> None:
    one = at(1, 1, "first", problem="the handle is never closed")
    other = at(1, 1, "second", problem="the handle never closed again")
    assert compared([one, other]) == [(0, 1)]


def test_nothing_is_compared_with_nothing() -> None:
    assert compared([]) == []
    assert compared([at(1, 1, "leak")]) == []
