"""How a selector names rules of a tool: one rule, the beginning of several, or all of them. Pure text, no data."""

import re

from burnish.agents.panel.interface import ToolName

EVERYTHING = "*"
"""Every rule of a tool. Any other selector weighs more."""

_WITH_PLUGIN = re.compile(r"(?P<plugin>[\w@/-]+)\((?P<rule>[^()]+)\)")
_LETTERS = re.compile(r"[A-Z]*")
_RULES_OF_RUFF = re.compile(r"[A-Z]+[0-9]*")
_FAMILIES = ("PL",)
"""Beginnings of letters that ruff itself takes for a group of its linters."""


def plain(rule: str) -> str:
    """A rule's one name: `eslint(no-empty)` and `eslint/no-empty` are `no-empty`, `oxc(x)` is `oxc/x`."""
    match = _WITH_PLUGIN.fullmatch(rule)
    name = f"{match['plugin']}/{match['rule']}" if match else rule
    return name.removeprefix("eslint/")


def selects(tool: ToolName, selector: str, rule: str) -> bool:
    """Whether a selector means a rule, or all that another selector means."""
    if selector == EVERYTHING:
        return True
    if tool is ToolName.RUFF and _RULES_OF_RUFF.fullmatch(selector) and not selector[-1].isdigit():
        # `S` is the security linter: it does not mean `SIM`, although `SIM` begins with it.
        letters = _letters(rule)
        return letters == selector or (selector in _FAMILIES and letters.startswith(selector))
    return rule.startswith(selector)


def weight(selector: str) -> int:
    """Of several selectors that mean a rule the heaviest counts, which is the most exact one."""
    return 0 if selector == EVERYTHING else len(selector)


def _letters(rule: str) -> str:
    match = _LETTERS.match(rule)
    return match.group() if match else ""
