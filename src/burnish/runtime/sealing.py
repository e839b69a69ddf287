"""The seal: everything that an approval rests on, bound to the exact tree."""

import hashlib
from collections.abc import Iterator

import msgspec

from burnish import __version__
from burnish.core.effects import MakeSeal
from burnish.core.events import AnyEvent, Sealed
from burnish.core.evidence import Level
from burnish.core.gates import blocks
from burnish.core.protocol import Protocol
from burnish.core.state import AnsweredReview, Run
from burnish.core.values import replace
from burnish.runtime.context import RunContext, context_of
from burnish.runtime.services import LocalServices
from burnish.settings.requirements import AgentValue, agent_value
from burnish.system import clock
from burnish.workspace.seals import signing_key, store
from burnish.workspace.statements import (
    SealedFile,
    SealedFinding,
    SealedPolicy,
    SealedProtocol,
    SealedReviewer,
    Statement,
    timestamp,
)


def seal(services: LocalServices, effect: MakeSeal, run: Run) -> AnyEvent:
    """Store the seal. A repeat after a crash stores the same one again."""
    wanted = services.settings.seal
    key = signing_key(services.repository, wanted.signing_key, ask_git=wanted.sign)
    digest = store(services.repository, statement_of(run, effect), key)
    return Sealed(at=clock.now(), effect=effect.id, digest=digest)


def protocol_digest(protocol: Protocol) -> str:
    """The name of a protocol's exact rules. Who fixes in which round is none of them: the result is reviewed."""
    rules = replace(protocol, fix=replace(protocol.fix, by_round=()))
    return hashlib.sha256(msgspec.json.encode(rules, order="deterministic")).hexdigest()


def statement_of(run: Run, effect: MakeSeal) -> Statement:
    """What the seal of a run says. It follows from the run's events alone."""
    context = context_of(run)
    subject = run.subject
    asked = context.governance.requirements
    last = [review for review in run.rounds[-1].reviews if isinstance(review, AnsweredReview)] if run.rounds else []
    return Statement(
        branch=subject.branch,
        run=run.id,
        kinds=effect.kinds,
        merge_base=context.merge_base,
        base_commit=subject.base_commit,
        head=run.commit,
        tree=effect.tree,
        files=tuple(_files(run)),
        protocol=SealedProtocol(name=run.protocol.name, digest=protocol_digest(run.protocol)),
        policy=SealedPolicy(
            origin=context.policy.value,
            gate=asked.gate if asked is not None else "",
            deviations=context.governance.deviations,
        ),
        reviewers=tuple(_reviewer(review, context) for review in last),
        roles=dict(_roles(run, context)),
        findings=tuple(_findings(run)),
        validation=run.validated.status.value if run.validated is not None else "",
        version=__version__,
        # The time of the judgement, so that the same approval is the same seal.
        sealed_at=timestamp(max((review.finished_at for review in last), default=run.started.at)),
    )


def _files(run: Run) -> Iterator[SealedFile]:
    """The files that differ from the merge base now. A file that changed since it was examined was not examined."""
    levels = {entry.file: entry.level for entry in run.census}
    for file in run.changed:
        level = levels.get(file, Level.NOT_EXAMINED)
        yield SealedFile(path=file.path, before=file.before, after=file.after, need=file.need, level=level)


def _reviewer(review: AnsweredReview, context: RunContext) -> SealedReviewer:
    missing = review.evidence.missing
    return SealedReviewer(
        reviewer=review.reviewer,
        agent=agent_value(context.settings, review.agent),
        prompt=review.prompt,
        status=review.status,
        missing=missing.reason if missing is not None else "",
        excused=missing is not None and missing.excused,
    )


def _roles(run: Run, context: RunContext) -> Iterator[tuple[str, AgentValue]]:
    for role, assigned in (("fix", run.roles.fix), ("build", run.roles.build)):
        if assigned is not None:
            yield role, agent_value(context.settings, assigned.agent)


def _findings(run: Run) -> Iterator[SealedFinding]:
    for entry in run.findings:
        finding = entry.finding
        yield SealedFinding(
            id=finding.id,
            severity=finding.severity,
            status=entry.status,
            title=finding.title,
            file=finding.location.file if finding.location is not None else "",
            blocking=blocks(run.protocol.gate, finding),
            note=entry.note,
        )
