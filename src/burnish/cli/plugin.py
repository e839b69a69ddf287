"""`burnish plugin`: burnish inside of the sessions of Claude Code and other clients, and what their hooks call."""

import json
import os
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import click
import msgspec

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.core.errors import BurnishError
from burnish.report.output import flat, print_error, print_line
from burnish.report.words import number
from burnish.usecases.gate_stop import gate_stop
from burnish.usecases.install_plugin import (
    HookClient,
    PluginName,
    PluginPlan,
    PluginRequest,
    apply_plan,
    plan_installation,
    plan_removal,
    plugin_path,
)

_INSTALL_HELP = """Install the plugin, so that you can review and fix inside of your session: /burnish:fix.

Without --project it is for you, in all sessions: Claude Code is asked to add it. With --project it is for this
repository alone: hooks, agents and commands are added to .claude/, and everything that is there stays.

--guard and --gate are off unless you name them. --guard denies commands of an agent that go past git's hooks (commit
--no-verify, core.hooksPath) or force a push. --gate asks an agent that stops, once, for a valid seal of its change.
They work in Codex, too: --client codex.

Everything that is written is listed first. To install twice changes nothing.

\b
burnish plugin install --dry-run
burnish plugin install --guard
burnish plugin install --project
burnish plugin install --client codex --guard --gate"""

_UNINSTALL_HELP = """Remove exactly what 'burnish plugin install' wrote, with the same --project and --client."""

_PATH_HELP = """Print the folder of the plugin, for one session: claude --plugin-dir "$(burnish plugin path)"."""

_HOOK_HELP = """What the hooks of the plugin call, with the client's JSON on the standard input.

The answer is JSON on the standard output. No answer means that the session goes on."""

_GUARD_HELP = """What a PreToolUse hook calls, with the client's JSON on the standard input.

Exit codes: 0 go ahead, 2 denied; the reason is on the error output."""

_GATE_HELP = """What a Stop hook calls, with the client's JSON on the standard input.

If the branch has changes without a valid seal, the agent is told once what to run. The answer is JSON on the standard
output."""

plugin = LazyGroup(
    "plugin",
    {
        "install": LazyCommand("burnish.cli.plugin:install", "Commands", "Install it, for you or for this project."),
        "uninstall": LazyCommand("burnish.cli.plugin:uninstall", "Commands", "Remove exactly what was installed."),
        "path": LazyCommand("burnish.cli.plugin:path", "Commands", "Print its folder, for 'claude --plugin-dir'."),
        "hook": LazyCommand("burnish.cli.plugin:hook", "What hooks call", "Drive a review by the events of a session."),
        "guard": LazyCommand("burnish.cli.plugin:guard", "What hooks call", "Deny ways past git's hooks."),
        "gate": LazyCommand("burnish.cli.plugin:gate", "What hooks call", "Ask for a seal before an agent stops."),
    },
    help_text="Review inside of a session of Claude Code, and guard the sessions of agents.",
)

_client = click.option(
    "--client",
    type=click.Choice([client.value for client in HookClient]),
    default=HookClient.CLAUDE.value,
    help="The client whose hooks are meant. Default: claude.",
)
_project = click.option("--project", is_flag=True, help="In the settings of this repository.")
_dry_run = click.option("--dry-run", is_flag=True, help="List what would be done, and change nothing.")


@click.command("install", help=_INSTALL_HELP)
@_project
@_client
@click.option("--guard", is_flag=True, help="Also deny commands that go past git's hooks, and forced pushes.")
@click.option("--gate", is_flag=True, help="Also ask for a valid seal before an agent stops.")
@_dry_run
def install(*, project: bool, client: str, guard: bool, gate: bool, dry_run: bool) -> int:
    request = PluginRequest(client=HookClient(client), project=project, guard=guard, gate=gate)
    return _carry_out(plan_installation(Path.cwd(), request, os.environ), "Installed.", dry_run=dry_run)


@click.command("uninstall", help=_UNINSTALL_HELP)
@_project
@_client
@_dry_run
def uninstall(*, project: bool, client: str, dry_run: bool) -> int:
    request = PluginRequest(client=HookClient(client), project=project)
    return _carry_out(plan_removal(Path.cwd(), request, os.environ), "Removed.", dry_run=dry_run)


def _carry_out(planned: PluginPlan, done: str, *, dry_run: bool) -> int:
    for line in _lines(planned, dry_run=dry_run):
        print_line(line)
    if not planned.is_empty and not dry_run:
        apply_plan(planned, os.environ)
        print_line(done)
    for note in planned.notes:
        print_error(f"note: {note}")
    return 0


def _lines(planned: PluginPlan, *, dry_run: bool) -> Iterator[str]:
    would = "would " if dry_run else ""
    s = "" if dry_run else "s"
    if planned.own and planned.files:
        yield f"{would}write{s} {number(len(planned.files), 'file')} below {flat(str(planned.own))}"
    for file in () if planned.own else planned.files:
        verb = "remove" if file.content is None else "change" if file.path.exists() else "write"
        yield f"{would}{verb}{s} {flat(str(file.path))}"
    for call in planned.calls:
        yield f"{would}run{s} claude {flat(' '.join(call[1:]))}"
    for folder in planned.folders:
        yield f"{would}remove{s} {flat(str(folder))}"
    yield from (f"keeps {flat(each)}" for each in planned.kept)
    if planned.is_empty:
        yield "There is nothing to change." if planned.notes else "There is nothing of burnish's to remove."


@click.command("path", help=_PATH_HELP)
@click.argument("name", type=click.Choice([name.value for name in PluginName]), default=PluginName.REVIEW.value)
def path(name: str) -> int:
    print_line(str(plugin_path(PluginName(name), os.environ)))
    return 0


@click.command("hook", help=_HOOK_HELP)
def hook() -> int:
    # As a program of its own, which most calls leave after one look at a path: installed hooks run it directly.
    program = str(resources.files("burnish").joinpath("plugin/hook.py"))
    os.execv(sys.executable, [sys.executable, "-I", "-S", program])  # noqa: S606 - no shell is meant


@click.command("guard", help=_GUARD_HELP)
def guard() -> int:
    from burnish.usecases.guard_command import main  # noqa: PLC0415 - installed hooks call it directly

    return main()


@click.command("gate", help=_GATE_HELP)
def gate() -> int:
    """Whatever goes wrong, the agent may stop, and the user reads why: a gate that cannot look must not hold it."""
    try:
        answer = gate_stop(msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, Any]), os.environ)
        said = {"decision": "block", "reason": answer.block} if answer.block else {}
        if answer.note:
            said["systemMessage"] = f"burnish: {answer.note}"
    except BurnishError as error:
        said = {"systemMessage": f"burnish did not check this change: {error.message} {error.hint}".strip()}
    except (msgspec.MsgspecError, OSError) as error:
        said = {"systemMessage": f"burnish did not check this change: {error}"}
    if said:
        print_line(json.dumps(said))
    return 0
