"""The names of severities in JSON answers. Each contract's own words come first; common words of others are taken."""

from burnish.contracts.json_fields import text_of
from burnish.contracts.json_text import Json
from burnish.core.findings import Severity

SEVERITY_NAMES = {
    "critical": Severity.CRITICAL,
    "blocker": Severity.CRITICAL,
    "blocking": Severity.CRITICAL,
    "high": Severity.HIGH,
    "error": Severity.HIGH,
    "major": Severity.HIGH,
    "important": Severity.HIGH,
    "warning": Severity.MEDIUM,
    "medium": Severity.MEDIUM,
    "moderate": Severity.MEDIUM,
    "low": Severity.LOW,
    "minor": Severity.LOW,
    "info": Severity.INFO,
    "nit": Severity.INFO,
    "note": Severity.INFO,
}


def severity_named(word: Json) -> Severity | None:
    """The severity that a word means, or None where it means none."""
    return SEVERITY_NAMES.get(text_of(word, 20).lower()) if isinstance(word, str) else None
