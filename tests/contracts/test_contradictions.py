"""A clean answer with words around it: it stays clean beside harmless ones, and never is beside words against it."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.agents.streams import read_answer
from burnish.contracts.registry import Expected
from burnish.contracts.text import UnreadableError
from burnish.core.reviews import ContractName
from tests.contracts.prose import AGAINST, HARMLESS

CORPUS = Path(__file__).parent / "corpus"
CLEAN = {
    ContractName.ISSUES: (CORPUS / "issues" / "clean.json").read_text(),
    ContractName.VERDICT: (CORPUS / "verdict" / "pass.txt").read_text(),
    ContractName.REPORT: (CORPUS / "report" / "pass.json").read_text(),
    ContractName.SARIF: (CORPUS / "sarif" / "clean.sarif").read_text(),
    ContractName.FINDINGS: (CORPUS / "findings" / "seed_format_clean.md").read_text(),
}
IN_JSON = [contract for contract in ContractName if contract is not ContractName.FINDINGS]
REPORT = json.loads(CLEAN[ContractName.REPORT])


def is_clean(contract: ContractName, text: str) -> bool:
    try:
        return read_answer(contract, text.encode()).clean
    except UnreadableError:
        return False


def test_there_are_enough_of_both() -> None:
    assert len(set(HARMLESS)) >= 40
    assert len(set(AGAINST)) >= 60


@pytest.mark.parametrize("said", HARMLESS)
def test_a_clean_answer_stays_clean_beside_harmless_words(said: str) -> None:
    answer = CLEAN[ContractName.ISSUES]
    closing = "\n```" if said == "```json" else f"\n\n{said}"
    assert is_clean(ContractName.ISSUES, f"{said}\n{answer}{closing}")


@pytest.mark.parametrize("said", [one for one in HARMLESS if not one.startswith("```")])
def test_a_clean_document_stays_clean_beside_harmless_words(said: str) -> None:
    assert is_clean(ContractName.FINDINGS, f"{said}\n\n{CLEAN[ContractName.FINDINGS]}")


@pytest.mark.parametrize("said", AGAINST)
def test_no_answer_is_clean_beside_words_against_it(said: str) -> None:
    for contract in ContractName:
        assert not is_clean(contract, f"{said}\n\n{CLEAN[contract]}"), contract
    for contract in IN_JSON:
        assert not is_clean(contract, f"{CLEAN[contract]}\n\n{said}\n"), contract


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from(IN_JSON),
    st.lists(st.sampled_from(HARMLESS), max_size=4),
    st.sampled_from(AGAINST),
    st.lists(st.sampled_from(HARMLESS), max_size=4),
    st.booleans(),
)
def test_no_harmless_words_hide_one_against_the_answer(
    contract: ContractName, before: list[str], against: str, after: list[str], first: bool
) -> None:
    words = "\n\n".join(one for one in (*before, against, *after) if one != "```json")
    assert not is_clean(contract, f"{words}\n\n{CLEAN[contract]}" if first else f"{CLEAN[contract]}\n\n{words}")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from(IN_JSON),
    st.lists(st.sampled_from(HARMLESS), max_size=6),
    st.lists(st.sampled_from(HARMLESS), max_size=6),
    st.sampled_from(["{}", "```json\n{}\n```", "```\n{}\n```"]),
    st.sampled_from([" ", "\n", "\n\n"]),
)
def test_harmless_words_together_are_harmless(
    contract: ContractName, before: list[str], after: list[str], form: str, separator: str
) -> None:
    introduction, closing = (separator.join(one for one in words if one != "```json") for words in (before, after))
    assert is_clean(contract, f"{introduction}\n\n{form.replace('{}', CLEAN[contract])}\n\n{closing}")


ERRORS = (
    '{"error": "overloaded"}',
    '{"error": {"type": "overloaded_error", "message": "Overloaded"}}',
    '{"is_error": true}',
    '{"isError": true, "content": []}',
    '{"type": "error", "message": "stream closed"}',
    '{"status": "failed"}',
    '{"success": false}',
    '{"result": {"errors": ["timeout"]}}',
    '[{"type": "error"}]',
    '{"truncated": true}',
)
NO_ERRORS = (
    '{"error": null}',
    '{"errors": []}',
    '{"is_error": false}',
    '{"success": true}',
    '{"type": "text"}',
    '{"a": 1}',
)


@pytest.mark.parametrize("contract", [one for one in IN_JSON if one is not ContractName.SARIF])
def test_an_object_that_reports_an_error_makes_a_clean_answer_unreadable(contract: ContractName) -> None:
    for error in ERRORS:
        assert not is_clean(contract, f"{error}\n{CLEAN[contract]}"), error
        assert not is_clean(contract, f"{CLEAN[contract]}\n{error}"), error
    for other in NO_ERRORS:
        assert is_clean(contract, f"{other}\n{CLEAN[contract]}"), other


def test_a_sentence_against_the_answer_is_seen_however_far_behind_it_stands() -> None:
    answer = CLEAN[ContractName.ISSUES]
    padding = "All the names are well chosen and " * 400
    assert is_clean(ContractName.ISSUES, f"{padding}short.\n{answer}")
    assert not is_clean(ContractName.ISSUES, f"{padding}I found a critical bug.\n{answer}")
    assert not is_clean(ContractName.ISSUES, f"{'Fine. ' * 20_000}\n{answer}")


def test_a_clean_message_in_a_stream_is_held_against_the_words_around_it() -> None:
    def stream(message: str) -> str:
        return json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": message})

    answer = CLEAN[ContractName.VERDICT]
    assert is_clean(ContractName.VERDICT, stream(f"Here is my verdict:\n{answer}"))
    assert not is_clean(ContractName.VERDICT, stream(f"I was not able to review.\n{answer}"))
    assert not is_clean(ContractName.VERDICT, f"I was not able to review.\n{stream(answer)}")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(1, 400))
def test_a_document_that_was_cut_before_its_minor_section_is_never_clean(kept: int) -> None:
    text = CLEAN[ContractName.FINDINGS]
    assert not is_clean(ContractName.FINDINGS, text[: min(kept, text.index("None found.", text.index("## Minor")))])


@pytest.mark.parametrize(
    ("changes", "expected", "clean"),
    [
        ({}, None, True),
        ({}, Expected(ticket="auth-base", revision=0), True),
        ({}, Expected(ticket=" Auth-Base", revision=0), True),
        ({}, Expected(ticket="auth-base", revision=1), False),
        ({}, Expected(ticket="auth", revision=0), False),
        ({"revision_count": "0"}, Expected(ticket="auth-base", revision=0), True),
        ({"revision_count": "first"}, Expected(ticket="auth-base", revision=0), False),
        ({"ticket_id": 12}, Expected(ticket="12", revision=0), True),
        ({"ticket_id": None}, Expected(ticket="auth-base", revision=0), False),
        ({"ticket_id": ""}, Expected(ticket="auth-base", revision=0), False),
        ({"revision_count": None}, Expected(ticket="auth-base", revision=0), False),
    ],
)
def test_a_report_passes_only_the_ticket_and_revision_that_was_asked_about(
    changes: dict[str, object], expected: Expected | None, clean: bool
) -> None:
    raw = json.dumps(REPORT | changes).encode()
    if clean:
        assert read_answer(ContractName.REPORT, raw, expected=expected).clean
        return
    with pytest.raises(UnreadableError):
        read_answer(ContractName.REPORT, raw, expected=expected)


def test_a_failing_report_of_another_ticket_is_no_report_of_this_one() -> None:
    raw = (CORPUS / "report" / "fail_with_blocking_issue.json").read_bytes()
    with pytest.raises(UnreadableError, match="about the ticket 'auth-base', not about 'other'"):
        read_answer(ContractName.REPORT, raw, expected=Expected(ticket="other", revision=0))
