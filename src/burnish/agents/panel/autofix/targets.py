"""What of a finding can be found again in the tree: the hits of its rules in its places.

A finding that several tools reported has several targets, and is fixed when all of them are gone.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from burnish.agents.panel.autofix.blocks import Block, moved
from burnish.agents.panel.interface import Hit, ToolName
from burnish.agents.panel.selectors import plain
from burnish.core.finding_likeness import listed
from burnish.core.findings import Finding, Location
from burnish.core.values import Value, replace

FIXERS = frozenset({ToolName.RUFF, ToolName.SHELLCHECK, ToolName.OXLINT, ToolName.ZIZMOR})
"""The tools that fix. For what only others found there is nothing to try."""
_TOOLS = {tool.value: tool for tool in ToolName}


class Rule(NamedTuple):
    """A rule of a tool."""

    tool: ToolName
    name: str

    def __str__(self) -> str:
        return f"{self.tool.value}:{self.name}"


class Target(Value):
    """One hit that a finding stands for, and where it is now."""

    number: int
    finding: str
    rule: Rule
    file: str
    first: int
    last: int

    def follow(self, changed: Sequence[Block]) -> "Target":
        """The same after its file changed."""
        first, last = moved(self.first, self.last, changed)
        return replace(self, first=first, last=last)


def rule_of(hit: Hit) -> Rule:
    """The rule of a hit, by the name that findings have for it."""
    return Rule(hit.tool, plain(hit.rule))


def rules_of(finding: Finding) -> frozenset[Rule]:
    """The rules of our tools that reported a finding; none for what a person, a model or a test reported."""
    names = (name.partition(":") for name in listed(finding.rule))
    return frozenset(Rule(_TOOLS[tool], rule) for tool, _, rule in names if tool in _TOOLS and rule)


def may_be_fixable(finding: Finding) -> bool:
    return any(rule.tool in FIXERS for rule in rules_of(finding))


def places_of(finding: Finding) -> tuple[Location, ...]:
    return () if finding.location is None else (finding.location, *finding.also_at)


def targets_of(findings: Iterable[Finding], hits: Sequence[Hit]) -> tuple[Target, ...]:
    """The hits that findings stand for. Each hit belongs to one finding, and of equal ones each finding gets one."""
    wanted = [(finding, place) for finding in findings for place in places_of(finding) if rules_of(finding)]
    owners: dict[int, str] = {}
    for only_first in (True, False):
        for finding, place in wanted:
            for rule in sorted(rules_of(finding), key=str):
                found = [number for number in _at(place, rule, hits) if number not in owners]
                owners.update(dict.fromkeys(found[:1] if only_first else found, finding.id))
    return tuple(_target(number, owners[number], hits[number]) for number in sorted(owners))


def _at(place: Location, rule: Rule, hits: Sequence[Hit]) -> list[int]:
    """The hits of a rule in a place: on its first line, or else on any of its lines."""
    of_rule = [number for number, hit in enumerate(hits) if rule_of(hit) == rule and hit.file == place.file]
    exact = [number for number in of_rule if hits[number].line == place.line]
    return exact or [number for number in of_rule if _location(hits[number]).overlaps(place)]


def _location(hit: Hit) -> Location:
    return Location(file=hit.file, line=hit.line, end_line=hit.end_line)


def _target(number: int, finding: str, hit: Hit) -> Target:
    first = hit.line or 1
    return Target(
        number=number,
        finding=finding,
        rule=rule_of(hit),
        file=hit.file,
        first=first,
        last=max(first, hit.end_line or first),
    )


def paired(targets: Collection[Target], hits: Iterable[Hit]) -> dict[int, Hit]:
    """What a tool says of each target now, by number: on its first line, or else on any. What is gone is left out."""
    free = list(hits)
    found: dict[int, Hit] = {}
    for exact in (True, False):
        for target in targets:
            hit = None if target.number in found else _now(target, free, exact=exact)
            if hit is not None:
                found[target.number] = hit
                free = [other for other in free if other is not hit]
    return found


def _now(target: Target, hits: Iterable[Hit], *, exact: bool) -> Hit | None:
    last = target.first if exact else target.last
    of_rule = (hit for hit in hits if hit.file == target.file and rule_of(hit) == target.rule)
    return next((hit for hit in of_rule if target.first <= (hit.line or 1) <= last), None)
