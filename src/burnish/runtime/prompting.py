"""What agents are told: the state of the run and the frozen context, as the material of prompts."""

import re
from typing import Protocol, TypedDict

from burnish.agents.answers import round_of
from burnish.agents.streams import words_of_tool_calls
from burnish.core.effects import Previous, StartBuild, StartFix, StartReview
from burnish.core.events import Subject, ValidationStatus
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.findings import required_changes
from burnish.core.gates import overall_score
from burnish.core.protocol import Feedback, ScoreGate
from burnish.core.reviews import Answer, ContractName
from burnish.core.state import AnsweredReview, FixOrder, Run, scored_reviews
from burnish.core.values import replace
from burnish.prompts.fences import files_shown_whole
from burnish.prompts.fixing import builder_prompt, fixer_prompt
from burnish.prompts.material import BuildMaterial, Criterion, FixMaterial, ReviewMaterial, TestStatus, TicketMaterial
from burnish.prompts.reviewing import reviewer_prompt, session_prompt
from burnish.records.interface import RecordFile, RecordTexts
from burnish.records.panel import FIX_PHASE, REVIEW_PHASE, STATE_PATH
from burnish.records.registry import record_files
from burnish.runtime.context import RunContext
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.globs import ignored, matches, rules_for
from burnish.settings.types import AgentSettings, Settings
from burnish.workspace.diffs import Difference, difference
from burnish.workspace.messages import commit_messages
from burnish.workspace.repository import Repository

_TEST_STATUS = {
    ValidationStatus.PASSED: TestStatus.PASSING,
    ValidationStatus.FAILED: TestStatus.FAILING,
    ValidationStatus.SKIPPED: TestStatus.SKIPPED,
}
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)
_CLAIM = re.compile(r"^\W*(?P<number>\d{1,4})\W+(?P<word>not met|met)\b", re.IGNORECASE | re.MULTILINE)
"""What a builder says of an acceptance criterion, in the form of `builder-criteria.md`."""


class Sources(Protocol):
    """What prompts are made from."""

    @property
    def repository(self) -> Repository: ...

    @property
    def context(self) -> RunContext: ...

    @property
    def settings(self) -> Settings: ...

    def agent(self, name: str) -> AgentSettings: ...

    def recall(self, digest: str) -> str:
        """A text that was kept; empty where it is there no more."""
        ...


def review_prompt(services: Sources, effect: StartReview, run: Run, shown: Difference, *, scratch: str = "") -> str:
    material = _review_material(services, effect, run, shown, scratch)
    return reviewer_prompt(run.protocol, material, services.context.prompts.get("reviewer"))


def writing_prompt(
    services: Sources, effect: StartFix | StartBuild | StartReview, run: Run, rejection: str = ""
) -> str:
    """The prompt of an agent that may change the tree."""
    custom = services.context.prompts
    match effect:
        case StartFix():
            return fixer_prompt(run.protocol, _fix_material(services, effect, run, rejection), custom.get("fixer"))
        case StartBuild():
            return builder_prompt(_build_material(services, run), custom.get("builder"))
        case StartReview():
            shown = difference(services.repository, run.subject.base_commit, run.commit, run.subject.paths)
            material = _review_material(services, effect, run, shown, "")
            return session_prompt(run.protocol, material, custom.get("reviewer"))


def _review_material(
    services: Sources, effect: StartReview, run: Run, shown: Difference, scratch: str
) -> ReviewMaterial:
    settings = services.settings
    paths = tuple(file.shown_path for file in shown.files)
    left_out = ignored(settings.review, paths)
    test_status, test_output = _tests(run)
    previous = effect.previous or Previous(attempt=0, feedback="")
    return ReviewMaterial(
        **_task(services, run, REVIEW_PHASE),
        round=effect.round,
        reviewer=effect.reviewer,
        contract=services.agent(effect.agent).contract or run.protocol.contract,
        rules=tuple((rule.path, rule.text) for rule in rules_for(settings.review, paths)),
        diff=_patch(shown, left_out),
        diff_limit=settings.context.diff_characters,
        files_modified=tuple(path for path in paths if path not in left_out),
        left_out=left_out,
        implementer_output=_implementer(services, run) if run.protocol.review.feedback is Feedback.FOLLOW_UP else "",
        parallel_agents=run.started.parallel_agents,
        output_limit=settings.context.output_characters,
        test_status=test_status,
        test_output=test_output,
        revision_count=run.revisions,
        attempt=previous.attempt,
        previous_feedback=previous.feedback,
        former=effect.former,
        answers=effect.answers,
        titles={entry.finding.id: entry.finding.title for entry in run.findings},
        fix_diff=_fix_diff(services, run) if effect.former else "",
        scratch=scratch,
        ticket=_ticket(services, run) if run.protocol.contract is ContractName.REPORT else None,
        status_files=(run.subject.status_file,) if run.subject.status_file else (),
    )


