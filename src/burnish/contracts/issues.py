"""The `issues` contract: JSON with `issues[]` and a `summary`, as each reviewer of a panel writes it.

The list is the truth. The summary, the verdict and the status can only make it worse: what they claim beyond the list,
and every field that cannot be read, becomes a synthetic finding, so that no gate takes a malformed answer for clean.
"""

from burnish.contracts.json_answers import find_answers
from burnish.contracts.json_text import (
    MAX_LISTED,
    SEVERITY_NAMES,
    FinalMessage,
    Json,
    JsonObject,
    action_of,
    confidence_of,
    corrections_of,
    first_text,
    number_of,
    place_of,
    refuse_too_many,
    severity_named,
    text_of,
    title_of,
)
from burnish.contracts.paths import IsFile
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Answer, Former, FormerAnswer

_NO_REMARKS = frozenset({"evidence", "verdict", "status", "reviewer", "agent", "verification_method", "project_type"})
_WORST_FIRST = (FormerAnswer.NOT_FIXED, FormerAnswer.FIXED, FormerAnswer.WITHDRAWN)
"""A fix can be looked up in the change; a withdrawal only rests on the reviewer's word."""
MAX_CLAIMED = 20
"""Findings made up for what a summary counts beyond the list; one of them tells of the rest."""
_CLEAN = frozenset({"clean", "pass", "passed", "approved"})
_NOT_CLEAN = frozenset(
    {"issues_found", "issues", "fail", "failed", "rejected", "changes_requested", "request_changes", "needs_work"}
)
_PASSING_STATUS = _CLEAN | {"success", "succeeded", "ok", "verified", "complete", "completed", "done"}
_TOTALS = ("total", "total_issues")
_COUNTED = ("critical", "warning", "info")


class _Faults:
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


def parse(said: str | FinalMessage, is_file: IsFile) -> Answer:
    """Read a reviewer's issues. Clean means that nothing is listed, claimed or malformed."""
    found = find_answers(said, "issues")
    corrections = ["The text contains several answers: all of them count."] if len(found.answers) > 1 else []
    findings: list[Finding] = []
    former: dict[str, Former] = {}
    not_fixed = False
    for answer in found.answers:
        faults = _Faults()
        listed = _listed(answer, is_file, faults)
        _read_former(answer.get("former"), former, faults)
        not_fixed = any(one.answer is FormerAnswer.NOT_FIXED for one in former.values())
        claimed = _read_summary(answer, listed, explained=not_fixed, faults=faults)
        findings += (*listed, *claimed, *faults.findings())
        corrections += faults.corrections
        refuse_too_many(len(findings))
    read = Answer(
        clean=not findings and not not_fixed,
        findings=tuple(findings),
        former=tuple(former.values()),
        corrections=corrections_of(corrections),
    )
    if read.clean:
        for answer in found.answers:
            _refuse_uncounted(answer)
    return found.settled(read, *(remark for answer in found.answers for remark in _remarks(answer)))


def _remarks(answer: JsonObject) -> list[Json]:
    """What an answer says in prose of its own making. Evidence is output of tools, and may say anything."""
    summary = answer.get("summary")
    members = (*answer.items(), *(summary.items() if isinstance(summary, dict) else ()))
    return [value for key, value in members if key not in _NO_REMARKS]


def _listed(answer: JsonObject, is_file: IsFile, faults: _Faults) -> tuple[Finding, ...]:
    issues = answer["issues"]
    if not isinstance(issues, list):
        raise UnreadableError("issues is not a list.", hint="An empty list means that nothing was found.")
    refuse_too_many(len(issues))
    return tuple(_issue(issue, is_file, faults) for issue in issues)


def _issue(issue: Json, is_file: IsFile, faults: _Faults) -> Finding:
    record = issue if isinstance(issue, dict) else {}
    severity = severity_named(record.get("severity"))
    if severity is None:
        faults.corrections.append("An issue has no known severity; it counts as high.")
    description = first_text(record, "description", "problem", "message")
    title = title_of(first_text(record, "title") or description)
    if not title:
        faults.corrections.append("An issue has no description; it counts anyway.")
        quoted = text_of(issue, 500)
        return Finding(
            severity=severity or Severity.HIGH,
            title=title_of(f"An issue without a description: {quoted}"),
            problem=quoted,
            synthetic=True,
        )
    start = record.get("line", record.get("lineNumber", record.get("lines")))
    end = record.get("end_line", record.get("endLine"))
    return Finding(
        severity=severity or Severity.HIGH,
        title=title,
        category=text_of(record.get("category"), 100),
        rule=text_of(record.get("rule"), 200),
        location=place_of(record, start, end, is_file, faults.corrections),
        problem=description,
        impact=text_of(record.get("impact")),
        evidence=text_of(record.get("evidence")),
        suggestion=first_text(record, "suggestion", "fix", "recommendation"),
        confidence=confidence_of(record.get("confidence")),
        action=action_of(record.get("action")),
    )


