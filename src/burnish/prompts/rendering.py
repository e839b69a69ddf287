"""Templates and how they are filled in: `{{name}}` is replaced by a value, once, and nothing else happens.

There is no template language. A placeholder without a value and a value without a placeholder are both errors, so that
a text and the code that fills it cannot drift apart.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind

_FOLDER = Path(__file__).parent
"""Not by `importlib.resources`, whose imports take longer than a hook of the plugin may."""
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")


class PromptError(BurnishError):
    """A prompt that cannot be used: a file that is not there, or a text that does not fit its values."""

    kind = ErrorKind.CONFIGURATION


def render(template: str, values: Mapping[str, str]) -> str:
    """Fill a template in. Values are never looked at for placeholders of their own."""
    wanted = set(_PLACEHOLDER.findall(template))
    if "{{" in _PLACEHOLDER.sub(" ", template):
        raise PromptError("A placeholder is malformed.", hint="Write {{name}}, in small letters and without spaces.")
    if missing := sorted(wanted - values.keys()):
        raise PromptError(f"There is no value for {_listed(missing)}.", hint="Provide it, or remove the placeholder.")
    if unused := sorted(values.keys() - wanted):
        raise PromptError(
            f"The template has no placeholder for {_listed(unused)}.", hint="Add a placeholder, or remove the value."
        )
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def fill(name: str, /, **values: str) -> str:
    """A built-in template by its name, filled in, without the newline at its end."""
    return render(template(name), values).rstrip("\n")


def has_template(name: str) -> bool:
    return name in names()


@cache
def template(name: str) -> str:
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")


@cache
def names() -> frozenset[str]:
    return frozenset(file.stem for file in _FOLDER.glob("*.md"))


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
