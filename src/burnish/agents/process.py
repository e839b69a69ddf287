"""How an agent that is a program of its own reviews and changes: a copy of the tree, a prompt, an answer that is read.

What the program is and how it is run is for `Client` and `CommandAgent` to say, in their `ask`.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from burnish.agents.answers import Writing, answers_of, contract_of, kept_text, read_review, round_of, summary_of
from burnish.agents.environment import write_findings
from burnish.agents.interface import Bill, Changed, Failed, Rejection, Reply, Request, Review, Role
from burnish.agents.services import GRACE_SECONDS, NOTHING, Job, Services, Session
from burnish.contracts.schemas import schema
from burnish.core.budget import Share, dollars
from burnish.core.effects import StartBuild, StartFix, StartReview
from burnish.core.protocol import STANDARD_DIMENSIONS, Feedback, OnFailure, ReviewMode, ScoreGate
from burnish.core.reviews import Answer, Failure, FailureKind, Usage
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.prompts.rendering import fill
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, Finished, ProcessLimits
from burnish.workspace.clones import WIRING, Clone, ReadOnlyClone
from burnish.workspace.commits import commit_tree
from burnish.workspace.diffs import Difference, difference
from burnish.workspace.repository import Repository

UNDER_REVIEW = "The change under review"
Reader = Callable[[bytes], Answer | Failure]


class AskResult(Value):
    """What came of asking, and what it cost, whatever came of it."""

    reply: Reply | Failure
    usage: Usage
    session: Session | None = None

    @property
    def transcript(self) -> bytes:
        return b"" if isinstance(self.reply, Failure) else self.reply.transcript or self.reply.text


class AgentAttempt(NamedTuple):
    """One attempt: everything that running the program needs beside the request."""

    services: Services
    job: Job[Any]
    settings: AgentSettings
    writable: tuple[str, ...]
    share: Share
    session: Session | None = None
    """The session that is to go on."""

    async def run(self, command: Command, request: Request, **options: Any) -> Finished:
        """Run the program in the sandbox. Nothing that it started is left."""
        limits = ProcessLimits(
            seconds=self.settings.timeout, silent_seconds=self.settings.silent, grace_seconds=GRACE_SECONDS
        )
        kept = options.pop("kept_bytes", limits.kept_bytes)
        return await self.services.run_command(
            command,
            replace(limits, kept_bytes=kept),
            effect=request.effect,
            writable=(*self.writable, *options.pop("writable", ())),
            # What of the clone stays as it is, also where the agent may write.
            protected=tuple(str(Path(request.folder) / name) for name in WIRING),
            stop=options.pop("stop", self.job.stop),
            on_start=self.job.started,
            network=not self.services.is_offline(self.job.effect.agent),
            shown=True,
            **options,
        )


class Asker(Protocol):
    """An agent that is a program of its own."""

    async def ask(self, call: AgentAttempt, request: Request) -> AskResult:
        """Run it, and read what came of it."""
        ...


async def review(agent: Asker, job: Job[StartReview], services: Services) -> Review | Failed:
    """Have one reviewer answer: a clone of the exact tree, a prompt, an answer, and proof that nothing was written."""
    effect = job.effect
    seen = await asyncio.to_thread(
        difference, services.repository, job.run.subject.base_commit, job.run.commit, job.run.subject.paths
    )
    if seen.empty:
        return Failed(failure=Failure(kind=FailureKind.EMPTY_DIFF, message="there is nothing to review"))
    run = await asyncio.to_thread(_without_history, services.repository, job.run)
    async with (
        services.read_only_clone(job.name, run.subject.base_commit, run.commit) as read,
        _scratch(services, job, read.clone) as scratch,
    ):
        if isinstance(scratch, Failure):
            return Failed(failure=scratch)
        request = _review_request(services, effect, run, read.clone, seen, scratch=str(scratch.path) if scratch else "")
        asked, answer = await _watched(agent, job, services, read, request)
    if isinstance(answer, Failure):
        return Failed(failure=answer, usage=asked.usage)
    return Review(
        answer=answer,
        evidence=services.evidence_of(seen, effect.agent, answer, asked.transcript),
        given=request.prompt.encode(errors="replace"),
        transcript=asked.transcript,
        usage=asked.usage,
    )


def _without_history(repository: Repository, run: Run) -> Run:
    """The run as its reviewers may see it: where the protocol tells them nothing of earlier rounds, neither does git.

    What builders and fixers said is in the messages of their commits, and `git log` in the clone would show it. So
    such reviewers get another commit of the same tree.
    """
    rule = run.protocol.review
    told = rule.mode is not ReviewMode.FRESH or rule.feedback is not Feedback.NONE
    if told or run.commit == run.subject.head:
        return run
    plain = commit_tree(repository.git, run.tree, run.subject.head, UNDER_REVIEW, run.started.at)
    return replace(run, commit=plain)


@asynccontextmanager
async def _scratch(services: Services, job: Job[StartReview], clone: Clone) -> AsyncGenerator[Clone | Failure | None]:
    """A throwaway copy to run tests in, for reviewers that must."""
    if not job.effect.scratch:
        yield None
        return
    scratch = await asyncio.to_thread(services.clones.copy, clone, f"{job.name}-scratch")
    try:
        yield await services.prepare(scratch, job.effect.id, job.stop) or scratch
    finally:
        await asyncio.to_thread(services.clones.remove, scratch)


async def _watched(
    agent: Asker, job: Job[StartReview], services: Services, read: ReadOnlyClone, request: Request
) -> tuple[AskResult, Answer | Failure]:
    """Run the reviewer, and see to it that its clone is as it was."""
    writable = (request.scratch,) if request.scratch else ()
    asked, answer = await _ask_readably(agent, job, services, request, writable)
    after = await asyncio.to_thread(services.clones.fingerprint, read.clone, read.before)
    written = services.clones.differences(read.before, after)
    if written:
        read.is_spoiled = True
        # Whatever it answered: it was not looking at the tree that it was given.
        # What it wrote says more than the modes that it had to change first.
        listed = "; ".join(sorted(written, key=lambda line: line.startswith("mode changed"))[:5])
        writer = (
            "a reviewer wrote to the clone that all of them read"
            if read.is_shared
            else "the reviewer wrote to its clone"
        )
        answer = Failure(kind=FailureKind.WROTE_TO_TREE, message=f"{writer}: {listed}")
    return asked, answer


async def change(
    agent: Asker, job: Job[Any], services: Services, clone: Clone, rejection: Rejection | None
) -> Changed | Failed:
    """Have an agent work in a clone; again, where the project's commit hooks rejected what it did."""
    if rejection is None and isinstance(job.effect, StartFix):
        await asyncio.to_thread(services.hand_over, job, clone)
    why = rejection.text if rejection else ""
    spent = rejection.work.usage if rejection else NOTHING
    request = await asyncio.to_thread(_writing_request, services, job, clone, why)
    writable = (request.folder,)
    if isinstance(job.effect, StartReview):
        # A session's answer must be readable, too; a fixer's is for people.
        asked, _ = await _ask_readably(agent, job, services, request, writable)
    else:
        asked = await _ask(agent, job, services, request, writable, spent=spent)
    usage = spent.plus(asked.usage)
    if isinstance(asked.reply, Failure):
        return Failed(failure=asked.reply, usage=usage)
    text = kept_text(asked.reply.text)
    return Changed(
        reply=asked.reply.text,
        summary=summary_of(text),
        # The last answer may speak of the hook alone.
        text=f"{rejection.work.text}\n\n{text}" if rejection else text,
        answers=answers_of(job.effect, text, rejection.work.answers if rejection else ()),
        given=request.prompt.encode(errors="replace"),
        transcript=asked.transcript,
        usage=usage,
    )


