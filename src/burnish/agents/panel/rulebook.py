"""What the embedded panel looks for: data in `rules/`, one file a role, loaded strictly.

Every rule of a tool has one owner: the role whose selector names it most exactly, so that no two reviewers report the
same hit. What a role leaves out on purpose is an entry too, with its reason. Nothing here runs a tool or knows a hit.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.selectors import selects, weight
from burnish.core.findings import Severity
from burnish.core.values import Value
from burnish.settings.conversion import convert
from burnish.settings.documents import did_you_mean, quoted, read_document
from burnish.settings.types import AnalyserSettings

CRITIC = "critic"
PEDANT = "pedant"
STATIC_REVIEWERS = (CRITIC, PEDANT, "security-reviewer", "silent-failure-hunter")
"""The roles that analysers play by looking at code."""

Loaded = TypeVar("Loaded")
_RULES = Path(__file__).with_name("rules")


class Words(Value):
    """What people are told about a rule, beside the tool's own message."""

    category: str
    why: str
    """Why it matters: the impact of the finding."""
    problem_class: str = ""
    """The one problem that several rules report. Rules that can report two problems in one place have none."""
    title: str = ""
    """Instead of the tool's message."""
    suggestion: str = ""
    """Where the tool has none."""


class Look(Words):
    """Some rules of a tool that a role looks for."""

    tool: ToolName
    rules: tuple[str, ...]
    severity: Severity | None = None
    """None where `levels` says it all; hits of other levels are then not reported."""
    levels: dict[str, Severity] = msgspec.field(default_factory=dict[str, Severity])
    """By the tool's own level of the hit."""
    in_tests: Severity | None = None
    """The worst that it can be outside the program itself (see `places`)."""
    in_material: Severity = Severity.LOW
    """The worst that it can be in what tests work on."""
    certain: bool = False
    """Whether it is a defect whatever its author meant: no comment of the change makes it milder."""
    message: str = ""
    """Only hits that say this; such an entry comes before one without."""


class LeftOut(Value):
    """Some rules of a tool that a role does not look for, and why not."""

    tool: ToolName
    rules: tuple[str, ...]
    why: str


class RoleRules(Value):
    """One file of rules."""

    about: str
    look: tuple[Look, ...]
    leave_out: tuple[LeftOut, ...] = ()
    in_tests: Severity | None = None
    """For entries that do not say it themselves."""


class Claim(Value):
    """An entry of a role that means a rule, and how exactly."""

    role: str
    entry: Look | LeftOut
    weight: int


def parse(raw: bytes, name: str, kind: type[Loaded]) -> Loaded:
    """A file of rules. Raises `DocumentError` with everything in it that is not as it must be."""
    return convert(read_document(raw, name), kind)


@cache
def rules_of(role: str) -> RoleRules:
    """The rules of a role."""
    return _load(f"{role}.toml", RoleRules)


@cache
def asked_for() -> Words:
    """The words for rules of no role that the project's own configuration, or its settings for burnish, asks for."""
    return _load("asked-for.toml", Words)


def looks(tool: ToolName) -> Iterator[tuple[str, Look]]:
    """Every entry of every role for a tool, with its role."""
    return ((role, look) for role in STATIC_REVIEWERS for look in rules_of(role).look if look.tool is tool)


def left_out(tool: ToolName) -> Iterator[tuple[str, LeftOut]]:
    """Everything that some role leaves out of a tool's rules, with its role."""
    return ((role, entry) for role in STATIC_REVIEWERS for entry in rules_of(role).leave_out if entry.tool is tool)


@cache
def claims(tool: ToolName, rule: str) -> tuple[Claim, ...]:
    """Every entry that means a rule, the most exact first; of equals, the one for certain messages only."""
    found = [
        Claim(role=role, entry=entry, weight=weight(selector))
        for role, entry in (*looks(tool), *left_out(tool))
        for selector in entry.rules
        if selects(tool, selector, rule)
    ]
    return tuple(sorted(found, key=lambda claim: (claim.weight, _is_narrow(claim.entry)), reverse=True))


def unknown_rules(settings: AnalyserSettings) -> tuple[str, ...]:
    """A sentence for every rule in the settings that names nothing that burnish knows."""
    tools = [tool.value for tool in ToolName]
    own = [rule for _, look in looks(ToolName.AST_GREP) for rule in look.rules]
    sentences: list[str] = []
    for name in settings.rules:
        tool, _, selector = name.partition(":")
        if tool not in tools:
            hint = did_you_mean(tool, tools) or f"The tools are {quoted(tools)}."
            sentences.append(f"'{name}' is not a rule: there is no tool '{tool}'. {hint}")
        elif tool == ToolName.AST_GREP.value and not any(selects(ToolName.AST_GREP, selector, rule) for rule in own):
            hint = did_you_mean(selector, own) or f"They are {quoted(own)}."
            sentences.append(f"'{name}' is not a rule: burnish has no ast-grep rule of that name. {hint}")
    return tuple(sentences)


def _is_narrow(entry: Look | LeftOut) -> bool:
    return isinstance(entry, Look) and entry.message != ""


def _load(name: str, kind: type[Loaded]) -> Loaded:
    raw = (_RULES / name).read_bytes()
    try:
        return msgspec.toml.decode(raw, type=kind)
    except msgspec.DecodeError:
        return parse(raw, name, kind)  # which says where, and what should be there
