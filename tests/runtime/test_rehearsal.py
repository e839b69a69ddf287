"""Rehearsals that end, wait or go wrong: nothing is clean by default."""

import pytest

from burnish.core.protocol import SkipReason
from burnish.core.state import Ended, Outcome, Run, Waiting
from burnish.protocols.loader import load
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript, ScriptError


def last(script: RehearsalScript) -> Run:
    *_, moment = Rehearsal(script, load(script.protocol).protocol).play()
    return moment.run


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            RehearsalScript(protocol="drift"),
            "The script has 0 entries for 'reviewer', and the loop needs one more.",
        ),
        (
            RehearsalScript(protocol="drift", reviews={"reviewer": ("drift: x",)}, fixes=("mended",)),
            "The script's fix 'mended' is unknown.",
        ),
        (RehearsalScript(protocol="drift", validations=("perhaps",)), "The script's validation 'perhaps' is unknown."),
        (
            RehearsalScript(protocol="epic", skip=SkipReason.NOTHING_PICKED),
            "Skipped is illegal while validating: the protocol 'epic' does not skip reviews for 'nothing-picked'",
        ),
        (
            RehearsalScript(protocol="epic", max_rounds=1, reviews={"reviewer": ("critical",)}, decisions=("waive 2",)),
            "There is no open finding 2.",
        ),
        (
            RehearsalScript(protocol="epic", max_rounds=9),
            "RunStarted is illegal while not started: 9 reviews are not between 1 and 5",
        ),
    ],
)
def test_a_script_that_cannot_be_played_says_so_with_a_hint(script: RehearsalScript, message: str) -> None:
    with pytest.raises(ScriptError) as raised:
        last(script)
    assert raised.value.message == message
    assert raised.value.hint


def test_without_a_decision_the_run_waits() -> None:
    run = last(RehearsalScript(protocol="epic", max_rounds=1, reviews={"reviewer": ("critical",)}))
    assert isinstance(run.phase, Waiting)


@pytest.mark.parametrize(
    ("decision", "outcome"),
    [
        ("cancel", Outcome.CANCELLED),
        ("waive 1", Outcome.APPROVED),
        ("refute 1", Outcome.APPROVED),
        ("a", Outcome.BLOCKED),
        ("b", Outcome.ACCEPTED),
    ],
)
def test_what_a_person_may_say(decision: str, outcome: Outcome) -> None:
    script = RehearsalScript(protocol="epic", max_rounds=1, reviews={"reviewer": ("critical",)}, decisions=(decision,))
    run = last(script)
    assert isinstance(run.phase, Ended)
    assert run.phase.outcome is outcome


def test_time_passes_as_the_script_says() -> None:
    events = [
        moment.event
        for moment in Rehearsal(
            RehearsalScript(protocol="drift", reviews={"reviewer": ("after 90: pass",)}), load("drift").protocol
        ).play()
    ]
    times = [event.at - events[0].at for event in events]
    assert times == [0, 1, 2, 3, 93, 94, 95]
