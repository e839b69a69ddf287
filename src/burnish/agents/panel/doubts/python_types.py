"""Doubts about what the type checker says of Python code."""

import ast
import builtins
import re
from collections.abc import Sequence

from burnish.agents.panel.doubts.python_values import values_of
from burnish.agents.panel.doubts.source import Function, SourceCode, is_parameter, last_name, parameters
from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.imports import is_optional
from burnish.agents.panel.selectors import plain

_ASKS = re.compile(r"\bhasattr\(|version|\bPY_?[23]|python_?[23]|pypy|jython", re.IGNORECASE)
_CONSTRUCTOR = re.compile(r"`(?P<owner>\w+)\.__(?:init|new)__`")
_UNKNOWN = re.compile(r"^Argument `(?P<name>\w+)` does not match")
_COMMUNICATES = re.compile(r"\.communicate\(|\bcheck_output\(|\bPopen\(|\bsubprocess\.run\(")
_INTERFACE = re.compile(r"I[A-Z][a-z]\w*")
_METHOD = re.compile(r"bound method `(?P<owner>\w+)\.(?P<name>\w+)`")
_FUNCTION = re.compile(r"function `\w+\.(?P<name>\w+)`")
_ATTRIBUTE = re.compile(r"^Object of type .* has no attribute `(?P<name>\w+)`")
_CONTAINER = re.compile(r"type `(?:list|dict|set|frozenset)\[")
"""What the code shows to be one of these stays one."""
_KINDS = r"(?:list|dict|set|frozenset|defaultdict)\b"
_MADE_AS_ONE = rf"\s*(?::\s*{_KINDS}|(?::[^=\n]+)?=\s*(?:[\[{{]|{_KINDS}))"
_MEMBER = re.compile(r"^Module `(?P<module>[\w.]+)` has no member `(?P<name>\w+)`")
_TYPE_STATEMENT = re.compile(r"\s*type\s+\w+\s*(?:\[.*\]\s*)?=")
_OF_ANOTHER_TYPE = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("_")
)


def is_tried(hit: Hit, source: SourceCode) -> bool:
    """The code does without what cannot be imported, or asks first whether it is there."""
    if any(isinstance(node, ast.If) for node in source.around(hit.line)):
        return True
    withs = [item for node in source.around(hit.line) if isinstance(node, ast.With) for item in node.items]
    if any("suppress(" in (text := ast.unparse(one.context_expr)) and "ImportError" in text for one in withs):
        return True
    tries = (node for node in source.around(hit.line) if isinstance(node, ast.Try))
    return any(is_optional(handler) for node in tries for handler in node.handlers)


def is_called_by_another_name(hit: Hit, source: SourceCode) -> bool:
    """A class may stand for a subclass (`cls(…)`), and an attribute of `self` for an object of another class.

    Of `f(*values)`, the number of the values is not known. Methods of an interface of zope have no `self`.
    """
    if any(
        isinstance(part, ast.Starred)
        for node in source.around(hit.line)
        if isinstance(node, ast.Call)
        for part in node.args
    ):
        return True
    calls = source.calls(hit.line)
    if any(ast.unparse(one).startswith("ast.") for one in calls):
        return True  # nodes of syntax trees may be made in pieces
    if (made := _FUNCTION.search(hit.message)) and re.search(
        rf"^\s+{made['name']}\s*=\s*(?:class|static)method\({made['name']}\)", source.text, re.MULTILINE
    ):
        return True
    if plain(hit.rule) == "parameter-already-assigned" and _spreads(source.around(hit.line)):
        return True
    if constructor := _CONSTRUCTOR.search(hit.message):
        asked = _UNKNOWN.search(hit.message)
        called = _with_argument(asked["name"], source, hit.line) if asked else calls
        return bool(called) and not any(last_name(one) == constructor["owner"] for one in called)
    method = _METHOD.search(hit.message)
    if method is not None and _INTERFACE.fullmatch(method["owner"]):
        return True
    if method is None:
        # `self.Record.read(…)`: which class that is, others decide.
        owners = [one.value for one in calls if isinstance(one, ast.Attribute)]
        return any(isinstance(one, ast.Attribute) and ast.unparse(one).startswith("self.") for one in owners)
    named = [one for one in calls if isinstance(one, ast.Attribute) and one.attr == method["name"]]
    function = source.function(hit.line)
    return bool(named) and all(
        _is_replaceable(one.value)
        or isinstance(one.value, ast.BinOp)  # which the operator makes, of any class
        or _is_held(one.value, source, hit.line)
        or _is_given_anew(one.value, source, hit.line)
        # A date that is given may be a datetime.
        or (method["owner"][0].islower() and is_parameter(one.value, function))
        for one in named
    )


