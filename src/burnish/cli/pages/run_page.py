"""A run as one page for people: no scripts, nothing from elsewhere, and every text of an agent as mere text."""

import time
from collections.abc import Iterator, Sequence

from burnish import __version__
from burnish.cli import run_words
from burnish.cli.pages.findings import findings
from burnish.cli.pages.rounds import rounds
from burnish.cli.pages.templates import Markup, fill, joined, style
from burnish.cli.run_text import reason
from burnish.core.findings import FindingStatus
from burnish.core.protocol import ChoiceAction
from burnish.core.state import Run, Waiting
from burnish.usecases.evidence_words import census_line, gap_lines
from burnish.usecases.kinds_of_review import kind_of_review
from burnish.usecases.next_steps import Step
from burnish.usecases.runs import Sighting


def run_page(sighting: Sighting, steps: Sequence[Step], result: str = "") -> str:
    """The whole page. `result` says where the result is, `steps` what to do next."""
    run = sighting.run
    state = run_words.state(sighting)
    page = fill(
        "page",
        style=style(),
        version=__version__,
        run=run.id,
        state=state.text,
        tone=state.tone.word,
        branch=run.subject.branch,
        base=run.subject.base,
        reason=reason(sighting),
        facts=joined(_facts(run)),
        next=joined([*_choices(run), *_next(steps, result), *(fill("line", text=one) for one in kind_of_review(run))]),
        evidence=joined(fill("line", text=line) for line in _evidence(run)),
        rounds=rounds(run),
        findings=findings(run),
    )
    return page.html + "\n"


def _next(steps: Sequence[Step], result: str) -> Iterator[Markup]:
    if result:
        yield fill("line", text=result)
    for step in steps:
        if step.first:
            yield fill("line", text=f"{step.first}, then:")
        yield fill("step", command=step.command, does=step.does)


def _evidence(run: Run) -> list[str]:
    return [line for line in (census_line(run), *gap_lines(run)) if line] or ["No round was judged."]


def _facts(run: Run) -> Iterator[Markup]:
    still_open = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    facts = {
        "Story": run.subject.story,
        "Protocol": f"{run.protocol.name}, {run.started.mode.value}",
        "Rounds": f"{len(run.rounds)} of at most {run.limit}",
        "Findings": f"{len(still_open)} open of {len(run.findings)}",
        "Commit": run.commit[:12],
        "Tree": run.tree[:12],
        "Seal": run.seal[:19] or "none",
        "Validation": run.validation.status.value if run.validation else "",
        "Started": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.started.at)),
        "Usage": run_words.usage_of(run),
    }
    return (fill("fact", name=name, value=value) for name, value in facts.items() if value)


def _choices(run: Run) -> Iterator[Markup]:
    if isinstance(run.phase, Waiting):
        for choice in run.phase.choices:
            agent = " (--agent NAME)" if choice.action is ChoiceAction.ANOTHER_AGENT else ""
            yield fill("choice", key=choice.key, text=f"{choice.text}{agent}")
