"""How `review`, `fix` and `resume` run: plan, drive, show. One path for all three."""

import os
from pathlib import Path
from typing import Any

import click

from burnish.cli import asking, progress
from burnish.cli.activity import Activity
from burnish.cli.output import complain, print_json, say
from burnish.cli.run_result import deliver
from burnish.cli.trust import ask_trust
from burnish.core.events import Mode
from burnish.core.protocol import FixInput
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.settings.loading import Flags
from burnish.settings.types import Complexity
from burnish.system.terminal import find_tmux
from burnish.usecases.beginning import WaitingRunError, begin, send_to_background
from burnish.usecases.driving import Driven, drive, exit_for_signal
from burnish.usecases.next_steps import next_steps
from burnish.usecases.planning import Plan, Wanted, plan
from burnish.usecases.run_view import PAUSED_EXIT, exit_code, view
from burnish.usecases.runs import Sighting
from burnish.workspace.repository import Repository

SESSION_MARKER = "BURNISH_SESSION"


def run_command(mode: Mode, options: dict[str, Any]) -> int:
    """Plan a run from the options of a command and see it through."""
    form = "json" if options["as_json"] else options["form"]
    if options["terminal"]:
        find_tmux()  # before anything has begun
    wanted = Wanted(
        mode=mode,
        branch=options["branch"],
        base=options["base"],
        uncommitted=options["uncommitted"],
        brief=options["brief"],
        intent=options["intent"],
        story=options["story"],
        flags=Flags(
            protocol=options["protocol"],
            model=options["model"],
            timeout=options["timeout"],
            unsafe_fixes=options.get("unsafe_fixes") or None,
            developer_prompt=options.get("developer_prompt"),
            reviewer_prompt=options["reviewer_prompt"],
        ),
        agents=options["agents"],
        complexity=Complexity(options["complexity"]) if options["complexity"] else None,
        max_rounds=_max_rounds(options),
        review=options.get("review", True),
        build=options.get("build", False),
        allow_unexamined=options["allow_unexamined"],
        interactive=form == "text" and not options["background"] and asking.at_terminal(),
    )
    asks = wanted.interactive and not options["dry_run"]
    settled = plan(Path.cwd(), wanted, os.environ, ask_trust if asks else None)
    for notice in settled.notices:
        complain(f"note: {notice}")
    if options["dry_run"]:
        return _dry_run(settled, wanted)
    with open_ledger(settled.repository.state_dir) as ledger:
        driven = _start(settled, wanted, ledger, options, as_json=form == "json")
    return 0 if driven is None else finish(settled.repository, driven, form, options["output"])


def _max_rounds(options: dict[str, Any]) -> int | None:
    """Reviews at most. Between two of them there is one fix."""
    rounds, fixes = options["max_rounds"], options.get("fix_attempts")
    if fixes is None:
        return rounds
    if rounds is not None:
        raise click.UsageError("--max-rounds and --review-max-fix-attempts say the same: give one of them.")
    return fixes + 1


def _start(settled: Plan, wanted: Wanted, ledger: Ledger, options: dict[str, Any], *, as_json: bool) -> Driven | None:
    """Start the run and see it through; None where a process in the background does that."""
    try:
        journal = begin(
            settled,
            ledger,
            os.environ,
            mode=wanted.mode,
            max_rounds=wanted.max_rounds,
            interactive=wanted.interactive,
            supersede=options.get("supersede", False),
        )
    except WaitingRunError as error:
        if as_json:
            print_json(view(error.run, next_steps(settled.repository, Sighting(run=error.run))))
        raise
    complain(progress.title(journal.state))
    if SESSION_MARKER in os.environ:
        from burnish.usecases.sessions import note_run  # noqa: PLC0415 - few runs are started by a session

        note_run(settled.repository, os.environ[SESSION_MARKER], journal.state.id)
    if options["background"]:
        environment = {**os.environ, "BURNISH_TERMINAL": options["terminal"] or ""}
        send_to_background(settled.repository, journal, environment)
        say(journal.state.id)
        return None
    with Activity() as live:
        return drive(
            settled.repository,
            ledger,
            journal,
            os.environ,
            watch=live.around(progress.show),
            ask=asking.ask if wanted.interactive else None,
            sandbox=settled.sandbox,
            activity=live.update,
            terminal=options["terminal"] is not None,
            one_round=options.get("one_round", False),
        )


def finish(repository: Repository, driven: Driven, form: str, output: str | None) -> int:
    """Show the result; the exit code says it too."""
    for notice in driven.notices:
        complain(f"note: {notice}")
    deliver(repository, driven, form, output)
    if driven.paused:
        return PAUSED_EXIT
    return exit_for_signal(driven.interrupted) if driven.interrupted else exit_code(driven.run)


def _dry_run(settled: Plan, wanted: Wanted) -> int:
    """Whom a run would call. With a story, in the words of the tools that drive stories; else by the agents' names."""
    protocol, roles, story = settled.protocol, settled.roles, settled.subject.story
    called = [(reviewer.name, roles.reviewer(reviewer.name).agent) for reviewer in protocol.panel]
    if wanted.mode is Mode.FIX and protocol.fix.input is not FixInput.NOTHING:
        called.append(("fixer", (*protocol.fix.by_round, roles.fix.agent)[0]))
    if wanted.build and roles.build is not None:
        called.insert(0, ("builder", roles.build.agent))
    for role, agent in called:
        if story and protocol.name == "epic":
            complain(f"[DRY-RUN] Would spawn {protocol.name}-{role} for Story {story} round 1")
        else:
            complain(f"[DRY-RUN] Would call agent '{agent}' as {role} for {story or settled.subject.branch}, round 1")
    return 0
