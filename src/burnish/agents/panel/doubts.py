"""Reasons to doubt a hit, from the code around it that its tool did not see. A doubtful hit is medium at most.

Each kind was found by reading what must be fixed in whole projects (docs/benchmarks.md): the tool is right about the
line, and the program works all the same. Where the code cannot be parsed, nothing is doubted.
"""

import ast
import builtins
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from burnish.agents.panel.interface import Hit, ToolName
from burnish.agents.panel.novelty import LinesOf
from burnish.agents.panel.own_checks.imports import is_optional
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.python_source import parse_python
from burnish.agents.panel.selectors import plain
from burnish.core.values import replace

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_REPLACED = re.compile(r"from line (?P<line>\d+)")
_NAME = re.compile(r"`(?P<name>\w+)`")
_OF_PYTHON_2 = frozenset({"basestring", "file", "long", "raw_input", "reduce", "reload", "unichr", "unicode", "xrange"})
_VERSION = re.compile(r"version_info|\bPY_?[23]|python_?[23]", re.IGNORECASE)
_ASKS = re.compile(r"\bhasattr\(|version|\bPY_?[23]|python_?[23]|pypy|jython", re.IGNORECASE)
_FILLED_IN = re.compile(r"__[A-Z][A-Z_]*__")
_SAYS_WHY = re.compile(r"\b(?:ignor|suppress|swallow|silent)", re.IGNORECASE)
_CONSTRUCTOR = re.compile(r"`(?P<owner>\w+)\.__(?:init|new)__`")
_METHOD = re.compile(r"bound method `(?P<owner>\w+)\.(?P<name>\w+)`")
_ATTRIBUTE = re.compile(r"^Object of type .* has no attribute `(?P<name>\w+)`")
_CONTAINER = re.compile(r"type `(?:list|dict|set|frozenset)\[")
"""What is made as one of these stays one."""
_MEMBER = re.compile(r"^Module `[\w.]+` has no member `(?P<name>\w+)`")
_OF_ANOTHER_TYPE = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("_")
)
_MODULE = re.compile(r"^\s*(?:import|export)\b|\brequire\s*\(|\bmodule\.exports\b", re.MULTILINE)
_PAGE = re.compile(r"\b(?:document|window|location|importScripts|jQuery)\b|\$\(")
_DEVELOPERS = re.compile(
    r"(?:jake|gulp|grunt|rake)file|(?:^|[_-])(?:publish|release|build|bump|deploy|version)\b", re.IGNORECASE
)
_GIVEN_TO_SCRIPTS = re.compile(r"\b(?:argv|env|req|request|query|input|params)\b")
_TEXTS_ONLY = re.compile(r"\bFunction\(\s*(?:(['\"])(?:(?!\1)[^\\\n])*\1\s*,?\s*)+\)")
_FIXED_CODE = re.compile(
    r"\bFunction\(\s*(['\"])return this;?\1\s*\)|(['\"`])javascript:\s*(?:void\(?0\)?|0|;)?;?\2", re.IGNORECASE
)
_PUT_IN = re.compile(r"\$\{([^}]*)\}")
_OF_THE_PROGRAM = re.compile(r"\s*(?:this(?:\.\w+)+|[A-Z][A-Z0-9_]+)\s*")
_SCRIPTS = frozenset(
    {"scripts", "script", "tools", "tasks", "contrib", "misc", "dev", "hack", "ci", "lab", "maint", "release"}
)
_OF_OLD_BROWSERS = frozenset({"ActiveXObject", "attachEvent", "detachEvent"})
_METHOD_BY_NAME = re.compile(r"\bmethod\s*(?:[,}]|:\s*[^\s'\"`]|$)")
_NEARBY = 12
_CACHE = re.compile(r"\w*(?:cache|memo)\w*\s*(?::[^=]+)?=\s*(?:\{\}|\[\]|dict\()")
_IS_NAME = re.compile(
    r"""\b(?:from|into|update|table|join|exists|index|on|by|select|distinct|column)\s+["`[(]?\s*$""", re.IGNORECASE
)
"""Where a name of a table or a column goes, which cannot be given as a parameter of a query."""
_NUMBERS = re.compile(r"(?:[^%]|%d)*%d(?:[^%]|%d)*", re.DOTALL)
"""A text into which only numbers can be put."""
_PLACES = re.compile(r"placeholder|['\"]\?['\"]|['\"]%s['\"]", re.IGNORECASE)
_BUNDLE = re.compile(r"\[function\s*\(require,\s*module,\s*exports\)|\b__webpack_require__\b")
_LATE = re.compile(r"^\s+.*\brequire\(")
_GROWS = re.compile(r"\.(?:append|extend|insert)\(")
_CHANGES = frozenset(
    {
        "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "intersection_update",
        "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort", "symmetric_difference_update", "update",
    }
)  # fmt: skip
_FROM_OUTSIDE = re.compile(
    r"\b(?:request|input|argv|environ|getenv|params?|args|kwargs|form|query|body|payload|cookies|headers|message|GET|POST)\b"
    r"|\b(?:read\w*|recv\w*|receive\w*|fetch\w*|loads?|parse_args|get_\w*(?:argument|param|input|arg)s?)\("
)
_HARMLESS = frozenset({"bool", "float", "hash", "id", "int", "isinstance", "len", "range", "type"})
_PAGES = re.compile(r"html|flask|django|request|response|\bpages?\b|mail|render_to", re.IGNORECASE)
_ECHO = re.compile(r"^\s*(?:.*(?:[;&|({]|\b(?:then|else|do))\s*)?echo\b")
_LONG_LINE = 1_000
_RUNS_CODE = ("no-eval", "no-implied-eval", "no-new-func", "no-script-url")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
_OF_MAINTAINERS = re.compile(
    r"\s*(?:github\.(?:ref|ref_name|base_ref|actor|triggering_actor|event\.release\.tag_name|event\.pull_request\.base\.ref)|(?:github\.event\.)?inputs\.[\w-]+"
    r"|(?:secrets|vars)\.[\w-]+)\s*"
)
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
        module = parse_python(self.text)
        return module.body if module else []

    @cached_property
    def fills_its_names(self) -> bool:
        """Whether another file, or a dict, may define names of the module: `exec(…)`, `globals().update(…)`."""
        calls = [node.value for node in self.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
        return any(ast.unparse(one.func) in ("exec", "execfile", "globals().update") for one in calls)

    @cached_property
    def substitutes(self) -> frozenset[str]:
        """The names that stand for something else where an import fails."""
        tries = (node for part in self.body for node in ast.walk(part) if isinstance(node, ast.Try))
        handlers = (one for node in tries for one in node.handlers if is_optional(one))
        nodes = [node for handler in handlers for node in ast.walk(handler)]
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        return frozenset(stored | {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)})

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

    def conditions(self, line: int | None) -> list[str]:
        """What is asked around a line, or before it in the same function: it may have returned then."""
        function = self.function(line)
        nodes = [*self.around(line), *(ast.walk(function) if function else ())]
        asked = [node for node in nodes if isinstance(node, ast.If | ast.IfExp)]
        return [ast.unparse(node.test) for node in asked if line and node.lineno <= line]

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
        rule = plain(hit.rule)
        if hit.tool is ToolName.AST_GREP:
            rule = rule.partition(".")[0]  # which says the language, where it is not that of most
        doubts = [_OF_TOOLS.get(hit.tool), _DOUBTS.get((hit.tool, rule))]
        if hit.doubtful or not any(doubts):
            return hit.doubtful
        if hit.file not in sources:
            sources[hit.file] = _Source(lines(hit.file) or ())
        return any(doubt(hit, sources[hit.file]) for doubt in doubts if doubt)

    return tuple(replace(hit, doubtful=is_doubtful(hit)) for hit in hits)


