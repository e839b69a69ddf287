"""The agents that change the tree: fixer, builder, and a session that reviews and fixes. burnish itself commits."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from burnish.agents.interface import Reply, Request, Role
from burnish.contracts.fix_answers import LONGEST_TEXT, read_fix_answers
from burnish.core.effects import StartBuild, StartFix, StartReview
from burnish.core.events import AnyEvent, Built, Change, FixAnswer, Fixed, SessionFinished, StoryStatus, WorkFailed
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.gates import blocks
from burnish.core.reviews import Answer, Failure, FailureKind, Usage
from burnish.core.state import Run
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.records.interface import RecordFile
from burnish.records.registry import NO_WORK_OF_FIXERS
from burnish.runtime.census import changed_files
from burnish.runtime.performing import material
from burnish.runtime.performing.asking import Asked, ask, ask_readably
from burnish.runtime.performing.autofixing import mend
from burnish.runtime.performing.bench import Bench
from burnish.runtime.performing.hooks import TRIES, Rejected, run_hooks
from burnish.runtime.performing.reviewing import answer_reader, clone_name, contract_of, read_answer
from burnish.runtime.performing.stories import find_story_file, note_action_items, story_status
from burnish.runtime.performing.workshop import Job, Workshop, agent_settings
from burnish.settings.agent_kinds import AgentKind
from burnish.system import clock
from burnish.system.nofollow import write_new
from burnish.workspace.clones import Clone
from burnish.workspace.results import collect, message_for_hooks

Writing = StartFix | StartBuild | StartReview
_Writing = TypeVar("_Writing", StartFix, StartBuild, StartReview)


async def fix(bench: Bench, job: Job[StartFix]) -> AnyEvent:
    """Have findings fixed."""
    if agent_settings(bench.shop, job.effect.agent).kind is AgentKind.ANALYSERS:
        return await _mended(bench, job)
    return await _changed(bench.shop, job, Fixed)


async def _mended(bench: Bench, job: Job[StartFix]) -> AnyEvent:
    """The fixes of the analysers themselves. What the project's commit hooks reject is taken back as a whole."""
    shop, effect, run = bench.shop, job.effect, job.run
    started = clock.now()
    clone = await shop.clone(clone_name(effect.id), run.subject.base_commit, run.commit, writable=True)
    try:
        failure = await shop.prepare(clone, effect.id, job.stop)
        mended = failure or await mend(bench, job, clone)
        if isinstance(mended, Failure):
            return WorkFailed(at=clock.now(), effect=effect.id, failure=mended)
        verdict = await _judged_by_hooks(shop, job, clone, mended.summary)
        if isinstance(verdict, Failure):
            return WorkFailed(at=clock.now(), effect=effect.id, failure=verdict)
        at = clock.now()
        if isinstance(verdict, Rejected):
            change = Change(commit=run.commit, tree=run.tree)
            mended = mended.taken_back(f"the project's commit hook rejects it: {verdict.text}")
        else:
            change = await asyncio.to_thread(_collected, shop, job, clone, mended.summary, at)
    finally:
        await asyncio.to_thread(shop.discard, clone)
    usage = Usage(seconds=at - started)
    return Fixed(
        at=at,
        effect=effect.id,
        change=change,
        summary=mended.summary,
        text=mended.summary,
        answers=mended.answers,
        transcript=shop.keep(mended.log.encode(errors="replace")),
        by_rule=True,
        usage=usage,
    )


async def build(shop: Workshop, job: Job[StartBuild]) -> AnyEvent:
    """Have the change made."""
    return await _changed(shop, job, Built)


async def _changed(shop: Workshop, job: Job[_Writing], result: type[Fixed | Built]) -> AnyEvent:
    done = await _work(shop, job)
    if isinstance(done, WorkFailed):
        return done
    summary = summary_of(done.reply)
    prompt, transcript = shop.keep(done.prompt.encode(errors="replace")), shop.keep(done.transcript)
    said = shop.keep(clean_text(done.reply.text.decode("utf-8", errors="replace")).encode())
    if result is Built:
        return Built(
            at=done.at,
            effect=job.effect.id,
            change=done.change,
            summary=summary,
            prompt=prompt,
            said=said,
            transcript=transcript,
            usage=done.usage,
        )
    return Fixed(
        at=done.at,
        effect=job.effect.id,
        change=done.change,
        summary=summary,
        text="\n\n".join(done.texts),
        answers=_answers(job.effect, done.texts),
        prompt=prompt,
        said=said,
        transcript=transcript,
        usage=done.usage,
    )


