"""How a story stands in the work tree as it is, and what a review of it said, for tools with a loop of their own."""

from pathlib import Path

from burnish.contracts.text import UnreadableError
from burnish.core.findings import Severity
from burnish.core.protocol import Ask
from burnish.core.reviews import ContractName
from burnish.core.values import Value
from burnish.protocols.loader import load
from burnish.runtime.stories import StoryWords, of_work_tree, story_words
from burnish.usecases.parse_answer import ParseTask, parse_file
from burnish.workspace.repository import Repository

DONE = "done"
_PROTOCOL = "story"


def words_of(folder: Path, story: str) -> StoryWords:
    return story_words(of_work_tree(Repository.discover(folder).root), story)


class StoryVerdict(Value):
    """Whether a story is done: by the sprint status, and only where that does not list it by its own file."""

    verified: bool
    words: StoryWords
    source: str = ""
    reason: str = ""


def verify_story(folder: Path, story: str) -> StoryVerdict:
    words = words_of(folder, story)
    if words.sprint_file:
        source, word = "sprint-status.yaml", words.sprint
    else:
        source, word = "story-file", words.story
    if word.lower() == DONE:
        return StoryVerdict(verified=True, words=words, source=source)
    reason = "story_not_found" if not (words.sprint_file or words.story_file) else "workflow_not_complete"
    return StoryVerdict(verified=False, words=words, reason=reason)


class StoryReview(Value):
    """What a session's output says. It is never taken for clean where it cannot be read."""

    status: str
    counts: dict[str, int]
    all_fixed: bool
    summary: str
    next_action: str


_LEVELS = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW)


def read_output(file: str, folder: Path) -> StoryReview:
    counts = {level.value: 0 for level in _LEVELS}
    try:
        answer = parse_file(ParseTask(contract=ContractName.FINDINGS), file, folder).answer
    except UnreadableError as error:
        return StoryReview(
            status="AMBIGUOUS", counts=counts, all_fixed=False, summary=error.message, next_action="retry"
        )
    for finding in answer.findings:
        level = finding.severity if finding.severity in _LEVELS else Severity.LOW
        counts[level.value] += 1
    told = ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "no issues"
    passes = not counts["critical"] and (answer.clean or bool(answer.findings))
    return StoryReview(
        status="SUCCESS" if passes else "FAILURE",
        counts=counts,
        all_fixed=answer.clean,
        summary=f"{told} left",
        next_action="proceed" if passes else "retry",
    )


class StoryEscalation(Value):
    escalate: bool
    cycles: int
    most: int
    options: tuple[str, ...]


def review_loop(cycles: int) -> StoryEscalation:
    """Whether a person must decide after so many cycles, by the limits of the protocol for stories."""
    protocol = load(_PROTOCOL).protocol
    most = protocol.limits.reviews
    asked = protocol.exhausted
    choices = tuple(f"[{choice.key}] {choice.text}" for choice in asked.choices) if isinstance(asked, Ask) else ()
    return StoryEscalation(escalate=cycles > most, cycles=cycles, most=most, options=choices)