def _comes_from_outside(expression: ast.expr, source: _Source, line: int | None, *, from_callers: bool = True) -> bool:
    """Whether an expression can be made of what a caller, a file or a request gave, as far as the code shows.

    Followed are the names of the function, and those of the module. What an object holds (`self.table`) and constants
    are the program's own; a name that is imported is not, unless it is a class or a constant.
    """
    functions = [node for node in source.around(line) if isinstance(node, _Function)]
    given = {name for one in functions for name in _given(one)} - {"self", "cls"}
    scopes = [*reversed(functions), ast.Module(body=source.body, type_ignores=[])]
    seen: set[str] = set()

    def is_outside(node: ast.expr) -> bool:
        return _FROM_OUTSIDE.search(ast.unparse(node)) is not None or any(map(is_name_outside, _names(node)))

    def is_name_outside(name: str) -> bool:
        if name in seen or name in ("self", "cls") or name in dir(builtins):
            return False
        seen.add(name)
        if name in given:
            return from_callers
        values = next(filter(None, ([*_values(scope, name)] for scope in scopes)), None)
        return not name[0].isupper() if values is None else any(map(is_outside, values))

    return is_outside(expression)


def _names(node: ast.AST) -> Iterator[str]:
    """The names whose values can become part of an expression: not what is called, counted, or only gone through."""
    match node:
        case ast.Name():
            yield node.id
        case ast.Call(func=ast.Name(id=name)) if name in _HARMLESS:
            return
        case ast.Call(func=ast.Name()):
            yield from (name for part in (*node.args, *node.keywords) for name in _names(part))
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            targets = {name for one in node.generators for name in _names(one.target)}
            used = {*_names(node.elt)}
            yield from used - targets
            if used & targets:
                yield from (name for one in node.generators for name in _names(one.iter))
        case ast.IfExp():
            yield from (*_names(node.body), *_names(node.orelse))
        case _:
            yield from (name for part in ast.iter_child_nodes(node) for name in _names(part))


