"""What is kept of a finding, what is corrected, and what is bounded."""

import pytest

from burnish.contracts.findings import parse
from burnish.contracts.markdown.lines import MAX_LINE, MAX_LINES
from burnish.contracts.markdown.listing import MAX_FINDINGS
from burnish.contracts.paths import no_repository
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Finding, Location, Severity
from burnish.core.reviews import Answer

NONE_ELSE = "\n## Critical Issues\n\nNone.\n\n## Important Issues\n\nNone.\n"


def read(text: str) -> Answer:
    return parse(text, no_repository)


def only(text: str) -> Finding:
    findings = read(text).findings
    assert len(findings) == 1
    return findings[0]


def test_every_part_of_the_seed_item_is_kept() -> None:
    text = """## Critical Issues (Must Fix)

1. **[Security]:** SQL injection
   - **File:** src/login.py:10-12
   - **Problem:** The name is pasted
     into the statement
   - **Impact:** Anybody logs in
   - **Fix:** Bind it:
     ```py
     execute(sql, (name,))
     ```
"""
    assert only(text) == Finding(
        severity=Severity.CRITICAL,
        title="SQL injection",
        category="Security",
        location=Location(file="src/login.py", line=10, end_line=12),
        problem="The name is pasted\ninto the statement",
        impact="Anybody logs in",
        suggestion="Bind it:\n     ```py\n     execute(sql, (name,))\n     ```",
    )


def test_text_below_a_title_without_a_label_is_the_problem() -> None:
    finding = only("## Critical\n\n1. **Leak** — the handle stays open\n   It is never closed.\n")
    assert finding.title == "Leak"
    assert finding.problem == "the handle stays open\nIt is never closed."


def test_labels_as_headings_inside_an_item() -> None:
    finding = only("## Critical\n\n### 1. Leak\n\n#### Impact\n\nMemory grows.\n\n#### Recommendation\n\nClose it.\n")
    assert (finding.title, finding.impact, finding.suggestion) == ("Leak", "Memory grows.", "Close it.")


def test_other_labels_for_the_same_parts() -> None:
    finding = only("## Important\n\n1. X\n   - Where: a.py:1\n   - Description: D\n   - Why: W\n   - Solution: S\n")
    assert finding.location == Location(file="a.py", line=1)
    assert (finding.problem, finding.impact, finding.suggestion) == ("D", "W", "S")


def test_long_texts_are_bounded() -> None:
    finding = only(f"## Critical\n\n1. {'t' * 900}\n   - **Problem:** {'p' * 9_000}\n")
    assert len(finding.title) < 320
    assert len(finding.problem) < 4_020
    assert finding.problem.endswith("(cut)")


def test_the_larger_number_holds_and_is_noted() -> None:
    answer = read("## Critical Issues\n\n1. One\n\n## Summary\n\n- Critical: 3\n- Important: 0\n")
    assert [finding.synthetic for finding in answer.findings] == [False, True, True]
    assert {finding.severity for finding in answer.findings} == {Severity.CRITICAL}
    assert answer.corrections == ("The summary counts 3 critical, 1 is listed: the larger number counts.",)


def test_a_summary_that_counts_less_is_noted_too() -> None:
    answer = read("## Critical Issues\n\n1. One\n2. Two\n\n## Summary\n\n- Critical: 0\n- Important: 0\n")
    assert len(answer.findings) == 2
    assert answer.corrections == ("The summary counts 0 critical, 2 are listed: the larger number counts.",)


def test_a_total_that_is_larger_stands_for_the_worst_that_is_not_denied() -> None:
    text = "## Minor Issues\n\n1. Small\n\n## Summary\n\n- Total findings: 2\n- Critical: 0\n"
    assert [finding.severity for finding in read(text).findings] == [Severity.LOW, Severity.HIGH]


def test_must_fix_counts_are_compared_with_both_severities() -> None:
    text = "## Important Issues\n\n1. A\n\n## Critical Issues\n\nNone\n\nMUST-FIX findings: 2\n"
    assert [finding.severity for finding in read(text).findings] == [Severity.HIGH, Severity.HIGH]


def test_absurd_counts_make_up_few_findings() -> None:
    assert len(read("## Critical Issues\n\n1. A\n\n## Summary\n\nCritical: 99999\n").findings) == 21


