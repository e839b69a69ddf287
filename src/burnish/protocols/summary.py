"""What a protocol does, in sentences that a person can check against what they meant."""

from typing import assert_never

from burnish.core.findings import Severity
from burnish.core.protocol import (
    Ask,
    AskAtTerminal,
    Choice,
    Exhausted,
    Fail,
    FailureRule,
    FallbackTurn,
    Feedback,
    FixInput,
    FixRule,
    Gate,
    OnFailure,
    OpenBlockers,
    Protocol,
    RecordLayout,
    ReviewBy,
    ReviewMode,
    ReviewRule,
    RoundLimits,
    ScoreGate,
    SeatKind,
    SeverityGate,
    Stop,
    Unchanged,
    ValidateRule,
    VerdictGate,
)

_FEEDBACK = {
    Feedback.NONE: "",
    Feedback.PREVIOUS: " Later reviewers get the feedback of the previous round.",
    Feedback.FOLLOW_UP: " Later reviewers get the attempt number and the follow-up of the previous round.",
}
_FIX_INPUT = {
    FixInput.BLOCKING: "The fixer gets the blocking findings.",
    FixInput.BLOCKING_THEN_REST: "The fixer gets the blocking findings, then the others if time permits.",
    FixInput.ALL: "The fixer gets all findings.",
    FixInput.REVISION: "The fixer gets the revision context: blocking issues, notes and scores.",
    FixInput.FOLLOW_UP: "The fixer gets the reviewer's follow-up.",
    FixInput.NOTHING: "There is no separate fixer: the session fixes what it finds.",
}
_ON_FAILURE = {
    OnFailure.RETRY: "is retried and uses up no review",
    OnFailure.ROUND: "uses up the round",
    OnFailure.END: "ends the run at once",
}


