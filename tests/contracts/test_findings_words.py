"""The sentences that take findings away: each list has its near misses, which must not."""

import pytest

from burnish.contracts.markdown.denials import says_none, says_nothing_at_all, says_unread
from burnish.contracts.markdown.former import announces_former, is_former, is_open, is_settled_title, says_not_settled
from burnish.contracts.markdown.labels import Field, labelled
from burnish.contracts.markdown.severities import bare_severity, heading_count, heading_severity, severity_of_word
from burnish.contracts.markdown.tags import item_lead, leading_tag
from burnish.core.findings import Severity

DENIALS = [
    "None", "None.", "None found.", "_None_", "- None", "(none)", "✅ None", "N/A", "0", "None identified.",
    "None remaining.", "None at this time.", "Nothing to report.", "Nothing critical.", "No issues found",
    "No critical issues.", "_No critical issues found._", "**NONE** - No blocking issues found.",
    "No must-fix findings remain.", "No critical or important issues found.", "I did not find any issues.",
    "No major issues identified in this review.", "There are no important issues in this change.",
    "No security or correctness issues were found.", "All critical issues from round 1 have been resolved.",
    "No critical issues found. No keys are in the files. All settings come from `os.environ`.",
    "No new findings. All fixes of Round 1 hold.",
    "No critical issues found, but see the minor ones below.",
]  # fmt: skip
NO_DENIALS = [
    "None is returned when the user is missing", "None of the inputs are validated", "No input validation on login",
    "No issues are logged when payment fails", "Nothing validates the token", "No error handling", "No test for null",
    "None: `foo` crashes", "No critical issues found, but login.py is injectable.", "None, except the SQL injection",
    "No issues table index on user_id", "All callers must be fixed", "All findings of round 1 are still not fixed",
    "Clean up the temporary files", "Empty string accepted", "Pass the token explicitly", "Zero-length input crashes",
    "0 is accepted as a divisor", "No bugs are filed by the crash reporter", "-1 is accepted", "",
]  # fmt: skip


@pytest.mark.parametrize("text", DENIALS)
def test_a_denial_is_one(text: str) -> None:
    assert says_none(text)


@pytest.mark.parametrize("text", NO_DENIALS)
def test_a_problem_is_no_denial(text: str) -> None:
    assert not says_none(text)


def test_only_an_unlimited_denial_denies_everything() -> None:
    assert all(map(says_nothing_at_all, ["No issues found.", "No new findings.", "There are no issues."]))
    assert not any(map(says_nothing_at_all, ["None", "No critical issues found.", "No issues found, but it leaks."]))


@pytest.mark.parametrize(
    "text",
    [
        "I am unable to read the diff.",
        "I could not access the branch",
        "The diff is empty",
        "Cannot see the changes",
        "There are no changes to review",
    ],
)
def test_a_reviewer_that_saw_nothing_is_noticed(text: str) -> None:
    assert says_unread(text)


@pytest.mark.parametrize(
    "text",
    [
        "I could not find any issues in the diff",
        "Cannot run tests in review; the story claims that all pass",
        "I cannot see any problems in the code",
    ],
)
def test_a_reviewer_that_found_nothing_did_look(text: str) -> None:
    assert not says_unread(text)


FORMER = [
    "Round 1 Fix Verification", "Verified fixes from round 1", "Previous findings", "Resolved", "Critical (Resolved)",
    "Important (Resolved / Deferred)", "Round 1 Disposition", "Round 1 Issue Resolution Summary", "✅ Fixed",
    "Round 1 Critical Issue #1 - Leaking port", "Verification of Round 1 Fixes", "Findings addressed",
]  # fmt: skip
NOT_FORMER = [
    "Critical Issues (Must Be Fixed Before Merge)", "Fixed window limiter allows bursts", "Round 2 New Findings",
    "Round 2 Findings", "Story 3 Code Review Findings - Round 2", "Unresolved findings from previous round",
    "Issue fixed only partially", "Resolved promise is never awaited", "Closed connections are reused",
]  # fmt: skip


@pytest.mark.parametrize("heading", FORMER)
def test_a_heading_about_an_earlier_round(heading: str) -> None:
    assert is_former(heading, 2)


@pytest.mark.parametrize("heading", NOT_FORMER)
def test_a_heading_about_this_round(heading: str) -> None:
    assert not is_former(heading, 2)


def test_a_list_of_settled_findings_is_announced() -> None:
    assert announces_former("All findings of Round 1 have been addressed since (5d6e7f8):")
    assert announces_former("**Verified fixes from round 1**")
    assert not announces_former("The following issues must be fixed:")
    assert not announces_former("All findings are listed below:")


def test_open_findings_are_announced_only_by_a_heading_that_says_no_more() -> None:
    assert is_open("Unresolved Findings from Round 1")
    assert is_open("NOT resolved from Round 1:")
    assert is_open("Still open (2)")
    assert not is_open("AC2 not addressed: no export was built")


SETTLED = [
    "~~Old one~~", "~~Old~~ ✅ fixed", "Null check ✅", "Null check (FIXED)", "Null check — FIXED. All good", "✅ Null",
    "Null - Fixed in abc1234", "Important: lock released (FIXED)", "**Secret in the log** — FIXED. It is gone",
]  # fmt: skip
UNSETTLED = [
    "Rate limiter - fixed window allows burst", "Null check not fixed", "Null (not fixed)", "Size - fixed in config",
    "~~Old~~ new problem leaks", "Foo (FIXED) (open)", "Status ✅ shown on failure", "Resolved promise is dropped",
]  # fmt: skip


