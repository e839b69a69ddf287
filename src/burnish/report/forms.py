"""The forms in which a run is told, by name. A new one is one file with `render(account)` and one entry here."""

import os
import shlex
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from burnish.core.errors import BurnishError, ErrorKind
from burnish.report.output import print_error, print_line

if TYPE_CHECKING:  # pages of help list the forms, and load no run for it
    from burnish.report.account import Account


class Renderer(Protocol):
    """What the module of a form is: a function from an account to a text."""

    def render(self, account: "Account", /) -> str: ...


FORMS = {
    "text": "burnish.report.text",
    "json": "burnish.report.json_objects",
    "sarif": "burnish.report.sarif",
    "markdown": "burnish.report.markdown",
    "html": "burnish.report.page",
    "agent": "burnish.report.agent",
}
"""The module of each form, loaded when the form is asked for."""


class UnknownFormError(BurnishError):
    kind = ErrorKind.USAGE


def render(account: "Account", form: str) -> str:
    if form not in FORMS:
        raise UnknownFormError(f"Unknown format '{form}'.", hint=f"Choose one of {', '.join(FORMS)}.")
    return cast("Renderer", import_module(FORMS[form])).render(account)


class OutputError(BurnishError):
    kind = ErrorKind.USAGE


def check_output(output: str | None) -> None:
    """Raise where a result could not be written to a file: it is better to know before the work is done."""
    if output is None:
        return
    path = Path(output)
    reason = (
        "it is a folder"
        if path.is_dir()
        else f"there is no folder '{path.parent}'"
        if not path.parent.is_dir()
        else "you may not write there"
        if not os.access(path if path.exists() else path.parent, os.W_OK)
        else ""
    )
    if reason:
        missing = not path.parent.exists()
        hint = f"Create it with: mkdir -p {shlex.quote(str(path.parent))}" if missing else "Name another file."
        raise OutputError(f"--output '{output}' cannot be written: {reason}.", hint=hint)


def print_or_save(text: str, output: str | None) -> None:
    """Write a result to a file. It is never lost: where the file cannot be written, the standard output gets it."""
    if output is None or not _saved(Path(output), text):
        print_line(text.rstrip("\n"))


def _saved(path: Path, text: str) -> bool:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        print_error(f"note: cannot write '{path}': {error.strerror}. The result follows.")
        return False
    return True
