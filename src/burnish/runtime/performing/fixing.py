"""The agents that change the tree: fixer, builder, and a session that reviews and fixes. burnish itself commits."""

import asyncio
from typing import TypeVar

from burnish.agents.interface import Reply, Request, Role
from burnish.config.settings import AgentKind
from burnish.contracts.text import clean_text
from burnish.core.effects import StartBuild, StartFix, StartReview
from burnish.core.events import AnyEvent, Built, Change, Fixed, SessionFinished, WorkFailed
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.runtime.performing import material
from burnish.runtime.performing.autofixing import mend
from burnish.runtime.performing.bench import Bench
from burnish.runtime.performing.hooks import TRIES, Rejected, run_hooks
from burnish.runtime.performing.reviewing import clone_name, contract_of, read_answer
from burnish.runtime.performing.stories import story_status, was_done
from burnish.runtime.performing.workshop import Job, Workshop, agent_settings
from burnish.system import clock
from burnish.workspace.clones import Clone
from burnish.workspace.results import collect

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
        verdict = await run_hooks(shop, job, clone, mended.summary)
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
        answers=mended.answers,
        transcript=shop.keep(mended.log.encode()),
        by_rule=True,
        usage=usage,
    )


async def build(shop: Workshop, job: Job[StartBuild]) -> AnyEvent:
    """Have the change made."""
    return await _changed(shop, job, Built)


async def _changed(shop: Workshop, job: Job[_Writing], result: type[Fixed | Built]) -> AnyEvent:
    done = await _work(shop, job)
    if isinstance(done, Failure):
        return WorkFailed(at=clock.now(), effect=job.effect.id, failure=done)
    reply, change, at = done
    return result(at=at, effect=job.effect.id, change=change, summary=summary_of(reply), usage=reply.usage)


async def session(shop: Workshop, job: Job[StartReview]) -> AnyEvent:
    """Have a session review and fix; its word counts with the story's own status."""
    effect = job.effect
    done = await _work(shop, job)
    if isinstance(done, Failure):
        return WorkFailed(at=clock.now(), effect=effect.id, failure=done)
    reply, change, at = done
    run = job.run
    answer = await asyncio.to_thread(read_answer, shop, run, effect.agent, reply.text, change.commit)
    status = await asyncio.to_thread(story_status, shop.repository, change.commit, run.subject)
    before = await asyncio.to_thread(was_done, shop.repository, run.commit, run.subject)
    return SessionFinished(
        at=at,
        effect=effect.id,
        answer=None if isinstance(answer, Failure) else answer,
        change=change,
        status=status,
        newly_done=not before,
        usage=reply.usage,
    )


async def _work(shop: Workshop, job: Job[_Writing]) -> tuple[Reply, Change, float] | Failure:
    """An agent in a clone of its own; its resulting tree becomes one commit beside the user's branches."""
    run = job.run
    clone = await shop.clone(clone_name(job.effect.id), run.subject.base_commit, run.commit, writable=True)
    try:
        failure = await shop.prepare(clone, job.effect.id, job.stop)
        reply = failure or await _until_hooks_pass(shop, job, clone)
        if isinstance(reply, Failure):
            return reply
        at = clock.now()
        change = await asyncio.to_thread(_collected, shop, job, clone, summary_of(reply), at)
    finally:
        await asyncio.to_thread(shop.discard, clone)
    return reply, change, at


async def _until_hooks_pass(shop: Workshop, job: Job[_Writing], clone: Clone) -> Reply | Failure:
    """Ask the agent; where the project's commit hooks reject its work, ask again and say why."""
    rejection = ""
    for _ in range(TRIES):
        request = await asyncio.to_thread(_request, shop, job, clone, rejection)
        reply = await shop.ask_agent(job, agent_settings(shop, job.effect.agent), request, (str(clone.path),))
        if isinstance(reply, Failure):
            return reply
        verdict = await run_hooks(shop, job, clone, summary_of(reply))
        if not isinstance(verdict, Rejected):
            return verdict or reply
        rejection = verdict.text
    return Failure(kind=FailureKind.REFUSED, message=f"the project's commit hook rejects the work: {rejection}")


def _collected(shop: Workshop, job: Job[_Writing], clone: Clone, summary: str, at: float) -> Change:
    run = job.run
    return collect(
        shop.repository, clone, run=run.id, parent=run.commit, round=len(run.rounds), summary=summary, at=at
    ).change


def _request(shop: Workshop, job: Job[_Writing], clone: Clone, rejection: str) -> Request:
    effect, run = job.effect, job.run
    order = effect.order if isinstance(effect, StartFix) else None
    desk = shop.desk(effect.id)
    return Request(
        run=run.id,
        effect=effect.id,
        role=_role(effect),
        reviewer=effect.reviewer if isinstance(effect, StartReview) else "",
        round=effect.round if isinstance(effect, StartReview) else len(run.rounds),
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
    text = clean_text(reply.text[:20_000].decode("utf-8", errors="replace"))
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]
