"""Which agents there are, for this repository and this user: installed, logged in, used for what, at what price.

Nothing is asked of a model or a network here. `burnish.usecases.check_agents` makes a real call.
"""

import asyncio
import tempfile
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

import msgspec

from burnish.agents.client import Client
from burnish.agents.interface import AgentError, Price
from burnish.agents.panel.interface import ToolError
from burnish.agents.panel.programs import WHEELS
from burnish.agents.panel.programs import program as analyser
from burnish.agents.pricing import price_of
from burnish.agents.registry import client_of
from burnish.contracts.text import bounded
from burnish.core.errors import BurnishError
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.runtime.context import Offline
from burnish.settings.agent_kinds import DEFAULT_AGENT, AgentKind
from burnish.settings.loading import Merged, SettingsSources, user_file
from burnish.settings.loading import load as load_settings
from burnish.settings.rules import choices, unknown_agent
from burnish.settings.types import AgentSettings, Settings
from burnish.system import process
from burnish.system.process import Command, ProcessLimits
from burnish.system.process_start import find_program
from burnish.usecases.allocate_budget import has_price
from burnish.usecases.trust_settings import base_of, resolve_settings
from burnish.workspace.errors import NotARepositoryError
from burnish.workspace.repository import Repository

VERSION_SECONDS = 10.0
_BY_RULE = ("review", "fix")
"""What the embedded analysers do where no other agent is named."""


class LocalSettings(Value):
    """Where burnish was called, with the settings that hold there."""

    merged: Merged
    repository: Repository | None = None
    base: str = ""
    """The commit from which the policy is read; empty where there is none."""
    trusted: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The files of the working tree that the user has trusted, with their digests."""
    offline: Offline = Offline()
    notices: tuple[str, ...] = ()

    @property
    def settings(self) -> Settings:
        return self.merged.settings

    def has_file(self, path: str) -> bool:
        if self.repository is None:
            return False
        name = path.removeprefix("./")
        in_base = bool(self.base) and self.repository.read_file(self.base, name) is not None
        return in_base or name in self.trusted


class Readiness(Enum):
    """Whether an agent can be used, as far as can be seen."""

    USABLE = "usable"
    LOGIN_UNKNOWN = "login unknown"
    NOT_LOGGED_IN = "not logged in"
    NOT_INSTALLED = "not installed"
    BROKEN = "not usable"

    @property
    def is_good(self) -> bool:
        return self in (Readiness.USABLE, Readiness.LOGIN_UNKNOWN)


class AgentRow(Value):
    name: str
    kind: AgentKind
    model: str = ""
    configured: bool = False
    program: str = ""
    """Where it is installed; empty where it is not, or where it is no program of its own."""
    version: str = ""
    readiness: Readiness = Readiness.USABLE
    remedy: str = ""
    """What is wrong in full, where that needs more words, and what to do about it."""
    roles: tuple[str, ...] = ()
    """What it does here, by the keys of `[roles]`."""
    paid: bool | None = None
    """Whether its work costs something; None where only its owner knows."""
    price: Price | None = None
    names_cost: bool = False
    """Whether it says itself what its work cost, where its price is not known."""


def resolve_local_settings(folder: Path, environment: Mapping[str, str]) -> LocalSettings:
    """The settings that hold in a folder: those that a run would be given, or the user's own outside a repository."""
    try:
        repository = Repository.discover(folder)
    except NotARepositoryError:
        sources = SettingsSources(
            base_file=lambda _path: None,
            working_file=lambda _path: None,
            user_file=user_file(environment),
            environment=environment,
        )
        return LocalSettings(merged=load_settings(sources))
    base = base_of(repository)
    resolved = resolve_settings(repository, base, environment)
    return LocalSettings(
        merged=resolved.merged,
        repository=repository,
        base=base.commit,
        trusted=resolved.file_digests,
        offline=resolved.offline,
        notices=resolved.notices,
    )


def agent_named(settings: Settings, name: str) -> AgentSettings:
    found = settings.agent(name)
    if found is None:
        raise AgentError(f"There is no agent '{name}'.", hint=unknown_agent(settings, name)[1])
    return found


def list_agents(local: LocalSettings, environment: Mapping[str, str]) -> tuple[AgentRow, ...]:
    """Every agent that is configured, then the kinds that need no configuration."""
    return tuple(look_at(local, name, environment) for name in local.settings.agent_names)


