"""`burnish protocol show`: what a protocol says, where each value comes from, and what it means."""

import click

from burnish.cli.output import print_json, say, wrapped
from burnish.settings.conversion import plain
from burnish.settings.documents import key_text
from burnish.usecases.protocols import ProtocolView, view_protocol

_HELP = """Show a protocol by NAME, or your own by FILE.

The output is the whole protocol as TOML, with the origin of each value beside it and a summary in words above it. It
can be saved and used as a protocol of your own."""


@click.command("show", help=_HELP)
@click.argument("protocol", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(protocol: str, *, as_json: bool) -> int:
    view = view_protocol(protocol)
    if as_json:
        print_json(_json_view(view))
    else:
        say(f"{_summary_comment(view)}\n{view.toml}".rstrip("\n"))
    return 0


def _json_view(view: ProtocolView) -> dict[str, object]:
    return {
        "version": 1,
        "protocol": plain(view.loaded.protocol),
        "chain": list(view.loaded.chain),
        "origins": {key_text(path): place.text for path, place in view.loaded.places.items()},
        "summary": list(view.summary),
    }


def _summary_comment(view: ProtocolView) -> str:
    """The summary as comments, so that the whole output stays a document."""
    title = " ".join([view.loaded.protocol.name, "=", " → ".join(view.loaded.chain)])
    return "\n".join([*wrapped([title], "# ", "# "), "#", *wrapped(view.summary, "# - ", "#   "), ""])
