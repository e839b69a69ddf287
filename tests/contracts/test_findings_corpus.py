"""Documents as reviewers write them, each with what it must be read as beside it.

`expected` was written by hand before the parser ran; the details below it say how each finding is read.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from burnish.contracts.findings import parse
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Finding, Location, Severity
from burnish.core.reviews import Answer

CORPUS = Path(__file__).parent / "corpus" / "findings"
DOCUMENTS = sorted(CORPUS.glob("*.md"))
FILES = frozenset(("src/cache.py", "src/store.py"))


def read(document: Path) -> Answer | UnreadableError:
    try:
        return parse(document.read_text(encoding="utf-8"), FILES.__contains__)
    except UnreadableError as error:
        return error


def in_short(answer: Answer | UnreadableError) -> str:
    if isinstance(answer, UnreadableError):
        return "unreadable"
    counted = Counter(finding.severity for finding in answer.findings)
    return ", ".join(f"{counted[severity]} {severity.value}" for severity in Severity if counted[severity]) or "clean"


def place(location: Location) -> str:
    line = f":{location.line}" if location.line else ""
    return f"{location.file}{line}{f'-{location.end_line}' if location.end_line else ''}"


def line_of(finding: Finding) -> str:
    places = [place(location) for location in (finding.location, *finding.also_at) if location is not None]
    made_up = "[made up] " if finding.synthetic else ""
    category = f"[{finding.category}] " if finding.category else ""
    return f"{finding.severity.value}: {made_up}{category}{finding.title}" + (
        f" @ {', '.join(places)}" if places else ""
    )


def details(answer: Answer | UnreadableError) -> dict[str, object]:
    if isinstance(answer, UnreadableError):
        return {"message": answer.message}
    return {"findings": [line_of(finding) for finding in answer.findings], "corrections": list(answer.corrections)}


def test_the_corpus_is_there() -> None:
    assert len(DOCUMENTS) >= 80
    assert [path.stem for path in DOCUMENTS] == sorted(path.stem for path in CORPUS.glob("*.json"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_is_read_as_its_writer_meant_it(document: Path) -> None:
    expected = json.loads(document.with_suffix(".json").read_text(encoding="utf-8"))
    answer = read(document)
    assert set(in_short(answer).split(", ")) == set(expected.pop("expected").split(", "))
    assert details(answer) == expected
    if isinstance(answer, Answer):
        assert answer.clean is (not answer.findings)
    else:
        assert answer.hint
