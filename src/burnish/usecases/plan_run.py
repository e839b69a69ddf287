"""Everything that is resolved before a run begins: subject, policy, protocol, roles, prompts, sandbox.

Nothing is written here. Whatever is wrong is said now, while it costs nothing.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from burnish.agents.census import changed_files, is_data
from burnish.agents.registry import agent_of, client_of, clients
from burnish.core.budget import Amounts, Budget, Cap, Share
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Mode, Roles, Subject
from burnish.core.evidence import CensusFile, Need
from burnish.core.protocol import Protocol, ReviewBy, SkipReason
from burnish.core.values import Value, replace
from burnish.core.work import Assignment
from burnish.prompts.resolution import resolve_prompt
from burnish.protocols.loader import load as load_protocol
from burnish.records.registry import LEFTOVER_PATHS, RECORD_PATHS
from burnish.runtime.context import Governance, Guidance, Invocation, Picking, RunContext
from burnish.runtime.stories import find_status_file, lists_story
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.documents import DocumentError, Problem, ReadFile
from burnish.settings.loading import REPOSITORY_FILE, Flags, LayerName, Merged, load_alone
from burnish.settings.requirements import Requirements, agent_value, deviations, requirements
from burnish.settings.roles import resolve, role_notices, with_fixers
from burnish.settings.rules import unknown_agent
from burnish.settings.types import Complexity, Settings, Unproven
from burnish.system.sandbox import Sandbox, SandboxKind, choose
from burnish.usecases.allocate_budget import PlannedRun, agents_called, allocate_budget, assignments
from burnish.usecases.name_subject import NamedSubject, single_commit, subject_named
from burnish.usecases.read_brief import Brief, read_brief
from burnish.usecases.trust_settings import (
    AskTrust,
    Base,
    ResolvedSettings,
    base_file,
    explained,
    prompt_paths,
    read_outside,
    resolve_settings,
    target_in_ci,
)
from burnish.workspace.errors import SubjectError
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import FrozenSubject, Work, freeze, freeze_as_is

IN_SESSION = "panel"
"""The protocol of a session that reviews its own work, where no other is named."""
GUIDANCE = ("REVIEW.md", "AGENTS.md")
MAX_PAGE_BYTES = 256 * 1024
_MOST_NAMED = 10
_WHOLE_PROGRAM = 50
"""Files of code: so many at once are rarely what an agent has just written."""
_EXECUTABLE = "100755"


class PlanError(BurnishError):
    kind = ErrorKind.USAGE


class AgentNotReadyError(BurnishError):
    """An agent that the run depends on is not installed, or not logged in. Nothing has been started."""


NOT_COMMITTED = "Not committed, so not reviewed"


class RunRequest(Value):
    mode: Mode
    branch: str | None = None
    base: str | None = None
    what: tuple[str, ...] = ()
    """A branch, a commit or a range, and files, as the user typed them."""
    commit: str = ""
    """One commit that is reviewed by itself."""
    uncommitted: bool = False
    staged: bool = False
    """What is staged is reviewed, against the last commit."""
    whole: bool = False
    """Files are reviewed as they are, and not what a change did to them."""
    index: Path | None = None
    """What holds the staged files, where that is not the repository's own index."""
    brief: str = ""
    """Path of a file with requirements and acceptance criteria."""
    ticket: Brief | None = None
    """The same, read already: a ticket of an epic."""
    epic: str = ""
    """The epic that the run is part of, by its name in the ledger. It hands down its budget."""
    share: Share = Share()
    """What the run may use up of the epic's budget."""
    minutes: float | None = None
    """The same for minutes of work."""
    build_title: str = ""
    """How the message of the builder's commit begins, where that is not the implementation of a story."""
    intent: str = ""
    story: str = ""
    status_file: str = ""
    """The file that says how the story stands, where the source tells; else it is looked for."""
    flags: Flags = Flags()
    agents: tuple[str, ...] = ()
    chosen: Mapping[str, Assignment] = msgspec.field(default_factory=dict[str, Assignment])
    """The agents that the source of the work names, by role. Flags come before them."""
    complexity: Complexity | None = None
    """How hard the subject is; it may call for other agents."""
    max_rounds: int | None = None
    interactive: bool = False
    build: bool = False
    """Whether the change is to be made first."""
    review: bool = True
    """Whether it is reviewed. What is not is neither approved nor sealed."""
    skip: SkipReason = SkipReason.REVIEW_DISABLED
    """Why it is not, where it is not."""
    picking: Picking | None = None
    """The list that its task is from, where its agent may choose another one."""
    allow_unexamined: bool = False
    """Whether a change is approved of which not everything was examined."""
    supersede: bool = False
    """Whether a run of the same subject is ended that waits for a person, or could be resumed."""
    session: str = ""
    """The client's session that reviews and fixes its own working tree, in place."""

    @property
    def is_by_agent(self) -> bool:
        """Whether burnish knows that an agent makes the change now."""
        return bool(self.build or self.session or self.epic or self.story)


