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
from burnish.core.protocol import SkipReason
from burnish.core.values import Value, replace
from burnish.records.registry import RECORD_PATHS
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.loading import Flags, LayerName
from burnish.settings.types import Complexity, Settings
from burnish.sources.beads import KIND as BEADS_KIND
from burnish.sources.registry import BeadQuery, is_beads, read_source
from burnish.sources.stories import SourceOptions
from burnish.usecases.allocate_budget import agents_called, estimate
from burnish.usecases.bead_loop import BeadFlags, BeadLoop, at_work, begun, resolve_loop
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
from burnish.usecases.request_ticket import EpicOptions, complexity_of, options_of
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
    beads: BeadFlags = BeadFlags()
    """What was typed about a loop over beads."""
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
    path = Path(os.path.relpath(folder / request.source))
    loop = _loop(repository, path, request, environment)
    asked = SourceOptions(scope=request.stories, state_file=request.state_file)
    work = _work(repository, path, loop, environment, asked)
    branch = f"epic/{work.id}"
    base = request.base or _base(repository, work, branch)
    base_commit = repository.commit_of(base)
    tip = branch_commit(repository, branch)
    if tip is not None and repository.is_ancestor(tip, base_commit):
        tip = base_commit  # what an earlier run merged is part of the base: the branch begins there again
    baseline = base_commit if tip is None else repository.merge_base(base_commit, tip)
    if baseline is None:
        raise PlanError(f"'{branch}' and '{base}' have no common history.", hint="Use --base to name its base.")
    at = Base(name=base, commit=base_commit, asked=request.base)
    flags = loop.flags if loop else _flags(repository, request, environment, work, at)
    example = _example(folder, replace(request, base=base, flags=flags), environment, work, ask)
    max_rounds, limited = _rounds(request, loop, example)
    earlier = look_at_earlier(repository, work, branch)
    foreign = _holds_other_work(earlier.epic, tip, base_commit)
    if request.review_whole or foreign:
        work = replace(work, reviewed_whole=True)
    work, uncommitted = with_uncommitted_work(repository, work, base)
    options = _options(replace(request, max_rounds=max_rounds), flags, example.roles, loop)
    same_rules = earlier.epic is not None and earlier.epic.started.request == options
    left = sort_out(repository, work, earlier, tip or baseline, same_rules=same_rules)
    demands = Demands(base=base, protocol=flags.protocol)
    settings = example.inputs.settings
    parallel = _parallel(settings, example, replace(request, parallel=loop.parallel) if loop else request, work)
    started = EpicStarted(
        at=0.0,
        epic="",
        plan=work,
        branch=branch,
        base=base,
        baseline=baseline,
        tip=tip or "",
        parallel=parallel,
        iterations=loop.iterations if loop else 0,
        pause=loop.pause if loop else 0.0,
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
    notices = [*_loop_notices(loop, work), *limited, *_notices(example, work), *left.notices, *uncommitted.notices]
    if foreign:
        notices.append(f"{branch} holds commits that no run of this made: the whole is reviewed at the end.")
    return PlannedEpic(
        repository, started, example, earlier.epic, left.set_aside, tuple(notices), same_rules, uncommitted.ticket
    )


def _notices(example: Plan, work: EpicPlan) -> Iterator[str]:
    """What is told of a run. Of stories, uncommitted work is spoken of apart: it may belong to one.

    The list of beads is marked in the working tree, which is no work that anyone forgot to commit.
    """
    silent = work.kind == "stories"
    if work.kind == BEADS_KIND:
        silent = all(file.startswith(f"{work.source}/") for file in example.repository.uncommitted(RECORD_PATHS))
    for notice in example.notices:
        if not silent or not notice.startswith(NOT_COMMITTED):
            yield notice


def _loop(repository: Repository, path: Path, request: EpicRequest, environment: Mapping[str, str]) -> BeadLoop | None:
    """How a loop over beads goes; None for another source."""
    if is_beads(path):
        name = request.base or _base_of_beads(repository)
        base = Base(name=name, commit=repository.commit_of(name), asked=request.base)
        typed = replace(request.beads, parallel=request.parallel)
        return resolve_loop(repository, base, environment, request.flags, typed)
    if request.beads != BeadFlags():
        raise PlanError(
            "--review, --review-max-fix-attempts, --iterations, --pause and --top-level-bead apply only to beads.",
            hint="Omit them. A ticket of an epic that says 'review: false' is not reviewed.",
        )
    return None


def _base_of_beads(repository: Repository) -> str:
    """The branch that is checked out, unless that is one that burnish made for beads."""
    current = repository.current_branch()
    if current is not None and not current.startswith(("epic/beads", "bead/")):
        return current
    return repository.default_base(f"epic/{BEADS_KIND}")


def _work(
    repository: Repository,
    path: Path,
    loop: BeadLoop | None,
    environment: Mapping[str, str],
    asked: SourceOptions,
) -> EpicPlan:
    if loop is None:
        return read_source(path, repository.root, asked)
    query = BeadQuery(environment=dict(environment), own=at_work(repository, loop.top), top=loop.top)
    work = read_source(path, repository.root, asked, query)
    return replace(work, tickets=tuple(replace(ticket, reviewed=loop.review) for ticket in work.tickets))


def _rounds(request: EpicRequest, loop: BeadLoop | None, example: Plan) -> tuple[int | None, tuple[str, ...]]:
    """Reviews at most, and what is told of a file that allows more of them than the protocol does."""
    if loop is None or loop.fix_attempts is None or request.max_rounds is not None:
        return request.max_rounds, ()
    cap, wanted = example.protocol.limits.hard_cap, loop.fix_attempts + 1
    if wanted <= cap:
        return wanted, ()
    told = f"{loop.fix_attempts} fix attempts are more than the {cap - 1} that '{example.protocol.name}' allows"
    if not loop.attempts_from:
        raise PlanError(f"{told}.", hint=f"Use --review-max-fix-attempts {cap - 1} or less.")
    return cap, (f"{loop.attempts_from}: {told}: {cap - 1} it is.",)


def _loop_notices(loop: BeadLoop | None, work: EpicPlan) -> Iterator[str]:
    if loop is not None and not loop.review:
        yield (
            f"REVIEW OFF ({loop.why_not}): what is built is validated, but neither approved, sealed nor merged. "
            "--review turns the review on."
        )
    yield from loop.notices if loop else ()
    yield from work.left_out


def read_again(repository: Repository, epic: Epic, environment: Mapping[str, str]) -> EpicPlan | None:
    """What the source of an epic says now; None where it is gone. Raises `SourceError`."""
    source = repository.root / epic.plan.source
    if not source.exists():
        return None
    asked = SourceOptions(scope=epic.plan.scope, state_file=epic.plan.state_file)
    query = BeadQuery(environment=dict(environment), own=begun(epic), top=options_of(epic).top)
    return read_source(source, repository.root, asked, query)


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


def _options(request: EpicRequest, flags: Flags, roles: Roles, loop: BeadLoop | None) -> dict[str, object]:
    options = EpicOptions(
        flags=flags,
        agents=request.agents,
        complexity=request.complexity,
        max_rounds=request.max_rounds,
        allow_unexamined=request.allow_unexamined,
        review=loop.review if loop else True,
        skip=loop.skip if loop else SkipReason.REVIEW_DISABLED,
        top=loop.top if loop else "",
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
