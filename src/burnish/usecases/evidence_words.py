"""How closely a change was examined, in words: the same ones in every form in which a run is told."""

from collections import Counter
from collections.abc import Iterator

from burnish.core.evidence import Gap
from burnish.core.state import GoodReview, MissingReview, Review, ReviewStatus, Run
from burnish.runtime.trail import counts_words

MOST_NAMED = 10
"""Files that are named before they are only counted."""
WHAT_HELPS = (
    'In the base\'s burnish.toml, name an agent that reads the change ([roles] review = "NAME"), or list generated '
    "and vendored paths ([review] ignore). To approve it as it is: --allow-unexamined."
)


def review_words(review: Review) -> str:
    """What one reviewer came to. Clean is said only where it examined something."""
    match review:
        case MissingReview():
            return f"did not run, {review.failure.kind.value}: {review.failure.message}"
        case GoodReview() if review.status is ReviewStatus.FINDINGS:
            return counts_words(review.counts) or "not clean"
        case GoodReview() if review.status is ReviewStatus.CLEAN:
            return "clean"
        case GoodReview() if review.status is ReviewStatus.INCOMPLETE:
            return "incomplete: it reports nothing, but the story is not done"
        case GoodReview():
            missing = review.evidence.missing
            return f"no evidence: {missing.reason if missing else _nothing_examined(review)}"


def _nothing_examined(review: GoodReview) -> str:
    closest = max((each.level for each in review.evidence.examined), key=lambda level: level.rank, default=None)
    return "it has no analyser for the changed files" if closest is None else f"the changed files were {closest.words}"


def gaps_of(run: Run) -> tuple[Gap, ...]:
    """What keeps the last judged round from being proven."""
    judged = [past.judgement for past in run.rounds if past.judgement is not None]
    return judged[-1].gaps if judged else ()


def census_line(run: Run) -> str:
    """`Examined: 3 of 4 changed files (2 linted, 1 read by an agent)`; nothing where no round was judged."""
    census = [entry for entry in run.census if entry.file.need.line is None or entry.file.need.line.rank]
    if not census:
        return ""
    enough = [entry for entry in census if entry.enough]
    counted = Counter(entry.level for entry in enough)
    closest_first = sorted(counted, key=lambda level: -level.rank)
    levels = ", ".join(f"{counted[level]} {level.words.removeprefix('only ')}" for level in closest_first)
    files = "file" if len(census) == 1 else "files"
    return f"Examined: {len(enough)} of {len(census)} changed {files}" + (f" ({levels})" if levels else "")


def gap_lines(run: Run) -> Iterator[str]:
    """What was not examined, and what would change that."""
    found = gaps_of(run)
    for gap in found[:MOST_NAMED]:
        yield f"Not proven: {gap.subject}: {gap.reason}" if gap.subject else f"Not proven: {gap.reason}"
    if len(found) > MOST_NAMED:
        more = len(found) - MOST_NAMED
        files = "1 more file" if more == 1 else f"{more} more files"
        yield f"Not proven: {files}; `burnish show {run.id} --json` lists them all"
    hints = list(dict.fromkeys(gap.hint for gap in found if gap.hint))
    yield from hints
    if any(not gap.hint for gap in found):
        yield WHAT_HELPS