class Plan(PlannedRun):
    """A run, ready to begin."""

    frozen: FrozenSubject
    invocation: Invocation
    sandbox: Sandbox
    budget: Budget = Budget()
    skip: SkipReason | None = None
    """Why what was built is not reviewed."""
    allow_unexamined: bool = False
    waivers: tuple[str, ...] = ()
    """The findings that the repository's policy waives, by their ids."""
    notices: tuple[str, ...] = ()


def check_ready(planned: Plan, environment: Mapping[str, str]) -> None:
    """Raise where a client cannot work that no other agent stands in for. It starts nothing.

    A client gets only the login that burnish finds. A command of the user's own may bring another.
    """
    settings = planned.inputs.settings
    for assigned in assignments(planned.protocol, planned.roles, planned.mode, build=planned.build):
        agent = settings.agent(assigned.agent)
        client = client_of(agent.kind) if agent is not None else None
        if agent is None or client is None or agent.command or assigned.fallback is not None:
            continue
        if client.program(agent, environment) is None:
            hint = f"Install it: {client.card.install}. `burnish agent list` shows which agents are ready."
            raise AgentNotReadyError(f"The agent '{assigned.agent}' is not installed.", hint=hint)
        needs = client.needs(agent, environment)
        if needs.logged_in is False and not agent.environment:
            hint = f"{needs.hint} `burnish agent list` shows which agents are ready."
            raise AgentNotReadyError(f"The agent '{assigned.agent}' is not logged in.", hint=hint)


def plan(folder: Path, request: RunRequest, environment: Mapping[str, str], ask: AskTrust | None = None) -> Plan:
    """Settle everything. Raises a `BurnishError` that says what to do.

    `ask` puts to the user whether settings of the working tree are trusted, where the base has none.
    """
    refuse_inside(environment)
    repository = Repository.discover(folder)
    named = _named(repository, folder, request)
    target = named.base or target_in_ci(repository, environment)
    frozen = _frozen(repository, named, target, request)
    base = Base(name=frozen.base, commit=frozen.base_commit, asked=target)
    resolved = resolve_settings(repository, base, environment, request.flags, ask)
    if request.session and resolved.merged.origin("protocol").layer is LayerName.DEFAULT:
        in_session = replace(request.flags, protocol=IN_SESSION)
        resolved = resolve_settings(repository, base, environment, in_session, ask)
    settings = resolved.merged.settings
    with explained(None if resolved.trusted else resolved.content):
        _check_agents(settings, request.agents)
        protocol = with_fixers(settings, _protocol(repository, base, resolved), request.agents)
        roles = resolve(settings, protocol, flags=request.agents, chosen=request.chosen, complexity=request.complexity)
    _check_build(request, roles)
    _check_no_review(request, protocol)
    called = agents_called(protocol, roles, request.mode, build=request.build)
    for agent in filter(None, map(settings.agent, called)):
        agent_of(agent.kind).check(agent)
    _check_session(request, settings, called)
    _check_trust(resolved, called)
    _check_rounds(protocol, request.max_rounds)
    sandbox = choose(settings.sandbox.value)
    prompts = _prompts(repository, base, resolved)
    brief = request.ticket or read_brief(request.brief, repository.root, request.story, base_file(repository, base))
    planned = Plan(
        mode=request.mode,
        repository=repository,
        frozen=frozen,
        subject=_subject(
            *(repository, frozen, request, settings, brief),
            marks=protocol.review.by is ReviewBy.SESSION,
            paths=named.paths,
        ),
        protocol=protocol,
        roles=roles,
        inputs=_inputs(repository, frozen, request, resolved, prompts=prompts, brief=brief),
        invocation=_invocation(folder, request, environment),
        sandbox=sandbox,
        build=request.build,
        handed_down=_handed_down(request),
        skip=None if request.review else request.skip,
        allow_unexamined=request.allow_unexamined or settings.gate.unproven is Unproven.WARN,
        waivers=_waivers(resolved.merged),
        notices=(
            *resolved.notices,
            *_uncommitted_notices(repository, frozen),
            *role_notices(settings, protocol, request.agents),
            *(_unknown_rules(settings) if settings.analysers.rules else ()),
            *_sandbox_notices(sandbox),
        ),
    )
    budget, notices = allocate_budget(planned)
    return replace(planned, budget=budget, notices=(*planned.notices, *notices))


