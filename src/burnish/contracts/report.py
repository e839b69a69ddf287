"""The `report` contract: a JSON score card with findings and blocking issues.

Whether the scores suffice is recomputed; what the report says of itself is only ever believed where it is worse. A
report of another ticket or revision, and one that passes with half of its keys, is no report of this review.
"""

from burnish.contracts.json_answers import find_answers
from burnish.contracts.json_text import (
    MAX_LISTED,
    FinalMessage,
    Json,
    JsonObject,
    corrections_of,
    first_text,
    number_of,
    place_of,
    text_of,
    title_of,
)
from burnish.contracts.paths import IsFile
from burnish.contracts.registry import Expected
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Finding, Severity
from burnish.core.gates import overall_score, unmet_criteria
from burnish.core.protocol import ScoreGate
from burnish.core.reviews import Answer, DimensionScore, ScoreCard, Weight

STANDARD_GATE = ScoreGate()
_SEVERITIES = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "info": Severity.INFO}


_REQUIRED = (
    *("ticket_id", "revision_count", "status", "overall_score", "dimension_scores", "findings", "blocking_issues"),
    *("approved", "pass_criteria_met"),
)
"""What a report that passes must have. Its date, its author and notes for a revision say nothing about the change."""


def parse(
    said: str | FinalMessage, is_file: IsFile, gate: ScoreGate = STANDARD_GATE, expected: Expected | None = None
) -> Answer:
    """Read a report. Clean means that it meets every criterion of the gate."""
    found = find_answers(said, "dimension_scores")
    report, *others = found.answers
    if others:
        raise UnreadableError("The text contains several reports that differ.", hint="Ask for exactly one report.")
    if expected is not None:
        _refuse_another(report, expected)
    corrections: list[str] = []
    blocking = _blocking_issues(report)
    notes = text_of(report.get("revision_notes"), 20_000)
    claims = _claims(report, corrections)
    card = ScoreCard(
        dimensions=_dimensions(report["dimension_scores"], corrections),
        blocking_issues=len(blocking),
        revision_notes=notes,
        claimed_pass=all(claims.values()),
        claimed_overall=number_of(report.get("overall_score")),
    )
    unmet = unmet_criteria(gate, card)
    if not claims["status"] and not blocking and not notes:
        raise UnreadableError(
            "The report fails, but has neither blocking issues nor revision notes: there is nothing to act on.",
            hint="Ask for blocking_issues or revision_notes that say what must change.",
        )
    listed = (*blocking, *_findings(report, is_file, corrections))
    _contradictions(gate, card, claims, unmet, corrections)
    findings = listed if listed or not unmet else (_synthetic(notes, unmet),)
    if not unmet and (missing := [key for key in _REQUIRED if report.get(key) is None]):
        raise UnreadableError(
            f"The report passes, but it lacks {', '.join(missing)}.", hint="Every key of the format is required."
        )
    answer = Answer(clean=not unmet, findings=findings, card=card, corrections=corrections_of(corrections))
    return found.settled(answer, notes)


def _refuse_another(report: JsonObject, expected: Expected) -> None:
    """Refuse a report that names another ticket or another revision than the one that was asked for."""
    ticket = report.get("ticket_id")
    if ticket is not None and text_of(ticket).casefold() != text_of(expected.ticket).casefold():
        raise UnreadableError(
            f"The report is about the ticket '{text_of(ticket, 100)}', not about '{text_of(expected.ticket, 100)}'.",
            hint=f'Set "ticket_id" to "{text_of(expected.ticket, 100)}".',
        )
    revision = report.get("revision_count")
    if revision is not None and number_of(revision) != expected.revision:
        raise UnreadableError(
            f"The report is about revision {text_of(revision, 40)}, not about {expected.revision}.",
            hint=f'Set "revision_count" to {expected.revision}.',
        )


def _dimensions(scores: Json, corrections: list[str]) -> tuple[DimensionScore, ...]:
    if not isinstance(scores, dict) or not scores:
        raise UnreadableError("dimension_scores is empty or not an object.", hint="Score every dimension.")
    if len(scores) > MAX_LISTED:
        raise UnreadableError("dimension_scores has too many entries.", hint="Score only the requested dimensions.")
    return tuple(_dimension(name, entry, corrections) for name, entry in scores.items())


def _dimension(raw_name: str, entry: Json, corrections: list[str]) -> DimensionScore:
    name = text_of(raw_name, 100)
    raw = entry.get("score") if isinstance(entry, dict) else entry
    score = number_of(raw)
    if score is None or not 0 <= score <= 100:
        raise UnreadableError(f"The score of {name} is not a number from 0 to 100.", hint="Scores range from 0 to 100.")
    if isinstance(raw, str):
        corrections.append(f"The score of {name} is a string; it is read as {score:g}.")
    word = entry.get("weight") if isinstance(entry, dict) else None
    weight = next((weight for weight in Weight if weight.value == word), None)
    if word is not None and weight is None:
        corrections.append(f"The weight of {name} is unknown; the protocol's weight counts.")
    return DimensionScore(name=name, score=score, weight=weight)


