"""Where the values of Python code come from, as far as one file shows."""

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from copy import deepcopy
from itertools import count
from string import Formatter
from typing import TypeGuard

from burnish.agents.panel.doubts.source import Function, SourceCode, parameters

CHANGES = frozenset(
    {
        "add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "intersection_update",
        "pop", "popitem", "popleft", "remove", "reverse", "setdefault", "sort", "symmetric_difference_update", "update",
    }
)  # fmt: skip
_STRANGERS = (
    r"\b(?:request|req|input|argv|params?|form|(?<!\.)query|(?<!\.)body|payload|cookies?|headers|(?<!\.)message|GET|POST)\b"
    r"|\b(?:recv\w*|receive\w*|parse_args|get_\w*(?:argument|param|input|arg)s?)\("
)
FROM_STRANGERS = re.compile(_STRANGERS)
"""What users and other machines give. The environment is that of the person who runs the program."""
FROM_OUTSIDE = re.compile(rf"{_STRANGERS}|\b(?:environ|getenv)\b|\b(?:read\w*|fetch\w*|loads?)\(")
"""The same, and what a file or a database holds."""
_PLACE = re.compile(r"%(?:\(\w+\))?[-+ #0-9.]*[a-zA-Z]")
_NAMED_PLACE = re.compile(r"%\((\w+)\)[a-zA-Z]")
_QUOTES = re.compile(r"quote|escape|sanitize|identifier|sqlify|literal")
_NUMBERS = ("bool", "float", "int")
_SETTINGS = frozenset({"cfg", "conf", "config", "settings"})
_HARMLESS = frozenset({"bool", "float", "hash", "id", "int", "isinstance", "len", "range", "type"})


def comes_from_outside(
    expression: ast.expr,
    source: SourceCode,
    line: int | None,
    *,
    outside: re.Pattern[str] = FROM_OUTSIDE,
    from_callers: bool = True,
    from_imports: bool = True,
) -> bool:
    """Whether an expression can be made of what a caller gave, or code that `outside` matches, as far as one sees.

    Followed are the names of the function, and those of the module. What an object holds (`self.table`) and constants
    are the program's own; a name that is imported is not, unless it is a class, a constant, or holds settings.
    """
    functions = [node for node in source.around(line) if isinstance(node, Function)]
    given = {name for one in functions for name in parameters(one) - _numbers(one)} - {"self", "cls"}
    scopes = [*reversed(functions), ast.Module(body=source.body, type_ignores=[])]
    # A module is code of its own, not a value that someone gave.
    modules = {one.asname or one.name.partition(".")[0] for one in source.imported_modules}
    seen: set[str] = {"self", "cls", *modules}
    spread = {one.arg for function in functions for one in (function.args.vararg, function.args.kwarg) if one}

    def is_outside(node: ast.expr) -> bool:
        # `**kwargs` are what callers give, whatever they are called.
        said = _without_texts(node, spread if not from_callers else ())
        return outside.search(said) is not None or any(map(is_name_outside, _names(node)))

    def is_name_outside(name: str) -> bool:
        if name in seen or name.startswith("__") or name in dir(builtins):
            return False
        seen.add(name)
        if any(name in _numbers(one) for one in functions):
            return False
        if name in given:
            return from_callers
        values = next(filter(None, ([*values_of(scope, name)] for scope in scopes)), None)
        if values is None:
            return from_imports and not name[0].isupper() and name not in _SETTINGS
        return any(map(is_outside, values))

    return is_outside(expression)


def _numbers(function: Function) -> set[str]:
    """The parameters that are annotated as numbers, which can be no harm in a text."""
    given = function.args
    every = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    return {one.arg for one in every if isinstance(one.annotation, ast.Name) and one.annotation.id in _NUMBERS}


