"""What each setting can do, and therefore who may make it. `TABLE` has a row for every key of `Settings`.

Two questions are answered from the table. May the settings of a working tree be used before the user has trusted them?
And may a repository make a setting at all, its base included? A repository can tighten what its user has set, never
loosen it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, cast

import msgspec

from burnish.config.errors import ConfigError
from burnish.config.rules import is_variable
from burnish.config.settings import DEFAULT_COST_USD, DEFAULT_TOKENS, OFF, AgentKind, SandboxWanted, Settings
from burnish.config.shorthand import as_written
from burnish.core.findings import Severity
from burnish.core.values import Value, replace
from burnish.protocols.documents import key_text
from burnish.protocols.errors import Problem
from burnish.protocols.layers import Layer
from burnish.protocols.positions import KeyPath

Compare = Callable[[Any, Any], bool]
"""Whether a value is at least as strict as the one that holds without it."""


SANDBOX_ORDER = (SandboxWanted.OFF, SandboxWanted.AUTO, SandboxWanted.REQUIRED)
"""From the least strict to the strictest."""


class Effect(Enum):
    """The worst that a setting can do, as a message says it."""

    EXECUTES = "runs commands"
    HANDS_OUT = "hands out variables, files or keys"
    WEAKENS = "can weaken the gate"
    LIMITS = "raises a limit"
    HARMLESS = "is harmless"


class Row(Value):
    """One key: what it can do, and why it is classified so."""

    effect: Effect
    reason: str
    stricter: Compare | None = None
    """Values for which this holds only tighten: they are used without trust."""
    users: bool = False
    """It is the user's alone: a repository may only make it stricter, and only where `stricter` can tell."""
    gate: Compare | None = None
    """It shapes what a review sees or counts. Tells whether a value keeps what the base asks for."""


class Sensitive(Value):
    """A setting of a working tree that is used only if the user trusts it."""

    path: KeyPath
    value: Any
    effect: Effect

    @property
    def key(self) -> str:
        return key_text(as_written(self.path))


def _at_most(value: Any, held: Any) -> bool:
    return held is None or value <= held


def _at_least(value: Any, held: Any) -> bool:
    return held is None or (value is not None and value >= held)


def _at_most_or(default: float) -> Compare:
    return lambda value, held: bool(value <= (default if held is None else held))


def _sandbox(value: Any, held: Any) -> bool:
    return SANDBOX_ORDER.index(SandboxWanted(value)) >= SANDBOX_ORDER.index(SandboxWanted(held))


def _severity(value: Any, held: Any) -> bool:
    words = [*(severity.value for severity in Severity), OFF]  # the worst severity is the strictest setting
    return words.index(value) <= words.index(held)


def _kept_on(value: Any, held: Any) -> bool:
    return value != OFF or held == OFF


def _not_on(value: Any, _held: Any) -> bool:
    return value is False


def _same(value: Any, held: Any) -> bool:
    return bool(value == held)


def _added(_value: Any, held: Any) -> bool:
    return held is None


_PART_OF_AGENT = "it is part of what is run"
_WHO = "it chooses who reviews, fixes or builds, and may spend money"
_MONEY = "a lower cap only ends a run sooner"
_TIME = "a shorter time only ends work sooner, and what did not run is never clean"
_SEEN = "reviewers see less of the change where it is lower"


def _caps(table: str, **defaults: float) -> dict[str, Row]:
    return {
        f"{table}.{cap}": Row(
            effect=Effect.LIMITS,
            reason=_MONEY,
            stricter=_at_most_or(defaults[cap]) if cap in defaults else _at_most,
            users=True,
        )
        for cap in ("cost_usd", "tokens", "minutes")
    }


def _agent_keys(*names: str) -> dict[str, Row]:
    return {f"agents.*.{name}": Row(effect=Effect.EXECUTES, reason=_PART_OF_AGENT) for name in names}


def _all(
    effect: Effect, reason: str, *keys: str, stricter: Compare | None = None, gate: Compare | None = None
) -> dict[str, Row]:
    return {key: Row(effect=effect, reason=reason, stricter=stricter, gate=gate) for key in keys}


