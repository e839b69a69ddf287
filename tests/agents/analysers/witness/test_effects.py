"""What a wrong version does to the calls of a test: shown, or not there. No code of the project runs for it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import Mock

import pytest

from burnish.agents.panel.project_tests.effects import shown_effect
from burnish.agents.panel.project_tests.inside.burnish_calls import CallRecorder, described
from burnish.agents.panel.project_tests.mutations import mutations_of
from burnish.agents.panel.project_tests.reports import read_report
from burnish.agents.panel.project_tests.values import Case, CaseOutcome, SuiteEnd, TestResult

BOX = "class Box:\n    def __init__(self):\n        self.items, self._made = [], 0\n\n"


def effects(folder: Path, code: str, test: str) -> list[str]:
    """What is shown of each wrong version of the code."""
    every = range(1, code.count("\n") + 2)
    found: list[str] = []
    for mutation in mutations_of("m.py", code.encode(), every, every):
        function = {"file": "m.py", "line": mutation.first_line, "name": mutation.function.rpartition(".")[2]}
        function |= {"parameter": mutation.parameter, "boundary": mutation.boundary}
        wrong = mutation.apply(code.encode()).decode()
        runs = [recorded(folder, version, test, function) for version in (wrong, code, wrong, code)]
        effect = shown_effect(runs[1::2], runs[::2])
        found += [f"{effect.file}:{effect.line} {effect.words}"] if effect else []
    return found


def recorded(folder: Path, code: str, test: str, function: dict[str, Any]) -> TestResult:
    """A test that passes, as a run with a record of its calls reports it."""
    values: dict[str, Any] = {"__name__": "m"}
    exec(compile(code, str(folder / "m.py"), "exec"), values)  # noqa: S102 - the code of this file
    exec(compile(f"def test():\n    {test}\n", str(folder / "test_m.py"), "exec"), values)  # noqa: S102 - the same
    recorder = CallRecorder(str(folder), function)
    recorder.start()
    try:
        values["test"]()
    finally:
        calls = recorder.stop()
    line = json.dumps({"kind": "calls", "name": "test", "calls": calls})
    passed = Case(name="test", outcome=CaseOutcome.PASSED)
    return TestResult(ended=SuiteEnd.EXITED, cases=(passed,), calls=read_report(f"{line}\n".encode()).calls)


HALF = "def half(number):\n    number = (number + 0) // 2\n    return number\n"
ENTER = "def enter(age, *, force=False):\n    if age < 18:\n        raise ValueError(age)\n    print()\n"
PUT = BOX + "    def put(self, *items):\n        self.items.extend(items)\n        self._made += 1\n"
FILL = "def fill(data):\n    data['a'] = 1\n\n\ndef run(data):\n    fill(data)\n    return None\n"
YIELDS = "def each():\n    one = 1\n    one += 2\n    yield one\n\n\ndef total():\n    return max(each())\n"


@pytest.mark.parametrize(
    ("code", "test", "expected"),
    [
        (HALF, "half(4)", ["test_m.py:2 `half(4)` returns `1` instead of `2`"]),
        (
            ENTER,
            "try:\n        enter(18, force=True)\n    except ValueError:\n        pass",
            2 * ["test_m.py:3 `enter(18, force=True)` raises `ValueError(18)` instead of returning `None`"],
        ),
        (
            PUT,
            "Box().put('a')",
            ["test_m.py:2 `Box.put(*('a',))` leaves `self` as `Box(items=[])` instead of `Box(items=['a'])`"],
        ),
        (
            FILL,
            "run({})",
            [
                "test_m.py:2 `run(…)` leaves `data` as `{}` instead of `{'a': 1}`",
                "test_m.py:2 `run({})` leaves `data` as `{}` instead of `{'a': 1}`",
            ],
        ),
        (YIELDS, "total()", ["test_m.py:2 `total(…)` returns `1` instead of `3`"]),
    ],
)
def test_an_effect_is_shown_by_the_call_of_a_test(tmp_path: Path, code: str, test: str, expected: list[str]) -> None:
    """A condition, a boundary, a number and deletions; what only private attributes keep is not shown."""
    assert effects(tmp_path, code, test) == expected


PRICE = "def price(cents, *, member=False):\n    if cents >= 5000:\n        return 0\n    return 5\n"
AT_THE_BOUNDARY = "`price(5000, member=False)` returns `5` instead of `0`"


@pytest.mark.parametrize(
    ("code", "test", "expected"),
    [
        (PRICE, "price(1); price(9000)", [AT_THE_BOUNDARY]),
        (PRICE, "price(True); price(9e3)", []),
        (PRICE, "price(1, member=[])", []),
        (PRICE.replace("return 5", "return 0"), "price(1)", []),
    ],
)
def test_a_boundary_that_no_test_comes_to_is_shown_by_a_repeated_call(
    tmp_path: Path, code: str, test: str, expected: list[str]
) -> None:
    """Only with whole numbers and what cannot have been altered, and only if it makes a difference."""
    shown = effects(tmp_path, code, test)
    assert [each.partition(" ")[2] for each in shown if "5000" in each] == expected


HANDLER = (
    "from xml.parsers import expat\n\n\ndef f(text):\n    parser = expat.ParserCreate()\n"
    "    parser.EndElementHandler = print\n    parser.Parse(text)\n"
)


@pytest.mark.parametrize(
    ("code", "test"),
    [
        ("def f(items):\n    try:\n        iter(items)\n    except TypeError:\n        return 0\n", "f([1])"),
        ("import io\n\n\ndef f():\n    out = io.StringIO()\n    out.write('')\n    return out.getvalue()\n", "f()"),
        ("def f(a):\n    names = []\n    names.append(a)\n    return a\n", "f(3)"),
        (HANDLER, "f('<a>')"),
        ("def g():\n    a = 1\n    a += 1\n    yield\n\n\ndef f():\n    b = g()\n    next(b)\n    return b\n", "f()"),
        ("def _is_quick(a):\n    return a == 1\n\n\ndef f(a):\n    return 1 if _is_quick(a) else a ** 1\n", "f(1)"),
    ],
)
def test_what_makes_no_difference_to_a_test_is_not_shown(tmp_path: Path, code: str, test: str) -> None:
    assert effects(tmp_path, code, test) == []


def test_what_differs_from_run_to_run_is_no_effect(tmp_path: Path) -> None:
    code = "import time\n\n\ndef f(a):\n    a.append(0)\n    return time.perf_counter_ns()\n"
    (shown,) = effects(tmp_path, code, "f([])")
    assert "leaves `a` as `[]` instead of `[0]`" in shown


def refuse(*arguments: object, **named: object) -> NoReturn:
    raise AssertionError("code of the project was run")


HOSTILE = (
    "__repr__ __str__ __eq__ __hash__ __getattribute__ __getattr__ __iter__ __len__ __getitem__ __bool__ __format__ "
    "__instancecheck__ __class__ __lt__ keys items values append args"
)


@pytest.mark.parametrize("base", [object, list, dict, int, str, tuple, ValueError])
def test_hostile_objects_do_no_harm(base: type) -> None:
    methods: dict[str, Any] = dict.fromkeys(HOSTILE.split(), refuse)
    methods["__class__"] = property(refuse)
    meta = type("Meta", (type,), dict.fromkeys(("__eq__", "__hash__", "__getattribute__", "__repr__"), refuse))
    value = meta("Hostile", (base,), methods)()
    assert described([value, {"a": value}]).count("Hostile") == 2


def test_values_are_described_without_what_varies() -> None:
    class Point:
        def __init__(self) -> None:
            self.x, self._hidden = 1, 2

    class Slotted:
        __slots__ = ("a", "b")

        def __init__(self) -> None:
            self.a = "0x7f0000000000"

    endless: list[Any] = []
    endless.append(endless)
    values: list[Any] = [Point(), Slotted(), {"b": {3, 1, 2}, "a": (1,)}, Mock(), object(), Path("/a"), KeyError("a")]
    assert [described(value) for value in values] == [
        "Point(x=1)",
        "Slotted(a='…')",
        "{'a': (1,), 'b': {1, 2, 3}}",
        "<Mock>",
        "<object>",
        "/a",
        "KeyError('a')",
    ]
    assert len(described([endless] * 1000)) < 1000
    assert len(described("a" * 10**6)) < 3000
    assert described(Path("/\udc80")) == r"/\udc80"


def test_another_tracer_is_left_alone(tmp_path: Path, tracing: Callable[[], None]) -> None:
    tracing()
    code = "def half(number):\n    return number // 2\n"
    assert effects(tmp_path, code, "half(4)") == []


@pytest.fixture
def tracing() -> Any:
    def tracer(*_: object) -> None:
        return None

    yield lambda: sys.settrace(tracer)
    assert sys.gettrace() is tracer
    sys.settrace(None)
