"""Which test functions a change adds or edits, from the text of a file before and after. Python only."""

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from burnish.agents.panel.project_tests.values import Case, Framework, function_of
from burnish.agents.panel.python_source import parse_python

Function = ast.FunctionDef | ast.AsyncFunctionDef


class TestFunction(NamedTuple):
    """One test, and the class around it."""

    __test__ = False

    name: str
    """With the class: `TestSum.test_negative`."""
    node: Function
    owner: ast.ClassDef | None = None


class TestModule:
    """A file of tests. One that cannot be parsed has none."""

    __test__ = False

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse_python(text) or ast.Module(body=[], type_ignores=[])

    @cached_property
    def tests(self) -> dict[str, TestFunction]:
        """What pytest or unittest take for a test, by name."""
        return {test.name: test for test in _tests(self.tree.body)}

    @cached_property
    def definitions(self) -> dict[str, ast.stmt]:
        """What the module defines at its top, by name. Of several with one name the last counts."""
        return {name: node for node in self.tree.body for name in _defined_names(node)}


def edited_tests(before: str, now: str) -> frozenset[str]:
    """The tests that are new, or whose own code is another. Comments and layout do not count."""
    former = TestModule(before).tests
    return frozenset(
        name
        for name, test in TestModule(now).tests.items()
        if name not in former or ast.dump(former[name].node) != ast.dump(test.node)
    )


def affected_tests(before: str, now: str) -> frozenset[str]:
    """The edited tests, and those that use something of their own file that is another now."""
    old, new = TestModule(before), TestModule(now)
    changed = {
        name
        for name, node in new.definitions.items()
        if not isinstance(node, ast.ClassDef)
        and (name not in old.definitions or ast.dump(old.definitions[name]) != ast.dump(node))
    }
    changed = _spread(changed, new.definitions)
    using = (name for name, test in new.tests.items() if not _used_names(test.node).isdisjoint(changed))
    return edited_tests(before, now) | frozenset(using)


def test_name(case: Case, framework: Framework) -> str:
    """The name of a case as `TestModule` has it: without file and parameters."""
    name = function_of(case.name)
    if "::" in name:
        return name.partition("::")[2].replace("::", ".")
    return ".".join(name.split(".")[-2:]) if framework is Framework.UNITTEST else name


test_name.__test__ = False  # pyright: ignore[reportFunctionMemberAccess]


def _tests(body: list[ast.stmt], owner: ast.ClassDef | None = None) -> Iterator[TestFunction]:
    for node in body:
        if isinstance(node, ast.ClassDef) and owner is None and (node.name.startswith("Test") or node.bases):
            yield from _tests(node.body, node)
        elif isinstance(node, Function) and node.name.startswith("test") and not _is_fixture(node):
            yield TestFunction(f"{owner.name}.{node.name}" if owner else node.name, node, owner)


def _is_fixture(node: Function) -> bool:
    return any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)


def _defined_names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign():
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case _:
            pass


def _used_names(node: ast.AST) -> set[str]:
    """Names that are read inside, and parameters, which may be fixtures."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return names | {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}


def _spread(changed: set[str], definitions: Mapping[str, ast.stmt]) -> set[str]:
    """Also what uses something that changed."""
    users = {name: _used_names(node) for name, node in definitions.items() if isinstance(node, Function)}
    while more := {name for name, used in users.items() if name not in changed and not used.isdisjoint(changed)}:
        changed = changed | more
    return changed
