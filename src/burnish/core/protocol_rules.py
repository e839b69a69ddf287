"""Rules between the fields of a protocol that the types alone cannot hold. One with a fault is never started."""

import re
from collections.abc import Iterator

from burnish.core.errors import Violation
from burnish.core.protocol import (
    Ask,
    AskAtTerminal,
    ChoiceAction,
    Fail,
    FixInput,
    Protocol,
    RecordLayout,
    ReviewBy,
    ScoreGate,
    SeatKind,
    Stop,
    gate_takes,
)

MOST_REVIEWS = 100
"""No sensible policy reviews one change more often; a slip of the keyboard might."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_KNOWN_PLACEHOLDERS = ("{reviews}", "{revisions}")
_NAMES_OF_PANEL_RECORDS = ("verdict", "overall_verdict", "total_issues")
"""What a panel's records call by these names is not a reviewer."""


def faults(protocol: Protocol) -> tuple[Violation, ...]:
    """Everything that is wrong with a protocol, not only the first thing."""
    rules = (_names, _panel, _gate, _records, _numbers, _choices, _reason)
    return tuple(fault for rule in rules for fault in rule(protocol))


def _names(protocol: Protocol) -> Iterator[Violation]:
    """Names become parts of file names and of effects, so they are plain words."""
    hint = "Use letters, digits, '.', '_' and '-', at most 64, beginning with a letter or digit."
    if not _NAME.fullmatch(protocol.name):
        yield Violation(("name",), f"'{protocol.name}' cannot be a name.", hint)
    for index, reviewer in enumerate(protocol.panel):
        if not _NAME.fullmatch(reviewer.name):
            yield Violation(("panel", index, "name"), f"'{reviewer.name}' cannot be a name.", hint)


def _panel(protocol: Protocol) -> Iterator[Violation]:
    names = [reviewer.name for reviewer in protocol.panel]
    if all(reviewer.kind is SeatKind.EXTRA for reviewer in protocol.panel):
        yield Violation(("panel",), "The panel is empty.", "Name at least one reviewer that is not extra.")
    for index, name in enumerate(names):
        if name in names[:index]:
            hint = "Give each reviewer a unique name."
            yield Violation(("panel", index, "name"), f"Duplicate reviewer '{name}'.", hint)
    for index, reviewer in enumerate(protocol.panel):
        if reviewer.kind is SeatKind.CHECK and reviewer.beside.name in names:
            message = f"'{reviewer.beside.name}' is the name of a reviewer beside the check '{reviewer.name}'."
            yield Violation(("panel", index, "name"), message, "Rename one of the two.")
    by_session = protocol.review.by is ReviewBy.SESSION
    if by_session and len(names) > 1:
        hint = "Keep one reviewer, or set review.by to 'panel'."
        yield Violation(("panel",), "A session that fixes its own findings must be the only reviewer.", hint)
    if by_session != (protocol.fix.input is FixInput.NOTHING):
        hint = "Set fix.input to 'nothing' if review.by is 'session', and only then."
        yield Violation(("fix", "input"), "fix.input does not match review.by.", hint)


def _gate(protocol: Protocol) -> Iterator[Violation]:
    gate, contract = protocol.gate, protocol.contract
    if not gate_takes(gate, contract):
        kind = "score" if isinstance(gate, ScoreGate) else "verdict"
        hint = (
            "The score gate accepts only 'report', the verdict gate all but 'report', the severity gate all contracts."
        )
        yield Violation(("gate", "type"), f"The {kind} gate cannot judge the contract '{contract.value}'.", hint)
    if isinstance(gate, ScoreGate):
        names = [dimension.name for dimension in gate.dimensions]
        if not names or "" in names or len(set(names)) < len(names):
            hint = "Name at least one dimension, and each only once."
            yield Violation(("gate", "dimensions"), "The dimensions are missing or repeated.", hint)
        for key in ("overall", "critical", "important", "moderate"):
            if not 0 <= getattr(gate, key) <= 100:
                yield Violation(("gate", key), "The threshold is out of range.", "Scores range from 0 to 100.")


