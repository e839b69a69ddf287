"""What an `issues` answer says of itself: counts, verdict, status. None of it can make a list of issues better."""

from burnish.contracts.errors import UnreadableError
from burnish.contracts.json_fields import number_of, text_of
from burnish.contracts.json_text import Json, JsonObject
from burnish.contracts.severities import SEVERITY_NAMES
from burnish.core.findings import Finding, Severity

MAX_CLAIMED = 20
"""Findings made up for what a summary counts beyond the list; one of them tells of the rest."""

_CLEAN = frozenset({"clean", "pass", "passed", "approved"})
_NOT_CLEAN = frozenset(
    {"issues_found", "issues", "fail", "failed", "rejected", "changes_requested", "request_changes", "needs_work"}
)
_PASSING_STATUS = _CLEAN | {"success", "succeeded", "ok", "verified", "complete", "completed", "done"}
_TOTALS = ("total", "total_issues")


class Doubt:
    """Collects what is wrong with one answer while it is read."""

    def __init__(self) -> None:
        self.corrections: list[str] = []
        self._malformed: list[str] = []

    def malformed(self, what: str) -> None:
        """Something cannot be read, so the answer is not clean, whatever it lists."""
        if what not in self._malformed[:MAX_CLAIMED]:
            self._malformed.append(what)
            self.corrections.append(f"Malformed: {what}. It counts as issues_found.")

    def findings(self) -> tuple[Finding, ...]:
        """One blocking finding for everything that is malformed."""
        if not self._malformed:
            return ()
        return (_synthetic(Severity.HIGH, "The answer is malformed", "; ".join(self._malformed)),)


def read_summary(
    answer: JsonObject, listed: tuple[Finding, ...], *, explained: bool, doubt: Doubt
) -> tuple[Finding, ...]:
    """Findings for everything that summary, verdict and status claim beyond the list.

    `explained` says that an open former finding already accounts for a verdict that is not clean.
    """
    summary = answer.get("summary")
    if not isinstance(summary, dict):
        doubt.malformed("summary is missing or not an object")
        summary = {}
    claimed = _claimed_beyond(summary, listed, doubt)
    says_clean = _verdicts(summary.get("verdict"), answer.get("verdict"), doubt)
    nothing = not listed and not claimed
    if says_clean and not nothing:
        doubt.corrections.append("The verdict says clean, but issues are listed or counted: issues_found holds.")
    status = text_of(answer.get("status"), 60)
    if nothing and status and _word(status) not in _PASSING_STATUS:
        doubt.corrections.append(f"The status is '{status}', but no issue is listed.")
        return (_synthetic(Severity.CRITICAL, f"The reviewer's status is '{status}'", text_of(answer.get("evidence"))),)
    if nothing and says_clean is False and not explained:
        doubt.corrections.append("The verdict says issues_found, but no issue is listed.")
        return (_synthetic(Severity.HIGH, "The reviewer reports issues without listing one", ""),)
    return claimed


def refuse_uncounted(answer: JsonObject) -> None:
    """A clean answer counts what it did not find: without the counts it may be half of one."""
    summary = answer.get("summary")
    counted = [SEVERITY_NAMES.get(key.lower()) for key in summary] if isinstance(summary, dict) else []
    missing = [name for name in _COUNTED if SEVERITY_NAMES[name] not in counted]
    if missing:
        raise UnreadableError(
            f"The answer is clean, but its summary lacks the count of {', '.join(missing)}.",
            hint="Every count is required; 0 means that nothing was found.",
        )


_COUNTED = ("critical", "warning", "info")


def _verdicts(in_summary: Json, on_top: Json, doubt: Doubt) -> bool | None:
    """Whether every verdict says clean; None where one cannot be read."""
    given = [verdict for verdict in (in_summary, on_top) if verdict is not None]
    words = [_word(verdict) for verdict in given]
    if not words or any(word not in _CLEAN | _NOT_CLEAN for word in words):
        doubt.malformed("the verdict is missing or neither clean nor issues_found")
        return None
    return all(word in _CLEAN for word in words)


def _word(value: Json) -> str:
    return text_of(value, 60).lower().replace("-", "_").replace(" ", "_") if isinstance(value, str) else ""


def _claimed_beyond(summary: JsonObject, listed: tuple[Finding, ...], doubt: Doubt) -> tuple[Finding, ...]:
    claimed = dict.fromkeys(Severity, 0)
    total = 0
    for key, value in summary.items():
        severity = SEVERITY_NAMES.get(key.lower())
        if severity is None and key.lower() not in _TOTALS:
            continue
        number = number_of(value)
        if number is None or number < 0 or not number.is_integer():
            doubt.malformed(f"the count of {key} is not a number")
        elif severity is None:
            total = max(total, int(number))
        else:
            claimed[severity] += int(number)
    found: list[Finding] = []
    for severity, number in claimed.items():
        beyond = number - sum(1 for finding in listed if finding.severity is severity)
        found += _beyond(severity, beyond, f"{severity.value} issues", doubt)
    found += _beyond(Severity.HIGH, total - len(listed) - len(found), "issues", doubt)
    return tuple(found)


def _beyond(severity: Severity, number: int, what: str, doubt: Doubt) -> list[Finding]:
    if number <= 0:
        return []
    doubt.corrections.append(f"The summary counts {number} {what} more than are listed: the larger number holds.")
    problem = f"The summary counts {number} {what} that are not in the list. Ask the reviewer what they are."
    title = f"The summary counts {what} that are not listed"
    return [_synthetic(severity, title, problem) for _ in range(min(number, MAX_CLAIMED))]


def _synthetic(severity: Severity, title: str, problem: str) -> Finding:
    return Finding(severity=severity, title=title, problem=text_of(problem), category="answer", synthetic=True)
