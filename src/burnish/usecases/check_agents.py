"""Whether an agent really works: one small review of a toy repository, on the very path that every review takes.

Where it fails, what that means in plain words, and what its user can do about it.
"""

import asyncio
import re
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path

from burnish.agents.panel.programs import WHEELS, version
from burnish.agents.registry import clients
from burnish.agents.services import GRACE_SECONDS
from burnish.core.budget import Share
from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent, Mode, Reviewed, Roles, RunStarted, Subject, WorkFailed
from burnish.core.loop import decide, evolve
from burnish.core.protocol import Reviewer, ValidateRule
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.state import Run
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.core.work import Assignment
from burnish.ledger.sqlite import open_ledger
from burnish.prompts.rendering import fill
from burnish.protocols.loader import load as load_protocol
from burnish.runtime.context import Governance, RunContext, as_json
from burnish.runtime.perform import LocalPerformer
from burnish.runtime.policy import borrow_trusted, policy_folder
from burnish.runtime.services import RUN_MARKER, LocalServices
from burnish.settings.loading import PolicyOrigin
from burnish.settings.types import AgentSettings, Settings, WorkspaceSettings
from burnish.system import clock, survivors
from burnish.system.identifiers import new_run_id
from burnish.usecases.agent_logs import StreamFormatter, client_of, end_of_log, log_name
from burnish.usecases.drive_run import exit_for_signal
from burnish.usecases.list_agents import (
    AgentRow,
    LocalSettings,
    Readiness,
    agent_named,
    look_at,
    resolve_local_settings,
)
from burnish.usecases.plan_run import refuse_inside
from burnish.usecases.run_folders import cache_folder, make_run_folder, remove_run_folders
from burnish.workspace.clones import Clones
from burnish.workspace.git import Git
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import freeze

COST_USD = 0.05
"""What the call may cost at most, as far as the client can be held to it."""
SECONDS = 180.0
TURNS = 4
LOG_LINES = 12
_FILES = {
    "app.py": ("total = 1\n", "total = 2\n"),
    "page.js": ("export const total = 1;\n", "export const total = 2;\n"),
    "run.sh": ("#!/bin/sh\necho 1\n", "#!/bin/sh\necho 2\n"),
    "Dockerfile": ("FROM scratch\n", "FROM scratch\nCOPY app.py /\n"),
    ".github/workflows/check.yml": ("on: push\njobs: {}\n", "on: pull_request\njobs: {}\n"),
}
"""One file for every analyser, before and after."""
_TOO_OLD = re.compile(r"\b(?:unknown|unexpected|unrecogni[sz]ed) (?:option|argument|flag)", re.IGNORECASE)

_PROBLEMS = {
    FailureKind.CRASHED: "It did not finish",
    FailureKind.TIMED_OUT: "It did not answer in time",
    FailureKind.STUCK: "It printed nothing for too long",
    FailureKind.RATE_LIMITED: "The service is rate-limited",
    FailureKind.UNAUTHORISED: "The service rejected the login",
    FailureKind.REFUSED: "The service or the model refused the request",
    FailureKind.UNREADABLE: "It answered, but not in the required format",
    FailureKind.WROTE_TO_TREE: "It wrote to the tree that it may only read",
    FailureKind.CANNOT_RUN: "It cannot be started",
    FailureKind.OVER_BUDGET: "The call would have cost more than the limit",
}
_HINTS = {
    FailureKind.CRASHED: "Run the program by hand, and read the lines above.",
    FailureKind.TIMED_OUT: "Check the network, the proxy settings and the address of the service.",
    FailureKind.STUCK: "Check the network, the proxy settings and the address of the service.",
    FailureKind.RATE_LIMITED: 'Wait, or set a fallback: review = { agent = "NAME", fallback = "ANOTHER" }.',
    FailureKind.UNREADABLE: "Try another model. 'burnish parse --help' describes the formats.",
    FailureKind.WROTE_TO_TREE: "A review by an agent that writes does not count. Make its client read-only.",
    FailureKind.CANNOT_RUN: "Check its command and what it needs to run.",
    FailureKind.OVER_BUDGET: "Choose a cheaper model for small tasks.",
}


class Checked(Value):
    name: str
    failure: Failure | None = None
    """Why it cannot be used; None where it can."""
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    """The last lines that it wrote, where it failed."""


class Advice(Value):
    problem: str
    hint: str


