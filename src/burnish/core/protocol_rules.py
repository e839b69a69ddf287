"""Rules between the fields of a protocol that the types alone cannot hold. One with a fault is never started."""

import re

from burnish.core.errors import KeyPath, Violation
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
    return (
        *_name_faults(protocol),
        *_panel_faults(protocol),
        *_gate_faults(protocol),
        *_record_faults(protocol),
        *_limit_faults(protocol),
        *_coverage_faults(protocol),
        *_choice_faults(protocol),
        *_reason_faults(protocol),
    )


def _coverage_faults(protocol: Protocol) -> list[Violation]:
    coverage = protocol.fix.coverage
    if coverage is None or 0 < coverage <= 100:
        return []
    return [
        Violation(
            path=("fix", "coverage"), message=f"{coverage:g} is not a percentage.", hint="Use a number from 0.1 to 100."
        )
    ]


def _name_faults(protocol: Protocol) -> list[Violation]:
    """Names become parts of file names and of effects, so they are plain words."""
    named: list[tuple[KeyPath, str]] = [(("name",), protocol.name)]
    named += [(("panel", index, "name"), reviewer.name) for index, reviewer in enumerate(protocol.panel)]
    hint = "Use letters, digits, '.', '_' and '-', at most 64, beginning with a letter or digit."
    return [
        Violation(path=path, message=f"'{name}' cannot be a name.", hint=hint)
        for path, name in named
        if not _NAME.fullmatch(name)
    ]


def _panel_faults(protocol: Protocol) -> list[Violation]:
    found: list[Violation] = []
    names = [reviewer.name for reviewer in protocol.panel]
    if not names:
        found.append(Violation(path=("panel",), message="The panel is empty.", hint="Name at least one reviewer."))
    for index, name in enumerate(names):
        if name in names[:index]:
            hint = "Give each reviewer a unique name."
            found.append(Violation(path=("panel", index, "name"), message=f"Duplicate reviewer '{name}'.", hint=hint))
    by_session = protocol.review.by is ReviewBy.SESSION
    if by_session and len(names) > 1:
        hint = "Keep one reviewer, or set review.by to 'panel'."
        found.append(
            Violation(
                path=("panel",), message="A session that fixes its own findings must be the only reviewer.", hint=hint
            )
        )
    if by_session != (protocol.fix.input is FixInput.NOTHING):
        hint = "Set fix.input to 'nothing' if review.by is 'session', and only then."
        found.append(Violation(path=("fix", "input"), message="fix.input does not match review.by.", hint=hint))
    return found


def _gate_faults(protocol: Protocol) -> list[Violation]:
    found: list[Violation] = []
    gate, contract = protocol.gate, protocol.contract
    if not gate_takes(gate, contract):
        kind = "score" if isinstance(gate, ScoreGate) else "verdict"
        hint = (
            "The score gate accepts only 'report', the verdict gate all but 'report', the severity gate all contracts."
        )
        message = f"The {kind} gate cannot judge the contract '{contract.value}'."
        found.append(Violation(path=("gate", "type"), message=message, hint=hint))
    if isinstance(gate, ScoreGate):
        found += _score_faults(gate)
    return found


def _score_faults(gate: ScoreGate) -> list[Violation]:
    found: list[Violation] = []
    names = [dimension.name for dimension in gate.dimensions]
    if not names or len(set(names)) < len(names) or not all(names):
        hint = "Name at least one dimension, and each only once."
        found.append(
            Violation(path=("gate", "dimensions"), message="The dimensions are missing or repeated.", hint=hint)
        )
    for key in ("overall", "critical", "important", "moderate"):
        if not 0 <= getattr(gate, key) <= 100:
            hint = "Scores range from 0 to 100."
            found.append(Violation(path=("gate", key), message="The threshold is out of range.", hint=hint))
    return found


