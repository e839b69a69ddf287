"""The command line: its verbs, and the way from arguments to an exit code."""

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

_HELP = """The quality gate that autonomous coding agents must pass.

burnish puts a change before reviewers with fresh, read-only eyes, judges what they found, has it fixed, and repeats
until the change is clean, a limit is reached, or a person must decide.

Exit codes: 0 clean, 1 findings remain, 2 usage or configuration, 3 waiting for a person, 4 did not run, 5 a budget
ran out, 130 interrupted."""

# In the order of the help: what is used every day comes first.
_COMMANDS = {
    "review": LazyCommand("burnish.cli.run:review", EVERYDAY, "Put a branch before its reviewers, once."),
    "fix": LazyCommand("burnish.cli.run:fix", EVERYDAY, "Review, fix, review again, until the gate passes."),
    "status": LazyCommand("burnish.cli.look:status", EVERYDAY, "What the runs of this repository are doing."),
    "show": LazyCommand("burnish.cli.look:show", EVERYDAY, "One run in full: rounds, findings, the next step."),
    "logs": LazyCommand("burnish.cli.look:logs", EVERYDAY, "What agents and commands wrote while they worked."),
    "attach": LazyCommand("burnish.cli.look:attach", EVERYDAY, "Watch an agent at work in its terminal."),
    "wait": LazyCommand("burnish.cli.look:wait", EVERYDAY, "Wait until a run has ended or needs a person."),
    "decide": LazyCommand("burnish.cli.intent:decide", EVERYDAY, "Choose how a waiting run goes on."),
    "findings": LazyCommand(
        "burnish.cli.intent:findings", EVERYDAY, "List what was found; refute, waive, annotate or add to it."
    ),
    "resume": LazyCommand("burnish.cli.run:resume", EVERYDAY, "Go on with an interrupted run."),
    "cancel": LazyCommand("burnish.cli.intent:cancel", EVERYDAY, "End a run; what it has is kept."),
    "verify": LazyCommand(
        "burnish.cli.verify:verify_command", EVERYDAY, "Does this exact tree carry a seal that holds?"
    ),
    "protocol": LazyCommand(
        "burnish.cli.protocol:protocol",
        POLICIES,
        "List, show, check and rehearse protocols: the rules that a run follows.",
    ),
    "agent": LazyCommand("burnish.cli.agent:agent", POLICIES, "List and check agents: who reviews, fixes and builds."),
    "prompt": LazyCommand("burnish.cli.prompt:prompt", POLICIES, "Show exactly what an agent would be sent."),
    "trust": LazyCommand(
        "burnish.cli.trust:trust_command", POLICIES, "Let settings count that only the working tree has."
    ),
    "clean": LazyCommand("burnish.cli.clean:clean_command", POLICIES, "Remove what is no longer needed."),
    "parse": LazyCommand("burnish.cli.parse:parse", FOR_OTHER_TOOLS, "Read a reviewer's answer and print it as JSON."),
    "session": LazyCommand("burnish.cli.session:session", FOR_OTHER_TOOLS, "Run commands in tmux sessions."),
    "records": LazyCommand("burnish.cli.records:records", FOR_OTHER_TOOLS, "The files that other tools read."),
}

_OTHER_NAMES = {
    "tmux-wrapper": "session",
    "monitor-session": "session monitor",
    "orchestrator-helper": "parse",
    "story-automator": "session",
}

root = LazyGroup("burnish", _COMMANDS, help_text=_HELP, other_names=_OTHER_NAMES)
click.version_option(__version__, prog_name="burnish", message="%(prog)s %(version)s")(root)


def run(arguments: Sequence[str]) -> int:
    """Run one command; the result is the exit code. No exception leaves it but a demand to exit."""
    prepare_streams()
    with ErrorBoundary() as boundary:
        with root.make_context("burnish", list(arguments)) as context:
            boundary.exit_code = int(root.invoke(context))
        sys.stdout.flush()
    return boundary.exit_code
