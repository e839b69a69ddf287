"""When two findings speak of the same problem, and how alike they are then."""

import pytest

from burnish.core.finding_likeness import Likeness, features_of, likeness, same_problem
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import replace

CLASSES = {"S110": "swallowed", "BLE001": "swallowed"}


def said(title: str, first: int | None = 10, last: int | None = None, *, file: str = "a.py", rule: str = "") -> Finding:
    location = Location(file=file, line=first, end_line=last)
    kind = CLASSES.get(rule.partition(",")[0], "")
    return Finding(severity=Severity.HIGH, title=title, rule=rule, problem_class=kind, location=location)


def alike(one: Finding, other: Finding) -> Likeness | None:
    return likeness(features_of(one), features_of(other))


def test_one_problem_is_in_one_file() -> None:
    assert same_problem(said("leak"), said("leak"))
    assert not same_problem(said("leak"), said("leak", file="b.py"))
    known = replace(said("leak"), id="1")
    assert not same_problem(known, replace(known, location=Location(file="b.py", line=10)))


def test_one_id_is_one_problem_wherever_it_is_in_its_file() -> None:
    one, other = replace(said("leak"), id="1"), replace(said("race", 90), id="1")
    assert alike(one, other) == Likeness(relation=0, difference=0.0, distance=0)
    assert alike(replace(one, id=""), replace(other, id="")) is None


@pytest.mark.parametrize(("lines", "same"), [((10, 12), True), ((12, 20), True), ((13, 20), False), ((1, 9), False)])
def test_lines_must_overlap(lines: tuple[int, int], same: bool) -> None:
    assert same_problem(said("leak", 10, 12), said("leak", *lines)) is same
    assert same_problem(said("leak", *lines), said("leak", 10, 12)) is same


def test_a_rule_is_one_problem_whatever_its_words_are() -> None:
    assert alike(said("one", rule="S1"), said("other", rule="S1")) == Likeness(1, 1.0, 0)


def test_a_rule_that_names_other_code_is_another_problem() -> None:
    assert alike(said("`os` unused", rule="F401"), said("`sys` unused", rule="F401")) is None
    assert alike(said("`os` unused", rule="F401"), said("`os` imported", rule="F401")) is not None


def test_rules_of_one_class_are_one_problem_and_less_alike_than_one_rule() -> None:
    assert alike(said("one", rule="S110"), said("other", rule="BLE001")) == Likeness(2, 1.0, 0)
    assert alike(said("`a`", rule="S110"), said("`b`", rule="BLE001")) == Likeness(2, 1.0, 0)
    assert alike(said("one", rule="S110"), said("other", rule="BLE001, S110")) == Likeness(1, 1.0, 0)


def test_words_alone_are_the_weakest_likeness() -> None:
    assert alike(said("wrong tax"), said("tax wrong")) == Likeness(4, 0.0, 0)
    assert alike(said("handle leak"), said("leak handle")) == Likeness(3, 0.0, 0)
    assert alike(said("handle leak"), said("wrong sign")) is None


def test_one_sentence_about_two_things_is_two_problems() -> None:
    one, other = said("handle leak loader"), said("handle leak parser")
    assert alike(one, other) is None
    explained = replace(one, problem="never closed again"), replace(other, problem="never closed again")
    assert alike(*explained) is None


def test_a_problem_is_the_same_in_other_words() -> None:
    one = replace(said("Refunds can exceed the charge"), problem="refund() never compares amount with charge.amount.")
    assert same_problem(one, said("refund amount is not limited by the charge"))
    assert not same_problem(one, said("refund amount is not written down"))


def test_places_that_lie_apart_are_one_only_where_both_name_the_same_code() -> None:
    assert same_problem(said("`user` may be None", 10), said("Missing null check of user.email", 13))
    assert not same_problem(said("`user` may be None", 10), said("Missing null check of user.email", 14))
    assert not same_problem(said("It may be None", 10), said("Missing null check", 11))
    assert not same_problem(said("`os` unused", 10, rule="F401"), said("`os` unused", 11, rule="F401"))


def test_severities_far_apart_need_more_than_alike_words() -> None:
    one, other = said("Tax is rounded for every line"), said("Tax is rounded for every single line")
    assert same_problem(one, other)
    assert not same_problem(one, replace(other, severity=Severity.INFO))


def test_a_rule_about_a_whole_file_says_little() -> None:
    assert alike(said("one", None, rule="S1"), said("other", rule="S1")) is None


@pytest.mark.parametrize(("first", "last", "distance"), [(10, 12, 0), (9, 12, 1), (10, 15, 3), (8, 13, 3), (11, 11, 2)])
def test_the_distance_is_that_of_both_ends(first: int, last: int, distance: int) -> None:
    found = alike(said("leak", 10, 12), said("leak", first, last))
    assert found is not None
    assert found.distance == distance


def test_what_nobody_said_is_alike_in_its_words_only() -> None:
    silent = replace(said("The gate is not met"), synthetic=True)
    assert alike(silent, silent) is None
    assert alike(silent, replace(silent, synthetic=False)) is None


def test_who_found_it_and_what_it_covers() -> None:
    whole = features_of(said("leak", None))
    assert not whole.has_lines
    assert whole.reviewers == {""}
    assert features_of(replace(said("leak", 4, 2), found_by=("a", "b"))).reviewers == {"a", "b"}
    assert (features_of(said("leak", 4, 2)).first, features_of(said("leak", 4, 2)).last) == (4, 4)
    placeless = replace(said("leak"), location=None)
    assert features_of(placeless).file is None