class AgentCheck(Value):
    row: AgentRow
    called: Checked
    advice: Advice | None = None


def check_agent(
    folder: Path, name: str, environment: Mapping[str, str], announce: Callable[[AgentRow], None]
) -> AgentCheck:
    """Have an agent answer one small request; `announce` is told before the call, which may have to be paid."""
    refuse_inside(environment)
    local = resolve_local_settings(folder, environment)
    row = look_at(local, name, environment)
    if row.readiness in (Readiness.NOT_INSTALLED, Readiness.BROKEN):
        missing = Advice(problem=f"It is {row.readiness.value}.", hint=row.remedy)
        return AgentCheck(row=row, called=Checked(name=name), advice=missing)
    announce(row)
    called = _call(local, name, environment)
    return AgentCheck(row=row, called=called, advice=_advice(local, called, environment))


def _call(place: LocalSettings, name: str, environment: Mapping[str, str]) -> Checked:
    """One call. Nothing is left of it, no file and no process."""
    run = new_run_id(clock.now())
    copies = make_run_folder(environment, run)
    try:
        return _Check(place, name, environment, run, copies).make()
    finally:
        survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
        remove_run_folders(environment, run)


class _Check:
    """One check: a repository, a run that was never begun, and what its agents made of it."""

    def __init__(self, place: LocalSettings, name: str, environment: Mapping[str, str], run: str, copies: Path) -> None:
        self._place = place
        self._name = name
        self._environment = environment
        self._copies = copies
        self._agent = _bounded(agent_named(place.settings, name))
        self._inputs = _inputs(place, name, self._agent)
        self._repository = _toy_repository(copies / "repository")
        self._run = self._started(run)

    def make(self) -> Checked:
        with open_ledger(self._repository.state_dir) as ledger:
            services = LocalServices(
                run=self._run.id,
                repository=self._repository,
                ledger=ledger,
                context=self._inputs,
                environment=self._environment,
                copies=self._copies,
                cache=cache_folder(self._environment),
                folder=self._copies,
                policy_folder=self._policy_folder(),
            )
            return self._checked(asyncio.run(_perform(services, self._run)))

    def _checked(self, events: list[AnyEvent]) -> Checked:
        failed = [event for event in events if isinstance(event, WorkFailed)]
        answered = [event for event in events if isinstance(event, Reviewed)]
        return Checked(
            name=self._name,
            failure=failed[0].failure if failed else None,
            usage=reduce(Usage.plus, (event.usage for event in (*failed, *answered)), Usage()),
            notes=self._notes(answered),
            log=self._last_lines(failed[0].effect) if failed else (),
        )

    def _notes(self, answered: list[Reviewed]) -> tuple[str, ...]:
        if not self._agent.kind.is_by_rule:
            return tuple(note for event in answered for note in event.answer.notes)
        return (", ".join(f"{tool.value} {version(tool)}" for tool in WHEELS),)

    def _started(self, run: str) -> Run:
        frozen_subject = freeze(self._repository, "change", "main")
        protocol = load_protocol("default").protocol
        # The analysers share their tools out among the whole panel; of every other agent one answer tells enough.
        panel = protocol.panel if self._agent.kind.is_by_rule else (Reviewer(name="reviewer"),)
        agent = Assignment(agent=self._name)
        return evolve(
            None,
            RunStarted(
                at=clock.now(),
                run=run,
                mode=Mode.REVIEW,
                subject=Subject(
                    branch=frozen_subject.branch,
                    base=frozen_subject.base,
                    base_commit=frozen_subject.base_commit,
                    head=frozen_subject.head,
                    tree=frozen_subject.tree,
                ),
                protocol=replace(protocol, panel=panel, validate=ValidateRule(before_first_review=False)),
                roles=Roles(review=agent, fix=agent),
                context=as_json(self._inputs),
            ),
        )

    def _policy_folder(self) -> str:
        """Where the files are that the agent's command names: those of the user's repository, as a run takes them."""
        users, base = self._place.repository, self._place.base
        if users is None:
            return str(self._repository.root)
        if not base:
            folder = self._copies / "policy"
            folder.mkdir()
            files = {name: digest for name, digest in self._place.trusted.items() if name in self._agent.named_files}
            borrow_trusted(users, folder, files)
            return str(folder)
        subject = replace(self._run.subject, base_commit=base)
        run = replace(self._run, started=replace(self._run.started, subject=subject))
        return policy_folder(users, Clones(users, self._copies / "policy"), run, self._inputs)

    def _last_lines(self, effect: str) -> tuple[str, ...]:
        data = b"\n".join(end_of_log(self._copies / "logs" / log_name(effect)))
        client = client_of(self._run, self._name)
        if client is not None:
            formatter = StreamFormatter(client)
            text = formatter.take(data) + formatter.rest()
        else:
            text = clean_text(data.decode("utf-8", errors="replace"))
        return tuple(line for line in text.split("\n") if line.strip())[-LOG_LINES:]


