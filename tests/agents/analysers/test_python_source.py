"""Code of a change may be nested as deeply as its author likes: it is parsed or it is not, and nothing else happens."""

import ast
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from burnish.agents.panel.python_source import parse_python

NESTED = {
    "brackets": "x = " + "[" * 90 + "]" * 90,
    "more brackets": "x = " + "(" * 5_000 + ")" * 5_000,
    "a long sum": "x = " + " + ".join(["1"] * 3_000),
    "a chain of calls": "x = a" + ".b()" * 2_000,
    "not operators": "x = " + "not " * 2_500 + "y",
    "blocks": "\n".join(" " * depth + "if x:" for depth in range(99)) + "\n" + " " * 99 + "pass",
}


def walked(tree: ast.Module) -> str:
    """What functions that call themselves for each level do with a tree."""
    return ast.dump(tree) + ast.unparse(tree)


def at_depth(depth: int, code: str) -> ast.Module | None:
    return at_depth(depth - 1, code) if depth else parse_python(code)


@pytest.mark.parametrize("code", NESTED.values(), ids=NESTED.keys())
@pytest.mark.parametrize("depth", [0, 100])
def test_deeply_nested_code_never_ends_the_program(code: str, depth: int) -> None:
    tree = at_depth(depth, code)

    assert tree is None or walked(tree)


def test_ordinary_code_is_parsed() -> None:
    assert parse_python("x = [[1, 2], {'a': f'{y!r:>{width}}'}]") is not None
    assert parse_python(b"# -*- coding: latin-1 -*-\nx = '\xe9'\n") is not None
    assert parse_python(" + ".join(["name"] * 100)) is not None


@pytest.mark.parametrize("code", ["def f(:", "x = 1\0", b"# -*- coding: none -*-\n", "\ud800"])
def test_what_is_no_python_has_no_tree(code: str | bytes) -> None:
    assert parse_python(code) is None


def test_the_error_of_the_parser_that_only_some_versions_have_is_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> ast.Module:
        raise SystemError("AST constructor recursion depth mismatch")

    monkeypatch.setattr(sys.modules["burnish.agents.panel.python_source"].ast, "parse", fail)

    assert parse_python("x = 1") is None


def test_one_thread_parses_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser of CPython 3.11 fails where two do."""
    first_is_inside, second_has_begun, both_inside = Event(), Event(), Event()
    parse = ast.parse

    def watched(source: str) -> ast.Module:
        if source == "first":
            first_is_inside.set()
            second_has_begun.wait()
            assert not both_inside.wait(0.1)
        else:
            both_inside.set()
        return parse(source)

    def second() -> ast.Module | None:
        first_is_inside.wait()
        second_has_begun.set()
        return parse_python("second")

    monkeypatch.setattr("burnish.agents.panel.python_source.ast.parse", watched)
    with ThreadPoolExecutor(2) as threads:
        trees = [threads.submit(parse_python, "first"), threads.submit(second)]
        assert all(tree.result() is not None for tree in trees)
