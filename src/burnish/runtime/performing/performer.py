"""The performer of the local driver: each effect goes to the module that does its kind of work."""

import asyncio

from burnish.core.effects import MakeSeal, StartBuild, StartFix, StartReview, StartValidation
from burnish.core.errors import BurnishError
from burnish.core.events import AnyEvent, WorkFailed, WorkLost
from burnish.core.reviews import Failure, FailureKind
from burnish.core.state import Run
from burnish.runtime.performing import fixing, reviewing, sealing, validating
from burnish.runtime.performing.workshop import Job, StoppedError, Workshop
from burnish.runtime.runner import Note, Work
from burnish.system import clock


class LocalPerformer:
    """Does the work on this machine."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    async def perform(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        """Do it. What goes wrong around the work is a failure of the work, with what the user should know of it."""
        try:
            return await self._do(effect, run, stop, note)
        except StoppedError:
            return WorkLost(at=clock.now(), effect=effect.id)
        except BurnishError as error:
            message = f"{error.message} {error.hint}".strip()
            failure = Failure(kind=FailureKind.CANNOT_RUN, message=message)
            return WorkFailed(at=clock.now(), effect=effect.id, failure=failure)

    async def _do(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        match effect:
            case StartReview():
                work = fixing.session if effect.session else reviewing.review
                return await work(self._shop, Job(effect, run, stop, note))
            case StartFix():
                return await fixing.fix(self._shop, Job(effect, run, stop, note))
            case StartBuild():
                return await fixing.build(self._shop, Job(effect, run, stop, note))
            case StartValidation():
                return await validating.validate(self._shop, effect, run, stop)
            case MakeSeal():
                return await asyncio.to_thread(sealing.seal, self._shop, effect, run)