async def _ask(
    agent: Asker,
    job: Job[Any],
    services: Services,
    request: Request,
    writable: tuple[str, ...],
    *,
    spent: Usage = NOTHING,
    session: Session | None = None,
) -> AskResult:
    """Run an agent and read what came of it. `spent` is what was used up already of the share that the work has."""
    # An agent that is asked again may have left anything there, an old answer or a link among them.
    await asyncio.to_thread(services.clear_attempt_dir, request.effect)
    write_findings(request)
    writable = (*writable, str(Path(request.output_file).parent))
    settings = services.agent(job.effect.agent)
    return await agent.ask(
        AgentAttempt(services, job, settings, writable, job.effect.share.without(spent), session), request
    )


async def _ask_readably(
    agent: Asker, job: Job[StartReview], services: Services, request: Request, writable: tuple[str, ...]
) -> tuple[AskResult, Answer | Failure]:
    """Ask for an answer that can be read. A client that can go on is told once what is wrong with it.

    Where the protocol ends a run at the first unreadable answer, there is no second one.
    """
    read = partial(read_review, services, job.run, job.effect.agent, job.run.commit)
    asked = await _ask(agent, job, services, request, writable)
    answer = await _read(asked, read)
    if not (isinstance(answer, Failure) and answer.kind is FailureKind.UNREADABLE and asked.session):
        return asked, answer
    if job.run.protocol.failures.unreadable is OnFailure.END:
        return asked, answer
    if job.effect.share.without(asked.usage).parts == 0:
        return asked, answer
    again = replace(request, prompt=fill("repair", problem=answer.message))
    repaired = await _ask(agent, job, services, again, writable, spent=asked.usage, session=asked.session)
    repaired = replace(repaired, usage=asked.usage.plus(repaired.usage))
    return repaired, await _read(repaired, read)


