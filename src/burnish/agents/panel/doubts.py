"""Reasons to doubt a hit, from the code around it that its tool did not see. A doubtful hit is medium at most.

Each kind was found by reading what must be fixed in whole projects (docs/benchmarks.md): the tool is right about the
line, and the program works all the same. Where the code cannot be parsed, nothing is doubted.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from burnish.agents.panel.interface import Hit, ToolName
from burnish.agents.panel.novelty import LinesOf
from burnish.agents.panel.own_checks.imports import is_optional
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.selectors import plain
from burnish.core.values import replace

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_REPLACED = re.compile(r"from line (?P<line>\d+)")
_NAME = re.compile(r"`(?P<name>\w+)`")
_OF_PYTHON_2 = frozenset({"basestring", "file", "long", "raw_input", "reduce", "reload", "unichr", "unicode", "xrange"})
_VERSION = re.compile(r"version_info|\bPY_?[23]|python_?[23]", re.IGNORECASE)
_ASKS = re.compile(r"\bhasattr\(|version", re.IGNORECASE)
_SAYS_WHY = re.compile(r"\b(?:ignor|suppress|swallow|silent)", re.IGNORECASE)
_CONSTRUCTOR = re.compile(r"`(?P<owner>\w+)\.__(?:init|new)__`")
_METHOD = re.compile(r"bound method `\w+\.(?P<name>\w+)`")
_ATTRIBUTE = re.compile(r"^Object of type .* has no attribute `(?P<name>\w+)`")
_MEMBER = re.compile(r"^Module `[\w.]+` has no member `(?P<name>\w+)`")
_OF_ANOTHER_TYPE = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("_")
)
_MODULE = re.compile(r"^\s*(?:import|export)\b|\brequire\s*\(|\bmodule\.exports\b", re.MULTILINE)
_PAGE = re.compile(r"\b(?:document|window|importScripts|jQuery)\b|\$\(")
_METHOD_BY_NAME = re.compile(r"\bmethod\s*(?:[,}]|:\s*[^\s'\"`]|$)")
_NEARBY = 12
_CACHE = re.compile(r"\w*(?:cache|memo)\w*\s*(?::[^=]+)?=\s*(?:\{\}|\[\]|dict\()")
_PLACES = re.compile(r"placeholder|['\"]\?['\"]|['\"]%s['\"]", re.IGNORECASE)
_BUNDLE = re.compile(r"\[function\s*\(require,\s*module,\s*exports\)|\b__webpack_require__\b")
_LATE = re.compile(r"^\s+.*\brequire\(")
_GROWS = re.compile(r"\.(?:append|extend|insert)\(")
_LONG_LINE = 1_000
_RUNS_CODE = ("no-eval", "no-implied-eval", "no-new-func", "no-script-url")
_ELEMENT = re.compile(r"\$\w+\[(?:[@*]|\$?\w+)\]")


class _Source:
    """A file, and what is asked of it, worked out once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements of a Python file; none where it cannot be parsed."""
        try:
            return ast.parse(self.text).body
        except (SyntaxError, ValueError, RecursionError):
            return []

    def line(self, number: int | None) -> str:
        return next(iter(self.lines[number - 1 : number]), "") if number else ""

    def around(self, line: int | None) -> Iterator[ast.AST]:
        """Every node that a line is part of, the outer ones first."""
        waiting: list[ast.AST] = list(self.body)
        while waiting and line:
            node = waiting.pop(0)
            if _first(node) <= line <= (getattr(node, "end_lineno", None) or line):
                yield node
                waiting.extend(ast.iter_child_nodes(node))

    def function(self, line: int | None) -> _Function | None:
        """The innermost function that a line is part of."""
        return next((node for node in reversed([*self.around(line)]) if isinstance(node, _Function)), None)

    def calls(self, line: int | None) -> list[ast.expr]:
        """What is called in a statement that a line is part of."""
        return [node.func for node in self.around(line) if isinstance(node, ast.Call)]


def _first(node: ast.AST) -> int:
    """The first line of a node, with its decorators; 1 for those that have none, such as a list of arguments."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((one.lineno for one in decorators), default=getattr(node, "lineno", 1))


def with_doubts(hits: Iterable[Hit], lines: LinesOf) -> tuple[Hit, ...]:
    """The hits; those that the code around them makes doubtful say so."""
    sources: dict[str, _Source] = {}

    def is_doubtful(hit: Hit) -> bool:
        doubts = [_OF_TOOLS.get(hit.tool), _DOUBTS.get((hit.tool, plain(hit.rule)))]
        if hit.doubtful or not any(doubts):
            return hit.doubtful
        if hit.file not in sources:
            sources[hit.file] = _Source(lines(hit.file) or ())
        return any(doubt(hit, sources[hit.file]) for doubt in doubts if doubt)

    return tuple(replace(hit, doubtful=is_doubtful(hit)) for hit in hits)


