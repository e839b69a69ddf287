"""Which tools a reviewer of the embedded panel needs, and which of their hits are its own.

All roles share one run of a tool with burnish's own rules: their tasks are equal, so that the runtime runs it once.
Nothing here starts a tool.
"""

from collections.abc import Iterator, Sequence

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, Task, ToolName
from burnish.agents.panel.rulebook import CRITIC, PEDANT, STATIC_REVIEWERS, Look, left_out, looks
from burnish.agents.panel.rulings import rule_on, wishes
from burnish.agents.panel.tools.registry import TOOLS
from burnish.settings.types import AnalyserSettings

WITNESS = "witness"
"""The role that runs the tests instead; see `analysers.witness`."""

_SELECTIVE = (ToolName.RUFF, ToolName.OXLINT)
"""The tools that are told which rules to try. The others try all of theirs, and what no role wants is dropped."""


def tasks_for(
    reviewer: str, files: Sequence[SourceFile], settings: AnalyserSettings, configured: frozenset[ToolName]
) -> tuple[Task, ...]:
    """What must run for a reviewer. A name that is none of the five means all of them: a panel of one."""
    return tuple(_tasks(_roles(reviewer), files, settings, configured))


def hits_for(reviewer: str, hits: Sequence[Hit], settings: AnalyserSettings) -> tuple[Hit, ...]:
    """The hits that a reviewer reports, each once even where two runs of a tool found it."""
    roles = _roles(reviewer)
    return tuple(hit for hit in dict.fromkeys(hits) if (ruling := rule_on(hit, settings)) and ruling.role in roles)


def looks_for_bugs(reviewer: str) -> bool:
    """Whether a reviewer answers for code that is wrong."""
    return CRITIC in _roles(reviewer)


def _roles(reviewer: str) -> tuple[str, ...]:
    if reviewer == WITNESS:
        return ()
    return (reviewer,) if reviewer in STATIC_REVIEWERS else STATIC_REVIEWERS


def _tasks(
    roles: Sequence[str], files: Sequence[SourceFile], settings: AnalyserSettings, configured: frozenset[ToolName]
) -> Iterator[Task]:
    for name, tool in TOOLS.items():
        only_secrets = name is ToolName.KINGFISHER
        wanted = (file for file in files if only_secrets or not file.only_secrets)
        paths = tuple(sorted(file.path for file in wanted if tool.takes(file)))
        if not paths:
            continue
        if PEDANT in roles and name in configured:
            yield Task(tool=name, choice=RuleSelection(own_configuration=True), files=paths)
        if _is_needed(name, roles, settings, configured):
            yield Task(tool=name, choice=_shared_choice(name, settings, configured), files=paths)
    if any(role in roles for role, _ in looks(ToolName.BURNISH)):
        yield Task(tool=ToolName.BURNISH, choice=RuleSelection(), files=tuple(sorted(file.path for file in files)))


def _is_needed(
    tool: ToolName, roles: Sequence[str], settings: AnalyserSettings, configured: frozenset[ToolName]
) -> bool:
    """Whether one of the roles looks for something that the shared run finds."""
    looking = {role for role, _ in _shared_looks(tool, configured)}
    if _takes_wishes(tool, configured) and _wished(tool, settings):
        looking.add(PEDANT)
    return not looking.isdisjoint(roles)


def _shared_choice(tool: ToolName, settings: AnalyserSettings, configured: frozenset[ToolName]) -> RuleSelection:
    """One choice for all roles: the union of their rules, without what none of them wants."""
    wished = _wished(tool, settings)
    ignored = {selector for _, entry in left_out(tool) for selector in entry.rules} - wished
    selected: set[str] = set()
    if tool in _SELECTIVE:
        selected = {selector for _, look in _shared_looks(tool, configured) for selector in look.rules}
    if _takes_wishes(tool, configured):
        selected |= wished
    return RuleSelection(select=tuple(sorted(selected)), ignore=tuple(sorted(ignored)))


def _takes_wishes(tool: ToolName, configured: frozenset[ToolName]) -> bool:
    """Whether the settings can add rules. A project with a configuration of its own adds them there, with options."""
    return tool in _SELECTIVE and tool not in configured


def _shared_looks(tool: ToolName, configured: frozenset[ToolName]) -> Iterator[tuple[str, Look]]:
    """What roles look for with burnish's own rules: the pedant only where the project has none of its own."""
    return ((role, look) for role, look in looks(tool) if role != PEDANT or tool not in configured)


def _wished(tool: ToolName, settings: AnalyserSettings) -> set[str]:
    """The rules to which the settings give a severity."""
    return {wish.selector for wish in wishes(tool, settings) if wish.severity is not None}
