"""Files of data that cannot be parsed, keys that are there twice, and conflicts of a merge that were committed.

A template of data is none: what will be in its place is not known here.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.reporting import OwnRule, hit, pattern, rule_data
from burnish.agents.panel.tools.reading import text
from burnish.core.values import Value, replace
from burnish.settings.globs import matches
from burnish.settings.yaml_nodes import YamlError, YamlNode, documents

_RULES = "data-files"
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
_JSON_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[{}\[\]:,]')
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'")
_HELM = re.compile(r"(?<!\$)\{\{")
_TOML_LINE = re.compile(r"at line (\d+)")
_MERGED = "<<"
_MOST_YAML = 512 * 1024
"""Longer ones are lock files and recordings; reading one takes seconds."""


class BrokenData(Value):
    """Where a file cannot be parsed, and what the parser says."""

    line: int | None
    message: str
    may_be_meant: bool = False
    """Some programs read it all the same: JSON with comments, or several values one after the other."""


class DataKey(Value):
    """A key that a mapping of a file has for the second time."""

    name: str
    line: int


def data_hits(path: str, content: bytes) -> Iterator[Hit]:
    """What is wrong with a file of data. Nothing for files of any other kind."""
    look = _LOOKS.get(PurePosixPath(path).suffix.lower())
    if look is None:
        return
    try:
        lines = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return
    if not lines.strip() and PurePosixPath(path).parts[0].startswith("."):
        return  # settings of an editor, of which there are none yet
    found = tuple(look(path, lines))
    if not found or _is_template(path, lines):
        return
    for one in found:
        match one:
            case BrokenData():
                broken = hit(OwnRule.INVALID_DATA, path, one.line, f"The file cannot be parsed: {text(one.message)}.")
                yield replace(broken, doubtful=one.may_be_meant)
            case DataKey():
                said = f"The key `{text(one.name)}` is there twice; the first value is lost."
                yield hit(OwnRule.DUPLICATE_KEY, path, one.line, said)


def _is_template(path: str, lines: str) -> bool:
    """Whether a file is a template, of which data is made later: something to fill in stands outside of its texts."""
    if "templates" in PurePosixPath(path).parts and _HELM.search(lines):
        return True
    return any(pattern(_RULES, "templates").search(_QUOTED.sub("''", line)) for line in lines.split("\n"))


def _json(path: str, lines: str) -> Iterator[BrokenData | DataKey]:
    if any(matches(path, glob) for glob in rule_data(_RULES)["with_comments"]):
        lines = _LAST_COMMA.sub(_kept_text, _COMMENT.sub(_blank, lines))
    twice: list[str] = []

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in found}) < len(found):
            twice.append("")
        return dict(found)

    try:
        json.loads(lines, object_pairs_hook=pairs, strict=False)
    except json.JSONDecodeError as error:
        known = any(matches(path, glob) for glob in rule_data(_RULES)["without_comments"])
        may_be_meant = not known and (_has_comments(lines) or _has_many_values(lines))
        yield BrokenData(line=error.lineno, message=error.msg, may_be_meant=may_be_meant)
    except RecursionError:
        return
    if twice:
        yield from _keys_twice(lines)


def _has_comments(lines: str) -> bool:
    """Whether comments are all that keeps a text from being JSON."""
    try:
        json.loads(_COMMENT.sub(_blank, lines), strict=False)
    except (json.JSONDecodeError, RecursionError):
        return False
    return True


def _has_many_values(lines: str) -> bool:
    """Whether a text is one object after the other, as databases and logs write them."""
    decoder = json.JSONDecoder(strict=False)
    end, places = 0, _NEXT_OBJECT.finditer(lines)
    try:
        for found in places:
            if found.start() >= end:
                if lines[end : found.start()].strip():
                    return False
                _, end = decoder.raw_decode(lines, found.start())
    except (json.JSONDecodeError, RecursionError):
        return False
    return end > 0 and not lines[end:].strip()


_NEXT_OBJECT = re.compile(r"\{")


def _blank(match: re.Match[str]) -> str:
    """A comment as white space of as many lines; a text as it is."""
    return match[0] if match[0].startswith('"') else "\n" * match[0].count("\n")


def _kept_text(match: re.Match[str]) -> str:
    return match[0] if match[0].startswith('"') else ""


def _keys_twice(lines: str) -> Iterator[DataKey]:
    """The keys that an object of a JSON file has twice, told by its tokens: the parser forgets their places."""
    open_objects: list[set[str] | None] = []
    last = ""
    for token in _JSON_TOKEN.finditer(lines):
        sign = token[0]
        if sign in "{[":
            open_objects.append(set() if sign == "{" else None)
        elif sign in "}]":
            open_objects.pop()
        elif sign == ":" and (keys := open_objects[-1]) is not None:
            if last in keys:
                yield DataKey(name=last[1:-1], line=lines.count("\n", 0, token.start()) + 1)
            keys.add(last)
        last = sign


def _yaml(path: str, lines: str) -> Iterator[BrokenData | DataKey]:
    del path
    if len(lines) > _MOST_YAML:
        return
    try:
        found = documents(lines)
    except YamlError as error:
        yield BrokenData(line=error.line, message=error.message)
        return
    for document in found:
        yield from _yaml_keys_twice(document)


def _yaml_keys_twice(document: YamlNode) -> Iterator[DataKey]:
    todo, seen = [document], set[int]()
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue  # an alias leads to a node a second time
        seen.add(id(node))
        names = set[str]()
        for key, _ in node.pairs:
            if key.is_scalar and key.text != _MERGED and key.text in names:
                yield DataKey(name=key.text, line=key.line)
            names.add(key.text)
        todo += [*node.items, *(value for _, value in node.pairs)]


def _toml(path: str, lines: str) -> Iterator[BrokenData]:
    del path
    try:
        tomllib.loads(lines)
    except tomllib.TOMLDecodeError as error:
        line = _TOML_LINE.search(str(error))
        yield BrokenData(line=int(line[1]) if line else None, message=str(error).split(" (at ")[0])
    except RecursionError:
        return


_LOOKS: dict[str, Callable[[str, str], Iterator[BrokenData | DataKey]]] = {
    ".json": _json,
    ".jsonc": _json,
    ".yml": _yaml,
    ".yaml": _yaml,
    ".toml": _toml,
    ".code-workspace": _json,
    ".code-snippets": _json,
    ".sublime-project": _json,
}

_MARKERS = re.compile(
    rb"^<{7}(?: [^\n]*)?\r?\n(?:(?!<{7}|>{7}).*\n)*?={7}\r?\n(?:(?!<{7}|>{7}).*\n)*?>{7}(?: [^\n]*)?\r?$", re.MULTILINE
)


def merge_markers(path: str, content: bytes) -> Iterator[Hit]:
    """Conflicts that were committed with their three markers."""
    if b"\n>>>>>>>" not in content or b"\0" in content:
        return
    for found in _MARKERS.finditer(content):
        line = content.count(b"\n", 0, found.start()) + 1
        yield hit(OwnRule.MERGE_MARKER, path, line, "A merge conflict was committed with its markers.")
