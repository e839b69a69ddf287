"""`burnish mcp`: start the server. The SDK is loaded only then."""

import os
from importlib.util import find_spec
from pathlib import Path

import click

from burnish.core.errors import BurnishError, ErrorKind

_HELP = """Serve reviews as MCP tools, on the standard input and output, for the repository of this folder.

A client starts it: 'claude mcp add burnish -- burnish mcp', 'codex mcp add burnish -- burnish mcp', or the same command
and argument in the client's settings. Its tools start reviews, read status and findings, hand out the seats of a review
to the client's own agents, and take their answers. None of them decides, waives or accepts: that is for people.

It needs the extra 'mcp': pip install 'burnish[mcp]'."""


class NoMcpError(BurnishError):
    kind = ErrorKind.CONFIGURATION


@click.command("mcp", help=_HELP)
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    help="The repository, or a folder in it. Default: the current one.",
)
def mcp_command(folder: Path) -> int:
    if find_spec("mcp") is None:
        raise NoMcpError(
            "The MCP server needs the package 'mcp', which is not installed.",
            hint="Install burnish with its extra: pipx install 'burnish[mcp]', or pip install 'burnish[mcp]'.",
        )
    from burnish.mcp.server import serve  # noqa: PLC0415 - only with the SDK

    serve(folder.absolute(), dict(os.environ))
    return 0
