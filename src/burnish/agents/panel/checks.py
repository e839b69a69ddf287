"""Which tools a reviewer of the embedded panel needs, and which of their hits are its own.

All checks share one run of a tool with burnish's own rules: their tasks are equal, so that the runtime runs it once.
Nothing here starts a tool.
"""

from collections.abc import Iterator, Sequence

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, Task, ToolName
from burnish.agents.panel.rulebook import (
    BUGS,
    ERRORS,
    SECURITY,
    STATIC_CHECKS,
    STYLE,
    Look,
    left_out,
    looks,
    narrowness,
)
from burnish.agents.panel.rulings import rule_on, wishes
from burnish.agents.panel.tools.registry import TOOLS
from burnish.core.findings import Severity
from burnish.settings.types import AnalyserSettings

TESTS = "tests"
"""The check that runs the project's tests; see `project_tests`."""
_SEATS = {
    "critic": BUGS,
    "pedant": STYLE,
    "witness": TESTS,
    "security-reviewer": SECURITY,
    "silent-failure-hunter": ERRORS,
}
"""Names that seats of other protocols have for a check."""

_SELECTIVE = (ToolName.RUFF, ToolName.OXLINT, ToolName.TY)
"""The tools that are told which rules to try. The others try all of theirs, and what no check wants is dropped."""


def tasks_for(
    reviewer: str, files: Sequence[SourceFile], settings: AnalyserSettings, configured: frozenset[ToolName]
) -> tuple[Task, ...]:
    """What must run for a reviewer. A name that is none of the five means all of them: a panel of one."""
    return tuple(_tasks(_checks(reviewer), files, settings, configured))


def hits_for(reviewer: str, hits: Sequence[Hit], settings: AnalyserSettings) -> tuple[Hit, ...]:
    """The hits that a reviewer reports, each once even where two runs of a tool found it."""
    checks = _checks(reviewer)
    return tuple(hit for hit in dict.fromkeys(hits) if (ruling := rule_on(hit, settings)) and ruling.check in checks)


def blocking(hits: Sequence[Hit], settings: AnalyserSettings) -> int:
    """How many of the hits are high or critical."""
    rulings = (rule_on(hit, settings) for hit in hits)
    return sum(ruling is not None and ruling.severity.at_least(Severity.HIGH) for ruling in rulings)


def looks_for_bugs(reviewer: str) -> bool:
    """Whether a reviewer answers for code that is wrong."""
    return BUGS in _checks(reviewer)


def runs_tests(reviewer: str) -> bool:
    """Whether a reviewer runs the project's tests."""
    return TESTS in _checks(reviewer)


def _checks(reviewer: str) -> tuple[str, ...]:
    name = _SEATS.get(reviewer, reviewer)
    return (name,) if name in (*STATIC_CHECKS, TESTS) else (*STATIC_CHECKS, TESTS)


def _tasks(
    checks: Sequence[str], files: Sequence[SourceFile], settings: AnalyserSettings, configured: frozenset[ToolName]
) -> Iterator[Task]:
    for name, tool in TOOLS.items():
        only_secrets = name is ToolName.KINGFISHER
        wanted = (file for file in files if only_secrets or not file.only_secrets)
        paths = tuple(sorted(file.path for file in wanted if tool.takes(file)))
        if not paths:
            continue
        if STYLE in checks and name in configured:
            yield Task(tool=name, choice=RuleSelection(own_configuration=True), files=paths)
        if _is_needed(name, checks, settings, configured):
            yield from (Task(tool=name, choice=choice, files=paths) for choice in _choices(name, settings, configured))
    if any(check in checks for check, _ in looks(ToolName.BURNISH)):
        yield Task(tool=ToolName.BURNISH, choice=RuleSelection(), files=tuple(sorted(file.path for file in files)))


def _is_needed(
    tool: ToolName, checks: Sequence[str], settings: AnalyserSettings, configured: frozenset[ToolName]
) -> bool:
    """Whether one of the checks looks for something that the shared run finds."""
    looking = {check for check, _ in _shared_looks(tool, configured)}
    if _takes_wishes(tool, configured) and _wished(tool, settings):
        looking.add(STYLE)
    return not looking.isdisjoint(checks)


def _choices(tool: ToolName, settings: AnalyserSettings, configured: frozenset[ToolName]) -> Iterator[RuleSelection]:
    """One choice for all checks: the union of their rules, without what none of them wants; previews apart."""
    wished = _wished(tool, settings)
    ignored = {rule for _, entry in left_out(tool) if not narrowness(entry) for rule in entry.rules} - wished
    selected: set[str] = set()
    if tool in _SELECTIVE:
        selected = {rule for _, look in _shared_looks(tool, configured) if not look.preview for rule in look.rules}
    if _takes_wishes(tool, configured):
        selected |= wished
    yield RuleSelection(select=tuple(sorted(selected)), ignore=tuple(sorted(ignored)))
    if previews := {rule for _, look in looks(tool) if look.preview for rule in look.rules}:
        yield RuleSelection(select=tuple(sorted(previews)), preview=True)


def _takes_wishes(tool: ToolName, configured: frozenset[ToolName]) -> bool:
    """Whether the settings can add rules. A project with a configuration of its own adds them there, with options."""
    return tool in _SELECTIVE and tool not in configured


def _shared_looks(tool: ToolName, configured: frozenset[ToolName]) -> Iterator[tuple[str, Look]]:
    """What checks look for with burnish's own rules: style only where the project has none of its own."""
    return ((check, look) for check, look in looks(tool) if check != STYLE or tool not in configured)


def _wished(tool: ToolName, settings: AnalyserSettings) -> set[str]:
    """The rules to which the settings give a severity."""
    return {wish.selector for wish in wishes(tool, settings) if wish.severity is not None}
