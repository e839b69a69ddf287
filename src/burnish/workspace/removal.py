"""Folders that go away for good, whatever was done to them: unwritable, unreadable, nested without end."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from burnish.system.process import Command, run_now
from burnish.workspace.errors import CloneError

_SECONDS = 300.0


def remove_folder(path: Path) -> None:
    """Remove a folder and everything in it, never following a link. One that is not there is fine."""
    if not os.path.lexists(path):
        return
    if path.is_symlink():
        path.unlink()
        return
    # Too deep for the recursion of the library, or not writable: the system's own tools cope with both.
    with suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    _tool("chmod", "-R", "u+rwx", str(path))
    _tool("rm", "-rf", "--", str(path))
    if os.path.lexists(path):
        raise CloneError(f"'{path}' cannot be removed.", hint="Look at who owns it, and remove it by hand.")


def _tool(*argv: str) -> None:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    run_now(Command(argv=argv, folder="/", environment=environment), seconds=_SECONDS)


def protect_folder(path: Path) -> None:
    """Take the permission to write from everything in a folder: a mistake fails, instead of being noticed later."""
    _tool("chmod", "-R", "a-w", str(path))
