"""One finding from several: what each field keeps, and the one order of findings."""

from burnish.core.finding_merging import RULES_BEFORE, canonical_key, combine
from burnish.core.findings import Finding, Location, Severity, sources_of
from burnish.core.values import replace
from tests.core.driving import problem


def test_one_alone_stays_as_it_is() -> None:
    alone = replace(problem(), anchor="returnx", rule="S110, BLE001")
    assert combine([alone]) is alone


def test_the_words_of_the_worst_are_not_mixed_with_those_of_others() -> None:
    short = Finding(severity=Severity.HIGH, title="a", problem="p", evidence="e", found_by=("critic",))
    long = replace(short, severity=Severity.LOW, problem="pp", impact="ii", suggestion="ss", found_by=("pedant",))
    one = combine([long, short])
    assert (one.problem, one.impact, one.evidence, one.suggestion) == ("p", "", "e", "")
    assert one.sources == (*sources_of(short), *sources_of(long))
    third = replace(short, title="third", found_by=("witness",))
    assert combine([one, third]).sources == combine([short, long, third]).sources


def test_of_equally_bad_ones_the_one_that_says_most_leads() -> None:
    short = Finding(severity=Severity.HIGH, title="a", problem="p")
    assert combine([short, replace(short, title="z", problem="pp")]).title == "z"


def test_sources_that_say_the_very_same_are_not_listed() -> None:
    said = Finding(severity=Severity.HIGH, title="a", problem="p", found_by=("critic",))
    one = combine([said, replace(said, found_by=("pedant",))])
    assert (one.found_by, one.sources) == (("critic", "pedant"), ())


def test_under_older_rules_the_fullest_of_every_text_is_kept() -> None:
    short = Finding(severity=Severity.HIGH, title="a", problem="p", impact="i", evidence="e", suggestion="s")
    long = replace(short, severity=Severity.LOW, problem="pp", impact="ii", evidence="ee", suggestion="ss")
    one = RULES_BEFORE.combine([short, long])
    assert (one.problem, one.impact, one.evidence, one.suggestion) == ("pp", "ii", "ee", "ss")
    assert RULES_BEFORE.combine([short]) is short


def test_blank_texts_say_nothing() -> None:
    blank = Finding(severity=Severity.HIGH, title="  ", category=" ")
    said = Finding(severity=Severity.LOW, title="leak", category="memory")
    one = combine([blank, said])
    assert (one.title, one.category) == ("leak", "memory")
    silent = combine([blank, replace(blank, title="")])
    assert (silent.title, silent.category, silent.id) == ("", "", "")


def test_every_rule_is_kept_once() -> None:
    one = combine([replace(problem(), rule="S110, BLE001"), replace(problem(), rule="S110"), problem("by a model")])
    assert one.rule == "BLE001, S110"


def test_a_member_without_a_place_takes_none_away() -> None:
    one = combine([problem(), problem(file=None)])
    assert one.location == Location(file="a.py", line=3)
    assert one.also_at == ()


def test_synthetic_only_where_all_are() -> None:
    made = replace(problem(), synthetic=True)
    assert combine([made, replace(made, title="other")]).synthetic
    assert not combine([made, problem()]).synthetic


def test_the_order_is_by_severity_then_place_then_words() -> None:
    in_order = [
        problem("z", Severity.CRITICAL, "z.py"),
        problem("no place", file=None),
        problem("capital", file="A.py"),
        problem("whole file", line=None),
        problem("first line", line=1),
        replace(problem("short", line=4), location=Location(file="a.py", line=4)),
        replace(problem("long", line=4), location=Location(file="a.py", line=4, end_line=9)),
        problem("a", line=10),
        problem("b", line=10),
        problem("a", Severity.LOW),
    ]
    backwards = in_order[::-1]
    assert sorted(backwards, key=canonical_key) == in_order
