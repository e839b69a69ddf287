"""Every rule between the fields of a protocol, each broken alone."""

import pytest

from burnish.core.findings import Severity
from burnish.core.protocol import (
    Ask,
    AskAtTerminal,
    Choice,
    ChoiceAction,
    Dimension,
    Fail,
    FailureRule,
    FixInput,
    FixRule,
    Gate,
    Protocol,
    ReviewBy,
    Reviewer,
    ReviewRule,
    RoundLimits,
    ScoreGate,
    SeverityGate,
    Stop,
    VerdictGate,
    gate_takes,
)
from burnish.core.protocol_rules import MOST_REVIEWS, faults
from burnish.core.reviews import ContractName, Weight
from burnish.core.values import replace
from tests.core.driving import PLAIN

MANUAL = Choice(key="a", action=ChoiceAction.MANUAL, text="by hand")
MORE = Choice(key="c", action=ChoiceAction.ANOTHER_ROUND, text="again")
SCORED = replace(PLAIN, contract=ContractName.REPORT, gate=ScoreGate())
BY_SESSION = replace(PLAIN, review=ReviewRule(by=ReviewBy.SESSION), fix=FixRule(input=FixInput.NOTHING))
PAIR = (Reviewer(name="one"), Reviewer(name="two"))
TWICE = (Dimension(name="tests", weight=Weight.CRITICAL), Dimension(name="tests", weight=Weight.MODERATE))

NAMES = "Use letters, digits, '.', '_' and '-', at most 64, beginning with a letter or digit."
FITTING_GATES = (
    "The score gate accepts only 'report', the verdict gate all but 'report', the severity gate all contracts."
)
NO_CHOICE_LEFT = "Add a choice that does not need another round, such as 'manual' or 'accept'."
PLACEHOLDERS = "The placeholders are {reviews} and {revisions}."


def limited(reviews: int = 3, hard_cap: int = 5, **other: int) -> Protocol:
    return replace(PLAIN, limits=RoundLimits(reviews=reviews, hard_cap=hard_cap, **other))


BROKEN = {
    "a name with a slash": (replace(PLAIN, name="a/b"), ("name",), "'a/b' cannot be a name.", NAMES),
    "a reviewer's name with a colon": (
        replace(PLAIN, panel=(Reviewer(name="one"), Reviewer(name="t:wo"))),
        ("panel", 1, "name"),
        "'t:wo' cannot be a name.",
        NAMES,
    ),
    "nobody on the panel": (
        replace(PLAIN, panel=()),
        ("panel",),
        "The panel is empty.",
        "Name at least one reviewer that is not extra.",
    ),
    "a reviewer that sits twice": (
        replace(PLAIN, panel=(*PAIR, PAIR[0])),
        ("panel", 2, "name"),
        "Duplicate reviewer 'one'.",
        "Give each reviewer a unique name.",
    ),
    "a session with company": (
        replace(BY_SESSION, panel=PAIR),
        ("panel",),
        "A session that fixes its own findings must be the only reviewer.",
        "Keep one reviewer, or set review.by to 'panel'.",
    ),
    "a session and a fixer": (
        replace(PLAIN, review=ReviewRule(by=ReviewBy.SESSION)),
        ("fix", "input"),
        "fix.input does not match review.by.",
        "Set fix.input to 'nothing' if review.by is 'session', and only then.",
    ),
    "a panel and a fixer that is given nothing": (
        replace(PLAIN, fix=FixRule(input=FixInput.NOTHING)),
        ("fix", "input"),
        "fix.input does not match review.by.",
        "Set fix.input to 'nothing' if review.by is 'session', and only then.",
    ),
    "a score gate without scores": (
        replace(PLAIN, gate=ScoreGate()),
        ("gate", "type"),
        "The score gate cannot judge the contract 'findings'.",
        FITTING_GATES,
    ),
    "a verdict gate over scores": (
        replace(PLAIN, gate=VerdictGate(), contract=ContractName.REPORT),
        ("gate", "type"),
        "The verdict gate cannot judge the contract 'report'.",
        FITTING_GATES,
    ),
    "no dimension": (
        replace(SCORED, gate=ScoreGate(dimensions=())),
        ("gate", "dimensions"),
        "The dimensions are missing or repeated.",
        "Name at least one dimension, and each only once.",
    ),
    "a dimension named twice": (
        replace(SCORED, gate=ScoreGate(dimensions=TWICE)),
        ("gate", "dimensions"),
        "The dimensions are missing or repeated.",
        "Name at least one dimension, and each only once.",
    ),
    "a dimension without a name": (
        replace(SCORED, gate=ScoreGate(dimensions=(Dimension(name="", weight=Weight.CRITICAL),))),
        ("gate", "dimensions"),
        "The dimensions are missing or repeated.",
        "Name at least one dimension, and each only once.",
    ),
    "no review": (limited(reviews=0), ("limits", "reviews"), "At least one review is needed.", "Set it to 1 or more."),
    "a cap below the reviews": (
        limited(reviews=4, hard_cap=3),
        ("limits", "hard_cap"),
        "The hard cap 3 is lower than limits.reviews, 4.",
        "Raise limits.hard_cap or lower limits.reviews.",
    ),
    "more reviews than anybody wants": (
        limited(hard_cap=MOST_REVIEWS + 1),
        ("limits", "hard_cap"),
        "One change can have at most 100 reviews.",
        "Choose a smaller number. A change that does not converge in a few rounds needs a person.",
    ),
    "every review slow": (
        limited(slow_review_seconds=0),
        ("limits", "slow_review_seconds"),
        "Every review would count as slow.",
        "Set it above 0, or remove it.",
    ),
    "a negative number of repairs": (
        limited(validation_fixes=-1),
        ("limits", "validation_fixes"),
        "It is negative.",
        "Set it to 0 or more.",
    ),
    "a negative number of retries": (
        replace(PLAIN, failures=FailureRule(retries=-1)),
        ("failures", "retries"),
        "Retries must be between 0 and 20.",
        "The default is 2.",
    ),
    "retries without end": (
        replace(PLAIN, failures=FailureRule(retries=21)),
        ("failures", "retries"),
        "Retries must be between 0 and 20.",
        "The default is 2.",
    ),
    "two choices with one key": (
        replace(PLAIN, exhausted=Ask(choices=(MANUAL, replace(MORE, key="a")))),
        ("exhausted", "choices"),
        "Two choices have the same key, or a choice has none.",
        "Give each choice a unique key.",
    ),
    "a choice without a key": (
        replace(PLAIN, exhausted=AskAtTerminal(choices=(replace(MANUAL, key=""),), reason="over")),
        ("exhausted", "choices"),
        "Two choices have the same key, or a choice has none.",
        "Give each choice a unique key.",
    ),
    "only choices that vanish at the cap": (
        replace(PLAIN, exhausted=Ask(choices=(MORE,))),
        ("exhausted", "choices"),
        "At the hard cap, no choice would be left.",
        NO_CHOICE_LEFT,
    ),
    "to fix and not to review": (
        replace(PLAIN, exhausted=Ask(choices=(MANUAL, Choice(key="f", action=ChoiceAction.FIX, text="fix")))),
        ("exhausted", "choices"),
        "At the limit, 'fix' is not enough: no review would follow.",
        "Use 'another-round', which fixes and reviews once more.",
    ),
    "no choice at all": (
        replace(PLAIN, exhausted=Ask(choices=())),
        ("exhausted", "choices"),
        "At the hard cap, no choice would be left.",
        NO_CHOICE_LEFT,
    ),
    "a misspelt placeholder": (
        replace(PLAIN, exhausted=Stop(reason="{reviews} of {rounds}")),
        ("exhausted", "reason"),
        "{rounds} is not a placeholder of a reason.",
        PLACEHOLDERS,
    ),
    "a misspelt placeholder where nobody sits at a terminal": (
        replace(PLAIN, exhausted=AskAtTerminal(choices=(MANUAL,), reason="{}")),
        ("exhausted", "reason"),
        "{} is not a placeholder of a reason.",
        PLACEHOLDERS,
    ),
}


