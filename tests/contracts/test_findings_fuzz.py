"""No text may crash the parser, no document with must-fix findings may be read as clean, and cost stays linear."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from burnish.contracts.findings import parse
from burnish.contracts.markdown import denials, former, labels, severities, tags
from burnish.contracts.paths import no_repository
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Severity
from burnish.core.reviews import Answer
from burnish.core.text import clean_text

MUST_FIX = (Severity.CRITICAL, Severity.HIGH)
TITLES = (
    "SQL injection in the login query", "None of the inputs are validated", "No error handling around the call",
    "Fixed window limiter allows bursts", "Resolved promise is never awaited", "All callers must be fixed", "`x` leaks",
    "Nothing checks the token", "Clean-up is skipped", "Empty string is accepted", "0 is accepted as a divisor",
    "Approve button works without a role", "Summary page shows deleted rows", "Race between round 1 and round 2 of it",
    "Previous value is lost", "Passes `None` on", "Critical section is not locked", "Note is stored twice",
)  # fmt: skip
PIECES = (
    "## Critical Issues", "## Important Issues (Should Fix)", "## Minor", "## Summary", "None.", "None found", "1. ",
    "- ", "- [HIGH] ", "**File:** ", "src/a.py:10", "```", "~~~", "<!--", "-->", "---", "===", "> ", "| a | b |", "**",
    "|---|---|", "Critical: 0", "Important: 0", "Critical: 2 (all resolved)", "Recommendation: Approve", "✅", "~~",
    "Request changes", "## Round 1 Verification", "NOT FIXED", "All issues were fixed:", "No issues found.", "\t",
    "    ", "\n", "\n\n", "# ", "#" * 7, "((((", "[[[", "0", "9" * 30, "`" * 5, "\u200b", "é", "𝔸", "…",
)  # fmt: skip


def read(text: str) -> Answer | None:
    try:
        return parse(clean_text(text), no_repository)
    except UnreadableError:
        return None


def must_fix(answer: Answer) -> int:
    return sum(finding.severity in MUST_FIX for finding in answer.findings)


@given(st.text(max_size=400) | st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=60).map("".join))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_text_is_read_or_unreadable(text: str) -> None:
    answer = read(text)
    assert answer is None or answer.clean is (not answer.findings)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=40).map("\n".join))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_lines_around_a_tagged_finding_leave_it_standing_or_unreadable(text: str) -> None:
    """Whatever stands after it, a finding at the beginning is never lost: nothing there can call it a former one."""
    answer = read(f"- [CRITICAL] The key is committed\n\n{text}")
    assert answer is None or not answer.clean


class Style:
    """One way to write a document, drawn by hypothesis."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.form = self.one("## {}", "### {}", "**{}**", "#### {}", "{}\n------------------")
        """How headings of sections look; all of one document look alike, or one could stand below the other."""

    def one(self, *choices: str) -> str:
        return self.draw(st.sampled_from(choices))

    def heading(self, severity: Severity, count: int) -> str:
        names = {
            Severity.CRITICAL: (
                "Critical Issues (Must Fix)",
                "Critical",
                "🔴 CRITICAL ISSUES",
                "Critical findings",
                "Blockers",
            ),
            Severity.HIGH: (
                "Important Issues (Should Fix)",
                "Important",
                "High Priority Issues",
                "HIGH",
                "Major problems",
            ),
            Severity.LOW: ("Minor Issues (Nice to Have)", "Minor", "🟢 Low", "Suggestions"),
        }
        name = self.one(*names[severity])
        name = self.one(name, name, f"{name} ({count})", f"{name}: {count}") if count else name
        return self.form.format(name)

    def item(self, number: int, severity: Severity, title: str) -> str:
        tag = self.one(
            *{Severity.CRITICAL: ("CRITICAL",), Severity.HIGH: ("HIGH", "MAJOR"), Severity.LOW: ("LOW",)}[severity]
        )
        return self.one(
            f"{number}. **[Bug]:** {title}\n   - **File:** src/a.py:{number}\n   - **Fix:** Mend it",
            f"{number}. **{title}**\n   **File:** `src/a.py` (lines 1-{number + 1})\n   **Problem:** It breaks",
            f"{number}. {title}",
            f"- {title} (src/a.py:3)",
            f"* [{tag}] {title}\n  - Impact: bad",
            f"- **{tag}**: {title}",
            f"**C{number}.** {title}\n- Fix: Mend it\n",
            f"##### {number}. {title}\n\n**Problem:** It breaks\n\n```md\n## Critical\nNone.\n```\n",
            f"##### R{number}: {title}\n\n- src/a.py:4 - here\n",
            f"[{tag}] {title}\nFile: src/a.py:9\n",
        )

    def section(self, severity: Severity, titles: list[str]) -> str:
        heading = self.heading(severity, len(titles))
        if not titles:
            return f"{heading}\n\n{self.one('None.', 'None found.', '- None', 'No issues found.', '_None_')}\n"
        style = self.draw(st.integers(0, 2**16))
        same = Style(_repeating(style))
        items = [same.item(number, severity, title) for number, title in enumerate(titles, start=1)]
        return f"{heading}\n\n" + "\n\n".join(items) + "\n"

    def frame(self, body: str) -> str:
        former_part = self.form.format("Round 1 Fix Verification") + "\n\n1. **Old** — FIXED\n2. ~~Older~~\n\n"
        body = self.one("", former_part) + body
        summaries = (
            "",
            "## Summary\n\n- Critical: 0\n- Important: 0\n",
            "## Summary\n\nAll findings of round 1 were fixed.\n",
        )
        body += "\n" + self.one(*summaries) + self.one("", "\n**Recommendation:** Approve\n")
        title = self.one("", "# Story 2.1-D1 Code Review Findings - Round 2\n\n**Date:** 2026-01-01 10:00\n\n")
        front = self.one("", "---\nstory: 3-1a\n---\n\n", "Here is my review.\n\n")
        wrapped = self.one("plain", "wrapped") == "wrapped" and front != "---\nstory: 3-1a\n---\n\n" and bool(title)
        return f"{front}```markdown\n{title}{body}```\n" if wrapped else front + title + body


