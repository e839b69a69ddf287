"""Everything beside the protocol that governs a run, frozen in its first event: later edits of files change nothing."""

from typing import Any

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import RunStarted
from burnish.core.state import Run
from burnish.core.values import Value, replace
from burnish.settings.loading import PolicyOrigin
from burnish.settings.requirements import AgentValue, Requirements
from burnish.settings.types import Settings

_FORMER_CONTEXT, _FORMER_INVOCATION = "inputs", "invocation"
"""Where older versions kept both, in `RunStarted.inputs`."""


class Guidance(Value):
    """A page of the base that reviewers are given, such as REVIEW.md."""

    name: str
    text: str


class ContextError(BurnishError):
    """What governs a run cannot be read: it was begun by another version."""

    kind = ErrorKind.USAGE


class Offline(Value):
    """What runs without the network: commands that a working tree names, though the user has trusted it."""

    prepare: bool = False
    validate: bool = False
    agents: tuple[str, ...] = ()


class Governance(Value):
    """What the base asks for, and what the run has, both by value."""

    requirements: Requirements | None = None
    """What the subject's base commit asks for by itself. None, which nothing meets, where it lacks what it asks for."""
    agents: dict[str, AgentValue] = msgspec.field(default_factory=dict[str, AgentValue])
    """Every agent that the settings of the run know, by its name. Those who answer are among them."""
    deviations: tuple[str, ...] = ()
    """The keys that shape the gate in which the run does not keep to what the base asks for."""
    trusted: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The files of the working tree that the user has trusted and the run uses, with their digests."""
    offline: Offline = Offline()
    notices: tuple[str, ...] = ()
    """What the user was told of settings that are not used."""


class Picking(Value):
    """The list that the task of a run is from. Its agent may choose another one of it, or say that none is left."""

    task: str
    """The one that the run is about."""
    folder: str
    """Where the list is kept in the repository. What an agent writes there is never committed with its work."""
    others: tuple[str, ...] = ()
    """Those that no run has been given so far."""
    parallel: int = 1
    """How many agents work on tasks of the list at the same time, at most."""
    beside: tuple[str, ...] = ()
    """The tasks that others of them had when this run began."""


class RunContext(Value):
    """What was resolved when the run began."""

    settings: Settings
    policy: PolicyOrigin
    """Whose policy governs the run."""
    merge_base: str
    governance: Governance = Governance()
    detached: bool = False
    """There is no branch that could be moved at the end."""
    work_tree: str = ""
    """The working tree whose uncommitted work is under review; fixes go there."""
    brief: str = ""
    brief_path: str = ""
    """As the user named it."""
    brief_file: str = ""
    """The same below the root of the repository; empty where it is elsewhere."""
    epic_path: str = ""
    """The epic that the brief belongs to, below the root of the repository."""
    acceptance: tuple[str, ...] = ()
    ticked: dict[str, bool] = msgspec.field(default_factory=dict[str, bool])
    """The criteria that have a check box in the brief, and whether it is ticked."""
    coordination: str = ""
    epic: str = ""
    """The epic that the run is part of, by its name in the ledger."""
    build_title: str = ""
    """How the message of the builder's commit begins, where that is not the implementation of a story."""
    picking: Picking | None = None
    """None where the task is not from a list that agents choose from."""
    intent: str = ""
    guidance: tuple[Guidance, ...] = ()
    prompts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """The user's own prompts by role."""


class Invocation(Value):
    """What the user typed beyond branch and base, so that a later command can be given the same."""

    folder: str = ""
    """Where the user was: paths are relative to it."""
    protocol: str = ""
    brief: str = ""
    intent: str = ""
    agents: tuple[str, ...] = ()
    complexity: str = ""
    model: str = ""
    timeout: float | None = None
    developer_prompt: str = ""
    reviewer_prompt: str = ""
    unsafe_fixes: bool = False
    allow_unexamined: bool = False
    staged: bool = False


def as_json(value: RunContext | Invocation) -> dict[str, Any]:
    return msgspec.json.decode(msgspec.json.encode(value))  # exactly as it is read again


def has_context(started: RunStarted) -> bool:
    """Whether a run says what governs it. Those of tests and of rehearsals do not."""
    return bool(started.context or started.inputs)


def context_of(run: Run) -> RunContext:
    """What governs a run. Runs of older versions hold it as JSON text inside of the JSON."""
    started = run.started
    try:
        if started.context:
            return msgspec.convert(started.context, RunContext)
        return msgspec.json.decode(started.inputs[_FORMER_CONTEXT], type=RunContext)
    except msgspec.MsgspecError:
        raise ContextError(
            f"{run.id} was started by another version of burnish, whose settings this version cannot read.",
            hint=f"Continue with that version, or end the run with 'burnish cancel {run.id}' and start a new one.",
        ) from None


def invocation_of(run: Run) -> Invocation:
    """What was typed; of a run from before that was kept, nothing is known."""
    started = run.started
    try:
        if started.invocation:
            return msgspec.convert(started.invocation, Invocation)
        return msgspec.json.decode(started.inputs.get(_FORMER_INVOCATION, "{}"), type=Invocation)
    except msgspec.MsgspecError:
        return Invocation()


def with_context(started: RunStarted) -> RunStarted:
    """As a version of today would have begun the run, so that two can be compared, however they were typed."""
    context: dict[str, Any] = started.context
    if not context and _FORMER_CONTEXT in started.inputs:
        context = msgspec.json.decode(started.inputs[_FORMER_CONTEXT])
    return replace(started, context=context, inputs={}, invocation={})