@pytest.mark.parametrize("situation", BROKEN)
def test_a_broken_rule_is_named_with_its_key_and_a_hint(situation: str) -> None:
    protocol, path, message, hint = BROKEN[situation]
    assert [(fault.path, fault.message, fault.hint) for fault in faults(protocol)] == [(path, message, hint)]


@pytest.mark.parametrize("key", ["overall", "critical", "important", "moderate"])
@pytest.mark.parametrize("score", [-1, 101])
def test_a_threshold_stays_between_0_and_100(key: str, score: int) -> None:
    (fault,) = faults(replace(SCORED, gate=replace(ScoreGate(), **{key: score})))
    expected = (("gate", key), "The threshold is out of range.", "Scores range from 0 to 100.")
    assert (fault.path, fault.message, fault.hint) == expected


SOUND = {
    "the simplest": PLAIN,
    "the longest name": replace(PLAIN, name="n" * 64, panel=(Reviewer(name="0._-"),)),
    "one review": limited(reviews=1, hard_cap=1),
    "the highest cap": limited(hard_cap=MOST_REVIEWS),
    "no repair": limited(validation_fixes=0),
    "a review of a second is slow": limited(slow_review_seconds=1),
    "no retry": replace(PLAIN, failures=FailureRule(retries=0)),
    "twenty retries": replace(PLAIN, failures=FailureRule(retries=20)),
    "scores": SCORED,
    "thresholds at their ends": replace(SCORED, gate=ScoreGate(overall=0, critical=100)),
    "a session": BY_SESSION,
    "a pair": replace(PLAIN, panel=PAIR),
    "a verdict gate": replace(PLAIN, gate=VerdictGate()),
    "scores that only their severities judge": replace(PLAIN, contract=ContractName.REPORT),
    "choices": replace(PLAIN, exhausted=Ask(choices=(MORE, MANUAL))),
    "every known placeholder": replace(PLAIN, exhausted=Fail(reason="{reviews} and {revisions}")),
}


@pytest.mark.parametrize("situation", SOUND)
def test_a_sound_protocol_has_no_fault(situation: str) -> None:
    assert faults(SOUND[situation]) == ()


def test_all_faults_are_named_not_only_the_first() -> None:
    protocol = replace(
        limited(reviews=0), name="", panel=(), gate=ScoreGate(), exhausted=Ask(choices=(MORE, MORE)), description=""
    )
    assert [fault.path[0] for fault in faults(protocol)] == [
        *("name", "panel", "gate", "limits", "exhausted", "exhausted")
    ]
    assert [fault.path for fault in faults(replace(PLAIN, exhausted=Fail(reason="{a}{reviews}{b}")))] == [
        ("exhausted", "reason"),
        ("exhausted", "reason"),
    ]


@pytest.mark.parametrize(
    ("gate", "taken"),
    [
        (SeverityGate(block=Severity.LOW), set(ContractName)),
        (ScoreGate(), {ContractName.REPORT}),
        (VerdictGate(), set(ContractName) - {ContractName.REPORT}),
    ],
)
def test_what_each_gate_takes(gate: Gate, taken: set[ContractName]) -> None:
    assert {contract for contract in ContractName if gate_takes(gate, contract)} == taken