TABLE: Mapping[str, Row] = {
    "protocol": Row(effect=Effect.WEAKENS, reason="another protocol may have a weaker gate"),
    "sandbox": Row(effect=Effect.EXECUTES, reason="without one, agents run as the user", stricter=_sandbox, users=True),
    "allow_environment": Row(
        effect=Effect.HANDS_OUT, reason="only the user hands out the user's variables", users=True
    ),
    "model": Row(effect=Effect.WEAKENS, reason="another model may see less, or cost more"),
    "records": Row(effect=Effect.HARMLESS, reason="records are written from the ledger, to fixed places"),
    **_agent_keys("kind", "command", "model", "contract", "timeout", "silent"),
    **_agent_keys("examines", "max_turns", "resume", "project_settings"),
    "agents.*.environment": Row(effect=Effect.HANDS_OUT, reason="a command gets the variables by their names"),
    **_all(Effect.WEAKENS, _WHO, "roles.default", "roles.review", "roles.fix", "roles.build", "roles.reviewers.*"),
    **_all(Effect.WEAKENS, _WHO, *(f"roles.complexity.{level}.*" for level in ("low", "medium", "high"))),
    **_all(Effect.WEAKENS, _WHO, "roles.by_round"),
    "validate.commands.*": Row(effect=Effect.EXECUTES, reason="it is a line for the shell", gate=_added),
    "validate.coverage_floor": Row(
        effect=Effect.WEAKENS, reason="a lower floor asks for fewer tests", stricter=_at_least, gate=_at_least
    ),
    **_caps("limits", cost_usd=DEFAULT_COST_USD, tokens=DEFAULT_TOKENS),
    **_caps("limits.ticket"),
    **_caps("limits.epic"),
    "workspace.prepare": Row(effect=Effect.EXECUTES, reason="its lines are for the shell", gate=_same),
    "workspace.seed": Row(
        effect=Effect.HANDS_OUT, reason="agents can read the ignored files that it copies", gate=_same
    ),
    "workspace.file_megabytes": Row(
        effect=Effect.LIMITS, reason="a lower limit only stops what writes too much", stricter=_at_most
    ),
    **_all(Effect.WEAKENS, "reviewers follow it", "review.rules", gate=_same),
    **_all(Effect.WEAKENS, "nobody reviews what it matches", "review.ignore", gate=_same),
    **_all(Effect.WEAKENS, "agents follow it", "prompts.reviewer", "prompts.fixer", "prompts.builder", gate=_same),
    **_all(Effect.LIMITS, _TIME, "timeouts.agent", "timeouts.silent", "timeouts.validation", stricter=_at_most),
    **_all(
        Effect.WEAKENS,
        _SEEN,
        "context.diff_characters",
        "context.output_characters",
        stricter=_at_least,
        gate=_at_least,
    ),
    "seal.signing_key": Row(effect=Effect.HANDS_OUT, reason="the user's key signs what the repository wants signed"),
    "seal.sign": Row(
        effect=Effect.HANDS_OUT, reason="the user's key signs only where the user asks for it", users=True
    ),
    "seal.signers": Row(effect=Effect.HARMLESS, reason="`verify` reads it from the base, where it only tightens"),
    "seal.allow": Row(effect=Effect.WEAKENS, reason="`verify` then accepts less than an approval"),
    "gate.unproven": Row(effect=Effect.WEAKENS, reason="what was not examined is then approved"),
    **{
        f"keep.{limit}": Row(
            effect=Effect.LIMITS, reason="only the user decides what is kept of their runs", users=True
        )
        for limit in ("days", "megabytes")
    },
    "waivers": Row(effect=Effect.WEAKENS, reason="its findings do not block"),
    **_all(Effect.WEAKENS, "it can switch rules off and lower severities", "analysers.rules.*", gate=_same),
    **_all(Effect.WEAKENS, "the analysers leave out what it matches", "analysers.generated", gate=_same),
    "analysers.uncovered": Row(
        effect=Effect.WEAKENS, reason="a lower severity blocks less", stricter=_severity, gate=_severity
    ),
    "analysers.tests": Row(
        effect=Effect.WEAKENS, reason="tests that are not run find nothing", stricter=_kept_on, gate=_kept_on
    ),
    "analysers.test_seconds": Row(effect=Effect.LIMITS, reason=_TIME, stricter=_at_most),
    "analysers.unsafe_fixes": Row(
        effect=Effect.WEAKENS, reason="fixes may then change what the code does", stricter=_not_on
    ),
}
"""By the key in full, `*` for a name that the user chooses."""


