"""`burnish protocol list`: a line for each protocol that comes with burnish."""

import click

from burnish.cli.output import print_json, say
from burnish.usecases.protocols import list_protocols


@click.command("list", help="List the protocols that come with burnish.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_command(*, as_json: bool) -> int:
    protocols = list_protocols()
    if as_json:
        lines = [{"name": protocol.name, "description": protocol.description} for protocol in protocols]
        print_json({"version": 1, "protocols": lines})
        return 0
    width = max(len(protocol.name) for protocol in protocols)
    for protocol in protocols:
        say(f"{protocol.name:<{width}}  {protocol.description}")
    return 0