def _is_given_anew(node: ast.expr, source: SourceCode, line: int | None) -> bool:
    """Whether a parameter stands for something else than its annotation says: `path = str(path)`."""
    function = source.function(line)
    if function is None or not isinstance(node, ast.Name):
        return False
    return is_parameter(node, function) and any(True for _ in values_of(function, node.id))


def _with_argument(name: str, source: SourceCode, line: int | None) -> list[ast.expr]:
    """What is called with an argument of this name."""
    calls = (node for node in source.around(line) if isinstance(node, ast.Call))
    calls = (part for node in calls for part in ast.walk(node) if isinstance(part, ast.Call))
    return [one.func for one in calls if any(part.arg == name for part in one.keywords)]


def _spreads(nodes: Sequence[ast.AST]) -> bool:
    """Whether a call takes names from a mapping: which ones it holds by then, its type does not tell."""
    return any(part.arg is None for node in nodes if isinstance(node, ast.Call) for part in node.keywords)


def _is_replaceable(owner: ast.expr) -> bool:
    """Whether the method is one of `self`: a subclass, or another mixin, may have one that takes more."""
    return ast.unparse(owner) in ("self", "cls", "super()")


def is_parameter_called(hit: Hit, source: SourceCode) -> bool:
    """What is called is known by an annotation only, or is one of several; or a subclass may have another one."""
    calls = source.calls(hit.line)
    function = source.function(hit.line)
    gone_through = {
        one.id
        for node in (ast.walk(function) if function else ())
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension)
        for one in ast.walk(node.target)
        if isinstance(one, ast.Name)
    }
    if any(isinstance(one, ast.Name) and one.id in gone_through for one in calls):
        return True
    own = any(isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self" for one in calls)
    return own or any(is_parameter(one, function) for one in calls)


def is_of_another_type(hit: Hit, source: SourceCode) -> bool:
    """Where other types have the attribute, an annotation is wrong more often than the code that uses it."""
    nodes = [*source.around(hit.line)]
    if _is_for_jython(nodes):
        return True
    if member := _MEMBER.search(hit.message):
        top = member["module"].rpartition(".")[2]
        is_hidden = "." in member["module"] and top in {one.name for one in source.imported_modules}
        return is_hidden or re.search(rf"\.{member['name']}\s*=[^=]", source.text) is not None
    found = _ATTRIBUTE.search(hit.message)
    if found is None:
        return False
    used = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load))
    uses = [node.value for node in used if node.attr == found["name"]]
    return (
        # What a process wrote are bytes, unless it is asked for text.
        (found["name"] == "decode" and _COMMUNICATES.search(source.text) is not None)
        or _is_no_value_seen(hit, source, uses, nodes)
        or any(_is_set_elsewhere(one, source) for one in uses)
        or _is_annotation_wrong(found["name"], uses, source, hit.line)
    )


def _is_for_jython(nodes: Sequence[ast.AST]) -> bool:
    """Whether the function needs Java, where modules of Python have something else."""
    functions = [one for one in nodes if isinstance(one, ast.FunctionDef)]
    parts = [part for one in functions for part in ast.walk(one)]
    return any(
        isinstance(part, ast.ImportFrom) and (part.module or "").startswith(("com.sun", "java.")) for part in parts
    )


