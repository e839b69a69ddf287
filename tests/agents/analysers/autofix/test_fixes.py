"""Fixes that are made at once do not meet, and their harm is counted."""

from burnish.agents.panel.autofix.edits import apply, clash
from burnish.agents.panel.autofix.fixes import Fix, fix_from, harm, together
from burnish.agents.panel.interface import Remedy
from tests.agents.analysers.autofix.making import hit, remedy, target


def _fix(content: bytes, number: int, offered: Remedy, rule: str = "ruff:F401") -> Fix:
    made = fix_from(content, target(number, rule, 1), hit(rule, 1, remedy=offered))
    assert made is not None
    return made


def test_the_first_of_two_fixes_that_meet_comes_first_and_the_other_waits() -> None:
    content = b"echo $a$b\n"
    quotes = [
        _fix(content, n, remedy((1, a, 1, a, '"'), (1, b, 1, b, '"'))) for n, (a, b) in enumerate([(6, 8), (8, 10)])
    ]
    chosen = together(quotes)
    assert chosen == (quotes[0],)
    assert apply(content, chosen[0].spans) == b'echo "$a"$b\n'


def test_one_fix_that_is_offered_twice_is_made_once_for_both() -> None:
    content = b"import os, sys\n"
    both = [_fix(content, number, remedy((1, 1, 2, 1, ""))) for number in (0, 1)]
    (fix,) = together(both)
    assert [one.number for one in fix.targets] == [0, 1]


def test_a_fix_is_whole_or_not_at_all() -> None:
    content = b"import os\nx = 1\ny = 2\n"
    first = _fix(content, 0, remedy((2, 1, 2, 2, "z")))
    with_import = _fix(content, 1, remedy((1, 1, 1, 1, "import re\n"), (2, 1, 2, 2, "q")))
    other = _fix(content, 2, remedy((3, 1, 3, 2, "w")))
    chosen = together([first, with_import, other])
    assert chosen == (first, other)
    assert not any(clash(a, b) for a in chosen[0].spans for b in chosen[1].spans)


def test_what_a_tool_offers_without_edits_or_outside_of_the_file_is_no_fix() -> None:
    where = target(0, "ruff:F401", 1)
    for offered in (None, remedy(), remedy((9, 1, 9, 2, ""))):
        assert fix_from(b"import os\n", where, hit("ruff:F401", 1, remedy=offered)) is None


def test_harm_is_what_was_not_there_and_what_should_be_gone() -> None:
    before = [hit("ruff:F401", 1), hit("ruff:F401", 2), hit("ruff:S110", 5)]
    fix = _fix(b"import os\n", 0, remedy((1, 1, 1, 2, "")))
    assert harm(before, [hit("ruff:F401", 1), hit("ruff:S110", 4)], [fix]) == ()
    assert [str(rule) for rule in harm(before, before, [fix])] == ["ruff:F401"]
    added = [hit("ruff:F401", 1), hit("ruff:S110", 4), hit("ruff:S110", 9)]
    assert [str(rule) for rule in harm(before, added, [fix])] == ["ruff:S110"]


def test_a_fix_says_whose_it_is_and_what_it_does() -> None:
    content = b"import os\n"
    assert _fix(content, 0, remedy((1, 1, 2, 1, ""), title="Remove `os`")).words == "ruff's safe fix: Remove `os`"
    assert _fix(content, 0, remedy((1, 1, 2, 1, ""), safe=False, title="")).words == "ruff's unsafe fix"