def _without_texts(node: ast.expr, names: Collection[str]) -> str:
    """The code of an expression without its texts, what it quotes, and some names: `"request"` is no request."""
    blank = deepcopy(node)
    for part in ast.walk(blank):
        if isinstance(part, ast.ListComp | ast.SetComp | ast.GeneratorExp) and _is_quoted(part.elt):
            for one in part.generators:
                one.iter = ast.Constant(value="")
        if _is_quoted(part):
            part.args, part.keywords = [], []
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            part.value = ""
        elif isinstance(part, ast.Name) and part.id in names:
            part.id = "_"
    return ast.unparse(blank)


def _is_quoted(node: ast.AST) -> TypeGuard[ast.Call]:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return _QUOTES.search(name) is not None
        case _:
            return False


def _names(node: ast.AST) -> Iterator[str]:
    """The names whose values can become part of an expression: not what is called, counted, or only gone through."""
    if _is_harmless(node):
        return
    match node:
        case ast.Name():
            yield node.id
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


def _is_harmless(node: ast.AST) -> bool:
    """Whether nothing that someone wrote can be in a value."""
    match node:
        case ast.Attribute(attr=name):
            return name.isupper()  # a constant of another module
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _HARMLESS or _QUOTES.search(name) is not None
        case ast.BinOp(op=ast.Sub() | ast.Mult() | ast.Pow() | ast.FloorDiv()):
            return not _holds_text(node)  # numbers
        case _:
            return isinstance(node, ast.Compare)  # true or false


def _holds_text(node: ast.AST) -> bool:
    return any(isinstance(part, ast.JoinedStr | ast.List) or _is_text(part) for part in ast.walk(node))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def values_of(scope: ast.AST, name: str) -> Iterator[ast.expr]:
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
                yield from node.args if verb in CHANGES else ()
            case _:
                pass


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Everything in a scope, without the functions in it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, Function | ast.Lambda):
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


def parts_put_in(text: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """What is put into a text that is put together, each part with the text before it."""
    before = ""
    for piece in _pieces(text):
        if isinstance(piece, str):
            before += piece
        else:
            yield before, piece
            before = ""


def _pieces(text: ast.expr) -> Iterator[str | ast.expr]:
    """The texts and values that a text is put together from, in their order. Numbers (`%d`) can be no harm."""
    match text:
        case ast.Constant(value=str() as constant):
            yield constant
        case ast.JoinedStr():
            for part in text.values:
                yield from [part.value] if isinstance(part, ast.FormattedValue) else _pieces(part)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield from (*_pieces(left), *_pieces(right))
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str() as template), right=right):
            yield from _filled(template, right)
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as template), attr="format")):
            yield from _formatted(template, text)
        case _:
            yield text


def _filled(template: str, right: ast.expr) -> Iterator[str | ast.expr]:
    """The pieces of `template % right`."""
    if isinstance(right, ast.Dict):
        named = {
            key.value: one for key, one in zip(right.keys, right.values, strict=True) if isinstance(key, ast.Constant)
        }
        parts = _NAMED_PLACE.split(template)
        yield parts[0]
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            yield from (named.get(name, right), text)
        return
    values = right.elts if isinstance(right, ast.Tuple) else [right]
    texts, places = _PLACE.split(template), _PLACE.findall(template)
    if len(places) != len(values):
        yield from (template, right)
        return
    for before, place, value in zip(texts, places, values, strict=False):
        yield from (before, "0" if place == "%d" else value)
    yield texts[-1]


def _formatted(template: str, call: ast.Call) -> Iterator[str | ast.expr]:
    """The pieces of `template.format(…)`."""
    named = {one.arg: one.value for one in call.keywords} | {str(place): one for place, one in enumerate(call.args)}
    numbers = count()
    try:
        parsed = [*Formatter().parse(template)]
    except ValueError:
        parsed = [(template, "", "", None)]
    for before, field, _, _ in parsed:
        yield before
        if field is not None:
            yield named.get(field or str(next(numbers)), call)


def is_put_together(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.BinOp) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format"
    )
