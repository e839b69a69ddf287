"""`burnish doctor`: is everything there that a review needs, and what to do where it is not. It changes nothing."""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import partial
from pathlib import Path

from burnish.agents.panel.programs import WHEELS, program, version
from burnish.agents.panel.project_tests.projects import language_of
from burnish.agents.panel.project_tests.running import plans_in
from burnish.agents.panel.project_tests.values import NoTests
from burnish.core.errors import BurnishError
from burnish.core.values import Value
from burnish.runtime.services import tool_environment
from burnish.settings.loading import REPOSITORY_FILE
from burnish.system.sandbox import SandboxKind, choose
from burnish.usecases.git_hooks import list_hooks
from burnish.usecases.list_agents import AgentRow, LocalSettings, list_agents, resolve_local_settings
from burnish.usecases.runs import NoRunsError, open_runs
from burnish.workspace.hooks import HookState
from burnish.workspace.repository import Repository


class Health(Enum):
    GOOD = "good"
    NOTE = "note"
    """It works, but not as well as it could."""
    BAD = "bad"


class Diagnosis(Value):
    """What was found out about one part."""

    part: str
    health: Health
    says: str
    remedy: str = ""


_HOOK_REMEDIES = {
    HookState.OUTDATED: ("calls another burnish, or was made by another version", "burnish hook install {name}"),
    HookState.EDITED: ("was edited after burnish had made it", "If that is what you want, leave it as it is."),
    HookState.REPLACED: (
        "no longer calls burnish: another tool changed it",
        "Compare it with {name}.before-burnish, remove the older one, then: burnish hook install {name}",
    ),
}
_Look = Callable[[], Iterator[Diagnosis]]


def check_setup(folder: Path, environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Look at each part in turn. One that cannot be looked at is bad; the others are told all the same."""
    repository = Repository.discover(folder)
    local = resolve_local_settings(folder, environment)
    looks: dict[str, _Look] = {
        "git": partial(_git, repository),
        "policy": partial(_policy, local),
        "sandbox": partial(_sandbox, local),
        "analysers": _analysers,
        "tests": partial(_tests, repository, local, environment),
        "agents": partial(_agents, local, environment),
        "hooks": partial(_hooks, folder),
        "ledger": partial(_ledger, folder),
    }
    for part, look in looks.items():
        try:
            yield from look()
        except BurnishError as error:
            yield Diagnosis(part=part, health=Health.BAD, says=error.message, remedy=error.hint)


def _git(repository: Repository) -> Iterator[Diagnosis]:
    name = repository.git.text("version")
    branch = repository.current_branch() or "HEAD"
    base = repository.default_base(branch)
    yield Diagnosis(part="git", health=Health.GOOD, says=f"{name}; '{branch}' would be compared with '{base}'")
    if repository.is_shallow:
        remedy = "Fetch the history: git fetch --unshallow"
        yield Diagnosis(part="git", health=Health.NOTE, says="this clone is shallow", remedy=remedy)


def _policy(local: LocalSettings) -> Iterator[Diagnosis]:
    merged = local.merged
    yield Diagnosis(
        part="policy", health=Health.GOOD, says=f"{merged.policy.value}; protocol {merged.settings.protocol}"
    )
    if merged.sensitive:
        says = f"{REPOSITORY_FILE} of the working tree sets what needs your trust, so it is not used"
        yield Diagnosis(part="policy", health=Health.NOTE, says=says, remedy="Read it, then: burnish trust")
    for notice in (*local.notices, *merged.refusals):
        yield Diagnosis(part="policy", health=Health.NOTE, says=notice)


def _sandbox(local: LocalSettings) -> Iterator[Diagnosis]:
    chosen = choose(local.settings.sandbox.value)
    good = chosen.kind is SandboxKind.BUBBLEWRAP
    remedy = "" if good else "Install bubblewrap, for instance: apt install bubblewrap"
    says = chosen.kind.value if good else f"{chosen.kind.value}. {chosen.reason}".strip()
    yield Diagnosis(part="sandbox", health=Health.GOOD if good else Health.NOTE, says=says, remedy=remedy)


def _analysers() -> Iterator[Diagnosis]:
    names: list[str] = []
    for tool in WHEELS:
        program(tool)  # raises where it is missing, and says what to install
        names.append(f"{tool.value} {version(tool)}")
    yield Diagnosis(part="analysers", health=Health.GOOD, says=", ".join(names))


def _tests(repository: Repository, local: LocalSettings, environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    paths = [path for path in repository.files("HEAD") if language_of(path) is not None]
    plans = plans_in(repository.root, paths, local.settings, tool_environment(environment))
    for project, found in plans.items():
        where = f" in {project}" if project else ""
        for plan in found:
            if isinstance(plan, NoTests):
                yield Diagnosis(part="tests", health=Health.NOTE, says=f"{plan.reason}{where}", remedy=plan.hint)
            else:
                yield Diagnosis(part="tests", health=Health.GOOD, says=f"{plan.text}{where}")
    if not plans:
        remedy = 'Set the command in burnish.toml: [validate] tests = "…".'
        yield Diagnosis(part="tests", health=Health.NOTE, says="no tests were found", remedy=remedy)


def _agents(local: LocalSettings, environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    for row in list_agents(local, environment):
        if row.roles or row.configured:
            yield _agent(row)


def _agent(row: AgentRow) -> Diagnosis:
    used = f" ({', '.join(row.roles)})" if row.roles else ""
    health = Health.GOOD if row.readiness.is_good else Health.BAD if row.roles else Health.NOTE
    says = f"{row.name}{used}: {row.readiness.value}"
    return Diagnosis(part="agents", health=health, says=says, remedy="" if row.readiness.is_good else row.remedy)


def _hooks(folder: Path) -> Iterator[Diagnosis]:
    """No hook is needed for a review: none is ever bad."""
    found = list_hooks(folder)
    says = ", ".join(f"{status.name.value} {status.state.value}" for status in found)
    yield Diagnosis(part="hooks", health=Health.GOOD, says=says)
    for status in found:
        if status.state in _HOOK_REMEDIES:
            says, remedy = _HOOK_REMEDIES[status.state]
            yield Diagnosis(
                part="hooks",
                health=Health.NOTE,
                says=f"{status.path} {says}",
                remedy=remedy.format(name=status.name.value),
            )


def _ledger(folder: Path) -> Iterator[Diagnosis]:
    try:
        with open_runs(folder) as runs:
            names = runs.names()
            readable = sum(1 for _ in runs.readable())
    except NoRunsError:
        yield Diagnosis(part="ledger", health=Health.GOOD, says="no runs yet")
        return
    lost = len(names) - readable
    health = Health.NOTE if lost else Health.GOOD
    says = f"{len(names)} runs" + (f", {lost} of which this version cannot read" if lost else "")
    yield Diagnosis(part="ledger", health=health, says=says)
