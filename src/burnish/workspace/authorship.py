"""How the user makes commits here: identity, signature and sign-off, as git is configured.

A signature runs the program that git's settings name, outside of every sandbox. So neither those settings nor that
program may come from the work tree, which a change under review can edit.
"""

import os
import shlex
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from burnish.workspace.commits import OWN, Authorship, Identity, SigningError, commit_tree
from burnish.workspace.names import fields, to_text
from burnish.workspace.repository import Repository

_SETTINGS = r"^(commit\.gpgsign|commit\.signoff|burnish\.signoff|user\.signingkey|gpg\..*)$"
_SIGN_OFF = ("burnish.signoff", "commit.signoff")
"""The first that is set counts. git has no such setting for commits; `format.signOff` is about patches by mail."""
_TRUE = frozenset({"true", "yes", "on", "1"})
_IDENTITY_VARIABLES = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


def authorship(repository: Repository) -> Authorship:
    """How the user commits in this repository; burnish's own identity only where the user has none.

    Raises `SigningError` where a setting of a signature comes from the work tree.
    """
    settings = _settings(repository)
    signed = _is_on(settings.get("commit.gpgsign"))
    signed_off = _is_on(next((settings[name] for name in _SIGN_OFF if name in settings), None))
    if signed or signed_off:
        _refuse_work_tree(repository, settings)
    return Authorship(
        author=_identity(repository, "GIT_AUTHOR_IDENT"),
        committer=_identity(repository, "GIT_COMMITTER_IDENT"),
        signed=signed,
        signed_off=signed_off,
    )


def ensure_signing(repository: Repository, commit: str) -> None:
    """Sign something now where commits must be signed, so that a locked key is found before any agent has worked."""
    how = authorship(repository)
    if not how.signed:
        return
    with tempfile.TemporaryDirectory(prefix="burnish-") as folder:
        shared = str(repository.common_dir / "objects")
        places = {"GIT_OBJECT_DIRECTORY": folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES": shared}
        commit_tree(repository.git, repository.tree_of(commit), commit, "Test", 0.0, how=how, environment=places)


class _Setting(NamedTuple):
    """A value of git's settings, None where only its key is there, and the file that it is in."""

    value: str | None
    file: str


def _settings(repository: Repository) -> dict[str, _Setting]:
    raw = repository.git.run("config", "--show-origin", "-z", "--get-regexp", _SETTINGS, check=False)
    parts = [to_text(part) for part in fields(raw)]
    found: dict[str, _Setting] = {}
    for origin, entry in zip(parts[::2], parts[1::2], strict=True):
        name, separator, value = entry.partition("\n")
        found[name.lower()] = _Setting(value if separator else None, origin.removeprefix("file:"))
    return found


def _is_on(setting: _Setting | None) -> bool:
    """git's own reading of a truth value: a key without a value is true."""
    return setting is not None and (setting.value is None or setting.value.strip().lower() in _TRUE)


def _refuse_work_tree(repository: Repository, settings: Mapping[str, _Setting]) -> None:
    for name, setting in settings.items():
        if _in_work_tree(repository, setting.file):
            raise SigningError(
                f"The git setting {name} is in {setting.file}, a file of the work tree, which a change can edit.",
                hint="Move it to your own settings with `git config --global`.",
            )
        program = _program(name, setting.value or "")
        if "/" in program and _in_work_tree(repository, program):
            raise SigningError(
                f"The git setting {name} names {program}, a file of the work tree, which a change can edit.",
                hint="Use a program outside the repository.",
            )


def _program(name: str, value: str) -> str:
    if name.endswith(".program"):
        return value
    if not name.endswith(".defaultkeycommand"):
        return ""
    try:
        return next(iter(shlex.split(value)), "")
    except ValueError:
        return value


def _in_work_tree(repository: Repository, path: str) -> bool:
    place = (repository.root / Path(path).expanduser()).resolve()
    root, own = repository.root.resolve(), repository.common_dir.resolve()
    return place.is_relative_to(root) and not place.is_relative_to(own)


@lru_cache(maxsize=2)
def _identity(repository: Repository, variable: str) -> Identity:
    """What git itself would take, without the guess that it makes from the names of user and machine."""
    given = {name: os.environ[name] for name in _IDENTITY_VARIABLES if os.environ.get(name)}
    said = repository.git.text("-c", "user.useConfigOnly=true", "var", variable, check=False, environment=given)
    name, found, rest = said.partition(" <")
    address, ended, _ = rest.partition("> ")
    return Identity(name=name, address=address) if found and ended and name else OWN