def _is_no_value_seen(hit: Hit, source: SourceCode, uses: Sequence[ast.expr], nodes: Sequence[ast.AST]) -> bool:
    """Whether the type checker only guesses what the attribute is asked of."""
    if not uses:
        return False
    in_container = _CONTAINER.search(hit.message) is not None
    held = all(_is_held(one, source, hit.line) for one in uses)
    return (
        all(_is_unseen(one, source, hit.line) for one in uses)
        or ("type `bool`" in hit.message and any(_is_asserted(one, source) for one in uses))
        or ("type `None`" in hit.message and any(_is_global(one, source, hit.line) for one in uses))
        or (in_container and all(_is_drawn(one, nodes) for one in uses))
        or (held and not (in_container and all(_is_made_as_one(one, source) for one in uses)))
    )


def _is_annotation_wrong(name: str, uses: Sequence[ast.expr], source: SourceCode, line: int | None) -> bool:
    """Whether a parameter stands for something else than its annotation says, or what is asked of it says so."""
    function = source.function(line)
    given = [one.id for one in uses if isinstance(one, ast.Name) and is_parameter(one, function)]
    if function and any(True for one in given for _ in values_of(function, one)):
        return True
    # What is asked of it time and again is there.
    often = len(re.findall(rf"\.{name}\b", source.text)) > 1
    return bool(given) and (often or name in _OF_ANOTHER_TYPE)


def _is_drawn(node: ast.expr, nodes: Sequence[ast.AST]) -> bool:
    """Whether a value comes out of another one, by a loop or its place: what that holds besides is not seen."""
    if isinstance(node, ast.Subscript):
        return True
    parts = [part for one in nodes for part in ast.walk(one)]
    targets = [part.target for part in parts if isinstance(part, ast.comprehension | ast.For | ast.AsyncFor)]
    return isinstance(node, ast.Name) and any(
        isinstance(part, ast.Name) and part.id == node.id for target in targets for part in ast.walk(target)
    )


def _is_asserted(node: ast.expr, source: SourceCode) -> bool:
    """Whether what was compared before is taken for the answer."""
    return re.search(rf"\bassert {re.escape(ast.unparse(node))} ==", source.text) is not None


def _is_made_as_one(node: ast.expr, source: SourceCode) -> bool:
    """Whether the file shows that an attribute is made as a list, a dict or a set.

    A property may give anything, and a subclass replaces what a class only begins with.
    """
    if not isinstance(node, ast.Attribute):
        return not isinstance(node, ast.Subscript)
    made = rf"\bself\.{node.attr}{_MADE_AS_ONE}|\b{node.attr}\s*:\s*{_KINDS}"
    return re.search(made, source.text) is not None


def _is_unseen(node: ast.expr, source: SourceCode, line: int | None) -> bool:
    """Whether a value is known by what a function of the project's own says that it gives, or what a base class has."""
    function = source.function(line)
    if function is None:
        return isinstance(node, ast.Name) and any(isinstance(one, ast.ClassDef) for one in source.around(line))
    values = [*values_of(function, node.id)] if isinstance(node, ast.Name) else []
    # `text = text.encode()` says nothing of where it comes from.
    values = [one for one in values if ast.unparse(node) not in _names_in(one)]
    called = [one.func for one in values if isinstance(one, ast.Call)]
    own = [one for one in called if (isinstance(one, ast.Name) and one.id not in dir(builtins)) or _is_own_method(one)]
    return 0 < len(own) == len(values)


