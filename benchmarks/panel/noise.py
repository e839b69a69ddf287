"""`python -m benchmarks.panel.noise REPOSITORY …`: how often the panel holds up a well-kept project for nothing.

The last commits of each repository that are no merges are reviewed against their parents by the four static roles, with
the command that users run and no configuration but the project's own. What is counted are findings that must be fixed
(high and critical). Exits with 1 where there are more of them a commit than the limits, or a review did not run.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from pathlib import Path

import msgspec

from benchmarks.panel.reviews import STATIC_SEATS, Desk, Review, desk, git
from burnish.core.findings import Finding
from burnish.core.values import Value

LIMIT = 0.1
"""For each repository."""
LIMIT_OVER_ALL = 0.02
COMMITS = 100


class Reviewed(Value):
    """A commit and its review."""

    commit: str
    review: Review


class Noise(Value):
    """What the panel said of one repository."""

    name: str
    head: str
    date: str
    commits: tuple[Reviewed, ...]

    @property
    def must_fix(self) -> tuple[Finding, ...]:
        return tuple(finding for one in self.commits for finding in one.review.must_fix)

    @property
    def errors(self) -> tuple[Reviewed, ...]:
        return tuple(one for one in self.commits if one.review.error)

    @property
    def per_commit(self) -> float:
        return len(self.must_fix) / max(1, len(self.commits) - len(self.errors))

    @property
    def commits_held_up(self) -> int:
        return sum(bool(one.review.must_fix) for one in self.commits)


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    measured: list[Noise] = []
    print(f"{'repository':<28} {'head':<12} {'date':<10} commits must-fix a commit held up errors  median s")
    with desk() as made:
        for repository in options.repositories:
            measured.append(_measure(made, repository.resolve(), options.commits, options.jobs))
            print(_line(measured[-1]), flush=True)
    if not options.totals:
        _tell(measured)
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1))
    commits = sum(len(noise.commits) for noise in measured)
    over_all = sum(len(noise.must_fix) for noise in measured) / max(commits, 1)
    print(f"over all: {over_all:.3f} a commit")
    within = over_all <= LIMIT_OVER_ALL and all(noise.per_commit <= LIMIT for noise in measured)
    return 0 if within and commits and not any(noise.errors for noise in measured) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.panel.noise", description="Count false alarms.")
    parser.add_argument("--commits", type=int, default=COMMITS, metavar="N", help="how many of each repository")
    parser.add_argument("--jobs", type=int, default=cpu_count(), metavar="N", help="how many reviews at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every finding to a file")
    parser.add_argument("--totals", action="store_true", help="no rules and places: nothing to tune by")
    parser.add_argument("repositories", nargs="+", type=Path, metavar="REPOSITORY")
    return parser


def _measure(made: Desk, repository: Path, commits: int, jobs: int) -> Noise:
    folder = made.clone(repository)
    protocol = made.protocol(STATIC_SEATS)

    def look(commit: str) -> Reviewed:
        review = made.review(folder, "--protocol", protocol, "--base", f"{commit}^", "--branch", commit)
        return Reviewed(commit=commit, review=review)

    with ThreadPoolExecutor(jobs) as pool:
        reviewed = tuple(pool.map(look, commits_of(folder, commits)))
    head, date = git(folder, "log", "-1", "--format=%h %cs").split()
    return Noise(name=folder.name, head=head, date=date, commits=reviewed)


def commits_of(repository: Path, number: int) -> list[str]:
    """The last commits that are no merges and change something, the newest first."""
    listed = git(repository, "log", "--no-merges", "--format=%x00%H", "--name-only", "--min-parents=1", "HEAD")
    changed = (block.split("\n", 1) for block in listed.split("\0")[1:])
    return [commit for commit, files in changed if files.strip()][:number]


def _line(noise: Noise) -> str:
    seconds = sorted(one.review.seconds for one in noise.commits)
    return (
        f"{noise.name:<28} {noise.head:<12} {noise.date:<10} {len(noise.commits):>7} {len(noise.must_fix):>8}"
        f" {noise.per_commit:>8.2f} {noise.commits_held_up:>7} {len(noise.errors):>6}"
        f"  {seconds[len(seconds) // 2] if seconds else 0:>8.2f}"
    )


def _tell(measured: Sequence[Noise]) -> None:
    """Which rules it was, where, and what went wrong."""
    for noise in measured:
        for rule, number in Counter(finding.rule for finding in noise.must_fix).most_common():
            print(f"{noise.name:<28} {number:>4}  {rule}")
    for noise in measured:
        for one in noise.commits:
            for finding in one.review.must_fix:
                place = finding.location
                where = f"{place.file}:{place.line}" if place else "-"
                print(
                    f"{noise.name} {one.commit[:10]} {where}: {finding.severity.value} {finding.rule} {finding.title}"
                )
            if one.review.error:
                print(f"{noise.name} {one.commit[:10]} {one.review.error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
