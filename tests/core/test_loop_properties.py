"""What holds for every run, whatever agents, people and crashes do."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burnish.core.events import EVIDENCE, AnyEvent, Mode, ValidationStatus, decode, encode
from burnish.core.evidence import Level, Need
from burnish.core.findings import FindingStatus
from burnish.core.gates import blocks
from burnish.core.loop import TABLE, IllegalEventError, decide, evolve, replay
from burnish.core.protocol import Protocol, ReviewBy, SeatKind
from burnish.core.spending import reserved
from burnish.core.state import AnsweredReview, Ended, Outcome, Run, Scope, Sealing, SealKind
from tests.core.random_runs import interruptions, next_event, results, starts

MOST_EVENTS = 400
too_much = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
random_runs = settings(suppress_health_check=too_much)


def play(data: st.DataObject, events: list[AnyEvent]) -> Run:
    """Append random events until the run ends; those that do not fit are left out."""
    run = evolve(None, events[0])
    for _ in range(MOST_EVENTS):
        if isinstance(run.phase, Ended):
            break
        event = data.draw(next_event(run, events[-1].at + 1))
        try:
            following = evolve(run, event)
        except IllegalEventError:
            continue
        check_step(run, event, following)
        events.append(event)
        run = following
    return run


def check_step(before: Run, event: AnyEvent, after: Run) -> None:
    """What must hold at every step."""
    assert type(after.phase) in TABLE[type(before.phase), type(event)].to
    assert after.version == before.version + 1
    assert len(after.rounds) <= after.limit <= after.protocol.limits.hard_cap
    assert after.rounds[: len(before.rounds) - 1] == before.rounds[: len(before.rounds) - 1]
    check_budget(after)
    if isinstance(after.phase, Sealing) and not isinstance(before.phase, Sealing):
        check_earned(after)


def check_budget(run: Run) -> None:
    """As long as all work keeps to its share, what is used up and what is reserved never exceed a cap."""
    budget, shares = run.started.budget, reserved(run)
    if budget.cost_usd is not None:
        assert run.usage.cost_usd + sum(share.cost_usd or 0.0 for share in shares) <= budget.cost_usd + 1e-9
    if budget.tokens is not None:
        assert run.usage.tokens + sum(share.tokens or 0 for share in shares) <= budget.tokens


def check_earned(run: Run) -> None:
    """A seal is only begun on the very tree that a complete, full, clean review has seen, or by a person's word."""
    assert isinstance(run.phase, Sealing)
    if SealKind.REPORTED in run.phase.kinds:
        assert not run.started.enforced
        assert run.started.mode is Mode.REVIEW
        assert SealKind.APPROVED not in run.phase.kinds
        assert run.phase.outcome is not Outcome.ACCEPTED
        return
    if run.phase.kinds == (SealKind.APPROVED,):
        check_proven(run)
    if run.started.rules >= EVIDENCE:
        assert run.validated is not None
        assert run.validated.status is not ValidationStatus.FAILED
    if SealKind.ACCEPTED in run.phase.kinds:
        return
    assert not [entry for entry in run.findings if entry.still_blocks]
    last = run.rounds[-1]
    if run.protocol.review.by is ReviewBy.SESSION:
        assert SealKind.SELF_REVIEWED in run.phase.kinds
        newly_done = run.phase.reason == "the session marked the story as done"
        assert newly_done or all(isinstance(review, AnsweredReview) for review in last.reviews)
        return
    assert last.judgement is not None
    assert last.judgement.clean
    assert last.scope is Scope.FULL
    assert last.tree == run.tree
    required = {reviewer.name for reviewer in run.protocol.panel if reviewer.kind is not SeatKind.EXTRA}
    seats = {reviewer.name for reviewer in run.panel}
    assert required <= seats
    assert {review.reviewer for review in last.reviews} == seats
    assert all(isinstance(review, AnsweredReview) for review in last.reviews)