def _repeating(seed: int) -> Callable[[st.SearchStrategy[Any]], Any]:
    """A draw that always picks the same place of a list, so that the items of a section look alike."""

    def draw(strategy: st.SearchStrategy[Any]) -> Any:
        elements: tuple[Any, ...] = tuple(getattr(strategy, "elements", ()))
        return elements[seed % len(elements)]

    return draw


@st.composite
def documents(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[str, int]:
    style = Style(draw)
    title = st.sampled_from(TITLES)
    critical: list[str] = draw(st.lists(title, max_size=3, unique=True))
    high: list[str] = draw(st.lists(title, min_size=0 if critical else 1, max_size=3, unique=True))
    low: list[str] = draw(st.lists(title, max_size=2, unique=True))
    sections = [(Severity.CRITICAL, critical), (Severity.HIGH, high), (Severity.LOW, low)]
    ordered: list[tuple[Severity, list[str]]] = draw(st.permutations(sections))
    body = "\n".join(style.section(severity, titles) for severity, titles in ordered)
    return style.frame(body), len(critical) + len(high)


@given(documents())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_document_with_must_fix_findings_is_never_clean_and_loses_none(written: tuple[str, int]) -> None:
    text, expected = written
    answer = read(text)
    assert answer is not None
    assert must_fix(answer) >= expected


@given(documents(), st.integers(0, 80))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_document_with_must_fix_findings_is_never_clean_when_it_breaks_off(
    written: tuple[str, int], lines: int
) -> None:
    """Cut off after any line: what is left must list a finding, or be too little to be believed."""
    text, _ = written
    kept = text.split("\n")
    assume(lines < len(kept))
    answer = read("\n".join(kept[:lines]))
    assert answer is None or not answer.clean


HOSTILE: dict[str, Callable[[int], str]] = {
    "items": lambda n: "## Critical\n" + "1. **[A]:** Title\n   - **File:** a.py:1\n   - **Problem:** text\n" * n,
    "nested lists": lambda n: "## Critical\n" + "".join(" " * (depth % 90) + f"- x{depth}\n" for depth in range(3 * n)),
    "opened fences": lambda n: "".join(f"```a{number}\n" for number in range(3 * n)),
    "bare fences": lambda n: "```\n" * 3 * n,
    "headings": lambda n: "".join(f"## a {number}\n" for number in range(3 * n)),
    "severity headings": lambda n: "## Critical\n" * 3 * n,
    "item headings": lambda n: "## Critical\n" + "".join(f"### {number}. x\n" for number in range(3 * n)),
    "file lines": lambda n: "## Critical\n" + "- **File:** a.py\n" * 3 * n,
    "comments": lambda n: "<!--\n" * 3 * n,
    "tables": lambda n: "## Critical\n" + "| HIGH | a.py:3 | text |\n" * 3 * n,
    "bold lines": lambda n: "".join(f"**a {number}**\n\n" for number in range(2 * n)),
    "introductions": lambda n: "".join(f"All {number} issues were fixed:\n\n" for number in range(2 * n)),
    "counts": lambda n: "Critical: 1\n" * 3 * n,
    "underlines": lambda n: "a\n---\n" * 2 * n,
    "quotations": lambda n: "## Critical\n" + "> a\n" * 3 * n,
}


def calls_while_reading(text: str) -> int:
    """How many functions are called, in Python and in C: a measure of work that no other load can change."""
    for cached in (denials.says_none, former.is_former, labels.labelled, labels.field_of_label):
        cached.cache_clear()
    for cached in (tags.leading_tag, tags.item_lead, severities.severity_of_word):
        cached.cache_clear()
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        read(text)
    finally:
        sys.setprofile(previous)
    return calls


@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_in_step_with_the_size(name: str) -> None:
    """Four times the text is at most about four times the work; a square would be sixteen times."""
    small, large = (calls_while_reading(HOSTILE[name](size)) for size in (60, 240))
    assert large < 5 * small


LONG_LINES: dict[str, Callable[[int], str]] = {
    "backticks": lambda n: "`" * n,
    "bold": lambda n: "**a" * n,
    "brackets": lambda n: "- " + "[(" * n,
    "dashes": lambda n: "- " * n,
    "paths": lambda n: "- **File:** " + "a/b.py:1, " * n,
    "severities": lambda n: "critical: " * n,
    "denials": lambda n: "0 " + "or " * n,
    "inability": lambda n: "unable to a b c " * n,
    "settled": lambda n: "all issues " + "were a b c " * n,
    "words": lambda n: "x" * n,
    "comment starts": lambda n: "<!--" * n,
    "cells": lambda n: "| a " * n,
}


@pytest.mark.parametrize("name", LONG_LINES)
def test_no_line_is_looked_at_beyond_its_bound(name: str) -> None:
    """Beyond the bound of a line a longer one is the same work: patterns never see the rest."""
    line = LONG_LINES[name]
    small, large = (calls_while_reading(f"## Critical\n\n{line(size)}\n") for size in (20_000, 80_000))
    assert large < 1.1 * small + 200
