"""Doubts about what is said of shell scripts and workflows."""

import re

from burnish.agents.panel.doubts.source import SourceCode
from burnish.agents.panel.interface import Hit

_ECHO = re.compile(r"^\s*(?:.*(?:[;&|({]|\b(?:then|else|do))\s*)?echo\b")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
_OF_MAINTAINERS = re.compile(
    r"\s*(?:github\.(?:ref|ref_name|base_ref|actor|triggering_actor|event\.release\.tag_name|event\.pull_request\.base\.ref)|(?:github\.event\.)?inputs\.[\w-]+"
    r"|(?:secrets|vars)\.[\w-]+)\s*"
)
_ELEMENT = re.compile(r"\$\w+\[(?:[@*]|\$?\w+)\]")


def is_echoed(hit: Hit, source: SourceCode) -> bool:
    """`echo` puts a blank between its arguments, as `$*` does."""
    return _ECHO.search(source.line(hit.line)) is not None


def is_label(hit: Hit, source: SourceCode) -> bool:
    """`[[ SOMETHING ]]` on a line of its own decides nothing: it is there for readers."""
    return re.fullmatch(r"\s*\[\[\s+[\w:]+\s+\]\]\s*", source.line(hit.line)) is not None


def is_coprocess(hit: Hit, source: SourceCode) -> bool:
    """`coproc NAME (command)` declares no function."""
    return re.match(r"\s*coproc\b", source.line(hit.line)) is not None


def goes_through_keys(hit: Hit, source: SourceCode) -> bool:
    """The keys of an array are most often its numbers."""
    return "${!" in source.line(hit.line)


def is_descriptor(hit: Hit, source: SourceCode) -> bool:
    """`>&$number` is not a file for the output and the errors."""
    return ">&$" in source.line(hit.line)


def is_pattern(hit: Hit, source: SourceCode) -> bool:
    """`$name[-.]` in a regular expression is no element of an array."""
    return _ELEMENT.search(source.line(hit.line)) is None


def is_of_maintainers(hit: Hit, source: SourceCode) -> bool:
    """Only who may push to the repository gives the names of its branches and tags, and starts a workflow by hand."""
    found = _EXPRESSION.findall(source.line(hit.line))
    return bool(found) and all(_OF_MAINTAINERS.fullmatch(one) for one in found)


def is_pipe_itself(hit: Hit, source: SourceCode) -> bool:
    """`&>/dev/stdout |` names the pipe."""
    return "/dev/std" in source.line(hit.line)
