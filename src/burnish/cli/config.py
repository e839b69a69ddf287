"""`burnish config`: which settings hold here, and where each of them was made."""

import json
import os
from pathlib import Path

import click

from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.cli.options import json_option
from burnish.report.json_objects import VERSION
from burnish.report.json_types import SettingObject, SettingsObject
from burnish.report.output import print_error, print_json, print_line, print_lines, table
from burnish.report.words import number
from burnish.usecases.show_settings import show_settings

_SHOW_HELP = """Show the settings that a run would use here, and where each of them was made.

The base of the branch comes before your own settings, and variables before both; see docs/configuration.md."""

config = LazyGroup(
    "config",
    {"show": LazyCommand("burnish.cli.config:show", "Commands", "Show every setting and where it was made.")},
    help_text="Show the settings that hold here.",
)


@click.command("show", help=_SHOW_HELP)
@click.option("--all", "everything", is_flag=True, help="Also those that have their defaults.")
@json_option
def show(*, everything: bool, as_json: bool) -> int:
    shown = show_settings(Path.cwd(), os.environ)
    rows = [row for row in shown.rows if everything or not row.is_default]
    if as_json:
        settings = {row.key: SettingObject(value=row.value, origin=row.origin) for row in rows}
        print_json(SettingsObject(version=VERSION, policy=shown.policy.value, settings=settings))
        return 0
    for notice in shown.notices:
        print_error(f"note: {notice}")
    print_line(f"policy: {shown.policy.value}")
    if rows:
        print_lines(table(("KEY", "VALUE", "ORIGIN"), [(row.key, _text(row.value), row.origin) for row in rows]))
    left = len(shown.rows) - len(rows)
    if left:
        print_line(f"{number(left, 'setting')} with the default: burnish config show --all")
    return 0


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
