"""The prompts of those who look: reviewers of a panel, and sessions that review and fix."""

import msgspec

from burnish.core.protocol import STANDARD_DIMENSIONS, Dimension, Feedback, Protocol, ReviewMode, ScoreGate
from burnish.core.reviews import ContractName
from burnish.core.values import replace
from burnish.prompts.fences import Keep, nonce_for, shortened_diff, visible
from burnish.prompts.material import Criterion, ReviewMaterial, TicketMaterial, TicketReviewContext
from burnish.prompts.rendering import fill, has_template
from burnish.prompts.sections import (
    Fences,
    assembled,
    bullets,
    findings_text,
    opening,
    placed,
    subject_part,
    task_parts,
)

_OPENINGS = {ContractName.VERDICT: "reviewer-verdict", ContractName.REPORT: "reviewer-code-review"}
"""For reviewers whose own name says nothing."""
_BESIDE_CHECKS = {
    "bugs-reviewer": "critic",
    "style-reviewer": "pedant",
    "tests-reviewer": "witness",
    "errors-reviewer": "silent-failure-hunter",
}
"""Reviewers beside a check have the same concern as a reviewer of the panel."""


def reviewer_prompt(
    protocol: Protocol, material: ReviewMaterial, custom: str | None = None, nonce: str | None = None
) -> str:
    """What one reviewer of a panel is sent. `custom` replaces the opening; rules, data and contract stay."""
    fences = Fences(nonce or nonce_for(material))
    return assembled(
        [
            opening(_opening_name(material), custom, material.phase),
            placed("reviewer-rules", material),
            _severities(protocol, material),
            fill("data", nonce=fences.nonce),
            subject_part(material, fences, f"Round: {material.round}", f"Reviewer: {material.reviewer}"),
            *_context(protocol, material, fences),
            *_history(protocol, material, fences),
            *_contract(protocol, material),
        ]
    )


def session_prompt(
    protocol: Protocol, material: ReviewMaterial, custom: str | None = None, nonce: str | None = None
) -> str:
    """What a session is sent that reviews a change and fixes it in one go."""
    fences = Fences(nonce or nonce_for(material))
    return assembled(
        [
            opening("session", custom),
            fill("session-rules"),
            fill("severity-session"),
            fill("data", nonce=fences.nonce),
            subject_part(
                material,
                fences,
                f"Cycle: {material.round}",
                *(f"Status file: {file}" for file in material.status_files),
            ),
            *_context(protocol, material, fences),
            fill("contract-session"),
        ]
    )


def ticket_context(protocol: Protocol, material: ReviewMaterial) -> TicketReviewContext:
    """What is known of a ticket, under the names that other tools use."""
    subject = material.subject
    ticket = material.ticket or TicketMaterial(ticket_id=subject.story or subject.branch)
    told = protocol.review.feedback is Feedback.PREVIOUS and bool(material.previous_feedback)
    criteria = ticket.acceptance_criteria or tuple(Criterion(criterion=text) for text in material.acceptance)
    return TicketReviewContext(
        ticket_id=visible(ticket.ticket_id),
        ticket_path=visible(ticket.ticket_path),
        epic_path=visible(ticket.epic_path),
        ticket_branch=visible(subject.branch),
        base_commit=subject.base_commit,
        final_commit=subject.head,
        files_modified=tuple(visible(file) for file in material.files_modified),
        test_suite_status=material.test_status,
        acceptance_criteria=tuple(replace(one, criterion=visible(one.criterion)) for one in criteria),
        revision_count=material.revision_count,
        previous_review_feedback=visible(material.previous_feedback) if told else None,
    )


def _opening_name(material: ReviewMaterial) -> str:
    own = f"reviewer-{_BESIDE_CHECKS.get(material.reviewer, material.reviewer)}"
    is_kept = material.reviewer in ("rules", "verdict")  # texts of these names are for something else
    return own if has_template(own) and not is_kept else _OPENINGS.get(material.contract, "reviewer")


def _context(protocol: Protocol, material: ReviewMaterial, fences: Fences) -> list[str]:
    """The task, the change and its checks."""
    diff = shortened_diff(visible(material.diff), material.diff_limit)
    rules = "\n\n".join(f"{path}:\n{text.strip()}" for path, text in material.rules)
    output = fences.data("output", material.test_output or "(none)", material.output_limit, Keep.END)
    return [
        *task_parts(material, fences),
        fences.section("rules", rules),
        _ticket(protocol, material, fences),
        fences.section("files", bullets(material.files_modified)),
        fences.section("left-out", bullets(material.left_out)),
        fill("section-parallel") if material.parallel_agents else "",
        placed("section-diff", material, text=fences.data("diff", diff, limit=len(diff))) if diff.strip() else "",
        _implementer(protocol, material, fences),
        fill("section-tests", status=material.test_status.value, text=output),
        fences.section("scratch", material.scratch),
    ]


