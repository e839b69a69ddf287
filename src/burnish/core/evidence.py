"""Evidence: how closely each changed file was examined, and whether that is enough for an approval.

A gate that counts findings alone calls a change clean that was never examined. So every review says which files it
examined, and how closely; the census puts the reviews together; what stays below the line is a gap. No gap is filled
by default: a file that no review names was not examined.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum

from burnish.core.values import Value


class Level(Enum):
    """How closely a file was examined. The order of the members is the order of closeness."""

    NOT_EXAMINED = "not-examined"
    COULD_READ = "could-read"
    """An agent had the file at hand; nothing shows that it opened it."""
    SECRETS = "secrets"
    RULES = "rules"
    LINTED = "linted"
    CHECKED = "checked"
    TESTED = "tested"
    READ = "read"

    @property
    def rank(self) -> int:
        return _RANKS[self]

    @property
    def words(self) -> str:
        return _WORDS[self]

    def reaches(self, line: "Level") -> bool:
        return self.rank >= line.rank


_RANKS = {level: rank for rank, level in enumerate(Level)}
_WORDS = {
    Level.NOT_EXAMINED: "not examined",
    Level.COULD_READ: "an agent could read it",
    Level.SECRETS: "only scanned for secrets",
    Level.RULES: "only matched against rules",
    Level.LINTED: "linted",
    Level.CHECKED: "type-checked or compiled",
    Level.TESTED: "run by a passing test",
    Level.READ: "read by an agent",
}


class Need(Enum):
    """What kind of file it is, which says how closely it must be examined."""

    CODE = "code"
    """Text that a tool runs, compiles or renders, and every type that is not known."""
    DATA = "data"
    """Documents, lock files, snapshots, plain data, and what the base marks as generated or ignored."""
    NOTHING = "nothing"
    """Data that is deleted: nothing of it is left to examine."""
    OPAQUE = "opaque"
    """What no reviewer can examine here: Git LFS pointers, encrypted files, submodules."""

    @property
    def line(self) -> Level | None:
        """The least level that is enough. None: no level is."""
        return _LINES[self]


_LINES = {
    Need.CODE: Level.LINTED,
    Need.DATA: Level.SECRETS,
    Need.NOTHING: Level.NOT_EXAMINED,
    Need.OPAQUE: None,
}


class CensusFile(Value):
    """A file that differs between the merge base and the tree under review."""

    path: str
    need: Need
    before: str = ""
    """Its object before the change, as git names it; empty where there was none."""
    after: str = ""
    """Its object now; empty where it is deleted."""
    why: str = ""
    """Why it needs what it needs, where its type alone does not say so."""


class Examined(Value):
    """A file that a review examined, and how closely."""

    path: str
    level: Level


class Missing(Value):
    """Why a reviewer had nothing to go on."""

    reason: str
    hint: str = ""
    """What would change that."""
    excused: bool = False
    """Whether the change can be approved all the same: a project without tests lacks them through no fault of its."""


class TestsRun(Value):
    """How many tests ran on the change."""

    __test__ = False

    ran: int
    reaching: int | None = None
    """How many of them reach the change; None where that is not known."""

    def plus(self, other: "TestsRun") -> "TestsRun":
        known = self.reaching is not None and other.reaching is not None
        return TestsRun(
            ran=self.ran + other.ran, reaching=(self.reaching or 0) + (other.reaching or 0) if known else None
        )


class Evidence(Value):
    """What one review rests on. Observed by burnish, never taken from the reviewer's own words."""

    examined: tuple[Examined, ...] = ()
    missing: Missing | None = None
    tests: TestsRun | None = None
    """The project's tests that ran for this review."""


class CensusEntry(Value):
    """A changed file, the closest examination that it had, and by whom."""

    file: CensusFile
    level: Level = Level.NOT_EXAMINED
    by: tuple[str, ...] = ()
    """Every reviewer that examined it at all."""

    @property
    def enough(self) -> bool:
        line = self.file.need.line
        return line is not None and self.level.reaches(line)


class Gap(Value):
    """One reason why a change is not proven."""

    subject: str
    """The file, or the reviewer that had nothing to go on."""
    reason: str
    hint: str = ""


UNKNOWN_CHANGE = Gap(subject="", reason="the changed files are not known")


def take_census(files: Sequence[CensusFile], evidence: Mapping[str, Evidence]) -> tuple[CensusEntry, ...]:
    """Put together what all reviewers of a round examined. `evidence` is by reviewer."""
    by_path: dict[str, list[tuple[Level, str]]] = {}
    for reviewer, given in evidence.items():
        for examined in given.examined:
            by_path.setdefault(examined.path, []).append((examined.level, reviewer))
    # Where two files have one printable name, it cannot be told which of them was examined.
    doubled = {path for path, number in Counter(file.path for file in files).items() if number > 1}
    return tuple(_entry(file, [] if file.path in doubled else by_path.get(file.path, [])) for file in files)


def _entry(file: CensusFile, levels: Sequence[tuple[Level, str]]) -> CensusEntry:
    level = max((level for level, _ in levels), key=lambda level: level.rank, default=Level.NOT_EXAMINED)
    return CensusEntry(file=file, level=level, by=tuple(dict.fromkeys(reviewer for _, reviewer in levels)))


def gaps(census: Sequence[CensusEntry], evidence: Mapping[str, Evidence]) -> tuple[Gap, ...]:
    """Everything that keeps a change from being proven. A change of which nothing is known is not proven either."""
    below = [
        Gap(subject=entry.file.path, reason=entry.level.words + (f" ({entry.file.why})" if entry.file.why else ""))
        for entry in census
        if not entry.enough
    ]
    unexcused = [
        Gap(subject=reviewer, reason=given.missing.reason, hint=given.missing.hint)
        for reviewer, given in evidence.items()
        if given.missing is not None and not given.missing.excused
    ]
    return (*below, *unexcused) if census else (UNKNOWN_CHANGE, *unexcused)


def looked(files: Sequence[CensusFile], evidence: Evidence) -> bool:
    """Whether a review by itself examined at least one changed file closely enough for that file."""
    return any(entry.enough and entry.by for entry in take_census(files, {"": evidence}))


def summary(found: Sequence[Gap], named: int = 3) -> str:
    listed = "; ".join(f"{gap.subject}: {gap.reason}" if gap.subject else gap.reason for gap in found[:named])
    return listed + (f"; and {len(found) - named} more" if len(found) > named else "")
