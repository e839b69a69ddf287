"""A fixer's answers, as agents write them: read tolerantly, and never to the better."""

import pytest

from burnish.contracts.fix_answers import LONGEST_TEXT, read_fix_answers
from burnish.core.events import FixAnswer
from burnish.core.findings import FixVerdict

ONE, OTHER, THIRD = "0123456789abcdef", "fedcba9876543210", "aaaa1111bbbb2222"
HANDED = (ONE, OTHER, THIRD)


def said(text: str) -> list[tuple[str, FixVerdict, str]]:
    return [(answer.finding, answer.verdict, answer.text) for answer in read_fix_answers(text, HANDED)]


def verdict(line: str) -> FixVerdict | None:
    answers = read_fix_answers(line, HANDED)
    return answers[0].verdict if answers else None


def test_the_form_that_the_prompt_asks_for() -> None:
    text = f"""Check the sign of amounts

- {ONE}: fixed - parse() refuses negative amounts
- {OTHER}: not fixed - it needs a migration
- {THIRD}: refuted - line 4 checks it already
"""
    assert said(text) == [
        (ONE, FixVerdict.FIXED, "parse() refuses negative amounts"),
        (OTHER, FixVerdict.NOT_FIXED, "it needs a migration"),
        (THIRD, FixVerdict.REFUTED, "line 4 checks it already"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"* **{ONE}**: Fixed — added a check",
        f"1. `{ONE}`: FIXED: added a check",
        f"| {ONE} | fixed | added a check |",
        f"- [x] {ONE[:8]}: fixed, added a check",
        f"{ONE.upper()} - fixed - added a check",
        f"[{ONE}] fixed: added a check",
        f"ID: {ONE}: fixed - added a check",
        f"> - {ONE} → fixed – added a check",
    ],
)
def test_lists_tables_marks_and_short_ids(line: str) -> None:
    assert said(line) == [(ONE, FixVerdict.FIXED, "added a check")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fixed", FixVerdict.FIXED),
        ("✅ Done. Added a test", FixVerdict.FIXED),
        ("has been addressed in parse()", FixVerdict.FIXED),
        ("resolved by removing it", FixVerdict.FIXED),
        ("not fixed", FixVerdict.NOT_FIXED),
        ("NOT-FIXED, sorry", FixVerdict.NOT_FIXED),
        ("partially fixed: only the API", FixVerdict.NOT_FIXED),
        ("fixed partially", FixVerdict.NOT_FIXED),
        ("fixed, except for the CLI", FixVerdict.NOT_FIXED),
        ("fixed? no", FixVerdict.NOT_FIXED),
        ("not fully resolved", FixVerdict.NOT_FIXED),
        ("won't fix", FixVerdict.NOT_FIXED),
        ("skipped - no time", FixVerdict.NOT_FIXED),
        ("could not reproduce it", FixVerdict.NOT_FIXED),
        ("unfixed", FixVerdict.NOT_FIXED),
        ("❌ left as it is", FixVerdict.NOT_FIXED),
        ("refuted - see the test", FixVerdict.REFUTED),
        ("false positive", FixVerdict.REFUTED),
        ("not a bug: the caller checks", FixVerdict.REFUTED),
        ("by design", FixVerdict.REFUTED),
        ("I looked at it", None),
        ("the fixed code is in parse()", None),
        ("", None),
    ],
)
def test_what_agents_write_for_each_verdict(words: str, expected: FixVerdict | None) -> None:
    assert verdict(f"- {ONE}: {words}") is expected


def test_an_answer_goes_on_in_indented_lines() -> None:
    text = f"- {ONE}: fixed - parse()\n  refuses negative amounts\n  - a list of its own\n- {OTHER}: fixed - it\nMore."
    assert said(text) == [
        (ONE, FixVerdict.FIXED, "parse() refuses negative amounts"),
        (OTHER, FixVerdict.FIXED, "it"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        f'```json\n{{"answers": [{{"id": "{ONE}", "status": "not_fixed", "why": "no time"}}]}}\n```',
        f'Done.\n[{{"finding": "{ONE[:10]}", "answer": "Not fixed", "reason": "no time"}}]',
        f'{{"{ONE}": {{"verdict": "not-fixed", "text": "no time"}}}}',
        f'{{"finding_id": "{ONE}", "result": "skipped", "explanation": "no time"}}',
    ],
)
def test_json_is_read_as_well(text: str) -> None:
    assert said(text) == [(ONE, FixVerdict.NOT_FIXED, "no time")]


def test_an_unknown_id_is_kept_as_it_was_written_and_a_word_is_none() -> None:
    assert said("- deadbeef12: fixed - what?") == [("deadbeef12", FixVerdict.FIXED, "what?")]
    assert said("- facade: fixed - the pattern\n- decade: not fixed") == []


def test_a_beginning_that_fits_two_is_neither() -> None:
    answers = read_fix_answers("- 01234567: fixed", ("0123456789abcdef", "01234567ffffffff"))
    assert [answer.finding for answer in answers] == ["01234567"]


def test_contradictory_answers_are_all_there() -> None:
    assert [one for _, one, _ in said(f"- {ONE}: fixed\n- {ONE}: not fixed")] == [
        FixVerdict.FIXED,
        FixVerdict.NOT_FIXED,
    ]


@pytest.mark.parametrize("text", ["", "Fixed everything.", "{", '{"answers": 3}', "[1, 2]", '{"answers": [null, "x"]}'])
def test_without_answers_there_are_none(text: str) -> None:
    assert read_fix_answers(text, HANDED) == ()


def test_texts_are_harmless_and_bounded() -> None:
    (answer,) = read_fix_answers(f"- {ONE}: fixed - \x1b[2J" + "a" * 30_000, HANDED)
    assert len(answer.text) < 2_100
    assert "\x1b" not in answer.text
    assert read_fix_answers("x" * LONGEST_TEXT + f"\n- {ONE}: fixed", HANDED) == ()


def test_what_an_older_ledger_holds_is_read() -> None:
    assert FixAnswer(finding=ONE, fixed=True, text="by ruff").verdict is FixVerdict.FIXED
    assert FixAnswer(finding=ONE, fixed=False, text="no safe fix").verdict is FixVerdict.NOT_FIXED
