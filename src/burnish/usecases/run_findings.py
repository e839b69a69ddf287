"""What a person says about findings: false, taken as a risk, a note for the fixer, or one more."""

import difflib
import json
from collections.abc import Sequence

from burnish.contracts.paths import confine
from burnish.core.events import FindingAdded, FindingAnnotated, FindingRefuted, FindingWaived
from burnish.core.finding_identity import anchored
from burnish.core.findings import Finding, FindingStatus, Location, Severity, Tracked
from burnish.core.state import Run, Waiting
from burnish.core.values import Value
from burnish.runtime.journal import RunError
from burnish.system import clock
from burnish.usecases.decisions import Spoken, speak
from burnish.usecases.runs import Runs, named
from burnish.workspace.errors import GitError
from burnish.workspace.repository import Repository

_SHORTEST = 8
_DISMISSED = (FindingStatus.REFUTED, FindingStatus.WAIVED)


class NewFinding(Value):
    """A finding in a person's own words."""

    severity: Severity
    title: str
    file: str = ""
    line: int | None = None
    problem: str = ""


def short_ids(run: Run) -> dict[str, str]:
    """The ids of a run's findings, each cut to the shortest length at which all differ."""
    ids = {entry.finding.id for entry in run.findings}
    length = next((size for size in range(_SHORTEST, 64) if len({name[:size] for name in ids}) == len(ids)), 64)
    return {name: name[:length] for name in ids}


def find(run: Run, reference: str) -> Tracked:
    """The one finding whose id begins like this."""
    fitting = [entry for entry in run.findings if reference and entry.finding.id.startswith(reference)]
    exact = [entry for entry in fitting if entry.finding.id == reference]
    if len(exact or fitting) == 1:
        return (exact or fitting)[0]
    if fitting:
        ids = named([entry.finding.id for entry in fitting])
        raise RunError(f"'{reference}' fits {len(fitting)} findings: {ids}.", hint="Write more of the id.")
    raise RunError(f"{run.id} has no finding '{reference}'.", hint=_near(run, reference))


def _near(run: Run, reference: str) -> str:
    ids = short_ids(run)
    by_id = difflib.get_close_matches(reference, [*ids, *ids.values()], n=3, cutoff=0.5)
    # A person may well have typed a word of the title.
    by_title = [name for name, title in _titles(run) if reference and reference.casefold() in title.casefold()]
    near = list(dict.fromkeys(ids.get(name, name) for name in (*by_id, *by_title)))
    return f"Did you mean {named(near)}?" if near else f"'burnish findings {run.id}' lists them."


def _titles(run: Run) -> Sequence[tuple[str, str]]:
    return [(entry.finding.id, entry.finding.title) for entry in run.findings]


def refute(runs: Runs, name: str, reference: str, *, evidence: str, by: str = "") -> Spoken:
    """A finding is false, and this shows it."""
    finding = _open_finding(runs.load(name), reference)
    text = _said(evidence, "A refutation needs evidence.", "Say with --evidence what shows that the finding is false.")
    return speak(runs, FindingRefuted(at=clock.now(), finding=finding, evidence=text, by=by), name)


def waive(runs: Runs, name: str, reference: str, *, reason: str, by: str = "") -> Spoken:
    """A person takes the risk of a finding."""
    finding = _open_finding(runs.load(name), reference)
    text = _said(reason, "A waiver needs a reason.", "Say with --reason why the risk is taken.")
    return speak(runs, FindingWaived(at=clock.now(), finding=finding, reason=text, by=by), name)


def lasting_waiver(finding: str, reason: str) -> str:
    """The lines of the base's burnish.toml with which a waiver is the project's own word."""
    return f"[[waivers]]\nfinding = {json.dumps(finding)}\nreason = {json.dumps(reason, ensure_ascii=False)}"


def annotate(runs: Runs, name: str, reference: str, *, note: str, by: str = "") -> Spoken:
    """A note for whoever fixes a finding."""
    finding = find(runs.load(name), reference).finding.id
    text = _said(note, "The note is empty.", "Say with --note what the fixer should know.")
    return speak(runs, FindingAnnotated(at=clock.now(), finding=finding, note=text, by=by), name)


def _open_finding(run: Run, reference: str) -> str:
    entry = find(run, reference)
    if entry.status in _DISMISSED:
        raise RunError(
            f"The finding {reference} is {entry.status.value} already: {entry.note}",
            hint=f"'burnish findings {run.id}' lists what is open.",
        )
    return entry.finding.id


def _said(text: str, message: str, hint: str) -> str:
    if not text.strip():
        raise RunError(message, hint=hint)
    return text.strip()


def add(runs: Runs, name: str, new: NewFinding, *, by: str = "") -> Spoken:
    """A person's own finding goes to the fixer with the others."""
    run = runs.load(name)
    title = _said(new.title, "A finding needs a title.", "Say with --title what is wrong.")
    if not isinstance(run.phase, Waiting):
        raise RunError(
            f"{name} takes no finding now: only a run that waits for a person does.",
            hint=f"'burnish show {name}' says what it does.",
        )
    finding = Finding(
        severity=new.severity,
        title=title,
        location=_place(runs.repository, run, new),
        problem=new.problem.strip(),
    )
    (finding,) = anchored((finding,), lambda path: _lines(runs.repository, run, path))
    return speak(runs, FindingAdded(at=clock.now(), finding=finding, by=by), name)


def _place(repository: Repository, run: Run, new: NewFinding) -> Location | None:
    if not new.file:
        if new.line is not None:
            raise RunError("A line needs a file.", hint="Name it with --file.")
        return None
    path = confine(new.file, lambda name: _lines(repository, run, name) is not None)
    lines = None if path is None else _lines(repository, run, path)
    if path is None or lines is None:
        raise RunError(
            f"There is no file '{new.file}' in the tree under review.",
            hint=f"Name it from the root of the repository, as it is in {run.commit[:12]}.",
        )
    if new.line is not None and not 1 <= new.line <= len(lines):
        raise RunError(f"'{path}' has no line {new.line}.", hint=f"It has {len(lines)} in {run.commit[:12]}.")
    return Location(file=path, line=new.line)


def _lines(repository: Repository, run: Run, path: str) -> list[str] | None:
    """A file of the tree under review, which need not be checked out."""
    try:
        content = repository.read_file(run.commit, path)
    except GitError:
        return None
    return None if content is None else content.decode("utf-8", errors="replace").splitlines()
