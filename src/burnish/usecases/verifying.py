"""Does this exact tree carry a seal that holds, under the rules that its base asks for?"""

from collections.abc import Mapping
from pathlib import Path

from burnish.config.loading import PolicyOrigin, Sources, user_file
from burnish.config.loading import load as load_settings
from burnish.config.roles import with_fixers
from burnish.core.state import SealKind
from burnish.core.values import Value, replace
from burnish.protocols.loader import load as load_protocol
from burnish.runtime.performing.sealing import protocol_digest
from burnish.workspace.repository import Repository
from burnish.workspace.seals import Verdict, check


class Demands(Value):
    """What a seal must satisfy beyond being whole."""

    base: str | None = None
    protocol: str | None = None
    """Another protocol than the one that the base's policy names."""
    any_protocol: bool = False
    any_policy: bool = False
    kinds: tuple[SealKind, ...] = (SealKind.APPROVED,)
    signers: Path | None = None


def verify(repository: Repository, ref: str, demands: Demands, environment: Mapping[str, str]) -> Verdict:
    """Check the tree of a ref. The policy is read from the base, so that a change cannot choose its own."""
    base = repository.commit_of(demands.base or repository.default_base(ref))
    policy = load_settings(
        Sources(
            base_file=lambda path: repository.read_file(base, path),
            working_file=lambda _path: None,
            user_file=user_file(environment),
        )
    )
    digest = None
    if not demands.any_protocol:
        name = demands.protocol or policy.settings.protocol
        loaded = load_protocol(name, lambda path: repository.read_file(base, path))
        digest = protocol_digest(with_fixers(policy.settings, loaded.protocol))
    verdict = check(
        repository,
        ref,
        required_protocol_digest=digest,
        allowed_kinds=demands.kinds,
        allowed_signers=demands.signers,
        require_base_policy=policy.policy is PolicyOrigin.BASE and not demands.any_policy,
    )
    return verdict if demands.any_policy else _without_own_policy(verdict)


def _without_own_policy(verdict: Verdict) -> Verdict:
    """Where the base has no policy, the change's own working tree may not have been the policy either."""
    statement = verdict.seal.statement if verdict.seal is not None else None
    others = [origin.value for origin in PolicyOrigin if origin is not PolicyOrigin.WORKING_TREE]
    if not verdict.ok or statement is None or statement.policy_origin in others:
        return verdict
    reason = "It was reviewed under the settings of its own working tree, not of its base."
    return replace(verdict, ok=False, reason=reason)
