"""What `review`, `fix` and `resume` do: ask for a run, show it while it goes on, ask the person, tell the end."""

import asyncio
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from burnish.cli.trust import ask_trust
from burnish.core.effects import AskPerson
from burnish.core.events import Decided, Intent, Mode
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.report.account import RunSnapshot
from burnish.report.forms import check_output, print_or_save, render
from burnish.report.json_objects import run_object
from burnish.report.live import LiveLines, activity_printer, print_event, title
from burnish.report.output import Line, at_terminal, plain, print_error, print_json, print_line, print_lines
from burnish.report.text import closing, open_findings, question, summary
from burnish.runtime.journal import RunError
from burnish.settings.loading import Flags
from burnish.settings.types import Complexity
from burnish.system import clock
from burnish.usecases.drive_run import DriveOptions, RunResult
from burnish.usecases.plan_run import RunRequest
from burnish.usecases.resume_run import resume_run
from burnish.usecases.start_run import Surface, WaitingRunError, preview_run, start_in_background, start_run
from burnish.usecases.submit_intent import chosen, chosen_agent
from burnish.usecases.tell_run import tell_state

_FOR_AGENTS = "agent"


def start(mode: Mode, options: dict[str, Any]) -> int:
    check_output(options["output"])
    form = "json" if options["as_json"] else options["form"]
    interactive = form == "text" and not options["background"] and at_terminal()
    request = _request(mode, options, interactive=interactive)
    with LiveLines() as live:
        surface = _surface(live, options, interactive=interactive)
        if options["dry_run"]:
            surface = surface._replace(ask_trust=None)
            for line in preview_run(Path.cwd(), request, os.environ, surface):
                print_error(f"[DRY-RUN] {line}")
            return 0
        try:
            if options["background"]:
                print_line(start_in_background(Path.cwd(), request, os.environ, surface))
                return 0
            result = start_run(Path.cwd(), request, os.environ, surface)
        except WaitingRunError as error:
            if form == "json":
                print_json(run_object(error.account))
            raise
    return _deliver(result, form, options["output"])


def resume(reference: str | None, options: dict[str, Any]) -> int:
    check_output(options["output"])
    form = "json" if options["as_json"] else options["form"]
    with LiveLines() as live:
        surface = _surface(live, options, interactive=form == "text" and at_terminal())
        result = resume_run(Path.cwd(), reference, os.environ, surface)
    return _deliver(result, form, options["output"])


def _request(mode: Mode, options: dict[str, Any], *, interactive: bool) -> RunRequest:
    """What the options ask for: each has the name of a field of the request or of its flags."""
    flags = Flags(**_named_in(options, Flags.__struct_fields__))
    request = RunRequest(mode=mode, **_named_in(options, RunRequest.__struct_fields__))
    return replace(
        request,
        flags=replace(flags, unsafe_fixes=flags.unsafe_fixes or None),
        complexity=Complexity(options["complexity"]) if options["complexity"] else None,
        max_rounds=_max_rounds(options),
        interactive=interactive,
    )


def _named_in(options: dict[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    return {name: options[name] for name in fields if name in options}


def _max_rounds(options: dict[str, Any]) -> int | None:
    """Reviews at most. Between two of them there is one fix."""
    rounds, fixes = options["max_rounds"], options.get("fix_attempts")
    if fixes is None:
        return rounds
    if rounds is not None:
        raise click.UsageError("--max-rounds and --review-max-fix-attempts set the same limit: use one of them.")
    return fixes + 1


def _surface(live: LiveLines, options: dict[str, Any], *, interactive: bool) -> Surface:
    quiet, verbose = options["quiet"], options["verbose"]
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other.")
    quiet = quiet or (options["form"] == _FOR_AGENTS and not verbose)  # an agent reads, and pays for, every line
    drive = DriveOptions(
        watch=_say_nothing if quiet else print_event if verbose else live.printer,
        ask=_ask if interactive else None,
        activity=_say_nothing if quiet else activity_printer() if verbose else live.update,
        terminal=options["terminal"] is not None,
        one_round=options.get("one_round", False),
    )
    return Surface(
        notice=_say_nothing if quiet else _print_notice,
        begun=_say_nothing if quiet else _print_title,
        options=drive,
        ask_trust=ask_trust if interactive else None,
    )


def _say_nothing(*_: object) -> None:
    pass


def _print_notice(notice: str) -> None:
    print_error(f"note: {notice}")


def _print_title(run: Run) -> None:
    print_error(title(run))


def _deliver(result: RunResult, form: str, output: str | None) -> int:
    """Write the result to a file, or to the standard output. What only people need goes where they see it."""
    for notice in result.notices:
        _print_notice(notice)
    account = result.account
    if form == "text" and output is None:
        print_lines([*summary(account), *closing(account)])
    elif form == "text":
        print_or_save(plain([*summary(account), *closing(account)]), output)
    else:
        document = render(account, form)
        _print_for_people(closing(account) if form != _FOR_AGENTS else ())  # that form has all of it
        print_or_save(document, output)
    return result.exit_code


def _print_for_people(lines: Iterable[Line]) -> None:
    """Write lines to the standard error output."""
    text = plain(lines).rstrip("\n")
    if text:
        print_error(text)


async def _ask(effect: AskPerson, run: Run) -> Intent | None:
    """Put the choices to the person, until one of them is chosen. None when the terminal is closed.

    It never blocks the runner: the answer may come from elsewhere meanwhile.
    """
    keys = [choice.key for choice in effect.choices]
    account = tell_state(RunSnapshot(run=run))
    _print_for_people(open_findings(account))
    print_error(question(account))
    while True:
        line = await _read_line()
        if line is None:
            return None
        key, _, agent = line.strip().partition(" ")
        choice = chosen(effect.choices, key)
        if choice is None:
            print_error(f"Answer with one of {', '.join(keys)}:")
            continue
        try:
            other = chosen_agent(run, choice, agent.strip() or None)
        except RunError as error:
            print_error(f"{error.message} {error.hint} Here, type '{choice.key} NAME'.")
            continue
        return Decided(at=clock.now(), choice=choice.key, by="terminal", agent=other)


async def _read_line() -> str | None:
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    descriptor = sys.stdin.fileno()

    def readable() -> None:
        if not answer.done():
            answer.set_result(sys.stdin.readline())

    loop.add_reader(descriptor, readable)
    try:
        return await answer or None
    finally:
        loop.remove_reader(descriptor)
