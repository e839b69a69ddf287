"""Hits, findings and targets as the tests of the fixer need them."""

from burnish.agents.panel.autofix.targets import Rule, Target
from burnish.agents.panel.interface import Hit, Remedy, TextEdit, ToolName
from burnish.core.findings import Finding, Location, Severity


def hit(
    rule: str, line: int | None, *, file: str = "a.py", end: int | None = None, remedy: Remedy | None = None
) -> Hit:
    """What a tool reported; `ruff:F401` is its rule."""
    tool, _, name = rule.partition(":")
    return Hit(
        tool=ToolName(tool), rule=name, file=file, line=line, end_line=end, message=f"{rule} here", remedy=remedy
    )


def remedy(*edits: tuple[int, int, int, int, str], safe: bool = True, title: str = "Mend it") -> Remedy:
    made = tuple(TextEdit(line=a, column=b, end_line=c, end_column=d, text=text) for a, b, c, d, text in edits)
    return Remedy(edits=made, safe=safe, title=title)


def finding(name: str, rule: str, *lines: int, file: str = "a.py", suggestion: str = "") -> Finding:
    """A finding whose first line is its place; the others are further ones."""
    first, *others = [Location(file=file, line=line) for line in lines] or [None]
    return Finding(
        id=name,
        severity=Severity.HIGH,
        title=name,
        rule=rule,
        location=first,
        also_at=tuple(place for place in others if place is not None),
        suggestion=suggestion,
    )


def target(number: int, rule: str, first: int, last: int | None = None, *, finding: str = "x") -> Target:
    tool, _, name = rule.partition(":")
    return Target(
        number=number,
        finding=finding,
        rule=Rule(ToolName(tool), name),
        file="a.py",
        first=first,
        last=last or first,
    )