def _values(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """Everything that a scope gives to a name, puts into it, or goes through with it; not what functions in it do."""
    for node in _own_nodes(scope):
        match node:
            case ast.Assign(targets=targets, value=value) if any(name in _stored(one) for one in targets):
                yield value
            case ast.AnnAssign(target=target, value=ast.expr() as value) if name in _stored(target):
                yield value
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                if name in _stored(target):
                    yield value
            case ast.For(target=target, iter=value) if name in _stored(target):
                yield value
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as target) if name in _stored(target):
                yield value
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=verb)) if owner == name:
                yield from node.args if verb in _CHANGES else ()
            case _:
                pass


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Everything in a scope, without the functions in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _Function | ast.Lambda):
            yield from _own_nodes(node)


def _stored(target: ast.expr) -> set[str]:
    """The names that an assignment to a target changes: `a`, `a[b]`, `a, b`."""
    match target:
        case ast.Subscript(value=ast.Name(id=name)) | ast.Name(id=name):
            return {name}
        case ast.Tuple() | ast.List():
            return {name for one in target.elts for name in _stored(one)}
        case ast.Starred(value=value):
            return _stored(value)
        case _:
            return set()


def _runs_its_own_code(hit: Hit, source: _Source) -> bool:
    """Nothing from outside is seen to become part of the code that is run."""
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call) and node.args]
    run = [node.args[0] for node in calls if _last_name(node.func) in ("exec", "eval")]
    return bool(run) and not any(_comes_from_outside(one, source, hit.line) for one in run)


def _is_list_of_work(hit: Hit, source: _Source) -> bool:
    """A list that only grows while it is read gives every element once; and a loop may end with the change."""
    if _GROWS.search(source.line(hit.line)):
        return True
    branches = [node for node in source.around(hit.line) if isinstance(node, ast.If)]
    changed = [
        suite for node in branches for suite in (node.body, node.orelse) if any(_holds(one, hit.line) for one in suite)
    ]
    return bool(changed) and _leaves(changed[-1])


def _holds(node: ast.stmt, line: int | None) -> bool:
    return line is not None and node.lineno <= line <= (node.end_lineno or node.lineno)


def _leaves(suite: Sequence[ast.stmt]) -> bool:
    """Whether a block ends the loop around it, whatever happens in it."""
    match suite[-1] if suite else None:
        case ast.Return() | ast.Raise() | ast.Break():
            return True
        case ast.If(body=body, orelse=orelse):
            return _leaves(body) and _leaves(orelse)
        case ast.Try(body=body, handlers=handlers):
            return _leaves(body) and all(_leaves(one.body) for one in handlers)
        case _:
            return False


