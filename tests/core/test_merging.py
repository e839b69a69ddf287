"""Which findings become one, and what the one keeps."""

import pytest
from msgspec.structs import replace

from burnish.core.finding_identity import anchored, identify
from burnish.core.finding_likeness import same_problem
from burnish.core.finding_merging import match_former, merge
from burnish.core.findings import Action, Finding, Location, Severity, sources_of

CLASSES = {"S110": "swallowed-error", "BLE001": "swallowed-error", "except-pass": "swallowed-error"}


def finding(
    title: str,
    lines: tuple[int, int] | int | None = 10,
    *,
    by: str = "critic",
    file: str | None = "a.py",
    severity: Severity = Severity.HIGH,
    rule: str = "",
    problem: str = "",
) -> Finding:
    first, last = lines if isinstance(lines, tuple) else (lines, None)
    location = Location(file=file, line=first, end_line=last) if file else None
    return Finding(
        severity=severity,
        title=title,
        location=location,
        found_by=(by,),
        rule=rule,
        problem_class=CLASSES.get(rule, ""),
        problem=problem,
    )


def identified(*findings: Finding) -> tuple[Finding, ...]:
    return identify(anchored(findings, lambda _: [f"statement({number})" for number in range(200)]))


def test_three_rules_on_one_swallowed_exception_are_one_finding_of_one_reviewer() -> None:
    three = [
        finding("`try`-`except`-`pass` detected", (10, 11), rule="S110"),
        finding("Do not catch blind exception: `Exception`", 10, rule="BLE001"),
        finding("The handler does nothing", (8, 11), rule="except-pass"),
    ]
    (one,) = merge(identified(*three))
    assert one.rule == "BLE001, S110, except-pass"
    assert one.found_by == ("critic",)
    assert len(merge(identified(*(replace(each, problem_class="") for each in three)))) == 3


def test_nested_handlers_stay_two_though_their_lines_overlap() -> None:
    outer = [finding("Swallowed", (10, 30), rule="S110"), finding("Blind `Exception`", 10, rule="BLE001")]
    inner = [finding("Swallowed", (20, 22), rule="S110")]
    merged = merge(identified(*outer, *inner))
    assert [(one.rule, one.location) for one in merged] == [
        ("BLE001, S110", Location(file="a.py", line=10)),
        ("S110", Location(file="a.py", line=20, end_line=22)),
    ]
    assert merge(merged) == merged


def test_the_one_has_the_words_of_the_worst_and_keeps_what_every_source_said() -> None:
    mild = replace(
        finding("SQL injection in get_user", (9, 12), by="pedant", severity=Severity.MEDIUM),
        category="security",
        problem="The name is put into the query as it came from the request.",
        suggestion="Use parameters.",
        confidence=0.9,
        action=Action.ASK,
        also_at=(Location(file="b.py", line=3),),
    )
    grave = replace(
        finding("SQL injection", 10, by="security-reviewer", severity=Severity.CRITICAL),
        problem="Injection.",
        impact="Every row can be read.",
        confidence=0.4,
        also_at=(Location(file="c.py", line=4), Location(file="b.py", line=3)),
    )
    assert merge([mild, grave]) == (
        Finding(
            severity=Severity.CRITICAL,
            title="SQL injection",
            category="security",
            location=Location(file="a.py", line=10),
            also_at=(Location(file="c.py", line=4), Location(file="b.py", line=3)),
            problem="Injection.",
            impact="Every row can be read.",
            confidence=0.9,
            action=Action.ASK,
            found_by=("security-reviewer", "pedant"),
            sources=(*sources_of(grave), *sources_of(mild)),
        ),
    )


def test_a_fix_is_asked_for_where_another_reviewer_only_notes() -> None:
    note = replace(finding("SQL injection", by="pedant"), action=Action.NOTE)
    (one,) = merge([note, finding("SQL injection")])
    assert one.action is Action.FIX


def test_the_id_of_a_rule_goes_before_that_of_a_title() -> None:
    by_rule, by_model = identified(
        finding("Possible SQL injection", rule="S608"), finding("SQL injection possible", (10, 12), by="witness")
    )
    (one,) = merge([replace(by_model, severity=Severity.CRITICAL), by_rule])
    assert one.id == by_rule.id


def test_a_place_with_lines_goes_before_one_without() -> None:
    whole = finding("SQL injection", None, by="pedant", severity=Severity.CRITICAL)
    (one,) = merge([whole, finding("SQL injection", 10)])
    assert one.location == Location(file="a.py", line=10)
    assert one.also_at == ()


