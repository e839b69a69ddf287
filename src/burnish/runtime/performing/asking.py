"""One way to ask an agent, whatever it is: its desk, a client's home and login, its share of the budget, its answer."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from burnish.agents.clients.logins import lend, put
from burnish.agents.clients.registry import CLIENTS, progress_of
from burnish.agents.handover import write_findings
from burnish.agents.interface import Client, Reply, Request
from burnish.agents.registry import adapter_for
from burnish.contracts.schemas import schema
from burnish.contracts.text import MAX_ANSWER_BYTES
from burnish.core.budget import Share
from burnish.core.protocol import STANDARD_DIMENSIONS, OnFailure, ScoreGate
from burnish.core.reviews import Answer, Failure, FailureKind, Usage
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.prompts.rendering import fill
from burnish.runtime.performing.metering import Meter, either
from burnish.runtime.performing.workshop import (
    GRACE_SECONDS,
    NOTHING,
    Job,
    Session,
    StoppedError,
    Workshop,
    agent_settings,
)
from burnish.settings.types import AgentSettings
from burnish.system import clock
from burnish.system.process import KEPT_BYTES, Finished, Limits
from burnish.system.sandbox import SandboxKind
from burnish.workspace.clones import WIRING
from burnish.workspace.inside import read_inside

Reader = Callable[[bytes], Answer | Failure]
STREAM_BYTES = 4 * KEPT_BYTES
"""A client says much on its way to an answer, and the end of its stream must not be cut."""


class Asked(Value):
    """What came of asking, and what it cost, whatever came of it."""

    reply: Reply | Failure
    usage: Usage
    session: Session | None = None

    @property
    def transcript(self) -> bytes:
        return b"" if isinstance(self.reply, Failure) else self.reply.transcript or self.reply.text


async def ask(
    shop: Workshop,
    job: Job[Any],
    request: Request,
    writable: tuple[str, ...],
    *,
    spent: Usage = NOTHING,
    session: Session | None = None,
) -> Asked:
    """Run an agent and read what came of it. Nothing that it started is left.

    `spent` is what was used up already of the share that the work has.
    """
    settings = agent_settings(shop, job.effect.agent)
    # An agent that is asked again may have left anything there, an old answer or a link among them.
    await asyncio.to_thread(shop.clear_desk, request.effect)
    write_findings(request)
    writable = (*writable, str(Path(request.output_file).parent))
    call = _Call(shop, job, settings, writable, job.effect.share.without(spent))
    client = CLIENTS.get(settings.kind)
    if client is not None:
        return await call.client(client, request, session)
    return await call.command(request)


async def ask_readably(
    shop: Workshop,
    job: Job[Any],
    request: Request,
    writable: tuple[str, ...],
    read: Reader,
) -> tuple[Asked, Answer | Failure]:
    """Ask for an answer that can be read. A client that can go on is told once what is wrong with it.

    Where the protocol ends a run at the first unreadable answer, there is no second one.
    """
    asked = await ask(shop, job, request, writable)
    answer = await _read(asked, read)
    if not (isinstance(answer, Failure) and answer.kind is FailureKind.UNREADABLE and asked.session):
        return asked, answer
    if job.run.protocol.failures.unreadable is OnFailure.END:
        return asked, answer
    if job.effect.share.without(asked.usage).parts == 0:
        return asked, answer
    again = replace(request, prompt=fill("repair", problem=answer.message))
    repaired = await ask(shop, job, again, writable, spent=asked.usage, session=asked.session)
    repaired = replace(repaired, usage=asked.usage.plus(repaired.usage))
    return repaired, await _read(repaired, read)


async def _read(asked: Asked, read: Reader) -> Answer | Failure:
    if isinstance(asked.reply, Failure):
        return asked.reply
    return await asyncio.to_thread(read, asked.reply.text)


def wiring_of(request: Request) -> tuple[str, ...]:
    """What of the clone stays as it is, also where the agent may write."""
    return tuple(str(Path(request.folder) / name) for name in WIRING)


def answer_schema(run: Run, request: Request) -> str:
    """The form of the answer, for a client that can be held to one."""
    gate = run.protocol.gate
    dimensions = gate.dimensions if isinstance(gate, ScoreGate) else STANDARD_DIMENSIONS
    found = schema(request.contract, dimensions)
    return json.dumps(found) if found and request.reads_only else ""


class _Call(NamedTuple):
    """One attempt."""

    shop: Workshop
    job: Job[Any]
    settings: AgentSettings
    writable: tuple[str, ...]
    share: Share

    @property
    def limits(self) -> Limits:
        return Limits(seconds=self.settings.timeout, silent_seconds=self.settings.silent, grace_seconds=GRACE_SECONDS)

    @property
    def _network(self) -> bool:
        return self.job.effect.agent not in self.shop.inputs.governance.offline.agents

    async def command(self, request: Request) -> Asked:
        """A program of the user's own."""
        adapter = adapter_for(self.settings)
        finished = await self.shop.run_command(
            adapter.command(self.settings, request, self.shop.environment),
            self.limits,
            effect=request.effect,
            writable=self.writable,
            protected=wiring_of(request),
            stop=self.job.stop,
            on_start=self.job.started,
            network=self._network,
            render="",
        )
        output = Path(request.output_file)
        reply = adapter.read(finished, request, read_inside(output.parent, output.name, MAX_ANSWER_BYTES + 1))
        usage = Usage(seconds=finished.seconds) if isinstance(reply, Failure) else reply.usage
        return Asked(reply=reply, usage=usage)

    async def client(self, client: Client, request: Request, session: Session | None) -> Asked:
        """A vendor's client, in a home of its own, where it finds the user's login for as long as it runs."""
        session = session or self._former_session(client, request)
        home = session.home if session else self._home(client, request)
        request = self._for_client(request, home, session)
        environment = self.shop.environment
        for place, data in client.files(self.settings, request, environment).items():
            put(home, place, data)
        loan = lend(client.needs(self.settings, environment), home)
        meter = Meter(client, self.share, self.settings.max_turns)
        started = clock.now()
        try:
            finished = await self._watched(client, request, meter)
        except StoppedError:
            used = replace(meter.used, seconds=clock.now() - started)
            if not meter.over.is_set():
                raise StoppedError(used) from None
            return Asked(reply=meter.failure, usage=used)
        finally:
            await asyncio.to_thread(loan.give_back)
        return self._outcome(client, request, finished, session, meter)

    def _for_client(self, request: Request, home: Path, session: Session | None) -> Request:
        return replace(
            request,
            home=str(home),
            session=session.name if session else "",
            confined=self.shop.sandbox.kind is not SandboxKind.NONE,
            schema=answer_schema(self.job.run, request),
            max_turns=self.settings.max_turns,
            project_settings=self.settings.project_settings,
            budget_usd=self.share.cost_usd,
        )

    async def _watched(self, client: Client, request: Request, meter: Meter) -> Finished:
        def hear(line: bytes) -> None:
            meter.read(line)
            doing = client.progress(line)
            if doing:
                self.shop.activity(request.effect, doing)

        async with either(self.job.stop, meter.over) as stop:
            return await self.shop.run_command(
                client.command(self.settings, request, self.shop.environment),
                replace(self.limits, kept_bytes=STREAM_BYTES),
                effect=request.effect,
                readable=(request.folder,),
                writable=(*self.writable, request.home),
                protected=wiring_of(request),
                stop=stop,
                on_start=self.job.started,
                on_line=hear,
                network=self._network,
                render=progress_of(self.settings.kind),
            )

    def _outcome(
        self, client: Client, request: Request, finished: Finished, before: Session | None, meter: Meter
    ) -> Asked:
        used, total = self._used(client, request, finished, before, meter)
        name = client.session(finished) if client.can_resume else ""
        session = Session(name=name, home=Path(request.home), spent=total) if name else None
        reply = client.read(finished, request, None)
        if self._keeps_session(client, request):
            self.shop.remember(self.job.effect.agent, None if isinstance(reply, Failure) else session)
        return Asked(reply=reply, usage=used, session=session)

    def _used(
        self, client: Client, request: Request, finished: Finished, before: Session | None, meter: Meter
    ) -> tuple[Usage, Usage]:
        """What this attempt used up, and what its whole session did."""
        former = before.spent if before else Usage()
        told = client.spent(finished, request)
        if not (told.tokens or told.cost_usd):
            # It came to no end at which it could have said so; what it said of its steps stands.
            used = replace(meter.used, seconds=told.seconds)
            return used, former.plus(used)
        if client.is_cumulative:
            return replace(told.minus(former), seconds=told.seconds), told
        return told, told

    def _keeps_session(self, client: Client, request: Request) -> bool:
        """Reviewers always have fresh eyes; those who write may remember what they did, if the user wants that."""
        return self.settings.resume and client.can_resume and not request.reads_only

    def _former_session(self, client: Client, request: Request) -> Session | None:
        return self.shop.sessions.get(self.job.effect.agent) if self._keeps_session(client, request) else None

    def _home(self, client: Client, request: Request) -> Path:
        if self._keeps_session(client, request):
            return self.shop.home_of(self.job.effect.agent)
        return self.shop.home(request.effect)