def _is_filled_later(hit: Hit, source: _Source) -> bool:
    """The function gives the values to `format`, or the name of the text says that others fill it in."""
    function = source.function(hit.line)
    if function is not None and ".format(" in ast.unparse(function):
        return True
    return re.search(r"(?i)(?:format|fmt|template|pattern)\w*['\"]?\]?\s*[:=]", source.line(hit.line)) is not None


def _is_interface(hit: Hit, source: _Source) -> bool:
    """Methods of an interface of zope have no `self`."""
    classes = [node for node in source.around(hit.line) if isinstance(node, ast.ClassDef)]
    return any(_last_name(base).endswith("Interface") for one in classes for base in one.bases)


def _is_no_dict(hit: Hit, source: _Source) -> bool:
    """`keys` of a dict takes no argument; and what a class of another name makes, or is given, may be no dict."""
    loops = [node.iter for node in source.around(hit.line) if isinstance(node, ast.For)]
    if any(isinstance(one, ast.Call) and one.args for one in loops):
        return True
    function = source.function(hit.line)
    for loop in loops[-1:] if function else ():
        owner = loop.func.value if isinstance(loop, ast.Call) and isinstance(loop.func, ast.Attribute) else loop
        values = [*_values(function, owner.id)] if function and isinstance(owner, ast.Name) else []
        made = [_last_name(one.func) for one in values if isinstance(one, ast.Call)]
        if any(name[:1].isupper() and "Dict" not in name and name != "Counter" for name in made):
            return True
    return False


def _is_left_unused(hit: Hit, source: _Source) -> bool:
    """`a, x, x = f()` gives one name to all that is not needed."""
    targets = [target for node in source.around(hit.line) if isinstance(node, ast.Assign) for target in node.targets]
    names = [
        one.id
        for target in targets
        if isinstance(target, ast.Tuple)
        for one in target.elts
        if isinstance(one, ast.Name)
    ]
    twice = {name for name in names if names.count(name) > 1}
    function = source.function(hit.line)
    loads = (
        node
        for node in ast.walk(function or ast.Module(body=source.body, type_ignores=[]))
        if isinstance(node, ast.Name)
    )
    return bool(twice) and not any(one.id in twice and isinstance(one.ctx, ast.Load) for one in loads)


def _returns_nothing(hit: Hit, source: _Source) -> bool:
    """`return super().__init__()` returns None."""
    returned = [node.value for node in source.around(hit.line) if isinstance(node, ast.Return)]
    return any(isinstance(one, ast.Call) and _last_name(one.func) == "__init__" for one in returned)


def _is_doctest(hit: Hit, source: _Source) -> bool:
    """An example that is tested, or what comes of it."""
    line = hit.line or 1
    return any(one.lstrip().startswith(">>>") for one in source.lines[max(0, line - 2) : line])


def _offers_a_shell(hit: Hit, source: _Source) -> bool:
    """Who makes an object for a shell, rather than stop in one, wants to offer it."""
    del source
    return "InteractiveShellEmbed" in hit.message


def _is_no_query(hit: Hit, source: _Source) -> bool:
    """A message of an error, or a query into which only places for values, or names of the program's own, are put."""
    nodes = [*source.around(hit.line)]
    if any(isinstance(node, ast.Raise) for node in nodes):
        return True
    put_in = [ast.unparse(node.value) for node in nodes if isinstance(node, ast.FormattedValue)]
    if put_in and all(_PLACES.search(one) for one in put_in):
        return True
    queries = [node for node in nodes if isinstance(node, ast.expr) and _is_put_together(node)]
    if not queries:
        return False
    match queries[0]:
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str() as text)) if _NUMBERS.fullmatch(text):
            return True
        case _:
            pass
    if isinstance(queries[0], ast.JoinedStr):
        return all(
            not _comes_from_outside(value, source, hit.line, from_callers=not _IS_NAME.search(before))
            for before, value in _put_in(queries[0])
        )
    return not _comes_from_outside(queries[0], source, hit.line)