def _answers(effect: Writing, texts: Sequence[str]) -> tuple[FixAnswer, ...]:
    """What a fixer says of each finding. Where it was asked again, its later word on a finding replaces the earlier."""
    order = effect.order if isinstance(effect, StartFix) else None
    handed = [finding.id for finding in (*order.must, *order.may)] if order else []
    said: dict[str, tuple[FixAnswer, ...]] = {}
    for text in texts:
        answers = read_fix_answers(text, handed)
        said |= {name: tuple(one for one in answers if one.finding == name) for name in (a.finding for a in answers)}
    return tuple(answer for answers in said.values() for answer in answers)


async def session(shop: Workshop, job: Job[StartReview]) -> AnyEvent:
    """Have a session review and fix; its word counts with the story's own status."""
    effect = job.effect
    done = await _work(shop, job)
    if isinstance(done, WorkFailed):
        return done
    run, change = job.run, done.change
    answer = await asyncio.to_thread(answer_reader(shop, job, change.commit), done.reply.text)
    status = await asyncio.to_thread(story_status, shop.repository, change.commit, run.subject)
    before = await asyncio.to_thread(story_status, shop.repository, run.commit, run.subject)
    return SessionFinished(
        at=done.at,
        effect=effect.id,
        answer=None if isinstance(answer, Failure) else answer,
        change=change,
        status=status,
        newly_done=before is not StoryStatus.DONE,
        evidence=Evidence(examined=tuple(Examined(path=file.path, level=Level.READ) for file in change.changed)),
        prompt=shop.keep(done.prompt.encode(errors="replace")),
        usage=done.usage,
    )


class _Done(NamedTuple):
    """Work that changed the tree, or could have."""

    reply: Reply
    change: Change
    at: float
    usage: Usage
    prompt: str
    """The last one, where a commit hook had it asked again."""
    transcript: bytes
    texts: tuple[str, ...]
    """All that it answered: once, or again after each rejection."""


async def _work(shop: Workshop, job: Job[_Writing]) -> _Done | WorkFailed:
    """An agent in a clone of its own; its resulting tree becomes one commit beside the user's branches."""
    run = job.run
    clone = await shop.clone(_clone_name(shop, job), run.subject.base_commit, run.commit, writable=True)
    try:
        if isinstance(job.effect, StartFix):
            await asyncio.to_thread(_hand_over, shop, clone, material.findings_files(run, job.effect.order))
        failure = await shop.prepare(clone, job.effect.id, job.stop)
        if failure is not None:
            return WorkFailed(at=clock.now(), effect=job.effect.id, failure=failure)
        texts: list[str] = []
        asked, prompt = await _until_hooks_pass(shop, job, clone, texts)
        if isinstance(asked.reply, Failure):
            return WorkFailed(at=clock.now(), effect=job.effect.id, failure=asked.reply, usage=asked.usage)
        if isinstance(job.effect, StartReview):
            await asyncio.to_thread(_keep_action_items, shop, job, clone, asked.reply)
        at = clock.now()
        change = await asyncio.to_thread(_collected, shop, job, clone, summary_of(asked.reply), at)
    finally:
        await asyncio.to_thread(shop.discard, clone)
    return _Done(asked.reply, change, at, asked.usage, prompt, asked.transcript, tuple(texts))


def _hand_over(shop: Workshop, clone: Clone, files: Sequence[RecordFile]) -> None:
    """Put the records that the prompt names into the clone. They stay out of the result, like all records."""
    for file in files:
        write_new(clone.path, file.path, file.text.encode(errors="replace"), mode=0o600, make=True)
    if files:
        shop.clones.exclude(clone, [file.path for file in files])


def _keep_action_items(shop: Workshop, job: Job[_Writing], clone: Clone, reply: Reply) -> None:
    """What a session found and left, and what does not block its story, is work for later: the story's file says so."""
    run = job.run
    path = find_story_file(shop.repository, run.commit, run.subject.story) if run.subject.story else ""
    answer = read_answer(shop, run, job.effect.agent, run.commit, reply.text) if path else None
    if isinstance(answer, Answer):
        left = [finding for finding in answer.findings if not blocks(run.protocol.gate, finding)]
        note_action_items(clone.path, path, left)


def _clone_name(shop: Workshop, job: Job[_Writing]) -> str:
    """Clients look for a session by the folder that it was in: one that goes on must be in the same."""
    resumed = agent_settings(shop, job.effect.agent).resume
    return f"session-{job.effect.agent}" if resumed else clone_name(job.effect.id)


