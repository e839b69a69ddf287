"""How commands speak: text for people, one JSON object for programs. Nothing else writes to the streams."""

import io
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TextIO

from burnish.core.text import clean_text


def prepare_streams() -> None:
    """Let no character that a terminal cannot show end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Write a line for people to the standard output."""
    _write(sys.stdout, text)


def wrapped(sentences: Iterable[str], mark: str, indent: str) -> list[str]:
    """Sentences as a list, each in lines that a person can read; line breaks inside them are lost."""
    wrap = textwrap.TextWrapper(110, initial_indent=mark, subsequent_indent=indent, break_on_hyphens=False)
    return [wrap.fill(" ".join(sentence.split())) for sentence in sentences]


def complain(text: str) -> None:
    """Write a line for people to the standard error output. Where nobody reads it, that is no further error."""
    with suppress(BrokenPipeError):
        _write(sys.stderr, text)


def as_json(value: Mapping[str, Any]) -> str:
    """One JSON object; characters as they are where the stream can carry them all, else escaped."""
    carries_all = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    return json.dumps(value, indent=2, ensure_ascii=not carries_all) + "\n"


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to the standard output."""
    sys.stdout.write(as_json(value))


def discard_output() -> None:
    """Point the standard output to nowhere, so that the interpreter does not fail again when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _write(stream: TextIO, text: str) -> None:
    # Text of a file or of an agent may be in it, and must not steer the terminal.
    stream.write(clean_text(text) + "\n")
