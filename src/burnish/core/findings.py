"""A finding: one problem that a reviewer reports, and the words to rank it."""

from collections import Counter
from collections.abc import Iterable
from enum import Enum

import msgspec

from burnish.core.values import Value


class Severity(Enum):
    """How bad a finding is, from worst to least. The order of the members is the order of severity."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANKS[self]

    def at_least(self, threshold: "Severity") -> bool:
        return self.rank <= threshold.rank

    @staticmethod
    def worst(severities: "Iterable[Severity]") -> "Severity":
        return min(severities, key=lambda severity: severity.rank)


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class Action(Enum):
    """What a finding asks for: a fix, a person's decision, or only to be noted."""

    FIX = "fix"
    ASK = "ask"
    NOTE = "note"


END_OF_FILE = 1 << 62
"""The last line of a place that names none: it covers its whole file."""


class Location(Value):
    """Where a finding is: a path inside the repository and, where known, its lines (1-based, inclusive)."""

    file: str
    line: int | None = None
    end_line: int | None = None

    @property
    def last_line(self) -> int | None:
        return self.line if self.end_line is None else self.end_line

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last line. Without lines, the whole file is meant."""
        return (0, END_OF_FILE) if self.line is None else (self.line, max(self.line, self.last_line or 0))

    def overlaps(self, other: "Location") -> bool:
        """Whether both name the same file and share a line."""
        (first, last), (other_first, other_last) = self.span, other.span
        return self.file == other.file and first <= other_last and other_first <= last


class Source(Value):
    """What one reviewer said of a problem that several reported, in its own words."""

    found_by: tuple[str, ...]
    severity: Severity
    title: str
    id: str = ""
    """Its own identity, by which it is recognised where the others do not report it again."""
    category: str = ""
    rule: str = ""
    location: Location | None = None
    problem: str = ""
    impact: str = ""
    evidence: str = ""
    suggestion: str = ""


class Finding(Value):
    """One problem. `id` is its identity (see `core/finding_identity.py`), which a parser leaves empty."""

    severity: Severity
    title: str
    id: str = ""
    category: str = ""
    rule: str = ""
    """The analyser's rule, where the finding comes from one; several are separated by commas. Part of the identity."""
    problem_class: str = ""
    """What rules of several analysers have in common that report one problem; several are separated by commas."""
    location: Location | None = None
    anchor: str = ""
    """The text of its first line without white space, where the tree was at hand. Part of the identity."""
    also_at: tuple[Location, ...] = ()
    """Further places of the same problem, in the order in which they were named."""
    problem: str = ""
    impact: str = ""
    evidence: str = ""
    suggestion: str = ""
    confidence: float | None = None
    action: Action = Action.FIX
    found_by: tuple[str, ...] = ()
    fixable: bool = False
    """Whether the tool that reported it has a safe fix for it."""
    synthetic: bool = False
    """Made by burnish because an answer that is not clean listed nothing."""
    sources: tuple[Source, ...] = ()
    """What each reviewer said, where several reported the problem; the finding itself has the words of the worst."""


def sources_of(finding: Finding) -> tuple[Source, ...]:
    """What was said of a finding, by each reviewer: its sources, or itself where it has only one."""
    return finding.sources or (Source(**{name: getattr(finding, name) for name in Source.__struct_fields__}),)


class Counts(Value, omit_defaults=False):
    """How many findings there are of each severity. Always computed from findings, never taken from a text."""

    critical: int = 0
    high: int = 0
    medium: int = 0
    low: int = 0
    info: int = 0

    @property
    def total(self) -> int:
        return self.critical + self.high + self.medium + self.low + self.info


def count(findings: Iterable[Finding]) -> Counts:
    return Counts(**Counter(finding.severity.value for finding in findings))


def required_changes(findings: Iterable[Finding]) -> str:
    """What findings ask for, one line each, for a reader who sees nothing else of them."""
    return "\n".join(_required_change(finding) for finding in findings)


def _required_change(finding: Finding) -> str:
    place = finding.location
    where = "" if place is None else f"{place.file}: " if place.line is None else f"{place.file}:{place.line}: "
    action = f": {finding.suggestion}" if finding.suggestion.strip() else ""
    return "- " + " ".join(f"{where}{finding.title}{action}".split())


class FindingStatus(Enum):
    """The fate of a finding so far."""

    OPEN = "open"
    RESOLVED = "resolved"
    WITHDRAWN = "withdrawn"
    REFUTED = "refuted"
    WAIVED = "waived"
    FILED = "filed"


class FixVerdict(Enum):
    """What a fixer says of a finding that it was handed. All of it is a claim."""

    FIXED = "fixed"
    NOT_FIXED = "not-fixed"
    REFUTED = "refuted"
    """It says that there is no such problem, which a reviewer or a person may confirm."""
    NO_ANSWER = "no-answer"

    @property
    def words(self) -> str:
        """The verdict as people write it."""
        return self.value.replace("-", " ")

    @property
    def leaves_it(self) -> bool:
        """Whether the fixer itself says that it did not remove the problem."""
        return self in (FixVerdict.NOT_FIXED, FixVerdict.REFUTED)


class Tracked(Value):
    """A finding over the rounds of a run. Its location is kept up to date as fixes move lines.

    Ledgers hold the fields under their older, shorter names.
    """

    finding: Finding
    round: int
    last_reported_round: int = msgspec.field(name="seen")
    """The last round in which a reviewer reported it."""
    status: FindingStatus = FindingStatus.OPEN
    blocking: bool = False
    lines_changed: bool = msgspec.field(default=False, name="touched")
    """Whether a fix changed its lines since it was last reported."""
    decided: bool = msgspec.field(default=False, name="asked")
    """Whether it was put to a person, who has decided."""
    left_by_fixer: bool = msgspec.field(default=False, name="left")
    """Whether the fixer that last changed its lines says that the problem is still there, or that there is none."""
    note: str = ""
    dismissed_by: str = ""
    """Who refuted or waived it, where that is known; `note` says why."""
    dismissed_at: float = 0.0

    @property
    def may_be_gone(self) -> bool:
        """Whether its lines were changed, by a fix that does not itself say that the problem was left."""
        return self.lines_changed and not self.left_by_fixer

    @property
    def still_blocks(self) -> bool:
        """An open blocker that no fix can have removed: it blocks even if later reviewers miss it."""
        return self.status is FindingStatus.OPEN and self.blocking and not self.may_be_gone
