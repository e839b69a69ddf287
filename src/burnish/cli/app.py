"""The command line: its verbs, and the way from arguments to an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from burnish import __version__
from burnish.cli.errors import ErrorBoundary
from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.report.output import prepare_streams

EVERYDAY = "Everyday"
POLICIES = "Policies"
FOR_OTHER_TOOLS = "For other tools"

_HELP = """A quality gate for changes written by coding agents.

burnish reviews a branch with independent, read-only reviewers, has the findings fixed, and repeats until the change is
clean, a limit is reached, or a person must decide.

\b
burnish                      where the branch that is checked out stands
burnish review               review it; no code is changed
burnish review --uncommitted review your working tree as it is
burnish fix                  review, fix and review again
burnish verify               is this exact tree approved?

Exit codes: 0 clean, 1 findings remain, 2 usage or configuration, 3 waiting for a person, 4 did not run, 5 over budget,
6 unproven, 130 interrupted."""

# In the order of the help: what is used every day comes first.
_COMMANDS = {
    "review": LazyCommand("burnish.cli.run:review", EVERYDAY, "Review a branch once; change no code."),
    "fix": LazyCommand("burnish.cli.run:fix", EVERYDAY, "Review, fix and review again until the gate passes."),
    "run": LazyCommand("burnish.cli.epic:run", EVERYDAY, "Build, review and merge all tickets of an epic."),
    "status": LazyCommand("burnish.cli.look:status", EVERYDAY, "List runs, or show what one is doing."),
    "show": LazyCommand("burnish.cli.look:show", EVERYDAY, "Show a run in full: rounds, findings, next steps."),
    "logs": LazyCommand("burnish.cli.look:logs", EVERYDAY, "Show what agents and commands printed."),
    "attach": LazyCommand("burnish.cli.look:attach", EVERYDAY, "Watch an agent work in its terminal."),
    "wait": LazyCommand("burnish.cli.look:wait", EVERYDAY, "Wait until a run has ended or is waiting for a person."),
    "decide": LazyCommand("burnish.cli.intent:decide", EVERYDAY, "Choose how a waiting run continues."),
    "findings": LazyCommand(
        "burnish.cli.intent:findings", EVERYDAY, "List findings; refute, waive, annotate or add one."
    ),
    "resume": LazyCommand("burnish.cli.run:resume", EVERYDAY, "Continue an interrupted run."),
    "cancel": LazyCommand("burnish.cli.intent:cancel", EVERYDAY, "End a run and keep its results."),
    "verify": LazyCommand(
        "burnish.cli.verify:verify_command", EVERYDAY, "Check that this exact tree has a valid seal."
    ),
    "init": LazyCommand("burnish.cli.init:init", POLICIES, "Set up burnish for this repository."),
    "doctor": LazyCommand(
        "burnish.cli.doctor:doctor", POLICIES, "Check everything that a review needs here, with remedies."
    ),
    "protocol": LazyCommand(
        "burnish.cli.protocol:protocol",
        POLICIES,
        "List, show, check and rehearse protocols: the rules of a run.",
    ),
    "agent": LazyCommand("burnish.cli.agent:agent", POLICIES, "List and check agents."),
    "config": LazyCommand("burnish.cli.config:config", POLICIES, "Show every setting and where it was made."),
    "prompt": LazyCommand("burnish.cli.prompt:prompt", POLICIES, "Show exactly what an agent would be sent."),
    "trust": LazyCommand(
        "burnish.cli.trust:trust_command", POLICIES, "Trust settings that exist only in the working tree."
    ),
    "hook": LazyCommand("burnish.cli.hook:hook", POLICIES, "Install git hooks that call burnish."),
    "plugin": LazyCommand("burnish.cli.plugin:plugin", POLICIES, "Review inside your session; guard agents."),
    "completion": LazyCommand("burnish.cli.completion:completion", POLICIES, "Print the completion script of a shell."),
    "clean": LazyCommand("burnish.cli.clean:clean_command", POLICIES, "Remove old prompts, transcripts and logs."),
    "diagnose": LazyCommand(
        "burnish.cli.diagnose:diagnose_command", POLICIES, "Write a bundle for a bug report, without code or secrets."
    ),
    "uninstall": LazyCommand(
        "burnish.cli.uninstall:uninstall_command", POLICIES, "Remove what burnish put into this repository."
    ),
    "parse": LazyCommand("burnish.cli.parse:parse", FOR_OTHER_TOOLS, "Parse a reviewer's answer and print it as JSON."),
    "story": LazyCommand("burnish.cli.story:story", FOR_OTHER_TOOLS, "Say how a story stands."),
    "session": LazyCommand("burnish.cli.session:session", FOR_OTHER_TOOLS, "Run commands in tmux sessions."),
    "records": LazyCommand("burnish.cli.records:records", FOR_OTHER_TOOLS, "Rebuild the files that other tools read."),
    "mcp": LazyCommand("burnish.mcp.command:mcp_command", FOR_OTHER_TOOLS, "Serve reviews as MCP tools."),
    "epic-run": LazyCommand("burnish.cli.epic:epic_run", "", "Drive one run of an epic."),
}

COMPLETE = "_BURNISH_COMPLETE"
"""How a shell asks for completions."""
_SAME = {"list": "status", "runs": "status"}
_OTHER_NAMES = {
    "tmux-wrapper": "session",
    "monitor-session": "session monitor",
    "orchestrator-helper": "story",
    "story-automator": "session",
}

root = LazyGroup(
    "burnish", _COMMANDS, help_text=_HELP, same=_SAME, other_names=_OTHER_NAMES, alone="burnish.cli.look:alone"
)
click.option("--no-color", "--no-colour", is_flag=True, help="Print without colours; works with every command.")(root)
click.version_option(__version__, prog_name="burnish", message="%(prog)s %(version)s")(root)


def run(arguments: Sequence[str]) -> int:
    """Run one command; the result is the exit code. No exception leaves it but a demand to exit."""
    if os.environ.get(COMPLETE):
        return _complete(os.environ[COMPLETE])
    arguments = _without_colour(arguments)
    prepare_streams()
    with ErrorBoundary() as boundary:
        with root.make_context("burnish", list(arguments)) as context:
            boundary.exit_code = int(root.invoke(context))
        sys.stdout.flush()
    return boundary.exit_code


def _complete(instruction: str) -> int:
    """Answer a shell that asks what could come next."""
    from click.shell_completion import shell_complete  # noqa: PLC0415 - only shells need it

    return shell_complete(root, {}, "burnish", COMPLETE, instruction)


def _without_colour(arguments: Sequence[str]) -> list[str]:
    """The arguments without `--no-color`, which people type before or after the command."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    asked = [word for word in arguments[:end] if word in ("--no-color", "--no-colour")]
    if asked:
        os.environ["NO_COLOR"] = "1"
    return [*(word for word in arguments[:end] if word not in asked), *arguments[end:]]
