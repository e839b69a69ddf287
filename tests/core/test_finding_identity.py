"""What keeps the identity of a finding, and what gives it another one."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from msgspec.structs import replace

from burnish.core.finding_identity import ID_LENGTH, SourceLines, anchored, identify
from burnish.core.findings import Finding, Location, Severity

SOURCE = """\
import os

def load(path):
    try:
        return open(path).read()
    except Exception:
        pass

def save(path):
    try:
        os.remove(path)
    except Exception:
        pass
""".splitlines()


def tree(**files: Sequence[str]) -> SourceLines:
    return {name.replace("_py", ".py"): lines for name, lines in files.items()}.get


def finding(
    line: int | None, title: str = "`try`-`except`-`pass` detected", rule: str = "S110", **other: str
) -> Finding:
    """A finding in a.py; `by` says who found it, `file` where it is, the rest goes into its fields."""
    file, by, problem = other.get("file", "a.py"), other.get("by", "critic"), other.get("problem", "")
    location = Location(file=file, line=line) if file else None
    return Finding(severity=Severity.HIGH, title=title, rule=rule, location=location, found_by=(by,), problem=problem)


def ids(
    findings: Sequence[Finding], lines: Sequence[str] = SOURCE, origin: Mapping[str, str] | None = None
) -> list[str]:
    return [found.id for found in identify(anchored(findings, tree(a_py=lines, b_py=lines)), origin or {})]


def test_ids_are_short_hexadecimal_and_do_not_change_from_release_to_release() -> None:
    assert ids([finding(6), finding(3, "Handle leak", rule="")]) == snapshot(["6e4d7b62df3a29a6", "5bf722f8c55c4d3b"])
    assert all(len(name) == ID_LENGTH for name in ids([finding(6)]))
    placeless = [finding(None, "No tests", "", file=""), finding(None, "It is … this", "", file="")]
    assert ids(placeless) == snapshot(["527ecca7538e440f", "de8f2e1a38a4f22b"])


@pytest.mark.parametrize("rule", ["S110", ""])
def test_lines_inserted_above_change_nothing(rule: str) -> None:
    moved = ["# a comment", "", *SOURCE]
    assert ids([finding(6, rule=rule), finding(12, rule=rule)]) == ids(
        [finding(8, rule=rule), finding(14, rule=rule)], moved
    )


@pytest.mark.parametrize("rule", ["S110", ""])
def test_indentation_and_the_rest_of_the_file_change_nothing(rule: str) -> None:
    rewritten = ["class Store:", *(f"\t\t{line}" if "except" in line else "changed()" for line in SOURCE)]
    assert ids([finding(6, rule=rule)]) == ids([finding(7, rule=rule)], rewritten)


@pytest.mark.parametrize("rule", ["S110", ""])
def test_a_rename_changes_nothing(rule: str) -> None:
    renamed = finding(6, rule=rule, file="b.py")
    assert ids([finding(6, rule=rule)]) == ids([renamed], origin={"b.py": "a.py"})
    assert ids([finding(6, rule=rule)]) != ids([renamed])


def test_a_new_file_under_the_old_name_leaves_the_ids_to_the_renamed_one() -> None:
    before = ids([finding(6), finding(12)])
    origin = {"b.py": "a.py"}
    after = ids([finding(6), finding(6, file="b.py"), finding(12, file="b.py")], origin=origin)
    assert after[1:] == before
    assert after[0] not in before


@pytest.mark.parametrize("rule", ["S110", ""])
def test_another_reviewer_reports_the_same_finding(rule: str) -> None:
    one, other, second = ids([finding(6, rule=rule), finding(6, rule=rule, by="pedant"), finding(12, rule=rule)])
    assert one == other != second


def test_two_models_that_explain_one_title_differently_report_one_finding() -> None:
    one = finding(6, "Errors are swallowed", rule="", problem="The handler is empty.")
    other = finding(6, "errors swallowed!", rule="", problem="Nothing is logged here.", by="pedant")
    assert len(set(ids([one, other]))) == 1


def test_the_wording_of_a_rule_is_no_part_of_its_identity() -> None:
    assert ids([finding(6, "try-except-pass")]) == ids([finding(6, "Log the exception instead")])


def test_another_rule_is_another_finding() -> None:
    assert len(set(ids([finding(6), finding(6, rule="BLE001"), finding(6, rule="")]))) == 3


def test_two_problems_of_a_model_on_one_line_are_two() -> None:
    assert len(set(ids([finding(5, "Handle leak", rule=""), finding(5, "No encoding", rule="")]))) == 2


def test_a_rule_that_fires_twice_on_one_line_gives_two() -> None:
    unused = [finding(1, f"`{name}` imported but unused", "F401", by=by) for by in "ab" for name in ("os", "re")]
    first, second, *again = ids(unused)
    assert first != second
    assert again == [first, second]


def test_one_reviewer_that_says_the_same_twice_gives_one() -> None:
    assert len(set(ids([finding(6), finding(6)]))) == 1


def test_two_findings_of_one_title_without_a_line_are_two() -> None:
    untested = [finding(None, "Missing test", "", problem=what) for what in ("load() has none", "save() has none")]
    assert len(set(ids(untested))) == 2


def test_a_whole_file_and_its_first_line_are_two_places() -> None:
    assert len(set(ids([finding(None, "Leak", ""), finding(1, "Leak", "")], lines=[]))) == 2


def test_the_text_of_the_line_tells_findings_apart() -> None:
    changed = [line.replace("Exception", "OSError") for line in SOURCE]
    assert ids([finding(6)]) != ids([finding(6)], changed)


def test_equal_lines_are_counted_from_the_top() -> None:
    first, second = ids([finding(6), finding(12)])
    assert first != second
    without_the_last = SOURCE[:8]
    assert ids([finding(6)], without_the_last) == [first]


@pytest.mark.parametrize("line", [None, 2, 0, 99])
def test_without_a_readable_line_the_title_stands_in(line: int | None) -> None:
    one, other, third = ids(
        [finding(line, "`a` is unused"), finding(line, "`b` is unused"), finding(line, "A: unused", by="pedant")]
    )
    assert one == third != other


@pytest.mark.parametrize("line", [2, 0, 99])
def test_a_line_that_cannot_be_read_is_no_part_of_the_identity(line: int) -> None:
    assert ids([finding(line, "`a` is unused")]) == ids([finding(None, "`a` is unused")])
    assert ids([finding(line, "`a` is unused")]) != ids([finding(line, "`b` is unused")])


def test_without_a_file_the_title_alone_counts() -> None:
    one = finding(None, "No tests were added", "", file="")
    other = finding(None, "Tests: no, added", "", file="", by="pedant")
    first, second, in_a_file = ids([one, other, finding(None, "No tests were added", "")])
    assert first == second != in_a_file


def test_a_title_without_words_leaves_the_problem_and_then_itself() -> None:
    blank = [finding(5, "…", "", problem="leak"), finding(5, "…", "", problem="race", by="b"), finding(5, "???", "")]
    assert len(set(ids(blank))) == 3


def test_an_id_that_is_there_stays_and_its_place_is_counted() -> None:
    _, second = ids([finding(6), finding(12)])
    known = replace(finding(6), id="known")
    assert ids([known, finding(12)]) == ["known", second]


def test_a_file_is_read_once() -> None:
    asked: list[str] = []

    def lines(path: str) -> Sequence[str] | None:
        asked.append(path)
        return None

    anchored([finding(1), finding(2), finding(3)], lines)
    assert asked == ["a.py"]


def test_text_that_is_no_valid_unicode_has_an_id_too() -> None:
    assert ids([finding(1, "broken \ud800", rule="")], ["\udcff = 1"])


@given(st.data())
def test_order_inserted_lines_and_a_later_deletion_never_matter(data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(["a()", "b()", "pass"]), min_size=1, max_size=12))
    found = [finding(number, rule=data.draw(st.sampled_from(["S1", "S2"]))) for number in range(1, len(lines) + 1)]
    before = dict(zip(range(1, len(lines) + 1), ids(found, lines), strict=True))
    above = data.draw(st.lists(st.just("# new"), max_size=4))
    kept = data.draw(st.integers(1, len(lines)))
    drifted = [
        replace(one, location=Location(file="a.py", line=number + len(above)))
        for number, one in enumerate(found[:kept], 1)
    ]
    order = data.draw(st.permutations(range(kept)))
    after = ids([drifted[index] for index in order], [*above, *lines[:kept]])
    assert after == [before[index + 1] for index in order]
    assert len(set(before.values())) == len(lines)
