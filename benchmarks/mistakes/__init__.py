"""`python -m benchmarks mistakes`: what the embedded panel says of mistakes as coding agents make them.

Each mistake is data (see README.md in this folder): a small project, and a change of it with one mistake. The change is
reviewed in a repository, with the command that users run, under the default protocol. Mistakes of different kinds that
only add files share a repository, which saves most of the time. A finding counts for a mistake if it names its place:
the marked file, within two lines of the marked line. Where tests can see the mistake, what they say counts wherever it
points to; except that no test runs a line, which says nothing about the mistake.
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from functools import partial
from pathlib import Path

import msgspec

from benchmarks.panel.reviews import Desk, Review, desk
from burnish.core.findings import Finding, Severity
from burnish.core.values import Value, replace
from burnish.testing.repositories import RepositoryBuilder

FOLDER = Path(__file__).parent
SEEN = 0.8
"""How many of the mistakes that a rule or a test can see must be reported at medium or above."""
BLOCKING = 0.5
"""How many of those that are reported so must be high or critical."""
_NEAR = 2
_AT_ONCE = 8
_OF_TESTS = ("test:", "tests:")
_SAYS_NOTHING = ("tests:uncovered", "tests:flaky")
_FILLED_IN = {
    # In pieces, so that no search for secrets or merge markers stops at this file or at the data.
    "@AWS_KEY@": "AKIA" + "UJZDEGXDNCF32EPF",
    "@AWS_SECRET@": "2hpChYgCfrL1spNxnyVm" + "ihA/2O76UMFxFkM/R5Kj",
    "@STRIPE_KEY@": "sk_live_" + "51NqK8xLpZ4vTgWm2RbYcHd7s",
    "@SLACK_TOKEN@": "xoxb-" + "284719203847-2938471029384-Kq8ZpWm4TvLxRcYdN7sHbG2f",
    "@GITHUB_TOKEN@": "ghp_" + "1fWRcV4GvQv4R0m1f3oQ6kT8nE2bYz1XyHcQ",
    "@OURS@": "<" * 7,
    "@BETWEEN@": "=" * 7,
    "@THEIRS@": ">" * 7,
}


class SeenBy(Enum):
    """What could report a mistake at all."""

    RULE = "rule"
    """A rule that looks at the code, or at the tree."""
    TEST = "test"
    """The project's tests, or what they show."""
    TYPES = "types"
    """The project's own type checker, where it is installed."""
    READER = "reader"
    """Only someone who knows what is meant."""


