"""Commits that burnish makes: in whose name, with what trailers, signed or not, as git is configured.

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

from burnish.core.errors import ErrorKind
from burnish.core.values import Value
from burnish.workspace.errors import WorkspaceError
from burnish.workspace.git import Git
from burnish.workspace.names import fields, to_text
from burnish.workspace.repository import Repository

OWN_NAME = "burnish"
OWN_ADDRESS = "burnish@localhost"
_SAID_LENGTH = 300
_SETTINGS = r"^(commit\.gpgsign|commit\.signoff|burnish\.signoff|user\.signingkey|gpg\..*)$"
_SIGN_OFF = ("burnish.signoff", "commit.signoff")
"""The first that is set counts. git has no such setting for commits; `format.signOff` is about patches by mail."""
_TRUE = frozenset({"true", "yes", "on", "1"})
_IDENTITY_VARIABLES = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")


class SigningError(WorkspaceError):
    kind = ErrorKind.CONFIGURATION


class Identity(Value):
    name: str = OWN_NAME
    address: str = OWN_ADDRESS


OWN = Identity()


class Authorship(Value):
    """In whose name commits are made, and what they carry."""

    author: Identity = OWN
    committer: Identity = OWN
    signed: bool = False
    signed_off: bool = False

    @property
    def trailers(self) -> tuple[str, ...]:
        """The last lines of each message."""
        committer = self.committer
        return (f"Signed-off-by: {committer.name} <{committer.address}>",) if self.signed_off else ()


OWN_AUTHORSHIP = Authorship()


def commit_tree(
    git: Git,
    tree: str,
    parent: str | None,
    message: str,
    at: float,
    *,
    merged: str = "",
    how: Authorship = OWN_AUTHORSHIP,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Make a commit; with `merged`, one that merges that commit into the parent. Unsigned, the same content, identity
    and time give the same id."""
    date = f"@{int(at)} +0000"
    identity = {
        "GIT_AUTHOR_NAME": how.author.name,
        "GIT_AUTHOR_EMAIL": how.author.address,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": how.committer.name,
        "GIT_COMMITTER_EMAIL": how.committer.address,
        "GIT_COMMITTER_DATE": date,
    }
    parents = [word for one in (parent, merged) if one for word in ("-p", one)]
    arguments = ("commit-tree", tree, *parents, "-F", "-", *(("-S",) if how.signed else ()))
    text, variables = message.encode("utf-8", errors="replace"), {**identity, **(environment or {})}
    if not how.signed:
        ask = git.about if environment is None else git.run  # what is written elsewhere may be gone the next time
        return to_text(ask(*arguments, stdin=text, environment=variables)).strip()
    finished = git.finish(*arguments, stdin=text, environment=variables)
    if finished.code != 0:
        raise SigningError(
            f"git cannot sign a commit: {_said(finished.stderr_tail)}.",
            hint=(
                "Unlock the key (`ssh-add`, or sign something with gpg), or turn signing off here: `git config "
                "commit.gpgsign false`."
            ),
        )
    return to_text(finished.stdout).strip()


def _said(stderr: str) -> str:
    lines = (line.strip().removeprefix("error: ") for line in stderr.splitlines())
    text = " ".join(line for line in lines if line and not line.startswith("fatal: failed to write"))
    return (text or "no reason given")[:_SAID_LENGTH].rstrip(". ")


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