def test_places_of_one_identity_that_lie_apart_are_all_kept() -> None:
    here, there = (replace(finding("Leak", line), id="same") for line in (10, 90))
    (one,) = merge([there, here])
    assert one.location == here.location
    assert one.also_at == (there.location,)


@pytest.mark.parametrize(
    "other",
    [
        finding("SQL injection", by="pedant", file="b.py"),
        finding("SQL injection", by="pedant", file=None),
        finding("SQL injection", 11, by="pedant"),
        finding("Missing type check", by="pedant"),
        finding("`os.system` runs SQL injection", by="pedant"),
        finding("SQL injection", by="critic", problem="Another query."),
    ],
    ids=["file", "no place", "line", "problem", "code", "the same reviewer"],
)
def test_what_stays_two(other: Finding) -> None:
    one = finding("SQL injection through `name`")
    assert len(merge([one, other])) == 2


def test_one_rule_on_two_names_of_one_line_is_two_problems() -> None:
    unused = [finding(f"`{name}` imported but unused", rule="F401", by=by) for name in ("os", "re") for by in "ab"]
    merged = merge(identified(*unused))
    assert [(one.title[:4], one.found_by) for one in merged] == [("`os`", ("a", "b")), ("`re`", ("a", "b"))]
    only_os, _, _, only_re = unused
    assert len(merge([only_os, only_re])) == 2


def test_a_whole_file_and_the_same_rule_are_not_enough() -> None:
    whole, line = finding("Test failed: adds", None, rule="T1"), finding("Slow and broken", 5, rule="T1", by="pedant")
    assert len(merge([whole, line])) == 2
    assert len(merge([whole, replace(line, title="Test failed: adds")])) == 1


def test_a_finding_between_two_of_another_reviewer_joins_the_more_alike() -> None:
    first = finding("Unused import left in the header", (1, 5))
    second = finding("Unused import of sys left in the header", (1, 5))
    bridge = finding("Unused import of sys left in the header", (1, 5), by="pedant")
    assert same_problem(first, bridge)
    merged = merge([first, second, bridge])
    assert {one.title: one.found_by for one in merged} == {
        first.title: ("critic",),
        second.title: ("critic", "pedant"),
    }


def test_alike_titles_that_name_different_code_are_two_problems() -> None:
    name, age = "Missing input validation of parameter `name`", "Missing input validation of parameter `age`"
    assert len(merge([finding(name), finding(age, by="pedant")])) == 2
    assert len(merge([finding(name), finding(age.replace("`age`", "age"), by="pedant")])) == 2


def test_one_that_could_be_either_of_two_does_not_join_them() -> None:
    amount = finding("Parameter amount is not validated", by="critic")
    user = finding("Parameter user_id is not validated", by="pedant")
    either = finding("Missing validation: any user input is accepted", by="witness")
    assert same_problem(amount, either)
    assert same_problem(user, either)
    merged = merge([amount, user, either])
    assert sorted(len(one.found_by) for one in merged) == [1, 2]
    assert {source.title for one in merged for source in sources_of(one)} == {amount.title, user.title, either.title}


def test_a_critical_and_a_note_with_alike_titles_stay_two() -> None:
    grave = finding("Password comparison is wrong", severity=Severity.CRITICAL, problem="Any password is accepted.")
    note = finding("Password comparison is long", by="pedant", severity=Severity.INFO, problem="Split it.")
    assert [one.problem for one in merge([grave, note])] == [grave.problem, note.problem]


def test_what_only_one_of_two_reports_again_is_recognised() -> None:
    both = identified(
        finding("SQL injection", 10, by="critic"),
        finding("Unsanitized input is concatenated into the query", 10, by="pedant"),
    )
    (former,) = merge(both)
    for again in both:
        assert match_former([former], [again]) == {former.id: again.id}
        assert match_former([again], [former]) == {again.id: former.id}


def test_what_is_alike_only_to_one_of_a_group_joins_the_group() -> None:
    worst = finding("Handle leak", by="critic", severity=Severity.CRITICAL)
    fuller = finding("Handle leak when the loader stops early", by="pedant")
    third = finding("The loader stops early", by="witness")
    assert not same_problem(worst, third)
    assert same_problem(fuller, third)
    assert [one.found_by for one in merge([third, fuller, worst])] == [("critic", "pedant", "witness")]