def summarise(protocol: Protocol) -> tuple[str, ...]:
    """The protocol as sentences, in the order in which a run meets its rules."""
    sentences = (
        _validation(protocol.validate),
        _reviewing(protocol),
        _gate(protocol.gate),
        _open_blockers(protocol.review),
        _fixing(protocol.fix),
        _failures(protocol.failures),
        _limits(protocol.limits, protocol.exhausted),
        _exhausted(protocol.exhausted),
        _skipping(protocol),
        _records(protocol),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _validation(rule: ValidateRule) -> str:
    moments = [
        text
        for holds, text in ((rule.before_first_review, "before the first review"), (rule.after_fix, "after each fix"))
        if holds
    ]
    text = f"The project's checks run {' and '.join(moments)}." if moments else "The project's checks do not run."
    return f"{text} They fail if acceptance criteria are reported as not met." if rule.acceptance else text


def _reviewing(protocol: Protocol) -> str:
    names = ", ".join(reviewer.name for reviewer in protocol.panel if reviewer.kind is SeatKind.REVIEWER)
    checks = ", ".join(reviewer.name for reviewer in protocol.panel if reviewer.kind is SeatKind.CHECK)
    contract = protocol.contract.value
    if protocol.review.by is ReviewBy.SESSION:
        who = f"One session ({names}) reviews and fixes, and answers in the contract '{contract}'."
    elif checks:
        extra = any(reviewer.kind is SeatKind.EXTRA for reviewer in protocol.panel)
        beside = " An agent that is named for 'review' is one more reviewer." if extra else ""
        others = f" Reviewers ({names}) answer in the contract '{contract}'." if names else ""
        who = f"Checks without a model ({checks}) run in parallel.{others}{beside}"
    elif len(protocol.panel) == 1:
        who = f"One reviewer ({names}) answers in the contract '{contract}'."
    else:
        who = f"{len(protocol.panel)} reviewers in parallel ({names}) answer in the contract '{contract}'."
    return f"{who} {_mode(protocol.review)}"


def _mode(rule: ReviewRule) -> str:
    match rule.mode:
        case ReviewMode.FRESH:
            text = "Each round is a fresh review."
        case ReviewMode.RATCHET:
            text = "Later rounds are fresh reviews that also answer each open finding (ratchet)."
        case _:
            assert_never(rule.mode)
    return text + _FEEDBACK[rule.feedback]


def _gate(gate: Gate) -> str:
    match gate:
        case SeverityGate():
            return f"The gate passes if {_below(gate.block)} is found."
        case ScoreGate():
            minimums = f"critical {gate.critical:g}, important {gate.important:g}, moderate {gate.moderate:g}"
            return (
                f"The gate passes if each of {len(gate.dimensions)} dimensions reaches its minimum ({minimums}), "
                f"the weighted mean reaches {gate.overall:g}, and there are no blocking findings."
            )
        case VerdictGate():
            return "The gate passes if the verdict is 'pass'."
        case _:
            assert_never(gate)


def _below(block: Severity) -> str:
    if block is Severity.CRITICAL:
        return "nothing critical"
    return "nothing of any severity" if block is Severity.INFO else f"nothing of severity {block.value} or worse"


def _open_blockers(rule: ReviewRule) -> str:
    match rule.open_blockers:
        case OpenBlockers.LOOP:
            return "A blocking finding that was not fixed still blocks, even if later reviewers miss it."
        case OpenBlockers.SEAL:
            return (
                "Each round is judged by its own findings; a blocking finding that was not fixed still prevents "
                "the seal."
            )
        case _:
            assert_never(rule.open_blockers)


def _fixing(rule: FixRule) -> str:
    text = _FIX_INPUT[rule.input]
    if rule.by_round:
        text += f" Fixers by round: {', then '.join(rule.by_round)}."
    if rule.unchanged is Unchanged.EXHAUSTED:
        text += " A fix that changes nothing counts as reaching the limit."
    if rule.coverage is not None:
        text += f" Fixers are told to keep the test coverage at {rule.coverage:g} % or more."
    return text


def _failures(rule: FailureRule) -> str:
    text = f"An unreadable answer {_ON_FAILURE[rule.unreadable]}; an agent that crashed {_ON_FAILURE[rule.crashed]}."
    if rule.unusable is not None:
        text += " An agent that is not installed or not logged in is not retried."
    if OnFailure.RETRY in (rule.unreadable, rule.crashed):
        text += f" There {'is 1 retry' if rule.retries == 1 else f'are {rule.retries} retries'}."
    match rule.fallback:
        case FallbackTurn.LAST:
            return text
        case FallbackTurn.ALTERNATE:
            return f"{text} The first agent and the fallback take turns."
        case _:
            assert_never(rule.fallback)


def _limits(limits: RoundLimits, exhausted: Exhausted) -> str:
    text = f"A run has at most {'1 review' if limits.reviews == 1 else f'{limits.reviews} reviews'}"
    asks = isinstance(exhausted, Ask | AskAtTerminal)
    if asks and limits.hard_cap > limits.reviews and any(choice.action.adds_a_round for choice in exhausted.choices):
        text += f"; a person may add one at a time, up to {limits.hard_cap}"
    text += f"; up to {limits.validation_fixes} failed validations in a row go to the fixer."
    if limits.slow_review_seconds is not None:
        text += f" A review that takes longer than {limits.slow_review_seconds:g} seconds gets a warning."
    return text


def _exhausted(exhausted: Exhausted) -> str:
    start = "When the limit is reached"
    match exhausted:
        case Ask():
            return (
                f"{start}, burnish asks a person ({exhausted.priority.value} priority): {_choices(exhausted.choices)}"
            )
        case AskAtTerminal():
            return (
                f"{start}, burnish asks a person at the terminal ({exhausted.priority.value} priority): "
                f"{_choices(exhausted.choices)} Without a terminal the run fails: {exhausted.reason.rstrip('.')}."
            )
        case Fail():
            return f"{start}, the run fails: {exhausted.reason.rstrip('.')}."
        case Stop():
            return f"{start}, the run stops: {exhausted.reason.rstrip('.')}."
        case _:
            assert_never(exhausted)


def _choices(choices: tuple[Choice, ...]) -> str:
    return "; ".join(f"({choice.key}) {choice.text} → {choice.action.value}" for choice in choices) + "."


def _skipping(protocol: Protocol) -> str:
    reasons = ", ".join(reason.value for reason in protocol.skip_when)
    return f"A source skips the review if: {reasons}." if reasons else ""


def _records(protocol: Protocol) -> str:
    if protocol.records in (None, RecordLayout.NONE):
        return "No records are written for other tools."
    return f"Records are written in the layout '{protocol.records.value}'."