def _records(protocol: Protocol) -> Iterator[Violation]:
    """Records that could not be written, or in which one reviewer would take another's place."""
    if protocol.records is RecordLayout.TICKET and not isinstance(protocol.gate, ScoreGate):
        hint = "Set records to 'none' or to another layout, or gate.type to 'score'."
        yield Violation(("records",), "Ticket records need the score gate.", hint)
    taken = set[str](_NAMES_OF_PANEL_RECORDS)
    for index, reviewer in enumerate(protocol.panel if protocol.records is RecordLayout.PANEL else ()):
        name = reviewer.name.replace("-", "_").casefold()
        if name in taken:
            hint = "Names must differ in more than case, '-' and '_', and 'verdict' is reserved."
            message = f"'{reviewer.name}' would use the same record file as another reviewer."
            yield Violation(("panel", index, "name"), message, hint)
        taken.add(name)


def _numbers(protocol: Protocol) -> Iterator[Violation]:
    limits, coverage = protocol.limits, protocol.fix.coverage
    if limits.reviews < 1:
        yield Violation(("limits", "reviews"), "At least one review is needed.", "Set it to 1 or more.")
    if limits.hard_cap < limits.reviews:
        message = f"The hard cap {limits.hard_cap} is lower than limits.reviews, {limits.reviews}."
        yield Violation(("limits", "hard_cap"), message, "Raise limits.hard_cap or lower limits.reviews.")
    if limits.hard_cap > MOST_REVIEWS:
        hint = "Choose a smaller number. A change that does not converge in a few rounds needs a person."
        yield Violation(("limits", "hard_cap"), f"One change can have at most {MOST_REVIEWS} reviews.", hint)
    if limits.slow_review_seconds is not None and limits.slow_review_seconds <= 0:
        path = ("limits", "slow_review_seconds")
        yield Violation(path, "Every review would count as slow.", "Set it above 0, or remove it.")
    if limits.validation_fixes < 0:
        yield Violation(("limits", "validation_fixes"), "It is negative.", "Set it to 0 or more.")
    if not 0 <= protocol.failures.retries <= 20:
        yield Violation(("failures", "retries"), "Retries must be between 0 and 20.", "The default is 2.")
    if coverage is not None and not 0 < coverage <= 100:
        yield Violation(("fix", "coverage"), f"{coverage:g} is not a percentage.", "Use a number from 0.1 to 100.")


def _choices(protocol: Protocol) -> Iterator[Violation]:
    if not isinstance(protocol.exhausted, Ask | AskAtTerminal):
        return
    path, choices = ("exhausted", "choices"), protocol.exhausted.choices
    keys = [choice.key for choice in choices]
    if "" in keys or len(set(keys)) < len(keys):
        yield Violation(path, "Two choices have the same key, or a choice has none.", "Give each choice a unique key.")
    if any(choice.action is ChoiceAction.FIX for choice in choices):
        hint = "Use 'another-round', which fixes and reviews once more."
        yield Violation(path, "At the limit, 'fix' is not enough: no review would follow.", hint)
    if all(choice.action.adds_a_round for choice in choices):
        hint = "Add a choice that does not need another round, such as 'manual' or 'accept'."
        yield Violation(path, "At the hard cap, no choice would be left.", hint)


def _reason(protocol: Protocol) -> Iterator[Violation]:
    """A misspelt placeholder would reach the user as it is."""
    if not isinstance(protocol.exhausted, AskAtTerminal | Fail | Stop):
        return
    for part in _PLACEHOLDER.findall(protocol.exhausted.reason):
        if part not in _KNOWN_PLACEHOLDERS:
            hint = f"The placeholders are {' and '.join(_KNOWN_PLACEHOLDERS)}."
            yield Violation(("exhausted", "reason"), f"{part} is not a placeholder of a reason.", hint)
