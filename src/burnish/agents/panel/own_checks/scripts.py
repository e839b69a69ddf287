"""JavaScript and TypeScript across files: names that a module does not have, and async functions that are not awaited.

The other tools see one file; the project's compiler, where it has one, sees more. Only new lines count. Text decides,
not types: what is not plain is left alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.imports import SCRIPT_TOKEN, FilesOfTree, FileVersions, script_file
from burnish.agents.panel.own_checks.reporting import OwnRule, hit
from burnish.agents.panel.tools.reading import text
from burnish.core.values import Value

_SUFFIXES = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_IMPORT = re.compile(
    r"""^[ \t]*import\s+(?!type\s)(?:(?P<default>[\w$]+)\s*,?\s*)?(?:\{(?P<names>[^}]*)\}\s*)?"""
    r"""from\s*["'](?P<module>\.{1,2}/[^"']+)["']""",
    re.MULTILINE,
)
_NAMED = re.compile(r"(?P<name>[\w$]+)(?:\s+as\s+(?P<own>[\w$]+))?")
_ASYNC = re.compile(
    r"^[ \t]*(?:export\s+)?(?P<default>default\s+)?(?:async\s+function\b\s*(?P<function>[\w$]*)"
    r"|(?:const|let)\s+(?P<variable>[\w$]+)\s*(?::[^=\n]+)?=\s*async\b)",
    re.MULTILINE,
)
_PARAMETERS = r"\((?:[^()]|\([^()]*\))*\)\s*(?::\s*[^;{}=]+)?"
_FUNCTION = re.compile(
    rf"(?:(?P<arrow>\basync\s*)?(?:{_PARAMETERS}|[\w$]+\s*)=>"
    rf"|(?P<async>\basync\s+)?(?:\bfunction\b\s*\*?\s*[\w$]*|(?<![\w$.])(?!(?:if|for|while|switch|catch|with)\b)[\w$]+)"
    rf"\s*(?:<[^<>()]*>)?\s*{_PARAMETERS})\s*$"
)
_HEADER = 300
_GOES_ON = re.compile(r"(?:[(,=?:&|.>+*/<!\[-]|\b(?:await|return|yield|void|new|function|typeof|default|in|of))\s*$")
"""What stands before an expression that is a part of a larger one."""
_GOES_ON_AFTER = frozenset("{.?:,)=&|[(+*<>/")
_OPAQUE = re.compile(r"\bexport\s*(?:type\s*)?\*|\bmodule\.exports\s*=|\bexport\s*=|\bObject\.assign\(\s*exports")


class _Import(Value):
    """A name that a file takes from another one of the project."""

    name: str
    own: str
    """What the file calls it."""
    module: str
    line: int


def script_hits(changed: Iterable[FileVersions], head: FilesOfTree) -> Iterator[Hit]:
    """What new lines of scripts take from other files in a way that cannot work."""
    for file in changed:
        if not file.path.endswith(_SUFFIXES):
            continue
        source = file.now.decode("utf-8", "replace")
        taken = [(one, place) for one in _imports(source) if (place := script_file(file.path, one.module, head.paths))]
        modules = head.read({place for _, place in taken if place.endswith(_SUFFIXES)})
        # Types may be in a file of their own, beside a script that knows none.
        typed = head.read({_types_of(place) for place in modules} & head.paths)
        modules = {place: content + b"\n" + typed.get(_types_of(place), b"") for place, content in modules.items()}
        known = {line.strip() for line in file.before.decode("utf-8", "replace").splitlines()}
        lines = source.splitlines()
        for one in (*_missing(file.path, taken, modules), *_not_awaited(file.path, source, taken, modules)):
            if one.line is not None and lines[one.line - 1].strip() not in known:
                yield one


def _types_of(place: str) -> str:
    return re.sub(r"\.([mc]?)js$", r".d.\1ts", place)


def _imports(source: str) -> Iterator[_Import]:
    for found in _IMPORT.finditer(source):
        line = source.count("\n", 0, found.end()) + 1
        if found["default"]:
            yield _Import(name="default", own=found["default"], module=found["module"], line=line)
        for part in (found["names"] or "").split(","):
            if (named := _NAMED.fullmatch(part.strip())) and not part.strip().startswith("type "):
                own = named["own"] or named["name"]
                yield _Import(name=named["name"], own=own, module=found["module"], line=line)


def _missing(path: str, taken: Iterable[tuple[_Import, str]], modules: Mapping[str, bytes]) -> Iterator[Hit]:
    for one, place in taken:
        module = modules.get(place, b"").decode("utf-8", "replace")
        is_there = one.name == "default" or re.search(rf"(?<![\w$]){re.escape(one.name)}(?![\w$])", module)
        if module and not is_there and not _OPAQUE.search(module):
            said = f"`{text(one.module)}` has no `{text(one.name)}`."
            yield hit(OwnRule.MISSING_EXPORT, path, one.line, said)


def _not_awaited(
    path: str, source: str, taken: Iterable[tuple[_Import, str]], modules: Mapping[str, bytes]
) -> Iterator[Hit]:
    code = SCRIPT_TOKEN.sub(_blank, source)
    for one, place in taken:
        if one.name not in _async_names(modules.get(place, b"").decode("utf-8", "replace")):
            continue
        call = re.escape(one.own) + r"\s*\("
        for found in re.finditer(rf"(?:\b(?:if|while)\s*\(\s*|![ \t]*){call}", code):
            said = (
                f"`{text(one.own)}` is async: without `await`, the condition is about a promise, which is always true."
            )
            yield hit(OwnRule.PROMISE_IGNORED, path, _line(code, found.end()), said)
        for found in re.finditer(rf"^[ \t]*{call}", code, re.MULTILINE):
            if _is_statement(code, found.start(), found.end()) and _in_async(code, found.start()):
                said = f"`{text(one.own)}` is async, and nothing waits for it."
                yield hit(OwnRule.PROMISE_IGNORED, path, _line(code, found.end()), said)


def _blank(token: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", token[0])


def _async_names(module: str) -> frozenset[str]:
    found = [(one["function"] or one["variable"], one["default"]) for one in _ASYNC.finditer(module)]
    return frozenset(name for name, _ in found if name) | {"default" for _, default in found if default}


def _line(code: str, position: int) -> int:
    return code.count("\n", 0, position) + 1


def _is_statement(code: str, start: int, opened: int) -> bool:
    """Whether a call, whose argument list was just opened, stands for itself."""
    depth, end = 1, opened
    while depth and end < len(code):
        depth += {"(": 1, ")": -1}.get(code[end], 0)
        end += 1
    return not _GOES_ON.search(code[max(0, start - _HEADER) : start]) and code[end:].lstrip()[:1] not in _GOES_ON_AFTER


def _in_async(code: str, position: int) -> bool:
    """Whether the innermost function around a place is async."""
    depth = 0
    for index in range(position - 1, -1, -1):
        if code[index] == "}":
            depth += 1
        elif code[index] == "{" and depth:
            depth -= 1
        elif code[index] == "{" and (found := _FUNCTION.search(code[max(0, index - _HEADER) : index])):
            return bool(found["arrow"] or found["async"])
    return False