def _claims(report: JsonObject, corrections: list[str]) -> dict[str, bool]:
    """What the report says of itself, by key. Only `status` is required; a malformed claim is no pass."""
    status = text_of(report.get("status"), 20).lower()
    if status not in ("pass", "fail"):
        raise UnreadableError("status is missing or neither pass nor fail.", hint='Set "status" to "pass" or "fail".')
    claims: dict[str, Json] = {}
    if report.get("approved") is not None:
        claims["approved"] = report["approved"]
    criteria = report.get("pass_criteria_met")
    if isinstance(criteria, dict):
        for key, met in criteria.items():
            name = f"pass_criteria_met.{text_of(key, 60)}"
            # Two keys may become one when they are cleaned or cut: what is not met holds.
            claims[name] = met if claims.get(name, True) is True else claims[name]
    elif criteria is not None:
        claims["pass_criteria_met"] = criteria
    corrections += [f"{key} is not a boolean: no pass." for key, claim in claims.items() if not isinstance(claim, bool)]
    read = {"status": status == "pass"} | {key: claim is True for key, claim in claims.items()}
    overall = number_of(report.get("overall_score"))
    if overall is not None and not 0 <= overall <= 100:
        raise UnreadableError("overall_score is not a number from 0 to 100.", hint="Scores range from 0 to 100.")
    if report.get("overall_score") is not None and overall is None:
        corrections.append("overall_score is not a number: no pass.")
        read["overall_score"] = False
    return read


def _contradictions(
    gate: ScoreGate, card: ScoreCard, claims: dict[str, bool], unmet: tuple[str, ...], corrections: list[str]
) -> None:
    """Mark every claim that the scores, or another claim, refute."""
    if unmet:
        refuted = [key for key, claim in claims.items() if claim and key in ("status", "approved", "pass_criteria_met")]
        corrections += [f"{key} says pass, but: {'; '.join(unmet)}." for key in refuted]
    if claims["status"]:
        corrections += [f"{key} says fail where status says pass: fail counts." for key, ok in claims.items() if not ok]
    mean = overall_score(gate, card)
    if card.claimed_overall is not None and abs(card.claimed_overall - mean) > 1:
        corrections.append(f"overall_score says {card.claimed_overall:g}, the scores give {mean:.4g}.")


def _blocking_issues(report: JsonObject) -> tuple[Finding, ...]:
    """The list is required: without it, it is not known that nothing blocks."""
    issues = report.get("blocking_issues")
    if not isinstance(issues, list) or len(issues) > MAX_LISTED:
        raise UnreadableError("blocking_issues is missing or not a list.", hint="An empty list means that none blocks.")
    return tuple(_blocking_issue(issue) for issue in issues)


def _blocking_issue(issue: Json) -> Finding:
    record = issue if isinstance(issue, dict) else {}
    message = first_text(record, "message", "description", "title") or text_of(issue)
    return Finding(
        severity=Severity.CRITICAL,
        title=title_of(message) or "A blocking issue without a message",
        problem=message,
        category=text_of(record.get("dimension"), 100),
        suggestion=first_text(record, "required_action", "suggestion"),
    )


def _findings(report: JsonObject, is_file: IsFile, corrections: list[str]) -> tuple[Finding, ...]:
    findings = report.get("findings")
    if findings is None:
        return ()
    if not isinstance(findings, list) or len(findings) > MAX_LISTED:
        raise UnreadableError("findings is not a list.", hint="Findings are a list of objects.")
    return tuple(_finding(finding, is_file, corrections) for finding in findings)


def _finding(record: Json, is_file: IsFile, corrections: list[str]) -> Finding:
    message = first_text(record, "message", "description", "title") if isinstance(record, dict) else ""
    if not isinstance(record, dict) or not message:
        raise UnreadableError(
            f"An entry of findings is not a finding: {text_of(record, 100) or 'null'}",
            hint="Findings are objects with a severity and a message.",
        )
    severity = _SEVERITIES.get(text_of(record.get("severity"), 20).lower())
    if severity is None:
        corrections.append("A finding has no known severity; it counts as high.")
    return Finding(
        severity=severity or Severity.HIGH,
        title=title_of(message),
        problem=message,
        category=text_of(record.get("dimension"), 100),
        location=place_of(record, record.get("line"), record.get("end_line"), is_file, corrections),
        suggestion=text_of(record.get("suggestion")),
    )


def _synthetic(notes: str, unmet: tuple[str, ...]) -> Finding:
    criteria = "Criteria not met:\n" + "\n".join(f"- {line}" for line in unmet)
    return Finding(
        severity=Severity.CRITICAL,
        title=title_of(notes) or "The scores do not meet the criteria",
        problem=text_of(f"{notes}\n\n{criteria}", 20_000),
        category="report",
        synthetic=True,
    )
