"""Gates: the rule that turns the answers of a round into a judgement. Nothing is clean by default."""

from collections.abc import Sequence

from burnish.core.evidence import Gap
from burnish.core.findings import Action, Finding, Severity
from burnish.core.protocol import Gate, ScoreGate, SeverityGate, VerdictGate
from burnish.core.reviews import Answer
from burnish.core.score import unmet_criteria
from burnish.core.values import Value


class Judgement(Value):
    """Whether the gate passes and, where it does not, what blocks. Clean may be with findings below the gate."""

    clean: bool
    blocking: tuple[Finding, ...] = ()
    carried: tuple[Finding, ...] = ()
    """Blockers of earlier rounds that nobody fixed and that this round's reviewers missed."""
    reasons: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What keeps the change from being proven, though nothing may block."""

    @property
    def passes(self) -> bool:
        """Whether nothing blocks and everything was examined."""
        return self.clean and not self.gaps


def threshold(gate: Gate) -> Severity:
    """The least severity that blocks under a gate. A score card's blocking issues are critical."""
    match gate:
        case SeverityGate():
            return gate.block
        case VerdictGate():
            return Severity.HIGH
        case ScoreGate():
            return Severity.CRITICAL


def judge_answers(gate: Gate, answers: Sequence[Answer]) -> Judgement:
    """Judge one or more answers by themselves, as `burnish parse --protocol` does."""
    findings = tuple(finding for answer in answers for finding in answer.findings)
    return judge(gate, answers, findings)


def judge(gate: Gate, answers: Sequence[Answer], findings: Sequence[Finding]) -> Judgement:
    """Judge a round by its answers and its merged findings, from which dismissed ones were left out."""
    if not answers:
        return _blocked(gate, [], ["no reviewer answered"])
    blocking = [finding for finding in findings if blocks(gate, finding)]
    reasons: list[str] = []
    for answer in answers:
        reasons += _objections(gate, answer)
    if blocking or reasons:
        return _blocked(gate, blocking, reasons)
    return Judgement(clean=True)


def blocks(gate: Gate, finding: Finding) -> bool:
    """A note is for people to know: it never counts, whatever its severity."""
    return finding.action is not Action.NOTE and finding.severity.at_least(threshold(gate))


def _objections(gate: Gate, answer: Answer) -> list[str]:
    """What an answer says against the change beside its findings."""
    if isinstance(gate, ScoreGate):
        return ["the answer has no scores"] if answer.card is None else list(unmet_criteria(gate, answer.card))
    if not answer.clean and not answer.findings and not answer.former:
        return ["the reviewer did not approve, but listed nothing"]
    return []


def _blocked(gate: Gate, blocking: list[Finding], reasons: list[str]) -> Judgement:
    """A judgement that is not clean always has something to fix, be it only the objection itself."""
    if not blocking:
        title = "The gate is not met: " + "; ".join(reasons)
        blocking = [Finding(severity=threshold(gate), title=title, category="gate", synthetic=True)]
    return Judgement(clean=False, blocking=tuple(blocking), reasons=tuple(reasons))