async def _until_hooks_pass(shop: Workshop, job: Job[_Writing], clone: Clone, texts: list[str]) -> tuple[Asked, str]:
    """Ask the agent; where the project's commit hooks reject its work, ask again and say why. With the last prompt.

    `texts` gets each of its answers: the last one may speak of the hook alone.
    """
    rejection = ""
    prompt = ""
    usage = Usage()
    for _ in range(TRIES):
        request = await asyncio.to_thread(_request, shop, job, clone, rejection)
        prompt = request.prompt
        asked = await _ask(shop, job, request, usage)
        usage = usage.plus(asked.usage)
        asked = replace(asked, usage=usage)
        if isinstance(asked.reply, Failure):
            return asked, prompt
        texts.append(text_of(asked.reply))
        verdict = await _judged_by_hooks(shop, job, clone, summary_of(asked.reply))
        if not isinstance(verdict, Rejected):
            return asked if verdict is None else replace(asked, reply=verdict), prompt
        rejection = verdict.text
        if job.effect.share.without(usage).parts == 0:
            message = f"nothing of its share of the budget is left, and the project's commit hook says: {rejection}"
            return Asked(reply=Failure(kind=FailureKind.OVER_BUDGET, message=message), usage=usage), prompt
    message = f"the project's commit hook rejects the work: {rejection}"
    return Asked(reply=Failure(kind=FailureKind.REFUSED, message=message), usage=usage), prompt


async def _judged_by_hooks(shop: Workshop, job: Job[_Writing], clone: Clone, summary: str) -> Rejected | Failure | None:
    run = job.run
    message = await asyncio.to_thread(
        message_for_hooks,
        shop.repository,
        run=run.id,
        round=len(run.rounds),
        summary=summary,
        prefix=_commit_title(job.effect, run),
    )
    return await run_hooks(shop, job, clone, message)


async def _ask(shop: Workshop, job: Job[_Writing], request: Request, spent: Usage) -> Asked:
    """A session's answer must be readable, too; a fixer's is for people."""
    writable = (request.folder,)
    if not isinstance(job.effect, StartReview):
        return await ask(shop, job, request, writable, spent=spent)
    read = partial(read_answer, shop, job.run, job.effect.agent, job.run.commit)
    asked, _ = await ask_readably(shop, job, request, writable, read)
    return asked


def _collected(shop: Workshop, job: Job[_Writing], clone: Clone, summary: str, at: float) -> Change:
    run = job.run
    change = collect(
        shop.repository,
        clone,
        run=run.id,
        parent=run.commit,
        round=len(run.rounds),
        summary=summary,
        at=at,
        prefix=_commit_title(job.effect, run),
        records=NO_WORK_OF_FIXERS,
    ).change
    settings, base = shop.inputs.settings, run.subject.base_commit
    return replace(change, changed=changed_files(shop.repository, settings, base, change.commit))


def _commit_title(effect: Writing, run: Run) -> str | None:
    """How the message of the commit begins; None for a session, which answers for its round."""
    match effect:
        case StartFix():
            return effect.order.commit_title
        case StartBuild():
            return f"feat: implement {' '.join(clean_text(run.subject.story or run.subject.branch).split())}"
        case StartReview():
            return None


def _request(shop: Workshop, job: Job[_Writing], clone: Clone, rejection: str) -> Request:
    effect, run = job.effect, job.run
    order = effect.order if isinstance(effect, StartFix) else None
    desk = shop.desk(effect.id)
    return Request(
        run=run.id,
        effect=effect.id,
        role=_role(effect),
        reviewer=effect.reviewer if isinstance(effect, StartReview) else "",
        round=effect.round if isinstance(effect, StartReview) else material.round_of(effect, run),
        attempt=effect.attempt,
        contract=contract_of(shop, run, effect.agent),
        prompt=material.writing_prompt(shop, effect, run, rejection),
        folder=str(clone.path),
        base=run.subject.base_commit,
        head=run.commit,
        subject=run.subject.branch,
        output_file=str(desk / "answer"),
        policy_folder=shop.policy_folder,
        findings=(*order.must, *order.may) if order else (),
        findings_file=str(desk / "findings.json"),
        model=agent_settings(shop, effect.agent).model,
        may_write=True,
    )


def _role(effect: Writing) -> Role:
    match effect:
        case StartFix():
            return Role.FIX
        case StartBuild():
            return Role.BUILD
        case StartReview():
            return Role.REVIEW


def summary_of(reply: Reply) -> str:
    """What an agent said it did, short enough for a commit."""
    return next((line.strip() for line in text_of(reply).splitlines() if line.strip()), "")[:200]


def text_of(reply: Reply) -> str:
    """An agent's whole answer, as far as it is kept."""
    return clean_text(reply.text[: 4 * LONGEST_TEXT].decode("utf-8", errors="replace")).strip()[:LONGEST_TEXT]