def test_words_after_a_label_are_not_a_count() -> None:
    text = (
        "## Notes\n\n- **Critical:** No validation of the token in `src/a.py:3`\n- **High:** 3 endpoints lack a check\n"
    )
    assert [finding.severity for finding in read(text).findings] == [Severity.CRITICAL, Severity.HIGH]


def test_former_counts_in_a_sentence_are_no_claim() -> None:
    text = (
        NONE_ELSE
        + "\n## Summary\n\nAll 4 important issues of round 1 were fixed. The 2 critical ones were fixed too.\n"
    )
    assert read(text).clean


def test_more_findings_than_anybody_can_use_are_summed_up() -> None:
    answer = read("## Critical Issues\n\n" + "- Broken\n" * (MAX_FINDINGS + 5))
    assert len(answer.findings) == MAX_FINDINGS + 1
    assert answer.findings[-1].synthetic
    assert answer.findings[-1].title.startswith("5 more findings")


def test_a_line_too_long_to_be_read_is_never_clean() -> None:
    with pytest.raises(UnreadableError, match="too long"):
        read(NONE_ELSE + "x" * (MAX_LINE + 1))


def test_too_many_lines_are_not_read_at_all() -> None:
    with pytest.raises(UnreadableError, match="lines"):
        read(NONE_ELSE + "\n" * MAX_LINES)


def test_a_section_of_which_nothing_is_said_is_doubtful() -> None:
    with pytest.raises(UnreadableError, match="critical findings is empty"):
        read("## Critical Issues\n\n## Important Issues\n\nNone.\n\n## Minor Issues\n\n1. Small\n")


def test_an_empty_section_does_not_matter_where_something_must_be_fixed() -> None:
    assert only("## Critical Issues\n\n## Important Issues\n\n1. Real\n").title == "Real"


def test_a_rejection_with_only_minor_findings_blocks() -> None:
    text = NONE_ELSE + "\n## Minor Issues\n\n1. Small\n\n## Verdict\n\nCHANGES_REQUESTED\n"
    assert [finding.severity for finding in read(text).findings] == [Severity.LOW, Severity.HIGH]


@pytest.mark.parametrize(
    "verdict",
    [
        "Request changes", "**NEEDS WORK**", "Reject", "Do not merge", "FAIL", "Revise and re-review", "Not ready",
        "FIX REQUIRED", "Blocked", "❌ Not approved", "Needs fixes", "CONCERNS", "Changes requested", "Cannot merge",
    ],
)  # fmt: skip
def test_every_way_to_refuse_blocks(verdict: str) -> None:
    answer = read(f"{NONE_ELSE}\n## Summary\n\n- **Recommendation:** {verdict}\n")
    assert [finding.synthetic for finding in answer.findings] == [True]


@pytest.mark.parametrize(
    "verdict",
    [
        "Approve",
        "APPROVED ✅",
        "PASS",
        "LGTM",
        "Ready to merge",
        "Approve. No blocking issues.",
        "Merge, 0 failed tests",
    ],
)
def test_every_way_to_agree_leaves_a_clean_review_clean(verdict: str) -> None:
    assert read(f"{NONE_ELSE}\n## Summary\n\n- **Recommendation:** {verdict}\n").clean


def test_one_denied_section_and_an_approval_at_the_end_are_enough() -> None:
    assert read("## Critical Issues\n\nNone.\n\n## Verdict\n\nApprove\n").clean


def test_an_approval_before_the_sections_is_not_enough() -> None:
    with pytest.raises(UnreadableError, match="does not say"):
        read("## Verdict\n\nApprove\n\n## Critical Issues\n\nNone.\n")


def test_a_recommendation_inside_an_item_is_its_fix() -> None:
    text = f"{NONE_ELSE}\n## Minor Issues\n\n1. Empty names pass\n   - **Recommendation:** Reject empty names\n"
    finding = only(text)
    assert (finding.severity, finding.suggestion) == (Severity.LOW, "Reject empty names")


def test_a_commented_out_finding_is_none_but_an_open_comment_hides_nothing() -> None:
    assert read(f"<!--\n- [CRITICAL] template\n-->\n{NONE_ELSE}").clean
    assert not read(f"{NONE_ELSE}\n<!-- \n- [CRITICAL] real\n").clean


def test_a_forgotten_end_of_a_fence_hides_no_section() -> None:
    text = (
        "## Critical Issues\n\nNone.\n\n## Minor Issues\n\n1. A\n   ```js\n   a()\n\n"
        "## Important Issues\n\n1. B\n   ```js\n   b()\n   ```\n"
    )
    assert Severity.HIGH in {finding.severity for finding in read(text).findings}


