"""What agents are told: the state of the run and the frozen inputs, as the material of prompts."""

from burnish.config.globs import ignored, matches, rules_for
from burnish.contracts.streams import words_of_tool_calls
from burnish.core.effects import StartBuild, StartFix, StartReview
from burnish.core.events import ValidationStatus
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.reviews import Answer, ContractName
from burnish.core.state import GoodReview, Run
from burnish.core.values import replace
from burnish.prompts.context import (
    BuildMaterial,
    Criterion,
    FixMaterial,
    ReviewMaterial,
    TestStatus,
    Ticket,
    builder_prompt,
    fixer_prompt,
    reviewer_prompt,
    session_prompt,
)
from burnish.prompts.diffs import files_shown_whole
from burnish.runtime.performing.stories import status_files
from burnish.runtime.performing.workshop import Workshop, agent_settings
from burnish.workspace.diffs import Difference, difference

_TEST_STATUS = {
    ValidationStatus.PASSED: TestStatus.PASSING,
    ValidationStatus.FAILED: TestStatus.FAILING,
    ValidationStatus.SKIPPED: TestStatus.SKIPPED,
}


def review_prompt(shop: Workshop, effect: StartReview, run: Run, shown: Difference, *, scratch: str = "") -> str:
    """The prompt of one reviewer."""
    material = _review_material(shop, effect, run, shown, scratch)
    return reviewer_prompt(run.protocol, material, shop.inputs.prompts.get("reviewer"))


def writing_prompt(shop: Workshop, effect: StartFix | StartBuild | StartReview, run: Run, rejection: str = "") -> str:
    """The prompt of an agent that may change the tree."""
    custom = shop.inputs.prompts
    match effect:
        case StartFix():
            return fixer_prompt(run.protocol, _fix_material(shop, effect, run, rejection), custom.get("fixer"))
        case StartBuild():
            return builder_prompt(_build_material(shop, run), custom.get("builder"))
        case StartReview():
            shown = difference(shop.repository, run.subject.base_commit, run.commit)
            material = _review_material(shop, effect, run, shown, "")
            return session_prompt(run.protocol, material, custom.get("reviewer"))


def _review_material(shop: Workshop, effect: StartReview, run: Run, shown: Difference, scratch: str) -> ReviewMaterial:
    settings = shop.inputs.settings
    paths = tuple(file.shown_path for file in shown.files)
    left_out = ignored(settings.review, paths)
    return ReviewMaterial(
        run=run.id,
        subject=run.subject,
        round=effect.round,
        reviewer=effect.reviewer,
        contract=agent_settings(shop, effect.agent).contract or run.protocol.contract,
        brief=shop.inputs.brief,
        acceptance=shop.inputs.acceptance,
        intent=shop.inputs.intent,
        guidance=tuple((page.name, page.text) for page in shop.inputs.guidance),
        rules=tuple((rule.path, rule.text) for rule in rules_for(settings.review, paths)),
        diff=_patch(shown, left_out),
        diff_limit=settings.context.diff_characters,
        files_modified=tuple(path for path in paths if path not in left_out),
        left_out=left_out,
        output_limit=settings.context.output_characters,
        test_status=_TEST_STATUS[run.validated.status] if run.validated else TestStatus.UNKNOWN,
        test_output=run.validated.output if run.validated else "",
        revision_count=run.revisions,
        attempt=effect.previous.attempt if effect.previous else 0,
        previous_feedback=effect.previous.feedback if effect.previous else "",
        former=effect.former,
        fix_diff=_fix_diff(shop, run) if effect.former else "",
        scratch=scratch,
        ticket=_ticket(shop, run) if run.protocol.contract is ContractName.REPORT else None,
        status_files=status_files(shop.repository, run.commit, run.subject),
    )


def _ticket(shop: Workshop, run: Run) -> Ticket:
    """What a ticket's reviewer is given beside the change."""
    criteria = tuple(Criterion(criterion=text) for text in shop.inputs.acceptance)
    name = run.subject.story or run.subject.branch
    return Ticket(ticket_id=name, ticket_path=shop.inputs.brief_path, acceptance_criteria=criteria)


