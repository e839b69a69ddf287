"""Where the files that a policy's commands name are taken from: the base of the change, wherever it has them.

A change must not bring its own reviewer. Only files that the user has trusted, with exactly the content that was
trusted when the run began, are taken from the working tree.
"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.state import Run
from burnish.runtime.context import RunContext
from burnish.settings.trust import file_digest
from burnish.settings.types import AgentSettings
from burnish.workspace.clones import Clones
from burnish.workspace.folders import protect_folder
from burnish.workspace.repository import Repository


class TrustBrokenError(BurnishError):
    """A file that was trusted is not what it was."""

    kind = ErrorKind.CONFIGURATION


def policy_folder(repository: Repository, clones: Clones, run: Run, context: RunContext) -> str:
    """A folder with the base's own files, if any command may name one of the repository; else the checkout itself."""
    agents = context.settings.agents.values()
    base = run.subject.base_commit
    trusted = context.governance.trusted
    named = {name for agent in agents for name in agent.named_files}
    if not named and not _names_any(agents, repository, base):
        return str(repository.root)
    folder = clones.make("policy", base, base, writable=True).path
    borrow_trusted(repository, folder, {name: trusted[name] for name in named & trusted.keys()})
    protect_folder(folder)
    return str(folder)


def borrow_trusted(repository: Repository, folder: Path, trusted: Mapping[str, str]) -> None:
    """Copy files of the working tree into a folder, if they are what the user has trusted."""
    for name, digest in trusted.items():
        source, target = repository.root / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # The copy is what is run, so the copy is what is compared.
        try:
            shutil.copy(source, target)
        except OSError:
            content = None
        else:
            content = target.read_bytes()
        if content is None or file_digest(content) != digest:
            raise TrustBrokenError(
                f"{source} is no longer what you trusted when the run started.",
                hint="Restore it and run 'burnish resume', or trust it again with 'burnish trust' and start a new run.",
            )


def _names_any(agents: Iterable[AgentSettings], repository: Repository, base: str) -> bool:
    """Whether any word of a command is the name of a file of the base."""
    words = {str(PurePosixPath(word)) for agent in agents for word in agent.command}
    return bool(words) and not words.isdisjoint(repository.files(base))
