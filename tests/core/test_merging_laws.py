"""What merging promises for any findings, and that its cost stays bounded."""

from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.finding_identity import identify
from burnish.core.finding_likeness import RULE_SEPARATOR, features_of, likeness
from burnish.core.finding_merging import MAX_PAIRS, candidates, match_former, merge
from burnish.core.findings import Action, Finding, Location, Severity, sources_of

WORDS = ["leak", "race", "missing", "check", "`name`", "`age`", "null"]


def lines_of(file: str, line: int, length: int) -> Location:
    return Location(file=file, line=line, end_line=line + length if length else None)


files = st.sampled_from(["a.py", "b.py"])
locations = st.one_of(
    st.none(), st.builds(Location, file=files), st.builds(lines_of, files, st.integers(1, 6), st.integers(0, 4))
)
texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
findings = st.builds(
    Finding,
    severity=st.sampled_from(Severity),
    title=texts,
    id=st.sampled_from(["", "", "1", "2", "3"]),
    rule=st.sampled_from(["", "", "S1", "S2", "S3"]),
    problem_class=st.sampled_from(["", "class", "other"]),
    location=locations,
    also_at=st.lists(st.just(Location(file="c.py", line=1)), max_size=1).map(tuple),
    problem=texts,
    confidence=st.sampled_from([None, 0.2, 0.8]),
    action=st.sampled_from(Action),
    found_by=st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple),
    synthetic=st.booleans(),
)
rounds = st.lists(findings, max_size=8)


@given(rounds, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(given_findings: list[Finding], random: Random) -> None:
    shuffled = list(given_findings)
    random.shuffle(shuffled)
    assert merge(shuffled) == merge(given_findings)


@given(rounds)
def test_merging_a_result_changes_nothing(given_findings: list[Finding]) -> None:
    once = merge(given_findings)
    assert merge(once) == once


@given(rounds)
def test_nothing_is_lost(given_findings: list[Finding]) -> None:
    merged = merge(given_findings)
    for found in given_findings:
        assert any(covers(one, found) for one in merged)


def covers(one: Finding, found: Finding) -> bool:
    same_file = (one.location and one.location.file) == (found.location and found.location.file)
    rules = set(one.rule.split(RULE_SEPARATOR))
    return (
        same_file
        and one.severity.at_least(found.severity)
        and set(found.found_by) <= set(one.found_by)
        and set(found.also_at) <= {*one.also_at, one.location}
        and any(found.title == source.title and found.problem == source.problem for source in sources_of(one))
        and (not found.rule or found.rule in rules)
        and (one.confidence or 0) >= (found.confidence or 0)
    )


@given(rounds)
def test_a_model_that_lists_different_problems_keeps_them_all(given_findings: list[Finding]) -> None:
    listed = [
        Finding(severity=one.severity, title=one.title, location=one.location, problem=one.problem, found_by=("a",))
        for one in given_findings
    ]
    assert len(merge(listed)) == len(set(listed))


@given(rounds)
def test_no_pair_that_is_the_same_problem_is_overlooked(given_findings: list[Finding]) -> None:
    features = [features_of(one) for one in given_findings if one.location and one.location.file == "a.py"]
    related = [
        (i, j)
        for i, j in combinations(range(len(features)), 2)
        if features[i].finding.id != features[j].finding.id or not features[i].finding.id
        if likeness(features[i], features[j])
    ]
    assert set(related) <= set(candidates(features))


@given(rounds, rounds, st.randoms(use_true_random=False))
def test_matching_is_one_to_one_and_free_of_order(former: list[Finding], now: list[Finding], random: Random) -> None:
    before, after = identify(merge(former)), identify(merge(now))
    matched = match_former(before, after)
    assert len(set(matched.values())) == len(matched)
    assert set(matched) <= {one.id for one in before}
    assert set(matched.values()) <= {one.id for one in after}
    shuffled = list(after)
    random.shuffle(shuffled)
    assert match_former(before[::-1], shuffled) == matched


def crowd(size: int, *, line: int | None, rule: str) -> list[Finding]:
    return [
        Finding(
            severity=Severity.LOW,
            title=f"Missing check of field{number % 39}",
            problem=f"Nothing says what happens to field{number % 39} in case {number}",
            rule=rule,
            location=Location(file="a.py", line=line),
            found_by=("abcde"[number % 5],),
        )
        for number in range(size)
    ]


@pytest.mark.parametrize(("line", "rule"), [(None, ""), (7, "S1"), (7, "")])
def test_thousands_of_findings_in_one_place_are_compared_with_few(line: int | None, rule: str) -> None:
    size = 1_000
    features = [features_of(one) for one in crowd(size, line=line, rule=rule)]
    assert len(candidates(features)) <= MAX_PAIRS + size < size * (size - 1) // 4


def test_a_crowd_is_merged_the_same_in_any_order() -> None:
    found = crowd(200, line=None, rule="")
    merged = merge(found)
    assert merge(found[::-1]) == merged
    assert merge(merged) == merged
    assert len(merged) < len(found)
