"""`burnish decide`, `cancel` and `findings`: what a person says to a run."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from burnish.cli.options import LATEST, RUN_HELP, at_most, json_option, latest_argument, person
from burnish.core.epics.state import Epic
from burnish.core.findings import Severity
from burnish.core.state import Run
from burnish.core.text import clean_text
from burnish.report.forms import print_or_save, render
from burnish.report.json_objects import VERSION, run_object, tracked_object
from burnish.report.json_types import OneFindingObject
from burnish.report.output import print_error, print_json, print_line, print_lines
from burnish.report.text import finding_in_full, finding_lines, intent_consequences, intent_lines
from burnish.usecases.epics import find_epic
from burnish.usecases.runs import Runs, open_runs
from burnish.usecases.submit_intent import (
    IntentResult,
    NewFinding,
    add_finding,
    annotate_finding,
    cancel_run,
    decide_run,
    dismissed,
    find_finding,
    lasting_waiver,
    refute_finding,
    waive_finding,
)
from burnish.usecases.tell_run import tell

_DECIDE_HELP = f"""Choose how a run that is waiting for a person continues.

{RUN_HELP}

CHOICE is one of the keys that 'burnish status RUN' lists.

\b
burnish decide c && burnish resume
burnish decide b --note 'The risk is known.'

Exit codes: 0 accepted, 2 not offered."""

_CANCEL_HELP = f"""End a run. burnish stops its agents and keeps what the run has found and fixed so far.

{RUN_HELP} It can also be an epic, by its id: all its runs end, and what is merged stays merged.

The command does not wait until the agents have stopped; 'burnish wait RUN' does.

\b
burnish cancel --note 'wrong branch'"""

_FINDINGS_HELP = f"""List the findings of a run, show one in full, or refute, waive, annotate or add one.

{RUN_HELP}

\b
burnish findings [RUN]                            all of them
burnish findings [RUN] ID                         one in full
burnish findings [RUN] --format agent             what is open, for a coding agent
burnish findings [RUN] refute ID --evidence TEXT    the finding is false
burnish findings [RUN] waive ID --reason TEXT       accept the risk
burnish findings [RUN] annotate ID --note TEXT      add a note for the fixer
burnish findings [RUN] add --severity S --title T add a finding to a waiting run
    [--file F [--line N]] [--problem TEXT]
burnish findings [RUN] export                     what was refuted and waived, for burnish.toml of the base