def _frozen(repository: Repository, named: NamedSubject, target: str | None, request: RunRequest) -> FrozenSubject:
    ignoring = (*RECORD_PATHS, *LEFTOVER_PATHS)
    if request.whole:
        work = Work.UNCOMMITTED if request.uncommitted else Work.COMMITTED
        return freeze_as_is(
            repository, named.branch, target, steers=_steers, paths=named.paths, work=work, ignoring=ignoring
        )
    return freeze(
        repository,
        named.branch,
        target,
        work=Work.STAGED if request.staged else Work.UNCOMMITTED if request.uncommitted else Work.COMMITTED,
        ignoring=ignoring,
        index=request.index,
        allow_empty=request.build,
    )


def _steers(path: str) -> bool:
    """Whether a file says how others are reviewed, so that it is no part of what is reviewed as it is."""
    from burnish.agents.panel.own_configuration import declares_packages, is_configuration  # noqa: PLC0415 - few ask

    is_policy = path == REPOSITORY_FILE or path.startswith(".burnish/") or path.endswith(".gitattributes")
    return is_policy or path in _guidance_files() or is_configuration(path) or declares_packages(path)


def _named(repository: Repository, folder: Path, request: RunRequest) -> NamedSubject:
    """Branch, base and paths, by whatever options they were named."""
    ways = {
        "--whole": request.whole and (request.staged or bool(request.commit)),
        "--commit": bool(request.commit),
        "--staged": request.staged,
        "--uncommitted": request.uncommitted,
        "--branch": request.branch is not None,
    }
    named = single_commit(repository, request.commit) if request.commit else NamedSubject()
    if request.what:
        named = subject_named(repository, folder, request.what)
        if request.whole and named.branch is None:
            named = replace(named, branch=named.base, base=None)  # the files of that commit
        ways[" ".join(map(shown, request.what))] = named.branch is not None
    used = [way for way, is_used in ways.items() if is_used]
    if len(used) > 1:
        raise PlanError(f"{' and '.join(used)} name different changes.", hint="Use one of them.")
    if request.whole and named.base:
        raise PlanError("--whole reviews files as they are, not a range.", hint="Name a branch or a commit.")
    if request.base and named.base:
        raise PlanError(f"--base {request.base} and {named.base} are two bases.", hint="Use one of them.")
    if named.paths and request.mode is not Mode.REVIEW:
        raise PlanError("Only `burnish review` can look at some paths.", hint="Omit them to fix the whole change.")
    return replace(named, branch=named.branch or request.branch, base=request.base or named.base)


def refuse_inside(environment: Mapping[str, str], refusal: str = "does not start a run") -> None:
    """Raise where this process was started by an agent of a run."""
    if environment.get("BURNISH_RUN"):
        raise PlanError(
            f"burnish {refusal} inside one of its own agents.",
            hint="The agent that called it is part of a run. Let that run finish.",
        )


