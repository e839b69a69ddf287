"""What `.ouroboros/config.toml` says of a loop over beads: the user's own file, then the repository's over it.

Only how the loop goes is taken from there. Keys that name a program, a model or a provider run nothing: burnish's own
configuration names agents. What is not understood is told, never guessed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from burnish.core.values import Value
from burnish.settings.conversion import other_name
from burnish.settings.documents import Document, Problem, did_you_mean, read_document, refuse

FILE = ".ouroboros/config.toml"

_FLAG = "true or false"
_COUNT = "a whole number"
_TEXT = "a text in quotes"


class _Key(NamedTuple):
    field: str
    form: str
    least: int = 0
    example: str = ""


_KEYS = {
    "reviewEnabled": _Key("review", _FLAG, example="true"),
    "reviewMaxFixAttempts": _Key("fix_attempts", _COUNT, example="5"),
    "developerPromptPath": _Key("developer_prompt", _TEXT, example='".ai_agents/prompts/developer.md"'),
    "reviewerPromptPath": _Key("reviewer_prompt", _TEXT, example='".ai_agents/prompts/reviewer.md"'),
    "iterationLimit": _Key("iterations", _COUNT, least=1, example="50"),
    "parallelAgents": _Key("parallel", _COUNT, least=1, example="2"),
    "pauseMs": _Key("pause_ms", _COUNT, example="500"),
    "topLevelBeadId": _Key("top", _TEXT, example='"bd-1"'),
}
_PATHS = ("developerPromptPath", "reviewerPromptPath")
_OTHERS = frozenset(
    {
        *("provider", "reviewerProvider", "reviewerModel", "promptPath", "previewLines", "command", "model"),
        *("reasoningEffort", "yolo", "logDir", "beadMode", "taskMode"),
    }
)
"""Keys of the same file that say nothing about the loop."""


class OuroborosSettings(Value):
    """How a loop over beads goes; None where no file says it."""

    exists: bool = False
    """Whether there is such a file: then reviews are off unless it turns them on."""
    review: bool | None = None
    fix_attempts: int | None = None
    developer_prompt: str | None = None
    reviewer_prompt: str | None = None
    """Empty where it says that there is none."""
    iterations: int | None = None
    parallel: int | None = None
    pause_ms: int | None = None
    top: str | None = None
    places: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Where each of them is written, by its name here."""
    notices: tuple[str, ...] = ()


class OuroborosFile(NamedTuple):
    label: str
    raw: bytes | None
    names_prompts: bool = True
    """Whether its paths of prompts count. A file that is not in the base may be the work of the change itself."""


def read_ouroboros(files: Iterable[OuroborosFile]) -> OuroborosSettings:
    """The settings of these files, each over the ones before it. Raises `DocumentError` with all that is wrong."""
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    problems: list[Problem] = []
    notices: list[str] = []
    exists = False
    for file in files:
        if file.raw is None:
            continue
        exists = True
        document = read_document(file.raw, file.label)
        for key, value in document.values.items():
            known = _KEYS.get(key)
            if known is None:
                continue
            if not file.names_prompts and key in _PATHS:
                flag = "--developer-prompt" if key == _PATHS[0] else "--reviewer-prompt"
                notices.append(f"{file.label}: {key} does not apply before it is committed. Use {flag} meanwhile.")
            elif _fits(value, known):
                values[known.field] = value
                places[known.field] = document.place_of((key,)).text
            else:
                problems.append(_problem(document, key, known))
        notices += _others(document)
    refuse(problems)
    return OuroborosSettings(exists=exists, places=places, notices=tuple(notices), **values)


def _fits(value: object, key: _Key) -> bool:
    if key.form == _FLAG:
        return isinstance(value, bool)
    if key.form == _TEXT:
        return isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool) and value >= key.least


def _problem(document: Document, key: str, known: _Key) -> Problem:
    least = f", at least {known.least}" if known.form == _COUNT and known.least else ""
    place = document.place_of((key,))
    return Problem(
        file=place.file,
        line=place.line,
        key=key,
        message=f"it must be {known.form}{least}.",
        hint=f"Write {key} = {known.example}.",
    )


def _others(document: Document) -> list[str]:
    """A notice for each key that has no meaning in burnish, or that no tool knows."""
    told: list[str] = []
    values: Mapping[str, Any] = document.values
    for key in values:
        if key in _KEYS:
            continue
        hint = other_name(key) if key in _OTHERS else did_you_mean(key, (*_KEYS, *_OTHERS), alike=0.8)
        told.append(f"{document.place_of((key,)).text}: {key} does not apply. {hint}".rstrip())
    return told