def _ticket(protocol: Protocol, material: ReviewMaterial, fences: Fences) -> str:
    if material.contract is not ContractName.REPORT and material.ticket is None:
        return ""
    raw = msgspec.json.encode(ticket_context(protocol, material))
    return fences.section("ticket", msgspec.json.format(raw, indent=2).decode())


def _implementer(protocol: Protocol, material: ReviewMaterial, fences: Fences) -> str:
    """Only a reviewer that compares work with its task hears its author; all others judge the code alone."""
    if protocol.review.feedback is not Feedback.FOLLOW_UP:
        return ""
    return fences.section("implementer", material.implementer_output, material.output_limit, Keep.END)


def _history(protocol: Protocol, material: ReviewMaterial, fences: Fences) -> list[str]:
    """What the protocol lets a reviewer know of earlier rounds."""
    parts: list[str] = []
    if material.previous_feedback.strip():
        feedback = fences.data("previous", material.previous_feedback, material.output_limit)
        if protocol.review.feedback is Feedback.PREVIOUS:
            parts.append(fill("section-previous", count=str(material.revision_count), text=feedback))
        elif protocol.review.feedback is Feedback.FOLLOW_UP:
            parts.append(fill("section-follow-up", attempt=str(material.attempt), text=feedback))
    if protocol.review.mode is ReviewMode.RATCHET and material.former:
        # Only this contract has a place for answers about earlier findings.
        name = "former" if material.contract is ContractName.ISSUES else "former-again"
        parts.append(fences.section(name, findings_text(material.former), material.output_limit))
        diff = shortened_diff(visible(material.fix_diff), material.diff_limit)
        parts.append(fill("section-fix-diff", text=fences.data("fix", diff, len(diff))) if diff.strip() else "")
    parts.append(fences.section("fix-answers", _answers(material), material.output_limit))
    return parts


def _answers(material: ReviewMaterial) -> str:
    """The fixer's word on each finding, one line each."""
    titles = material.titles
    lines = [
        f"{one.finding} ({titles.get(one.finding, '')}): {one.verdict.words} - {one.text}" for one in material.answers
    ]
    return bullets([line.removesuffix(" - ") for line in lines])


def _dimensions(protocol: Protocol) -> tuple[Dimension, ...]:
    return protocol.gate.dimensions if isinstance(protocol.gate, ScoreGate) else STANDARD_DIMENSIONS


def _severities(protocol: Protocol, material: ReviewMaterial) -> str:
    if material.contract is not ContractName.REPORT:
        return fill(f"severity-{material.contract.value}")
    gate = protocol.gate if isinstance(protocol.gate, ScoreGate) else ScoreGate()
    minimum = gate.minimum.items()
    criteria = [f"every {weight.value} dimension reaches {score:g}" for weight, score in minimum if score > 0]
    criteria.append(f"the weighted mean reaches {gate.overall:g}")
    lines = [_dimension(dimension) for dimension in _dimensions(protocol)]
    return fill("severity-report", dimensions="\n".join(lines), criteria=", ".join(criteria))


def _dimension(dimension: Dimension) -> str:
    text = f"dimension-{dimension.name}"
    meaning = f" {fill(text)}" if has_template(text) else ""
    return f"- `{dimension.name}` ({dimension.weight.value}).{meaning}"


def _contract(protocol: Protocol, material: ReviewMaterial) -> list[str]:
    """The form of the answer comes last, so that a long change does not bury it."""
    name = f"contract-{material.contract.value}"
    match material.contract:
        case ContractName.FINDINGS:
            return [fill(name, round=str(material.round))]
        case ContractName.ISSUES if protocol.review.mode is ReviewMode.RATCHET and material.former:
            return [fill(name, former=fill("contract-issues-former")), fill("contract-issues-former-rule")]
        case ContractName.ISSUES:
            return [fill(name, former="null")]
        case ContractName.REPORT:
            return [_report_contract(protocol, material)]
        case _:
            return [fill(name)]


def _report_contract(protocol: Protocol, material: ReviewMaterial) -> str:
    dimensions = _dimensions(protocol)
    lines = [f'    "{one.name}": {{"score": 60, "weight": "{one.weight.value}"}}' for one in dimensions]
    return fill(
        "contract-report",
        revision_count=str(material.revision_count),
        dimensions=",\n".join(lines),
        first_dimension=dimensions[0].name,
    )
