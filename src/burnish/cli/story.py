"""`burnish story`: how a story stands, for tools that run a review loop of their own."""

import re
from pathlib import Path
from typing import TypedDict

import click

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.report.output import print_json
from burnish.usecases.check_story import DONE, read_output, review_loop, verify_story, words_of

_HELP = """Say how a story stands, as JSON, for tools that have a review loop of their own.

The files are read as they are in the working tree. The exit code is 0 whenever there is an answer."""

story = LazyGroup(
    "story",
    {
        "status": LazyCommand("burnish.cli.story:status_command", "Commands", "The story in the sprint status."),
        "file-status": LazyCommand("burnish.cli.story:file_status_command", "Commands", "The story's own file."),
        "verify": LazyCommand("burnish.cli.story:verify_command", "Commands", "Whether the story is done."),
        "parse-output": LazyCommand(
            "burnish.cli.story:parse_output_command", "Commands", "What the output of a review says."
        ),
        "escalate": LazyCommand(
            "burnish.cli.story:escalate_command", "Commands", "Whether a person must decide after so many cycles."
        ),
    },
    help_text=_HELP,
)
_CYCLES = re.compile(r"(?:cycles=)?(\d+)")
_state_file_option = click.option(
    "--state-file", metavar="FILE", expose_value=False, help="Accepted and ignored: it does not change the answer."
)


class StoryStatusObject(TypedDict):
    """What `burnish story status` and `burnish story file-status` print."""

    found: bool
    story: str
    status: str
    """Empty if it was not found."""
    done: bool


class StoryVerifiedObject(TypedDict, total=False):
    """What `burnish story verify` prints: `source` if it is done, else `reason`."""

    verified: bool
    story: str
    sprint_status: str
    story_file_status: str
    source: str
    """`sprint-status.yaml` or `story-file`."""
    reason: str
    """`workflow_not_complete` or `story_not_found`."""


class IssuesFoundObject(TypedDict):
    critical: int
    high: int
    medium: int
    low: int


class StoryOutputObject(TypedDict):
    """What `burnish story parse-output` prints."""

    status: str
    """`SUCCESS` (nothing critical is left), `FAILURE`, or `AMBIGUOUS` if it is no readable review."""
    issues_found: IssuesFoundObject
    """What is left after the session's own fixes."""
    all_fixed: bool
    summary: str
    next_action: str
    """`proceed`, `retry` or `escalate`."""


class StoryEscalationObject(TypedDict):
    """What `burnish story escalate` prints."""

    escalate: bool
    trigger: str
    priority: str
    cycles: int
    max_cycles: int
    options: list[str]


@click.command("status")
@click.argument("name", metavar="STORY")
def status_command(name: str) -> int:
    """Print the status of STORY in the sprint status."""
    words = words_of(Path.cwd(), name)
    print_json(_status(name, words.sprint, found=bool(words.sprint_file)))
    return 0


@click.command("file-status")
@click.argument("name", metavar="STORY")
def file_status_command(name: str) -> int:
    """Print the status in STORY's own file."""
    words = words_of(Path.cwd(), name)
    print_json(_status(name, words.story, found=bool(words.story_file)))
    return 0


def _status(name: str, word: str, *, found: bool) -> StoryStatusObject:
    return {"found": found, "story": name, "status": word, "done": found and word.lower() == DONE}


@click.command("verify")
@click.argument("name", metavar="STORY")
@_state_file_option
def verify_command(name: str) -> int:
    """Print whether STORY is done: by the sprint status, or by its own file if the sprint status does not list it."""
    verdict = verify_story(Path.cwd(), name)
    found: StoryVerifiedObject = {
        "verified": verdict.verified,
        "story": name,
        "sprint_status": verdict.words.sprint,
        "story_file_status": verdict.words.story,
    }
    if verdict.verified:
        found["source"] = verdict.source
    else:
        found["reason"] = verdict.reason
    print_json(found)
    return 0


@click.command("parse-output")
@click.argument("file", metavar="FILE")
@click.argument("step", type=click.Choice(["review"]), default="review", expose_value=False)
@_state_file_option
def parse_output_command(file: str) -> int:
    """Print what the output of a review, in FILE, says."""
    read = read_output(file, Path.cwd())
    issues: IssuesFoundObject = {
        "critical": read.counts["critical"],
        "high": read.counts["high"],
        "medium": read.counts["medium"],
        "low": read.counts["low"],
    }
    found: StoryOutputObject = {
        "status": read.status,
        "issues_found": issues,
        "all_fixed": read.all_fixed,
        "summary": read.summary,
        "next_action": read.next_action,
    }
    print_json(found)
    return 0


@click.command("escalate")
@click.argument("trigger", type=click.Choice(["review-loop"]))
@click.argument("context", metavar="cycles=N")
def escalate_command(trigger: str, context: str) -> int:
    """Print whether a person must decide after N cycles of reviews, and what they can choose."""
    number = _CYCLES.fullmatch(context.strip())
    if number is None:
        raise click.UsageError(f"'{context}' names no number of cycles. Write cycles=5.")
    found = review_loop(int(number[1]))
    view: StoryEscalationObject = {
        "escalate": found.escalate,
        "trigger": trigger,
        "priority": "CRITICAL",
        "cycles": found.cycles,
        "max_cycles": found.most,
        "options": list(found.options) if found.escalate else [],
    }
    print_json(view)
    return 0