def look_at(local: LocalSettings, name: str, environment: Mapping[str, str]) -> AgentRow:
    settings = agent_named(local.settings, name)
    row = AgentRow(
        name=name,
        kind=settings.kind,
        model=settings.model,
        configured=name in local.settings.agents,
        roles=_roles(local.settings, name),
    )
    client = client_of(settings.kind)
    if settings.kind.is_by_rule:
        return _analysers(replace(row, paid=False))
    if client is None:
        return _command(row, settings, local, environment)
    price = price_of(settings.model)
    row = replace(row, paid=True, price=price, names_cost=price is None and has_price(settings))
    try:
        return _client(row, client, settings, environment)
    except AgentError as error:
        return _broken(row, error)


def _broken(row: AgentRow, error: BurnishError) -> AgentRow:
    return replace(row, readiness=Readiness.BROKEN, remedy=f"{error.message} {error.hint}".rstrip())


def _roles(settings: Settings, name: str) -> tuple[str, ...]:
    found: list[str] = []
    for path, choice in choices(settings):
        key = ".".join(str(part) for part in path[1:])
        found += [key] if choice.agent == name else []
        found += [f"{key} (fallback)"] if choice.fallback == name else []
    found += ["by_round"] if name in settings.roles.by_round else []
    if name == DEFAULT_AGENT and not settings.roles.default.agent:
        own = {"review": settings.roles.review, "fix": settings.roles.fix}
        found += [role for role in _BY_RULE if not own[role].agent]
    return tuple(found)


def _analysers(row: AgentRow) -> AgentRow:
    for tool in WHEELS:
        try:
            analyser(tool)
        except ToolError as error:
            return _broken(row, error)
    return row


def _command(row: AgentRow, settings: AgentSettings, local: LocalSettings, environment: Mapping[str, str]) -> AgentRow:
    program = settings.command[0]
    if 0 in settings.relative_parts:
        found = program if local.has_file(program) else ""
    else:
        found = str(find_program(program, "/", {"PATH": environment.get("PATH", "")}) or "")
    if found:
        return replace(row, program=found)
    hint = f"'{program}' was not found. Check the command of [agents.{row.name}]."
    return replace(row, readiness=Readiness.NOT_INSTALLED, remedy=hint)


def _client(row: AgentRow, client: Client, settings: AgentSettings, environment: Mapping[str, str]) -> AgentRow:
    found = client.program(settings, environment)
    if found is None:
        hint = f"'{settings.command[0]}' was not found." if settings.command else client.card.install
        return replace(row, readiness=Readiness.NOT_INSTALLED, remedy=hint)
    needs = client.needs(settings, environment)
    return replace(row, program=found, readiness=_LOGINS[needs.logged_in], remedy=needs.hint)


_LOGINS = {True: Readiness.USABLE, False: Readiness.NOT_LOGGED_IN, None: Readiness.LOGIN_UNKNOWN}


def with_versions(
    local: LocalSettings, rows: tuple[AgentRow, ...], environment: Mapping[str, str]
) -> tuple[AgentRow, ...]:
    """The same rows with the versions of the clients, which are asked side by side and within a limit."""
    with tempfile.TemporaryDirectory(prefix="burnish-") as home:
        versions = asyncio.run(_versions(local, rows, environment.get("PATH", ""), home))
    return tuple(replace(row, version=version) for row, version in zip(rows, versions, strict=True))


async def _versions(local: LocalSettings, rows: tuple[AgentRow, ...], path: str, home: str) -> list[str]:
    async def ask(row: AgentRow) -> str:
        if not row.program or not row.kind.is_paid or row.kind.needs_command:
            return ""
        rest = agent_named(local.settings, row.name).command[1:]
        # In a home of its own: some clients leave files behind whatever they are asked.
        environment = {"PATH": path, "HOME": home}
        command = Command(argv=(row.program, *rest, "--version"), folder=home, environment=environment)
        finished = await process.run(command, ProcessLimits(seconds=VERSION_SECONDS))
        lines = (
            clean_text(finished.stdout.decode("utf-8", errors="replace")).split("\n") if finished.code == 0 else [""]
        )
        return bounded(lines[0], 60)

    return await asyncio.gather(*(ask(row) for row in rows))
