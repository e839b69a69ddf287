"""The JSON of `burnish parse`, documented in docs/parse.md: every key always there, unless it says otherwise."""

from typing import Any

import msgspec

from burnish.contracts.finding_json import finding_object
from burnish.contracts.text import UnreadableError
from burnish.core.findings import count
from burnish.core.gates import Judgement
from burnish.core.reviews import ContractName, ScoreCard
from burnish.usecases.parse import ParsedAnswer

VERSION = 1


def parsed_view(parsed: ParsedAnswer) -> dict[str, Any]:
    """A readable answer."""
    answer = parsed.answer
    view: dict[str, Any] = {
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


def unreadable_view(contract: ContractName, error: UnreadableError) -> dict[str, Any]:
    """An answer that is no review."""
    return {
        "version": VERSION,
        "contract": contract.value,
        "status": "did-not-run",
        "clean": False,
        "error": {"kind": error.kind.value, "message": error.message, "hint": error.hint},
    }


def _card_view(card: ScoreCard) -> dict[str, Any]:
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


def _judgement_view(judgement: Judgement) -> dict[str, Any]:
    return {
        "clean": judgement.clean,
        "blocking": len(judgement.blocking),
        "reasons": list(judgement.reasons),
    }
