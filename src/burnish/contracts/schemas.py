"""The forms in which models are asked to answer, as types, and the JSON Schemas that are made of them.

A schema asks for more than a parser needs: every key, and no other. Parsers do not use these types, as they read
leniently what models make of the form.
"""

from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from burnish.core.protocol import STANDARD_DIMENSIONS, Dimension
from burnish.core.reviews import ContractName
from burnish.core.values import Value


class _Issue(Value):
    severity: Literal["critical", "warning", "info"]
    category: str
    file: Annotated[str | None, "Path relative to the root of the repository."]
    line: int | None
    end_line: int | None
    description: Annotated[str, "What is wrong."]
    impact: Annotated[str | None, "What it leads to."]
    evidence: Annotated[str, "The code or the output that shows it."]
    suggestion: Annotated[str, "How to put it right."]
    confidence: Annotated[float | None, "From 0 to 1."]
    action: Annotated[Literal["fix", "ask", "note", None], "Fix it, ask a person, or only note it."]


class _FormerFinding(Value):
    id: str
    answer: Literal["fixed", "not-fixed", "withdrawn"]
    evidence: str


class _Summary(Value):
    critical: int
    warning: int
    info: int
    verdict: Literal["clean", "issues_found"]


class _Issues(Value):
    issues: Annotated[tuple[_Issue, ...], "Every problem found; empty when there is none."]
    former: Annotated[
        tuple[_FormerFinding, ...] | None,
        "One answer for each finding of an earlier round that was given.",
    ]
    summary: _Summary


class _DimensionScore(Value):
    score: Annotated[float, "From 0 to 100."]
    weight: Literal["critical", "important", "moderate"]


class _ReportFinding(Value):
    dimension: str
    severity: Literal["error", "warning", "info"]
    file: str | None
    line: int | None
    message: str
    suggestion: str


class _BlockingIssue(Value):
    dimension: str
    message: str
    required_action: str


class _PassCriteria(Value):
    all_critical_dimensions_pass: bool
    no_blocking_issues: bool
    overall_score_above_threshold: bool


class _Report(Value):
    ticket_id: str
    reviewed_at: Annotated[str, "ISO 8601."]
    reviewer: str
    status: Literal["pass", "fail"]
    overall_score: Annotated[int, "From 0 to 100; the weighted mean of the dimensions."]
    revision_count: int
    dimension_scores: dict[str, _DimensionScore]
    findings: tuple[_ReportFinding, ...]
    blocking_issues: tuple[_BlockingIssue, ...]
    revision_notes: Annotated[str | None, "What must change; required on fail."]
    approved: bool
    pass_criteria_met: _PassCriteria


class _Verdict(Value):
    verdict: Literal["pass", "drift"]
    followUpPrompt: Annotated[  # noqa: N815 - the format's own name
        str, "On pass a brief summary; on drift exact instructions for the fix."
    ]


_FORMS = {ContractName.ISSUES: _Issues, ContractName.REPORT: _Report, ContractName.VERDICT: _Verdict}
_NAMES: Mapping[object, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def schema(contract: ContractName, dimensions: tuple[Dimension, ...] = STANDARD_DIMENSIONS) -> dict[str, Any] | None:
    """The JSON Schema that constrains a client's answer, for the contracts that models are asked to answer in.

    The dimensions are those of a `report`.
    """
    if contract not in _FORMS:
        return None
    found = _schema(_FORMS[contract], [dimension.name for dimension in dimensions])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": contract.value, **found}


def _schema(kind: Any, dimensions: Sequence[str]) -> dict[str, Any]:
    """Not by msgspec: it sorts the words of a choice, and models are to see them in the order of the type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**_schema(arguments[0], dimensions), "description": arguments[1]}
    if origin is Literal:
        return {"type": ["string", "null"] if None in arguments else "string", "enum": list(arguments)}
    if origin is UnionType:
        found = _schema(arguments[0], dimensions)
        return {**found, "type": [found["type"], "null"]}
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0], dimensions)}
    if origin is dict:  # the scores, by the dimensions of the protocol
        properties = {name: _schema(arguments[1], dimensions) for name in dimensions}
    elif kind in _NAMES:
        return {"type": _NAMES[kind]}
    else:
        fields = get_type_hints(kind, include_extras=True)
        properties = {name: _schema(field, dimensions) for name, field in fields.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