async def _perform(services: LocalServices, run: Run) -> list[AnyEvent]:
    """The reviews that the run asks for, side by side, within the share that each may use."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    performer = LocalPerformer(services)
    seats = [effect for effect in decide(run) if isinstance(effect, StartReview)]
    work = (
        performer.perform(replace(seat, share=Share(cost_usd=COST_USD)), run, stop, lambda _event: None)
        for seat in seats
    )
    events = await asyncio.gather(*work)
    if stop.is_set():
        raise SystemExit(exit_for_signal(signal.SIGTERM))
    return events


def _bounded(agent: AgentSettings) -> AgentSettings:
    return replace(
        agent,
        timeout=min(agent.timeout or SECONDS, SECONDS),
        silent=min(agent.silent or SECONDS, SECONDS),
        max_turns=min(agent.max_turns or TURNS, TURNS),
    )


def _inputs(place: LocalSettings, name: str, agent: AgentSettings) -> RunContext:
    """As a run has them, but for what concerns only the user's own project."""
    settings = place.settings
    kept = Settings(
        sandbox=settings.sandbox,
        agents={name: agent},
        workspace=WorkspaceSettings(file_megabytes=settings.workspace.file_megabytes),
        analysers=settings.analysers,
    )
    return RunContext(
        settings=kept,
        policy=PolicyOrigin.BUILT_IN,
        merge_base="main",
        governance=Governance(trusted=place.trusted, offline=place.offline),
        prompts={"reviewer": fill("agent-check")},
    )


def _toy_repository(folder: Path) -> Repository:
    """`main`, and `change`, which changes a line of each file."""
    folder.mkdir()
    git = Git(folder, isolated=True, settings={"user.name": "burnish", "user.email": "burnish@localhost"})
    git.run("init", "--quiet", "--initial-branch=main")
    for place, branch in enumerate(("main", "change")):
        if place:
            git.run("checkout", "--quiet", "-b", branch)
        for name, texts in _FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(texts[place], encoding="utf-8")
        git.run("add", "--all")
        git.run("commit", "--quiet", "--message", branch)
    return Repository.discover(folder)


def _advice(place: LocalSettings, checked: Checked, environment: Mapping[str, str]) -> Advice | None:
    failure = checked.failure
    if failure is None:
        return None
    problem = f"{_PROBLEMS.get(failure.kind, failure.kind.value)}{_until(failure)}: {failure.message}"
    if any(_TOO_OLD.search(line) for line in (failure.message, *checked.log)):
        return Advice(problem=problem, hint="It does not support an option that burnish uses: upgrade it.")
    return Advice(
        problem=problem, hint=_hint(failure, checked.name, agent_named(place.settings, checked.name), environment)
    )


def _until(failure: Failure) -> str:
    if failure.retry_after is None:
        return ""
    until = datetime.fromtimestamp(clock.now() + failure.retry_after, UTC).astimezone()
    return f", until {until:%H:%M:%S}"


def _hint(failure: Failure, name: str, agent: AgentSettings, environment: Mapping[str, str]) -> str:
    client = clients().get(agent.kind)
    match failure.kind:
        case FailureKind.UNAUTHORISED if client is not None:
            # Without an environment there is no login, so that the client says how one is made.
            made = client.needs(agent, {}).hint
            keys = [key for key in client.card.keys if environment.get(key)]
            return f"{made} {', '.join(keys)} is set, but was not accepted." if keys else made
        case FailureKind.UNAUTHORISED:
            return f'Log in, or pass its key through: [agents.{name}] environment = ["…"].'
        case FailureKind.REFUSED:
            model = f"'{agent.model}'" if agent.model else "the client's default"
            return f'Check the model. It is {model}; set it with [agents.{name}] model = "…".'
        case kind:
            return _HINTS.get(kind, "Read the lines above.")
