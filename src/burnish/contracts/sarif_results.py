"""One SARIF result as a finding."""

from burnish.contracts.json_fields import action_of, confidence_of, first_text, text_of, title_of
from burnish.contracts.json_text import Json, JsonObject
from burnish.contracts.sarif_places import Places
from burnish.contracts.sarif_rules import OWN_RULE, Rules, message_of, part, severity_of
from burnish.core.findings import Finding


def read_result(result: JsonObject, rules: Rules, places: Places, corrections: list[str]) -> Finding | None:
    """The finding that a result stands for; None where the result says that nothing is wrong."""
    name, rule = rules.of(result)
    severity = severity_of(result, rule, corrections)
    if severity is None:
        return None
    message = message_of(result.get("message"), rule) or _rule_text(rule) or name or "A result without a message"
    found = result.get("properties")
    properties = found if isinstance(found, dict) else {}
    found_at = places.of(result)
    if not found_at and part(_first(result.get("locations")), "physicalLocation") is not None:
        corrections.append(f"A result of {name or 'no rule'} names no path inside the repository.")
    return Finding(
        severity=severity,
        title=title_of(text_of(properties.get("title")) or message),
        rule="" if name.startswith(OWN_RULE) else name,
        category=_category(properties, rule),
        location=found_at[0] if found_at else None,
        also_at=found_at[1:],
        problem=message,
        impact=text_of(properties.get("impact")),
        evidence=text_of(properties.get("evidence")) or _snippet(result),
        suggestion=text_of(properties.get("suggestion")) or _suggestion(result),
        confidence=confidence_of(properties.get("confidence")),
        action=action_of(properties.get("action")),
    )


def _first(value: Json) -> Json:
    return value[0] if isinstance(value, list) and value else None


def _rule_text(rule: JsonObject) -> str:
    return text_of(part(rule, "shortDescription", "text")) or text_of(part(rule, "fullDescription", "text"))


def _category(properties: JsonObject, rule: JsonObject) -> str:
    described = part(rule, "properties")
    own = first_text(properties, "category") or (
        first_text(described, "category") if isinstance(described, dict) else ""
    )
    return text_of(own or part(rule, "name"), 100)


def _snippet(result: JsonObject) -> str:
    return text_of(part(_first(result.get("locations")), "physicalLocation", "region", "snippet", "text"))


def _suggestion(result: JsonObject) -> str:
    return text_of(part(_first(result.get("fixes")), "description", "text"))