def test_a_settled_item_does_not_empty_its_section_of_others() -> None:
    text = "## Critical Issues\n\n1. ✅ Old one\n2. New one\n\n## Important Issues\n\nNone\n"
    assert only(text).title == "New one"


def test_an_unfixed_former_finding_counts_once_when_it_is_listed_again() -> None:
    text = "## Round 1 Verification\n\n- Critical #1: not fixed\n\n## Critical Issues\n\n1. Still the injection\n"
    assert only(text).title == "Still the injection"


def test_an_unfixed_former_finding_that_was_let_be_does_not_count() -> None:
    text = f"## Round 1 Verification\n\n### Important #7\n\n**Status:** Not fixed (downgraded to minor)\n{NONE_ELSE}"
    assert read(text).clean


def test_sections_of_a_former_round_with_the_same_headings_are_former() -> None:
    text = f"# Review - Round 2\n\n## Round 1 Findings\n\n### Critical Issues\n\n1. Old\n{NONE_ELSE}"
    assert read(text).clean


def test_findings_under_a_benign_heading_inside_a_section_are_none() -> None:
    text = f"{NONE_ELSE}\n### What was checked\n\n1. **Secrets:** nothing there\n2. **Types:** fine\n"
    assert read(text).clean


def test_a_new_section_below_a_benign_one_goes_on() -> None:
    text = "## Critical Issues\n\n### 1. First\n\n### What was checked\n\n- all\n\n### 2. Second\n"
    assert [finding.title for finding in read(text).findings] == ["First", "Second"]


def test_a_denial_below_a_finding_does_not_take_it_back() -> None:
    assert only("## Critical Issues\n\n- The key is committed\n\nNo issues found.\n").title == "The key is committed"


def test_sections_that_stand_too_deep_below_a_former_round_are_not_lost() -> None:
    text = "## Round 1 Fix Verification\n\n1. Old — FIXED\n\n### Critical Issues\n\n1. New\n"
    assert only(text).title == "New"


def test_items_with_headings_of_any_level_below_a_section_in_bold() -> None:
    text = (
        "**Critical Issues**\n\n### 1. First\n\n**Problem:** P\n\n### [HIGH] Second\n\n**Important Issues**\n\nNone\n"
    )
    assert [finding.title for finding in read(text).findings] == ["First", "Second"]


def test_a_zero_that_begins_a_sentence_is_no_count() -> None:
    text = "## Important Issues\n\n- **MAJOR**: 0 is accepted as a divisor\n\n## Critical Issues\n\nNone\n"
    assert only(text).title == "0 is accepted as a divisor"


def test_numbered_headings_beside_that_of_their_section_are_its_items() -> None:
    text = "## Good\n\nA lot.\n\n### CRITICAL\n\n### 1. First\n\n### 2. Second\n\n## IMPORTANT\n\nCritical: 0\n"
    assert [finding.title for finding in read(text).findings] == ["First", "Second"]


def test_sections_that_are_all_numbered_are_no_items() -> None:
    text = (
        "## 1. Critical Issues\n\nNone.\n\n## 2. Important Issues\n\nNone.\n\n## 3. Test coverage\n\nAll is tested.\n"
    )
    assert read(text).clean


@pytest.mark.parametrize("word", ["line", "LINE", "<line>", "line-number", "N", "??"])
def test_the_word_for_a_line_is_no_part_of_a_file_name(word: str) -> None:
    finding = only(f"## Critical\n\n1. **[Bug]:** Leak\n   - **File:** src/file.ts:{word}\n{NONE_ELSE[1:]}")
    assert finding.location == Location(file="src/file.ts")


@pytest.mark.parametrize("place", ["path/to/file.ts:line", "path/to/file.ts:12", "`path/to/file.ts`"])
def test_the_path_of_the_form_names_no_file(place: str) -> None:
    text = f"## Critical\n\n1. **[Bug]:** Leak\n   - **File:** {place}\n"
    assert only(text).location is None
    (finding,) = parse(text, lambda path: path == "path/to/file.ts").findings
    assert finding.location is not None
    assert finding.location.file == "path/to/file.ts"


def test_a_file_whose_name_holds_a_colon_keeps_it() -> None:
    assert only("## Critical\n\n1. **[Bug]:** Leak\n   - **File:** src/a:b.ts:3\n").location == Location(
        file="src/a:b.ts", line=3
    )
