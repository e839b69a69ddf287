"""`burnish protocol`: list, show and check protocols. `rehearse` has a file of its own, for it needs the whole loop."""

from typing import Any, NotRequired, TypedDict

import click
from msgspec import to_builtins

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.report.output import print_error, print_json, print_line, wrapped
from burnish.settings.conversion import plain
from burnish.settings.documents import DocumentError, key_text
from burnish.usecases.show_protocol import ProtocolView, list_protocols, view_protocol

_HELP = """List, show, check and rehearse protocols: the rules of a run.

A protocol is one TOML file. Refer to a built-in one by name, and to your own by path (./mine.toml). A protocol can
extend another one: extends = "epic"."""

_SHOW_HELP = """Show a protocol by NAME, or your own by FILE.

The output is the whole protocol as TOML, with the origin of each value beside it and a summary in words above it. You
can save it and use it as your own protocol."""

_CHECK_HELP = """Check your own protocol, FILE, and report every error in it.

Exit codes: 0 the protocol is valid, 2 it is not."""

protocol = LazyGroup(
    "protocol",
    {
        "list": LazyCommand("burnish.cli.protocol:list_command", "Commands", "List the built-in protocols."),
        "show": LazyCommand(
            "burnish.cli.protocol:show", "Commands", "Show a protocol: every value, its origin, and what it means."
        ),
        "check": LazyCommand("burnish.cli.protocol:check", "Commands", "Report every error in your own protocol."),
        "rehearse": LazyCommand(
            "burnish.cli.rehearse:rehearse_command", "Commands", "Play a script and show each step of the loop."
        ),
    },
    help_text=_HELP,
)


class ProtocolRowObject(TypedDict):
    name: str
    description: str


class ProtocolsObject(TypedDict):
    """What `burnish protocol list` prints."""

    version: int
    protocols: list[ProtocolRowObject]


class ProtocolObject(TypedDict):
    """What `burnish protocol show` prints."""

    version: int
    protocol: dict[str, Any]
    """Every value, as in the TOML file."""
    chain: list[str]
    """The protocol and those that it extends."""
    origins: dict[str, str]
    """Where each value comes from, by its key."""
    summary: list[str]
    """What the protocol does, in words."""


class FaultObject(TypedDict):
    file: str
    line: int | None
    key: str
    message: str
    hint: str


class ProtocolCheckObject(TypedDict):
    """What `burnish protocol check` prints."""

    version: int
    file: str
    ok: bool
    name: NotRequired[str]
    summary: NotRequired[list[str]]
    faults: NotRequired[list[FaultObject]]
    """Only if the protocol is not valid."""


@click.command("list", help="List the built-in protocols.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def list_command(*, as_json: bool) -> int:
    protocols = list_protocols()
    if as_json:
        rows = [ProtocolRowObject(name=protocol.name, description=protocol.description) for protocol in protocols]
        print_json(ProtocolsObject(version=1, protocols=rows))
        return 0
    width = max(len(protocol.name) for protocol in protocols)
    for protocol in protocols:
        print_line(f"{protocol.name:<{width}}  {protocol.description}")
    return 0


@click.command("show", help=_SHOW_HELP)
@click.argument("protocol", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(protocol: str, *, as_json: bool) -> int:
    view = view_protocol(protocol)
    if as_json:
        print_json(_json_view(view))
    else:
        print_line(f"{_summary_comment(view)}\n{view.toml}".rstrip("\n"))
    return 0


def _json_view(view: ProtocolView) -> ProtocolObject:
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


@click.command("check", help=_CHECK_HELP)
@click.argument("protocol", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(protocol: str, *, as_json: bool) -> int:
    try:
        view = view_protocol(protocol)
    except DocumentError as error:
        return _refuse(protocol, error, as_json=as_json)
    return _accept(protocol, view, as_json=as_json)


def _accept(reference: str, view: ProtocolView, *, as_json: bool) -> int:
    name = view.loaded.protocol.name
    if as_json:
        print_json(ProtocolCheckObject(version=1, file=reference, ok=True, name=name, summary=list(view.summary)))
    else:
        print_line("\n".join([f"ok: {reference} is the protocol '{name}'.", *wrapped(view.summary, "- ", "  ")]))
    return 0


def _refuse(reference: str, error: DocumentError, *, as_json: bool) -> int:
    if as_json:
        faults: list[FaultObject] = [to_builtins(fault) for fault in error.problems]
        print_json(ProtocolCheckObject(version=1, file=reference, ok=False, faults=faults))
    else:
        for fault in error.problems:
            print_error(fault.text)
        number = len(error.problems)
        print_error(f"{reference} is not a valid protocol: {number} {'error' if number == 1 else 'errors'}.")
    return error.kind.exit_code
