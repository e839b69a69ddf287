"""What the embedded panel looks for: data in `rules/`, one file for each check, loaded strictly.

Every rule of a tool has one owner: the check whose selector names it most exactly, so that no two report the
same hit. What a check leaves out on purpose is an entry too, with its reason. Nothing here runs a tool or knows a hit.
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

BUGS, STYLE, SECURITY, ERRORS = "bugs", "style", "security", "errors"
STATIC_CHECKS = (BUGS, STYLE, SECURITY, ERRORS)
"""The checks that look at code. The fifth, `tests`, runs the project's own."""

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
    """Some rules of a tool that a check looks for."""

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
    """Only hits whose message this pattern is found in; such an entry comes before one without."""
    files: tuple[str, ...] = ()
    """Only hits in files whose names end like one of these; such an entry comes before one without."""
    preview: bool = False
    """Whether the tool offers the rules only on request (see `RuleSelection`)."""


class LeftOut(Value):
    """Some rules of a tool that a check does not look for, and why not."""

    tool: ToolName
    rules: tuple[str, ...]
    why: str
    message: str = ""
    """Only hits whose message this pattern is found in."""
    files: tuple[str, ...] = ()
    """Only hits in files whose names end like one of these."""


class CheckRules(Value):
    """One file of rules."""

    about: str
    look: tuple[Look, ...]
    leave_out: tuple[LeftOut, ...] = ()
    in_tests: Severity | None = None
    """For entries that do not say it themselves."""


class Measured(Value):
    """How accurate the findings of a rule were in existing code of mature projects."""

    serious: int = 0
    harmless: int = 0
    """True, and harmless where they stood."""
    wrong: int = 0


class Claim(Value):
    """An entry of a check that means a rule, and how exactly."""

    check: str
    entry: Look | LeftOut
    weight: int


def parse(raw: bytes, name: str, kind: type[Loaded]) -> Loaded:
    """A file of rules. Raises `DocumentError` with everything in it that is not as it must be."""
    return convert(read_document(raw, name), kind)


@cache
def rules_of(check: str) -> CheckRules:
    """The rules of a check."""
    return _load(f"{check}.toml", CheckRules)


@cache
def asked_for() -> Words:
    """The words for rules of no check that the project's own configuration, or its settings for burnish, asks for."""
    return _load("asked-for.toml", Words)


@cache
def standing() -> dict[str, dict[str, Measured]]:
    """How accurate rules are on existing code, by tool and rule."""
    return _load("standing.toml", dict[str, dict[str, Measured]])


def looks(tool: ToolName) -> Iterator[tuple[str, Look]]:
    """Every entry of every check for a tool, with its check."""
    return ((check, look) for check in STATIC_CHECKS for look in rules_of(check).look if look.tool is tool)


def left_out(tool: ToolName) -> Iterator[tuple[str, LeftOut]]:
    """Everything that some check leaves out of a tool's rules, with its check."""
    return ((check, entry) for check in STATIC_CHECKS for entry in rules_of(check).leave_out if entry.tool is tool)


def narrowness(entry: Look | LeftOut) -> int:
    """How exactly an entry means some hits of its rules: 0 for all of them. A message tells more than a file does."""
    return 2 * bool(entry.message) + bool(entry.files)


@cache
def claims(tool: ToolName, rule: str) -> tuple[Claim, ...]:
    """Every entry that means a rule, the most exact first; of equals, the one for certain messages or files only."""
    found = [
        Claim(check=check, entry=entry, weight=weight(selector))
        for check, entry in (*looks(tool), *left_out(tool))
        for selector in entry.rules
        if selects(tool, selector, rule)
    ]
    return tuple(sorted(found, key=lambda claim: (claim.weight, narrowness(claim.entry)), reverse=True))


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


def _load(name: str, kind: type[Loaded]) -> Loaded:
    raw = (_RULES / name).read_bytes()
    try:
        return msgspec.toml.decode(raw, type=kind)
    except msgspec.DecodeError:
        return parse(raw, name, kind)  # which says where, and what should be there
