"""`burnish completion`: what a shell needs to complete commands and options, for its start-up file."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from burnish.cli.app import COMPLETE
from burnish.report.output import print_line

_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
_HELP = """Print the completion script for SHELL. Add one of these lines to the shell's start-up file:

\b
eval "$(burnish completion bash)"
eval "$(burnish completion zsh)"
burnish completion fish | source"""


@click.command("completion", help=_HELP)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    script = _SHELLS[shell](context.find_root().command, {}, "burnish", COMPLETE)
    # That of bash would start a bash to ask for its version.
    print_line(ShellComplete.source(script).rstrip("\n"))
    return 0
