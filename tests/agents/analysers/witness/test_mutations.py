"""Wrong versions of code: those that a test should notice, and none of those that it need not."""

import ast
import textwrap

import pytest

from burnish.agents.panel.project_tests.mutating import tests_reaching as reaching
from burnish.agents.panel.project_tests.mutations import MutationKind, chosen, mutations_of
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, SuiteEnd, TestResult


def words(body: str, head: str = "def f(a, b):", lines: set[int] | None = None) -> list[str]:
    """What is tried for a function all of whose lines run."""
    text = f"{head}\n{textwrap.indent(body, '    ')}\n"
    every = set(range(1, text.count("\n") + 2))
    return [each.words for each in mutations_of("m.py", text.encode(), lines or every, every)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if a == b:\n    a = g(b)\nreturn a", ["`a == b` becomes `a != b`"]),
        ("if not a:\n    a = g(b)\nreturn a", ["`not a` becomes `a`"]),
        ("if a and b:\n    a = g(b)\nreturn a", ["`a and b` becomes `not (a and b)`"]),
        ("if a:\n    a = g(b)\nelse:\n    a = h(b)\nreturn a", ["`a` becomes `not a`"]),
        (
            "if a < 18:\n    raise ValueError\ng(b)",
            ["`a < 18` becomes `a >= 18`", "`a < 18` becomes `a <= 18`", "`g(b)` is deleted"],
        ),
        (
            "if a > 5:\n    raise ValueError(a)\ng(b)",
            ["`a > 5` becomes `a <= 5`", "`a > 5` becomes `a >= 5`", "`g(b)` is deleted"],
        ),
        ("return a == b", ["`a == b` becomes `a != b`"]),
        ("return True", ["`True` becomes `False`"]),
        ("return [a, b]", ["`[a, b]` becomes `None`"]),
        ("return f'{a}'", ["`f'{a}'` becomes `None`"]),
        ("return a + 1", ["`a + 1` becomes `None`", "`a + 1` becomes `a + 2`"]),
        ("b.append(a)", ["`b.append(a)` is deleted"]),
        ("self.a = b", ["`self.a = b` is deleted"]),
        ("a['b'] = b", ["`a['b'] = b` is deleted"]),
        ("a += b", ["`a += b` is deleted"]),
        ("c = a * 2\nreturn c", ["`a * 2` becomes `a * 3`"]),
    ],
)
def test_a_wrong_version_is_made_of_what_a_test_can_check(body: str, expected: list[str]) -> None:
    assert words(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "logger.info('a')",
        "self._log.debug(a)",
        "warnings.warn('a')",
        "print(a)",
        "time.sleep(2)",
        "a.close()",
        "self._cache[a] = b",
        "self._cache.update(a)",
        "used_ids.add(a)",
        "self.timeout = b",
        "self.items = []",
        "super().__init__()",
        "return",
        "return None",
        "return []",
        "return g(a)",
        "return a",
        "raise ValueError('a')",
        "assert a == b",
        "a = b",
        "pass",
        "try:\n    return g(a)\nexcept ValueError:\n    h(a)\n    return 3",
        "if sys.platform == 'win32':\n    g(a)\nreturn a",
        "if TYPE_CHECKING:\n    g(a)\nreturn a",
        "if a:\n    logger.info('a')\nreturn a",
        "if a in self._cache:\n    return self._cache[a]\nreturn g(b)",
        "a: int = g(b)\nreturn a",
    ],
)
def test_what_makes_no_difference_to_check_is_left_alone(body: str) -> None:
    assert words(body) == []


@pytest.mark.parametrize("head", ["def __repr__(self):", "def log_it(a):", "@lru_cache\ndef f(a):", "def main():"])
def test_functions_for_people_are_left_alone(head: str) -> None:
    assert words("return [1]", head) == []


def test_a_result_may_be_missing_only_where_the_function_says_that_it_gives_one() -> None:
    assert words("return g(a)", "def f(a) -> int:") == ["`g(a)` becomes `None`"]
    assert words("return g(a)", "def f(a) -> int | None:") == []


def test_a_condition_is_turned_round_only_where_both_sides_ran() -> None:
    text = b"def f(a):\n    if a:\n        return g(a)\n    return h(a)\n"
    assert mutations_of("m.py", text, {2}, {1, 2, 4}) == ()
    assert mutations_of("m.py", text, {2}, {1, 2, 3}) == ()
    assert len(mutations_of("m.py", text, {2}, {1, 2, 3, 4})) == 1


def test_a_boundary_is_left_alone_where_the_value_itself_is_used() -> None:
    assert words("if a > 0:\n    return a\ng(b)") == ["`a > 0` becomes `a <= 0`", "`g(b)` is deleted"]


def test_only_lines_that_are_wanted_and_that_ran_are_touched() -> None:
    text = b"def f(a):\n    g(a)\n    h(a)\n    i(a)\n"
    assert [each.line for each in mutations_of("m.py", text, {2, 3}, {1, 3, 4})] == [3]
    assert mutations_of("m.py", b"def f(:\n", {1}, {1}) == ()


def test_a_wrong_version_is_the_file_with_one_place_replaced() -> None:
    text = (
        'def f(a):\n    """Größe."""\n    if (\n        a == "ä" and\n        a\n    ):\n        g(a)\n    return [a]\n'
    )
    every = set(range(1, 10))
    found = mutations_of("m.py", text.encode(), every, every)
    versions = [each.apply(text.encode()).decode() for each in found]
    for version in versions:
        ast.parse(version)
    assert 'not (a == "ä" and\n        a)' in versions[0]
    assert "        pass\n    return [a]" in versions[1]
    assert versions[2].endswith("return None\n")


def test_functions_take_turns() -> None:
    text = (
        "def f(a):\n    if a == 1:\n        g(a)\n    h(a)\n    return a + 1\n\n\ndef k(a):\n    g(a)\n    return [a]\n"
    )
    every = set(range(1, 12))
    found = chosen(mutations_of("m.py", text.encode(), every, every))
    places = [(each.function, each.line) for each in found]
    assert places == [("f", 2), ("k", 10), ("f", 5), ("k", 9), ("f", 3), ("f", 4), ("f", 5)]
    assert [each.kind for each in found][:2] == [MutationKind.CONDITION, MutationKind.RESULT]


def test_nothing_is_said_of_a_line_where_a_test_beside_those_that_run_it_was_skipped() -> None:
    (mutation,) = mutations_of("m.py", b"def f(a):\n    g(a)\n", {2}, {1, 2})
    here = Case(name="t.py::test_a", outcome=CaseOutcome.PASSED, file="t.py")
    reached = {"m.py": {2: ("t.py::test_a",)}}

    def tests(file: str, outcome: CaseOutcome) -> tuple[str, ...]:
        other = Case(name=f"{file}::test_b", outcome=outcome, file=file)
        return reaching(mutation, TestResult(ended=SuiteEnd.EXITED, cases=(here, other), reached=reached))

    assert tests("t.py", CaseOutcome.PASSED) == ("t.py::test_a",)
    assert tests("u.py", CaseOutcome.SKIPPED) == ("t.py::test_a",)
    assert tests("t.py", CaseOutcome.SKIPPED) == ()
