"""`python -m benchmarks.panel.whole REPOSITORY …`: what must be fixed in a whole project, to be judged by reading.

The base of each review holds the configuration and lock files of the project, and the change adds all its other files.
The four static checks review it with the command that users run, without the packages of the interpreter that measures.
Exits with 1 where a review did not run. Whether a finding is true cannot be measured: read the code.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec

from benchmarks.panel.reviews import STATIC_SEATS, Desk, Review, desk, git
from burnish.agents.panel.own_configuration import is_configuration
from burnish.core.values import Value

_OF_PACKAGES = frozenset(
    {
        "setup.py", "meson.build", "Pipfile", "Cargo.toml", "go.mod", "go.sum", "go.work",
        "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml",
    }
)  # fmt: skip
_BY = ("-c", "user.name=burnish", "-c", "user.email=burnish@localhost")


class WholeReview(Value):
    """A project and its review."""

    name: str
    head: str
    date: str
    review: Review


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    measured: list[WholeReview] = []
    with desk(packages=False) as made:
        for repository in options.repositories:
            measured.append(_measure(made, repository.resolve()))
            _tell(measured[-1])
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1))
    print(f"over all: {sum(len(one.review.must_fix) for one in measured)} must be fixed")
    return 1 if any(one.review.error for one in measured) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panel.whole", description="Review whole projects.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every finding to a file")
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    return parser


def _measure(made: Desk, repository: Path) -> WholeReview:
    folder = made.clone(repository)
    head, date = git(folder, "log", "-1", "--format=%h %cs").split()
    base, whole = as_one_change(folder)
    protocol = made.protocol(STATIC_SEATS)
    review = made.review(folder, "--protocol", protocol, "--base", base, "--branch", whole)
    return WholeReview(name=folder.name, head=head, date=date, review=review)


def as_one_change(repository: Path) -> tuple[str, str]:
    """Two commits: the configuration of a project, and all of it. The index of the repository is used up."""
    whole = git(repository, "rev-parse", "HEAD^{tree}").strip()
    paths = git(repository, "ls-files", "-z").split("\0")[:-1]
    kept = [path for path in paths if is_configuration(path) or _is_of_packages(PurePosixPath(path).name)]
    git(repository, "read-tree", "--empty")
    if kept:
        git(repository, "--literal-pathspecs", "reset", "--quiet", "HEAD", "--", *kept)
    configuration = git(repository, "write-tree").strip()
    base = git(repository, *_BY, "commit-tree", configuration, "-m", "Configuration").strip()
    return base, git(repository, *_BY, "commit-tree", whole, "-p", base, "-m", "All other files").strip()


def _is_of_packages(name: str) -> bool:
    return name in _OF_PACKAGES or name.endswith(".lock") or ("requirements" in name and name.endswith(".txt"))


def _tell(one: WholeReview) -> None:
    told = one.review.error or f"{len(one.review.must_fix)} must be fixed, {one.review.seconds:.0f} s"
    print(f"{one.name} {one.head} {one.date}: {told}")
    for finding in one.review.must_fix:
        place = finding.location
        where = f"{place.file}:{place.line}" if place else "-"
        print(f"  {where}: {finding.severity.value} {finding.rule} {finding.title}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
