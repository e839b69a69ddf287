"""The prompts of those who change code: fixers and builders."""

from burnish.core.findings import required_changes
from burnish.core.gates import overall_score
from burnish.core.protocol import FixInput, Protocol, ScoreGate
from burnish.prompts.fences import Keep, nonce_for, visible
from burnish.prompts.material import BuildMaterial, FixMaterial, TestStatus
from burnish.prompts.rendering import fill
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


def fixer_prompt(protocol: Protocol, material: FixMaterial, custom: str | None = None, nonce: str | None = None) -> str:
    """What the fixer is sent. `custom` replaces the opening; rules, order and data stay."""
    fences = Fences(nonce or nonce_for(material))
    files = (f"Findings: {file}" for file in material.findings_files)
    return assembled(
        [
            opening("fixer", custom, material.phase),
            _rules(placed("fixer-rules", material), material.coverage_floor or protocol.fix.coverage),
            fill("data", nonce=fences.nonce),
            subject_part(material, fences, f"Round: {material.round}", *files),
            *task_parts(material, fences),
            fences.section("checks", "\n".join(material.test_commands)),
            *_order(protocol, material, fences),
            *_circumstances(material, fences),
            _answer(material, fences),
        ]
    )


def builder_prompt(material: BuildMaterial, custom: str | None = None, nonce: str | None = None) -> str:
    fences = Fences(nonce or nonce_for(material))
    return assembled(
        [
            opening("builder", custom),
            _rules(fill("builder-rules"), material.coverage_floor),
            fill("section-choice", task=visible(material.choice)) if material.choice else "",
            fill("data", nonce=fences.nonce),
            subject_part(material, fences),
            *task_parts(material, fences),
            fences.section("checks", "\n".join(material.test_commands)),
            fill("builder-answer"),
            fill("builder-criteria") if material.acceptance else "",
        ]
    )


def _rules(rules: str, coverage: float | None) -> str:
    """The rules, with the coverage that is to be kept where there is one."""
    return rules if coverage is None else f"{rules}\n{fill('fixer-coverage', floor=f'{coverage:g}')}"


def _order(protocol: Protocol, material: FixMaterial, fences: Fences) -> list[str]:
    """What is to be fixed, as the protocol hands it over."""
    order, limit = material.order, material.output_limit
    if order.after_validation:
        return [fill("fix-validation", text=fences.data("output", order.instructions or "(none)", limit, Keep.END))]
    must = fences.data("must", findings_text(order.must) or "(nothing)", limit)
    match protocol.fix.input:
        case FixInput.REVISION:
            return _revision(protocol, material, fences)
        case FixInput.FOLLOW_UP:
            asked = order.instructions or findings_text(order.must)
            text = fences.data("follow-up", asked, limit)
            return [fill("fix-follow-up", attempt=str(order.number), text=text)]
        case FixInput.BLOCKING_THEN_REST:
            may = fences.data("may", findings_text(order.may), limit)
            return [fill("fix-blocking-then-rest", must=must), fill("fix-rest", may=may) if order.may else ""]
        case FixInput.ALL:
            return [fill("fix-all", must=must)]
        case FixInput.BLOCKING | FixInput.NOTHING:
            return [fill("fix-blocking", must=must)]


def _revision(protocol: Protocol, material: FixMaterial, fences: Fences) -> list[str]:
    order, card, limit = material.order, material.card, material.output_limit
    gate = protocol.gate if isinstance(protocol.gate, ScoreGate) else ScoreGate()
    scores = "" if card is None else bullets([f"{one.name}: {one.score:g}" for one in card.dimensions])
    parts = [
        fill(
            "fix-revision",
            score="?" if card is None else f"{overall_score(gate, card):.4g}",
            blocking=fences.data("blocking issues", findings_text(order.must) or "(none)", limit),
            notes=fences.data("revision notes", order.instructions or required_changes(order.must) or "(none)", limit),
            scores=fences.data("scores", scores or "(none)", limit),
            attempts=fences.data("previous attempts", bullets(material.attempts) or "(none)", limit),
        )
    ]
    if order.may:
        parts.append(fill("fix-revision-rest", may=fences.data("other findings", findings_text(order.may), limit)))
    return parts


def _circumstances(material: FixMaterial, fences: Fences) -> list[str]:
    """What came in between: a person's notes, a failed check, a hook."""
    limit = material.output_limit
    notes = [f"{identity}: {text}" if identity else text for identity, text in material.notes if text.strip()]
    return [
        fences.section("notes", bullets(notes)),
        _last_checks(material, fences),
        fences.section("hook", material.hook_rejection, limit, Keep.END),
    ]


def _last_checks(material: FixMaterial, fences: Fences) -> str:
    """How the checks went on this tree; an order to repair what they found has their output already."""
    if material.order.after_validation or material.validation_status is TestStatus.UNKNOWN:
        return ""
    output = fences.data("validation", material.validation_output or "(none)", material.output_limit, Keep.END)
    return fill("section-validation", status=material.validation_status.value, text=output)


def _answer(material: FixMaterial, fences: Fences) -> str:
    ids = [finding.id for finding in (*material.order.must, *material.order.may) if finding.id]
    if not ids or material.order.after_validation:
        return fill("fixer-answer-plain", title=material.order.commit_title)
    return fill(
        "fixer-answer", round=str(material.round), ids=fences.data("ids", "\n".join(ids), material.output_limit)
    )