def evidence_of(shop: Workshop, shown: Difference, agent: str, answer: Answer, stream: bytes) -> Evidence:
    """What a reviewer was given: each file whose diff its prompt shows whole. It could have opened the others.

    `stream` is what a client printed: a file counts as read, too, where a tool of the client opened it. An agent that
    examines certain files, or an answer that names those it is about, counts for these alone.
    """
    settings = agent_settings(shop, agent)
    globs = settings.examines
    opened = (
        words_of_tool_calls(stream.decode("utf-8", errors="replace")) if settings.kind.is_paid else frozenset[str]()
    )
    given = tuple(_opened(each, opened) for each in _given(shop, shown))
    if globs:
        return Evidence(examined=tuple(each for each in given if any(matches(each.path, glob) for glob in globs)))
    if answer.examined is not None:
        return Evidence(examined=tuple(each for each in given if each.path in answer.examined))
    return Evidence(examined=given)


def _opened(examined: Examined, words: frozenset[str]) -> Examined:
    """A file that a tool of the client was called with, by its path in the clone or from its root."""
    named = any(word == examined.path or word.endswith(f"/{examined.path}") for word in words)
    return replace(examined, level=Level.READ) if named else examined


def _given(shop: Workshop, shown: Difference) -> tuple[Examined, ...]:
    limit = shop.inputs.settings.context.diff_characters
    left_out = ignored(shop.inputs.settings.review, tuple(file.shown_path for file in shown.files))
    listed = [file for file in shown.files if file.shown_path not in left_out]
    whole = files_shown_whole(_patch(shown, left_out), limit)
    return tuple(
        Examined(
            path=file.shown_path,
            level=Level.READ if number < whole and not file.binary else Level.COULD_READ,
        )
        for number, file in enumerate(listed)
    )


def _patch(shown: Difference, left_out: tuple[str, ...]) -> str:
    """The diff without the files that the policy leaves out."""
    text = shown.patch.decode("utf-8", errors="replace")
    if not left_out:
        return text
    parts = text.split("\ndiff --git ")
    kept = [part for part in parts if not any(f" b/{path}\n" in f"{part}\n" for path in left_out)]
    return "\ndiff --git ".join(kept)


def _fix_diff(shop: Workshop, run: Run) -> str:
    """What changed since the tree that the last round saw."""
    if not run.rounds or run.rounds[-1].commit in ("", run.commit):
        return ""
    shown = difference(shop.repository, run.rounds[-1].commit, run.commit)
    return shown.patch.decode("utf-8", errors="replace")


def _fix_material(shop: Workshop, effect: StartFix, run: Run, rejection: str) -> FixMaterial:
    settings = shop.inputs.settings
    order = effect.order
    reviews = run.rounds[-1].reviews if run.rounds else ()
    cards = [review.answer.card for review in reviews if isinstance(review, GoodReview) and review.answer.card]
    return FixMaterial(
        run=run.id,
        subject=run.subject,
        round=order.round,
        order=order,
        brief=shop.inputs.brief,
        acceptance=shop.inputs.acceptance,
        intent=shop.inputs.intent,
        guidance=tuple((page.name, page.text) for page in shop.inputs.guidance),
        test_commands=tuple(command.text for command in settings.validate.commands.values()),
        coverage_floor=settings.validate.coverage_floor,
        validation_output=order.instructions if order.after_validation else "",
        hook_rejection=rejection,
        notes=tuple(order.notes.items()),
        card=cards[0] if cards else None,
        output_limit=settings.context.output_characters,
    )


def _build_material(shop: Workshop, run: Run) -> BuildMaterial:
    settings = shop.inputs.settings
    return BuildMaterial(
        run=run.id,
        subject=run.subject,
        brief=shop.inputs.brief,
        acceptance=shop.inputs.acceptance,
        intent=shop.inputs.intent,
        guidance=tuple((page.name, page.text) for page in shop.inputs.guidance),
        test_commands=tuple(command.text for command in settings.validate.commands.values()),
        coverage_floor=settings.validate.coverage_floor,
    )
