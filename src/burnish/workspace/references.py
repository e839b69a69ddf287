"""From names to commits: what a person calls a branch or a base, and what git makes of it.

Anyone who can write refs can name one after a commit, after HEAD, or after a branch of a remote. So no ref stands in
for these: a full object name is that object, HEAD is what is checked out, and a name that could be a branch of a remote
as well as something else is refused. A name of a local branch means that branch, whatever tags are called the same.
"""

import re
from collections.abc import Iterator, Mapping

from burnish.settings.documents import did_you_mean
from burnish.workspace.errors import AmbiguousReferenceError, SubjectError, UnknownReferenceError
from burnish.workspace.git import Git, is_object
from burnish.workspace.names import fields, to_text

USUAL_BASES = ("main", "master")
_BASE_SETTINGS = (
    *("config", "-z", "--get-regexp"),
    r"^(remote\..+\..+|branch\..+\.(remote|merge)|init\.defaultbranch)$",
)
BRANCHES = "refs/heads/"
REMOTES = "refs/remotes/"
_TAGS = "refs/tags/"
_PLACES = (BRANCHES, REMOTES, _TAGS, "")
_CHECKED_OUT = ("", "HEAD", "@")
_SUFFIX = re.compile(r"[~^:]|@\{")
"""Where the name of a ref ends and the way from there begins: `main~2`, `HEAD^2`, `topic@{upstream}`."""
_ABBREVIATED = re.compile(r"[0-9a-f]{4,63}")


def commit_of(git: Git, name: str) -> str:
    """The commit that a name stands for. Raises `UnknownReferenceError` with the closest name that there is."""
    commit = commits(git, name)[name]
    if commit is None:
        raise UnknownReferenceError(name, closest(git, name))
    return commit


def commits(git: Git, *names: str) -> dict[str, str | None]:
    """The commits that names stand for, from one process; None for a name that stands for none.

    Raises `AmbiguousReferenceError` for one that stands for several.
    """
    found = iter(git.objects(*(expression for name in names for expression in _expressions(name))))
    return {name: _chosen(git, name, [next(found) for _ in _PLACES]) for name in names}


def _expressions(name: str) -> Iterator[str]:
    """The same way from each place in which the name may be."""
    root = _root(name)
    exact = is_object(root) or root in _CHECKED_OUT or root.startswith("refs/")
    usable = bool(name) and not name.startswith("-")
    for place in _PLACES:
        yield f"{place}{name}^{{commit}}" if usable and not (exact and place) else ""


def _root(name: str) -> str:
    return _SUFFIX.split(name, maxsplit=1)[0]


def _chosen(git: Git, name: str, found: list[str | None]) -> str | None:
    branch, remote, tag, plain = found
    meant = {f"{place}{name}": commit for place, commit in zip(_PLACES, found, strict=True) if place and commit}
    if branch is not None:
        meant.pop(f"{_TAGS}{name}", None)
    if meant and _ABBREVIATED.fullmatch(name):
        meant.update(_abbreviated(git, name))
    if len(set(meant.values())) > 1:
        raise AmbiguousReferenceError(name, meant)
    return branch or remote or tag or plain


def _abbreviated(git: Git, name: str) -> dict[str, str]:
    """The commits whose own names begin like this."""
    objects = git.text("rev-parse", f"--disambiguate={name}").split()
    found = git.objects(*(f"{one}^{{commit}}" for one in objects)) if objects else ()
    return {one: one for one, commit in zip(objects, found, strict=True) if commit == one}


def is_branch(git: Git, name: str) -> bool:
    """Whether a name is that of a local branch, and of nothing that comes before it."""
    if is_object(name) or name in _CHECKED_OUT:
        return False
    return _commit_of(git, f"{BRANCHES}{name}") is not None


def current_branch(git: Git) -> str | None:
    """The branch that is checked out, even before its first commit; None where HEAD is detached."""
    finished = git.finish("symbolic-ref", "--quiet", "HEAD")
    name = finished.stdout.decode("utf-8", errors="surrogateescape").strip()
    return name.removeprefix(BRANCHES) if finished.code == 0 and name.startswith(BRANCHES) else None


def default_base(git: Git, head: str, *, by_settings: bool = True) -> str:
    """What a branch is most likely to be merged into: its upstream where that has another name, what its remote calls
    HEAD, else main, master or `init.defaultBranch`.

    Never the branch itself. Its own copy on a remote is taken only where there is nothing else, as on main. Without
    `by_settings`, upstream and `init.defaultBranch` do not count: who works in a clone sets them.
    """
    names = [name for name in _candidates(git, head, by_settings=by_settings) if name != f"{BRANCHES}{head}"]
    names.sort(key=lambda name: name.startswith(REMOTES) and name.endswith(f"/{head}"))
    for name in names:
        if _commit_of(git, name) is not None:
            return name.removeprefix(BRANCHES).removeprefix(REMOTES)
    if head in USUAL_BASES:
        raise SubjectError(
            f"burnish found no base for '{head}': it is itself the default base, and there is no remote.",
            hint=(
                "Work on a branch (git switch --create NAME), name a base with --base, or use --uncommitted. "
                "To review the files as they are: `burnish review --whole`."
            ),
        )
    raise SubjectError(
        f"burnish found no base for '{head}': there is no remote HEAD, no main and no master.",
        hint="Use --base to name the ref that it will be merged into.",
    )


def _candidates(git: Git, head: str, *, by_settings: bool) -> list[str]:
    entries = [entry.partition(b"\n") for entry in fields(git.run(*_BASE_SETTINGS, check=False))]
    settings = {to_text(name): to_text(value) for name, _, value in entries}
    names = {name.removeprefix("remote.").rpartition(".")[0] for name in settings if name.startswith("remote.")}
    remotes = sorted(names - {""}, key=lambda remote: (remote != "origin", remote))
    found = list(_upstream(settings, head)) if by_settings else []
    for remote in remotes:
        target = git.text("symbolic-ref", "--quiet", f"{REMOTES}{remote}/HEAD", check=False)
        if target.startswith(REMOTES):
            found.append(target)
    own = settings.get("init.defaultbranch") if by_settings else None
    for name in (*USUAL_BASES, *filter(None, (own,))):
        found.append(f"{BRANCHES}{name}")
        found += [f"{REMOTES}{remote}/{name}" for remote in remotes]
    return found


def _upstream(settings: Mapping[str, str], head: str) -> Iterator[str]:
    """The upstream of a branch, unless that is its copy on a remote."""
    remote, merged = settings.get(f"branch.{head}.remote", ""), settings.get(f"branch.{head}.merge", "")
    name = merged.removeprefix(BRANCHES)
    if remote and name and name not in (merged, head):
        yield f"{BRANCHES}{name}" if remote == "." else f"{REMOTES}{remote}/{name}"


def _commit_of(git: Git, name: str) -> str | None:
    return git.objects(f"{name}^{{commit}}")[0]


def closest(git: Git, name: str) -> str:
    listing = git.run("for-each-ref", "--format=%(refname:lstrip=2)%00", BRANCHES, REMOTES, "refs/tags/")
    known = [raw.strip(b"\n").decode("utf-8", errors="replace") for raw in fields(listing)]
    return did_you_mean(name, known) or "`git branch --all` lists the branches."
