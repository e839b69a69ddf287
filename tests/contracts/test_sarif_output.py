"""The `sarif` contract, written: valid, and read back as it was.

The log is checked against a description of the part of SARIF 2.1.0 that burnish writes: the properties that each
object may have and must have, their types, and the closed lists of words.
"""

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import validate

from burnish.contracts.registry import parse_answer
from burnish.contracts.sarif_record import render_sarif
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.reviews import Answer, ContractName

STRING = {"type": "string"}
LINE = {"type": "integer", "minimum": 1}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def many(items: dict[str, Any], *, unique: bool = False) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": unique}


MESSAGE = closed(["text"], text=STRING, markdown=STRING, id=STRING, arguments=many(STRING))
ARTIFACT = closed(
    ["uri"],
    uri={"type": "string", "pattern": r"^(?:[A-Za-z0-9/._~!$&'()*+,;=@-]|%[0-9A-F]{2})+$"},
    uriBaseId=STRING,
    index={"type": "integer", "minimum": -1},
)
PLACE = closed(
    ["physicalLocation"],
    physicalLocation=closed(
        ["artifactLocation"], artifactLocation=ARTIFACT, region=closed(["startLine"], startLine=LINE, endLine=LINE)
    ),
)
RESULT = closed(
    ["message"],
    ruleId=STRING,
    ruleIndex={"type": "integer", "minimum": -1},
    level={"enum": ["none", "note", "warning", "error"]},
    message=MESSAGE,
    locations=many(PLACE),
    partialFingerprints={"type": "object", "additionalProperties": STRING},
    properties={"type": "object"},
)
RULE = closed(["id"], id=STRING)
DRIVER = closed(["name"], name=STRING, version=STRING, rules=many(RULE, unique=True))
RUN = closed(["tool", "results"], tool=closed(["driver"], driver=DRIVER), results=many(RESULT))
LOG = closed(
    ["version", "runs"], **{"$schema": {"type": "string", "format": "uri"}}, version={"const": "2.1.0"}, runs=many(RUN)
)
FILES = {"src/app.py", "a b%20:c/ü.py"}


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Cn", "Z"]), max_size=20)
FINDINGS = st.builds(
    Finding,
    severity=st.sampled_from(Severity),
    title=TEXTS.filter(bool),
    problem=TEXTS.filter(bool),
    category=TEXTS,
    rule=st.sampled_from(["", "E1", "B2/3"]),
    impact=TEXTS,
    evidence=TEXTS,
    suggestion=TEXTS,
    confidence=st.none() | st.floats(0, 1),
    action=st.sampled_from(Action),
    location=st.none()
    | st.builds(Location, file=st.sampled_from(["src/app.py", "a b%20:c/ü.py"]), line=st.integers(1, 99)),
    id=st.sampled_from(["", "f1"]),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(FINDINGS, max_size=4))
def test_a_rendered_log_is_valid_and_reads_the_same(findings: list[Finding]) -> None:
    text = render_sarif(findings, "1.2.3")
    validate(json.loads(text), LOG)
    expected = tuple(msgspec.structs.replace(finding, id="") for finding in findings)
    named = tuple(dict.fromkeys(finding.location.file for finding in findings if finding.location is not None))
    assert parse_answer(ContractName.SARIF, text.encode(), FILES.__contains__) == Answer(
        clean=not findings, findings=expected, examined=named
    )


def test_the_identity_of_a_finding_is_its_fingerprint() -> None:
    finding = Finding(severity=Severity.CRITICAL, title="T", id="abc", category="Two words")
    (result,) = json.loads(render_sarif([finding], "1"))["runs"][0]["results"]
    assert result["partialFingerprints"] == {"burnish/v1": "abc"}
    assert result["properties"]["security-severity"] == "9.5"
    assert (result["level"], result["ruleId"]) == ("error", "burnish/two-words")