async def _read(asked: AskResult, read: Reader) -> Answer | Failure:
    if isinstance(asked.reply, Failure):
        return asked.reply
    return await asyncio.to_thread(read, asked.reply.text)


def _review_request(
    services: Services, effect: StartReview, run: Run, clone: Clone, seen: Difference, *, scratch: str = ""
) -> Request:
    """What a reviewer is asked."""
    return Request(
        run=run.id,
        effect=effect.id,
        role=Role.REVIEW,
        reviewer=effect.reviewer,
        round=effect.round,
        attempt=effect.attempt,
        contract=contract_of(services, run, effect.agent),
        prompt=services.review_prompt(effect, run, seen, scratch),
        folder=str(clone.path),
        scratch=scratch,
        base=run.subject.base_commit,
        head=run.commit,
        subject=run.subject.branch,
        output_file=str(services.attempt_dir(effect.id) / "answer"),
        policy_folder=services.policy_folder,
        model=services.agent(effect.agent).model,
    )


def _writing_request(services: Services, job: Job[Any], clone: Clone, rejection: str) -> Request:
    """What an agent that may change the tree is asked."""
    effect, run = job.effect, job.run
    order = effect.order if isinstance(effect, StartFix) else None
    folder = services.attempt_dir(effect.id)
    return Request(
        run=run.id,
        effect=effect.id,
        role=_role(effect),
        reviewer=effect.reviewer if isinstance(effect, StartReview) else "",
        round=round_of(effect, run),
        attempt=effect.attempt,
        contract=contract_of(services, run, effect.agent),
        prompt=services.writing_prompt(effect, run, rejection),
        folder=str(clone.path),
        base=run.subject.base_commit,
        head=run.commit,
        subject=run.subject.branch,
        output_file=str(folder / "answer"),
        policy_folder=services.policy_folder,
        findings=(*order.must, *order.may) if order else (),
        findings_file=str(folder / "findings.json"),
        model=services.agent(effect.agent).model,
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


def answer_schema(run: Run, request: Request) -> str:
    """The form of the answer, for a client that can be held to one."""
    gate = run.protocol.gate
    dimensions = gate.dimensions if isinstance(gate, ScoreGate) else STANDARD_DIMENSIONS
    found = schema(request.contract, dimensions)
    return json.dumps(found) if found and request.reads_only else ""


class Meter:
    """Watches over an agent's budget and turns while it works, where its client says what each step costs."""

    def __init__(self, bill: Callable[[bytes], Bill | None], share: Share, max_turns: int | None = None) -> None:
        self._bill = bill
        self._share = share
        self._max_turns = max_turns
        self._bills: dict[str, Usage] = {}
        self.over = asyncio.Event()
        """Set once the share is used up, or more turns were taken than allowed."""

    def read(self, line: bytes) -> None:
        bill = self._bill(line)
        if bill is not None:
            self._bills[bill.step] = bill.usage
            # Some clients only ask their model to come to an end.
            too_many = self._max_turns is not None and len(self._bills) > self._max_turns
            if self._share.exceeded_by(self.used) or too_many:
                self.over.set()

    @property
    def used(self) -> Usage:
        total = Usage()
        for usage in self._bills.values():
            total = total.plus(usage)
        return total

    @property
    def failure(self) -> Failure:
        used, share = self.used, self._share
        if not share.exceeded_by(used):
            return Failure(kind=FailureKind.REFUSED, message=f"it reached its limit of {self._max_turns} turns")
        cost = f"{dollars(used.cost_usd)} USD of {dollars(share.cost_usd)}" if share.cost_usd is not None else ""
        tokens = f"{used.tokens:,} tokens of {share.tokens:,}" if share.tokens is not None else ""
        words = ", ".join(filter(None, (cost, tokens)))
        return Failure(kind=FailureKind.OVER_BUDGET, message=f"it used up its share of the budget: {words}")


@asynccontextmanager
async def either(*events: asyncio.Event) -> AsyncGenerator[asyncio.Event]:
    """An event that is set as soon as one of several is."""
    found = asyncio.Event()

    async def pass_on(event: asyncio.Event) -> None:
        await event.wait()
        found.set()

    tasks = [asyncio.ensure_future(pass_on(event)) for event in events]
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
