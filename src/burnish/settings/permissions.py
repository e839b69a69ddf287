"""What each setting can do, and therefore who may make it. `TABLE` has a row for every key of `Settings`.

Two questions are answered from the table. May the settings of a working tree be used before the user has trusted them?
And may a repository make a setting at all, its base included? A repository can tighten what its user has set, never
loosen it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, cast

from burnish.core.errors import KeyPath
from burnish.core.findings import Severity
from burnish.core.values import Value, replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.documents import Document, DocumentError, Problem, key_text, matching, table_at
from burnish.settings.rules import is_variable
from burnish.settings.shorthand import as_written
from burnish.settings.types import AUTO, DEFAULT_COST_USD, DEFAULT_TOKENS, OFF, SandboxWanted, Settings

Compare = Callable[[Any, Any], bool]
"""Whether a value is at least as strict as the one that holds without it."""


SANDBOX_ORDER = (SandboxWanted.OFF, SandboxWanted.AUTO, SandboxWanted.REQUIRED)
"""From the least strict to the strictest."""


class Effect(Enum):
    """The worst that a setting can do, as a message says it."""

    EXECUTES = "runs commands"
    HANDS_OUT = "gives agents variables, files or keys"
    WEAKENS = "can weaken the gate"
    LIMITS = "raises a limit"
    HARMLESS = "is harmless"


class KeyPermission(Value):
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


def _as_long(value: Any, held: Any) -> bool:
    return held == OFF or (value != OFF and value >= held)


def _kept_auto(value: Any, held: Any) -> bool:
    return value in (AUTO, held)


def _kept_enforced(value: Any, _held: Any) -> bool:
    return value is True


def _not_on(value: Any, _held: Any) -> bool:
    return value is False


def _same(value: Any, held: Any) -> bool:
    return bool(value == held)


def _added(_value: Any, held: Any) -> bool:
    return held is None


def _rows(
    effect: Effect,
    reason: str,
    *keys: str,
    stricter: Compare | None = None,
    users: bool = False,
    gate: Compare | None = None,
) -> dict[str, KeyPermission]:
    return {key: KeyPermission(effect=effect, reason=reason, stricter=stricter, users=users, gate=gate) for key in keys}


_AGENT = "it is part of what runs"
_ROLE = "it chooses the agents that review, fix or build, and may cost money"
_MONEY = "a lower cap only ends a run earlier"
_TIME = "a shorter time only ends work earlier, and work that did not run is never clean"
_SEEN = "with a lower value, reviewers see less of the change"
_NOT_REVIEWED = "files that match it are not reviewed"
_KEPT = "only you decide what is kept of your runs"
_KEY = "your key signs only if you ask for it"

TABLE: Mapping[str, KeyPermission] = {
    **_rows(Effect.WEAKENS, "another protocol may have a weaker gate", "protocol"),
    **_rows(Effect.EXECUTES, "without a sandbox, agents run as you", "sandbox", stricter=_sandbox, users=True),
    **_rows(Effect.HANDS_OUT, "only you decide which of your variables agents get", "allow_environment", users=True),
    **_rows(Effect.WEAKENS, "another model may see less, or cost more", "model"),
    **_rows(Effect.HARMLESS, "records are written from the ledger, to fixed places", "records"),
    **_rows(Effect.EXECUTES, _AGENT, "agents.*.kind", "agents.*.command", "agents.*.model", "agents.*.contract"),
    **_rows(Effect.EXECUTES, _AGENT, "agents.*.timeout", "agents.*.silent", "agents.*.examines", "agents.*.max_turns"),
    **_rows(Effect.EXECUTES, _AGENT, "agents.*.resume", "agents.*.project_settings"),
    **_rows(Effect.HANDS_OUT, "a command gets the variables that it names", "agents.*.environment"),
    **_rows(Effect.WEAKENS, _ROLE, "roles.default", "roles.review", "roles.fix", "roles.build", "roles.reviewers.*"),
    **_rows(Effect.WEAKENS, _ROLE, *(f"roles.complexity.{level}.*" for level in ("low", "medium", "high"))),
    **_rows(Effect.WEAKENS, _ROLE, "roles.by_round"),
    **_rows(Effect.EXECUTES, "it is a shell command", "validate.commands.*", gate=_added),
    **_rows(
        *(Effect.WEAKENS, "a lower floor requires fewer tests", "validate.coverage_floor"),
        stricter=_at_least,
        gate=_at_least,
    ),
    **_rows(Effect.LIMITS, _MONEY, "limits.cost_usd", stricter=_at_most_or(DEFAULT_COST_USD), users=True),
    **_rows(Effect.LIMITS, _MONEY, "limits.tokens", stricter=_at_most_or(DEFAULT_TOKENS), users=True),
    **_rows(Effect.LIMITS, _MONEY, "limits.minutes", stricter=_at_most, users=True),
    **_rows(
        *(Effect.LIMITS, _MONEY),
        *(f"limits.{of}.{cap}" for of in ("ticket", "epic") for cap in ("cost_usd", "tokens", "minutes")),
        stricter=_at_most,
        users=True,
    ),
    **_rows(Effect.EXECUTES, "its lines are shell commands", "workspace.prepare", gate=_same),
    **_rows(Effect.HANDS_OUT, "agents can read the ignored files that it copies", "workspace.seed", gate=_same),
    **_rows(
        *(Effect.LIMITS, "a lower limit only stops commands that write too much", "workspace.file_megabytes"),
        stricter=_at_most,
    ),
    **_rows(Effect.WEAKENS, "reviewers follow it", "review.rules", gate=_same),
    **_rows(Effect.WEAKENS, _NOT_REVIEWED, "review.ignore", gate=_same),
    **_rows(Effect.WEAKENS, "agents follow it", "prompts.reviewer", "prompts.fixer", "prompts.builder", gate=_same),
    **_rows(Effect.LIMITS, _TIME, "timeouts.agent", "timeouts.silent", "timeouts.validation", stricter=_at_most),
    **_rows(
        *(Effect.WEAKENS, _SEEN, "context.diff_characters", "context.output_characters"),
        stricter=_at_least,
        gate=_at_least,
    ),
    **_rows(Effect.HANDS_OUT, "your key signs what the repository wants signed", "seal.signing_key"),
    **_rows(Effect.HANDS_OUT, _KEY, "seal.sign", users=True),
    **_rows(Effect.HARMLESS, "`verify` reads it from the base, where it can only tighten", "seal.signers"),
    **_rows(Effect.WEAKENS, "`verify` then accepts seals of other kinds than 'approved'", "seal.allow"),
    **_rows(Effect.WEAKENS, "changes that were not examined are then approved", "gate.unproven"),
    **_rows(Effect.WEAKENS, "findings are then only reported", "gate.enforce", stricter=_kept_enforced),
    **_rows(Effect.LIMITS, _KEPT, "keep.days", "keep.megabytes", users=True),
    **_rows(
        Effect.LIMITS, "fewer tickets at once only take longer", "epics.parallel", "epics.agents.*", stricter=_at_most
    ),
    **_rows(Effect.WEAKENS, "tickets are then not scanned for secrets", "epics.secrets", stricter=_kept_enforced),
    **_rows(Effect.WEAKENS, "beads are then built without a review", "beads.review", stricter=_kept_enforced),
    **_rows(
        Effect.LIMITS, "fewer of them only end earlier", "beads.fix_attempts", "beads.iterations", stricter=_at_most
    ),
    **_rows(Effect.HARMLESS, "it only chooses among the beads, or waits", "beads.top", "beads.pause"),
    **_rows(Effect.WEAKENS, "its findings do not block", "waivers"),
    **_rows(Effect.WEAKENS, "it can turn rules off and lower severities", "analysers.rules.*", gate=_same),
    **_rows(Effect.WEAKENS, "the analysers skip files that match it", "analysers.generated", gate=_same),
    **_rows(
        *(Effect.WEAKENS, "with a lower severity, less blocks", "analysers.uncovered"),
        stricter=_severity,
        gate=_severity,
    ),
    **_rows(
        *(Effect.WEAKENS, "tests that do not run find nothing", "analysers.tests"), stricter=_kept_on, gate=_kept_on
    ),
    **_rows(Effect.WEAKENS, "failures of tests that match it do not block", "analysers.flaky", gate=_same),
    **_rows(
        *(Effect.WEAKENS, "with less time, less is found", "analysers.mutations"), stricter=_as_long, gate=_as_long
    ),
    **_rows(
        *(Effect.WEAKENS, "checks that do not run find nothing", "analysers.checks"), stricter=_kept_auto, gate=_same
    ),
    **_rows(Effect.LIMITS, _TIME, "analysers.test_seconds", "analysers.check_seconds", stricter=_at_most),
    **_rows(*(Effect.WEAKENS, "fixes may then change behaviour", "analysers.unsafe_fixes"), stricter=_not_on),
}
"""By the key in full, `*` for a name that the user chooses."""

_PATTERNS: Mapping[KeyPath, KeyPermission] = {tuple(key.split(".")): row for key, row in TABLE.items()}


def row_of(path: KeyPath) -> KeyPermission | None:
    """The row of a key, or None for a table, and for a key that the table does not know."""
    return matching(_PATTERNS, path)


def value_at(settings: Settings, path: KeyPath) -> Any:
    """The value of a key, its default where it is not set; None for a name that is not there."""
    found: Any = settings
    for part in path:
        if found is None:
            return None
        found = cast("dict[str, Any]", found).get(str(part)) if isinstance(found, dict) else getattr(found, str(part))
    return found


def leaves(values: Mapping[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any, KeyPermission | None]]:
    """Every setting in these values with its row; what is not a table where one is due has no row."""
    for key, value in values.items():
        here = (*path, key)
        row = row_of(here)
        if row is None and isinstance(value, dict):
            yield from leaves(cast("dict[str, Any]", value), here)
        else:
            yield here, value, row


def withhold(document: Document, user: Settings) -> tuple[Document, tuple[Sensitive, ...]]:
    """The settings of a working tree that need no trust, as a document, and those that do.

    `user` is what holds without the document. A key that no row knows is not used.
    """
    sensitive = [
        Sensitive(path=path, value=value, effect=row.effect if row else Effect.WEAKENS)
        for path, value, row in leaves(document.values)
        if row is None or not _needs_no_trust(row, value, value_at(user, path))
    ]
    return _without(document, [each.path for each in sensitive]), tuple(sensitive)


def _needs_no_trust(row: KeyPermission, value: Any, held: Any) -> bool:
    return row.effect is Effect.HARMLESS or (row.stricter is not None and row.stricter(value, held))


def keep_users_own(document: Document, own: Document, user: Settings, where: str) -> tuple[Document, tuple[str, ...]]:
    """A repository's settings without those that only its user may make, and a notice for each of them.

    `own` and `user` are the user's own settings, as they are written and complete. `where` says where users set them.
    """
    refused: dict[KeyPath, str] = {}
    for path, value, row in leaves(document.values):
        if row is not None and row.users and not _may_set(row, value, value_at(user, path)):
            refused[path] = f"a repository can tighten your settings, not loosen them. Set it in {where}."
    for name in table_at(document.values, "agents"):
        path: KeyPath = ("agents", name, "command")
        match _kind_given_login(_agent(document, name), _agent(own, name)):
            case AgentKind.ACP:
                # Without its command there is nothing to run: this cannot be passed over.
                message = "this program would get your login, and a repository may not provide such a program."
                hint = f"Name a program on the PATH, without a folder, or set it in {where}."
                place, key = document.place_of(path), key_text(path)
                raise DocumentError([Problem(file=place.file, line=place.line, key=key, message=message, hint=hint)])
            case None:
                continue
            case _:
                refused[path] = f"this program would get your login. Set it in {where}."
    notices = [f"{document.place_of(at).text}: {key_text(at)} does not apply: {why}" for at, why in refused.items()]
    kept, more = _hand_out(_without(document, list(refused)), own, user, where)
    return kept, (*notices, *more)


def _may_set(row: KeyPermission, value: Any, held: Any) -> bool:
    if row.stricter is None:
        return False
    try:
        return held is None or row.stricter(value, held)
    except (TypeError, ValueError):
        return True  # of a wrong type, which is reported as such


def _kind_given_login(table: Mapping[str, Any], users: Mapping[str, Any]) -> AgentKind | None:
    """The kind of an agent whose command a repository may not choose: what it runs is given the user's login.

    An ACP agent gets the login of the client that it is made of, which is told by its program's name: one that is found
    on the PATH is the user's own, one in a folder that the repository names may be anything.
    """
    command, kind = table.get("command"), table.get("kind", users.get("kind"))
    paid = [known.value for known in AgentKind if known.is_paid]
    if command is None or command == users.get("command") or kind not in paid:
        return None
    program = _names(command)[:1]
    return None if kind == AgentKind.ACP.value and not any("/" in word for word in program) else AgentKind(kind)


def _hand_out(document: Document, own: Document, user: Settings, where: str) -> tuple[Document, tuple[str, ...]]:
    """Only variables that the user allows reach an agent whose command is the repository's."""
    agents = dict(table_at(document.values, "agents"))
    notices: list[str] = []
    for name in agents:
        table, users = _agent(document, name), _agent(own, name)
        redefined = any(key in table and table[key] != users.get(key) for key in ("kind", "command"))
        inherited = _names(users.get("environment"))
        wanted = _names(table["environment"]) if "environment" in table else inherited
        allowed = {*user.allow_environment, *(() if redefined else inherited)}
        refused = [variable for variable in wanted if variable not in allowed and is_variable(variable)]
        if refused:
            agents[name] = {**table, "environment": [variable for variable in wanted if variable not in refused]}
            place = document.place_of(("agents", name, "environment")).text
            notices.append(
                f"{place}: agents.{name} does not get {', '.join(refused)}: you have not allowed it. Add "
                f"{', '.join(refused)} to allow_environment in {where}."
            )
    handed = replace(document, values={**document.values, "agents": agents}) if notices else document
    return handed, tuple(notices)


def _names(value: object) -> list[str]:
    return [name for name in cast("list[object]", value) if isinstance(name, str)] if isinstance(value, list) else []


def _agent(document: Document, name: str) -> Mapping[str, Any]:
    return table_at(table_at(document.values, "agents"), name)


def _without(document: Document, left_out: Sequence[KeyPath]) -> Document:
    """The document without some keys, and without the tables that are empty then."""

    def pruned(values: Mapping[str, Any], path: KeyPath) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, value in values.items():
            here = (*path, key)
            if any(out[: len(here)] == here for out in left_out):
                inner = {} if here in left_out else pruned(value, here)
                if inner:
                    kept[key] = inner
            else:
                kept[key] = value
        return kept

    places = {
        path: place for path, place in document.places.items() if not any(path[: len(out)] == out for out in left_out)
    }
    return replace(document, values=pruned(document.values, ()), places=places)
