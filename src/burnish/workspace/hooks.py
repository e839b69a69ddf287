"""The project's own commit hooks: which there are, and how to run them on a fixer's clone.

The hooks of the user's checkout are run, not those of the clone, which its fixer may have edited. This module runs
nothing: the commands are for the fixer's sandbox.
"""

import os
from pathlib import Path

from burnish.system.process import Command
from burnish.workspace.clones import Clone
from burnish.workspace.git import NO_FILE
from burnish.workspace.inside import write_inside
from burnish.workspace.repository import Repository

_HOOKS = ("pre-commit", "commit-msg")
_MESSAGE = ".git/COMMIT_EDITMSG"


def commit_hook(repository: Repository) -> tuple[str, ...] | None:
    """The commit hooks that git would run here (also those of husky and pre-commit), by path; None without any."""
    folder = hooks_folder(repository)
    paths = (folder / name for name in _HOOKS)
    return tuple(str(path) for path in paths if path.is_file() and os.access(path, os.X_OK)) or None


def hooks_folder(repository: Repository) -> Path:
    """Where git looks for hooks, `core.hooksPath` of the user included."""
    return Path(repository.git.text("rev-parse", "--path-format=absolute", "--git-path", "hooks", hooks=True))


def hook_commands(repository: Repository, clone: Clone, message: str) -> tuple[Command, ...]:
    """What to run in the clone, in order: stage everything, then each hook. The first that fails rejects.

    Their environment is only what git itself gives to hooks; the sandbox adds the rest.
    """
    hooks = commit_hook(repository)
    if hooks is None:
        return ()
    write_inside(clone.path, _MESSAGE, message.encode("utf-8", errors="replace"))
    environment = {"GIT_EDITOR": ":", "GIT_INDEX_FILE": ".git/index", "GIT_PREFIX": ""}
    stage = ("git", "-c", f"core.hooksPath={NO_FILE}", "-c", "core.fsmonitor=false", "add", "--all")
    commands = [Command(argv=stage, folder=str(clone.path), environment={})]
    for hook in hooks:
        argv = (hook, _MESSAGE) if hook.endswith("commit-msg") else (hook,)
        commands.append(Command(argv=argv, folder=str(clone.path), environment=environment))
    return tuple(commands)
