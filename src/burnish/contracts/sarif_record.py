"""The `sarif` contract, written: findings as a SARIF 2.1.0 log for viewers and code hosts."""

from collections.abc import Sequence
from typing import cast
from urllib.parse import quote

from burnish.contracts.finding_json import source_object
from burnish.contracts.json_text import Json, JsonObject, write_json
from burnish.core.evidence import CensusEntry
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.values import Value

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
OWN_RULE = "burnish/"
"""The rules under which burnish writes findings that have none. Read back, such a finding has none again."""

_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "none",
}
# Code hosts rank by this number; 9 and 7 are their thresholds for critical and high.
_SECURITY_SEVERITIES = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.0",
    Severity.LOW: "2.0",
    Severity.INFO: "0.0",
}


class SarifAccount(Value):
    """What a log says of the review itself, so that an empty list of results cannot be taken for a clean change."""

    outcome: str
    complete: bool
    """Whether the change was reviewed and everything was examined."""
    notices: tuple[str, ...] = ()
    """What was not examined, and which reviewers did not run."""
    census: tuple[CensusEntry, ...] = ()


def render_sarif(findings: Sequence[Finding], tool_version: str, account: SarifAccount | None = None) -> str:
    """A log with one run. Each rule that occurs is described once."""
    identities = list(dict.fromkeys(_rule_id(finding) for finding in findings))
    indexes = {identity: index for index, identity in enumerate(identities)}
    driver: JsonObject = {
        "name": "burnish",
        "version": tool_version,
        "rules": [{"id": identity} for identity in identities],
    }
    run: JsonObject = {
        "tool": {"driver": driver},
        "results": [_result(finding, indexes) for finding in findings],
    }
    if account is not None:
        run["invocations"] = [_invocation(account)]
        run["artifacts"] = [_artifact(entry) for entry in account.census]
        run["properties"] = {"burnish/outcome": account.outcome}
    log: JsonObject = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
    return write_json(log)


def _invocation(account: SarifAccount) -> Json:
    notifications: list[Json] = [{"level": "warning", "message": {"text": notice}} for notice in account.notices]
    return {"executionSuccessful": account.complete, "toolExecutionNotifications": notifications}


def _artifact(entry: CensusEntry) -> Json:
    properties: JsonObject = {"burnish/evidence": entry.level.value, "burnish/enough": entry.enough}
    location: JsonObject = {"uri": quote(entry.file.path), "uriBaseId": "%SRCROOT%"}
    return {"location": location, "roles": ["analysisTarget"] if entry.by else [], "properties": properties}


def _rule_id(finding: Finding) -> str:
    if finding.rule:
        return finding.rule
    words = "".join(letter if letter.isalnum() else " " for letter in finding.category.lower()).split()
    return OWN_RULE + ("-".join(words) or "finding")


def _result(finding: Finding, indexes: dict[str, int]) -> Json:
    identity = _rule_id(finding)
    result: JsonObject = {
        "ruleId": identity,
        "ruleIndex": indexes[identity],
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.problem or finding.title},
        "properties": _properties(finding),
    }
    places = (finding.location, *finding.also_at) if finding.location else finding.also_at
    if places:
        result["locations"] = [_place(place) for place in dict.fromkeys(places)]
    if finding.id:
        result["partialFingerprints"] = {"burnish/v1": finding.id}
    return result


def _properties(finding: Finding) -> JsonObject:
    """What SARIF has no word for. Empty fields are left out."""
    further: dict[str, str | float | None] = {
        "title": finding.title,
        "category": finding.category,
        "impact": finding.impact,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
        "confidence": finding.confidence,
        "action": None if finding.action is Action.FIX else finding.action.value,
    }
    properties: JsonObject = {"security-severity": _SECURITY_SEVERITIES[finding.severity]}
    if finding.sources:
        properties["burnish/sources"] = [cast("Json", source_object(source)) for source in finding.sources]
    return properties | {key: value for key, value in further.items() if value not in (None, "")}


def _place(location: Location) -> Json:
    physical: JsonObject = {"artifactLocation": {"uri": quote(location.file), "uriBaseId": "%SRCROOT%"}}
    if location.line is not None:
        region: JsonObject = {"startLine": location.line}
        physical["region"] = region if location.end_line is None else region | {"endLine": location.end_line}
    return {"physicalLocation": physical}
