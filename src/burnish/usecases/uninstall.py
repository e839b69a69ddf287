"""`burnish uninstall`: name and remove what burnish put into a repository, and leave what is the user's."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value
from burnish.settings.loading import REPOSITORY_FILE
from burnish.usecases.git_hooks import list_hooks, uninstall_hooks
from burnish.usecases.init_repository import GITHUB_PATH, GITLAB_PATH, SKILL_PATH
from burnish.usecases.install_plugin import project_scripts
from burnish.usecases.plan_run import refuse_inside
from burnish.usecases.run_folders import run_folders
from burnish.usecases.runs import NoRunsError, Runs, named, runs_of
from burnish.usecases.sessions import live_sessions
from burnish.usecases.trust_settings import repository_name, store_for
from burnish.workspace.folders import remove_folder
from burnish.workspace.hooks import HookState, HookStatus
from burnish.workspace.removal import delete_refs, own_refs, result_branches
from burnish.workspace.repository import Repository

_WHY_IT_STAYS = {
    HookState.EDITED: "a hook of burnish that was edited",
    HookState.REPLACED: "not a hook of burnish; the one that was kept is beside it",
}


class UninstallError(BurnishError):
    kind = ErrorKind.USAGE


class Uninstallation(Value):
    """What is removed, and what stays."""

    repository: Repository
    hooks: tuple[HookStatus, ...] = ()
    folders: tuple[Path, ...] = ()
    refs: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    branches: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    unfinished: tuple[str, ...] = ()
    """Runs that wait for a person or were interrupted: what they fixed so far is lost."""
    stays: tuple[str, ...] = ()
    """What is the user's, in words."""

    @property
    def is_empty(self) -> bool:
        return not (self.hooks or self.folders or self.refs or self.branches)


def plan_uninstallation(folder: Path, environment: Mapping[str, str], *, branches: bool) -> Uninstallation:
    """Look, and remove nothing. Raises `UninstallError` while a run or a session is alive."""
    refuse_inside(environment, "uninstalls nothing")
    repository = Repository.discover(folder)
    names: list[str] = []
    unfinished: list[str] = []
    with suppress(NoRunsError), runs_of(repository) as runs:
        names = runs.names()
        _refuse_alive(runs, names)
        unfinished = [name for name in names if _is_unfinished(runs, name)]
    sessions = live_sessions(repository)
    if sessions:
        hint = f"End it first: burnish session kill {sessions[0]}"
        raise UninstallError(f"A session is alive: {named(sessions)}.", hint=hint)
    results = result_branches(repository, names)
    copies = [found for name in names for found in run_folders(environment, name)]
    state = [repository.state_dir] if os.path.lexists(repository.state_dir) else []
    hooks = list_hooks(folder)
    return Uninstallation(
        repository=repository,
        hooks=tuple(status for status in hooks if status.can_go),
        folders=(*copies, *state),
        refs=own_refs(repository),
        branches=results if branches else {},
        unfinished=tuple(unfinished),
        stays=tuple(_what_stays(repository, environment, {} if branches else results, hooks)),
    )


def uninstall(planned: Uninstallation) -> None:
    """Remove what was planned. The state goes last: until then the same command can be given again."""
    with suppress(NoRunsError), runs_of(planned.repository) as runs:
        _refuse_alive(runs, runs.names())  # one may have begun while the user was asked
    for _ in uninstall_hooks(planned.repository.root, [status.name for status in planned.hooks]):
        pass  # each was named in the plan
    delete_refs(planned.repository, {**planned.branches, **planned.refs})
    for folder in planned.folders:
        remove_folder(folder)


def _refuse_alive(runs: Runs, names: list[str]) -> None:
    alive = [name for name in names if runs.driver(name) is not None]
    if alive:
        hint = f"Wait for it (burnish wait {alive[0]}), or end it: burnish cancel {alive[0]}"
        raise UninstallError(f"A run is active: {named(alive)}.", hint=hint)


def _is_unfinished(runs: Runs, name: str) -> bool:
    with suppress(BurnishError):
        return runs.load(name).outcome is None
    return True  # one that cannot be read may hold anything


def _what_stays(
    repository: Repository, environment: Mapping[str, str], results: Mapping[str, str], hooks: Sequence[HookStatus]
) -> list[str]:
    own = (REPOSITORY_FILE, SKILL_PATH, GITHUB_PATH, GITLAB_PATH)
    stays = [name for name in own if os.path.lexists(repository.root / name)]
    stays += [f"{status.path} ({_WHY_IT_STAYS[status.state]})" for status in hooks if status.state in _WHY_IT_STAYS]
    for script in project_scripts(repository.root):
        client = "" if script.is_relative_to(repository.root / ".claude") else " --client codex"
        stays.append(f"hooks of the plugin ('burnish plugin uninstall --project{client}' removes them)")
    stays += [f"branch {name.removeprefix('refs/heads/')} (--branches removes it)" for name in results]
    if store_for(repository, environment).entries(repository_name(repository)):
        stays.append("what you trust here ('burnish trust --revoke' removes it)")
    return [*stays, "seals that were pushed to a remote"]
