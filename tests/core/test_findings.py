"""Severities, places and counts of findings; errors that a user may see."""

import pytest

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.findings import Counts, Location, Severity, count
from burnish.core.reviews import Answer, Failure, FailureKind, Usage
from burnish.core.state import AnsweredReview, FailedReview, ReviewStatus
from tests.core.driving import CLEAN, found, problem


def test_severities_are_ranked_from_the_worst() -> None:
    assert [severity.rank for severity in Severity] == [0, 1, 2, 3, 4]
    assert Severity.worst([Severity.LOW, Severity.CRITICAL, Severity.HIGH]) is Severity.CRITICAL
    assert Severity.worst([Severity.INFO]) is Severity.INFO


@pytest.mark.parametrize(
    ("one", "threshold", "expected"),
    [
        (Severity.HIGH, Severity.HIGH, True),
        (Severity.CRITICAL, Severity.HIGH, True),
        (Severity.MEDIUM, Severity.HIGH, False),
    ],
)
def test_at_least_includes_the_threshold(one: Severity, threshold: Severity, expected: bool) -> None:
    assert one.at_least(threshold) is expected


def lines(first: int | None, last: int | None = None, file: str = "a.py") -> Location:
    return Location(file=file, line=first, end_line=last)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        (lines(1, 3), lines(3, 5), True),
        (lines(1, 3), lines(4, 5), False),
        (lines(1, 9), lines(4, 5), True),
        (lines(4), lines(4), True),
        (lines(4), lines(5), False),
        (lines(4), lines(None), True),
        (lines(None), lines(None), True),
        (lines(4), lines(4, file="b.py"), False),
        (lines(None), lines(None, file="b.py"), False),
        (lines(None, 3), lines(4, 5), True),
    ],
)
def test_places_overlap_where_they_share_a_line(one: Location, other: Location, overlap: bool) -> None:
    assert one.overlaps(other) is overlap
    assert other.overlaps(one) is overlap


def test_a_single_line_is_its_own_last_line() -> None:
    assert (lines(4).last_line, lines(4, 9).last_line, lines(None).last_line) == (4, 9, None)


def test_counts_are_made_from_the_findings() -> None:
    findings = [problem(severity=severity) for rank, severity in enumerate(Severity) for _ in range(rank + 1)]
    counts = count(findings)
    assert counts == Counts(critical=1, high=2, medium=3, low=4, info=5)
    assert counts.total == 15
    assert count([]).total == 0


def test_usage_is_added_field_by_field() -> None:
    total = Usage(seconds=1, tokens=2, cost_usd=3).plus(Usage(seconds=10, tokens=20, cost_usd=30))
    assert total == Usage(seconds=11, tokens=22, cost_usd=33)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (CLEAN, ReviewStatus.CLEAN),
        (Answer(clean=False), ReviewStatus.FINDINGS),
        (found(problem()), ReviewStatus.FINDINGS),
        (Answer(clean=True, findings=(problem(),)), ReviewStatus.FINDINGS),
    ],
)
def test_a_review_is_clean_only_where_nothing_was_reported(answer: Answer, status: ReviewStatus) -> None:
    review = AnsweredReview(reviewer="critic", agent="x", answer=answer, started_at=0, finished_at=1, looked=True)
    assert review.status is status
    assert review.counts.high == len(answer.findings)


def test_a_missing_review_did_not_run_and_counts_nothing() -> None:
    missing = FailedReview(reviewer="critic", failure=Failure(kind=FailureKind.STUCK, message="x"))
    assert (missing.status, missing.counts) == (ReviewStatus.DID_NOT_RUN, Counts())


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (ErrorKind.USAGE, 2),
        (ErrorKind.CONFIGURATION, 2),
        (ErrorKind.UNREADABLE, 4),
        (ErrorKind.INFRASTRUCTURE, 4),
    ],
)
def test_every_kind_of_error_has_its_exit_code(kind: ErrorKind, code: int) -> None:
    assert kind.exit_code == code


def test_an_error_has_a_message_and_a_hint() -> None:
    error = BurnishError("It broke.", hint="Mend it.")
    assert (str(error), error.message, error.hint, error.kind) == (
        "It broke.",
        "It broke.",
        "Mend it.",
        ErrorKind.INFRASTRUCTURE,
    )
    assert BurnishError("It broke.").hint == ""