def _ticket(services: Sources, run: Run) -> TicketMaterial:
    """What a ticket's reviewer is given beside the change."""
    context = services.context
    claimed = _claims(services, run)
    return TicketMaterial(
        ticket_id=run.subject.story or run.subject.branch,
        ticket_path=context.brief_file or context.brief_path,
        epic_path=context.epic_path,
        acceptance_criteria=tuple(
            Criterion(criterion=text, met=claimed.get(number, context.ticked.get(text)))
            for number, text in enumerate(context.acceptance, start=1)
        ),
    )


def incomplete_criteria(services: Sources, run: Run) -> tuple[str, ...]:
    """The acceptance criteria, with their numbers, that the change is said not to meet.

    Boxes of which none is ticked say nothing: most tickets are left so.
    """
    context = services.context
    said = context.ticked if any(context.ticked.values()) else {}
    claimed = _claims(services, run)
    criteria = enumerate(context.acceptance, start=1)
    return tuple(f"{number}: {text}" for number, text in criteria if claimed.get(number, said.get(text)) is False)


def _claims(services: Sources, run: Run) -> dict[int, bool]:
    """Which acceptance criteria the builder and the fixers say are met, by number; the last word counts."""
    answers = (services.recall(digest) for digest in run.said)
    found = (claim for answer in answers for claim in _CLAIM.finditer(answer))
    return {int(claim["number"]): claim["word"].lower() == "met" for claim in found}


def _implementer(services: Sources, run: Run) -> str:
    """The last answer of a builder or fixer; before the first one, what the author of the change committed it with."""
    if run.said:
        return services.recall(run.said[-1])
    return "\n\n".join(commit_messages(services.repository, run.subject.base_commit, run.commit))


def _tests(run: Run) -> tuple[TestStatus, str]:
    """What the project's own commands said last."""
    last = run.validated
    return (TestStatus.UNKNOWN, "") if last is None else (_TEST_STATUS[last.status], last.output)


class _Task(TypedDict):
    """What every agent is told of its task."""

    run: str
    subject: Subject
    phase: str
    brief: str
    brief_path: str
    intent: str
    acceptance: tuple[str, ...]
    coordination: str
    guidance: tuple[tuple[str, str], ...]
    parallel: int
    beside: tuple[str, ...]
    in_place: bool


def _task(services: Sources, run: Run, phase: str = "") -> _Task:
    context = services.context
    return _Task(
        run=run.id,
        # The commit that is before the agent now, not the one that the run began with.
        subject=replace(run.subject, head=run.commit, tree=run.tree),
        phase=phase if any(file.path == STATE_PATH for file in record_files(run, RecordTexts())) else "",
        brief=context.brief,
        brief_path=context.brief_file,
        intent=context.intent,
        acceptance=context.acceptance,
        coordination=context.coordination,
        guidance=tuple((page.name, page.text) for page in context.guidance),
        parallel=context.picking.parallel if context.picking else 1,
        beside=context.picking.beside if context.picking else (),
        in_place=bool(run.started.session),
    )


def evidence_of(
    services: Sources, shown: Difference, agent: str, answer: Answer, stream: bytes, *, was_given: bool = True
) -> Evidence:
    """What a reviewer was given: each file whose diff its prompt shows whole. It could have opened the others.

    `stream` is what a client printed: a file counts as read, too, where a tool of the client opened it. An agent that
    examines certain files, or an answer that names those it is about, counts for these alone. Where nothing shows that
    it `was_given` its prompt, only what it opened counts.
    """
    settings = services.agent(agent)
    globs = settings.examines
    has_stream = settings.kind.is_paid or settings.kind is AgentKind.SESSION
    opened = words_of_tool_calls(stream.decode("utf-8", errors="replace")) if has_stream else frozenset[str]()
    given = tuple(_opened(each, opened) for each in _given(services, shown, was_given=was_given))
    if globs:
        return Evidence(examined=tuple(each for each in given if any(matches(each.path, glob) for glob in globs)))
    if answer.examined is not None:
        return Evidence(examined=tuple(each for each in given if each.path in answer.examined))
    return Evidence(examined=given)


