"""Templates of pages, filled in strictly: text is escaped, and only what a template made is markup.

There is no way to mark a text as safe: whoever wants markup writes a template.
"""

import html
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import NamedTuple

from burnish.core.text import clean_text
from burnish.prompts.rendering import render


class Markup(NamedTuple):
    """Text that is HTML already."""

    html: str


def fill(name: str, /, **values: str | Markup) -> Markup:
    """A template by its name, filled in. A value that it does not take, or that is missing, is an error."""
    texts = {key: value.html if isinstance(value, Markup) else _escaped(value) for key, value in values.items()}
    return Markup(render(_file(f"{name}.html"), texts).rstrip("\n"))


def joined(parts: Iterable[Markup]) -> Markup:
    """Parts below each other."""
    return Markup("\n".join(part.html for part in parts))


def style() -> Markup:
    """The style sheet, which is part of the page."""
    return Markup(_file("page.css").rstrip("\n"))


def _escaped(text: str) -> str:
    return html.escape(clean_text(text))


@cache
def _file(name: str) -> str:
    return resources.files("burnish.cli.pages").joinpath(name).read_text(encoding="utf-8")