def _is_list_of_work(hit: Hit, source: _Source) -> bool:
    """A list that only grows while it is read gives every element once."""
    return _GROWS.search(source.line(hit.line)) is not None


def _is_filled_later(hit: Hit, source: _Source) -> bool:
    """The function gives the values to `format`."""
    function = source.function(hit.line)
    return function is not None and ".format(" in ast.unparse(function)


def _is_interface(hit: Hit, source: _Source) -> bool:
    """Methods of an interface of zope have no `self`."""
    classes = [node for node in source.around(hit.line) if isinstance(node, ast.ClassDef)]
    return any(_last_name(base).endswith("Interface") for one in classes for base in one.bases)


def _is_no_query(hit: Hit, source: _Source) -> bool:
    """A message of an error, or a query into which only places for values are put."""
    nodes = [*source.around(hit.line)]
    if any(isinstance(node, ast.Raise) for node in nodes):
        return True
    put_in = [ast.unparse(node.value) for node in nodes if isinstance(node, ast.FormattedValue)]
    return bool(put_in) and all(_PLACES.search(one) for one in put_in)


def _is_overload_or_cache(hit: Hit, source: _Source) -> bool:
    """Only type checkers see the signatures of overloads; and a cache is meant to be kept."""
    if _CACHE.search(source.line(hit.line)):
        return True
    function = source.function(hit.line)
    return function is not None and any(ast.unparse(one).endswith("overload") for one in function.decorator_list)


def _is_registered_or_declared(hit: Hit, source: _Source) -> bool:
    """A decorator inside of a function took the first one already; or the first one is `name = None`, for later."""
    found = _REPLACED.search(hit.message)
    first = [*source.around(int(found["line"]))] if found else []
    if any(isinstance(node, ast.Assign) for node in first):
        return True
    functions = [node for node in first if isinstance(node, _Function)]
    return len(functions) > 1 and bool(functions[-1].decorator_list)


def _is_not_evaluated(hit: Hit, source: _Source) -> bool:
    """A name of Python 2 behind a question for the version, a text in `Literal[…]`, or a file of nothing but names.

    The last one is data for a tool such as vulture; it is never run.
    """
    nodes = [*source.around(hit.line)]
    tests = [ast.unparse(node.test) for node in nodes if isinstance(node, ast.If | ast.IfExp)]
    named = _NAME.search(hit.message)
    if named and named["name"] in _OF_PYTHON_2 and any(_VERSION.search(test) for test in tests):
        return True
    if any(isinstance(node, ast.Subscript) and _last_name(node.value) == "Literal" for node in nodes):
        return True
    return bool(source.body) and all(
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Name | ast.Attribute | ast.Constant)
        for one in source.body
    )


def _is_documented(hit: Hit, source: _Source) -> bool:
    """A comment before the statement, or the function, says that it ignores errors; or none could leave it."""
    tries = [node for node in source.around(hit.line) if isinstance(node, ast.Try)]
    if tries and source.line(tries[-1].lineno - 1).lstrip().startswith("#"):
        return True
    function = source.function(hit.line)
    if function is None:
        return False
    return function.name == "__del__" or _SAYS_WHY.search(ast.get_docstring(function) or "") is not None


def _is_imported_late(hit: Hit, source: _Source) -> bool:
    """An import inside of a function is often that of an adapter for a package which only its users have."""
    late = source.function(hit.line) is not None or _LATE.search(source.line(hit.line)) is not None
    return late or _is_bundled(hit, source)


def _is_bundled(hit: Hit, source: _Source) -> bool:
    """A bundle has the modules that it imports in itself."""
    del hit
    return _BUNDLE.search(source.text) is not None


def _is_tried(hit: Hit, source: _Source) -> bool:
    tries = (node for node in source.around(hit.line) if isinstance(node, ast.Try))
    return any(is_optional(handler) for node in tries for handler in node.handlers)


