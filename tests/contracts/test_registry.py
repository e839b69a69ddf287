"""Every contract has a parser, imported only when it is needed; what clients are given asks for what is read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, validate

from burnish.agents.streams import read_answer
from burnish.contracts.issues_record import render_issues
from burnish.contracts.json_text import write_json
from burnish.contracts.registry import PARSERS
from burnish.contracts.report_record import report_fields
from burnish.contracts.schemas import schema
from burnish.contracts.text import UnreadableError
from burnish.contracts.verdict import render
from burnish.core.protocol import STANDARD_DIMENSIONS, Dimension, ScoreGate
from burnish.core.reviews import Answer, ContractName, DimensionScore, ScoreCard, Weight

WITH_SCHEMA = [ContractName.REPORT, ContractName.ISSUES, ContractName.VERDICT]


def known_schema(contract: ContractName) -> dict[str, Any]:
    found = schema(contract)
    assert found is not None
    return found


def test_every_contract_has_a_parser() -> None:
    assert set(PARSERS) == set(ContractName)


def test_importing_the_registry_imports_no_parser() -> None:
    program = "import sys, burnish.contracts.registry; print([name for name in sys.modules if 'contracts.' in name])"
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "registry" in listed
    assert not [contract for contract in ContractName if f"contracts.{contract.value}" in listed]


@pytest.mark.parametrize("contract", [one for one in ContractName if one is not ContractName.FINDINGS])
@pytest.mark.parametrize(
    "raw", [b"", b"\xff\xfe\x00", b"{", b"{}", b"[]", b"null", b'{"a":' * 5_000, b"{" * 1_000_000, b"LGTM"]
)
def test_what_is_no_answer_is_unreadable(contract: ContractName, raw: bytes) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_answer(contract, raw)
    assert caught.value.hint


@pytest.mark.parametrize("contract", WITH_SCHEMA)
def test_a_schema_asks_for_every_key_and_no_other(contract: ContractName) -> None:
    found = known_schema(contract)
    Draft202012Validator.check_schema(found)
    objects: list[dict[str, Any]] = []

    def keep(part: dict[str, Any]) -> dict[str, Any]:
        if part.get("type") == "object":
            objects.append(part)
        return part

    json.loads(json.dumps(found), object_hook=keep)
    assert objects
    for part in objects:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])


@pytest.mark.parametrize("contract", WITH_SCHEMA)
def test_a_schema_stays_as_it_was_published(contract: ContractName) -> None:
    published = json.loads((Path(__file__).parent / "schemas" / f"{contract.value}.json").read_text(encoding="utf-8"))
    assert known_schema(contract) == published


@pytest.mark.parametrize("contract", [ContractName.FINDINGS, ContractName.SARIF])
def test_the_other_contracts_have_no_schema(contract: ContractName) -> None:
    assert schema(contract) is None


def test_answers_that_fit_the_schemas_are_clean() -> None:
    gate = ScoreGate()
    scores = tuple(DimensionScore(name=one.name, score=95) for one in STANDARD_DIMENSIONS)
    card = ScoreCard(dimensions=scores, claimed_pass=True)
    texts = {
        ContractName.VERDICT: render(Answer(clean=True, follow_up="Fine.")),
        ContractName.REPORT: write_json(
            report_fields(card, (), gate, ticket_id="t", reviewed_at="now", revision_count=0)
        ),
        ContractName.ISSUES: json.dumps(
            {"issues": [], "former": None, "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}
        ),
    }
    for contract, text in texts.items():
        validate(json.loads(text), known_schema(contract))
        assert read_answer(contract, text.encode()).clean
    record = json.loads(render_issues("critic", Answer(clean=True), "now", []))
    assert record["issues"] == []


def test_the_schema_of_a_report_names_the_dimensions_of_the_protocol() -> None:
    found = schema(ContractName.REPORT, (Dimension(name="speed", weight=Weight.CRITICAL),))
    assert found is not None
    assert found["properties"]["dimension_scores"]["required"] == ["speed"]
