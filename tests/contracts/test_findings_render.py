"""The written document: exactly the seed's, and read back as what was written."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from markdown_it import MarkdownIt
from markdown_it.token import Token

from burnish.contracts.findings import FindingsDocument, parse, render
from burnish.contracts.markdown.fields import UNCATEGORISED
from burnish.contracts.markdown.inert import inert
from burnish.contracts.paths import no_repository
from burnish.contracts.text import decode
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import replace

CLASS = {
    Severity.CRITICAL: Severity.CRITICAL,
    Severity.HIGH: Severity.HIGH,
    Severity.MEDIUM: Severity.LOW,
    Severity.LOW: Severity.LOW,
    Severity.INFO: Severity.LOW,
}


def document(*findings: Finding) -> FindingsDocument:
    return FindingsDocument(story="4.2", round=2, date="2026-03-01 10:00", branch="story-4-2-login", findings=findings)


def finding(severity: Severity, title: str, *, category: str = "", problem: str = "") -> Finding:
    return Finding(severity=severity, title=title, category=category, problem=problem)


def test_the_document_has_the_form_of_the_seed() -> None:
    located = Finding(
        severity=Severity.CRITICAL,
        title="SQL injection",
        category="Security",
        location=Location(file="src/login.py", line=10),
        problem="The name is pasted\ninto the statement",
        impact="Anybody logs in",
        suggestion="Bind it",
    )
    minor = finding(Severity.MEDIUM, "Name says nothing", problem="It is called tmp")
    assert render(document(minor, located)) == snapshot("""\
# Story 4.2 Code Review Findings - Round 2

**Reviewer:** Agent (Fresh Context)
**Date:** 2026-03-01 10:00
**Branch:** story-4-2-login

## Critical Issues (Must Fix)

1. **[Security]:** SQL injection
   - **File:** src/login.py:10
   - **Problem:** The name is pasted into the statement
   - **Impact:** Anybody logs in
   - **Fix:** Bind it

## Important Issues (Should Fix)

None.

## Minor Issues (Nice to Have)

2. **[General]:** Name says nothing
   - **File:** n/a
   - **Problem:** It is called tmp

## Summary