def _record_faults(protocol: Protocol) -> list[Violation]:
    """Records that could not be written, or in which one reviewer would take another's place."""
    found: list[Violation] = []
    if protocol.records is RecordLayout.TICKET and not isinstance(protocol.gate, ScoreGate):
        hint = "Set records to 'none' or to another layout, or gate.type to 'score'."
        found.append(Violation(path=("records",), message="Ticket records need the score gate.", hint=hint))
    if protocol.records is RecordLayout.PANEL:
        names = [reviewer.name.replace("-", "_").casefold() for reviewer in protocol.panel]
        for index, name in enumerate(names):
            if name in (*names[:index], *_NAMES_OF_PANEL_RECORDS):
                shown = protocol.panel[index].name
                hint = "Names must differ in more than case, '-' and '_', and 'verdict' is reserved."
                message = f"'{shown}' would use the same record file as another reviewer."
                found.append(Violation(path=("panel", index, "name"), message=message, hint=hint))
    return found


def _limit_faults(protocol: Protocol) -> list[Violation]:
    limits = protocol.limits
    checks = (
        (limits.reviews < 1, ("limits", "reviews"), "At least one review is needed.", "Set it to 1 or more."),
        (
            limits.hard_cap < limits.reviews,
            ("limits", "hard_cap"),
            f"The hard cap {limits.hard_cap} is lower than limits.reviews, {limits.reviews}.",
            "Raise limits.hard_cap or lower limits.reviews.",
        ),
        (
            limits.hard_cap > MOST_REVIEWS,
            ("limits", "hard_cap"),
            f"One change can have at most {MOST_REVIEWS} reviews.",
            "Choose a smaller number. A change that does not converge in a few rounds needs a person.",
        ),
        (
            limits.slow_review_seconds is not None and limits.slow_review_seconds <= 0,
            ("limits", "slow_review_seconds"),
            "Every review would count as slow.",
            "Set it above 0, or remove it.",
        ),
        (limits.validation_fixes < 0, ("limits", "validation_fixes"), "It is negative.", "Set it to 0 or more."),
        (
            not 0 <= protocol.failures.retries <= 20,
            ("failures", "retries"),
            "Retries must be between 0 and 20.",
            "The default is 2.",
        ),
    )
    return [Violation(path=path, message=message, hint=hint) for broken, path, message, hint in checks if broken]


def _choice_faults(protocol: Protocol) -> list[Violation]:
    exhausted = protocol.exhausted
    if not isinstance(exhausted, Ask | AskAtTerminal):
        return []
    found: list[Violation] = []
    keys = [choice.key for choice in exhausted.choices]
    if len(set(keys)) < len(keys) or not all(keys):
        hint = "Give each choice a unique key."
        found.append(
            Violation(
                path=("exhausted", "choices"), message="Two choices have the same key, or a choice has none.", hint=hint
            )
        )
    if any(choice.action is ChoiceAction.FIX for choice in exhausted.choices):
        hint = "Use 'another-round', which fixes and reviews once more."
        message = "At the limit, 'fix' is not enough: no review would follow."
        found.append(Violation(path=("exhausted", "choices"), message=message, hint=hint))
    if all(choice.action.adds_a_round for choice in exhausted.choices):
        hint = "Add a choice that does not need another round, such as 'manual' or 'accept'."
        message = "At the hard cap, no choice would be left."
        found.append(Violation(path=("exhausted", "choices"), message=message, hint=hint))
    return found


def _reason_faults(protocol: Protocol) -> list[Violation]:
    """A misspelt placeholder would reach the user as it is."""
    exhausted = protocol.exhausted
    if not isinstance(exhausted, AskAtTerminal | Fail | Stop):
        return []
    unknown = [part for part in _PLACEHOLDER.findall(exhausted.reason) if part not in _KNOWN_PLACEHOLDERS]
    hint = f"The placeholders are {' and '.join(_KNOWN_PLACEHOLDERS)}."
    path = ("exhausted", "reason")
    return [Violation(path=path, message=f"{part} is not a placeholder of a reason.", hint=hint) for part in unknown]
