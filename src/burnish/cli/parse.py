"""`burnish parse`: an answer in, one JSON object out, documented in docs/parse.md."""

import sys
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

import click
import msgspec

from burnish.contracts.finding_json import CountsObject, FindingObject, finding_object
from burnish.contracts.text import UnreadableError
from burnish.core.errors import ErrorKind
from burnish.core.findings import count
from burnish.core.gates import Judgement
from burnish.core.reviews import ContractName, FormerAnswer, ScoreCard, Weight
from burnish.report.output import print_error, print_json
from burnish.system.input import STANDARD_INPUT
from burnish.usecases.parse_answer import ParsedAnswer, parse_file, plan_parse

_HELP = """Parse a reviewer's answer and print it as JSON.

The answer comes from FILE, or from standard input if FILE is '-' or missing. Nothing is clean by default: an answer
that cannot be parsed as a review is an error.

Exit codes: 0 clean, 1 findings, 2 usage, 4 unreadable. With --protocol, the protocol's gate decides between 0 and 1."""

VERSION = 1


class DimensionObject(TypedDict):
    name: str
    score: float
    weight: Annotated[str | None, Weight]


class CardObject(TypedDict):
    dimensions: list[DimensionObject]
    blocking_issues: int
    revision_notes: str
    claimed_pass: bool
    """What the report itself concluded."""
    claimed_overall: float | None


class FormerObject(TypedDict):
    id: str
    answer: Annotated[str, FormerAnswer]
    evidence: str


class GateObject(TypedDict):
    clean: bool
    blocking: int
    reasons: list[str]


class ErrorObject(TypedDict):
    kind: Annotated[str, ErrorKind]
    message: str
    hint: str


class ParsedObject(TypedDict):
    """What `burnish parse` prints."""

    version: int
    contract: Annotated[str, ContractName]
    status: str
    """`clean`, `findings` or `did-not-run`."""
    clean: bool
    """True only if the status is `clean`."""
    counts: NotRequired[CountsObject]
    findings: NotRequired[list[FindingObject]]
    corrections: NotRequired[list[str]]
    """Where the text contradicted itself, and burnish chose the worse reading."""
    card: NotRequired[CardObject]
    """The scores of a `report`."""
    follow_up: NotRequired[str]
    """What a `verdict` asks the fixer to do."""
    former: NotRequired[list[FormerObject]]
    """What the answer says of earlier findings."""
    judgement: NotRequired[GateObject]
    """With `--protocol`."""
    error: NotRequired[ErrorObject]
    """Only if the answer is unreadable; then the fields from `counts` on are absent."""


@click.command("parse", help=_HELP)
@click.option(
    "--contract",
    type=click.Choice([name.value for name in ContractName]),
    help="The format of the answer. Required unless --protocol is given.",
)
@click.option("--protocol", metavar="NAME|FILE", help="Judge the answer by this protocol's gate.")
@click.argument("file", default=STANDARD_INPUT)
def parse(contract: str | None, protocol: str | None, file: str) -> int:
    task = plan_parse(None if contract is None else ContractName(contract), protocol)
    if file == STANDARD_INPUT and sys.stdin.isatty():
        print_error("Reading the answer from the terminal. End it with Ctrl-D.")
    try:
        parsed = parse_file(task, file, Path.cwd())
    except UnreadableError as error:
        print_json(_unreadable_view(task.contract, error))
        raise
    print_json(_parsed_view(parsed))
    return 0 if parsed.passes else 1


def _parsed_view(parsed: ParsedAnswer) -> ParsedObject:
    answer = parsed.answer
    view: ParsedObject = {
        "version": VERSION,
        "contract": parsed.contract.value,
        "status": "clean" if answer.clean else "findings",
        "clean": answer.clean,
        "counts": msgspec.to_builtins(count(answer.findings)),
        "findings": [finding_object(finding) for finding in answer.findings],
        "corrections": list(answer.corrections),
    }
    if answer.card is not None:
        view["card"] = _card_view(answer.card)
    if answer.follow_up:
        view["follow_up"] = answer.follow_up
    if answer.former:
        view["former"] = [
            {"id": former.id, "answer": former.answer.value, "evidence": former.evidence} for former in answer.former
        ]
    if parsed.judgement is not None:
        view["judgement"] = _judgement_view(parsed.judgement)
    return view


def _unreadable_view(contract: ContractName, error: UnreadableError) -> ParsedObject:
    return {
        "version": VERSION,
        "contract": contract.value,
        "status": "did-not-run",
        "clean": False,
        "error": {"kind": error.kind.value, "message": error.message, "hint": error.hint},
    }


def _card_view(card: ScoreCard) -> CardObject:
    return {
        "dimensions": [
            {"name": scored.name, "score": scored.score, "weight": scored.weight.value if scored.weight else None}
            for scored in card.dimensions
        ],
        "blocking_issues": card.blocking_issues,
        "revision_notes": card.revision_notes,
        "claimed_pass": card.claimed_pass,
        "claimed_overall": card.claimed_overall,
    }


def _judgement_view(judgement: Judgement) -> GateObject:
    return {
        "clean": judgement.clean,
        "blocking": len(judgement.blocking),
        "reasons": list(judgement.reasons),
    }