def check_proven(run: Run) -> None:
    """A seal of kind `approved` alone: every changed file was examined, no reviewer lacked evidence, no risk was taken.

    Counted here once more, by hand, from the reviews themselves.
    """
    reviews = [review for review in run.rounds[-1].reviews if isinstance(review, AnsweredReview)]
    assert run.started.rules >= EVIDENCE
    assert run.changed
    for file in run.changed:
        levels = [each.level for review in reviews for each in review.evidence.examined if each.path == file.path]
        assert file.need is not Need.OPAQUE
        if file.need is Need.CODE:
            assert set(levels) & {Level.LINTED, Level.CHECKED, Level.TESTED, Level.READ}
        if file.need is Need.DATA:
            assert set(levels) - {Level.NOT_EXAMINED, Level.COULD_READ}
    assert all(review.evidence.missing is None or review.evidence.missing.excused for review in reviews)
    assert not run.started.local_policy
    assert run.protocol.review.by is not ReviewBy.SESSION
    waived = [
        entry
        for entry in run.findings
        if entry.status is FindingStatus.WAIVED and entry.last_reported_round == len(run.rounds)
    ]
    assert not [entry for entry in waived if blocks(run.protocol.gate, entry.finding)]


@random_runs
@given(st.data())
def test_replay_equals_live(data: st.DataObject) -> None:
    events: list[AnyEvent] = [data.draw(starts())]
    run = play(data, events)
    assert replay(decode(encode(event)) for event in events) == run


def most_events(protocol: Protocol) -> int:
    """An upper bound on the events of a run that loses no work: every limit used up, every attempt made."""
    rounds = protocol.limits.hard_cap
    repairs = (rounds + 1) * protocol.limits.validation_fixes
    fixes = 2 * rounds + repairs
    works = 1 + rounds * len(protocol.panel) + fixes + (fixes + 1) + 1
    attempts = protocol.failures.retries + 2
    return 1 + works * attempts * 3 + rounds


@random_runs
@given(st.data())
def test_every_run_ends_within_its_limits(data: st.DataObject) -> None:
    run = evolve(None, data.draw(starts()))
    most = most_events(run.protocol)
    for number in range(most):
        if isinstance(run.phase, Ended):
            return
        run = evolve(run, data.draw(next_event(run, number + 1.0, only_progress=True)))
    assert isinstance(run.phase, Ended), f"{most} events were not enough: {run.phase}"


@random_runs
@given(st.data())
def test_asking_twice_gives_the_same_effects_with_ids_of_their_own(data: st.DataObject) -> None:
    run = play(data, [data.draw(starts())])
    effects = decide(run)
    assert decide(run) == effects
    assert len({effect.id for effect in effects}) == len(effects)


def refused(run: Run, event: AnyEvent) -> IllegalEventError | None:
    """The refusal of an event. Any other exception is a bug and passes through."""
    try:
        evolve(run, event)
    except IllegalEventError as error:
        return error
    return None


@random_runs
@given(st.data(), st.data())
def test_an_illegal_event_names_itself_and_the_state_and_changes_nothing(
    data: st.DataObject, foreign: st.DataObject
) -> None:
    run = play(data, [data.draw(starts())])
    other = play(foreign, [foreign.draw(starts())])
    before = run
    event = foreign.draw(
        st.one_of(
            next_event(other, 1.0),
            interruptions(other, 1.0),
            results(other, foreign.draw(st.sampled_from(("review:1:critic:9", "fix:7:1", "seal:9"))), 1.0),
        )
    )
    refusal = refused(run, event)
    if refusal is not None:
        assert type(event).__name__ in str(refusal)
        assert refusal.state in str(refusal)
    assert run == before


def test_a_run_begins_with_its_first_event_only(epic_start: AnyEvent) -> None:
    run = evolve(None, epic_start)
    with pytest.raises(IllegalEventError, match="RunStarted is illegal while validating"):
        evolve(run, epic_start)


@random_runs
@given(st.data())
def test_review_mode_never_fixes_and_never_asks(data: st.DataObject) -> None:
    start = data.draw(starts().filter(lambda start: start.mode is Mode.REVIEW))
    run = play(data, [start])
    assert run.fixes == 0
    if isinstance(run.phase, Ended):
        assert run.phase.outcome not in (Outcome.BLOCKED, Outcome.ACCEPTED, Outcome.STOPPED)