def _check_agents(settings: Settings, flags: Sequence[str]) -> None:
    """Raise for a name that no agent has: once, though it may stand for several roles."""
    unknown = [name for flag in flags if (name := flag.rpartition("=")[2]) and settings.agent(name) is None]
    if unknown:
        told = (unknown_agent(settings, name) for name in dict.fromkeys(unknown))
        raise DocumentError([Problem(file="--agent", message=message, hint=hint) for message, hint in told])


def required_by(repository: Repository, base: Base) -> Requirements:
    """What a base asks for by itself: neither the user's own settings nor any flag has a part in it.

    Raises a `DocumentError` where the base asks for what it does not have.
    """
    settings = settings_alone(repository, base)
    read = base_file(repository, base)
    protocol = load_protocol(settings.protocol, _only(read)).protocol
    return requirements(settings, protocol, has_policy=read(REPOSITORY_FILE) is not None)


def settings_alone(repository: Repository, base: Base) -> Settings:
    return load_alone(base_file(repository, base)(REPOSITORY_FILE), f"{base.name}:{REPOSITORY_FILE}")


def _only(read: ReadFile) -> ReadFile:
    """Files of the base, and nothing of a working tree in their place."""

    def read_or_fail(path: str) -> bytes:
        found = read(path)
        if found is None:
            raise DocumentError(
                [Problem(file=path, message="the base has no such file.", hint="Commit it to the base.")]
            )
        return found

    return read_or_fail


def _protocol(repository: Repository, base: Base, resolved: ResolvedSettings) -> Protocol:
    """The protocol that the settings name; of one that the repository names, the base's file or a trusted one."""
    merged, read = resolved.merged, base_file(repository, base)
    if merged.origin("protocol").layer is not LayerName.REPOSITORY:
        return load_protocol(merged.settings.protocol, read).protocol

    def read_trusted(path: str) -> bytes | None:
        found = read(path)
        if found is None:
            found = resolved.files.get(path)
        if found is None and (repository.root / path).is_file():
            raise DocumentError(
                [
                    Problem(
                        file=merged.origin("protocol").file,
                        line=merged.origin("protocol").line,
                        key="protocol",
                        message=f"{base.name} has no {path}, and you have not trusted the one in the working tree.",
                        hint=f"Commit it to {base.name}, or trust it with '{resolved.content.command}'.",
                    )
                ]
            )
        return found

    return load_protocol(merged.settings.protocol, read_trusted).protocol


def _check_trust(resolved: ResolvedSettings, called: Sequence[str]) -> None:
    """No agent that may be called runs a file of the working tree that the user has not trusted."""
    if resolved.trusted:
        return
    content = resolved.content
    for name in called:
        agent = resolved.merged.settings.agents.get(name)
        files = [file for file in agent.named_files if file in content.files] if agent is not None else []
        if files:
            raise PlanError(
                (
                    f"Agent '{name}' runs {', '.join(files)}, which {content.base.name} does not have, and you have "
                    "not trusted the working tree's version."
                ),
                hint=f"Commit it to {content.base.name}, or trust it with '{content.command}'.",
            )


def _waivers(merged: Merged) -> tuple[str, ...]:
    """The waivers of the repository. Those of a user's own file are not the project's word."""
    if merged.origin("waivers").layer is not LayerName.REPOSITORY:
        return ()
    return tuple(waiver.finding for waiver in merged.settings.waivers)


def _check_build(request: RunRequest, roles: Roles) -> None:
    if not request.build:
        return
    if roles.build is None:
        raise PlanError(
            "No agent has the role 'build'.", hint="Use --agent build=NAME, or set build in [roles] of burnish.toml."
        )
    if not (request.brief or request.intent or request.ticket):
        raise PlanError(
            "There is nothing to build from.", hint="Describe the change with --brief FILE or --intent TEXT."
        )


def _handed_down(request: RunRequest) -> Amounts | None:
    """What an epic leaves to one of its runs; None for a run that is part of none."""
    if not request.epic:
        return None
    amounts = {Cap.COST: request.share.cost_usd, Cap.TOKENS: request.share.tokens, Cap.MINUTES: request.minutes}
    return {cap: amount for cap, amount in amounts.items() if amount is not None}


