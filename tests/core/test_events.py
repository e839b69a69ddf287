"""Events as bytes: the form that ledgers keep for ever."""

import pytest
from inline_snapshot import snapshot

from burnish.core.events import (
    INTENTS,
    AnyEvent,
    BudgetReached,
    Cancelled,
    Change,
    Decided,
    FindingAdded,
    FindingAnnotated,
    FindingRefuted,
    FindingWaived,
    Fixed,
    ProcessStarted,
    Reviewed,
    Roles,
    RunStarted,
    TimerFired,
    TreeChanged,
    UnknownEventError,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkStarted,
    as_stored,
    decode,
    encode,
)
from burnish.core.line_changes import FileChange, Hunk
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.values import replace
from burnish.core.work import Assignment, ProcessMark
from tests.core.driving import found, problem

EVENTS: tuple[AnyEvent, ...] = (
    WorkStarted(at=1.5, effect="review:1:critic:1", agent="first"),
    ProcessStarted(at=2, effect="fix:1:1", process=ProcessMark(pid=7, started=1.25)),
    WorkFailed(
        at=3, effect="build:1", failure=Failure(kind=FailureKind.RATE_LIMITED, message="slow down", retry_after=9)
    ),
    TimerFired(at=4, effect="pause:build:2"),
    Validated(at=5, effect="validate:1:1", status=ValidationStatus.FAILED, output="é"),
    Reviewed(at=6, effect="review:1:critic:1", answer=found(problem()), usage=Usage(tokens=3)),
    TreeChanged(at=6, change=Change(commit="c", tree="t"), files=("a",)),
    Fixed(
        at=7,
        effect="fix:1:1",
        change=Change(
            commit="c",
            tree="t",
            files=(
                FileChange(path="a", new_path=None, hunks=(Hunk(old_start=1, old_lines=2, new_start=1, new_lines=0),)),
            ),
        ),
    ),
    BudgetReached(at=8, limit="5 USD"),
    Decided(at=9, choice="c", agent="other"),
)


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_comes_back_as_it_was(event: AnyEvent) -> None:
    assert decode(encode(event)) == event


def test_the_bytes_of_events_do_not_change_from_release_to_release() -> None:
    assert [encode(event).decode() for event in EVENTS] == snapshot(
        [
            '{"type":"work-started","at":1.5,"effect":"review:1:critic:1","agent":"first"}',
            '{"type":"process-started","at":2,"effect":"fix:1:1","process":{"pid":7,"started":1.25}}',
            (
                '{"type":"work-failed","at":3,"effect":"build:1",'
                '"failure":{"kind":"rate-limited","message":"slow down","retry_after":9}}'
            ),
            '{"type":"timer-fired","at":4,"effect":"pause:build:2"}',
            '{"type":"validated","at":5,"effect":"validate:1:1","status":"failed","output":"é"}',
            (
                '{"type":"reviewed","at":6,"effect":"review:1:critic:1","answer":{"clean":false,'
                '"findings":[{"severity":"high","title":"wrong result","location":{"file":"a.py","line":3}}]},'
                '"usage":{"tokens":3}}'
            ),
            '{"type":"tree-changed","at":6,"change":{"commit":"c","tree":"t"},"files":["a"]}',
            (
                '{"type":"fixed","at":7,"effect":"fix:1:1","change":{"commit":"c","tree":"t",'
                '"files":[{"path":"a","new_path":null,"hunks":[{"old_start":1,"old_lines":2,"new_start":1,"new_lines":0}]}]}}'
            ),
            '{"type":"budget-reached","at":8,"limit":"5 USD"}',
            '{"type":"decided","at":9,"choice":"c","agent":"other"}',
        ]
    )


def test_the_order_in_which_a_dictionary_was_filled_does_not_matter(epic_start: RunStarted) -> None:
    one = replace(epic_start, inputs={"a": "1", "b": "2"})
    other = replace(epic_start, inputs={"b": "2", "a": "1"})
    assert encode(one) == encode(other)
    assert decode(encode(one)) == one


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"type":"unheard-of","at":1}',
        b'{"type":"timer-fired","at":1,"effect":"e","more":1}',
        b"nope",
        b'{"type":"timer-fired","at":1,"effect":"\xff"}',
    ],
)
def test_what_is_no_event_is_refused_with_a_hint(body: bytes) -> None:
    with pytest.raises(UnknownEventError) as raised:
        decode(body)
    assert raised.value.message.startswith("An event in the ledger cannot be read: ")
    assert raised.value.hint == "It may come from a newer version of burnish: upgrade. Nothing was changed."


def test_what_anybody_may_append() -> None:
    people = {Decided, Cancelled, FindingRefuted, FindingWaived, FindingAnnotated, FindingAdded}
    assert set(INTENTS) == people


def test_a_reviewer_that_is_not_named_is_played_by_the_role() -> None:
    roles = Roles(
        review=Assignment(agent="first"),
        fix=Assignment(agent="fixer"),
        reviewers={"critic": Assignment(agent="second")},
    )
    assert (roles.reviewer("critic").agent, roles.reviewer("pedant").agent) == ("second", "first")


def test_a_name_that_is_not_utf8_is_believed_as_it_is_stored() -> None:
    event = FindingAdded(at=1, finding=replace(problem(), title="caf\udce9 and \U0001f600"))
    believed = as_stored(event)
    assert decode(encode(believed)) == believed
    assert believed == replace(event, finding=replace(event.finding, title="caf\ufffd and \U0001f600"))


@pytest.mark.parametrize("event", EVENTS)
def test_every_other_event_is_believed_as_it_is(event: AnyEvent) -> None:
    assert as_stored(event) is event
