"""All mutants of a package: where each fault goes, what it is called, and the code that has it.

A mutant is never written to a file. It is the code object of one function, compiled from a changed syntax tree, and
it replaces the function's own code in the memory of one process. Only bodies of functions, methods and properties are
mutated: what runs when a module is imported has run before any mutant exists.
"""

import ast
import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import NamedTuple, cast

from tests.mutation.operators import faults

_Unit = ast.stmt | ast.match_case
"""What a mutant is described by: the statement, or the case, that the fault is in."""
_NOT_RUN = ("annotation", "returns", "args", "decorator_list", "type_params")


class Mutant:
    """One fault in one function. The name says all of it, and does not change with lines elsewhere."""

    def __init__(self, name: str, target: FunctionType, code: CodeType) -> None:
        self.name = name
        self.target = target
        self.code = code

    def install(self) -> None:
        """Put the fault into this process."""
        self.target.__code__ = self.code


class _Slot(NamedTuple):
    """Where a node hangs in its tree."""

    holder: ast.AST
    field: str
    place: int | None
    """Its index, where the field is a list."""

    def put(self, node: ast.AST) -> None:
        if self.place is None:
            setattr(self.holder, self.field, node)
        else:
            getattr(self.holder, self.field)[self.place] = node


def mutants_of(package: str, source: Path) -> list[Mutant]:
    """Every mutant of every module of a package, in the order of the source."""
    found: list[Mutant] = []
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join((package, *(part for part in parts if part != "__init__")))
        found += _mutants_of_module(importlib.import_module(name), path)
    return found


def _mutants_of_module(module: ModuleType, path: Path) -> Iterator[Mutant]:
    tree = ast.parse(path.read_text("utf-8"))
    short = module.__name__.removeprefix("burnish.")
    seen: Counter[str] = Counter()
    for qualified, function in _functions(tree):
        target = _live(module, qualified)
        for description in _in_turn(function, vars(module)) if target is not None else ():
            code = _code_of(compile(ast.fix_missing_locations(tree), str(path), "exec"), qualified)
            described = f"{short}.{qualified}: {description}"
            seen[described] += 1
            name = described if seen[described] == 1 else f"{described} ({seen[described]})"
            if target is not None and code.co_freevars == target.__code__.co_freevars:
                yield Mutant(name, target, code)


def _functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name, statement
        if isinstance(statement, ast.ClassDef):
            for inner in statement.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{statement.name}.{inner.name}", inner


def _live(module: ModuleType, qualified: str) -> FunctionType | None:
    """The function that runs under a name: the one inside a property or a static method, too."""
    found: object = module
    for part in qualified.split("."):
        found = vars(found)[part]
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, staticmethod):
        found = found.__func__
    return found if isinstance(found, FunctionType) else None


def _code_of(module: CodeType, qualified: str) -> CodeType:
    """The code of one function of a compiled module. Where a name was given twice, the last one holds, as in Python."""
    found = module
    for part in qualified.split("."):
        found = [code for code in found.co_consts if isinstance(code, CodeType) and code.co_name == part][-1]
    return found


def _in_turn(function: ast.FunctionDef, names: dict[str, object]) -> Iterator[str]:
    """Put one fault after the other into the tree, and take it out again once the caller has used it."""
    for slot, node, unit in list(_nodes(function, function)):
        for faulty in list(faults(node, names)):
            before = _text(unit)
            slot.put(faulty)
            changed = faulty if node is unit and isinstance(faulty, _Unit) else unit
            description = f"{before} => {_text(changed)}"
            yield description if _text(changed) != before else f"{before} => without {_lost(unit, faulty)}"
            slot.put(node)


def _nodes(holder: ast.AST, unit: _Unit) -> Iterator[tuple[_Slot, ast.AST, _Unit]]:
    """Every node below a holder that runs, with its slot and its unit."""
    for slot, node in _children(holder):
        if slot.field in _NOT_RUN or _is_documentation(node):
            continue
        own = node if isinstance(node, _Unit) else unit
        yield slot, node, own
        yield from _nodes(node, own)


def _children(holder: ast.AST) -> Iterator[tuple[_Slot, ast.AST]]:
    for field, value in cast("Iterator[tuple[str, object]]", ast.iter_fields(holder)):
        if isinstance(value, ast.AST):
            yield _Slot(holder, field, None), value
        elif isinstance(value, list):
            for place, node in enumerate(cast("list[object]", value)):
                if isinstance(node, ast.AST):
                    yield _Slot(holder, field, place), node


def _is_documentation(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _text(node: ast.AST) -> str:
    """The first line of a node: all of a simple statement, the head of a compound one."""
    return ast.unparse(ast.fix_missing_locations(node)).strip().partition("\n")[0]


def _lost(unit: _Unit, faulty: ast.AST) -> str:
    """The case that a match is left without."""
    kept = faulty.cases if isinstance(faulty, ast.Match) else []
    gone = [case for case in unit.cases if case not in kept] if isinstance(unit, ast.Match) else []
    return "; ".join(_text(case) for case in gone)
