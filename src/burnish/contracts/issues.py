"""The `issues` contract: JSON with `issues[]` and a `summary`, as each reviewer of a panel writes it.

The list is the truth. The summary, the verdict and the status can only make it worse: what they claim beyond the list,
and every field that cannot be read, becomes a synthetic finding, so that no gate takes a malformed answer for clean.
"""

from burnish.contracts.errors import UnreadableError
from burnish.contracts.issues_summary import Doubt, read_summary, refuse_uncounted
from burnish.contracts.json_answers import find_answers
from burnish.contracts.json_fields import (
    MAX_LISTED,
    action_of,
    confidence_of,
    corrections_of,
    first_text,
    location_of,
    refuse_too_many,
    text_of,
    title_of,
)
from burnish.contracts.json_text import Json, JsonObject
from burnish.contracts.paths import IsFile
from burnish.contracts.severities import severity_named
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Answer, Former, FormerAnswer


def parse(text: str, is_file: IsFile) -> Answer:
    """Read a reviewer's issues. Clean means that nothing is listed, claimed or malformed."""
    found = find_answers(text, "issues")
    corrections = ["The text holds several answers: all of them count."] if len(found.answers) > 1 else []
    findings: list[Finding] = []
    former: dict[str, Former] = {}
    for answer in found.answers:
        doubt = Doubt()
        listed = _listed(answer, is_file, doubt)
        _read_former(answer.get("former"), former, doubt)
        open_former = any(one.answer is FormerAnswer.NOT_FIXED for one in former.values())
        claimed = read_summary(answer, listed, explained=open_former, doubt=doubt)
        findings += (*listed, *claimed, *doubt.findings())
        corrections += doubt.corrections
        refuse_too_many(len(findings))
    not_fixed = any(one.answer is FormerAnswer.NOT_FIXED for one in former.values())
    read = Answer(
        clean=not findings and not not_fixed,
        findings=tuple(findings),
        former=tuple(former.values()),
        corrections=corrections_of(corrections),
    )
    if read.clean:
        for answer in found.answers:
            refuse_uncounted(answer)
    return found.settled(read, *(remark for answer in found.answers for remark in _remarks(answer)))


def _remarks(answer: JsonObject) -> list[Json]:
    """What an answer says in prose of its own making. Evidence is output of tools, and may say anything."""
    summary = answer.get("summary")
    members = (*answer.items(), *(summary.items() if isinstance(summary, dict) else ()))
    return [value for key, value in members if key not in _NO_REMARKS]


_NO_REMARKS = frozenset({"evidence", "verdict", "status", "reviewer", "agent", "verification_method", "project_type"})


def _listed(answer: JsonObject, is_file: IsFile, doubt: Doubt) -> tuple[Finding, ...]:
    issues = answer["issues"]
    if not isinstance(issues, list):
        raise UnreadableError("issues is not a list.", hint="An empty list means that nothing was found.")
    refuse_too_many(len(issues))
    return tuple(_issue(issue, is_file, doubt) for issue in issues)


def _issue(issue: Json, is_file: IsFile, doubt: Doubt) -> Finding:
    record = issue if isinstance(issue, dict) else {}
    severity = severity_named(record.get("severity"))
    if severity is None:
        doubt.corrections.append("An issue has no known severity; it counts as high.")
    description = first_text(record, "description", "problem", "message")
    title = title_of(first_text(record, "title") or description)
    if not title:
        doubt.corrections.append("An issue has no description; it counts as it stands.")
        quoted = text_of(issue, 500)
        return Finding(
            severity=severity or Severity.HIGH,
            title=title_of(f"An issue without a description: {quoted}"),
            problem=quoted,
            synthetic=True,
        )
    file = record.get("file")
    start = record.get("line", record.get("lineNumber", record.get("lines")))
    location = location_of(file, start, record.get("end_line", record.get("endLine")), is_file)
    if location is None and text_of(file):
        doubt.corrections.append(f"'{text_of(file, 200)}' is no path inside the repository.")
    return Finding(
        severity=severity or Severity.HIGH,
        title=title,
        category=text_of(record.get("category"), 100),
        rule=text_of(record.get("rule"), 200),
        location=location,
        problem=description,
        impact=text_of(record.get("impact")),
        evidence=text_of(record.get("evidence")),
        suggestion=first_text(record, "suggestion", "fix", "recommendation"),
        confidence=confidence_of(record.get("confidence")),
        action=action_of(record.get("action")),
    )


def _read_former(entries: Json, former: dict[str, Former], doubt: Doubt) -> None:
    """Answers about findings of earlier rounds. Where two disagree, the one that leaves more open holds."""
    if entries is None:
        return
    if not isinstance(entries, list) or len(entries) > MAX_LISTED:
        doubt.malformed("former is not a list")
        return
    for entry in entries:
        one = _former(entry, doubt)
        if one is None:
            doubt.malformed("an entry of former has no id")
            continue
        known = former.setdefault(one.id, one)
        if known.answer is not one.answer:
            doubt.corrections.append(f"The former finding {one.id} is answered twice: the worse answer holds.")
            former[one.id] = min(known, one, key=lambda each: _WORST_FIRST.index(each.answer))


_WORST_FIRST = (FormerAnswer.NOT_FIXED, FormerAnswer.FIXED, FormerAnswer.WITHDRAWN)
"""A fix can be looked up in the change; a withdrawal only rests on the reviewer's word."""


def _former(entry: Json, doubt: Doubt) -> Former | None:
    if not isinstance(entry, dict):
        return None
    identity = text_of(entry.get("id"), 200)
    if not identity:
        return None
    word = text_of(entry.get("answer"), 20).lower().replace("_", "-").replace(" ", "-")
    answer = next((answer for answer in FormerAnswer if answer.value == word), None)
    if answer is None:
        doubt.corrections.append(f"The answer to the former finding {identity} is unknown: it counts as not fixed.")
    return Former(id=identity, answer=answer or FormerAnswer.NOT_FIXED, evidence=text_of(entry.get("evidence")))
