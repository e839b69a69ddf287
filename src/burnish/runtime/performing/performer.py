"""The performer of the local driver: each effect goes to the module that does its kind of work."""

import asyncio

from burnish.contracts.text import bounded
from burnish.core.effects import MakeSeal, StartBuild, StartFix, StartReview, StartValidation
from burnish.core.errors import BurnishError
from burnish.core.events import AnyEvent, WorkFailed, WorkLost
from burnish.core.reviews import Failure, FailureKind
from burnish.core.state import Run
from burnish.runtime.performing import analysing, fixing, reviewing, sealing, validating
from burnish.runtime.performing.bench import Bench
from burnish.runtime.performing.workshop import Job, StoppedError, Workshop, agent_settings
from burnish.runtime.runner import Note, Work
from burnish.settings.agent_kinds import AgentKind
from burnish.system import clock

MAX_REASON = 300


class LocalPerformer:
    """Does the work on this machine."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self._bench = Bench(shop)

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
            failure = Failure(kind=FailureKind.CANNOT_RUN, message=f"its files could not be made or read: {reason}")
            return WorkFailed(at=clock.now(), effect=effect.id, failure=failure)

    async def _do(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        match effect:
            case StartReview():
                return await self._review(Job(effect, run, stop, note))
            case StartFix():
                return await fixing.fix(self._bench, Job(effect, run, stop, note))
            case StartBuild():
                return await fixing.build(self._shop, Job(effect, run, stop, note))
            case StartValidation():
                return await validating.validate(self._shop, effect, run, stop)
            case MakeSeal():
                return await asyncio.to_thread(sealing.seal, self._shop, effect, run)

    async def _review(self, job: Job[StartReview]) -> AnyEvent:
        if job.effect.session:
            return await fixing.session(self._shop, job)
        if agent_settings(self._shop, job.effect.agent).kind is AgentKind.ANALYSERS:
            return await analysing.analyse(self._bench, job)
        return await reviewing.review(self._shop, job)
