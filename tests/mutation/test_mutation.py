"""The mutator itself: which faults it knows, how a mutant is named and installed, and how the score is counted."""

import ast
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest

from tests.mutation.mutants import mutants_of
from tests.mutation.operators import faults
from tests.mutation.verdicts import Equivalent, Verdict, read_equivalent, score


class Light(Enum):
    RED = 1
    GREEN = 2


def faulty(source: str) -> list[str]:
    """The faults of the outermost node of a statement or an expression."""
    (statement,) = ast.parse(source).body
    node = statement.value if isinstance(statement, ast.Expr) and not source.endswith("()") else statement
    return [ast.unparse(ast.fix_missing_locations(fault)) for fault in faults(node, {"Light": Light})]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", ["a <= b"]),
        ("a <= b < c", ["a < b < c", "a <= b <= c"]),
        ("a is not b", ["a is b"]),
        ("a and b", ["a or b"]),
        ("a + b", ["a - b"]),
        ("not a", ["a"]),
        ("a if b else c", ["a if True else c", "a if False else c"]),
        ("3", ["4"]),
        ("True", ["False"]),
        ("'text'", ["'XXtextXX'"]),
        ("None", []),
        ("f(a, 1, *b, c=d, e=g)", ["f(a, 1, *b, e=g)", "f(a, 1, *b, c=d)", "f(None, 1, *b, c=d, e=g)"]),
        ("Light.RED", ["Light.GREEN"]),
        ("Light.GREEN", ["Light.RED"]),
        ("Light.name", []),
        ("other.RED", []),
        ("run = step(run)", ["pass"]),
        ("run = step(other)", []),
        ("a.b = c", ["pass"]),
        ("check()", ["pass"]),
        ("raise error", ["pass"]),
        ("if a: b", ["if True:\n    b", "if False:\n    b"]),
    ],
)
def test_the_faults_of_one_node(source: str, expected: list[str]) -> None:
    assert faulty(source) == expected


SOURCE = '''\
"""A module."""

def sign(number: int = 3) -> int:
    """What it is."""
    match number:
        case 0:
            return number
        case _:
            return 1 if number > 0 else -1


class Thing:
    @property
    def big(self) -> bool:
        return 5 > 3
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package that can be imported for the length of one test."""
    folder = tmp_path / "mutated_example"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "sample.py").write_text(SOURCE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield folder
    for name in [name for name in sys.modules if name.startswith(folder.name)]:
        del sys.modules[name]


def test_mutants_are_named_by_place_and_fault_and_leave_the_source_alone(package: Path) -> None:
    names = [mutant.name for mutant in mutants_of("mutated_example", package)]
    assert "mutated_example.sample.sign: return 1 if number > 0 else -1 => return 1 if number >= 0 else -1" in names
    assert "mutated_example.sample.sign: match number: => without case 0:" in names
    assert "mutated_example.sample.Thing.big: return 5 > 3 => return 6 > 3" in names
    assert len(set(names)) == len(names)
    assert not [name for name in names if "What it is" in name or "=> def" in name]
    assert (package / "sample.py").read_text() == SOURCE


def test_an_installed_mutant_runs_in_place_of_the_original(package: Path) -> None:
    (mutant,) = (one for one in mutants_of("mutated_example", package) if one.name.endswith("else -2"))
    assert mutant.target(-7) == -1
    mutant.install()
    assert mutant.target(-7) == -2
    assert mutant.target(7) == 1


VERDICTS = {
    "one": Verdict.KILLED,
    "two": Verdict.KILLED,
    "three": Verdict.KILLED,
    "four": Verdict.SURVIVED,
    "five": Verdict.SURVIVED,
    "six": Verdict.TIMED_OUT,
    "seven": Verdict.NOT_TRIED,
}


def test_time_outs_and_equivalent_mutants_are_counted_apart() -> None:
    result = score(VERDICTS, (Equivalent(mutant="five", why="so"),))
    assert (result.killed, result.survivors, result.timed_out) == (3, ("four",), ("six",))
    assert (result.not_tried, result.equivalent, result.stale) == (1, 1, ())
    assert result.percent == 75


@pytest.mark.parametrize("name", ["one", "fiv", "five ", "gone"])
def test_a_name_that_is_not_exactly_a_survivors_excuses_nothing(name: str) -> None:
    result = score(VERDICTS, (Equivalent(mutant=name, why="so"),))
    assert result.survivors == ("four", "five")
    assert result.stale == (name,)


def test_every_equivalent_mutant_has_a_reason_and_is_listed_once() -> None:
    listed = read_equivalent()
    assert all(entry.why.strip() for entry in listed)
    assert len({entry.mutant for entry in listed}) == len(listed)