def row_of(path: KeyPath) -> Row | None:
    """The row of a key, or None for a table, and for what no row knows."""
    for pattern, row in _PATTERNS:
        if len(pattern) == len(path) and all(part in ("*", name) for part, name in zip(pattern, path, strict=True)):
            return row
    return None


_PATTERNS = tuple((tuple(key.split(".")), row) for key, row in TABLE.items())


def value_at(settings: Settings, path: KeyPath) -> Any:
    """The value of a key, its default where it is not set; None for a name that is not there."""
    found: Any = settings
    for part in path:
        if found is None:
            return None
        found = cast("dict[str, Any]", found).get(str(part)) if isinstance(found, dict) else getattr(found, str(part))
    return found


def withhold(layer: Layer, user: Settings) -> tuple[Layer, tuple[Sensitive, ...]]:
    """The settings of a working tree that need no trust, as a layer, and those that do.

    `user` is what holds without the layer. A key that no row knows is not used.
    """
    sensitive = [
        Sensitive(path=path, value=value, effect=row.effect if row else Effect.WEAKENS)
        for path, value, row in _leaves(layer.values)
        if row is None or not _is_free(row, value, value_at(user, path))
    ]
    return _without(layer, [each.path for each in sensitive]), tuple(sensitive)


def _is_free(row: Row, value: Any, held: Any) -> bool:
    return row.effect is Effect.HARMLESS or (row.stricter is not None and row.stricter(value, held))


def keep_users_own(layer: Layer, own: Layer, user: Settings, where: str) -> tuple[Layer, tuple[str, ...]]:
    """A repository's settings without those that are its user's alone, and a notice for each of them.

    `own` and `user` are the user's own settings, as they are written and complete. `where` says where users set them.
    """
    notices: list[str] = []
    refused: list[KeyPath] = []
    for path, value, row in _leaves(layer.values):
        if row is not None and row.users and not _may_set(row, value, value_at(user, path)):
            refused.append(path)
            told = f"{layer.place_of(path).text}: {key_text(path)} is not used"
            notices.append(f"{told}: a repository can tighten what you have set, not loosen it. Set it in {where}.")
    for name in _table(layer.values, "agents"):
        path: KeyPath = ("agents", name, "command")
        place = layer.place_of(path)
        match _lends_login(layer, own, name):
            case AgentKind.ACP:
                # Without its command there is nothing to run: this cannot be passed over.
                message = "this program would be given your login, and a repository may not bring it."
                hint = f"Name it as it is on the PATH, without a folder, or set it in {where}."
                raise ConfigError(
                    [Problem(file=place.file, line=place.line, key=key_text(path), message=message, hint=hint)]
                )
            case None:
                continue
            case _:
                refused.append(path)
                told = f"{place.text}: {key_text(path)} is not used"
                notices.append(f"{told}: this program would be given your login. Set it in {where}.")
    kept, more = _hand_out(_without(layer, refused), own, user, where)
    return kept, (*notices, *more)


def _may_set(row: Row, value: Any, held: Any) -> bool:
    if row.stricter is None:
        return False
    try:
        return held is None or row.stricter(value, held)
    except (TypeError, ValueError):
        return True  # of a wrong type, which is reported as such


