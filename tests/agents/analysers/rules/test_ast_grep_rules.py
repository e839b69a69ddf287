"""The rules of our own for ast-grep, each on code that it must report and on code that it must leave alone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, ToolName
from burnish.agents.panel.rulebook import looks
from burnish.agents.panel.selectors import selects
from burnish.agents.panel.tools.registry import TOOLS
from tests.agents.analysers.rules import mistake_cases, silent_cases
from tests.agents.analysers.rules.silent_cases import Case
from tests.agents.analysers.tools.running import look

Found = Mapping[str, Sequence[str]]


def _named(kind: str, cases: Sequence[Case]) -> dict[str, Case]:
    return {f"{kind}{index}.{case.suffix}": case for index, case in enumerate(cases)}


REPORTED = [*silent_cases.REPORTED, *mistake_cases.REPORTED]
LEFT_ALONE = [*silent_cases.LEFT_ALONE, *mistake_cases.LEFT_ALONE]
BAD, GOOD = _named("bad", REPORTED), _named("good", LEFT_ALONE)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The rules that one run of the real tool reports for every case."""
    code = {name: case.code for name, case in (*BAD.items(), *GOOD.items())}
    rules: defaultdict[str, list[str]] = defaultdict(list)
    for hit in look(TOOLS[ToolName.AST_GREP], tmp_path_factory.mktemp("cases"), code, RuleSelection()):
        rules[hit.file].append(hit.rule)
    return rules


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_reported_once(found: Found, name: str) -> None:
    assert found.get(name) == [BAD[name].rule], BAD[name].code


@pytest.mark.parametrize("name", GOOD)
def test_code_that_is_fine_is_left_alone(found: Found, name: str) -> None:
    assert name not in found, GOOD[name].code


def test_every_rule_has_a_case() -> None:
    cases = {case.rule for case in REPORTED}
    selectors = {selector for _, entry in looks(ToolName.AST_GREP) for selector in entry.rules} - {"unreadable"}
    assert not [one for one in selectors if not any(selects(ToolName.AST_GREP, one, rule) for rule in cases)]


def test_a_file_of_several_languages_is_looked_at_as_a_whole(tmp_path: Path) -> None:
    code = "try { a() } catch {}\ntry { b() } catch {}\n"
    hits = look(TOOLS[ToolName.AST_GREP], tmp_path, {"a.ts": code, "b.tsx": code}, RuleSelection())
    assert [(hit.file, hit.line) for hit in hits] == [("a.ts", 1), ("a.ts", 2), ("b.tsx", 1), ("b.tsx", 2)]
