"""One reviewer at work: a clone of the exact tree, a prompt, an answer, and proof that nothing was written."""

import asyncio
from functools import partial

from burnish.agents.interface import Request, Role
from burnish.contracts.registry import Expected, parse_answer
from burnish.contracts.text import UnreadableError
from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent, Reviewed, WorkFailed
from burnish.core.finding_identity import anchored
from burnish.core.protocol import Feedback, ReviewMode, ScoreGate
from burnish.core.reviews import Answer, ContractName, Failure, FailureKind
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.prompts.fences import visible
from burnish.runtime.performing.asking import Asked, Reader, ask_readably
from burnish.runtime.performing.material import evidence_of, review_prompt
from burnish.runtime.performing.workshop import Job, Workshop, agent_settings
from burnish.system import clock
from burnish.workspace.clones import Clone
from burnish.workspace.commits import commit_tree
from burnish.workspace.diffs import Difference, difference
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository

UNDER_REVIEW = "The change under review"


async def review(shop: Workshop, job: Job[StartReview]) -> AnyEvent:
    """Have one reviewer answer."""
    effect, run = job.effect, job.run
    shown = await asyncio.to_thread(difference, shop.repository, run.subject.base_commit, run.commit)
    if shown.empty:
        failure = Failure(kind=FailureKind.EMPTY_DIFF, message="there is nothing to review")
        return WorkFailed(at=clock.now(), effect=effect.id, failure=failure)
    run = await asyncio.to_thread(_seen_afresh, shop.repository, run)
    clone = await shop.clone(clone_name(effect.id), run.subject.base_commit, run.commit, writable=False)
    try:
        scratch = await _scratch(shop, job, clone)
        if isinstance(scratch, Failure):
            return WorkFailed(at=clock.now(), effect=effect.id, failure=scratch)
        request = review_request(shop, effect, run, clone, shown, scratch=str(scratch.path) if scratch else "")
        asked, answer = await _watched(shop, job, clone, request)
    finally:
        await asyncio.to_thread(shop.discard, clone)
    if isinstance(answer, Failure):
        return WorkFailed(at=clock.now(), effect=effect.id, failure=answer, usage=asked.usage)
    return Reviewed(
        at=clock.now(),
        effect=effect.id,
        answer=answer,
        evidence=evidence_of(shop, shown, effect.agent, answer, asked.transcript),
        prompt=shop.keep(request.prompt.encode(errors="replace")),
        transcript=shop.keep(asked.transcript),
        usage=asked.usage,
    )


def _seen_afresh(repository: Repository, run: Run) -> Run:
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


def clone_name(effect: str) -> str:
    return effect.replace(":", "-")


async def _watched(
    shop: Workshop, job: Job[StartReview], clone: Clone, request: Request
) -> tuple[Asked, Answer | Failure]:
    """Run the reviewer, and see to it that its clone is as it was."""
    before = await asyncio.to_thread(shop.clones.fingerprint, clone)
    writable = (request.scratch,) if request.scratch else ()
    asked, answer = await ask_readably(shop, job, request, writable, answer_reader(shop, job, job.run.commit))
    after = await asyncio.to_thread(shop.clones.fingerprint, clone, before)
    written = shop.clones.differences(before, after)
    if written:
        # Whatever it answered: it was not looking at the tree that it was given.
        # What it wrote says more than the modes that it had to change first.
        listed = "; ".join(sorted(written, key=lambda line: line.startswith("mode changed"))[:5])
        answer = Failure(kind=FailureKind.WROTE_TO_TREE, message=f"the reviewer wrote to its clone: {listed}")
    return asked, answer


async def _scratch(shop: Workshop, job: Job[StartReview], clone: Clone) -> Clone | Failure | None:
    """A throwaway copy to run tests in, for reviewers that must."""
    if not job.effect.scratch:
        return None
    scratch = await asyncio.to_thread(shop.clones.copy, clone, f"{clone.name}-scratch")
    return await shop.prepare(scratch, job.effect.id, job.stop) or scratch


def review_request(
    shop: Workshop, effect: StartReview, run: Run, clone: Clone, shown: Difference, *, scratch: str = ""
) -> Request:
    """What a reviewer is asked."""
    settings = agent_settings(shop, effect.agent)
    return Request(
        run=run.id,
        effect=effect.id,
        role=Role.REVIEW,
        reviewer=effect.reviewer,
        round=effect.round,
        attempt=effect.attempt,
        contract=contract_of(shop, run, effect.agent),
        prompt=review_prompt(shop, effect, run, shown, scratch=scratch),
        folder=str(clone.path),
        scratch=scratch,
        base=run.subject.base_commit,
        head=run.commit,
        subject=run.subject.branch,
        output_file=str(shop.desk(effect.id) / "answer"),
        policy_folder=shop.policy_folder,
        model=settings.model,
    )


def contract_of(shop: Workshop, run: Run, agent: str) -> ContractName:
    """The form in which an agent answers: its own where it has one, else the protocol's. Never guessed."""
    return agent_settings(shop, agent).contract or run.protocol.contract


def answer_reader(shop: Workshop, job: Job[StartReview], commit: str) -> Reader:
    """How the answer of a job is read."""
    return partial(read_answer, shop, job.run, job.effect.agent, commit)


def read_answer(shop: Workshop, run: Run, agent: str, commit: str, text: bytes) -> Answer | Failure:
    """Read an answer once, at the boundary, and tie its findings to the lines of the reviewed tree."""
    tree = TreeFiles(shop.repository, commit)
    gate = run.protocol.gate if isinstance(run.protocol.gate, ScoreGate) else None
    try:
        answer = parse_answer(contract_of(shop, run, agent), text, tree.is_file, gate, expected_of(run))
    except UnreadableError as error:
        return Failure(kind=FailureKind.UNREADABLE, message=error.message)
    return replace(answer, findings=anchored(answer.findings, tree.lines))


def expected_of(run: Run) -> Expected:
    """What the prompt tells a reviewer that its answer is about."""
    return Expected(ticket=visible(run.subject.story or run.subject.branch), revision=run.revisions)


class TreeFiles:
    """The files of a commit, as parsers and identity ask for them."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self._commit = commit
        # An agent names a file as it was shown to it.
        self._names = {shown(name): name for name in repository.files(commit)}

    def is_file(self, path: str) -> bool:
        return path in self._names

    def lines(self, path: str) -> list[str] | None:
        if path not in self._names:
            return None
        content = self._repository.read_file(self._commit, self._names[path])
        return None if content is None else content.decode("utf-8", errors="replace").split("\n")
