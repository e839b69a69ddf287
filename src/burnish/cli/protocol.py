"""`burnish protocol`: the group of what can be asked about protocols."""

from burnish.cli.lazy import LazyCommand, LazyGroup

_HELP = """List, show, check and rehearse protocols: the rules that a run follows.

A protocol is one TOML file. Those that come with burnish go by name, your own by path (./mine.toml); one can start
from another with extends = "epic"."""

protocol = LazyGroup(
    "protocol",
    {
        "list": LazyCommand(
            "burnish.cli.protocol_list:list_command", "Commands", "The protocols that come with burnish."
        ),
        "show": LazyCommand(
            "burnish.cli.protocol_show:show", "Commands", "A protocol with every value, its origin, and what it means."
        ),
        "check": LazyCommand(
            "burnish.cli.protocol_check:check", "Commands", "Everything that is wrong in a file of yours."
        ),
        "rehearse": LazyCommand(
            "burnish.cli.protocol_rehearse:rehearse_command", "Commands", "Play a script and show what the loop does."
        ),
    },
    help_text=_HELP,
)
