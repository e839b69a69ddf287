"""Where a prompt's opening comes from: a path that was named, the usual places of a repository, or the built-in text.

The base of the change is asked first, so that a change cannot rewrite the prompt of its own reviewer. This module is
given functions that read, and knows nothing of git.
"""

from collections.abc import Callable
from enum import Enum
from pathlib import PurePosixPath

from burnish.core.values import Value
from burnish.prompts.rendering import PromptError

MAX_BYTES = 256 * 1024
ReadFile = Callable[[str], bytes | None]


class PromptRole(Enum):
    """Whose prompt it is."""

    REVIEWER = "reviewer"
    FIXER = "fixer"
    BUILDER = "builder"


class PromptOrigin(Enum):
    """Where a prompt was found."""

    BUILT_IN = "built-in"
    BASE = "base"
    WORKING_TREE = "working-tree"
    OUTSIDE = "outside"
    """A file outside the repository, named by its absolute path."""


class ResolvedPrompt(Value):
    """The user's own opening, or None for the built-in one, and where it is from."""

    text: str | None = None
    origin: PromptOrigin = PromptOrigin.BUILT_IN
    path: str = ""
    notice: str = ""


USUAL_PLACES = {
    PromptRole.REVIEWER: (".ai_agents/prompts/reviewer.md",),
    PromptRole.FIXER: (".ai_agents/prompts/fixer.md",),
    PromptRole.BUILDER: (".ai_agents/prompts/developer.md", ".ai_agents/prompt.md"),
}


def resolve_prompt(role: PromptRole, explicit: str, *, base_file: ReadFile, working_file: ReadFile) -> ResolvedPrompt:
    """Find the opening for a role. An explicit path that leads nowhere is an error, never the built-in text."""
    if explicit.startswith("/"):
        # Nothing of the change lives there, so there is no base to read it from.
        return _found(explicit, PromptOrigin.OUTSIDE, _named(explicit, role, working_file(explicit)))
    if ".." in PurePosixPath(explicit).parts:
        raise PromptError(
            f"The {role.value}'s prompt '{explicit}' leads out of its folder.",
            hint="Use a path relative to the root of the repository, or an absolute path.",
        )
    places = (str(PurePosixPath(explicit)),) if explicit else USUAL_PLACES[role]
    for read, origin in ((base_file, PromptOrigin.BASE), (working_file, PromptOrigin.WORKING_TREE)):
        for path in places:
            raw = read(path)
            if raw is not None:
                return _found(path, origin, raw)
    if explicit:
        _named(explicit, role, None)
    return ResolvedPrompt()


def _named(path: str, role: PromptRole, raw: bytes | None) -> bytes:
    if raw is None:
        raise PromptError(
            f"There is no file '{path}' for the {role.value}'s prompt.",
            hint=(
                f"prompts.{role.value} must be the path of a file in the base, relative to its root, or an "
                "absolute path."
            ),
        )
    return raw


def _found(path: str, origin: PromptOrigin, raw: bytes) -> ResolvedPrompt:
    notice = f"The base has no {path}: burnish uses the one in the working tree."
    return ResolvedPrompt(
        text=_decoded(path, raw),
        origin=origin,
        path=path,
        notice=notice if origin is PromptOrigin.WORKING_TREE else "",
    )


def _decoded(path: str, raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise PromptError(f"The prompt '{path}' is longer than {MAX_BYTES:,} bytes.", hint="Is this the right file?")
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise PromptError(f"The prompt '{path}' is not UTF-8 text.", hint="Save it as UTF-8.") from None
    if not text.strip():
        raise PromptError(f"The prompt '{path}' is empty.", hint="Write what the agent should do, or remove the file.")
    return text
