"""Doubts about what is said of shell scripts."""

import re
from collections.abc import Sequence

from burnish.agents.panel.doubts.source import SourceCode, above
from burnish.agents.panel.interface import Hit

_SAYS_INSECURE = re.compile(
    r"\b(?:if|elif|case)\b.*(?:insecure|unsafe|no-?verify|skip.?verif|strict.?ssl|ignore_?ssl|unauthorized)|\binsecure\w*\)",
    re.IGNORECASE,
)
_CHOOSES = re.compile(r"strict.?ssl\b[^?\n]*\?[^:\n]*:", re.IGNORECASE)
_REMOVED = re.compile(r"""\brm\s+(?:-\w+\s+)*["']?\$\{?(?P<name>\w+)""")
_OF_THIS_MACHINE = re.compile(r"\bcurl\b.*\b(?:localhost|127\.0\.0\.1)\b")
_ASKS_FOR_HERE = re.compile(r"\s*if\b.*(?:localhost|loopback|127\.0\.0\.1)", re.IGNORECASE)
_FUNCTION = re.compile(r"(?:function\s+)?[\w:.-]+\s*(?:\(\)\s*)?\{|function\s")
_ALL_ARGUMENTS = re.compile(r"""\beval\s+(?:--\s+)?["']?\$\{?[@*]""")
_NEARBY = 4
_CHOOSES_SHELL = re.compile(r"\s*(?:SHELL|FROM)\s", re.IGNORECASE)
_OF_WINDOWS = re.compile(r"""\s*SHELL\s*\[\s*"(?:[^"]*[\\/])?(?:powershell|pwsh|cmd)(?:\.exe)?\"""", re.IGNORECASE)
_COMMENTS = ("#", "//", "*", "/*")


def is_label(hit: Hit, source: SourceCode) -> bool:
    """`[[ SOMETHING ]]` on a line of its own decides nothing: it is there for readers."""
    return re.fullmatch(r"\s*\[\[\s+[\w:]+\s+\]\]\s*", source.line(hit.line)) is not None


def is_of_another_shell(hit: Hit, source: SourceCode) -> bool:
    """A Dockerfile of Windows, whose commands are for PowerShell or `cmd`: what they would be for `sh` says nothing."""
    if not hit.rule.startswith("SC"):
        return False
    # Each image begins with a shell of its own.
    chosen = [one for one in source.lines[: hit.line] if _CHOOSES_SHELL.match(one)]
    return bool(chosen) and _OF_WINDOWS.match(chosen[-1]) is not None


def is_coprocess(hit: Hit, source: SourceCode) -> bool:
    """`coproc NAME (command)` declares no function."""
    return re.match(r"\s*coproc\b", source.line(hit.line)) is not None


def is_descriptor(hit: Hit, source: SourceCode) -> bool:
    """`>&$number` is not a file for the output and the errors."""
    return ">&$" in source.line(hit.line)


def is_read_otherwise(hit: Hit, source: SourceCode) -> bool:
    """`name() [[ … ]]` is a function of one test, and `IFS== read` sets the sign to split at: shells take both."""
    line = source.line(hit.line)
    return re.match(r"\s*(?:function\s+)?[\w:.-]+\s*\(\)\s*(?:\[\[|\(\()", line) is not None or "IFS==" in line


def is_pipe_itself(hit: Hit, source: SourceCode) -> bool:
    """`&>/dev/stdout |` names the pipe."""
    return "/dev/std" in source.line(hit.line)


def is_for_zsh(hit: Hit, source: SourceCode) -> bool:
    """A script that asks which shell runs it has lines for zsh, which other shells do not read."""
    del hit
    return "ZSH_VERSION" in source.text or "zsh_shell" in source.text


def runs_its_arguments(hit: Hit, source: SourceCode) -> bool:
    """A function that runs whatever it is called with: `if_ubuntu apt-get update`."""
    line = hit.line or 1
    before = source.lines[: line - 1]
    opened = next((one for one in reversed(before) if _FUNCTION.match(one) or one.startswith("}")), "")
    return _ALL_ARGUMENTS.search(source.line(line)) is not None and _FUNCTION.match(opened) is not None


def is_known_to_be_set(hit: Hit, source: SourceCode) -> bool:
    """A condition around the line asks whether the variable is empty, or whether a folder is called like it."""
    line = hit.line or 1
    removed = _REMOVED.search(source.line(line))
    if removed is None:
        return False
    asks = re.compile(rf"""-[ndef]\s+["']?\$\{{?{removed["name"]}\}}?["']?(?:\s|\]|;|$)""")
    return any(asks.search(one) for one in above(source.lines, line) if re.match(r"\s*(?:el)?if\b|\s*while\b", one))


def is_asked_for(hit: Hit, source: SourceCode) -> bool:
    """Certificates are not checked where the user says so, or the server is on the same machine."""
    line = hit.line or 1
    if _OF_THIS_MACHINE.search("".join(source.lines[line - 1 : line + 1])):
        return True
    if _CHOOSES.search(source.line(line)):
        return True
    before = source.lines[max(0, line - _NEARBY) : line]
    asks = (one for one in before if not one.lstrip().startswith(_COMMENTS))
    return any(map(_SAYS_INSECURE.search, asks)) or _is_asked_for_here(source.lines[max(0, line - _NEARBY - 1) : line])


def _is_asked_for_here(lines: Sequence[str]) -> bool:
    """Whether the last line stands in a branch that is for a server on this machine."""
    return any(_ASKS_FOR_HERE.match(one) and "!" not in one for one in above(lines, len(lines)))
