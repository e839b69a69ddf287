"""What can go wrong with a repository, each with a hint. No raw complaint of git leaves the workspace."""

from collections.abc import Mapping

from burnish.core.errors import BurnishError, ErrorKind

GENERAL_HINT = "git failed. Is it installed, and are you in a Git repository?"


class WorkspaceError(BurnishError):
    """Anything that keeps the workspace from doing what it was asked."""


class GitError(WorkspaceError):
    """git itself ended badly. Holds the command without its settings, and the last thing that git said."""

    def __init__(self, command: str, code: int | None, said: str) -> None:
        ending = f"failed with exit code {code}" if code is not None else "did not finish"
        super().__init__(f"`{command}` {ending}" + (f": {said}" if said else "."), hint=_hint(said))
        self.command = command
        self.code = code
        self.said = said

    @property
    def no_room(self) -> bool:
        """Whether only the disk is at fault."""
        return any(sign in self.said.lower() for sign, _ in _HINTS[:3])


_HINTS = (
    ("no space left", "The disk is full. Free some space, then try again. Your repository was not changed."),
    ("disk quota", "Your disk quota is used up. Free some space, then try again."),
    ("file too large", "A file is larger than the system allows to write."),
    ("dubious ownership", "Another user owns the folder. If you trust it, add it to git's safe.directory."),
    (
        ".lock': file exists",
        "Another git process is running here, or one was killed. Wait for it, then remove the lock file.",
    ),
    ("not a git repository", "Change to a Git repository, or create one with `git init`."),
    ("permission denied", "Check the permissions of the repository and its files."),
)


def _hint(said: str) -> str:
    lowered = said.lower()
    return next((hint for sign, hint in _HINTS if sign in lowered), GENERAL_HINT)


class NotARepositoryError(WorkspaceError):
    """There is no repository here, or none that burnish can work with."""

    kind = ErrorKind.USAGE


class UnknownReferenceError(WorkspaceError):
    kind = ErrorKind.USAGE

    def __init__(self, name: str, hint: str) -> None:
        super().__init__(f"There is no branch, tag or commit '{name}'.", hint=hint)
        self.name = name


class AmbiguousReferenceError(WorkspaceError):
    kind = ErrorKind.USAGE

    def __init__(self, name: str, meant: Mapping[str, str]) -> None:
        listed = ", ".join(f"{ref} ({commit[:12]})" for ref, commit in meant.items())
        super().__init__(f"'{name}' is ambiguous: {listed}.", hint="Write the one that you mean in full.")
        self.name = name


class SubjectError(WorkspaceError):
    """Branch and base do not make a subject: no commits, no base, no common history, nothing to review."""

    kind = ErrorKind.USAGE


class NothingToReviewError(SubjectError):
    """There is no change."""


class MissingObjectsError(WorkspaceError):
    """The repository lacks objects of the change, as partial clones do."""


class CloneError(WorkspaceError):
    """A disposable clone cannot be made or used."""


class UnsafeResultError(WorkspaceError):
    """What a fixer left behind would reach outside of the repository. Nothing of it was taken."""

    kind = ErrorKind.UNREADABLE


class SealError(WorkspaceError):
    """A seal cannot be made or signed."""


class HookError(WorkspaceError):
    """A hook cannot be installed or removed. Nothing was changed."""

    kind = ErrorKind.USAGE
