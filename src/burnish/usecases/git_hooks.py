"""`burnish hook install|uninstall|list`: the git hooks that call burnish. What they do is in `run_hook`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from burnish.workspace.hooks import HookChange, HookName, HookStatus, hook_status, install_hook, uninstall_hook
from burnish.workspace.repository import Repository


def install_hooks(folder: Path, names: Iterable[HookName]) -> Iterator[HookChange]:
    """Each hook is installed when its change is asked for: what was done before an error has been told."""
    repository = Repository.discover(folder)
    for name in names:
        yield install_hook(repository, name)


def uninstall_hooks(folder: Path, names: Iterable[HookName]) -> Iterator[HookChange]:
    """The same, the other way round."""
    repository = Repository.discover(folder)
    for name in names:
        yield uninstall_hook(repository, name)


def list_hooks(folder: Path) -> list[HookStatus]:
    repository = Repository.discover(folder)
    return [hook_status(repository, name) for name in HookName]