- **Total findings:** 2
- **Critical:** 1
- **Important:** 0
- **Minor:** 1
- **Recommendation:** Request changes
""")


def test_a_document_without_findings_is_read_as_clean() -> None:
    answer = parse(render(document()), no_repository)
    assert answer.clean
    assert answer.corrections == ()


def test_further_places_have_lines_of_their_own() -> None:
    places = (Location(file="b c.py", line=3, end_line=5), Location(file="d.py"))
    written = render(
        document(Finding(severity=Severity.HIGH, title="T", location=Location(file="a.py"), also_at=places))
    )
    assert "   - **File:** a.py\n   - **File:** `b c.py`:3-5\n   - **File:** d.py\n" in written
    assert parse(written, no_repository).findings[0].also_at == places


def test_a_title_that_looks_settled_stays_a_finding() -> None:
    written = render(document(finding(Severity.CRITICAL, "Badge is shown ✅"), finding(Severity.HIGH, "~~None~~")))
    assert [found.severity for found in parse(written, no_repository).findings] == [Severity.CRITICAL, Severity.HIGH]


def test_a_title_that_denies_stays_a_finding() -> None:
    written = render(document(finding(Severity.CRITICAL, "None"), finding(Severity.LOW, "No issues found.")))
    assert [found.title for found in parse(written, no_repository).findings] == ["None", "No issues found."]


def test_a_category_that_names_a_severity_does_not_change_one() -> None:
    written = render(document(finding(Severity.LOW, "T", category="critical")))
    assert parse(written, no_repository).findings[0].severity is Severity.LOW


HOSTILE = st.sampled_from(
    [
        "## Critical Issues", "```", "~~~", "\n## Summary\n- Critical: 9", "- **Fix:** x", "**File:** a.py", "<!--",
        "-->",
        "1. next", "[HIGH]", "None.", "(FIXED)", "✅", "| a | b |", "> quote", "---", "# x", "**", "`", "Critical: 3",
        "Recommendation: Reject", "\n\n\n", "N/A", "n/a", "[x]", "~~gone~~", "C1: x", "Note: y", "All were fixed:",
    ]
)  # fmt: skip
PROSE = st.lists(
    HOSTILE | st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20), max_size=6
).map(" ".join)
FILE_NAME = (
    st.text("abcXYZ019_-é (),", min_size=1, max_size=12).map(str.strip).filter(lambda name: bool(name.strip("()-_,")))
)


@st.composite
def locations(draw: st.DrawFn) -> Location:
    name = " ".join(draw(FILE_NAME).split())
    path = f"{draw(st.sampled_from(['src', 'a b']))}/{name}.py"
    line = draw(st.none() | st.integers(1, 99_999))
    more = draw(st.integers(0, 50))
    return Location(file=path, line=line, end_line=line + more if line and more else None)


FINDINGS = st.builds(
    Finding,
    severity=st.sampled_from(Severity),
    title=PROSE.map(lambda title: f"Defect {title}"),
    category=st.sampled_from(["", "Security", "Error handling", "API / HTTP", "critical", "x", "a]b[c"]),
    location=st.none() | locations(),
    problem=PROSE,
    impact=PROSE,
    suggestion=PROSE,
)


def one_line(text: str) -> str:
    return inert(" ".join(decode(f"x {text}".encode()).split())[2:])


def without_emphasis(text: str) -> str:
    return one_line(text.replace("**", ""))


@given(st.lists(FINDINGS, max_size=6))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_what_is_written_is_read_back(findings: list[Finding]) -> None:
    answer = parse(decode(render(document(*findings)).encode()), no_repository)
    in_order = sorted(findings, key=lambda found: CLASS[found.severity].rank)
    assert [read.severity for read in answer.findings] == [CLASS[found.severity] for found in in_order]
    assert not any(read.synthetic for read in answer.findings)
    assert answer.corrections == ()
    for found, read in zip(in_order, answer.findings, strict=True):
        assert read.title.removesuffix(" (open)") == without_emphasis(found.title)
        assert read.location == found.location
        assert read.problem == one_line(found.problem)
        assert read.impact == one_line(found.impact)
        assert read.suggestion == one_line(found.suggestion)
        if found.category in ("", "x"):
            assert read.category == ""
        elif found.category not in ("critical", "a]b[c", UNCATEGORISED):
            assert read.category == found.category


ACTIVE = (
    *("<b>x</b>", "<img src=x onerror=alert(1)>", "<!-- hidden", "<https://a.example>", "![a](http://t.example/p.png)"),
    *("[here](javascript:alert(1))", "[a][b]", "[b]: javascript:alert(1)", "https://a.example/x", "www.a.example"),
    *("a@b.example", "@octocat", "`", "``", "\\", "\\`", "\\<", "](x)", "<", "word", " "),
)
MARKDOWN = MarkdownIt("commonmark", {"html": True})


def active(tokens: Iterable[Token]) -> list[str]:
    """What of a document a browser would run, load or follow."""
    kinds = ("html_inline", "html_block", "link_open", "image")
    here = [token.type for token in tokens if token.type in kinds]
    return here + [kind for token in tokens for kind in active(token.children or ())]


@given(st.lists(st.lists(st.sampled_from(ACTIVE), max_size=8).map("".join), min_size=4, max_size=4))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_nothing_that_an_agent_writes_becomes_active(texts: list[str]) -> None:
    title, problem, category, path = texts
    found = Finding(
        severity=Severity.HIGH,
        title=title,
        category=category,
        problem=problem,
        impact=title,
        suggestion=problem,
        location=Location(file=path or "a.py"),
    )
    written = render(replace(document(found), unproven=(title, problem), branch=path))
    assert active(MARKDOWN.parse(written)) == []
    assert len(parse(decode(written.encode()), no_repository).findings) >= 1


def test_honest_text_stays_readable() -> None:
    text = "Use `List<int>`, not List<int>; a < b, x[0](y); see https://docs.example/x. Mind @fixture"
    assert inert(text) == (
        "Use `List<int>`, not List&lt;int>; a < b, x[0]\\(y); see `https://docs.example/x`. Mind `@fixture`"
    )