class Mistake(Value):
    """One change with something wrong in it."""

    name: str
    kind: str
    wrong: str
    seen_by: SeenBy
    at: str
    """The file in which it is."""
    after: dict[str, str]
    """The files that the change writes."""
    before: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Files of the base, beside those of the project."""
    line: str = ""
    """A part of its line; empty where the whole file is meant."""
    reason: str = ""
    """Why no rule and no test can see it."""

    @property
    def can_be_seen(self) -> bool:
        return self.seen_by in (SeenBy.RULE, SeenBy.TEST)


class MistakeSet(Value):
    """One file of mistakes."""

    project: dict[str, str]
    mistake: tuple[Mistake, ...]


class Reviewed(Value):
    """A mistake and what the panel said of it."""

    language: str
    mistake: Mistake
    findings: tuple[Finding, ...]
    """Those about the mistake, the worst first."""
    error: str

    @property
    def name(self) -> str:
        return f"{self.language}/{self.mistake.name}"

    @property
    def result(self) -> str:
        """`blocking`, `medium`, `low` or `nothing`."""
        if not self.findings:
            return "nothing"
        worst = self.findings[0].severity
        if worst.at_least(Severity.HIGH):
            return "blocking"
        return "medium" if worst is Severity.MEDIUM else "low"


RESULTS = ("blocking", "medium", "low", "nothing")


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    with desk() as made, ThreadPoolExecutor(options.jobs) as pool:
        changes = [
            change
            for file in sorted(options.folder.glob("*.toml"))
            for change in changes_of(file.stem, load(file), options.names)
        ]
        reviewed = [one for several in pool.map(partial(_review, made), changes) for one in several]
    if options.json:
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(reviewed), indent=1))
    for line in report(reviewed, every=options.all):
        print(line)
    return 0 if is_met(reviewed) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mistakes", description="Try the panel.")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="with other mistakes in the same form")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="how many reviews at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything to a file")
    parser.add_argument("--all", action="store_true", help="list what was found, too")
    parser.add_argument("names", nargs="*", metavar="NAME", help="these only: `python`, or `python/naive-time`")
    return parser


def load(file: Path) -> MistakeSet:
    """A file of mistakes, with what stands for secrets and merge markers filled in."""
    text = file.read_text(encoding="utf-8")
    for name, value in _FILLED_IN.items():
        text = text.replace(name, value)
    return msgspec.toml.decode(text, type=MistakeSet)


class MistakenChange(Value):
    """One change, with the mistakes that are in it."""

    language: str
    project: dict[str, str]
    mistakes: tuple[Mistake, ...]

    def takes(self, mistake: Mistake) -> bool:
        """Whether one more mistake disturbs none of the others: it only adds files, and is of another kind."""
        return (
            len(self.mistakes) < _AT_ONCE
            and all(map(_only_adds, (mistake, *self.mistakes)))
            and mistake.kind not in {other.kind for other in self.mistakes}
            and not {*mistake.after} & {path for path, _ in _files(self.mistakes)}
            and not {*self.project} & {path for path, _ in _files((mistake, *self.mistakes))}
        )


def _only_adds(mistake: Mistake) -> bool:
    return not mistake.before and mistake.seen_by is not SeenBy.TEST


def changes_of(language: str, listed: MistakeSet, names: Sequence[str]) -> list[MistakenChange]:
    """The mistakes of a file that are asked for, in as few changes as can be."""
    changes: list[MistakenChange] = []
    for mistake in listed.mistake:
        if names and not {language, f"{language}/{mistake.name}"} & {*names}:
            continue
        place = next((index for index, change in enumerate(changes) if change.takes(mistake)), None)
        if place is None:
            changes.append(MistakenChange(language=language, project=listed.project, mistakes=(mistake,)))
        else:
            changes[place] = replace(changes[place], mistakes=(*changes[place].mistakes, mistake))
    return changes


def _review(made: Desk, change: MistakenChange) -> tuple[Reviewed, ...]:
    folder = made.root / f"{change.language}-{change.mistakes[0].name}"
    before = {path: text for mistake in change.mistakes for path, text in mistake.before.items()}
    repository = RepositoryBuilder(folder).commit({**change.project, **before}, "Base")
    repository.branch("change").commit(dict(_files(change.mistakes)), "Change")
    review = made.review(folder, "--base", "main")
    return tuple(judged(change.language, mistake, review) for mistake in change.mistakes)


def _files(mistakes: Iterable[Mistake]) -> Iterable[tuple[str, str]]:
    return (item for mistake in mistakes for item in mistake.after.items())


def judged(language: str, mistake: Mistake, review: Review) -> Reviewed:
    """Which findings of a review are about the mistake."""
    about = sorted(filter(partial(is_about, mistake), review.findings), key=lambda finding: finding.severity.rank)
    return Reviewed(language=language, mistake=mistake, findings=tuple(about), error=review.error)


def is_about(mistake: Mistake, finding: Finding) -> bool:
    """Whether a finding names the place of a mistake, or says what the tests showed."""
    if finding.rule.startswith(_SAYS_NOTHING):
        return False
    if mistake.seen_by is SeenBy.TEST and finding.rule.startswith(_OF_TESTS):
        return True
    place = finding.location
    if place is None or place.file != mistake.at:
        return False
    if not mistake.line or place.line is None:
        return True
    lines = mistake.after[mistake.at].splitlines()
    marked = [number for number, line in enumerate(lines, start=1) if mistake.line in line]
    last = max(place.line, place.end_line or place.line)
    return any(place.line - _NEAR <= number <= last + _NEAR for number in marked)


def report(reviewed: Sequence[Reviewed], *, every: bool) -> Iterable[str]:
    """The figures by language and by kind, and the list of what was missed."""
    yield from _table("language", reviewed, lambda one: one.language)
    yield from _table("kind", reviewed, lambda one: one.mistake.kind)
    yield ""
    for one in reviewed:
        is_seen = one.result in ("blocking", "medium")
        if every or (one.mistake.can_be_seen and not is_seen):
            rules = ", ".join(f"{finding.severity.value} {finding.rule}" for finding in one.findings)
            why = f" ({one.mistake.reason})" if one.mistake.reason else ""
            yield f"{one.result:<9} {one.mistake.seen_by.value:<7} {one.name}: {one.mistake.wrong}{why}  {rules}"
    for one in reviewed:
        if one.error:
            yield f"{one.name}: {one.error}"
    yield ""
    for seen_by in SeenBy:
        count = Counter(one.result for one in reviewed if one.mistake.seen_by is seen_by)
        yield f"{seen_by.value:<8} {count.total():>4}: " + ", ".join(f"{result} {count[result]}" for result in RESULTS)
    count = Counter(one.result for one in reviewed if one.mistake.can_be_seen)
    seen, blocking = count["blocking"] + count["medium"], count["blocking"]
    yield (
        f"Of {count.total()} mistakes that a rule or a test can see, {seen} are reported at medium or above"
        f" ({seen / max(1, count.total()):.0%}), {blocking} of these block ({blocking / max(1, seen):.0%})."
    )


def _table(title: str, reviewed: Sequence[Reviewed], key: Callable[[Reviewed], str]) -> Iterable[str]:
    groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for one in reviewed:
        groups[key(one)][one.result] += 1
    yield ""
    yield f"{title:<24} " + " ".join(f"{result:>9}" for result in RESULTS)
    for name, count in sorted(groups.items()):
        yield f"{name:<24} " + " ".join(f"{count[result]:>9}" for result in RESULTS)


def is_met(reviewed: Sequence[Reviewed]) -> bool:
    """Whether enough of what can be seen is reported, and every review ran."""
    count = Counter(one.result for one in reviewed if one.mistake.can_be_seen)
    seen = count["blocking"] + count["medium"]
    enough = seen >= SEEN * count.total() and count["blocking"] >= BLOCKING * seen
    return enough and not any(one.error for one in reviewed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
