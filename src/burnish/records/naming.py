"""The names in records: of the story, of files, of moments. Nothing here lets a name leave its folder."""

import re
import time

from burnish.core.state import GoodReview, MissingReview, Review, Reviewing, Round, Run, Stopping

MAX_NAME = 80
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def slug(text: str) -> str:
    """A text as part of a file's name."""
    name = _UNFIT.sub("-", text)[:MAX_NAME].strip(".-")
    return re.sub(r"\.{2,}", ".", name) or "unnamed"


def story_of(run: Run) -> str:
    """The story that a run is about; without one, the branch stands for it."""
    return " ".join(run.subject.story.split()) or slug(run.subject.branch)


def moment(at: float) -> str:
    """An ISO 8601 time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def minute(at: float) -> str:
    """`YYYY-MM-DD HH:MM`, in UTC: the same bytes on every machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))


def reviews_of(run: Run, round_: Round) -> tuple[Review, ...]:
    """The reviews of a round so far. While the panel sits, they are with the seats."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    if round_.reviews or not isinstance(phase, Reviewing) or phase.round != round_.number:
        return round_.reviews
    works = (seat.work for seat in phase.seats)
    return tuple(work for work in works if isinstance(work, GoodReview | MissingReview))


def answered(reviews: tuple[Review, ...]) -> tuple[GoodReview, ...]:
    """The reviews that say something."""
    return tuple(review for review in reviews if isinstance(review, GoodReview))
