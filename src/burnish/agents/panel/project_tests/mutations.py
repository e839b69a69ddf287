"""Small wrong versions of changed Python code: which there are, and which of them are worth a run. Text only.

A wrong version that no test notices says that the tests do not check what the line does. What is often not worth a run
is left out: messages, logging, caches, clean-up, sizes and durations, shortcuts that save work, text for people, code
of other platforms and versions. Whether a version makes a difference is seen when it runs.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from burnish.agents.panel.python_source import parse_python
from burnish.core.values import Value, replace

_NO_FUNCTIONS = re.compile(
    r"__(?:repr|str|del|hash|rich_repr|getstate|setstate|sizeof|dir|format)__|.*(?:repr|debug|log|print|trace|warn|usage)"
    r"(?:_.*|$)|main|_?cli",
    re.IGNORECASE,
)
"""Functions whose results are for people."""
_IDLE_CALL = re.compile(
    r"(?:.*\.)?(?:_?log(?:ger|ging)?|_LOG(?:GER)?|warnings|metrics?|stats(?:d)?|tracer?|span|telemetry|console|gc|traceback"
    r"|sys\.std(?:out|err)|faulthandler)\.\w+(?:\.\w+)*"
    r"|(?:.*\.)?(?:print|pprint|echo|secho|warn|debug|info|warning|error|exception|critical|log|sleep|close|aclose|flush"
    r"|shutdown|join|wait|cancel|release|acquire|unlink|rmtree|cleanup|clean_up|cache_clear|clear_cache|seed|notify(?:_all)?"
    r"|freeze|lock|unlock|update_wrapper|register|setLevel|addHandler|disable|enable|fsync|sync|commit|rollback|__init__"
    r"|__exit__|__enter__|__aexit__|stop|kill|terminate|task_done|put_nowait|set|call_soon|call_later|start|detach"
    r"|setdefault|copystat|chmod|utime|set_name|__init_subclass__|resize|reserve|prefetch|warm_up|discard)",
)
"""Calls whose lack a test of results cannot be asked to notice."""
_IDLE_NAME = re.compile(
    r"(?i).*(?:cache|memo|lock|timeout|delay|interval|retr(?:y|ies)|backoff|sleep|deadline|elapsed|duration|started?_at"
    r"|timestamp|size|limit|width|height|buffer|chunk|batch|debug|verbose|log|metric|stat|count(?:er)?s?$|hint|message|msg"
    r"|description|doc|help|title|label|version|__\w+__|platform|weakref|_?ref$|seen|visited|used_|_used$|token_count|indent|prefix_len)"
    r".*"
)
"""What is assigned or compared for speed, for people or for the machine."""
_OTHER_MACHINE = re.compile(
    r"TYPE_CHECKING|__name__|__debug__|sys\.(?:platform|version_info|flags|implementation|byteorder|maxsize)|os\.name"
    r"|platform\.|WINDOWS|WIN(?:32)?\b|PYPY|PY_?\d\w*|IS_\w+|DEBUG|verbose|isEnabledFor|os\.environ|getenv|hasattr|isatty"
    r"|can_\w+|HAS_\w+|HAVE_\w+"
)
_BOUNDARY: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)
_MAYBE_NONE = re.compile(r"None|Optional|Any|object|bool|NoReturn|Never|Iterator|Generator|Awaitable|\b[A-Z]\b")
_MOST_IN_A_FUNCTION = 6
_MOST_SHOWN = 80


class MutationKind(Enum):
    """What is done to the code, the most telling first."""

    CONDITION = "condition"
    RESULT = "result"
    STATEMENT = "statement"
    CONSTANT = "constant"
    BOUNDARY = "boundary"


class Mutation(Value):
    """One wrong version of a file."""

    path: str
    function: str
    first_line: int
    """Of the innermost function around it, with its decorators."""
    line: int
    kind: MutationKind
    start: int
    """Where the replaced text begins and ends, in bytes."""
    end: int
    replacement: str
    words: str
    """What is done, for a reader."""
    parameter: str = ""
    """The parameter of the function that is compared with a boundary, where it is one."""
    boundary: int = 0

    def apply(self, content: bytes) -> bytes:
        return content[: self.start] + self.replacement.encode() + content[self.end :]


class _Place(NamedTuple):
    """A statement inside a function, and what surrounds it."""

    function: str
    statement: ast.stmt
    following: int | None
    """The first line that runs after the statement in the same function, where one does."""
    parents: tuple[ast.AST, ...]


def mutations_of(path: str, content: bytes, lines: Collection[int], executed: Collection[int]) -> tuple[Mutation, ...]:
    """Wrong versions of some lines. `executed`: all lines of the file that tests run, changed or not."""
    tree = parse_python(content)
    if tree is None:
        return ()
    maker = _Maker(path, content, frozenset(executed))
    wanted = frozenset(lines) & frozenset(executed)
    found = (mutation for place in _places(tree) for mutation in maker.of(place) if mutation.line in wanted)
    return tuple(dict.fromkeys(found))


def chosen(found: Iterable[Mutation]) -> tuple[Mutation, ...]:
    """The order in which they are tried: of each function the most telling first, functions in turn."""
    kinds = list(MutationKind)
    ordered = sorted(found, key=lambda each: (kinds.index(each.kind), each.path, each.line, each.start))
    taken: Counter[tuple[str, str]] = Counter()
    turns: list[tuple[int, int, Mutation]] = []
    for place, mutation in enumerate(ordered):
        turn = taken[mutation.path, mutation.function]
        if turn < _MOST_IN_A_FUNCTION:
            taken[mutation.path, mutation.function] += 1
            turns.append((turn, place, mutation))
    return tuple(mutation for _, _, mutation in sorted(turns, key=lambda each: each[:2]))


def _places(tree: ast.Module) -> Iterator[_Place]:
    for name, function in _functions(tree.body, ""):
        own = name.rpartition(".")[2]
        if not _NO_FUNCTIONS.fullmatch(own) and not _is_uninteresting(function):
            yield from _statements(name, function.body, None, (function,))


def _functions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield from _functions(node.body, f"{prefix}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield f"{prefix}{node.name}", node
            case ast.If() | ast.Try():
                yield from _functions([*node.body, *node.orelse], prefix)
            case _:
                pass


def _is_uninteresting(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    said = " ".join(ast.unparse(each) for each in function.decorator_list)
    return bool(re.search(r"overload|abstract|cache|deprecated|lru|fixture", said))


def _statements(
    name: str, body: Sequence[ast.stmt], after: int | None, parents: tuple[ast.AST, ...]
) -> Iterator[_Place]:
    """Every statement of a function. Code for other machines, clean-up and handlers of errors are left out."""
    for number, statement in enumerate(body):
        following = body[number + 1].lineno if number + 1 < len(body) else after
        yield _Place(name, statement, following, parents)
        inside = (*parents, statement)
        match statement:
            case ast.If():
                if not _OTHER_MACHINE.search(ast.unparse(statement.test)):
                    yield from _statements(name, statement.body, following, inside)
                    yield from _statements(name, statement.orelse, following, inside)
            case ast.For() | ast.AsyncFor() | ast.While() | ast.With() | ast.AsyncWith():
                yield from _statements(name, statement.body, following, inside)
            case ast.Try():
                yield from _statements(name, statement.body, following, inside)
                yield from _statements(name, statement.orelse, following, inside)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _statements(f"{name}.{statement.name}", statement.body, None, (statement,))
            case _:
                pass


class _Maker:
    """Makes wrong versions of one file."""

    def __init__(self, path: str, content: bytes, executed: frozenset[int]) -> None:
        self._path = path
        self._content = content
        self._executed = executed
        self._starts = [0]
        for line in content.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def of(self, place: _Place) -> Iterator[Mutation]:
        statement = place.statement
        match statement:
            case ast.If():
                yield from self._branch(place, statement)
            case ast.Return(value=ast.expr() as value):
                yield from self._result(place, value)
            case _ if _is_worth_a_test(statement):
                yield self._deleted(place)
            case _:
                pass
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.Return):
            yield from self._constants(place, statement)

    def _branch(self, place: _Place, statement: ast.If) -> Iterator[Mutation]:
        """Only where tests came by on both sides: then the opposite is wrong for one of them."""
        test = statement.test
        said = ast.unparse(test)
        if _OTHER_MACHINE.search(said) or all(_is_idle(node) for node in statement.body):
            return
        other = statement.orelse[0].lineno if statement.orelse else place.following
        if statement.body[0].lineno not in self._executed or other is None or other not in self._executed:
            return
        if not _IDLE_NAME.fullmatch(said):
            yield self._flipped(place, test)
            yield from self._boundary(place, statement)

    def _flipped(self, place: _Place, test: ast.expr) -> Mutation:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._replaced(place, test, self._text(test.operand), MutationKind.CONDITION)
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
            sides = self._text(test.left), self._text(test.comparators[0])
            text = f"{sides[0]} {_OPPOSITE[type(test.ops[0])]} {sides[1]}"
            return self._replaced(place, test, text, MutationKind.CONDITION)
        simple = isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        text = f"not {self._text(test)}" if simple else f"not ({self._text(test)})"
        return self._replaced(place, test, text, MutationKind.CONDITION)

    def _boundary(self, place: _Place, statement: ast.If) -> Iterator[Mutation]:
        """Only against a number, and where the branch does not use what is compared: there both may be the same."""
        match statement.test:
            case ast.Compare(left=left, ops=[operator], comparators=[ast.Constant(value=int()) as right]) if type(
                operator
            ) in _BOUNDARY and not isinstance(right.value, bool):
                acting = (each for each in statement.body if not isinstance(each, ast.Raise))
                used = {ast.unparse(node) for each in acting for node in ast.walk(each)}
                inner = left.args[0] if isinstance(left, ast.Call) and left.args else left
                if ast.unparse(inner) not in used and all(_leaves(node) for node in statement.body[-1:]):
                    text = f"{self._text(left)} {_BOUNDARY[type(operator)]} {self._text(right)}"
                    moved = self._replaced(place, statement.test, text, MutationKind.BOUNDARY)
                    compared = left.id if isinstance(left, ast.Name) else ""
                    yield replace(moved, parameter=compared, boundary=right.value) if compared else moved
            case _:
                pass

    def _result(self, place: _Place, value: ast.expr) -> Iterator[Mutation]:
        """A result that cannot be None or count as false anyway is left out; a truth becomes its opposite."""
        match value:
            case ast.Constant(value=bool(truth)):
                yield self._replaced(place, value, str(not truth), MutationKind.RESULT)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                yield self._replaced(place, value, self._flipped(place, value).replacement, MutationKind.RESULT)
            case ast.BinOp() | ast.JoinedStr() | ast.ListComp() | ast.DictComp() | ast.SetComp():
                yield self._replaced(place, value, "None", MutationKind.RESULT)
            case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements) if elements:
                yield self._replaced(place, value, "None", MutationKind.RESULT)
            case ast.Dict(keys=keys) if keys:
                yield self._replaced(place, value, "None", MutationKind.RESULT)
            case ast.Constant(value=int() | float() | str() | bytes() as constant) if constant:
                yield self._replaced(place, value, "None", MutationKind.RESULT)
            case _:
                if _gives_something(place.parents[0]):
                    yield self._replaced(place, value, "None", MutationKind.RESULT)

    def _constants(self, place: _Place, statement: ast.Assign | ast.AugAssign | ast.Return) -> Iterator[Mutation]:
        """Numbers in arithmetic."""
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        if any(_IDLE_NAME.fullmatch(ast.unparse(target)) for target in targets):
            return
        for node in ast.walk(statement):
            if (
                isinstance(node, ast.BinOp)
                and isinstance(node.op, _ARITHMETIC)
                and isinstance(node.right, ast.Constant)
            ):
                number = node.right.value
                if type(number) is int and not _IDLE_NAME.fullmatch(ast.unparse(node.left)):
                    yield self._replaced(place, node.right, str(number + 1), MutationKind.CONSTANT, whole=node)

    def _deleted(self, place: _Place) -> Mutation:
        statement = place.statement
        start, end = self._span(statement)
        return Mutation(
            path=self._path,
            function=place.function,
            first_line=_first_line(place.parents[0]),
            line=statement.lineno,
            kind=MutationKind.STATEMENT,
            start=start,
            end=end,
            replacement="pass",
            words=f"`{_short(self._text(statement))}` is deleted",
        )

    def _replaced(
        self, place: _Place, node: ast.expr, text: str, kind: MutationKind, *, whole: ast.expr | None = None
    ) -> Mutation:
        start, end = self._span(node)
        shown = whole or node
        first, last = self._span(shown)
        after = (self._content[first:start] + text.encode() + self._content[end:last]).decode(errors="replace")
        return Mutation(
            path=self._path,
            function=place.function,
            first_line=_first_line(place.parents[0]),
            line=place.statement.lineno,
            kind=kind,
            start=start,
            end=end,
            replacement=text,
            words=f"`{_short(self._text(shown))}` becomes `{_short(after)}`",
        )

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        last_line, last_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[last_line - 1] + last_column

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self._content[start:end].decode(errors="replace")


def _is_worth_a_test(statement: ast.stmt) -> bool:
    """Whether a test could notice that it is missing."""
    match statement:
        case ast.Expr(value=ast.Call(func=function)):
            receiver = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
            return not _IDLE_CALL.fullmatch(ast.unparse(function)) and not _IDLE_NAME.fullmatch(receiver)
        case ast.AugAssign(target=target):
            return not _IDLE_NAME.fullmatch(ast.unparse(target))
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target], value=value):
            return not _IDLE_NAME.fullmatch(ast.unparse(target)) and not _is_blank(value)
        case _:
            return False


def _first_line(function: ast.AST) -> int:
    match function:
        case (
            ast.FunctionDef(lineno=line, decorator_list=decorators)
            | ast.AsyncFunctionDef(lineno=line, decorator_list=decorators)
        ):
            return min([line, *(each.lineno for each in decorators)])
        case _:
            return 0


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _is_blank(value: ast.expr) -> bool:
    """A start value: often the same as what is there without it."""
    match value:
        case ast.Constant(value=constant):
            return not constant
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return not elements
        case ast.Dict(keys=keys):
            return not keys
        case ast.Call(func=ast.Name(id="dict" | "list" | "set" | "defaultdict" | "deque" | "Lock"), args=arguments):
            return not arguments
        case _:
            return False


def _is_idle(node: ast.stmt) -> bool:
    """Whether a statement does nothing that a test of results could see."""
    match node:
        case ast.Expr(value=ast.Call(func=function)):
            return bool(_IDLE_CALL.fullmatch(ast.unparse(function)))
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Continue():
            return True
        case ast.Assign(targets=[target]):
            return bool(_IDLE_NAME.fullmatch(ast.unparse(target)))
        case _:
            return False


def _leaves(node: ast.stmt) -> bool:
    """Whether the branch ends in another way than the code after it."""
    return isinstance(node, ast.Raise) or (isinstance(node, ast.Return) and node.value is not None)


def _gives_something(function: ast.AST) -> bool:
    """Whether a function says that it never gives None."""
    returns = getattr(function, "returns", None)
    if returns is None:
        return False
    return not _MAYBE_NONE.search(ast.unparse(returns))