def _names_in(node: ast.expr) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _is_own_method(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls")


def _is_set_elsewhere(node: ast.expr, source: SourceCode) -> bool:
    """Whether an attribute of `self` is given several values in the file, so that it need not be the first one."""
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != "self":
        return False
    return len(re.findall(rf"\bself\.{node.attr}\s*(?::[^=\n]+)?=[^=]", source.text)) > 1


def _is_held(node: ast.expr, source: SourceCode, line: int | None, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a value is that of an attribute, or of an element: it is set elsewhere, too. Or a name for one.

    `seen` are the names that are followed already: `a, b = b, a`.
    """
    function = source.function(line)
    if not isinstance(node, ast.Name) or function is None:
        return isinstance(node, ast.Attribute | ast.Subscript)
    if node.id in seen:
        return False
    names = seen | {node.id}

    def is_held_value(value: ast.expr) -> bool:
        """Whether it is an attribute or element, or of a list of the module, which other lines may change."""
        if not isinstance(value, ast.Name):
            return isinstance(value, ast.Attribute | ast.Subscript)
        return _is_global(value, source, line) or _is_held(value, source, line, names)

    values = [
        part for one in values_of(function, node.id) for part in (one.elts if isinstance(one, ast.Tuple) else (one,))
    ]
    return bool(values) and all(map(is_held_value, values))


def _is_global(node: ast.expr, source: SourceCode, line: int | None) -> bool:
    """Whether a name of the module is used in a function: other functions, and other modules, may change it."""
    function = source.function(line)
    if function is None or not isinstance(node, ast.Name) or node.id in parameters(function):
        return False
    return not any(values_of(function, node.id))


def is_guarded(hit: Hit, source: SourceCode) -> bool:
    """The code tries it out, asks first for an attribute or a version, or uses what stands for a missing package.

    Of `~None`, ty knows no more than what it is not.
    """
    nodes = [*source.around(hit.line)]
    if "`~" in hit.message or source.substitutes.intersection(one.id for one in nodes if isinstance(one, ast.Name)):
        return True
    handlers = [one for node in nodes for one in (node.handlers if isinstance(node, ast.Try) else [node])]
    if any(isinstance(one, ast.ExceptHandler) and _is_about_types(one) for one in handlers):
        return True
    asked = [node.test if isinstance(node, ast.If) else node for node in nodes if isinstance(node, ast.If | ast.BoolOp)]
    return any(_ASKS.search(ast.unparse(one)) for one in asked)


def is_held_function(hit: Hit, source: SourceCode) -> bool:
    """What is awaited is made by a function that a caller gave, or that an attribute of `self` holds."""
    nodes = [*source.around(hit.line)]
    awaited = [node.value for node in nodes if isinstance(node, ast.Await)]
    called = [node.func for node in awaited if isinstance(node, ast.Call)]
    functions = [node for node in nodes if isinstance(node, Function)]
    if any(is_parameter(one, function) for one in called for function in functions):
        return True  # as a caller gave it
    held = {one.attr for one in called if isinstance(one, ast.Attribute) and ast.unparse(one.value) == "self"}
    methods = {
        part.name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, Function)
    }
    return bool(held) and held.isdisjoint(methods)


def is_local_annotation(hit: Hit, source: SourceCode) -> bool:
    """What is annotated inside of a function, or what `type` gives a name to, is not evaluated."""
    if _is_in_type_statement(source.lines[: hit.line]):
        return True
    annotated = any(isinstance(node, ast.AnnAssign) and node.lineno == hit.line for node in source.around(hit.line))
    return annotated and source.function(hit.line) is not None


def _is_in_type_statement(lines: Sequence[str]) -> bool:
    """Whether the last line is part of `type Name = …`, which a Python before 3.12 cannot parse."""
    starts = [place for place, line in enumerate(lines) if _TYPE_STATEMENT.match(line)]
    if not starts:
        return False
    before = "".join(lines[starts[-1] : -1])
    return len(lines) - 1 == starts[-1] or sum(map(before.count, "([{")) > sum(map(before.count, ")]}"))


def _is_about_types(handler: ast.ExceptHandler) -> bool:
    return handler.type is not None and re.search("TypeError|AttributeError", ast.unparse(handler.type)) is not None