def _lends_login(layer: Layer, own: Layer, name: str) -> AgentKind | None:
    """The kind of an agent whose command a repository may not choose: what it runs is lent the user's login.

    An ACP agent gets the login of the client that it is made of, which is told by its program's name: one that is found
    on the PATH is the user's own, one in a folder that the repository names may be anything.
    """
    table, users = _agent(layer, name), _agent(own, name)
    command, kind = table.get("command"), table.get("kind", users.get("kind"))
    if command is None or command == users.get("command") or kind not in _LOGINS:
        return None
    program = _names(command)[:1]
    return None if kind == AgentKind.ACP.value and not any("/" in word for word in program) else AgentKind(kind)


_LOGINS = tuple(kind.value for kind in AgentKind if kind.is_paid)


def _hand_out(layer: Layer, own: Layer, user: Settings, where: str) -> tuple[Layer, tuple[str, ...]]:
    """Only variables that the user allows reach an agent whose command is the repository's."""
    values = dict(layer.values)
    agents = dict(_table(values, "agents"))
    notices: list[str] = []
    for name in agents:
        table, users = _agent(layer, name), _agent(own, name)
        redefined = any(key in table and table[key] != users.get(key) for key in ("kind", "command"))
        inherited = _names(users.get("environment"))
        wanted = _names(table["environment"]) if "environment" in table else inherited
        allowed = {*user.allow_environment, *(() if redefined else inherited)}
        refused = [variable for variable in wanted if variable not in allowed and is_variable(variable)]
        if refused:
            agents[name] = {**table, "environment": [variable for variable in wanted if variable not in refused]}
            place = layer.place_of(("agents", name, "environment")).text
            notices.append(
                f"{place}: agents.{name} does not get {', '.join(refused)}: you have not allowed it. "
                f"Add {', '.join(refused)} to allow_environment in {where}."
            )
    return (replace(layer, values={**values, "agents": agents}) if notices else layer), tuple(notices)


def _names(value: object) -> list[str]:
    return [name for name in cast("list[object]", value) if isinstance(name, str)] if isinstance(value, list) else []


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _agent(layer: Layer, name: str) -> Mapping[str, Any]:
    return _table(_table(layer.values, "agents"), name)


def _leaves(values: Mapping[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any, Row | None]]:
    """Every setting of a layer, each a key of the table; what is no table where one is due has no row."""
    for key, value in values.items():
        here = (*path, key)
        row = row_of(here)
        if row is None and isinstance(value, dict):
            yield from _leaves(cast("dict[str, Any]", value), here)
        else:
            yield here, value, row


def _without(layer: Layer, paths: Iterable[KeyPath]) -> Layer:
    """The layer without some keys, and without the tables that are empty then."""
    left_out = tuple(paths)
    if not left_out:
        return layer
    places = {path: place for path, place in layer.places.items() if not any(_is_in(path, out) for out in left_out)}
    return replace(layer, values=_pruned(layer.values, (), left_out), places=places)


def _is_in(path: KeyPath, table: KeyPath) -> bool:
    return path[: len(table)] == table


def _pruned(values: Mapping[str, Any], path: KeyPath, left_out: tuple[KeyPath, ...]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in values.items():
        here = (*path, key)
        if here in left_out:
            continue
        if any(_is_in(out, here) for out in left_out):
            inner = _pruned(value, here, left_out)
            if inner:
                kept[key] = inner
        else:
            kept[key] = value
    return kept


def gate_values(settings: Settings) -> dict[KeyPath, Any]:
    """What settings say about what a review sees and counts, by key, without what is left at its default."""
    values = cast("dict[str, Any]", msgspec.to_builtins(settings))
    return {path: value for path, value, row in _leaves(values) if row is not None and row.gate is not None}


def deviations(settings: Settings, required: Settings) -> tuple[str, ...]:
    """The keys in which a gate is another one than the required one, and not for certain a stricter one."""
    found: list[str] = []
    for path in {**gate_values(required), **gate_values(settings)}:
        row, value, asked = row_of(path), value_at(settings, path), value_at(required, path)
        if value != asked and not (row is not None and row.gate is not None and row.gate(value, asked)):
            found.append(key_text(as_written(path)))
    return tuple(sorted(found))
