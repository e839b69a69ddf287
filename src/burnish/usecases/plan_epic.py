"""Everything that is resolved before an epic begins: its source, branches, agents, limits and budget.

Nothing is written here. Whatever is wrong is said now, while it costs nothing.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from burnish.core.budget import Budget, Cap
from burnish.core.epics.events import EpicStarted, MergeMethod, OverlapRule
from burnish.core.epics.plan import EpicPlan, Ticket, branch_of
from burnish.core.epics.state import Epic
from burnish.core.events import Mode, Roles
from burnish.core.values import Value, replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.loading import Flags, LayerName
from burnish.settings.types import Complexity, Settings
from burnish.sources.registry import read_source
from burnish.sources.stories import SourceOptions
from burnish.usecases.allocate_budget import agents_called, estimate
from burnish.usecases.earlier_epics import look_at_earlier, reviewed_before, sort_out
from burnish.usecases.plan_run import (
    NOT_COMMITTED,
    Plan,
    PlanError,
    RunRequest,
    check_ready,
    plan,
    refuse_inside,
)
from burnish.usecases.request_ticket import EpicOptions, complexity_of
from burnish.usecases.take_uncommitted import with_uncommitted_work
from burnish.usecases.trust_settings import AskTrust, Base, resolve_settings
from burnish.usecases.verify_seal import Demands
from burnish.workspace.landing import branch_commit
from burnish.workspace.merging import ensure_merging
from burnish.workspace.repository import Repository

_PROTOCOLS = {"epic": "ticket", "stories": "epic"}
"""What each kind of source is reviewed by where nothing names a protocol: what it comes from."""


class EpicRequest(Value):
    source: str
    """The path of the source, as the user typed it."""
    base: str | None = None
    parallel: int | None = None
    squash: bool = False
    serialise: bool = False
    """Whether tickets that say they change the same files are built one after the other."""
    pull_request: bool = False
    stories: tuple[str, ...] = ()
    """Only these, of a source that lists stories."""
    state_file: str = ""
    checkpoint: bool = False
    """Whether it pauses after each ticket."""
    review_whole: bool = False
    """Whether what was merged is reviewed all together, also where the source asks for no such review."""
    flags: Flags = Flags()
    agents: tuple[str, ...] = ()
    complexity: Complexity | None = None
    max_rounds: int | None = None
    allow_unexamined: bool = False


class PlannedEpic(NamedTuple):
    repository: Repository
    started: EpicStarted
    """The first event, without a name and a time."""
    example: Plan
    """A run as each ticket gets one: its protocol, agents and settings."""
    earlier: Epic | None
    """The last run of the same epic."""
    set_aside: Mapping[str, str]
    """Branches of tickets that hold what earlier runs made in vain, with the commits that they are at."""
    notices: tuple[str, ...]
    same_rules: bool
    """Whether that run asked for the same protocol and agents."""
    uncommitted: str = ""
    """The ticket that the work belongs to which is not committed yet."""


def plan_epic(
    folder: Path, request: EpicRequest, environment: Mapping[str, str], ask: AskTrust | None = None
) -> PlannedEpic:
    """Settle everything. Raises a `BurnishError` that says what to do."""
    refuse_inside(environment)
    repository = Repository.discover(folder)
    ensure_merging(repository)
    # As a person would write it from here: messages name it so.
    asked = SourceOptions(scope=request.stories, state_file=request.state_file)
    work = read_source(Path(os.path.relpath(folder / request.source)), repository.root, asked)
    branch = f"epic/{work.id}"
    base = request.base or _base(repository, work, branch)
    base_commit = repository.commit_of(base)
    tip = branch_commit(repository, branch)
    if tip is not None and repository.is_ancestor(tip, base_commit):
        tip = base_commit  # what an earlier run merged is part of the base: the branch begins there again
    baseline = base_commit if tip is None else repository.merge_base(base_commit, tip)
    if baseline is None:
        raise PlanError(f"'{branch}' and '{base}' have no common history.", hint="Use --base to name its base.")
    flags = _flags(repository, request, environment, work, Base(name=base, commit=base_commit, asked=request.base))
    example = _example(folder, replace(request, base=base, flags=flags), environment, work, ask)
    earlier = look_at_earlier(repository, work, branch)
    foreign = _holds_other_work(earlier.epic, tip, base_commit)
    if request.review_whole or foreign:
        work = replace(work, reviewed_whole=True)
    work, uncommitted = with_uncommitted_work(repository, work, base)
    options = _options(request, flags, example.roles)
    same_rules = earlier.epic is not None and earlier.epic.started.request == options
    left = sort_out(repository, work, earlier, tip or baseline, same_rules=same_rules)
    demands = Demands(base=base, protocol=flags.protocol)
    settings = example.inputs.settings
    parallel = _parallel(settings, example, request, work)
    started = EpicStarted(
        at=0.0,
        epic="",
        plan=work,
        branch=branch,
        base=base,
        baseline=baseline,
        tip=tip or "",
        parallel=parallel,
        method=MergeMethod.SQUASH if request.squash else MergeMethod.MERGE,
        overlap=OverlapRule.SERIALISE if request.serialise else OverlapRule.TELL,
        budget=_budget(settings, example),
        ticket_budget=replace(example.budget, paid=(), wider={}),
        carried=left.carried,
        reviewed=reviewed_before(repository, earlier.epic, work, tip, demands) if same_rules else None,
        pull_request=request.pull_request,
        halts=work.in_order and parallel == 1,
        checkpoint=request.checkpoint,
        request=options,
    )
    notices = [*_notices(example, work), *left.notices, *uncommitted.notices]
    if foreign:
        notices.append(f"{branch} holds commits that no run of this made: the whole is reviewed at the end.")
    return PlannedEpic(
        repository, started, example, earlier.epic, left.set_aside, tuple(notices), same_rules, uncommitted.ticket
    )


def _notices(example: Plan, work: EpicPlan) -> Iterator[str]:
    """What is told of a run. Of stories, uncommitted work is spoken of apart: it may belong to one."""
    for notice in example.notices:
        if work.kind != "stories" or not notice.startswith(NOT_COMMITTED):
            yield notice


def _holds_other_work(earlier: Epic | None, tip: str | None, base_commit: str) -> bool:
    """Whether the branch is elsewhere than an earlier run left it: what it holds besides was reviewed with nothing."""
    if tip is None or tip == base_commit:
        return False
    return earlier is None or tip != earlier.tip


def _base(repository: Repository, work: EpicPlan, branch: str) -> str:
    """What the epic will be merged into: the branch that is checked out, unless that is one of the epic's own."""
    current = repository.current_branch()
    own = {branch, *(branch_of(work, ticket.id) for ticket in work.tickets)}
    if current is not None and current not in own:
        return current
    return repository.default_base(branch)


