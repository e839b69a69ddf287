"""What a person is told when a run waits for a decision: what is left, where to read it, and the choices."""

from burnish.core.findings import Counts, FindingStatus, count
from burnish.core.protocol import Choice, ChoiceAction, Priority, RecordLayout, ReviewBy
from burnish.core.state import Run, Waiting
from burnish.core.steps.person import other_agent
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.records.interface import RecordTexts
from burnish.records.naming import story_of
from burnish.records.registry import layout_of, record_files


class Escalation(Value):
    """What a person who must decide is told in every form of output."""

    rounds: int
    counts: Counts
    """What is open of the last round."""
    document: str
    """Where the findings are to be read; empty where the protocol writes no such document."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The same as text, one line each."""
        counts, minor = self.counts, self.counts.medium + self.counts.low + self.counts.info
        rounds = f"{self.rounds} review round{'' if self.rounds == 1 else 's'}"
        left = f"After {rounds}, issues remain: critical {counts.critical}, important {counts.high}, minor {minor}"
        return (
            *((left,) if counts.total else ()),
            *((f"Findings document: {self.document}",) if self.document else ()),
        )


def escalation(run: Run) -> Escalation | None:
    """What is put to a person; None where the run does not wait for one."""
    if not isinstance(run.phase, Waiting):
        return None
    return Escalation(rounds=len(run.rounds), counts=_counts(run), document=_document(run))


def text(run: Run, document: str | None = None) -> str:
    """The question to a person; empty where the run does not wait.

    `document` is where the findings are to be read: by default where the protocol's records are, none if it is empty.
    """
    phase = run.phase
    if not isinstance(phase, Waiting):
        return ""
    if document is None:
        document = _document(run)
    match phase.priority:
        case Priority.NORMAL:
            parts = _normal(run, phase, document)
        case Priority.CRITICAL:
            parts = _critical(run, phase, document)
    return clean_text("\n\n".join(part for part in parts if part))


def _normal(run: Run, phase: Waiting, document: str) -> list[str]:
    counts = _counts(run)
    left = {"Critical": counts.critical, "Important": counts.high, "Minor": counts.medium + counts.low + counts.info}
    return [
        f"⚠️ {_subject(run)} Review Blocked",
        _listed(f"After {_number(run, 'review round')}, issues remain:", left) if counts.total else _reason(run, phase),
        f"Findings document: {document}" if document else "",
        "\n".join(["Options:", *(f"{choice.key}) {choice.text}" for choice in phase.choices)]),
        "Your choice:",
    ]


def _critical(run: Run, phase: Waiting, document: str) -> list[str]:
    counts = _counts(run)
    left = {"CRITICAL": counts.critical, "HIGH": counts.high, "MEDIUM": counts.medium, "LOW": counts.low + counts.info}
    options = (f"{place}. {_option(run, choice)}" for place, choice in enumerate(phase.choices, start=1))
    return [
        f"⚠️ CRITICAL: {_subject(run)} Review Blocked",
        _listed(f"After {_number(run, 'review cycle')}, issues remain:", left) if counts.total else _reason(run, phase),
        f"Findings document: {document}" if document else "",
        "\n".join(["Options:", *options]),
        "Your choice:",
    ]


def _document(run: Run) -> str:
    """The newest findings document on record, in the layout that has them."""
    files = record_files(run, RecordTexts()) if layout_of(run.protocol) is RecordLayout.EPIC else ()
    return files[-1].path if files else ""


def _subject(run: Run) -> str:
    of_stories = layout_of(run.protocol) is RecordLayout.EPIC or run.protocol.review.by is ReviewBy.SESSION
    if run.subject.story or of_stories:
        return f"Story {story_of(run)}"
    return f"Branch {run.subject.branch}"


def _number(run: Run, what: str) -> str:
    rounds = len(run.rounds)
    return f"{rounds} {what}{'' if rounds == 1 else 's'}"


def _reason(run: Run, phase: Waiting) -> str:
    """Why nobody knows what is left."""
    return f"After {_number(run, 'review round')}: {phase.reason}."


def _listed(head: str, numbers: dict[str, int]) -> str:
    return "\n".join([head, *(f"- {name}: {number}" for name, number in numbers.items())])


def _option(run: Run, choice: Choice) -> str:
    """`**[1] Manual Fix** - what it means`."""
    title, dash, meaning = _named(run, choice).partition(" - ")
    return f"**[{choice.key}] {title}**{dash}{meaning}"


def _named(run: Run, choice: Choice) -> str:
    """Another agent is called by its name where it is known who that would be."""
    other = other_agent(run)
    if choice.action is not ChoiceAction.ANOTHER_AGENT or not other:
        return choice.text
    name = other[:1].upper() + other[1:]
    return f"Run with {name} - Re-run code-review with {name} agent"


def _counts(run: Run) -> Counts:
    """What is open of the last round, each problem once, however many reviewers reported it."""
    last = len(run.rounds)
    return count(entry.finding for entry in run.findings if entry.seen == last and entry.status is FindingStatus.OPEN)