@pytest.mark.parametrize("title", SETTLED)
def test_the_mark_of_a_settled_finding(title: str) -> None:
    assert is_settled_title(title)


@pytest.mark.parametrize("title", UNSETTLED)
def test_a_title_that_only_looks_settled(title: str) -> None:
    assert not is_settled_title(title)


def test_what_is_not_fixed_is_noticed() -> None:
    assert says_not_settled("- Critical #1: NOT FIXED, still built by hand")
    assert says_not_settled("| Token | ❌ |")
    assert not says_not_settled("- None of them is still open")
    assert not says_not_settled("- Unresolved: 0")


@pytest.mark.parametrize(
    ("heading", "severity"),
    [
        ("Critical Issues (Must Fix)", Severity.CRITICAL),
        ("🔴 Critical (2)", Severity.CRITICAL),
        ("Must-Fix Issues", Severity.CRITICAL),
        ("Blockers", Severity.CRITICAL),
        ("Important Issues (Must Fix)", Severity.HIGH),
        ("Should fix", Severity.HIGH),
        ("MAJOR", Severity.HIGH),
        ("Critical & Important Issues", Severity.CRITICAL),
        ("Medium-Severity Findings", Severity.MEDIUM),
        ("Non-critical issues", Severity.MEDIUM),
        ("Nice to Have", Severity.LOW),
        ("Minor / Nits", Severity.LOW),
        ("Suggestions", Severity.LOW),
        ("Nits", Severity.INFO),
        ("No Critical Issues", Severity.CRITICAL),
        ("Critical path is not tested", None),
        ("Why This Remains Important", None),
        ("High-level overview", None),
        ("Important Notes", None),
        ("Error handling issues", None),
    ],
)
def test_the_severity_of_a_heading(heading: str, severity: Severity | None) -> None:
    assert bare_severity(heading) is severity


def test_the_severity_of_a_heading_for_one_area() -> None:
    assert heading_severity("Critical Security Issues") is Severity.CRITICAL
    assert heading_severity("Critical path is not tested") is None


def test_the_count_that_a_heading_promises() -> None:
    assert heading_count("Critical Issues (2)") == 2
    assert heading_count("Important Issues (Should Fix): 15") == 15
    assert heading_count("No Critical Issues") == 0
    assert heading_count("Critical Issues - Round 2") is None


@pytest.mark.parametrize(
    ("text", "severity", "rest"),
    [
        ("[HIGH] foo", Severity.HIGH, "foo"),
        ("**[HIGH]** foo", Severity.HIGH, "foo"),
        ("**Critical #1:** foo", Severity.CRITICAL, "foo"),
        ("Must fix: foo", Severity.CRITICAL, "foo"),
        ("🔴 Critical: foo", Severity.CRITICAL, "foo"),
        ("CRITICAL-1: foo", Severity.CRITICAL, "foo"),
        ("Important - foo", Severity.HIGH, "foo"),
        ("NOTE: foo", Severity.INFO, "foo"),
    ],
)
def test_a_severity_before_an_item(text: str, severity: Severity, rest: str) -> None:
    tag = leading_tag(text)
    assert tag is not None
    assert (tag.severity, tag.rest) == (severity, rest)


@pytest.mark.parametrize("text", ["High cohesion is lost", "Critical path", "[Security] foo", "Error: foo", "Lowered"])
def test_a_word_that_is_no_severity(text: str) -> None:
    assert leading_tag(text) is None


@pytest.mark.parametrize(
    "text", ["1. x", "R1: x", "**C1.** x", "Finding 1: x", "Issue #3: x", "3.1.6. x", "**R2** — x"]
)
def test_the_name_of_an_item(text: str) -> None:
    lead, rest = item_lead(text)
    assert lead
    assert rest == "x"


@pytest.mark.parametrize("text", ["10 files changed", "2.1-D1", "plain words", "src/a.py:3 leaks"])
def test_an_item_without_a_name(text: str) -> None:
    assert item_lead(text) == ("", text)


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("- **File:** `a.py`", Field.LOCATION, "`a.py`"),
        ("**Fix** — do it", Field.SUGGESTION, "do it"),
        ("Impact: *args are lost", Field.IMPACT, "*args are lost"),
        ("- **Issue (secondary)**: x", Field.PROBLEM, "x"),
        ("**Why This Matters:** z", Field.IMPACT, "z"),
        ("Suggested fix: y", Field.SUGGESTION, "y"),
    ],
)
def test_a_labelled_line(text: str, field: Field, value: str) -> None:
    label = labelled(text)
    assert label is not None
    assert (label.field, label.value) == (field, value)


def test_a_line_without_a_known_label() -> None:
    assert labelled("The file: x") is None
    assert labelled("**Bold** words: x") is None


def test_a_word_of_a_table() -> None:
    assert severity_of_word("**HIGH**") is Severity.HIGH
    assert severity_of_word("medium severity") is Severity.MEDIUM
    assert severity_of_word("src/a.py") is None
