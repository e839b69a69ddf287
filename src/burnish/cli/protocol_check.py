"""`burnish protocol check`: whether a file is a protocol, and if not, everything that is wrong in it."""

import click

from burnish.cli.output import complain, print_json, say, wrapped
from burnish.settings.conversion import plain
from burnish.settings.documents import DocumentError
from burnish.usecases.protocols import ProtocolView, view_protocol

_HELP = """Check a protocol of your own, FILE, and name everything that is wrong in it.

Exit codes: 0 when a run could use it, 2 when not."""


@click.command("check", help=_HELP)
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
        print_json({"version": 1, "file": reference, "ok": True, "name": name, "summary": list(view.summary)})
    else:
        say("\n".join([f"ok: {reference} is the protocol '{name}'.", *wrapped(view.summary, "- ", "  ")]))
    return 0


def _refuse(reference: str, error: DocumentError, *, as_json: bool) -> int:
    if as_json:
        print_json({"version": 1, "file": reference, "ok": False, "faults": [plain(fault) for fault in error.problems]})
    else:
        for fault in error.problems:
            complain(fault.text)
        number = len(error.problems)
        complain(f"{reference} is not a protocol: {number} {'fault' if number == 1 else 'faults'}.")
    return error.kind.exit_code
