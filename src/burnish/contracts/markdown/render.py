"""The findings document of the epic protocol, written. Its form is fixed: other tools read it.

The form knows three severities. Critical stays critical and high is Important; medium, low and info become Minor, so
that the class of what must be fixed is kept, though not the exact severity below it. Every text is put on one line, so
that nothing in it can be taken for a heading, a list or a fence, and nothing in it becomes active where it is shown.
"""

import re

from burnish.contracts.markdown.fields import UNCATEGORISED
from burnish.contracts.markdown.former import OPEN_MARK, is_settled_title
from burnish.contracts.markdown.inert import inert
from burnish.contracts.markdown.severities import severity_of_word
from burnish.core.findings import Finding, Location, Severity, Source
from burnish.core.values import Value

_SECTIONS = (
    ("Critical", "Critical Issues (Must Fix)", (Severity.CRITICAL,)),
    ("Important", "Important Issues (Should Fix)", (Severity.HIGH,)),
    ("Minor", "Minor Issues (Nice to Have)", (Severity.MEDIUM, Severity.LOW, Severity.INFO)),
)
_BRACKETS = str.maketrans("[]`<", "()'(", "*\\")
_PLAIN_PATH = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@+-")


class FindingsDocument(Value):
    """One review as a document: its head and its findings."""

    story: str = ""
    """The story's id; empty where there is none."""
    round: int
    date: str
    """`YYYY-MM-DD HH:MM`."""
    branch: str
    reviewer: str = "Agent (Fresh Context)"
    findings: tuple[Finding, ...] = ()
    unproven: tuple[str, ...] = ()
    """What was not examined: then the document does not recommend to approve."""
    waiting: tuple[str, ...] = ()
    """What a person is told who must decide how the run goes on."""
    answers: tuple[str, ...] = ()
    """What the fixer said of findings, a line each."""


def render(document: FindingsDocument) -> str:
    """Write the document. Findings are numbered through all sections."""
    head = (("Reviewer", document.reviewer), ("Date", document.date), ("Branch", document.branch))
    story = f"Story {_one_line(document.story)} " if document.story else ""
    parts = [
        f"# {story}Code Review Findings - Round {document.round}",
        "\n".join(f"**{label}:** {_one_line(value)}" for label, value in head),
    ]
    number = 0
    counts: list[str] = []
    for name, heading, severities in _SECTIONS:
        findings = [finding for finding in document.findings if finding.severity in severities]
        parts.append(f"## {heading}")
        parts += [_item(number + place, finding) for place, finding in enumerate(findings, start=1)] or ["None."]
        number += len(findings)
        counts.append(f"- **{name}:** {len(findings)}")
    summary = [
        f"- **Total findings:** {number}",
        *counts,
        f"- **Recommendation:** {_recommendation(document)}",
    ]
    notes = (
        ("Not Proven", document.unproven),
        ("Waiting for a Decision", document.waiting),
        ("What the Fixer Says", document.answers),
    )
    quoted = (
        f"## {title}\n\n" + "\n".join(f"> {_one_line(line)}" for line in lines) for title, lines in notes if lines
    )
    return "\n\n".join([*parts, "## Summary", "\n".join(summary), *quoted]) + "\n"


def _recommendation(document: FindingsDocument) -> str:
    if document.unproven or any(finding.severity.at_least(Severity.HIGH) for finding in document.findings):
        return "Request changes"
    return "Approve, minor findings are optional" if document.findings else "Approve"


def _item(number: int, finding: Finding) -> str:
    lines = [f"{number}. **[{_category(finding.category)}]:** {_title(finding.title)}"]
    places = [_place(location) for location in (finding.location, *finding.also_at) if location is not None]
    lines += [f"   - **File:** {place}" for place in places or ["n/a"]]
    parts = (("Problem", finding.problem), ("Impact", finding.impact), ("Fix", finding.suggestion))
    lines += [f"   - **{label}:** {_one_line(text)}" for label, text in parts if text.strip()]
    lines += [f"   - **Reported by:** {_one_line(_source(source))}" for source in finding.sources]
    return "\n".join(lines)


def _source(source: Source) -> str:
    said = (source.title, source.problem, source.suggestion)
    return (
        f"{', '.join(source.found_by)} ({source.severity.value}): {' — '.join(text for text in said if text.strip())}"
    )


def _one_line(text: str) -> str:
    """A text on one line, in which nothing is hidden from readers or becomes active."""
    return inert(" ".join(text.split()))


def _title(title: str) -> str:
    """A title without emphasis of its own, which cannot be taken for the mark of a settled finding."""
    text = _one_line(title.replace("**", ""))
    return f"{text} {OPEN_MARK}" if is_settled_title(text) else text


def _category(category: str) -> str:
    """A category that cannot be taken for a severity or end its own brackets."""
    plain = category.translate(_BRACKETS)
    text = _one_line(" ".join(plain.split())[:60])
    if not text or text.lower() == "x":
        return UNCATEGORISED
    return f"about {text}" if severity_of_word(text) is not None else text


def _place(location: Location) -> str:
    path = " ".join(location.file.split())
    plain = path if set(path) <= _PLAIN_PATH else _code(path)
    if location.line is None:
        return plain
    end = f"-{location.end_line}" if location.end_line is not None else ""
    return f"{plain}:{location.line}{end}"


def _code(path: str) -> str:
    """A path as code, whatever it is made of."""
    longest = max((len(run) for run in re.findall("`+", path)), default=0)
    fence, gap = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{gap}{path}{gap}{fence}"
