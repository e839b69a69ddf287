"""The table of the seeds' rules is complete and true, and its check would notice where it is not."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "seeds.py"
REAL = "tests/core/test_gates.py::test_thresholds_of_the_gates"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("seeds_page", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def seed_of(**rule: Any) -> dict[str, Any]:
    return {"seed": "999", "section": [{"title": "One", "rule": [{"rule": "A rule", **rule}]}]}


def test_every_rule_has_a_test_that_exists_or_says_why_not(script: ModuleType) -> None:
    assert [fault for seed in script.seeds() for fault in script.faults(seed)] == []


def test_all_five_seeds_are_there_rule_by_rule(script: ModuleType) -> None:
    seeds = script.seeds()
    assert [seed["seed"] for seed in seeds] == ["000", "001", "002", "003", "004"]
    assert sum(len(list(script.rules(seed))) for seed in seeds) >= 346


def test_the_page_is_up_to_date(script: ModuleType) -> None:
    assert script.main(["--check"]) == 0


@pytest.mark.parametrize(
    "test",
    [
        REAL,
        "tests/trails/test_epic.py::test_the_trail_of[clean at once]",
        "tests/contracts/test_report.py::test_corpus[pass.json]",
        "tests/end_to_end/test_protocols.py::test_the_real_command_does_what_the_rehearsal_does[epic: clean at once]",
    ],
)
def test_a_test_is_known_by_its_name(script: ModuleType, test: str) -> None:
    assert list(script.faults(seed_of(tests=[test]))) == []


@pytest.mark.parametrize(
    "test",
    [
        "tests/core/test_gates.py",
        "tests/core/test_gates.py::test_that_nobody_wrote",
        "tests/core/test_gates.py::nothing",
        "tests/core/test_that_is_not_there.py::test_thresholds_of_the_gates",
        "tests/trails/test_epic.py::test_the_trail_of[no such case]",
        "tests/contracts/test_report.py::test_corpus[no_such_answer.json]",
        "src/burnish/core/gates.py::judge",
    ],
)
def test_a_test_that_does_not_exist_is_named(script: ModuleType, test: str) -> None:
    (fault,) = script.faults(seed_of(tests=[test]))
    assert fault == f"seed 999, 'A rule': there is no test {test}"


@pytest.mark.parametrize(
    "rule",
    [{}, {"tests": []}, {"other": "some day"}, {"other": "epics", "tests": [REAL]}, {"different": ""}, {"note": "x"}],
)
def test_a_rule_that_says_nothing_or_two_things_is_a_fault(script: ModuleType, rule: dict[str, Any]) -> None:
    assert list(script.faults(seed_of(**rule)))
