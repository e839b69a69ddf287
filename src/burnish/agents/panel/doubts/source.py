"""A file of a change, and what doubts ask of it, worked out once."""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from burnish.agents.panel.own_checks.imports import is_optional
from burnish.agents.panel.python_source import parse_python

Function = ast.FunctionDef | ast.AsyncFunctionDef


_DEVELOPERS = re.compile(
    r"(?:jake|gulp|grunt|make|rake)file|(?:^|[_-])(?:publish|release|build|bump|deploy|version)\b", re.IGNORECASE
)
_FOLDERS_OF_DEVELOPERS = frozenset(
    {
        "build", "ci", "contrib", "dev", "devtools", "gulp", "hack", "lab", "maint", "misc", "release", "script",
        "scripts", "tasks", "tooling", "tools",
    }
)  # fmt: skip


class SourceCode:
    """A file, and what is asked of it, worked out once."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self._around: dict[int, tuple[ast.AST, ...]] = {}

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
        """Whether something else may define names of the module: `exec(…)`, `globals().update(…)`, `f(globals())`.

        A function may, too, by `globals()[name] = …`.
        """
        everything = (node for part in self.body for node in ast.walk(part) if isinstance(node, ast.Subscript))
        if any(isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == "globals()" for one in everything):
            return True
        nodes = [node for part in self.body if not isinstance(part, Function) for node in ast.walk(part)]
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        if any(ast.unparse(one.func) in ("exec", "execfile", "globals().update", "vars().update") for one in calls):
            return True
        if any(_is_namespace(part) for one in calls if ast.unparse(one.func) not in dir(builtins) for part in one.args):
            return True
        changed = [node.value for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)]
        return any(map(_is_namespace, changed))

    @cached_property
    def imported_modules(self) -> tuple[ast.alias, ...]:
        """What a Python file imports by `import`, anywhere."""
        nodes = [node for part in self.body for node in ast.walk(part)]
        return tuple(one for node in nodes if isinstance(node, ast.Import) for one in node.names)

    @cached_property
    def postpones_annotations(self) -> bool:
        """Whether annotations of a Python file are not evaluated when it runs."""
        return any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(one.name == "annotations" for one in node.names)
            for node in self.body
        )

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

    def around(self, line: int | None) -> tuple[ast.AST, ...]:
        """Every node that a line is part of, the outer ones first."""
        if line is None:
            return ()
        if line not in self._around:
            found: list[ast.AST] = []
            waiting: list[ast.AST] = list(self.body)
            while waiting:
                here = [node for node in waiting if _first(node) <= line <= (getattr(node, "end_lineno", None) or line)]
                found += here
                waiting = [child for node in here for child in ast.iter_child_nodes(node)]
            self._around[line] = tuple(found)
        return self._around[line]

    def function(self, line: int | None) -> Function | None:
        """The innermost function that a line is part of."""
        return next((node for node in reversed(self.around(line)) if isinstance(node, Function)), None)

    def conditions(self, line: int | None) -> list[str]:
        """What is asked around a line, or before it in the same function: it may have returned then."""
        function = self.function(line)
        nodes = [*self.around(line), *(ast.walk(function) if function else ())]
        asked = [node for node in nodes if isinstance(node, ast.If | ast.IfExp)]
        return [ast.unparse(node.test) for node in asked if line and node.lineno <= line]

    def calls(self, line: int | None) -> list[ast.expr]:
        """What is called in a statement that a line is part of."""
        return [node.func for node in self.around(line) if isinstance(node, ast.Call)]


def _is_namespace(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node) in ("globals()", "locals()", "vars()")


def _first(node: ast.AST) -> int:
    """The first line of a node, with its decorators; 1 for those that have none, such as a list of arguments."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min((one.lineno for one in decorators), default=getattr(node, "lineno", 1))


def last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def parameters(function: Function) -> set[str]:
    """The names of the parameters of a function."""
    given = function.args
    every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return {one.arg for one in every if one}


def is_parameter(node: ast.expr, function: Function | None) -> bool:
    """Whether a name is a parameter of the function that it is used in."""
    return function is not None and isinstance(node, ast.Name) and node.id in parameters(function)


def is_for_developers(path: str) -> bool:
    """Whether a file builds, checks or publishes the project, as far as its path tells: its users are its authors."""
    *folders, name = PurePosixPath(path).parts or ("",)
    return _DEVELOPERS.search(name) is not None or not _FOLDERS_OF_DEVELOPERS.isdisjoint(folders)


def above(lines: Sequence[str], line: int) -> Iterator[str]:
    """The lines that begin what a line stands in, by their indentation, the innermost first."""
    inside = indented(lines[line - 1]) if line <= len(lines) else 0
    for one in reversed(lines[: line - 1]):
        if one.strip() and indented(one) < inside:
            inside = indented(one)
            yield one


def indented(line: str) -> int:
    return len(line) - len(line.lstrip())
