"""The seal: everything that an approval rests on, bound to the exact tree."""

import hashlib
from pathlib import Path

import msgspec

from burnish.core.effects import MakeSeal
from burnish.core.events import AnyEvent, Sealed
from burnish.core.protocol import Protocol
from burnish.core.state import GoodReview, Run
from burnish.runtime.performing.workshop import Workshop
from burnish.system import clock
from burnish.workspace.seals import SealedFinding, SealedProtocol, Statement, store


def seal(shop: Workshop, effect: MakeSeal, run: Run) -> AnyEvent:
    """Store the seal. A repeat after a crash stores the same one again."""
    key = shop.inputs.settings.seal.signing_key
    digest = store(shop.repository, _statement(shop, effect, run), Path(key).expanduser() if key else None)
    return Sealed(at=clock.now(), effect=effect.id, digest=digest)


def protocol_digest(protocol: Protocol) -> str:
    """The name of a protocol's exact rules."""
    return hashlib.sha256(msgspec.json.encode(protocol, order="deterministic")).hexdigest()


def _statement(shop: Workshop, effect: MakeSeal, run: Run) -> Statement:
    subject = run.subject
    last = [review for review in run.rounds[-1].reviews if isinstance(review, GoodReview)] if run.rounds else []
    return Statement(
        branch=subject.branch,
        run=run.id,
        kinds=effect.kinds,
        merge_base=shop.inputs.merge_base,
        base_commit=subject.base_commit,
        head=run.commit,
        tree=effect.tree,
        protocol=SealedProtocol(name=run.protocol.name, digest=protocol_digest(run.protocol)),
        policy_origin=shop.inputs.policy.value,
        reviewers=tuple(f"{review.reviewer} ({review.agent})" for review in last),
        given={review.reviewer: review.prompt for review in last if review.prompt},
        findings=tuple(
            SealedFinding(id=entry.finding.id, severity=entry.finding.severity, status=entry.status, note=entry.note)
            for entry in run.findings
        ),
        # The time of the judgement, so that the same approval is the same seal.
        sealed_at=max((review.finished_at for review in last), default=run.started.at),
    )
