"""Carries out the effects of a run on this machine: agents review and change, and burnish itself commits and seals."""

import asyncio
from typing import Any, TypeVar

from burnish.agents.answers import read_review
from burnish.agents.census import changed_files
from burnish.agents.interface import Agent, Changed, Failed, Rejection
from burnish.agents.registry import agent_of
from burnish.agents.services import Job, Note, StoppedError, Work
from burnish.contracts.text import bounded
from burnish.core.effects import MakeSeal, StartBuild, StartFix, StartReview, StartValidation
from burnish.core.errors import BurnishError
from burnish.core.events import (
    AnyEvent,
    Built,
    Change,
    Fixed,
    Reviewed,
    SessionFinished,
    StoryStatus,
    WorkFailed,
    WorkLost,
)
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.gates import blocks
from burnish.core.reviews import Answer, Failure, FailureKind
from burnish.core.state import Run
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.records.registry import NO_WORK_OF_FIXERS
from burnish.runtime import sealing, validation
from burnish.runtime.picking import is_out_of_work, picked_instead
from burnish.runtime.services import LocalServices
from burnish.runtime.stories import find_story_file, note_action_items, story_status
from burnish.system import clock
from burnish.system.process import How, ProcessLimits
from burnish.workspace.clones import Clone
from burnish.workspace.results import collect, hook_commands, hooks_folder, message_for_hooks

MAX_REASON = 300
TAIL = 4_000
TRIES = 3
"""How often an agent is asked in all, before work that commit hooks reject counts as failed."""
Writing = StartFix | StartBuild | StartReview
_Writing = TypeVar("_Writing", bound=Writing)


