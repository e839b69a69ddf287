"""`python -m benchmarks.panel.whole REPOSITORY …`: what must be fixed in a whole project, to be judged by reading.

The four static checks review it with `burnish review --whole`, without the packages of the interpreter that measures.
With --as-change, a change adds every file to a base that holds only settings of tools and packages.
Exits with 1 where a review did not run. Whether a finding is true cannot be measured: read the code.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.panel.reviews import STATIC_SEATS, Desk, Review, desk, git
from burnish.agents.panel.own_configuration import declares_packages, is_configuration
from burnish.core.values import Value

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
            measured.append(_measure(made, repository.resolve(), as_change=options.as_change))
            _tell(measured[-1])
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1))
    print(f"over all: {sum(len(one.review.must_fix) for one in measured)} must be fixed")
    return 1 if any(one.review.error for one in measured) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panel.whole", description="Review whole projects.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every finding to a file")
    parser.add_argument("--as-change", action="store_true", help="review a change that adds the files")
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    return parser


def _measure(made: Desk, repository: Path, *, as_change: bool) -> WholeReview:
    folder = made.clone(repository)
    head, date = git(folder, "log", "-1", "--format=%h %cs").split()
    what = ["--whole"]
    if as_change:
        base, whole = as_one_change(folder)
        what = ["--base", base, "--branch", whole]
    review = made.review(folder, "--protocol", made.protocol(STATIC_SEATS), *what)
    return WholeReview(name=folder.name, head=head, date=date, review=review)


def as_one_change(repository: Path) -> tuple[str, str]:
    """Two commits: the configuration of a project, and all of it. The index of the repository is used up."""
    whole = git(repository, "rev-parse", "HEAD^{tree}").strip()
    paths = git(repository, "ls-files", "-z").split("\0")[:-1]
    kept = [path for path in paths if is_configuration(path) or declares_packages(path)]
    git(repository, "read-tree", "--empty")
    if kept:
        git(repository, "--literal-pathspecs", "reset", "--quiet", "HEAD", "--", *kept)
    configuration = git(repository, "write-tree").strip()
    base = git(repository, *_BY, "commit-tree", configuration, "-m", "Configuration").strip()
    return base, git(repository, *_BY, "commit-tree", whole, "-p", base, "-m", "All other files").strip()


def _tell(one: WholeReview) -> None:
    told = one.review.error or f"{len(one.review.must_fix)} must be fixed, {one.review.seconds:.0f} s"
    print(f"{one.name} {one.head} {one.date}: {told}")
    for finding in one.review.must_fix:
        place = finding.location
        where = f"{place.file}:{place.line}" if place else "-"
        print(f"  {where}: {finding.severity.value} {finding.rule} {finding.title}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
