"""`python -m benchmarks.panel.owasp DATASET`: what the panel finds in OWASP BenchmarkPython, and what it does not.

The data set (github.com/OWASP-Benchmark/BenchmarkPython) holds small web handlers, a third of them with a weakness, and
a table that says which. All of them are introduced by a few changes on an almost empty base and reviewed by the check
`security`, with the command that users run. A case is reported where a finding in its file, medium or worse, is of a
rule that `owasp.toml` counts for its category. Exits with 1 where the rates are outside the limits.
"""

import argparse
import csv
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.panel.reviews import Desk, Review, desk, git
from burnish.core.finding_likeness import listed
from burnish.core.findings import Finding, Severity
from burnish.core.values import Value
from burnish.testing.repositories import RepositoryBuilder

LEAST_TRUE, MOST_FALSE = 0.40, 0.14
AT_ONCE = 200
"""Cases in one change: of very many equal findings a review shows some of the places only."""
_TABLE = "expectedresults-0.1.csv"
_CASES = "testcode"


class Case(Value):
    """One handler of the data set."""

    name: str
    category: str
    vulnerable: bool


class Score(Value):
    """How many of the vulnerable and of the harmless cases were reported."""

    category: str
    found: int
    vulnerable: int
    alarms: int
    harmless: int

    @property
    def true_rate(self) -> float:
        return self.found / self.vulnerable if self.vulnerable else 0.0

    @property
    def false_rate(self) -> float:
        return self.alarms / self.harmless if self.harmless else 0.0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.panel.owasp", description="Try the check for weaknesses."
    )
    parser.add_argument("dataset", type=Path, metavar="DATASET", help="its repository, with or without a work tree")
    dataset: Path = parser.parse_args(arguments).dataset
    cases = cases_of(git(dataset.resolve(), "show", f"HEAD:{_TABLE}"))
    reported = reported_rules(_findings(dataset))
    scores = scores_of(cases, reported, counted_rules())
    for score in scores:
        print(_line(score))
    total = scores[-1]
    mean = sum(score.true_rate for score in scores[:-1]) / len(scores[:-1])
    mean_false = sum(score.false_rate for score in scores[:-1]) / len(scores[:-1])
    print(f"mean of the categories: {mean:.1%} of the weaknesses, {mean_false:.1%} of the harmless cases")
    print("never found:", ", ".join(score.category for score in scores if not score.found) or "-")
    return 0 if total.true_rate >= LEAST_TRUE and total.false_rate <= MOST_FALSE else 1


def cases_of(table: str) -> list[Case]:
    """The rows of the data set's own table."""
    rows = csv.reader(line for line in table.splitlines() if not line.startswith("#"))
    return [Case(name=name, category=category, vulnerable=real == "true") for name, category, real, *_ in rows]


def counted_rules() -> dict[str, frozenset[str]]:
    """The rules that count, by category."""
    raw = tomllib.loads(Path(__file__).with_name("owasp.toml").read_text())
    return {category: frozenset(entry["rules"]) for category, entry in raw.items()}


def reported_rules(findings: Iterable[Finding]) -> dict[str, set[str]]:
    """The rules that were reported as medium or worse, by the name of the case."""
    found: dict[str, set[str]] = {}
    for finding in (one for one in findings if one.severity.at_least(Severity.MEDIUM)):
        for place in filter(None, (finding.location, *finding.also_at)):
            found.setdefault(Path(place.file).stem, set()).update(listed(finding.rule))
    return found


def scores_of(
    cases: Sequence[Case], reported: Mapping[str, set[str]], counted: Mapping[str, frozenset[str]]
) -> list[Score]:
    """One score a category, and that of all cases together at the end."""

    def score(category: str, chosen: Sequence[Case]) -> Score:
        hits = [case for case in chosen if reported.get(case.name, set()) & counted[case.category]]
        return Score(
            category=category,
            found=sum(case.vulnerable for case in hits),
            vulnerable=sum(case.vulnerable for case in chosen),
            alarms=sum(not case.vulnerable for case in hits),
            harmless=sum(not case.vulnerable for case in chosen),
        )

    categories = sorted({case.category for case in cases})
    by_category = [score(name, [case for case in cases if case.category == name]) for name in categories]
    return [*by_category, score("all", cases)]


def _findings(dataset: Path) -> tuple[Finding, ...]:
    """What the check says of all cases, introduced by changes of some files each."""
    with desk() as made:
        cases = sorted((made.clone(dataset) / _CASES).glob("*.py"))
        parts = [cases[first : first + AT_ONCE] for first in range(0, len(cases), AT_ONCE)]
        reviews = [_review(made, made.root / f"cases-{number}", part) for number, part in enumerate(parts)]
    if errors := [review.error for review in reviews if review.error]:
        raise SystemExit(errors[0])
    findings = tuple(finding for review in reviews for finding in review.findings)
    seconds = sum(review.seconds for review in reviews)
    print(f"{len(cases)} files reviewed in {seconds:.1f} s, {len(findings)} findings")
    return findings


def _review(made: Desk, folder: Path, cases: Sequence[Path]) -> Review:
    builder = RepositoryBuilder(folder).commit({"README.md": "Cases\n"}, "Begin").branch("change")
    builder.commit({f"{_CASES}/{file.name}": file.read_bytes() for file in cases}, "Introduce the cases")
    return made.review(folder, "--protocol", made.protocol(("security",)), "--base", "main")


def _line(score: Score) -> str:
    return (
        f"{score.category:<16} found {score.found:>4} of {score.vulnerable:>4} {score.true_rate:>7.1%}"
        f"   false {score.alarms:>4} of {score.harmless:>4} {score.false_rate:>7.1%}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