def _check_no_review(request: RunRequest, protocol: Protocol) -> None:
    """A ticket of an epic may ask for no review under any protocol: it is then neither sealed nor merged."""
    if request.review or request.epic:
        return
    if not request.build:
        raise PlanError("--no-review without --build does nothing.", hint="Add --build, or omit --no-review.")
    if SkipReason.REVIEW_DISABLED not in protocol.skip_when:
        raise PlanError(
            f"The protocol '{protocol.name}' requires a review after a build.",
            hint="Omit --no-review, or choose a protocol that can skip reviews, such as --protocol drift.",
        )


def _check_session(request: RunRequest, settings: Settings, called: Sequence[str]) -> None:
    """Only a client's own session can play the agent of that kind."""
    agents = {name: settings.agent(name) for name in called}
    of_session = [name for name, agent in agents.items() if agent is not None and agent.kind is AgentKind.SESSION]
    if of_session and not request.session:
        raise PlanError(
            f"The agent '{of_session[0]}' stands for a session of your client, which burnish cannot start.",
            hint="Type /burnish:fix in your session (see `burnish plugin --help`), or choose another agent.",
        )


def _check_rounds(protocol: Protocol, max_rounds: int | None) -> None:
    cap = protocol.limits.hard_cap
    if max_rounds is not None and not 1 <= max_rounds <= cap:
        raise PlanError(
            f"--max-rounds {max_rounds} is not between 1 and {cap}, the hard cap of '{protocol.name}'.",
            hint="Choose fewer rounds, or a protocol with a higher limits.hard_cap.",
        )


def _subject(
    repository: Repository,
    frozen: FrozenSubject,
    request: RunRequest,
    settings: Settings,
    brief: Brief,
    *,
    marks: bool,
    paths: tuple[str, ...],
) -> Subject:
    """The subject, frozen. Where a session `marks` its story, the file in which it does so is part of it."""
    changed = changed_files(repository, settings, frozen.base_commit, frozen.head, paths)
    if paths and not changed:
        listed = ", ".join(map(shown, paths))
        raise SubjectError(
            f"There is nothing to review: '{frozen.branch}' does not change {listed}.",
            hint="Omit the paths to review the whole change. Work that is not committed needs --uncommitted.",
        )
    return Subject(
        branch=frozen.branch,
        base=frozen.base,
        base_commit=frozen.base_commit,
        head=frozen.head,
        tree=frozen.tree,
        story=request.story,
        title=brief.title,
        status_file=_status_file(repository, frozen.head, request) if marks and request.story else "",
        changed=changed,
        paths=paths,
        as_is=frozen.as_is,
        imported=not (frozen.as_is or request.is_by_agent)
        and _is_whole_program(repository, frozen.base_commit, changed),
    )


def _is_whole_program(repository: Repository, base: str, changed: Sequence[CensusFile]) -> bool:
    """Whether a change adds so much code at once to a base without any that it was hardly written for this change.

    Only what the base holds decides, so that no change to a program can pass for one.
    """
    code = [file for file in changed if file.need is Need.CODE]
    if len(code) < _WHOLE_PROGRAM or any(file.before for file in code):
        return False
    others = ((path, mode) for path, mode in repository.entries(base) if not _steers(path))
    return all(is_data(path, None, executable=mode == _EXECUTABLE) for path, mode in others)


def _status_file(repository: Repository, head: str, request: RunRequest) -> str:
    if request.status_file and lists_story(repository, head, request.status_file, request.story):
        return request.status_file
    return find_status_file(repository, head, request.story)


def _guidance_files() -> tuple[str, ...]:
    """The pages in which projects speak to all agents, and those for one of them."""
    return (*GUIDANCE, *(client.card.guidance for client in clients().values() if client.card.guidance))