def _opened(examined: Examined, words: frozenset[str]) -> Examined:
    """A file that a tool of the client was called with, by its path in the clone or from its root."""
    named = any(word == examined.path or word.endswith(f"/{examined.path}") for word in words)
    return replace(examined, level=Level.READ) if named else examined


def _given(services: Sources, shown: Difference, *, was_given: bool) -> tuple[Examined, ...]:
    limit = services.settings.context.diff_characters
    left_out = ignored(services.settings.review, tuple(file.shown_path for file in shown.files))
    listed = [file for file in shown.files if file.shown_path not in left_out]
    whole = files_shown_whole(_patch(shown, left_out), limit) if was_given else 0
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
    kept = [
        part
        for part in _FILE.split(text)
        if not any(part.partition("\n")[0].endswith(f" b/{path}") for path in left_out)
    ]
    return "".join(kept)


def _fix_diff(services: Sources, run: Run) -> str:
    # The round that is under way is open already, on the tree as it is now.
    earlier = [past.commit for past in run.rounds if past.judgement is not None and past.commit]
    if not earlier or earlier[-1] == run.commit:
        return ""
    shown = difference(services.repository, earlier[-1], run.commit)
    return shown.patch.decode("utf-8", errors="replace")


def _fix_material(services: Sources, effect: StartFix, run: Run, rejection: str) -> FixMaterial:
    settings = services.settings
    order = effect.order
    reviews = run.rounds[-1].reviews if run.rounds else ()
    test_status, test_output = _tests(run)
    cards = [review.answer.card for review in reviews if isinstance(review, AnsweredReview) and review.answer.card]
    return FixMaterial(
        **_task(services, run, FIX_PHASE),
        round=round_of(effect, run),
        order=order,
        findings_files=tuple(file.path for file in findings_files(run, order)),
        attempts=_attempts(run),
        test_commands=tuple(command.text for command in settings.validate.commands.values()),
        coverage_floor=settings.validate.coverage_floor,
        validation_status=test_status,
        validation_output=test_output,
        hook_rejection=rejection,
        notes=tuple(order.notes.items()),
        card=cards[0] if cards else None,
        output_limit=settings.context.output_characters,
    )


def findings_files(run: Run, order: FixOrder) -> tuple[RecordFile, ...]:
    """The records that list the findings of an order, for those whose protocol has them."""
    if order.after_validation:
        return ()
    texts = RecordTexts(reviewed={order.round: tuple(file.path for file in run.changed)})
    return tuple(file for file in record_files(run, texts) if file.findings_of == order.round)


def _attempts(run: Run) -> tuple[str, ...]:
    """The reviews of a ticket so far, as its `review_history` counts them, and what was done after each."""
    gate = run.protocol.gate
    if not isinstance(gate, ScoreGate):
        return ()
    lines: list[str] = []
    for review in scored_reviews(run):
        past = run.rounds[review.attempt]
        blocking = () if past.judgement is None else past.judgement.blocking
        asked = review.card.revision_notes or required_changes(blocking)
        done = f" Then: {past.fix.summary}" if past.fix is not None and past.fix.summary else ""
        verdict = "PASS" if past.judgement is not None and past.judgement.clean else "FAIL"
        score = f"{overall_score(gate, review.card):.4g}/100"
        lines.append(f"Attempt {review.attempt}: {verdict}, {score}. Asked for: {asked}{done}")
    return tuple(lines)


def _build_material(services: Sources, run: Run) -> BuildMaterial:
    settings = services.settings
    return BuildMaterial(
        **_task(services, run),
        choice=services.context.picking.task if services.context.picking else "",
        test_commands=tuple(command.text for command in settings.validate.commands.values()),
        coverage_floor=settings.validate.coverage_floor,
    )