def test_a_place_is_not_named_twice() -> None:
    here, there = Location(file="a.py", line=10), Location(file="a.py", line=12)
    one = replace(finding("SQL injection", (10, 12), by="pedant"), also_at=(here, there))
    (merged,) = merge([one, finding("SQL injection", 10)])
    assert (merged.location, merged.also_at) == (here, (there,))


def test_two_long_texts_of_one_problem_are_one_though_their_titles_differ() -> None:
    text = "The file handle from open is never closed when read raises, so descriptors run out under load"
    one = finding("Handle leak", problem=text)
    other = finding("Resource not released", by="pedant", problem=text.replace("run out", "are exhausted"))
    assert len(merge([one, other])) == 1


def test_findings_about_the_change_as_a_whole_are_merged_among_themselves() -> None:
    one, other = finding("No tests were added", file=None), finding("No tests added", file=None, by="witness")
    assert [found.found_by for found in merge([other, one])] == [("witness", "critic")]


def test_answers_that_listed_nothing_stay_one_for_each_reviewer() -> None:
    silent = [replace(finding("Not clean, but nothing is listed", None, by=by), synthetic=True) for by in "ab"]
    assert len(merge(silent)) == 2
    (one,) = merge([replace(found, id="same") for found in silent])
    assert one.synthetic


def test_equal_findings_are_one_and_nothing_gives_nothing() -> None:
    one = finding("Leak")
    assert merge([one, one]) == (one,)
    assert merge([]) == ()


def test_the_worst_come_first_then_the_order_of_the_files() -> None:
    low = finding("A", file="a.py", severity=Severity.LOW)
    late, early = (finding("Late", 90, file="b.py"), finding("Early", 9, file="b.py"))
    assert merge([low, late, early]) == (early, late, low)


def test_same_problem_does_not_ask_who_found_it() -> None:
    former, now = finding("SQL injection", (9, 12)), finding("SQL injection in get_user", 10)
    assert same_problem(former, now)
    assert not same_problem(former, replace(now, location=Location(file="a.py", line=13)))
    assert same_problem(finding("x", rule="S110"), finding("y", rule="BLE001"))
    assert not same_problem(finding("x", rule="S110"), finding("y", rule="S112"))


def test_former_findings_are_found_again_by_id_then_by_likeness() -> None:
    moved, reworded, fixed = identified(finding("Leak", 5), finding("SQL injection", (9, 12)), finding("Race", 50))
    still = replace(moved, location=Location(file="renamed.py", line=70))
    again, news = identified(finding("SQL injection in get_user", 10), finding("Deadlock", 50))
    assert match_former([moved, reworded, fixed], [again, news, still]) == {
        moved.id: still.id,
        reworded.id: again.id,
    }


def test_a_second_finding_like_a_former_one_is_news() -> None:
    (former,) = identified(finding("SQL injection", (9, 12)))
    near, far = identified(finding("SQL injection in get_user", (9, 12)), finding("SQL injection in save_user", 11))
    assert match_former([former], [far, near]) == {former.id: near.id}
    assert len(match_former([near, far], [former])) == 1


def test_a_former_finding_whose_lines_were_touched_is_found_in_its_file() -> None:
    former, now = replace(finding("SQL injection", None), id="former"), replace(finding("SQL injection", 80), id="now")
    assert match_former([former], [now]) == {"former": "now"}


def test_findings_without_an_id_match_nothing() -> None:
    one = finding("SQL injection")
    assert match_former([one], [replace(one, id="now")]) == {}
    assert match_former([replace(one, id="former")], [one]) == {}


def test_a_reviewer_that_lists_two_problems_keeps_two_though_a_third_is_like_both() -> None:
    worst = finding("Handle leak in loader", 10, by="witness", severity=Severity.CRITICAL)
    merged = merge([worst, finding("Handle leak loader", 10), finding("Leak in loader handle code", (9, 11))])
    assert len(merged) == 2
    assert sorted(one.found_by for one in merged) == [("critic",), ("witness", "critic")]


def test_a_rule_that_is_in_a_group_does_not_join_it_once_more() -> None:
    first = finding("Swallowed", (10, 20), rule="S110", severity=Severity.CRITICAL)
    merged = merge([first, finding("Blind one", 10, rule="BLE001"), finding("Blind two", 19, rule="BLE001")])
    assert sorted(one.rule for one in merged) == ["BLE001", "BLE001, S110"]


def test_former_findings_are_never_matched_with_each_other() -> None:
    former = identified(finding("Handle leak in loader"), finding("Handle leak in the loader now", by="pedant"))
    now = identified(finding("Wrong sign", 90))
    assert match_former(former, now) == {}
    assert match_former(now, former) == {}
