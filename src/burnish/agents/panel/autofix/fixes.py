"""Fixes that tools offer, as bytes: each is made whole or not at all, and those that are made together do not meet."""

from collections import Counter
from collections.abc import Iterable, Sequence

from burnish.agents.panel.autofix.edits import Span, clash, spans_of
from burnish.agents.panel.autofix.targets import Rule, Target, rule_of
from burnish.agents.panel.interface import Hit, ToolName
from burnish.core.values import Value, replace


class Fix(Value):
    """One fix of one file, and the targets that are gone with it."""

    tool: ToolName
    safe: bool
    title: str
    spans: tuple[Span, ...]
    targets: tuple[Target, ...]

    @property
    def texts(self) -> tuple[bytes, ...]:
        """What it writes, wherever that is by now."""
        return tuple(span.text for span in self.spans)

    @property
    def words(self) -> str:
        """What is said of it: `ruff's safe fix: Remove unused import`."""
        kind = "safe" if self.safe else "unsafe"
        return f"{self.tool.value}'s {kind} fix" + (f": {self.title}" if self.title else "")


def fix_from(content: bytes, target: Target, hit: Hit) -> Fix | None:
    """The fix that a tool spells out for what it found; None where it has none, or one that does not fit the file."""
    if hit.remedy is None or not hit.remedy.edits:
        return None
    spans = spans_of(content, hit.remedy.edits)
    if spans is None:
        return None
    return Fix(tool=hit.tool, safe=hit.remedy.safe, title=hit.remedy.title, spans=spans, targets=(target,))


def together(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """The fixes that can be made at once: the first comes first, and what is in its way has to wait for another time.

    A tool offers the same fix for several things that it found in one statement: that is one fix.
    """
    chosen: list[Fix] = []
    for fix in fixes:
        same = next((other for other in chosen if (other.tool, other.spans) == (fix.tool, fix.spans)), None)
        if same is not None:
            chosen[chosen.index(same)] = replace(same, targets=(*same.targets, *fix.targets))
        elif not any(clash(one, two) for other in chosen for one in other.spans for two in fix.spans):
            chosen.append(fix)
    return tuple(chosen)


def harm(before: Iterable[Hit], after: Iterable[Hit], fixes: Sequence[Fix]) -> tuple[Rule, ...]:
    """What a file has too much of after some fixes: what was not there before, and what they should have removed.

    Hits are counted by their rules. Their lines say little here, for it is lines that fixes change.
    """
    allowed = Counter(rule_of(hit) for hit in before)
    removed = {target.number: target.rule for fix in fixes for target in fix.targets}
    allowed.subtract(removed.values())
    found = Counter(rule_of(hit) for hit in after)
    return tuple(sorted((rule for rule in found if found[rule] > allowed[rule]), key=str))
