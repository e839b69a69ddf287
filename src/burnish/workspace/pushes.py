"""What `git push` tells its hook, and the seals that go with a push."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from burnish.core.errors import BurnishError
from burnish.core.values import Value
from burnish.system.shell import shell_line
from burnish.workspace.break_glass import PREFIX as BREAK_GLASS
from burnish.workspace.git import is_object
from burnish.workspace.references import REMOTES, USUAL_BASES
from burnish.workspace.repository import Repository
from burnish.workspace.seals import PREFIX as SEALS

_SECONDS = 120.0
_TRANSPORT = ("GIT_SSH", "GIT_SSH_COMMAND")
"""How the user's own push reaches the remote."""


class PushedRef(Value):
    """A line of the standard input of `pre-push`."""

    local_ref: str
    commit: str
    remote_ref: str
    remote_commit: str

    @property
    def deletes(self) -> bool:
        return not self.commit.strip("0")

    @property
    def creates(self) -> bool:
        return not self.remote_commit.strip("0")


class UnreadablePushError(BurnishError):
    """What git says of a push has another form than it should have."""


def read_pushed(text: str) -> tuple[PushedRef, ...]:
    """The refs that are pushed. A line that says something else is an error: nothing may pass unseen."""
    return tuple(_pushed(line) for line in text.splitlines() if line.strip())


def _pushed(line: str) -> PushedRef:
    words = line.rsplit(" ", 3)
    if len(words) != 4 or not all(map(is_object, (words[1], words[3]))):
        raise UnreadablePushError(
            f"git says of the push: '{line[:200]}', which burnish cannot read.",
            hint="This command is for git's pre-push hook: `burnish hook install pre-push`.",
        )
    return PushedRef(local_ref=words[0], commit=words[1], remote_ref=words[2], remote_commit=words[3])


def remote_host(repository: Repository, remote: str = "origin") -> str:
    """The name of the host that a remote is on, in small letters; empty for a folder, or where there is no remote."""
    url = repository.git.text("remote", "get-url", remote, check=False).lower()
    found = re.match(r"(?:(?:https?|ssh|git)://(?:[^@/]*@)?|[^@/:]+@)([^/:@]+)", url)
    return found[1] if found else ""


def told_by_pre_commit(repository: Repository, environment: Mapping[str, str]) -> tuple[PushedRef, ...]:
    """A push as the program pre-commit tells it to the hooks that it runs: of several refs, only one."""
    local, remote = (environment.get(f"PRE_COMMIT_{name}_BRANCH", "") for name in ("LOCAL", "REMOTE"))
    if not (local and remote):
        return ()
    commit = repository.commit_of(environment.get("PRE_COMMIT_TO_REF") or local)
    former = environment.get("PRE_COMMIT_FROM_REF") or "0" * len(commit)
    return (PushedRef(local_ref=local, commit=commit, remote_ref=remote, remote_commit=former),)


class BaseBranch(Value):
    """What changes are merged into."""

    name: str
    """On the remote."""
    ref: str
    """As this clone knows it."""
    commit: str


def base_branch(repository: Repository, remote: str) -> BaseBranch | None:
    """What the remote calls HEAD, else what `verify` finds here; None where nothing tells.

    Settings of this clone have no say: see `default_base`. The branch is taken as the remote has it, where that is
    known: a local branch of the same name may hold anything.
    """
    prefix = f"{REMOTES}{remote}/"
    target = repository.git.text("symbolic-ref", "--quiet", f"{prefix}HEAD", check=False)
    if target.startswith(prefix):
        ref, name = target.removeprefix(REMOTES), target.removeprefix(prefix)
    else:
        try:
            ref = repository.default_base("", by_settings=False)
        except BurnishError:
            return None
        name = ref if ref in USUAL_BASES else ref.partition("/")[2]
    tracked = repository.git.objects(f"{prefix}{name}^{{commit}}")[0]
    if tracked is not None:
        return BaseBranch(name=name, ref=f"{remote}/{name}", commit=tracked)
    return BaseBranch(name=name, ref=ref, commit=repository.commit_of(ref))


def push_branch(repository: Repository, remote: str, branch: str) -> str:
    """Push a branch forward, as the user would; why that failed, or nothing. It is never forced."""
    environment = {name: os.environ[name] for name in _TRANSPORT if name in os.environ}
    spec = f"refs/heads/{branch}:refs/heads/{branch}"
    finished = repository.git.finish("push", "--quiet", "--", remote, spec, seconds=_SECONDS, environment=environment)
    return (finished.stderr_tail.strip().splitlines() or ["git push failed"])[-1][:300] if finished.code else ""


def push_seals(repository: Repository, remote: str, trees: Sequence[str]) -> str:
    """Push what is recorded of these trees; why that failed and how to do it by hand, or nothing.

    No hook runs for it. Seals are named by their content: nothing on the remote is overwritten.
    """
    names = list(_refs(repository, dict.fromkeys(trees)))
    if not names:
        return ""
    specs = [f"{name}:{name}" for name in names]
    environment = {name: os.environ[name] for name in _TRANSPORT if name in os.environ}
    try:
        finished = repository.git.finish(
            "push", "--quiet", "--no-verify", "--", remote, *specs, seconds=_SECONDS, environment=environment
        )
        said = (finished.stderr_tail.strip().splitlines() or [""])[-1] if finished.code else ""
        failed = finished.code != 0
    except BurnishError as error:
        failed, said = True, error.message
    if not failed:
        return ""
    by_hand = shell_line("git", "push", "--no-verify", remote, *specs)
    return f"the seals were not pushed{f' ({said[:200]})' if said else ''}, so CI cannot see them. Run: {by_hand}"


def _refs(repository: Repository, trees: Iterable[str]) -> Iterable[str]:
    for tree in trees:
        places = (f"{SEALS}{tree}/", f"{BREAK_GLASS}{tree}/")
        yield from repository.git.text("for-each-ref", "--format=%(refname)", *places).splitlines()
