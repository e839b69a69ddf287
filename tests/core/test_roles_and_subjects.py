"""What the first event of a run says of its subject, and which seats of the panel are in use."""

import pytest

from burnish.core.events import Roles, Subject
from burnish.core.protocol import Reviewer, SeatKind
from burnish.core.values import replace
from burnish.core.work import Assignment
from tests.core.driving import PLAIN

SUBJECT = Subject(branch="topic", base="main", base_commit="b", head="h", tree="t")
TESTS = Reviewer(name="tests", kind=SeatKind.CHECK, scratch=True)
EXTRA = Reviewer(name="reader", kind=SeatKind.EXTRA)
CRITIC = Reviewer(name="critic")


@pytest.mark.parametrize(
    ("subject", "whole", "compared"),
    [
        (SUBJECT, True, "topic against main"),
        (replace(SUBJECT, paths=("a.py",)), False, "topic against main"),
        (replace(SUBJECT, as_is=True), False, "the files of topic as they are"),
        (replace(SUBJECT, as_is=True, paths=("a.py",)), False, "the files of topic as they are"),
        (replace(SUBJECT, imported=True), True, "topic against main"),
    ],
)
def test_only_a_whole_change_can_be_sealed(subject: Subject, *, whole: bool, compared: str) -> None:
    assert subject.is_whole_change is whole
    assert subject.compared == compared


@pytest.mark.parametrize(("story", "said"), [("", "topic"), (" \n", "topic"), ("1.1", "1.1"), (" 1.1 \n b", "1.1 b")])
def test_the_branch_stands_for_a_story_where_there_is_none(story: str, said: str) -> None:
    assert replace(SUBJECT, story=story).story_or_branch == said


@pytest.mark.parametrize(
    ("named", "seats"),
    [
        ((), ["tests", "critic"]),
        (("reader",), ["tests", "reader", "critic"]),
        (("tests-reviewer",), ["tests", "tests-reviewer", "critic"]),
        (("critic", "critic-reviewer", "reader-reviewer"), ["tests", "critic"]),
    ],
)
def test_the_seats_that_are_in_use(named: tuple[str, ...], seats: list[str]) -> None:
    agent = Assignment(agent="first")
    roles = Roles(review=agent, fix=agent, reviewers=dict.fromkeys(named, Assignment(agent="second")))
    panel = roles.panel(replace(PLAIN, panel=(TESTS, EXTRA, CRITIC)))
    assert [seat.name for seat in panel] == seats
    assert [seat.scratch for seat in panel] == [seat.name.startswith("tests") for seat in panel]