def _put_in(text: ast.JoinedStr) -> Iterator[tuple[str, ast.expr]]:
    """What is put into a text, each with the text before it."""
    before = ""
    for part in text.values:
        if isinstance(part, ast.FormattedValue):
            yield before, part.value
            before = ""
        elif isinstance(part, ast.Constant):
            before = str(part.value)


def _is_put_together(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.BinOp) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"
    )


def _is_kept_as_it_is(hit: Hit, source: _Source) -> bool:
    """The function only reads its default; or it is a cache, or a signature that only type checkers see."""
    if _CACHE.search(source.line(hit.line)):
        return True
    function = source.function(hit.line)
    if function is None:
        return False
    if any(ast.unparse(one).endswith("overload") for one in function.decorator_list):
        return True
    fixed = ast.Constant | ast.Name | ast.Attribute | ast.Tuple | ast.UnaryOp
    named = {name for name, value in _defaults(function) if value.lineno == hit.line and not isinstance(value, fixed)}
    return bool(named) and not any(_may_change(node, named) for node in ast.walk(function))


def _defaults(function: _Function) -> Iterator[tuple[str, ast.expr]]:
    """The parameters that have a default, and what it is."""
    given = function.args
    named = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(named), reversed(given.defaults), strict=False)]
    pairs += [(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default]
    return ((one.arg, default) for one, default in pairs)


def _may_change(node: ast.AST, names: Collection[str]) -> bool:
    """Whether a node changes what a name stands for, or keeps it or hands it out, so that others can."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=verb)):
            return name in names and verb in _CHANGES
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return name in names
        case ast.AugAssign(target=target):
            return _is_one_of(target, names)
        case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
            return _is_one_of(value, names)
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            return _is_one_of(value, names)
        case _:
            return False


def _is_one_of(value: ast.expr, names: Collection[str]) -> bool:
    """Whether a value is that of one of the names, or holds it."""
    match value:
        case ast.Name(id=name):
            return name in names
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(_is_one_of(one, names) for one in parts)
        case ast.Dict(values=parts) | ast.BoolOp(values=parts):
            return any(_is_one_of(one, names) for one in parts)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_one_of(body, names) or _is_one_of(orelse, names)
        case _:
            return False


def _is_registered_or_declared(hit: Hit, source: _Source) -> bool:
    """A decorator inside of a function took the first one already; or the first one is `name = None`, for later.

    A variable of a function that is called like something of the module replaces nothing, unless it says `global`.
    """
    found = _REPLACED.search(hit.message)
    first = [*source.around(int(found["line"]))] if found else []
    if any(isinstance(node, ast.Assign | ast.Global) for node in first):
        return True
    inside = source.function(hit.line)
    if found and inside and inside.lineno != hit.line and source.function(int(found["line"])) is None:
        return True
    functions = [node for node in first if isinstance(node, _Function)]
    return len(functions) > 1 and bool(functions[-1].decorator_list)


def _is_not_evaluated(hit: Hit, source: _Source) -> bool:
    """A name of Python 2 where the function asks for the version, one to be filled in, or one in a quoted annotation.

    A file of nothing but names is data for a tool such as vulture; it is never run.
    """
    nodes = [*source.around(hit.line)]
    named = _NAME.search(hit.message)
    name = named["name"] if named else ""
    if name in _OF_PYTHON_2 and any(_VERSION.search(test) for test in source.conditions(hit.line)):
        return True
    if _FILLED_IN.fullmatch(name) or _is_deleted_later(name, source) or source.fills_its_names:
        return True
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named_in_code = any(isinstance(node, ast.Name) and node.id == name for node in nodes)
    if (
        not named_in_code
        and any(name in one for one in texts)
        and not any(isinstance(one, ast.JoinedStr) for one in nodes)
    ):
        return True  # a quoted annotation; in an f-string, Python before 3.12 does not know the lines of names
    return bool(source.body) and all(
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Name | ast.Attribute | ast.Constant)
        for one in source.body
    )


def _is_deleted_later(name: str, source: _Source) -> bool:
    """Whether the module defines a name for its own start, and deletes it at the end."""
    deleted = [target for node in source.body if isinstance(node, ast.Delete) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == name for target in deleted)


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
    """An import inside of a function, or of a script for developers, is often of a package which only some have."""
    late = source.function(hit.line) is not None or _LATE.search(source.line(hit.line)) is not None
    # In JavaScript, package.json declares what scripts need as well.
    of_a_script = hit.file.endswith(".py") and not _SCRIPTS.isdisjoint(PurePosixPath(hit.file).parts[:-1])
    return late or of_a_script or _is_bundled(hit, source)


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
    function = source.function(hit.line)
    return bool(named) and all(
        _is_held(one.value, source, hit.line)
        # A date that is given may be a datetime.
        or (method is not None and method["owner"][0].islower() and _is_given(one.value, function))
        for one in named
    )


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
    if "type `None`" in hit.message and any(_is_global(one, source, hit.line) for one in uses):
        return True
    if uses and all(_is_held(one, source, hit.line) for one in uses) and not _CONTAINER.search(hit.message):
        return True
    given = any(_is_given(one, source.function(hit.line)) for one in uses)
    return given and found["name"] in _OF_ANOTHER_TYPE


def _is_held(node: ast.expr, source: _Source, line: int | None) -> bool:
    """Whether a value is that of an attribute, or of an element: it is set elsewhere, too. Or a name for one."""
    function = source.function(line)
    if not isinstance(node, ast.Name) or function is None:
        return isinstance(node, ast.Attribute | ast.Subscript)
    values = [
        part for one in _values(function, node.id) for part in (one.elts if isinstance(one, ast.Tuple) else (one,))
    ]
    return bool(values) and all(isinstance(one, ast.Attribute | ast.Subscript) for one in values)


def _is_sum(hit: Hit, source: _Source) -> bool:
    """Tuples of exceptions that are added up are a tuple."""
    handlers = [node for node in source.around(hit.line) if isinstance(node, ast.ExceptHandler)]
    return any(isinstance(node.type, ast.BinOp) for node in handlers)


def _is_global(node: ast.expr, source: _Source, line: int | None) -> bool:
    """Whether a name of the module is used in a function: other functions, and other modules, may change it."""
    function = source.function(line)
    if function is None or not isinstance(node, ast.Name) or node.id in _given(function):
        return False
    return not any(_values(function, node.id))


def _is_guarded(hit: Hit, source: _Source) -> bool:
    """The code tries it out, asks first for an attribute or a version, or uses what stands for a missing package.

    Of `~None`, ty knows no more than what it is not.
    """
    nodes = [*source.around(hit.line)]
    if "`~" in hit.message or source.substitutes.intersection(one.id for one in nodes if isinstance(one, ast.Name)):
        return True
    handlers = [one for node in nodes for one in (node.handlers if isinstance(node, ast.Try) else [node])]
    if any(isinstance(one, ast.ExceptHandler) and _is_about_types(one) for one in handlers):
        return True
    return any(isinstance(node, ast.If) and _ASKS.search(ast.unparse(node.test)) for node in nodes)


def _is_of_an_object(hit: Hit, source: _Source) -> bool:
    """What an attribute holds is set in other places, too, which ty does not always see."""
    indexed = [node.value for node in source.around(hit.line) if isinstance(node, ast.Subscript)]
    return any(isinstance(one, ast.Attribute) for one in indexed)


def _is_about_types(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and re.search("TypeError|AttributeError", ast.unparse(handler.type)) is not None


def _is_given(node: ast.expr, function: _Function | None) -> bool:
    """Whether a name is a parameter of the function that it is used in."""
    return function is not None and isinstance(node, ast.Name) and node.id in _given(function)


def _given(function: _Function) -> set[str]:
    """The names of the parameters of a function."""
    given = function.args
    every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return {one.arg for one in every if one}


def _is_built(hit: Hit, source: _Source) -> bool:
    """A bundler wrote the line. What that runs as code counts all the same.

    The folder of a file, or a version in its head, says nothing: a change could put its own code there.
    """
    return plain(hit.rule) not in _RUNS_CODE and len("".join(source.line(hit.line).split())) > _LONG_LINE


def _is_script_of_a_page(hit: Hit, source: _Source) -> bool:
    """A comment says who defines a name, or the file asks whether it is there. Without modules, other scripts do."""
    found = _NAME.search(hit.message.replace("'", "`"))
    name = found["name"] if found else ""
    asked = (
        rf"/\*\s*globals?\b[^*]*\b{name}\b|\btypeof\s+\(?{name}\b|\b(?:window|self|global|globalThis|root)\.{name}\b"
    )
    if name and (re.search(asked, source.text) or name in _OF_OLD_BROWSERS):
        return True
    # `Package.describe(…)`: what runs a script has objects of its own.
    return _MODULE.search(source.text) is None and (name[:1].isupper() or _PAGE.search(source.text) is not None)


def _is_fixed_code(hit: Hit, source: _Source) -> bool:
    """`Function("return this")` and `javascript:void(0)` run the same code whatever happens."""
    line = source.line(hit.line)
    return _FIXED_CODE.search(line) is not None or _TEXTS_ONLY.search(line) is not None


def _asks_for_a_feature(hit: Hit, source: _Source) -> bool:
    """`typeof /./` differs between engines, whatever the standard says."""
    return "typeof /" in source.line(hit.line)


def _is_script_of_developers(hit: Hit, source: _Source) -> bool:
    """A script that builds or publishes the project runs commands with values of its own."""
    if not _DEVELOPERS.search(PurePosixPath(hit.file).name):
        return False
    line = hit.line or 1
    return not any(map(_GIVEN_TO_SCRIPTS.search, source.lines[line - 1 : max(line, hit.end_line or line)]))


def _is_query_of_the_program(hit: Hit, source: _Source) -> bool:
    """Only names that an object of the program holds, or constants, are put into the query."""
    line = hit.line or 1
    text = "\n".join(source.lines[line - 1 : max(line, hit.end_line or line)])
    put_in = _PUT_IN.findall(text)
    return bool(put_in) and "+" not in text and all(_OF_THE_PROGRAM.fullmatch(one) for one in put_in)


def _has_another_method(hit: Hit, source: _Source) -> bool:
    """The method of a request is a variable, which oxlint takes for `GET`."""
    line = hit.line or 1
    return any(_METHOD_BY_NAME.search(one) for one in source.lines[max(0, line - _NEARBY) : line + _NEARBY])


def _makes_no_page(hit: Hit, source: _Source) -> bool:
    """Templates of configuration files and of code must not escape what would be dangerous in a page."""
    del hit
    return _PAGES.search(source.text) is None


def _is_of_another_style(hit: Hit, source: _Source) -> bool:
    """A logger of the project's own may fill in `{}`."""
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call) and node.args]
    texts = [ast.unparse(node.args[0]) for node in calls]
    return any("{" in text and "%" not in text for text in texts)


