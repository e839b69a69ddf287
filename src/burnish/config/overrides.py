"""Settings from environment variables and flags, as layers over the files.

Both speak for all agents at once: a model or time limit given here replaces what the files say of each agent.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from burnish.core.values import Value
from burnish.protocols.checking import did_you_mean
from burnish.protocols.layers import Layer, Place
from burnish.protocols.positions import KeyPath


class Flags(Value):
    """Settings given on the command line; None where a flag was not given."""

    protocol: str | None = None
    sandbox: str | None = None
    model: str | None = None
    timeout: float | None = None
    unsafe_fixes: bool | None = None
    developer_prompt: str | None = None
    reviewer_prompt: str | None = None


class _Variable(Value):
    """An environment variable that is a setting."""

    path: KeyPath
    read: Callable[[str], object]


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _whole_number(text: str) -> object:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text


def _words(text: str) -> object:
    return [word.strip() for word in text.split(",") if word.strip()]


def _truth(text: str) -> object:
    return {"true": True, "false": False}.get(text.lower(), text)


VARIABLES: Mapping[str, _Variable] = {
    "BURNISH_PROTOCOL": _Variable(path=("protocol",), read=str),
    "BURNISH_SANDBOX": _Variable(path=("sandbox",), read=str),
    "BURNISH_ALLOW_ENVIRONMENT": _Variable(path=("allow_environment",), read=_words),
    "BURNISH_MODEL": _Variable(path=("model",), read=str),
    "BURNISH_TIMEOUT": _Variable(path=("timeouts", "agent"), read=_number),
    "BURNISH_COST_USD": _Variable(path=("limits", "cost_usd"), read=_number),
    "BURNISH_TOKENS": _Variable(path=("limits", "tokens"), read=_whole_number),
    "BURNISH_MINUTES": _Variable(path=("limits", "minutes"), read=_number),
    "BURNISH_RECORDS": _Variable(path=("records",), read=_truth),
}
"""Every variable that is a setting, and the key that it sets."""

NOT_SETTINGS = frozenset(
    {
        "BURNISH_ATTEMPT",
        "BURNISH_BASE",
        "BURNISH_CONTRACT",
        "BURNISH_EFFECT",
        "BURNISH_FINDINGS",
        "BURNISH_FINDINGS_FILE",
        "BURNISH_HEAD",
        "BURNISH_OUTPUT",
        "BURNISH_REVIEWER",
        "BURNISH_ROLE",
        "BURNISH_ROUND",
        "BURNISH_RUN",
        "BURNISH_SCRATCH",
        "BURNISH_SESSION",
        "BURNISH_SUBJECT",
        "BURNISH_TERMINAL",
    }
)
"""What burnish itself tells its agents."""

_FLAGS: Mapping[str, KeyPath] = {
    "protocol": ("protocol",),
    "sandbox": ("sandbox",),
    "model": ("model",),
    "timeout": ("timeouts", "agent"),
    "unsafe_fixes": ("analysers", "unsafe_fixes"),
    "developer_prompt": ("prompts", "builder"),
    "reviewer_prompt": ("prompts", "reviewer"),
}
_OF_EACH_AGENT: Mapping[KeyPath, str] = {("model",): "model", ("timeouts", "agent"): "timeout"}
"""General settings, and the key by which a single agent may differ from them."""


def environment_layer(environment: Mapping[str, str], below: Layer) -> Layer:
    """The variables that are set, over the layers below. An empty one counts as not set."""
    given = [(name, variable) for name, variable in VARIABLES.items() if environment.get(name)]
    return _layer([(variable.path, variable.read(environment[name]), name) for name, variable in given], below)


def flag_layer(flags: Flags, below: Layer) -> Layer:
    """The flags that were given, over the layers below."""
    given = [(path, getattr(flags, name), f"--{name.replace('_', '-')}") for name, path in _FLAGS.items()]
    return _layer([each for each in given if each[1] is not None], below)


def misspelt(environment: Mapping[str, str]) -> tuple[str, ...]:
    """A notice for each variable that looks like one of ours and is none."""
    unknown = sorted(
        name
        for name in environment
        if name.startswith("BURNISH_") and name not in VARIABLES and name not in NOT_SETTINGS
    )
    questions = ((name, did_you_mean(name, VARIABLES, alike=0.8)) for name in unknown)
    return tuple(f"{name} is not a setting. {question}" for name, question in questions if question)


def _layer(given: list[tuple[KeyPath, object, str]], below: Layer) -> Layer:
    values: dict[str, Any] = {}
    places: dict[KeyPath, Place] = {}
    for path, value, name in given:
        for target in (path, *_paths_of_agents(path, below)):
            _put(values, target, value)
            places[target] = Place(file=name)
    return Layer(file="", values=values, places=places)


def _paths_of_agents(path: KeyPath, below: Layer) -> list[KeyPath]:
    key = _OF_EACH_AGENT.get(path)
    agents = below.values.get("agents")
    if key is None or not isinstance(agents, dict):
        return []
    tables = cast("dict[str, object]", agents).items()
    return [("agents", name, key) for name, table in tables if isinstance(table, dict)]


def _put(values: dict[str, Any], path: KeyPath, value: object) -> None:
    table = values
    for part in path[:-1]:
        table = table.setdefault(str(part), {})
    table[str(path[-1])] = value
