"""Commits that burnish makes: in whose name, with what trailers, signed or not."""

from collections.abc import Mapping

from burnish.core.errors import ErrorKind
from burnish.core.values import Value
from burnish.workspace.errors import WorkspaceError
from burnish.workspace.git import Git
from burnish.workspace.names import to_text

OWN_NAME = "burnish"
OWN_ADDRESS = "burnish@localhost"
_SAID_LENGTH = 300


class SigningError(WorkspaceError):
    """A commit that must be signed cannot be."""

    kind = ErrorKind.CONFIGURATION


class Identity(Value):
    """A name and an address."""

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
    parent: str,
    message: str,
    at: float,
    *,
    how: Authorship = OWN_AUTHORSHIP,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Make a commit. Unsigned, the same content, identity and time give the same id."""
    date = f"@{int(at)} +0000"
    identity = {
        "GIT_AUTHOR_NAME": how.author.name,
        "GIT_AUTHOR_EMAIL": how.author.address,
        "GIT_AUTHOR_DATE": date,
        "GIT_COMMITTER_NAME": how.committer.name,
        "GIT_COMMITTER_EMAIL": how.committer.address,
        "GIT_COMMITTER_DATE": date,
    }
    arguments = ("commit-tree", tree, "-p", parent, "-F", "-", *(("-S",) if how.signed else ()))
    text, variables = message.encode("utf-8", errors="replace"), {**identity, **(environment or {})}
    if not how.signed and environment is None:  # what is written elsewhere may be gone when it is asked for again
        return to_text(git.about(*arguments, stdin=text, environment=variables)).strip()
    if not how.signed:
        return git.text(*arguments, stdin=text, environment=variables)
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
