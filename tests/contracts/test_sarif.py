"""The `sarif` contract: a corpus of answers with what each must be read as."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.contracts.registry import parse_answer
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Location
from burnish.core.reviews import Answer, ContractName

FILES = {"src/app.py", "src/with space.py"}
CORPUS = Path(__file__).parent / "corpus" / "sarif"
EXPECTED = {
    "absent_since_baseline.sarif": ("clean", 1),
    "artifact_index.sarif": ("not-clean high", 0),
    "artifacts_elsewhere.sarif": ("clean", 0),
    "clean.sarif": ("clean", 0),
    "clean_after_progress.sarif": ("clean", 0),
    "clean_beside_an_error_message.sarif": ("unreadable", 0),
    "conversion_failed.sarif": ("unreadable", 0),
    "default_level.sarif": ("not-clean medium", 0),
    "default_level_of_rule.sarif": ("not-clean high", 0),
    "document_and_broken.sarif": ("unreadable", 0),
    "document_and_cut.sarif": ("unreadable", 0),
    "execution_failed.sarif": ("unreadable", 0),
    "execution_succeeded.sarif": ("clean", 0),
    "exit_code_of_text.sarif": ("unreadable", 0),
    "exit_code_with_results.sarif": ("not-clean high", 0),
    "exit_code_with_suppressed_results.sarif": ("unreadable", 0),
    "exit_code_without_results.sarif": ("unreadable", 0),
    "exit_signal_name.sarif": ("unreadable", 0),
    "exit_signal_number.sarif": ("unreadable", 0),
    "invocations_elsewhere.sarif": ("unreadable", 0),
    "kind_contradicts_level.sarif": ("not-clean high", 1),
    "kinds.sarif": ("not-clean medium medium", 0),
    "levels.sarif": ("not-clean high medium low info", 0),
    "message_of_rule.sarif": ("not-clean high", 0),
    "no_runs.sarif": ("unreadable", 0),
    "notification_error.sarif": ("unreadable", 0),
    "notification_warning.sarif": ("clean", 0),
    "other_version.sarif": ("unreadable", 0),
    "process_start_failure.sarif": ("unreadable", 0),
    "prose.txt": ("unreadable", 0),
    "result_not_an_object.sarif": ("unreadable", 0),
    "results_absent.sarif": ("unreadable", 0),
    "results_elsewhere.sarif": ("unreadable", 0),
    "results_inline_elsewhere.sarif": ("unreadable", 0),
    "results_null.sarif": ("unreadable", 0),
    "runs_absent.sarif": ("unreadable", 0),
    "security_severity.sarif": ("not-clean critical high low", 0),
    "security_severity_of_rule.sarif": ("not-clean critical", 0),
    "suppressed.sarif": ("clean", 1),
    "suppression_under_review.sarif": ("not-clean high", 0),
    "two_documents.sarif": ("not-clean high", 0),
    "unknown_level.sarif": ("not-clean high", 1),
    "uri_absolute.sarif": ("not-clean high", 0),
    "uri_base.sarif": ("not-clean high", 0),
    "uri_encoded.sarif": ("not-clean high", 0),
    "uri_outside.sarif": ("not-clean high", 1),
}
"""For each file: what it is read as (severities; * for made up by burnish) and how many corrections are marked."""


def read(raw: bytes | str) -> Answer:
    return parse_answer(ContractName.SARIF, raw.encode() if isinstance(raw, str) else raw, FILES.__contains__)


def summary(raw: bytes) -> tuple[str, int]:
    try:
        answer = read(raw)
    except UnreadableError:
        return "unreadable", 0
    severities = [finding.severity.value + "*" * finding.synthetic for finding in answer.findings]
    return " ".join(["clean" if answer.clean else "not-clean", *severities]), len(answer.corrections)


def test_every_answer_of_the_corpus_has_an_expected_reading() -> None:
    assert sorted(file.name for file in CORPUS.iterdir()) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_corpus(name: str) -> None:
    assert summary((CORPUS / name).read_bytes()) == EXPECTED[name]


def test_a_log_inside_a_list_is_never_left_out() -> None:
    clean, levels = ((CORPUS / f"{name}.sarif").read_text() for name in ("clean", "levels"))
    assert summary(f"{clean}\n[{levels}]".encode()) == ("unreadable", 0)


def test_rule_message_places_and_suggestion_are_read() -> None:
    (finding,) = read((CORPUS / "message_of_rule.sarif").read_bytes()).findings
    assert (finding.rule, finding.title) == ("E1", "Name x is bad, {1}.")
    assert finding.location == Location(file="src/app.py", line=3, end_line=4)


@pytest.mark.parametrize("name", ["uri_base.sarif", "uri_absolute.sarif", "artifact_index.sarif"])
def test_every_way_to_name_a_place_leads_to_the_file(name: str) -> None:
    (finding,) = read((CORPUS / name).read_bytes()).findings
    assert finding.location is not None
    assert finding.location.file == "src/app.py"


DEPENDENT = {"two_documents.sarif", "kind_contradicts_level.sarif", "suppression_under_review.sarif"}


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_unreadable(raw: bytes) -> None:
    assert summary(raw) == ("unreadable", 0)


LISTED = [
    name
    for name, (reading, _) in EXPECTED.items()
    if reading.startswith("not-clean ") and "*" not in reading and name not in DEPENDENT
]
"""Answers whose problems are listed, in one document: no accident to the text may hide them.

Left out are those where a second part, once lost, rightly changes the reading.
"""


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(LISTED), st.data())
def test_an_answer_with_problems_never_becomes_clean_by_being_cut(name: str, data: st.DataObject) -> None:
    raw = (CORPUS / name).read_bytes()
    assert not summary(raw[: data.draw(st.integers(0, len(raw)))])[0].startswith("clean")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(LISTED), st.text(max_size=20), st.data())
def test_an_answer_with_problems_never_becomes_clean_by_garbage(name: str, garbage: str, data: st.DataObject) -> None:
    text = (CORPUS / name).read_text()
    places = [0, len(text), *(index for index, letter in enumerate(text) if letter == "\n" or "stream" not in name)]
    place = data.draw(st.sampled_from(places))
    assert not summary((text[:place] + garbage + text[place:]).encode(errors="replace"))[0].startswith("clean")
