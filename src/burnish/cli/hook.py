"""`burnish hook`: git hooks that call burnish, and what they call."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypedDict

import click

from burnish.cli.errors import report
from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.cli.options import json_option
from burnish.core.errors import BurnishError
from burnish.report.json_objects import VERSION
from burnish.report.output import print_error, print_json, print_line, print_lines, table
from burnish.report.text import blocking_in_short
from burnish.report.words import reason, state_word
from burnish.usecases.git_hooks import install_hooks, list_hooks, uninstall_hooks
from burnish.usecases.run_hook import PushResult, check_push, drop_git_variables, review_commit, review_staged
from burnish.workspace.hooks import HookChange, HookName, HookState
from burnish.workspace.pushes import read_pushed, told_by_pre_commit
from burnish.workspace.repository import Repository

_INSTALL_HELP = """Install git hooks that call burnish, for this repository.

\b
pre-push     stop a push of commits without a valid seal; push the seals with the commits
post-commit  review each commit in the background
pre-commit   review what is staged; stop a commit with blocking findings

A hook that is there already is kept and runs first. core.hooksPath is respected. To push or commit without the check:
--no-verify.

\b
burnish hook install pre-push"""

_UNINSTALL_HELP = """Remove the hooks that burnish has installed (default: all of them), and put back what was there."""

_RUN_HELP = """What an installed hook calls. ARGUMENTS and the standard input are those that git gives to the hook.

Exit codes: 0 go ahead, 1 stop."""

_NAMES = [name.value for name in HookName]
_UNPROVEN = 6
_WAYS_OUT = {
    "pre-push": "Nothing was pushed. To push without this check: git push --no-verify",
    "pre-commit": "Nothing was committed. To commit without this check: git commit --no-verify",
}

hook = LazyGroup(
    "hook",
    {
        "install": LazyCommand("burnish.cli.hook:install", "Commands", "Install hooks; keep those that are there."),
        "uninstall": LazyCommand("burnish.cli.hook:uninstall", "Commands", "Remove them; restore what was there."),
        "list": LazyCommand("burnish.cli.hook:list_command", "Commands", "List the hooks and their states."),
        "run": LazyCommand("burnish.cli.hook:run", "Commands", "What an installed hook calls."),
    },
    help_text="Install git hooks that call burnish.",
)


@click.command("install", help=_INSTALL_HELP)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, type=click.Choice(_NAMES))
def install(names: tuple[str, ...]) -> int:
    return _tell(install_hooks(Path.cwd(), map(HookName, dict.fromkeys(names))))


@click.command("uninstall", help=_UNINSTALL_HELP)
@click.argument("names", metavar="[NAME]...", nargs=-1, type=click.Choice(_NAMES))
def uninstall(names: tuple[str, ...]) -> int:
    return _tell(uninstall_hooks(Path.cwd(), map(HookName, dict.fromkeys(names or _NAMES))))


def _tell(changes: Iterable[HookChange]) -> int:
    for change in changes:
        print_line(change.done)
        for note in change.notes:
            print_error(f"note: {note}")
    return 0


class HookObject(TypedDict):
    name: Annotated[str, HookName]
    state: Annotated[str, HookState]
    path: str
    kept: str | None
    """Your own hook, which runs first."""


class HooksObject(TypedDict):
    """What `burnish hook list` prints."""

    version: int
    hooks: list[HookObject]


@click.command("list", help="List the hooks that burnish can install, and what is there.")
@json_option
def list_command(*, as_json: bool) -> int:
    found = list_hooks(Path.cwd())
    if as_json:
        hooks = [
            HookObject(
                name=status.name.value,
                state=status.state.value,
                path=str(status.path),
                kept=None if status.kept is None else str(status.kept),
            )
            for status in found
        ]
        print_json(HooksObject(version=VERSION, hooks=hooks))
        return 0
    rows = [(status.name.value, status.state.value, str(status.kept or "")) for status in found]
    print_lines(table(("HOOK", "STATE", "YOUR OWN HOOK"), rows))
    return 0


@click.command("run", help=_RUN_HELP, context_settings={"ignore_unknown_options": True})
@click.argument("name", type=click.Choice(_NAMES))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(name: str, arguments: tuple[str, ...]) -> int:
    index = os.environ.get("GIT_INDEX_FILE", "")
    drop_git_variables()
    try:
        match HookName(name):
            case HookName.PRE_PUSH:
                return _pre_push(arguments)
            case HookName.PRE_COMMIT:
                return _pre_commit(index)
            case HookName.POST_COMMIT:
                said = review_commit(Path.cwd(), os.environ)
    except BurnishError as error:
        report(error)
        if name in _WAYS_OUT:
            print_error(_WAYS_OUT[name])
            return 1
        return 0  # the commit is made
    if said:
        print_error(f"burnish: {said}")
    return 0


def _pre_push(arguments: tuple[str, ...]) -> int:
    repository = Repository.discover(Path.cwd())
    said = b"" if sys.stdin.isatty() else sys.stdin.buffer.read()
    pushed = read_pushed(os.fsdecode(said)) or told_by_pre_commit(repository, os.environ)
    remote = arguments[0] if arguments else os.environ.get("PRE_COMMIT_REMOTE_NAME", "origin")
    return _tell_push(check_push(repository, remote, pushed))


def _tell_push(result: PushResult) -> int:
    for check in result.checks:
        if check.ok:
            if check.reason:
                print_error(f"burnish: {check.ref}: {check.reason}")
        else:
            print_error(f"burnish: {check.ref} has no valid seal. {check.reason}")
            for step in check.steps:
                print_error(f"  {step}")
    if result.warning:
        print_error(f"burnish: {result.warning}")
    if result.ok:
        return 0
    print_error(_WAYS_OUT["pre-push"])
    return 1


def _pre_commit(index: str) -> int:
    result = review_staged(Path.cwd(), os.environ, index)
    if isinstance(result, str):
        print_error(f"burnish: {result}")
        return 0
    if result.exit_code == 0 and not result.account.run.is_reported:
        return 0
    account = result.account
    print_error(f"burnish: {state_word(account).text}: {reason(account)}")
    for line in blocking_in_short(account):
        print_error(line)
    print_error(f"More: burnish show {account.run.id}")
    if result.exit_code in (0, _UNPROVEN):
        return 0
    print_error(_WAYS_OUT["pre-commit"])
    return 1
