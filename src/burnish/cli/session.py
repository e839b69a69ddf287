"""`burnish session`: commands in tmux sessions for tools that run a review loop of their own."""

from burnish.cli.lazy import LazyCommand, LazyGroup

_HELP = """Run commands in tmux sessions, for tools that have a review loop of their own.

A session outlives the call that made it. What it writes is kept, and its end is an event: nobody polls."""

session = LazyGroup(
    "session",
    {
        "build-cmd": LazyCommand(
            "burnish.cli.session_build:build_command_line", "Commands", "The command that has a story reviewed."
        ),
        "spawn": LazyCommand("burnish.cli.session_spawn:spawn_command", "Commands", "Start a command in a session."),
        "monitor": LazyCommand(
            "burnish.cli.session_monitor:monitor_command", "Commands", "Wait for a session, and say what became of it."
        ),
        "kill": LazyCommand("burnish.cli.session_kill:kill_command", "Commands", "End a session and forget it."),
    },
    help_text=_HELP,
)
