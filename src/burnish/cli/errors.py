"""The one place where an error becomes a message and an exit code."""

import errno
import os
import traceback
from types import TracebackType
from typing import Self

import click
from click.exceptions import NoArgsIsHelpError

from burnish.core.errors import BurnishError, ErrorKind
from burnish.report.output import discard_output, print_error

INTERRUPTED = 130
NOBODY_READS = 141
"""As a shell names a program that wrote into a closed pipe."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
BUG = ErrorKind.INFRASTRUCTURE.exit_code
"""A command that broke has not run: never 0, and never 1, which would say that it found something."""


class ErrorBoundary:
    """Around a command: whatever leaves it becomes the exit code, with a message where there is something to say."""

    def __init__(self) -> None:
        self.exit_code = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, SystemExit):
            return False
        self.exit_code = report(error)
        return True


def report(error: BaseException) -> int:
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            print_error("interrupted")
            return INTERRUPTED
        case BrokenPipeError():
            discard_output()
            return NOBODY_READS
        case BurnishError():
            _print_error(error.message, error.hint)
            return error.kind.exit_code
        case click.ClickException():
            return _report_usage(error)
        case OSError() if error.errno in _NO_ROOM:
            place = f" for {error.filename}" if error.filename else ""
            _print_error(
                f"No space left{place}: {error.strerror}.", "Free some space, then continue with: burnish resume"
            )
            return ErrorKind.INFRASTRUCTURE.exit_code
        case _:
            return _report_bug(error)


def _report_usage(error: click.ClickException) -> int:
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, NoArgsIsHelpError) and context is not None:
        print_error(context.get_help())
    else:
        _print_error(error.format_message(), f"Try '{context.command_path if context else 'burnish'} --help'.")
    return ErrorKind.USAGE.exit_code


def _report_bug(error: BaseException) -> int:
    hint = "Please report this bug to the project, with the command that you ran"
    if os.environ.get("BURNISH_DEBUG") == "1":
        print_error("".join(traceback.format_exception(error)).rstrip("\n"))
        hint += " and the lines above."
    else:
        hint += ". BURNISH_DEBUG=1 shows where it happened."
    print_error(f"burnish has a bug: {type(error).__name__}: {error}")
    print_error(f"hint: {hint}")
    return BUG


def _print_error(message: str, hint: str) -> None:
    print_error(f"error: {message}")
    if hint:
        print_error(f"hint: {hint}")
