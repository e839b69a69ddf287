"""`burnish agent`: the group of what can be asked about agents."""

from burnish.cli.lazy import LazyCommand, LazyGroup

_HELP = """List and check agents: who reviews, fixes and builds.

An agent is a table [agents.NAME] of burnish.toml, or of your own settings. The clients of models (claude, codex,
gemini, opencode) and the embedded analysers need none: their kind is their name."""

agent = LazyGroup(
    "agent",
    {
        "list": LazyCommand(
            "burnish.cli.agent_list:list_command",
            "Commands",
            "Which agents there are, and what is missing to use them.",
        ),
        "check": LazyCommand(
            "burnish.cli.agent_check:check", "Commands", "Make one real, small call and say what is wrong."
        ),
    },
    help_text=_HELP,
)
