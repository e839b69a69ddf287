"""Everything that is settled before a run begins: subject, policy, protocol, roles, prompts, sandbox.

Nothing is written here. Whatever is wrong is said now, while it costs nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.agents.analysers.rulebook import unknown_rules
from burnish.agents.registry import adapter_for
from burnish.config.loading import Merged, Sources, user_file
from burnish.config.loading import load as load_settings
from burnish.config.overrides import Flags
from burnish.config.roles import resolve, role_notices, with_fixers
from burnish.config.settings import AgentKind, Complexity, Settings
from burnish.core.budget import Budget
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Mode, Roles, Subject
from burnish.core.protocol import Protocol
from burnish.core.values import Value
from burnish.prompts.resolution import PromptRole, resolve_prompt
from burnish.protocols.loader import load as load_protocol
from burnish.records.registry import RECORD_PATHS
from burnish.runtime.census import changed_files
from burnish.runtime.inputs import Guidance, Inputs
from burnish.system.sandbox import Sandbox, SandboxKind, choose
from burnish.usecases.briefs import read_brief
from burnish.usecases.budgets import agents_called, allot
from burnish.usecases.estimates import Prospect
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import FrozenSubject

GUIDANCE = ("REVIEW.md", "AGENTS.md", "CLAUDE.md")
MAX_PAGE_BYTES = 256 * 1024


class PlanError(BurnishError):
    """A run that cannot be started as it was asked for."""

    kind = ErrorKind.USAGE


class Wanted(Value):
    """What the user asked for."""

    mode: Mode
    branch: str | None = None
    base: str | None = None
    uncommitted: bool = False
    brief: str = ""
    """Path of a file with requirements and acceptance criteria."""
    intent: str = ""
    story: str = ""
    flags: Flags = Flags()
    agents: tuple[str, ...] = ()
    complexity: Complexity | None = None
    """How hard the subject is; it may call for other agents."""
    max_rounds: int | None = None
    interactive: bool = False
    build: bool = False
    """Whether the change is to be made first."""


class Plan(Value):
    """A run, ready to begin."""

    mode: Mode
    repository: Repository
    frozen: FrozenSubject
    subject: Subject
    protocol: Protocol
    roles: Roles
    inputs: Inputs
    sandbox: Sandbox
    budget: Budget = Budget()
    build: bool = False
    notices: tuple[str, ...] = ()


def plan(folder: Path, wanted: Wanted, environment: Mapping[str, str]) -> Plan:
    """Settle everything. Raises a `BurnishError` that says what to do."""
    refuse_inside(environment)
    repository = Repository.discover(folder)
    frozen = repository.freeze(
        wanted.branch, wanted.base, uncommitted=wanted.uncommitted, ignoring=RECORD_PATHS, allow_empty=wanted.build
    )
    merged = _settings(repository, frozen, wanted, environment)
    loaded = load_protocol(merged.settings.protocol, lambda path: repository.read_file(frozen.base_commit, path))
    protocol = with_fixers(merged.settings, loaded.protocol, wanted.agents)
    roles = resolve(merged.settings, protocol, flags=wanted.agents, complexity=wanted.complexity)
    _check_build(wanted, roles)
    _check_agents(merged.settings, agents_called(protocol, roles, wanted.mode, build=wanted.build))
    _check_rounds(protocol, wanted.max_rounds)
    sandbox = choose(merged.settings.sandbox.value)
    prompts, prompt_notices = _prompts(repository, frozen, merged.settings)
    prospect = Prospect(
        repository=repository,
        subject=_subject(repository, frozen, wanted, merged.settings),
        protocol=protocol,
        roles=roles,
        mode=wanted.mode,
        build=wanted.build,
        inputs=_inputs(repository, frozen, wanted, merged, prompts),
    )
    allotment = allot(prospect)
    return Plan(
        mode=wanted.mode,
        repository=repository,
        frozen=frozen,
        subject=prospect.subject,
        protocol=protocol,
        roles=roles,
        inputs=prospect.inputs,
        sandbox=sandbox,
        budget=allotment.budget,
        build=wanted.build,
        notices=(
            *merged.notices,
            *role_notices(merged.settings, protocol),
            *(unknown_rules(merged.settings.analysers) if merged.settings.analysers.rules else ()),
            *prompt_notices,
            *_sandbox_notices(sandbox),
            *allotment.notices,
        ),
    )


def refuse_inside(environment: Mapping[str, str]) -> None:
    """Raise where this process was started by an agent of a run."""
    if environment.get("BURNISH_RUN"):
        raise PlanError(
            "burnish does not start a run inside one of its own agents.",
            hint="The agent that called it is part of a run already; let that one finish.",
        )


def _settings(repository: Repository, frozen: FrozenSubject, wanted: Wanted, environment: Mapping[str, str]) -> Merged:
    return load_settings(
        Sources(
            base_file=lambda path: repository.read_file(frozen.base_commit, path),
            working_file=lambda path: working_file(repository, path),
            user_file=user_file(environment),
            environment=environment,
            flags=wanted.flags,
            base_name=frozen.base,
        )
    )


def working_file(repository: Repository, path: str) -> bytes | None:
    """A file of the working tree, or None where it is none."""
    file = repository.root / path
    return file.read_bytes() if file.is_file() else None


def _check_agents(settings: Settings, called: Sequence[str]) -> None:
    """Every agent that may be called can be run, before the first one is."""
    for agent in map(settings.agent, called):
        if agent is not None and agent.kind is not AgentKind.ANALYSERS:
            adapter_for(agent)


def _check_build(wanted: Wanted, roles: Roles) -> None:
    if not wanted.build:
        return
    if roles.build is None:
        raise PlanError(
            "Nobody is named who could build.", hint="Give --agent build=NAME, or set build in [roles] of burnish.toml."
        )
    if not (wanted.brief or wanted.intent):
        raise PlanError(
            "There is nothing to build from.", hint="Say what is wanted with --brief FILE or --intent TEXT."
        )


def _check_rounds(protocol: Protocol, max_rounds: int | None) -> None:
    cap = protocol.limits.hard_cap
    if max_rounds is not None and not 1 <= max_rounds <= cap:
        raise PlanError(
            f"--max-rounds {max_rounds} is not within 1 and {cap}, the hard cap of '{protocol.name}'.",
            hint="Choose fewer rounds, or a protocol with a higher limits.hard_cap.",
        )


def _subject(repository: Repository, frozen: FrozenSubject, wanted: Wanted, settings: Settings) -> Subject:
    return Subject(
        branch=frozen.branch,
        base=frozen.base,
        base_commit=frozen.base_commit,
        head=frozen.head,
        tree=frozen.tree,
        story=wanted.story,
        changed=changed_files(repository, settings, frozen.base_commit, frozen.head),
    )


def _inputs(
    repository: Repository, frozen: FrozenSubject, wanted: Wanted, merged: Merged, prompts: dict[str, str]
) -> Inputs:
    pages = ((name, repository.read_file(frozen.base_commit, name)) for name in GUIDANCE)
    brief = read_brief(wanted.brief)
    return Inputs(
        settings=merged.settings,
        policy=merged.policy.value,
        merge_base=frozen.merge_base,
        detached=frozen.detached or frozen.uncommitted,
        brief=brief.text,
        brief_path=brief.path,
        acceptance=brief.acceptance,
        intent=wanted.intent,
        guidance=tuple(
            Guidance(name=name, text=page[:MAX_PAGE_BYTES].decode("utf-8", errors="replace"))
            for name, page in pages
            if page is not None
        ),
        prompts=prompts,
    )


def _prompts(
    repository: Repository, frozen: FrozenSubject, settings: Settings
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The user's own openings by role, and what should be said of them."""
    explicit = {
        PromptRole.REVIEWER: settings.prompts.reviewer,
        PromptRole.FIXER: settings.prompts.fixer,
        PromptRole.BUILDER: settings.prompts.builder,
    }
    texts: dict[str, str] = {}
    notices: list[str] = []
    for role, path in explicit.items():
        found = resolve_prompt(
            role,
            path,
            base_file=lambda name: repository.read_file(frozen.base_commit, name),
            working_file=lambda name: working_file(repository, name),
        )
        if found.text is not None:
            texts[role.value] = found.text
        if found.notice:
            notices.append(found.notice)
    return texts, tuple(notices)


def _sandbox_notices(sandbox: Sandbox) -> tuple[str, ...]:
    if sandbox.kind is not SandboxKind.NONE:
        return ()
    return (f"Agents run without a sandbox; their clones are compared before and after. {sandbox.reason}",)
