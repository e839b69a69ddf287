"""`burnish parse`: an answer in, one JSON object out."""

import sys
from pathlib import Path

import click

from burnish.cli.output import complain, print_json
from burnish.cli.parse_view import parsed_view, unreadable_view
from burnish.contracts.text import UnreadableError
from burnish.core.reviews import ContractName
from burnish.system.input import STANDARD_INPUT
from burnish.usecases.parse import parse_file, plan_parse

_HELP = """Read a reviewer's answer and print it as JSON.

The answer comes from FILE, or from the standard input for '-' or nothing. Nothing is clean by default: what cannot be
read as a review is an error.

Exit codes: 0 clean, 1 findings, 2 usage, 4 unreadable. With --protocol the protocol's gate decides between 0 and 1."""


@click.command("parse", help=_HELP)
@click.option(
    "--contract",
    type=click.Choice([name.value for name in ContractName]),
    help="The form of the answer. Needed unless --protocol is given.",
)
@click.option("--protocol", metavar="NAME|FILE", help="Judge the answer by this protocol's gate.")
@click.argument("file", default=STANDARD_INPUT)
def parse(contract: str | None, protocol: str | None, file: str) -> int:
    task = plan_parse(None if contract is None else ContractName(contract), protocol)
    if file == STANDARD_INPUT and sys.stdin.isatty():
        complain("Reading the answer from the terminal; end it with Ctrl-D.")
    try:
        parsed = parse_file(task, file, Path.cwd())
    except UnreadableError as error:
        print_json(unreadable_view(task.contract, error))
        raise
    print_json(parsed_view(parsed))
    return 0 if parsed.passes else 1
