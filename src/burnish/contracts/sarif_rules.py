"""The rules of a SARIF run: which one a result means, and what it says of severity and wording."""

import re

from burnish.contracts.json_fields import number_of, text_of
from burnish.contracts.json_text import Json, JsonObject
from burnish.core.findings import Severity

OWN_RULE = "burnish/"
"""The rules under which burnish writes findings that have none. Read back, such a finding has none again."""

_LEVELS = {"error": Severity.HIGH, "warning": Severity.MEDIUM, "note": Severity.LOW, "none": Severity.INFO}
_NOT_FINDINGS = ("pass", "notApplicable", "informational")
_PLACEHOLDER = re.compile(r"\{(\d{1,3})\}")


def part(record: Json, *keys: str) -> Json:
    """What stands under a path of keys, or None."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    return record


class Rules:
    """The rules of one run, looked up by index or by id."""

    def __init__(self, run: JsonObject) -> None:
        driver, extensions = part(run, "tool", "driver"), part(run, "tool", "extensions")
        self._driver = _list(part(driver, "rules"))
        self._extensions = [_list(part(one, "rules")) for one in _list(extensions)]
        self._by_id: dict[str, JsonObject] = {}
        for rule in (rule for rules in (self._driver, *self._extensions) for rule in rules):
            if isinstance(rule, dict) and isinstance(identity := rule.get("id"), str):
                self._by_id.setdefault(identity, rule)

    def of(self, result: JsonObject) -> tuple[str, JsonObject]:
        """The id of a result's rule, and the rule itself, empty where the run does not describe it."""
        reference = result.get("rule")
        identity = result.get("ruleId") or part(reference, "id")
        name = identity if isinstance(identity, str) else ""
        rule = self._by_index(
            result.get("ruleIndex", part(reference, "index")), part(reference, "toolComponent", "index")
        )
        if not rule:
            # An id may name a part of a rule, as in `CA1000/1`.
            rule = self._by_id.get(name) or self._by_id.get(name.rpartition("/")[0], {})
        return text_of(name or rule.get("id"), 200), rule

    def _by_index(self, index: Json, component: Json) -> JsonObject:
        rules = self._driver
        if isinstance(component, int):
            rules = self._extensions[component] if 0 <= component < len(self._extensions) else []
        rule = rules[index] if isinstance(index, int) and 0 <= index < len(rules) else None
        return rule if isinstance(rule, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def severity_of(result: JsonObject, rule: JsonObject, corrections: list[str]) -> Severity | None:
    """How bad a result is; None where it says that nothing is wrong."""
    level, kind = result.get("level"), result.get("kind", "fail")
    if kind in _NOT_FINDINGS:
        if level in (None, "none"):
            return None
        corrections.append(f"A result of kind {kind} has level {text_of(level, 20)}: it counts.")
    if level is None:
        level = part(rule, "defaultConfiguration", "level") or "warning"
    base = _LEVELS.get(level) if isinstance(level, str) else None
    if base is None:
        corrections.append(f"The level '{text_of(level, 20)}' is unknown: it counts as error.")
        base = Severity.HIGH
    score = number_of(part(result, "properties", "security-severity"))
    if score is None:
        score = number_of(part(rule, "properties", "security-severity")) or 0
    if score >= 9:
        return Severity.CRITICAL
    return Severity.HIGH if score >= 7 else base


def message_of(message: Json, rule: JsonObject) -> str:
    """The text of a message: its own, or the rule's wording with the arguments filled in."""
    own = text_of(part(message, "text")) or text_of(part(message, "markdown"))
    identity = part(message, "id")
    if not own and isinstance(identity, str):
        own = text_of(part(rule, "messageStrings", identity, "text"))
    arguments = [text_of(argument, 500) for argument in _list(part(message, "arguments"))]
    return text_of(_PLACEHOLDER.sub(lambda found: _argument(found, arguments), own)) if arguments else own


def _argument(found: re.Match[str], arguments: list[str]) -> str:
    index = int(found.group(1))
    return arguments[index] if index < len(arguments) else found.group()
