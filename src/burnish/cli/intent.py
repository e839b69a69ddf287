"""`burnish decide`, `cancel` and `findings`: what a person says to a run."""

import getpass
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from burnish.cli.options import RUN_HELP, json_option, run_argument
from burnish.core.findings import Severity
from burnish.core.state import Run
from burnish.core.text import clean_text
from burnish.report.json_objects import run_object
from burnish.report.output import print_error, print_json, print_line, print_lines
from burnish.report.text import finding_lines, intent_consequences, intent_lines
from burnish.usecases.runs import Runs, open_runs
from burnish.usecases.submit_intent import (
    IntentResult,
    NewFinding,
    add_finding,
    annotate_finding,
    cancel_run,
    decide_run,
    find_finding,
    lasting_waiver,
    refute_finding,
    waive_finding,
)
from burnish.usecases.tell_run import tell

_DECIDE_HELP = f"""Choose how a run that is waiting for a person continues.

{RUN_HELP}

CHOICE is one of the keys that 'burnish status RUN' lists. Exit codes: 0 accepted, 2 not offered."""

_CANCEL_HELP = f"""End a run. burnish stops its agents and keeps what the run has found and fixed so far.

{RUN_HELP}

The command does not wait until the agents have stopped; 'burnish wait RUN' does."""

_FINDINGS_HELP = f"""List the findings of a run, or refute, waive, annotate or add one.

{RUN_HELP}

\b
burnish findings RUN
burnish findings RUN refute ID --evidence TEXT    the finding is false
burnish findings RUN waive ID --reason TEXT       accept the risk
burnish findings RUN annotate ID --note TEXT      add a note for the fixer
burnish findings RUN add --severity S --title T   add a finding to a waiting run
    [--file F [--line N]] [--problem TEXT]

ID is the id of a finding, or a unique prefix of it."""

_OPTIONS = {
    "refute": ("evidence",),
    "waive": ("reason",),
    "annotate": ("note",),
    "add": ("severity", "title", "file", "line", "problem"),
}
"""What each action takes."""


@click.command("decide", help=_DECIDE_HELP)
@run_argument
@click.argument("choice")
@click.option("--note", default="", metavar="TEXT", help="Why you decided this; stored with the decision.")
@click.option("--agent", metavar="NAME", help="The agent that reviews next, if the choice is another agent.")
@json_option
def decide(reference: str, choice: str, *, note: str, agent: str | None, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        other = None if agent is None else _words(agent)
        name = runs.resolve(reference)
        result = decide_run(runs, name, _words(choice), note=_words(note), agent=other, by=_person())
    _show(result, as_json=as_json)
    return 0


@click.command("cancel", help=_CANCEL_HELP)
@run_argument
@click.option("--note", default="", metavar="TEXT", help="Why you cancelled it; stored with the run.")
@json_option
def cancel(reference: str, *, note: str, as_json: bool) -> int:
    with open_runs(Path.cwd()) as runs:
        result = cancel_run(runs, runs.resolve(reference), note=_words(note), by=_person())
    _show(result, as_json=as_json)
    return 0


@click.command("findings", help=_FINDINGS_HELP)
@run_argument
@click.argument("action", metavar="[ACTION]", required=False, type=click.Choice(list(_OPTIONS)))
@click.argument("finding", metavar="[ID]", required=False)
@click.option("--evidence", metavar="TEXT", help="refute: what proves that the finding is false.")
@click.option("--reason", metavar="TEXT", help="waive: why you accept the risk.")
@click.option("--note", metavar="TEXT", help="annotate: what the fixer should know.")
@click.option("--severity", type=click.Choice([severity.value for severity in Severity]), help="add: the severity.")
@click.option("--title", metavar="TEXT", help="add: what is wrong, in one line.")
@click.option("--file", metavar="FILE", help="add: the file, relative to the root of the repository.")
@click.option("--line", type=click.IntRange(min=1), metavar="NUMBER", help="add: the line in that file.")
@click.option("--problem", metavar="TEXT", help="add: what is wrong, in full.")
@json_option
def findings(reference: str, action: str | None, finding: str | None, *, as_json: bool, **options: Any) -> int:
    given = {name: _words(value) if isinstance(value, str) else value for name, value in options.items()}
    _check(action, finding, {name: value for name, value in given.items() if value is not None})
    with open_runs(Path.cwd()) as runs:
        name = runs.resolve(reference)
        if action is None:
            _list(runs, name, as_json=as_json)
            return 0
        result = _submit(runs, name, action, _words(finding or ""), given)
    _show(result, as_json=as_json)
    if action == "waive":
        _tell_how_to_keep(result.account.run, _words(finding or ""), given["reason"])
    return 0


def _check(action: str | None, finding: str | None, given: Mapping[str, Any]) -> None:
    """Refuse what an action would leave unheard: a reason that goes nowhere was meant for something."""
    allowed = _OPTIONS.get(action or "", ())
    for name in given:
        if name not in allowed:
            owner = next(key for key, names in _OPTIONS.items() if name in names)
            raise click.UsageError(f"Use --{name} only with '{owner}'.")
    if action == "add" and finding is not None:
        raise click.UsageError("'add' takes no ID: it creates a finding.")
    if action not in (None, "add") and finding is None:
        raise click.UsageError(f"'{action}' needs the ID of a finding.")
    needed = ("severity", "title") if action == "add" else allowed
    for name in needed:
        if name not in given:
            raise click.UsageError(f"'{action}' needs --{name}.")


def _submit(runs: Runs, name: str, action: str, finding: str, given: Mapping[str, Any]) -> IntentResult:
    by = _person()
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


def _list(runs: Runs, name: str, *, as_json: bool) -> None:
    snapshot = runs.snapshot(name)
    if as_json:
        print_json(run_object(tell(runs.repository, snapshot)))
    elif snapshot.run.findings:
        print_lines(finding_lines(snapshot.run, details=True))
    else:
        print_line(f"{name} has no findings.")


def _tell_how_to_keep(run: Run, reference: str, reason: str) -> None:
    """A person's word makes a seal of another kind; the base's makes none."""
    print_error(
        "The waiver applies to this branch, and its seal will be of kind 'waived'.\n"
        f"To make it permanent, add this to burnish.toml of {run.subject.base}:\n\n"
        f"{lasting_waiver(find_finding(run, reference).finding.id, reason)}"
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


def _person() -> str:
    """Who gives this command, as the system calls them."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return ""
