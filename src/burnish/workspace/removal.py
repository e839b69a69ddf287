"""The refs that burnish made in a repository, and their removal. No other ref is ever touched."""

from collections.abc import Collection, Mapping

from burnish.workspace.names import fields, to_text
from burnish.workspace.references import BRANCHES
from burnish.workspace.repository import Repository

_OWN = "refs/burnish/"
_RESULTS = f"{BRANCHES}burnish/"


def own_refs(repository: Repository) -> dict[str, str]:
    """Every ref below `refs/burnish/`, with the object that it names."""
    return _listed(repository, _OWN)


def result_branches(repository: Repository, runs: Collection[str]) -> dict[str, str]:
    """The branches on which these runs left a result, but for one that is checked out."""
    found = _listed(repository, _RESULTS)
    return {
        name: identity
        for name, identity in found.items()
        if name.removeprefix(_RESULTS) in runs and repository.checked_out_at(name.removeprefix(BRANCHES)) is None
    }


def delete_refs(repository: Repository, refs: Mapping[str, str]) -> None:
    """Delete refs that still name the same objects: all of them, or none."""
    if refs:
        lines = "".join(f"delete {name} {identity}\n" for name, identity in refs.items())
        repository.git.run("update-ref", "--no-deref", "--stdin", stdin=lines.encode("utf-8", "surrogateescape"))


def _listed(repository: Repository, prefix: str) -> dict[str, str]:
    listing = repository.git.run("for-each-ref", "--format=%(refname)%00%(objectname)%00", prefix)
    parts = [to_text(part.strip(b"\n")) for part in fields(listing)]
    return dict(zip(parts[::2], parts[1::2], strict=True))
