"""Where the files that a policy's commands name are taken from: the base of the change, wherever it has them.

A change must not bring its own reviewer. Only what the base does not have at all is taken from the working tree, and
the user is told.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from burnish.config.settings import Settings
from burnish.core.state import Run
from burnish.core.values import Value
from burnish.runtime.inputs import Inputs
from burnish.workspace.clones import Clones
from burnish.workspace.removal import protect_folder
from burnish.workspace.repository import Repository


class PolicyFolder(Value):
    """The folder, and what should be said of it."""

    path: str
    notices: tuple[str, ...] = ()


def policy_folder(repository: Repository, clones: Clones, run: Run, inputs: Inputs) -> PolicyFolder:
    """A folder with the base's own files, if any command names one of the repository; else the checkout itself."""
    if not any(agent.command for agent in inputs.settings.agents.values()):
        return PolicyFolder(path=str(repository.root))
    base = run.subject.base_commit
    known = repository.files(base)
    named = sorted(set(_named(inputs.settings, known)))
    missing = [name for name in named if name not in known]
    if len(missing) == len(named):
        return PolicyFolder(path=str(repository.root), notices=_notices(run, missing))
    folder = clones.make("policy", base, base, writable=True).path
    for name in missing:
        _borrow(repository.root / name, folder / name)
    protect_folder(folder)
    return PolicyFolder(path=str(folder), notices=_notices(run, missing))


def _named(settings: Settings, known: frozenset[str]) -> Iterator[str]:
    """The files that commands take from the repository: those written as such, and any word that names one."""
    for agent in settings.agents.values():
        for place, word in enumerate(agent.command):
            name = str(PurePosixPath(word.removeprefix("./")))
            if place in agent.relative_parts or name in known:
                yield name


def _borrow(source: Path, target: Path) -> None:
    """A file that only the working tree has. One that is missing there, too, is for the agent's start to report."""
    if source.is_file() and ".." not in source.parts and not os.path.lexists(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _notices(run: Run, missing: list[str]) -> tuple[str, ...]:
    if not missing:
        return ()
    return (f"{run.subject.base} has no {', '.join(missing)}: the working tree's is run.",)