def _is_called_by_another_name(hit: Hit, source: _Source) -> bool:
    """A class may stand for a subclass (`cls(…)`), and an attribute of `self` for an object of another class."""
    calls = source.calls(hit.line)
    if constructor := _CONSTRUCTOR.search(hit.message):
        return bool(calls) and not any(_last_name(one) == constructor["owner"] for one in calls)
    method = _METHOD.search(hit.message)
    named = [one for one in calls if method and isinstance(one, ast.Attribute) and one.attr == method["name"]]
    return bool(named) and all(isinstance(one.value, ast.Attribute) for one in named)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_parameter_called(hit: Hit, source: _Source) -> bool:
    """What is called is known by an annotation only, or a subclass may have another one."""
    calls = source.calls(hit.line)
    own = any(isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self" for one in calls)
    return own or any(_is_given(one, source.function(hit.line)) for one in calls)


def _is_of_another_type(hit: Hit, source: _Source) -> bool:
    """Where other types have the attribute, an annotation is wrong more often than the code that uses it."""
    nodes = [*source.around(hit.line)]
    if (member := _MEMBER.search(hit.message)) and re.search(rf"\.{member['name']}\s*=[^=]", source.text):
        return True
    found = _ATTRIBUTE.search(hit.message)
    if found is None:
        return False
    uses = [node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr == found["name"]]
    given = any(isinstance(one, ast.Subscript) or _is_given(one, source.function(hit.line)) for one in uses)
    return given and found["name"] in _OF_ANOTHER_TYPE


def _is_guarded(hit: Hit, source: _Source) -> bool:
    """The code tries it out, or asks first: for an attribute, or for a version."""
    nodes = [*source.around(hit.line)]
    handlers = [one for node in nodes for one in (node.handlers if isinstance(node, ast.Try) else [node])]
    if any(isinstance(one, ast.ExceptHandler) and _is_about_types(one) for one in handlers):
        return True
    return any(isinstance(node, ast.If) and _ASKS.search(ast.unparse(node.test)) for node in nodes)


def _is_about_types(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and re.search("TypeError|AttributeError", ast.unparse(handler.type)) is not None


def _is_given(node: ast.expr, function: _Function | None) -> bool:
    """Whether a name is a parameter of the function that it is used in."""
    if function is None or not isinstance(node, ast.Name):
        return False
    given = function.args
    names = {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg) if one}
    return node.id in names


def _is_built(hit: Hit, source: _Source) -> bool:
    """A line that long was written by a bundler. What it runs as code counts all the same."""
    return len("".join(source.line(hit.line).split())) > _LONG_LINE and plain(hit.rule) not in _RUNS_CODE


def _is_script_of_a_page(hit: Hit, source: _Source) -> bool:
    """A comment says who defines a name. Without modules, other scripts of the same page do."""
    name = _NAME.search(hit.message.replace("'", "`"))
    if name and re.search(rf"/\*\s*globals?\b[^*]*\b{name['name']}\b", source.text):
        return True
    return _MODULE.search(source.text) is None and _PAGE.search(source.text) is not None


def _has_another_method(hit: Hit, source: _Source) -> bool:
    """The method of a request is a variable, which oxlint takes for `GET`."""
    line = hit.line or 1
    return any(_METHOD_BY_NAME.search(one) for one in source.lines[max(0, line - _NEARBY) : line + _NEARBY])


def _is_pattern(hit: Hit, source: _Source) -> bool:
    """`$name[-.]` in a regular expression is no element of an array."""
    return _ELEMENT.search(source.line(hit.line)) is None


def _is_pipe_itself(hit: Hit, source: _Source) -> bool:
    """`&>/dev/stdout |` names the pipe."""
    return "/dev/std" in source.line(hit.line)


_OF_TOOLS: Mapping[ToolName, Callable[[Hit, _Source], bool]] = {
    ToolName.OXLINT: _is_built,
    ToolName.TY: _is_guarded,
}
_ARGUMENTS = ("missing-argument", "unknown-argument", "too-many-positional-arguments", "parameter-already-assigned")
_DOUBTS: Mapping[tuple[ToolName, str], Callable[[Hit, _Source], bool]] = {
    (ToolName.RUFF, "B006"): _is_overload_or_cache,
    (ToolName.RUFF, "B909"): _is_list_of_work,
    (ToolName.RUFF, "F811"): _is_registered_or_declared,
    (ToolName.RUFF, "F821"): _is_not_evaluated,
    (ToolName.AST_GREP, "py-broad-handler-does-nothing"): _is_documented,
    (ToolName.AST_GREP, "js-html-from-text"): _is_built,
    (ToolName.AST_GREP, "js-html-from-value"): _is_built,
    (ToolName.RUFF, "PLE0302"): _is_interface,
    (ToolName.RUFF, "RUF027"): _is_filled_later,
    (ToolName.RUFF, "S608"): _is_no_query,
    (ToolName.BURNISH, OwnRule.UNDECLARED_PACKAGE.value): _is_imported_late,
    (ToolName.BURNISH, OwnRule.MISSING_MODULE.value): _is_bundled,
    (ToolName.TY, "import-not-found"): _is_tried,
    **{(ToolName.TY, rule): _is_called_by_another_name for rule in _ARGUMENTS},
    (ToolName.TY, "call-non-callable"): _is_parameter_called,
    (ToolName.TY, "missing-attribute"): _is_of_another_type,
    (ToolName.OXLINT, "no-undef"): _is_script_of_a_page,
    (ToolName.OXLINT, "unicorn/no-invalid-fetch-options"): _has_another_method,
    (ToolName.SHELLCHECK, "SC1087"): _is_pattern,
    (ToolName.SHELLCHECK, "SC2260"): _is_pipe_itself,
}