def _read_former(entries: Json, former: dict[str, Former], faults: _Faults) -> None:
    """Answers about findings of earlier rounds. Where two disagree, the one that leaves more open holds."""
    if entries is None:
        return
    if not isinstance(entries, list) or len(entries) > MAX_LISTED:
        faults.malformed("former is not a list")
        return
    for entry in entries:
        one = _former(entry, faults)
        if one is None:
            faults.malformed("an entry of former has no id")
            continue
        known = former.setdefault(one.id, one)
        if known.answer is not one.answer:
            faults.corrections.append(f"There are two answers for the former finding {one.id}: the worse one counts.")
            former[one.id] = min(known, one, key=lambda each: _WORST_FIRST.index(each.answer))


def _former(entry: Json, faults: _Faults) -> Former | None:
    if not isinstance(entry, dict):
        return None
    identity = text_of(entry.get("id"), 200)
    if not identity:
        return None
    word = text_of(entry.get("answer"), 20).lower().replace("_", "-").replace(" ", "-")
    answer = next((answer for answer in FormerAnswer if answer.value == word), None)
    if answer is None:
        faults.corrections.append(f"The answer to the former finding {identity} is unknown: it counts as not fixed.")
    return Former(id=identity, answer=answer or FormerAnswer.NOT_FIXED, evidence=text_of(entry.get("evidence")))


def _read_summary(
    answer: JsonObject, listed: tuple[Finding, ...], *, explained: bool, faults: _Faults
) -> tuple[Finding, ...]:
    """Findings for everything that summary, verdict and status claim beyond the list.

    `explained` says that an open former finding already accounts for a verdict that is not clean.
    """
    summary = answer.get("summary")
    if not isinstance(summary, dict):
        faults.malformed("summary is missing or not an object")
        summary = {}
    claimed = _claimed_beyond(summary, listed, faults)
    says_clean = _verdicts(summary.get("verdict"), answer.get("verdict"), faults)
    nothing = not listed and not claimed
    if says_clean and not nothing:
        faults.corrections.append(
            "The verdict says clean, but issues are listed or counted: it counts as issues_found."
        )
    status = text_of(answer.get("status"), 60)
    if nothing and status and _word(status) not in _PASSING_STATUS:
        faults.corrections.append(f"The status is '{status}', but no issue is listed.")
        return (_synthetic(Severity.CRITICAL, f"The reviewer's status is '{status}'", text_of(answer.get("evidence"))),)
    if nothing and says_clean is False and not explained:
        faults.corrections.append("The verdict says issues_found, but no issue is listed.")
        return (_synthetic(Severity.HIGH, "The reviewer reports issues without listing one", ""),)
    return claimed


def _refuse_uncounted(answer: JsonObject) -> None:
    """A clean answer counts what it did not find: without the counts it may be half of one."""
    summary = answer.get("summary")
    counted = [SEVERITY_NAMES.get(key.lower()) for key in summary] if isinstance(summary, dict) else []
    missing = [name for name in _COUNTED if SEVERITY_NAMES[name] not in counted]
    if missing:
        raise UnreadableError(
            f"The answer is clean, but its summary lacks the count of {', '.join(missing)}.",
            hint="Every count is required; 0 means that nothing was found.",
        )


def _verdicts(in_summary: Json, on_top: Json, faults: _Faults) -> bool | None:
    """Whether every verdict says clean; None where one cannot be read."""
    given = [verdict for verdict in (in_summary, on_top) if verdict is not None]
    words = [_word(verdict) for verdict in given]
    if not words or any(word not in _CLEAN | _NOT_CLEAN for word in words):
        faults.malformed("the verdict is missing or neither clean nor issues_found")
        return None
    return all(word in _CLEAN for word in words)


def _word(value: Json) -> str:
    return text_of(value, 60).lower().replace("-", "_").replace(" ", "_") if isinstance(value, str) else ""


def _claimed_beyond(summary: JsonObject, listed: tuple[Finding, ...], faults: _Faults) -> tuple[Finding, ...]:
    claimed = dict.fromkeys(Severity, 0)
    total = 0
    for key, value in summary.items():
        severity = SEVERITY_NAMES.get(key.lower())
        if severity is None and key.lower() not in _TOTALS:
            continue
        number = number_of(value)
        if number is None or number < 0 or not number.is_integer():
            faults.malformed(f"the count of {key} is not a number")
        elif severity is None:
            total = max(total, int(number))
        else:
            claimed[severity] += int(number)
    found: list[Finding] = []
    for severity, number in claimed.items():
        beyond = number - sum(1 for finding in listed if finding.severity is severity)
        found += _beyond(severity, beyond, f"{severity.value} issues", faults)
    found += _beyond(Severity.HIGH, total - len(listed) - len(found), "issues", faults)
    return tuple(found)


def _beyond(severity: Severity, number: int, what: str, faults: _Faults) -> list[Finding]:
    if number <= 0:
        return []
    faults.corrections.append(f"The summary counts {number} {what} more than are listed: the larger number counts.")
    problem = f"The summary counts {number} {what} that are not in the list. Ask the reviewer what they are."
    title = f"The summary counts {what} that are not listed"
    return [_synthetic(severity, title, problem) for _ in range(min(number, MAX_CLAIMED))]


def _synthetic(severity: Severity, title: str, problem: str) -> Finding:
    return Finding(severity=severity, title=title, problem=text_of(problem), category="answer", synthetic=True)
