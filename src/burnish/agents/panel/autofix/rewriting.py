"""Tools that fix but do not tell their edits: they rewrite a copy, and what concerns the findings at hand is taken.

A tool is told the rules at hand and rewrites one file. Everything that it does elsewhere in the file is dropped.
"""

from collections.abc import Collection, Sequence

from burnish.agents.panel.autofix.blocks import Block, as_spans, blocks
from burnish.agents.panel.autofix.fixes import Fix
from burnish.agents.panel.autofix.targets import Target
from burnish.agents.panel.interface import AnalyserTool, Hit, RuleSelection, ToolInvocation, ToolName
from burnish.core.values import replace

_SAFE = {ToolName.OXLINT: ("--fix",), ToolName.ZIZMOR: ("--fix=safe",)}
_UNSAFE = {
    ToolName.OXLINT: ("--fix", "--fix-suggestions", "--fix-dangerously"),
    ToolName.ZIZMOR: ("--fix=all",),
}


def rewrites(hit: Hit, *, unsafe: bool) -> bool:
    """Whether the tool may be able to rewrite what it found."""
    return hit.tool in _SAFE and (hit.fixable or unsafe)


def rewriting(tool: AnalyserTool, file: str, rules: Collection[str], *, unsafe: bool) -> ToolInvocation:
    """How to have a file rewritten by some rules."""
    call = tool.invocation((file,), RuleSelection(select=tuple(sorted(set(rules)))))
    return replace(call, arguments=(*(_UNSAFE if unsafe else _SAFE)[tool.name], *call.arguments))


def confined(
    before: bytes, after: bytes, wanted: Sequence[tuple[Target, Hit]], tool: ToolName, *, safe: bool
) -> tuple[Fix, ...]:
    """The part of a rewriting that is on the lines of the targets. Blocks that share a target are one fix."""
    fixes: list[tuple[list[Block], dict[int, tuple[Target, Hit]]]] = []
    for block in blocks(before, after):
        touched = {pair[0].number: pair for pair in wanted if block.touches(pair[0].first, pair[0].last)}
        if not touched:
            continue
        joined = [fix for fix in fixes if fix[1].keys() & touched.keys()]
        fixes = [fix for fix in fixes if fix not in joined]
        changed = [part for fix in joined for part in fix[0]] + [block]
        fixes.append((changed, {number: pair for fix in joined for number, pair in fix[1].items()} | touched))
    return tuple(
        Fix(
            tool=tool,
            safe=safe,
            title=_title([hit for _, hit in pairs.values()]),
            spans=as_spans(before, after, changed),
            targets=tuple(target for target, _ in pairs.values()),
        )
        for changed, pairs in fixes
    )


def _title(hits: Sequence[Hit]) -> str:
    titles = (hit.remedy.title if hit.remedy and hit.remedy.title else hit.suggestion for hit in hits)
    return "; ".join(dict.fromkeys(title for title in titles if title))
