"""The faults that are tried: for one node of a syntax tree, the nodes that could stand in its place by mistake.

Each is a slip that a person could make and that still compiles: a bound off by one, a condition turned round, a field
forgotten, the wrong member of an enumeration. Nothing here knows where a node comes from.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from enum import Enum
from typing import TypeVar

_Tree = TypeVar("_Tree", bound=ast.AST)

_SWAPS: dict[type[ast.AST], Callable[[], ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def faults(node: ast.AST, names: dict[str, object]) -> Iterator[ast.AST]:
    """Every fault of one node by itself. `names` are the globals of its module."""
    match node:
        case ast.expr():
            yield from _in_expression(node, names)
        case ast.stmt():
            yield from _in_statement(node)
        case ast.comprehension() if node.ifs:
            yield _with(node, ifs=[])
        case _:
            pass


def _in_expression(node: ast.expr, names: dict[str, object]) -> Iterator[ast.expr]:
    match node:
        case ast.Constant():
            yield from _constant(node)
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                yield _with(node, ops=_replaced(node.ops, index, _SWAPS[type(operator)]()))
        case ast.BoolOp() | ast.BinOp():
            yield _with(node, op=_SWAPS[type(node.op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.IfExp():
            yield from _forced(node)
        case ast.Call():
            yield from _call(node)
        case ast.Attribute(ctx=ast.Load()):
            yield from _member(node, names)
        case _:
            pass


def _in_statement(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.If():
            yield from _forced(node)
        case ast.Match() if len(node.cases) > 1:
            for index in range(len(node.cases)):
                yield _with(node, cases=node.cases[:index] + node.cases[index + 1 :])
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield _with(node, value=ast.Constant(None))
        case _ if _may_be_left_out(node):
            yield ast.Pass()
        case _:
            pass


def _forced(node: _Tree) -> Iterator[_Tree]:
    """A condition that always, and one that never holds."""
    yield _with(node, test=ast.Constant(True))
    yield _with(node, test=ast.Constant(False))


def _constant(node: ast.Constant) -> Iterator[ast.expr]:
    match node.value:
        case bool():
            yield ast.Constant(not node.value)
        case int() | float():
            yield ast.Constant(node.value + 1)
        case str():
            yield ast.Constant(f"XX{node.value}XX")
        case _:
            pass


def _call(node: ast.Call) -> Iterator[ast.expr]:
    """A named argument forgotten, a positional one missing."""
    for index in range(len(node.keywords)):
        yield _with(node, keywords=node.keywords[:index] + node.keywords[index + 1 :])
    for index, argument in enumerate(node.args):
        if not isinstance(argument, ast.Starred | ast.Constant):
            yield _with(node, args=_replaced(node.args, index, ast.Constant(None)))


def _member(node: ast.Attribute, names: dict[str, object]) -> Iterator[ast.expr]:
    """Another member of the same enumeration."""
    owner = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
    if isinstance(owner, type) and issubclass(owner, Enum) and node.attr in owner.__members__:
        members = list(owner.__members__)
        yield _with(node, attr=members[(members.index(node.attr) + 1) % len(members)])


def _may_be_left_out(node: ast.stmt) -> bool:
    """A statement for its effect, and a new value for a name that has one already."""
    match node:
        case ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            return True
        case ast.Assign(targets=[ast.Name(id=name)]):
            read = (part.id for part in ast.walk(node.value) if isinstance(part, ast.Name))
            return name in read
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return True
        case _:
            return False


def _replaced(nodes: Sequence[ast.AST], index: int, node: ast.AST) -> list[ast.AST]:
    return [*nodes[:index], node, *nodes[index + 1 :]]


def _with(node: _Tree, **fields: object) -> _Tree:
    """A copy of a node with some fields changed, in the same place of its file."""
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
