"""Sections that several prompts share. Each is a heading of ours over data of others; an empty one is left out."""

from collections.abc import Iterable, Sequence

from burnish.core.findings import Finding, Location, Source
from burnish.prompts.fences import Keep, fence, visible
from burnish.prompts.material import DEFAULT_LIMIT, TaskMaterial
from burnish.prompts.rendering import PromptError, fill

_MAX_LISTED = 500


class Fences:
    """Fences of one prompt: they share the beginning of their tokens."""

    def __init__(self, nonce: str) -> None:
        self.nonce = nonce

    def data(self, label: str, text: str, limit: int = DEFAULT_LIMIT, keep: Keep = Keep.START) -> str:
        return fence(text, self.nonce, label, limit=limit, keep=keep)

    def section(self, name: str, text: str, limit: int = DEFAULT_LIMIT, keep: Keep = Keep.START) -> str:
        """A section of that name around a text, or nothing where there is no text."""
        return fill(f"section-{name}", text=self.data(name, text, limit, keep)) if text.strip() else ""


def assembled(parts: Iterable[str]) -> str:
    """The parts of a prompt that are not empty, one below the other."""
    return "\n\n".join(part for part in parts if part) + "\n"


def opening(name: str, custom: str | None, phase: str = "") -> str:
    """The first part of a prompt: the user's own text, word for word, or the built-in one; before it, the phase."""
    if custom is not None and not custom.strip():
        raise PromptError("The prompt is empty.", hint="Write what the agent should do, or remove the file.")
    text = fill(name) if custom is None else custom.strip("\n")
    return f"{fill('phase', phase=phase)}\n\n{text}" if phase else text


def task_parts(task: TaskMaterial, fences: Fences) -> list[str]:
    """What was asked for, and the project's guidance."""
    guidance = [fences.data(name, text) for name, text in task.guidance if text.strip()]
    return [
        fences.section("brief", task.brief),
        fences.section("intent", task.intent),
        fences.section("acceptance", numbered(task.acceptance)),
        fences.section("coordination", task.coordination),
        _beside(task),
        fill("section-guidance", text="\n\n".join(guidance)) if guidance else "",
    ]


def _beside(task: TaskMaterial) -> str:
    """The warning that all agents get where several are at work."""
    if task.parallel < 2:
        return ""
    tasks = ", ".join(map(visible, task.beside[:_MAX_LISTED])) or "no other one"
    return fill("section-beside", count=str(task.parallel), tasks=tasks)


def subject_part(task: TaskMaterial, fences: Fences, *more: str) -> str:
    """The subject and whatever else is known of it, as lines."""
    subject = task.subject
    story = f"Story: {' - '.join(part for part in (subject.story, subject.title) if part)}"
    lines = [
        story if subject.story or subject.title else "",
        f"Branch: {subject.branch}",
        f"Base: {subject.base} ({subject.base_commit})",
        f"Head: {subject.head}",
        "The files of the head are under review as they are: the base holds only settings." if subject.as_is else "",
        f"Only these paths are under review: {', '.join(subject.paths)}" if subject.paths else "",
        f"Brief: {task.brief_path}" if task.brief_path else "",
        *more,
    ]
    return fences.section("subject", "\n".join(line for line in lines if line))


def placed(name: str, task: TaskMaterial, **values: str) -> str:
    """A text that names the change, for an agent in a copy or in the user's own checkout."""
    if not task.in_place:
        return fill(name, **values)
    return fill(f"{name}-in-place", base=task.subject.base_commit, head=task.subject.head, **values)


def bullets(lines: Sequence[str]) -> str:
    shown = [f"- {' '.join(line.split())}" for line in lines[:_MAX_LISTED]]
    if len(lines) > _MAX_LISTED:
        shown.append(f"… {len(lines) - _MAX_LISTED:,} more")
    return "\n".join(shown)


def numbered(lines: Sequence[str]) -> str:
    return "\n".join(f"{number}. {' '.join(line.split())}" for number, line in enumerate(lines, start=1))


def findings_text(findings: Sequence[Finding]) -> str:
    return "\n\n".join(_finding(number, finding) for number, finding in enumerate(findings, start=1))


def _finding(number: int, finding: Finding) -> str:
    places = [_place(place) for place in (finding.location, *finding.also_at) if place is not None]
    fields = (
        ("id", finding.id),
        ("category", finding.category),
        ("place", ", ".join(places)),
        ("problem", finding.problem if finding.problem != finding.title else ""),
        ("impact", finding.impact),
        ("evidence", finding.evidence),
        ("suggestion", finding.suggestion),
        ("found by", ", ".join(finding.found_by)),
    )
    lines = [f"{number}. [{finding.severity.value}] {' '.join(finding.title.split())}"]
    lines += [f"   {name}: {_indented(text)}" for name, text in fields if text.strip()]
    lines += [line for source in finding.sources for line in _source(source)]
    return "\n".join(lines)


def _source(source: Source) -> list[str]:
    """What one reviewer said of a finding that several reported: all of it, since each may have seen another side."""
    fields = (
        ("place", "" if source.location is None else _place(source.location)),
        ("problem", source.problem if source.problem != source.title else ""),
        ("impact", source.impact),
        ("evidence", source.evidence),
        ("suggestion", source.suggestion),
    )
    who = ", ".join(source.found_by)
    lines = [f"   {who} reports: [{source.severity.value}] {' '.join(source.title.split())}"]
    return [*lines, *(f"      {name}: {_indented(text)}" for name, text in fields if text.strip())]


def _place(location: Location) -> str:
    if location.line is None:
        return location.file
    end = "" if location.end_line is None else f"-{location.end_line}"
    return f"{location.file}:{location.line}{end}"


def _indented(text: str) -> str:
    return text.strip().replace("\n", "\n      ")
