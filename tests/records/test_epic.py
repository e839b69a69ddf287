"""Findings documents: the fixed form, one for each judged round, under the story's name."""

import hashlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from burnish.contracts.paths import no_repository
from burnish.contracts.registry import PARSERS
from burnish.core.events import Mode
from burnish.core.findings import count
from burnish.core.protocol import RecordLayout
from burnish.core.reviews import ContractName
from burnish.records.epic import document_path
from burnish.records.interface import slug
from burnish.runtime.script import RehearsalScript
from tests.records.playing import about, played, texts

TWO_ROUNDS = RehearsalScript(
    protocol="epic",
    reviews={"*": ("critical app.py:3 SQL injection; high app.py:9 No tests; low README.md:1 Typo", "clean")},
    fixes=("fixed",),
)


def test_each_round_has_its_document() -> None:
    files = texts(played(TWO_ROUNDS))
    assert list(files) == [
        "docs/progress/story-1.2-review-findings-round-1.md",
        "docs/progress/story-1.2-review-findings-round-2.md",
    ]
    assert files["docs/progress/story-1.2-review-findings-round-1.md"] == snapshot("""\
# Story 1.2 Code Review Findings - Round 1

**Reviewer:** Agent (Fresh Context)
**Date:** 2023-11-14 22:13
**Branch:** story-1-2-log-in

## Critical Issues (Must Fix)

1. **[General]:** SQL injection
   - **File:** app.py:3

## Important Issues (Should Fix)

2. **[General]:** No tests
   - **File:** app.py:9

## Minor Issues (Nice to Have)

3. **[General]:** Typo
   - **File:** README.md:1

## Summary

- **Total findings:** 3
- **Critical:** 1
- **Important:** 1
- **Minor:** 1
- **Recommendation:** Request changes
""")
    assert files["docs/progress/story-1.2-review-findings-round-2.md"] == snapshot("""\
# Story 1.2 Code Review Findings - Round 2

**Reviewer:** Agent (Fresh Context)
**Date:** 2023-11-14 22:13
**Branch:** story-1-2-log-in

## Critical Issues (Must Fix)

None.

## Important Issues (Should Fix)

None.

## Minor Issues (Nice to Have)

None.

## Summary

- **Total findings:** 0
- **Critical:** 0
- **Important:** 0
- **Minor:** 0
- **Recommendation:** Approve
""")


def test_a_document_reads_as_what_the_reviewer_said() -> None:
    run = played(TWO_ROUNDS)
    for text, round_ in zip(texts(run).values(), run.rounds, strict=True):
        answer = PARSERS[ContractName.FINDINGS](text, no_repository)
        [review] = round_.reviews
        assert count(answer.findings) == review.counts


@pytest.mark.parametrize(
    ("story", "branch", "name"),
    [
        ("2.1-D1", "x", "2.1-D1"),
        ("3-1a", "x", "3-1a"),
        ("登录-1", "x", "登录-1"),
        ("x" * 80, "x", "x" * 80),
        ("", "story-1-2", "story-1-2"),
        ("", "feature/log in", "feature-log-in~c72a3bbe93"),
        ("../../etc", "x", "etc~74ccf3c5b4"),
        ("a/../b\n", "x", "a-.-b~900ea8b7e0"),
        (".git", "x", "git~4d0a4dff1f"),
        ("…", "…", "unnamed~b4935894c8"),
        ("x" * 300, "x", "x" * 69 + "~0d4e2ca9e9"),
    ],
)
def test_a_document_is_named_after_its_story_and_stays_in_its_folder(story: str, branch: str, name: str) -> None:
    run = about(played(TWO_ROUNDS), story=story, branch=branch)
    assert document_path(run, 3) == f"docs/progress/story-{name}-review-findings-round-3.md"


APART = (
    "1.2",
    "1-2",
    "1_2",
    "1 2",
    "1.2.",
    "Log-In",
    "log-in",
    "feature/log-in",
    "feature-log-in",
    "feature log-in",
    "café",
    unicodedata.normalize("NFD", "café"),
    "ﬁx",
    "fix",
    "登录",
    "注册",
    "登/录",
    "вход",
    "…",
    "!!!",
    "🙂",
    "🙁",
    "..",
    "...",
    "\u200bfix",
    "\u202efix",
    "log-in~" + hashlib.sha256(b"log/in").hexdigest()[:10],
    "log/in",
    *("x" * length for length in (79, 80, 81, 82, 300)),
    *("登" * length for length in (26, 27, 28, 100, 300)),
    "é" * 300,
    unicodedata.normalize("NFD", "é") * 300,
)


def test_no_two_stories_have_the_same_name() -> None:
    names = {story: slug(story) for story in APART}
    assert len(set(names.values())) == len(APART), names
    # Also where a file system takes composed and decomposed letters for the same.
    assert len({unicodedata.normalize("NFC", name) for name in names.values()}) == len(APART)


@given(st.text(min_size=1, max_size=400))
def test_every_name_is_one_that_file_systems_take(story: str) -> None:
    name = slug(story)
    assert 0 < len(name.encode()) <= 80
    assert "/" not in name
    assert name.isprintable()
    assert not name.startswith((".", "-", "~"))
    assert unicodedata.normalize("NFC", name) == name
    assert slug(name) == name or "~" in name


def test_a_round_that_could_not_be_judged_has_no_document() -> None:
    """An empty one would look clean."""
    assert texts(played(RehearsalScript(protocol="epic", reviews={"*": ("crashed", "crashed", "crashed")}))) == {}


def test_an_objection_without_a_list_is_on_record() -> None:
    """Scores that miss a criterion, in this layout."""
    run = played(RehearsalScript(protocol="ticket", mode=Mode.REVIEW, reviews={"*": ("scores 80 95 80 80 80 90",)}))
    [document] = texts(run, RecordLayout.EPIC).values()
    assert "requirement_adherence 80 is below 90" in document
    assert "- **Critical:** 1" in document
