"""From names to commits: what a person calls a branch or a base, and what git makes of it.

A name of a local branch means that branch, whatever tags or remotes are called the same.
"""

import re

from burnish.protocols.checking import did_you_mean
from burnish.workspace.errors import SubjectError, UnknownReferenceError
from burnish.workspace.git import Git
from burnish.workspace.names import fields

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_USUAL_BASES = ("main", "master")
BRANCHES = "refs/heads/"
REMOTES = "refs/remotes/"


def commit_of(git: Git, name: str) -> str:
    """The commit that a name stands for. Raises `UnknownReferenceError` with the closest name that there is."""
    commit = _commit_of(git, f"{BRANCHES}{name}") or _commit_of(git, name)
    if commit is None:
        raise UnknownReferenceError(name, _closest(git, name))
    return commit


def is_branch(git: Git, name: str) -> bool:
    return _commit_of(git, f"{BRANCHES}{name}") is not None


def current_branch(git: Git) -> str | None:
    """The branch that is checked out, even before its first commit; None where HEAD is detached."""
    finished = git.finish("symbolic-ref", "--quiet", "HEAD")
    name = finished.stdout.decode("utf-8", errors="surrogateescape").strip()
    return name.removeprefix(BRANCHES) if finished.code == 0 and name.startswith(BRANCHES) else None


def has_commits(git: Git) -> bool:
    """Whether there is a commit under HEAD."""
    return _commit_of(git, "HEAD") is not None


def default_base(git: Git, head: str) -> str:
    """What a branch is most likely to be merged into: what its remote calls HEAD, else main or master.

    Never the branch itself. Its own copy on a remote is taken only where there is nothing else, as on main.
    """
    names = [name for name in _candidates(git) if name != f"{BRANCHES}{head}"]
    names.sort(key=lambda name: name.startswith(REMOTES) and name.endswith(f"/{head}"))
    for name in names:
        if _commit_of(git, name) is not None:
            return name.removeprefix(BRANCHES).removeprefix(REMOTES)
    raise SubjectError(
        f"There is nothing that '{head}' could be compared with: no remote's HEAD, no main, no master.",
        hint="Name what it will be merged into with --base.",
    )


def _candidates(git: Git) -> list[str]:
    remotes = git.text("remote").splitlines()
    remotes.sort(key=lambda remote: remote != "origin")
    found: list[str] = []
    for remote in remotes:
        target = git.text("symbolic-ref", "--quiet", f"{REMOTES}{remote}/HEAD", check=False)
        if target.startswith(REMOTES):
            found.append(target)
    own = git.text("config", "--get", "init.defaultBranch", check=False)
    for name in (*_USUAL_BASES, *([own] if own else [])):
        found.append(f"{BRANCHES}{name}")
        found += [f"{REMOTES}{remote}/{name}" for remote in remotes]
    return found


def _commit_of(git: Git, name: str) -> str | None:
    if not name or name.startswith("-") or "\0" in name or "\n" in name:
        return None
    found = git.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False)
    return found if _COMMIT.fullmatch(found) else None


def _closest(git: Git, name: str) -> str:
    listing = git.run("for-each-ref", "--format=%(refname:lstrip=2)%00", BRANCHES, REMOTES, "refs/tags/")
    known = [raw.strip(b"\n").decode("utf-8", errors="replace") for raw in fields(listing)]
    return did_you_mean(name, known) or "`git branch --all` lists the branches that there are."
