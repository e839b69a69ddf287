"""Everything beside the protocol that governs a run, frozen in its first event: later edits of files change nothing."""

import msgspec

from burnish.config.settings import Settings
from burnish.core.state import Run
from burnish.core.values import Value

_KEY = "inputs"


class Guidance(Value):
    """A page of the base that reviewers are given, such as REVIEW.md."""

    name: str
    text: str


class Inputs(Value):
    """What was resolved when the run began."""

    settings: Settings
    policy: str
    """Where the repository's settings were read from."""
    merge_base: str
    detached: bool = False
    """There is no branch that could be moved at the end."""
    brief: str = ""
    brief_path: str = ""
    acceptance: tuple[str, ...] = ()
    intent: str = ""
    guidance: tuple[Guidance, ...] = ()
    prompts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The user's own prompts by role."""


def frozen(inputs: Inputs) -> dict[str, str]:
    """As the first event holds them."""
    return {_KEY: msgspec.json.encode(inputs).decode()}


def inputs_of(run: Run) -> Inputs:
    """As a driver needs them."""
    return msgspec.json.decode(run.started.inputs[_KEY], type=Inputs)