ID is the id of a finding, or a unique prefix of it."""

_FINDING_ID = re.compile(r"[0-9a-f]{4,64}")
_OPTIONS = {
    "refute": ("evidence",),
    "waive": ("reason",),
    "annotate": ("note",),
    "add": ("severity", "title", "file", "line", "problem"),
    "export": (),
}
"""What each action takes."""


@click.command("decide", help=_DECIDE_HELP)
@click.argument("words", metavar="[RUN] CHOICE", nargs=-1, required=True)
@click.option("--note", default="", metavar="TEXT", help="Why you decided this; stored with the decision.")
@click.option("--agent", metavar="NAME", help="The agent that reviews next, if the choice is another agent.")
@json_option
def decide(words: tuple[str, ...], *, note: str, agent: str | None, as_json: bool) -> int:
    at_most(words, 2)
    *run, choice = words
    reference = next(iter(run), LATEST)
    with open_runs(Path.cwd()) as runs:
        other = None if agent is None else _words(agent)
        name = runs.resolve(reference)
        result = decide_run(runs, name, _words(choice), note=_words(note), agent=other, by=person())
    _show(result, as_json=as_json)
    return 0


@click.command("cancel", help=_CANCEL_HELP)
@latest_argument
@click.option("--note", default="", metavar="TEXT", help="Why you cancelled it; stored with the run.")
@json_option
def cancel(reference: str, *, note: str, as_json: bool) -> int:
    found = find_epic(Path.cwd(), reference)
    if found is not None:
        return _cancel_epic(found.epic, note=_words(note), as_json=as_json)
    with open_runs(Path.cwd()) as runs:
        result = cancel_run(runs, runs.resolve(reference), note=_words(note), by=person())
    _show(result, as_json=as_json)
    return 0


def _cancel_epic(epic: Epic, *, note: str, as_json: bool) -> int:
    from burnish.report.epics import epic_object  # noqa: PLC0415 - few runs are epics
    from burnish.usecases.run_epic import end_epic  # noqa: PLC0415

    ended = end_epic(Path.cwd(), epic.id, os.environ, note=note, by=person())
    if as_json:
        print_json(epic_object(ended, {}))
    else:
        stopping = "" if ended.end is not None else " Its runs are being stopped."
        print_line(f"The epic {epic.plan.id} ({epic.id}) is cancelled.{stopping}")
    return 0


@click.command("findings", help=_FINDINGS_HELP)
@click.argument("words", metavar="[RUN] [ACTION] [ID]", nargs=-1)
@click.option("--evidence", metavar="TEXT", help="refute: what proves that the finding is false.")
@click.option("--reason", metavar="TEXT", help="waive: why you accept the risk.")
@click.option("--note", metavar="TEXT", help="annotate: what the fixer should know.")
@click.option("--severity", type=click.Choice([severity.value for severity in Severity]), help="add: the severity.")
@click.option("--title", metavar="TEXT", help="add: what is wrong, in one line.")
@click.option("--file", metavar="FILE", help="add: the file, relative to the root of the repository.")
@click.option("--line", type=click.IntRange(min=1), metavar="NUMBER", help="add: the line in that file.")
@click.option("--problem", metavar="TEXT", help="add: what is wrong, in full.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "agent"]),
    default="text",
    help="Output format; agent lists what is open, for a coding agent to fix.",
)
@json_option
def findings(words: tuple[str, ...], *, form: str, as_json: bool, **options: Any) -> int:
    as_json = as_json or form == "json"
    given = {name: _words(value) if isinstance(value, str) else value for name, value in options.items()}
    with open_runs(Path.cwd()) as runs:
        reference, action, finding = _meant(words, runs.names())
        _check(action, finding, {name: value for name, value in given.items() if value is not None})
        name = runs.resolve(reference)
        if form == "agent":
            if action is not None or finding is not None:
                raise click.UsageError("Use --format agent only to list findings, without an action or an ID.")
            print_or_save(render(tell(runs.repository, runs.snapshot(name)), form), None)
            return 0
        if action == "export":
            _export(runs.snapshot(name).run)
            return 0
        if action is None:
            _list(runs, name, finding, as_json=as_json)
            return 0
        result = _submit(runs, name, action, _words(finding or ""), given)
    _show(result, as_json=as_json)
    if action == "waive":
        _tell_how_to_keep(result.account.run, _words(finding or ""))
    return 0


def _meant(words: tuple[str, ...], runs: Sequence[str]) -> tuple[str, str | None, str | None]:
    """The run, the action and the finding that a command line names, each of which may be left out."""
    rest = list(words)
    first = rest[0] if rest else "export"
    is_finding = _FINDING_ID.fullmatch(first) and not any(name.startswith(first) for name in runs)
    reference = LATEST if first in _OPTIONS or is_finding else rest.pop(0)
    action = rest.pop(0) if rest and rest[0] in _OPTIONS else None
    finding = rest.pop(0) if rest else None
    if rest and action is None:
        raise click.UsageError(f"There is no action '{finding}'. The actions are {', '.join(_OPTIONS)}.")
    if rest:
        raise click.UsageError(f"Unexpected '{rest[0]}'.")
    if action is None and finding is not None and not _FINDING_ID.fullmatch(finding):
        raise click.UsageError(f"'{finding}' is neither an action ({', '.join(_OPTIONS)}) nor the ID of a finding.")
    return reference, action, finding


def _check(action: str | None, finding: str | None, given: Mapping[str, Any]) -> None:
    """Refuse what an action would leave unheard: a reason that goes nowhere was meant for something."""
    allowed = _OPTIONS.get(action or "", ())
    for name in given:
        if name not in allowed:
            owner = next(key for key, names in _OPTIONS.items() if name in names)
            raise click.UsageError(f"Use --{name} only with '{owner}'.")
    if action == "add" and finding is not None:
        raise click.UsageError("'add' takes no ID: it creates a finding.")
    if action == "export" and finding is not None:
        raise click.UsageError("'export' takes no ID: it prints all findings that were refuted or waived.")
    if action not in (None, "add", "export") and finding is None:
        raise click.UsageError(f"'{action}' needs the ID of a finding.")
    needed = ("severity", "title") if action == "add" else allowed
    for name in needed:
        if name not in given:
            raise click.UsageError(f"'{action}' needs --{name}.")


def _submit(runs: Runs, name: str, action: str, finding: str, given: Mapping[str, Any]) -> IntentResult:
    by = person()
    match action:
        case "refute":
            return refute_finding(runs, name, finding, evidence=given["evidence"], by=by)
        case "waive":
            return waive_finding(runs, name, finding, reason=given["reason"], by=by)
        case "annotate":
            return annotate_finding(runs, name, finding, note=given["note"], by=by)
        case _:
            new = NewFinding(
                severity=Severity(given["severity"]),
                title=given["title"],
                file=given["file"] or "",
                line=given["line"],
                problem=given["problem"] or "",
            )
            return add_finding(runs, name, new, by=by)


def _list(runs: Runs, name: str, finding: str | None, *, as_json: bool) -> None:
    snapshot = runs.snapshot(name)
    if finding is not None:
        entry = find_finding(snapshot.run, finding)
        account = tell(runs.repository, snapshot)
        if as_json:
            print_json(OneFindingObject(version=VERSION, run=name, finding=tracked_object(entry, account)))
        else:
            print_lines(finding_in_full(account, entry))
    elif as_json:
        print_json(run_object(tell(runs.repository, snapshot)))
    elif snapshot.run.findings:
        print_lines(finding_lines(snapshot.run, details=True))
    else:
        print_line(f"{name} has no findings.")


def _export(run: Run) -> None:
    """Every word of a person on a finding, as lines for the base's burnish.toml."""
    entries = dismissed(run)
    for number, entry in enumerate(entries):
        print_line(f"{chr(10) if number else ''}{lasting_waiver(entry)}")
    if not entries:
        print_error(f"No finding of {run.id} was refuted or waived.")


def _tell_how_to_keep(run: Run, reference: str) -> None:
    """A person's word makes a seal of another kind; the base's makes none."""
    print_error(
        "The waiver applies to this branch, and its seal will be of kind 'waived'.\n"
        f"To make it permanent, add this to burnish.toml of {run.subject.base}:\n\n"
        f"{lasting_waiver(find_finding(run, reference))}"
    )


def _show(result: IntentResult, *, as_json: bool) -> None:
    """The run after a person's word, and what is needed for it to go on."""
    for notice in result.notices:
        print_error(f"note: {notice}")
    account = result.account
    if as_json:
        print_json(run_object(account))
        for sentence in intent_consequences(account):
            print_error(sentence)
    else:
        print_lines([*intent_lines(account), *((sentence,) for sentence in intent_consequences(account))])


def _words(text: str) -> str:
    """A person's own text as it can be kept: arguments may hold bytes that are no text."""
    return clean_text(text).strip()
