"""`burnish findings`: list what a run found, and say something about it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from burnish.cli.finding_text import finding_lines
from burnish.cli.output import complain, print_json, say
from burnish.cli.run_answers import RUN_HELP, json_option, person, run_argument, show_answer, words
from burnish.cli.screen import show_lines
from burnish.core.findings import Severity
from burnish.core.state import Run
from burnish.usecases.decisions import Spoken
from burnish.usecases.next_steps import next_steps
from burnish.usecases.run_findings import NewFinding, add, annotate, find, lasting_waiver, refute, waive
from burnish.usecases.run_view import view
from burnish.usecases.runs import Runs, open_runs

_HELP = f"""List the findings of a run, or say something about one of them.

{RUN_HELP}

\b
burnish findings RUN
burnish findings RUN refute ID --evidence TEXT    it is false
burnish findings RUN waive ID --reason TEXT       the risk is taken
burnish findings RUN annotate ID --note TEXT      a note for the fixer
burnish findings RUN add --severity S --title T   one more, while the run waits
    [--file F [--line N]] [--problem TEXT]

ID is the id of a finding, or the beginning of one that fits no other."""

_OPTIONS = {
    "refute": ("evidence",),
    "waive": ("reason",),
    "annotate": ("note",),
    "add": ("severity", "title", "file", "line", "problem"),
}
"""What each action takes."""


@click.command("findings", help=_HELP)
@run_argument
@click.argument("action", metavar="[ACTION]", required=False, type=click.Choice(list(_OPTIONS)))
@click.argument("finding", metavar="[ID]", required=False)
@click.option("--evidence", metavar="TEXT", help="refute: what shows that it is false.")
@click.option("--reason", metavar="TEXT", help="waive: why the risk is taken.")
@click.option("--note", metavar="TEXT", help="annotate: what the fixer should know.")
@click.option("--severity", type=click.Choice([severity.value for severity in Severity]), help="add: how bad it is.")
@click.option("--title", metavar="TEXT", help="add: what is wrong, in a line.")
@click.option("--file", metavar="FILE", help="add: where, from the root of the repository.")
@click.option("--line", type=click.IntRange(min=1), metavar="NUMBER", help="add: the line in that file.")
@click.option("--problem", metavar="TEXT", help="add: what is wrong, at length.")
@json_option
def findings(reference: str, action: str | None, finding: str | None, *, as_json: bool, **options: Any) -> int:
    given = {name: words(value) if isinstance(value, str) else value for name, value in options.items()}
    _check(action, finding, {name: value for name, value in given.items() if value is not None})
    with open_runs(Path.cwd()) as runs:
        name = runs.resolve(reference)
        if action is None:
            _list(runs, name, as_json=as_json)
        else:
            spoken = _say(runs, name, action, words(finding or ""), given)
            show_answer(runs, spoken, as_json=as_json)
            if action == "waive":
                _tell_how_to_keep(spoken.sighting.run, words(finding or ""), given["reason"])
    return 0


def _tell_how_to_keep(run: Run, reference: str, reason: str) -> None:
    """A person's word makes a seal of another kind; the base's makes none."""
    complain(
        "The waiver holds for this branch, and its seal will be of kind 'waived'. For good, add this to burnish.toml "
        f"of {run.subject.base}:\n\n{lasting_waiver(find(run, reference).finding.id, reason)}"
    )


def _check(action: str | None, finding: str | None, given: Mapping[str, Any]) -> None:
    """Refuse what an action would leave unheard: a reason that goes nowhere was meant for something."""
    allowed = _OPTIONS.get(action or "", ())
    for name in given:
        if name not in allowed:
            owner = next(key for key, names in _OPTIONS.items() if name in names)
            raise click.UsageError(f"--{name} belongs to '{owner}'.")
    if action == "add" and finding is not None:
        raise click.UsageError("'add' takes no ID: the finding is new.")
    if action not in (None, "add") and finding is None:
        raise click.UsageError(f"'{action}' needs the ID of a finding.")
    needed = ("severity", "title") if action == "add" else allowed
    for name in needed:
        if name not in given:
            raise click.UsageError(f"'{action}' needs --{name}.")


def _say(runs: Runs, name: str, action: str, finding: str, given: Mapping[str, Any]) -> Spoken:
    by = person()
    match action:
        case "refute":
            return refute(runs, name, finding, evidence=given["evidence"], by=by)
        case "waive":
            return waive(runs, name, finding, reason=given["reason"], by=by)
        case "annotate":
            return annotate(runs, name, finding, note=given["note"], by=by)
        case _:
            return add(runs, name, _new_finding(given), by=by)


def _new_finding(given: Mapping[str, Any]) -> NewFinding:
    return NewFinding(
        severity=Severity(given["severity"]),
        title=given["title"],
        file=given["file"] or "",
        line=given["line"],
        problem=given["problem"] or "",
    )


def _list(runs: Runs, name: str, *, as_json: bool) -> None:
    sighting = runs.sight(name)
    run = sighting.run
    if as_json:
        print_json(view(run, next_steps(runs.repository, sighting)))
    elif run.findings:
        show_lines(finding_lines(run, details=True))
    else:
        say(f"{run.id} has no findings.")