def _is_compared(hit: Hit, source: _Source) -> bool:
    """What is only compared is not changed."""
    return any(isinstance(node, ast.Compare) for node in source.around(hit.line))


def _is_echoed(hit: Hit, source: _Source) -> bool:
    """`echo` puts a blank between its arguments, as `$*` does."""
    return _ECHO.search(source.line(hit.line)) is not None


def _is_label(hit: Hit, source: _Source) -> bool:
    """`[[ SOMETHING ]]` on a line of its own decides nothing: it is there for readers."""
    return re.fullmatch(r"\s*\[\[\s+[\w:]+\s+\]\]\s*", source.line(hit.line)) is not None


def _is_coprocess(hit: Hit, source: _Source) -> bool:
    """`coproc NAME (command)` declares no function."""
    return re.match(r"\s*coproc\b", source.line(hit.line)) is not None


def _goes_through_keys(hit: Hit, source: _Source) -> bool:
    """The keys of an array are most often its numbers."""
    return "${!" in source.line(hit.line)


def _is_descriptor(hit: Hit, source: _Source) -> bool:
    """`>&$number` is not a file for the output and the errors."""
    return ">&$" in source.line(hit.line)


def _is_pattern(hit: Hit, source: _Source) -> bool:
    """`$name[-.]` in a regular expression is no element of an array."""
    return _ELEMENT.search(source.line(hit.line)) is None