class LocalPerformer:
    def __init__(self, services: LocalServices) -> None:
        self._services = services

    async def perform(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        """Do it. What goes wrong around the work is a failure of the work, with what the user should know of it."""
        try:
            return await self._do(effect, run, stop, note)
        except StoppedError as stopped:
            return WorkLost(at=clock.now(), effect=effect.id, usage=stopped.usage)
        except BurnishError as error:
            message = f"{error.message} {error.hint}".strip()
            failure = Failure(kind=FailureKind.CANNOT_RUN, message=message)
            return WorkFailed(at=clock.now(), effect=effect.id, failure=failure)
        except OSError as error:
            # A full disk, a folder that was taken away: nothing that the reviewed change, or burnish, is to blame for.
            reason = error.strerror or bounded(str(error), MAX_REASON)
            failure = Failure(kind=FailureKind.CANNOT_RUN, message=f"its files could not be created or read: {reason}")
            return WorkFailed(at=clock.now(), effect=effect.id, failure=failure)

    async def _do(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        match effect:
            case StartReview() if not effect.session:
                return await self._review(Job(effect, run, stop, note))
            case StartReview() | StartFix() | StartBuild():
                return await self._change(Job(effect, run, stop, note))
            case StartValidation():
                return await validation.validate(self._services, effect, run, stop)
            case MakeSeal():
                return await asyncio.to_thread(sealing.seal, self._services, effect, run)

    def _agent(self, job: Job[Any]) -> Agent:
        settings = self._services.agent(job.effect.agent)
        agent = agent_of(settings.kind)
        agent.check(settings)
        return agent

    async def _review(self, job: Job[StartReview]) -> AnyEvent:
        reviewed = await self._agent(job).review(job, self._services)
        if isinstance(reviewed, Failed):
            return _failed(job, reviewed)
        return Reviewed(
            at=clock.now(),
            effect=job.effect.id,
            answer=reviewed.answer,
            evidence=reviewed.evidence,
            prompt=self._services.keep(reviewed.given),
            transcript=self._services.keep(reviewed.transcript),
            usage=reviewed.usage,
        )

    async def _change(self, job: Job[_Writing]) -> AnyEvent:
        """Have an agent work in a clone of its own; its tree becomes one commit beside the user's branches."""
        services, effect, run = self._services, job.effect, job.run
        # Clients look for a session by the folder that it was in: one that goes on must be in the same.
        name = f"session-{effect.agent}" if services.agent(effect.agent).resume else job.name
        clone = await services.clone(name, run.subject.base_commit, run.commit, writable=True)
        try:
            failure = await services.prepare(clone, effect.id, job.stop)
            if failure is not None:
                return _failed(job, Failed(failure=failure))
            work = await self._until_hooks_pass(job, clone)
            if isinstance(work, Failed):
                return _failed(job, work)
            if isinstance(effect, StartReview):
                await asyncio.to_thread(_keep_action_items, services, Job(effect, *job[1:]), clone, work)
            at = clock.now()
            change = Change(commit=run.commit, tree=run.tree)
            if work.kept:
                change = await asyncio.to_thread(_committed, services, job, clone, work.summary, at)
            event = await self._result(job, work, change, at)
            return await asyncio.to_thread(_with_choice, services, job, clone, work, event)
        finally:
            await asyncio.to_thread(services.clones.remove, clone)

    async def _until_hooks_pass(self, job: Job[_Writing], clone: Clone) -> Changed | Failed:
        """Ask the agent; where the project's commit hooks reject its work, ask again and say why."""
        agent = self._agent(job)
        rejection: Rejection | None = None
        tries = 0
        while True:
            work = await agent.change(job, self._services, clone, rejection)
            if isinstance(work, Failed) or not work.kept:
                return work
            rejected = await run_hooks(self._services, job, clone, work.summary)
            if rejected is None:
                return work
            if isinstance(rejected, Failure):
                return Failed(failure=rejected, usage=work.usage)
            tries += 1
            if job.effect.share.without(work.usage).parts == 0:
                message = (
                    f"nothing is left of its share of the budget, and the project's commit hook failed: {rejected}"
                )
                return Failed(failure=Failure(kind=FailureKind.OVER_BUDGET, message=message), usage=work.usage)
            if tries == TRIES:
                message = f"the project's commit hook rejected the work: {rejected}"
                return Failed(failure=Failure(kind=FailureKind.REFUSED, message=message), usage=work.usage)
            rejection = Rejection(text=rejected, work=work)

    async def _result(self, job: Job[_Writing], work: Changed, change: Change, at: float) -> AnyEvent:
        effect, keep = job.effect, self._services.keep
        prompt = keep(work.given) if work.given else ""
        if isinstance(effect, StartReview):
            return await self._session_result(Job(effect, *job[1:]), work, change, at, prompt)
        said = "" if work.by_rule else keep(clean_text(work.reply.decode("utf-8", errors="replace")).encode())
        transcript = keep(work.transcript)
        if isinstance(effect, StartBuild):
            return Built(
                at=at,
                effect=effect.id,
                change=change,
                summary=work.summary,
                prompt=prompt,
                said=said,
                transcript=transcript,
                usage=work.usage,
            )
        return Fixed(
            at=at,
            effect=effect.id,
            change=change,
            summary=work.summary,
            text=work.text,
            answers=work.answers,
            prompt=prompt,
            said=said,
            transcript=transcript,
            by_rule=work.by_rule,
            usage=work.usage,
        )

    async def _session_result(
        self, job: Job[StartReview], work: Changed, change: Change, at: float, prompt: str
    ) -> AnyEvent:
        """A session reviews and fixes; its word counts with the story's own status."""
        repository, subject = self._services.repository, job.run.subject
        answer = await asyncio.to_thread(
            read_review, self._services, job.run, job.effect.agent, change.commit, work.reply
        )
        status = await asyncio.to_thread(story_status, repository, change.commit, subject)
        before = await asyncio.to_thread(story_status, repository, job.run.commit, subject)
        return SessionFinished(
            at=at,
            effect=job.effect.id,
            answer=None if isinstance(answer, Failure) else answer,
            change=change,
            status=status,
            newly_done=before is not StoryStatus.DONE,
            evidence=Evidence(examined=tuple(Examined(path=file.path, level=Level.READ) for file in change.changed)),
            prompt=prompt,
            usage=work.usage,
        )


def _failed(job: Job[Any], failed: Failed) -> WorkFailed:
    return WorkFailed(at=clock.now(), effect=job.effect.id, failure=failed.failure, usage=failed.usage)


def _keep_action_items(services: LocalServices, job: Job[StartReview], clone: Clone, work: Changed) -> None:
    """What a session found and left, and what does not block its story, is work for later: the story's file says so."""
    run = job.run
    path = find_story_file(services.repository, run.commit, run.subject.story) if run.subject.story else ""
    answer = read_review(services, run, job.effect.agent, run.commit, work.reply) if path else None
    if isinstance(answer, Answer):
        left = [finding for finding in answer.findings if not blocks(run.protocol.gate, finding)]
        note_action_items(clone.path, path, left)


def _committed(services: LocalServices, job: Job[_Writing], clone: Clone, summary: str, at: float) -> Change:
    run = job.run
    change = collect(
        services.repository,
        clone,
        run=run.id,
        parent=run.commit,
        round=len(run.rounds),
        summary=summary,
        at=at,
        prefix=_commit_title(job.effect, run, services.context.build_title),
        records=(*NO_WORK_OF_FIXERS, *_list_folder(services)),
    ).change
    settings, base = services.settings, run.subject.base_commit
    return replace(change, changed=changed_files(services.repository, settings, base, change.commit))


def _list_folder(services: LocalServices) -> tuple[str, ...]:
    picking = services.context.picking
    return (f"{picking.folder}/",) if picking is not None else ()


def _with_choice(services: LocalServices, job: Job[_Writing], clone: Clone, work: Changed, event: AnyEvent) -> AnyEvent:
    """What was built or fixed, and which task of its list the agent says that this was."""
    picking = services.context.picking
    if picking is None or not isinstance(event, Built | Fixed):
        return event
    changed = event.change.tree != job.run.tree
    said = work.reply.decode("utf-8", errors="replace")
    event = replace(event, out_of_work=is_out_of_work(clean_text(said), changed=changed))
    if not isinstance(event, Built) or not changed:
        return event
    printed = (work.reply, work.transcript)
    return replace(event, picked=picked_instead(services.repository, clone, picking, job.run.commit, printed))


def _commit_title(effect: Writing, run: Run, build_title: str) -> str | None:
    """How the message of the commit begins; None for a session, which answers for its round."""
    match effect:
        case StartFix():
            return effect.order.commit_title
        case StartBuild():
            return (
                build_title
                or f"feat: implement {' '.join(clean_text(run.subject.story or run.subject.branch).split())}"
            )
        case StartReview():
            return None


async def run_hooks(services: LocalServices, job: Job[_Writing], clone: Clone, summary: str) -> str | Failure | None:
    """Run the hooks that git would run; what one said that rejects. One that cannot run is infrastructure."""
    repository, run = services.repository, job.run
    message = await asyncio.to_thread(
        message_for_hooks,
        repository,
        run=run.id,
        round=len(run.rounds),
        summary=summary,
        prefix=_commit_title(job.effect, run, services.context.build_title),
    )
    commands = await asyncio.to_thread(hook_commands, repository, clone, message)
    folder = await asyncio.to_thread(hooks_folder, repository) if commands else ""
    limits = ProcessLimits(seconds=services.settings.timeouts.validation)
    for command in commands:
        seen = replace(command, environment={**services.tool_environment(), **command.environment})
        finished = await services.run_command(
            seen,
            limits,
            effect=job.effect.id,
            readable=(str(folder),),
            writable=(str(clone.path),),
            stop=job.stop,
        )
        name = command.argv[0].rpartition("/")[2]
        if finished.how is not How.EXITED or finished.cannot_run:
            detail = finished.message or finished.stderr_tail.strip()[-300:] or finished.how.value
            return Failure(kind=FailureKind.CANNOT_RUN, message=f"the commit hook {name} cannot run: {detail}")
        if finished.code != 0:
            return f"{name} (exit code {finished.code}):\n{finished.tail(TAIL)}"
    return None
