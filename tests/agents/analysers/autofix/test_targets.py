"""Findings and hits find each other: by rule, file and line."""

from burnish.agents.panel.autofix.targets import paired, rules_of, targets_of
from burnish.agents.panel.interface import Hit
from burnish.core.findings import Finding
from tests.agents.analysers.autofix.making import finding, hit, target


def _owners(findings: list[Finding], hits: list[Hit]) -> dict[int, str]:
    return {one.number: one.finding for one in targets_of(findings, hits)}


def test_only_rules_of_our_tools_count() -> None:
    rules = rules_of(finding("x", "ruff:S110, ast-grep:py-pass, semgrep:other, B101, witness:new", 3))
    assert sorted(map(str, rules)) == ["ast-grep:py-pass", "ruff:S110"]
    assert rules_of(finding("x", "", 3)) == frozenset()


def test_a_finding_of_several_tools_has_all_their_hits() -> None:
    hits = [hit("ruff:S110", 4), hit("ast-grep:py-pass", 3, end=5), hit("ruff:F401", 4), hit("ruff:S110", 9)]
    assert _owners([finding("x", "ruff:S110, ast-grep:py-pass", 4)], hits) == {0: "x", 1: "x"}


def test_of_equal_hits_each_finding_gets_one() -> None:
    hits = [hit("ruff:F541", 4), hit("ruff:F541", 4)]
    assert _owners([finding("x", "ruff:F541", 4), finding("y", "ruff:F541", 4)], hits) == {0: "x", 1: "y"}
    assert _owners([finding("x", "ruff:F541", 4)], hits) == {0: "x", 1: "x"}


def test_a_hit_on_the_very_line_is_preferred_to_one_around_it() -> None:
    hits = [hit("ruff:S110", 2, end=9), hit("ruff:S110", 5, end=6)]
    assert _owners([finding("inner", "ruff:S110", 5), finding("outer", "ruff:S110", 2)], hits) == {
        0: "outer",
        1: "inner",
    }


def test_further_places_of_a_finding_belong_to_it() -> None:
    hits = [hit("ruff:F401", 1), hit("ruff:F401", 7), hit("ruff:F401", 8), hit("ruff:F401", 7, file="b.py")]
    assert _owners([finding("x", "ruff:F401", 1, 7)], hits) == {0: "x", 1: "x"}


def test_targets_are_paired_with_what_is_said_of_them_now() -> None:
    hits = [hit("ruff:F401", 3), hit("ruff:F401", 5), hit("ruff:S110", 3)]
    targets = [
        target(0, "ruff:F401", 4, 6),
        target(1, "ruff:F401", 3),
        target(2, "ruff:E722", 3),
        target(3, "ruff:F401", 3),
    ]
    now = paired(targets, hits)
    assert {number: found.line for number, found in now.items()} == {1: 3, 0: 5}