def _inputs(
    repository: Repository,
    frozen: FrozenSubject,
    request: RunRequest,
    resolved: ResolvedSettings,
    *,
    prompts: dict[str, str],
    brief: Brief,
) -> RunContext:
    pages = ((name, repository.read_file(frozen.base_commit, name)) for name in _guidance_files())
    return RunContext(
        settings=resolved.merged.settings,
        policy=resolved.merged.policy,
        merge_base=frozen.merge_base,
        governance=_governance(repository, resolved),
        detached=frozen.detached or frozen.uncommitted,
        work_tree=str(repository.root) if request.uncommitted else "",
        brief=brief.text,
        brief_path=brief.path,
        brief_file=brief.file,
        epic_path=brief.epic,
        acceptance=brief.acceptance,
        ticked=brief.ticked,
        coordination=brief.coordination,
        epic=request.epic,
        build_title=request.build_title,
        picking=request.picking,
        intent=request.intent,
        guidance=tuple(
            Guidance(name=name, text=page[:MAX_PAGE_BYTES].decode("utf-8", errors="replace"))
            for name, page in pages
            if page is not None
        ),
        prompts=prompts,
    )


def _invocation(folder: Path, request: RunRequest, environment: Mapping[str, str]) -> Invocation:
    """What a variable says for one command may not be set for the next: where there is a flag for it, that is kept."""
    flags = request.flags
    return Invocation(
        folder=str(folder.absolute()),
        protocol=flags.protocol or environment.get("BURNISH_PROTOCOL", ""),
        brief=request.brief,
        intent=request.intent,
        agents=request.agents,
        complexity="" if request.complexity is None else request.complexity.value,
        model=flags.model or environment.get("BURNISH_MODEL", ""),
        timeout=flags.timeout,
        developer_prompt=flags.developer_prompt or "",
        reviewer_prompt=flags.reviewer_prompt or "",
        unsafe_fixes=flags.unsafe_fixes is True,
        allow_unexamined=request.allow_unexamined,
        staged=request.staged,
    )


def _governance(repository: Repository, resolved: ResolvedSettings) -> Governance:
    settings, base = resolved.merged.settings, resolved.content.base
    required = None
    with suppress(DocumentError):  # a policy that cannot be met
        required = required_by(repository, base)
    return Governance(
        requirements=required,
        agents={name: agent_value(settings, name) for name in settings.agent_names},
        deviations=deviations(settings, settings_alone(repository, base)),
        trusted=resolved.file_digests,
        offline=resolved.offline,
        notices=resolved.policy_notices,
    )


def _prompts(repository: Repository, base: Base, resolved: ResolvedSettings) -> dict[str, str]:
    """The user's own openings by role. Of those that only the working tree has, the trusted ones."""
    texts: dict[str, str] = {}
    for role, path in prompt_paths(resolved.merged.settings.prompts).items():
        found = resolve_prompt(
            role,
            path,
            base_file=base_file(repository, base),
            working_file=lambda name: read_outside(name) if name.startswith("/") else resolved.files.get(name),
        )
        if found.text is not None:
            texts[role.value] = found.text
    return texts


def _uncommitted_notices(repository: Repository, frozen: FrozenSubject) -> tuple[str, ...]:
    """Work that a user may think is part of the review: what is not committed on the branch that is checked out."""
    if frozen.uncommitted or repository.root == repository.common_dir:
        return ()
    head = repository.commit_of("HEAD")
    is_checked_out = frozen.branch in (repository.current_branch(), head[:12])
    if frozen.head != head and not (frozen.as_is and is_checked_out):
        return ()
    files = repository.uncommitted(RECORD_PATHS)
    if not files:
        return ()
    more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
    listed = ", ".join(shown(file) for file in files[:_MOST_NAMED])
    return (f"{NOT_COMMITTED}: {listed}{more}. Commit the files that belong to the change.",)


def _unknown_rules(settings: Settings) -> tuple[str, ...]:
    from burnish.agents.panel.rulebook import unknown_rules  # noqa: PLC0415 - few policies name rules

    return unknown_rules(settings.analysers)


def _sandbox_notices(sandbox: Sandbox) -> tuple[str, ...]:
    if sandbox.kind is not SandboxKind.NONE:
        return ()
    return (f"Agents run without a sandbox; burnish compares their clones before and after. {sandbox.reason}",)