def _flags(
    repository: Repository, request: EpicRequest, environment: Mapping[str, str], work: EpicPlan, base: Base
) -> Flags:
    """The flags, with the protocol that the source asks for or comes from where nothing else names one."""
    flags, protocol = request.flags, work.protocol or _PROTOCOLS.get(work.kind)
    if flags.protocol is not None or protocol is None:
        return flags
    origin = resolve_settings(repository, base, environment, flags, None).merged.origin("protocol")
    return replace(flags, protocol=protocol) if origin.layer is LayerName.DEFAULT else flags


def _example(
    folder: Path, request: EpicRequest, environment: Mapping[str, str], work: EpicPlan, ask: AskTrust | None
) -> Plan:
    """A run of a ticket, planned but never begun: what can be wrong with all of them is found before any begins.

    Where the source names agents, each choice of them is planned once.
    """
    asked = RunRequest(
        mode=Mode.FIX,
        branch=Repository.discover(folder).commit_of(request.base or "HEAD"),
        base=request.base,
        intent=request.source,
        flags=request.flags,
        agents=request.agents,
        complexity=request.complexity,
        max_rounds=request.max_rounds,
        build=True,
        allow_unexamined=request.allow_unexamined,
        epic=request.source,
    )
    todo = [ticket for ticket in work.tickets if not ticket.done and not ticket.skipped]
    ways = {msgspec.json.encode((ticket.agents, ticket.complexity), order="sorted"): ticket for ticket in todo}
    examples: list[Plan] = []
    for ticket in ways.values() or (Ticket(id="", text=""),):
        way = replace(asked, chosen=ticket.agents or {}, complexity=complexity_of(ticket) or request.complexity)
        examples.append(plan(folder, way, environment, ask))
        check_ready(examples[-1], environment)
    return examples[0]


def _parallel(settings: Settings, example: Plan, request: EpicRequest, work: EpicPlan) -> int:
    """How many tickets are at work at once: as asked for, within the limits of the kinds of agents that they call.

    Tickets that are listed in an order are done one by one, unless the user wants something else.
    """
    called = agents_called(example.protocol, example.roles, Mode.FIX, build=True)
    kinds = {agent.kind.value for name in called if (agent := settings.agent(name))}
    limits = [limit for kind, limit in settings.epics.agents.items() if kind in kinds]
    usual = 1 if work.in_order else settings.epics.parallel
    return max(1, min([request.parallel or usual, *limits]))


def _budget(settings: Settings, example: Plan) -> Budget:
    caps = settings.limits.epic
    amounts = {cap: most for cap, most in caps.amounts.items() if example.budget.paid or cap is Cap.MINUTES}
    return Budget(
        cost_usd=amounts.get(Cap.COST),
        tokens=int(amounts[Cap.TOKENS]) if Cap.TOKENS in amounts else None,
        minutes=amounts.get(Cap.MINUTES),
    )


def _options(request: EpicRequest, flags: Flags, roles: Roles) -> dict[str, object]:
    options = EpicOptions(
        flags=flags,
        agents=request.agents,
        complexity=request.complexity,
        max_rounds=request.max_rounds,
        allow_unexamined=request.allow_unexamined,
        resolver="" if roles.fix.agent == AgentKind.ANALYSERS.value else roles.fix.agent,
    )
    return msgspec.json.decode(msgspec.json.encode(options))


def estimated_cost(planned: PlannedEpic) -> str:
    """What one run may cost, and how many there are; empty where no agent is paid."""
    example, started = planned.example, planned.started
    told = " ".join(estimate(example, example.budget)) if example.budget.paid else ""
    if not told:
        return ""
    left = len(started.plan.tickets) - len(started.carried)
    cap = started.budget.cost_usd
    whole = f" The whole epic may use at most {Cap.COST.words(cap)}." if cap is not None else ""
    return f"{told} That is for each of {left} tickets, and for the review of the whole.{whole}"


def agents_of(planned: PlannedEpic) -> dict[str, str]:
    """Which agent plays which part in the run of a ticket."""
    roles, protocol = planned.example.roles, planned.example.protocol
    found = {"build": roles.build.agent} if roles.build else dict[str, str]()
    found.update({seat.name: roles.reviewer(seat.name).agent for seat in roles.panel(protocol)})
    return {**found, "fix": (*protocol.fix.by_round, roles.fix.agent)[0]}