def _is_of_maintainers(hit: Hit, source: _Source) -> bool:
    """Only who may push to the repository gives the names of its branches and tags, and starts a workflow by hand."""
    found = _EXPRESSION.findall(source.line(hit.line))
    return bool(found) and all(_OF_MAINTAINERS.fullmatch(one) for one in found)


def _is_pipe_itself(hit: Hit, source: _Source) -> bool:
    """`&>/dev/stdout |` names the pipe."""
    return "/dev/std" in source.line(hit.line)


_OF_TOOLS: Mapping[ToolName, Callable[[Hit, _Source], bool]] = {
    ToolName.OXLINT: _is_built,
    ToolName.TY: _is_guarded,
}
_ARGUMENTS = ("missing-argument", "unknown-argument", "too-many-positional-arguments", "parameter-already-assigned")
_DOUBTS: Mapping[tuple[ToolName, str], Callable[[Hit, _Source], bool]] = {
    (ToolName.RUFF, "B006"): _is_kept_as_it_is,
    (ToolName.RUFF, "B030"): _is_sum,
    (ToolName.RUFF, "B909"): _is_list_of_work,
    (ToolName.RUFF, "F811"): _is_registered_or_declared,
    (ToolName.RUFF, "F821"): _is_not_evaluated,
    (ToolName.RUFF, "T100"): _offers_a_shell,
    (ToolName.AST_GREP, "py-dict-changed"): _is_no_dict,
    (ToolName.AST_GREP, "py-broad-handler-does-nothing"): _is_documented,
    (ToolName.AST_GREP, "js-html-from-text"): _is_built,
    (ToolName.AST_GREP, "js-html-from-value"): _is_built,
    (ToolName.RUFF, "PLE0302"): _is_interface,
    (ToolName.RUFF, "RUF027"): _is_filled_later,
    (ToolName.KINGFISHER, "betterleaks.generic-credential-uri"): _is_doctest,
    (ToolName.RUFF, "PLE0101"): _returns_nothing,
    (ToolName.RUFF, "PLW0128"): _is_left_unused,
    (ToolName.RUFF, "PLE1205"): _is_of_another_style,
    (ToolName.RUFF, "RUF024"): _is_compared,
    (ToolName.RUFF, "S102"): _runs_its_own_code,
    (ToolName.RUFF, "S307"): _runs_its_own_code,
    (ToolName.RUFF, "S608"): _is_no_query,
    (ToolName.RUFF, "S701"): _makes_no_page,
    (ToolName.BURNISH, OwnRule.UNDECLARED_PACKAGE.value): _is_imported_late,
    (ToolName.BURNISH, OwnRule.MISSING_MODULE.value): _is_bundled,
    (ToolName.TY, "import-not-found"): _is_tried,
    **{(ToolName.TY, rule): _is_called_by_another_name for rule in _ARGUMENTS},
    (ToolName.TY, "call-non-callable"): _is_parameter_called,
    (ToolName.TY, "missing-attribute"): _is_of_another_type,
    (ToolName.TY, "index-out-of-bounds"): _is_of_an_object,
    (ToolName.OXLINT, "no-undef"): _is_script_of_a_page,
    (ToolName.OXLINT, "no-new-func"): _is_fixed_code,
    (ToolName.OXLINT, "no-script-url"): _is_fixed_code,
    (ToolName.OXLINT, "no-constant-binary-expression"): _asks_for_a_feature,
    (ToolName.AST_GREP, "js-command-from-text"): _is_script_of_developers,
    (ToolName.AST_GREP, "js-sql-from-text"): _is_query_of_the_program,
    (ToolName.OXLINT, "unicorn/no-invalid-fetch-options"): _has_another_method,
    (ToolName.ZIZMOR, "template-injection"): _is_of_maintainers,
    (ToolName.SHELLCHECK, "SC1087"): _is_pattern,
    (ToolName.SHELLCHECK, "SC1065"): _is_coprocess,
    (ToolName.SHELLCHECK, "SC2068"): _goes_through_keys,
    (ToolName.SHELLCHECK, "SC2078"): _is_label,
    (ToolName.SHELLCHECK, "SC2145"): _is_echoed,
    (ToolName.SHELLCHECK, "SC2261"): _is_descriptor,
    (ToolName.SHELLCHECK, "SC2260"): _is_pipe_itself,
}
