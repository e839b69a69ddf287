"""From files, environment and flags to one value, with the origin of each setting.

The repository's file is read from the base of the change, so that a change cannot weaken its own gate. Where the base
has none, the working tree's counts in full only if the caller says that the user trusts it. This module is given
functions that read files, and knows nothing of git.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from burnish.core.errors import KeyPath, Violation
from burnish.core.values import Value, replace
from burnish.settings.conversion import mismatches
from burnish.settings.documents import (
    MAX_DOCUMENT_BYTES,
    Document,
    DocumentError,
    Problem,
    ReadFile,
    SourcePlace,
    did_you_mean,
    key_text,
    nearest,
    overlay,
    read_document,
    refuse,
    table_at,
)
from burnish.settings.permissions import SANDBOX_ORDER, Sensitive, keep_users_own, withhold
from burnish.settings.rules import faults
from burnish.settings.shorthand import as_written, spelled_out
from burnish.settings.types import AUTO, Settings

REPOSITORY_FILE = "burnish.toml"

_TAGS: Mapping[KeyPath, str] = {
    ("agents", "*"): "kind",
    ("roles", "*"): "agent",
    ("roles", "reviewers", "*"): "agent",
    ("roles", "complexity", "*", "*"): "agent",
}
"""An agent of another kind, and a choice of another agent, replace the whole table below."""


class LayerName(Enum):
    """Where settings come from, from the weakest to the strongest."""

    DEFAULT = "default"
    USER = "user"
    REPOSITORY = "repository"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class PolicyOrigin(Enum):
    """Whose policy governs a run, below the environment and the flags that it was started with."""

    BASE = "base"
    WORKING_TREE = "working-tree (trusted)"
    """Some of it is the working tree's, which the user has trusted."""
    USER = "user"
    """The repository has none that counts: the user's own settings over the built-in ones."""
    BUILT_IN = "built-in"


class Origin(Value):
    """Where a setting was made. `file` is also the name of a variable or a flag; a default has none."""

    layer: LayerName
    file: str = ""
    line: int | None = None

    @property
    def text(self) -> str:
        return SourcePlace(file=self.file, line=self.line).text if self.file else self.layer.value


class Flags(Value):
    """Settings given on the command line; None where a flag was not given."""

    protocol: str | None = None
    sandbox: str | None = None
    model: str | None = None
    timeout: float | None = None
    unsafe_fixes: bool | None = None
    developer_prompt: str | None = None
    reviewer_prompt: str | None = None


class SettingsSources(Value):
    base_file: ReadFile
    working_file: ReadFile
    user_file: Path | None = None
    environment: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    flags: Flags = Flags()
    base_name: str = "base"
    """What messages call the base: usually the name of its branch."""
    trusted: bool = False
    """Whether the user trusts the working tree's file as it is now."""


class Merged(Value):
    settings: Settings
    origins: Mapping[KeyPath, Origin]
    policy: PolicyOrigin
    notices: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    """Messages about settings of the repository that only its user may make, and that are not used."""
    sensitive: tuple[Sensitive, ...] = ()
    """What the working tree's file sets, and what is used only if the user trusts that file."""

    def origin(self, *path: str | int) -> Origin:
        """The origin of a setting, by its key as one writes it; one that is not set is a default."""
        return nearest(self.origins, path) or Origin(layer=LayerName.DEFAULT)

    @property
    def origin_texts(self) -> dict[str, str]:
        """The origin of every setting that was made, as text: `limits.cost_usd` → `main:burnish.toml:7`."""
        return {key_text(path): origin.text for path, origin in self.origins.items() if isinstance(path[-1], str)}


def user_file(environment: Mapping[str, str]) -> Path | None:
    """Where the user's own settings live: `burnish/config.toml` in the configuration folder."""
    folder = environment.get("XDG_CONFIG_HOME", "")
    if not folder.startswith("/"):  # the specification says to ignore relative ones
        home = environment.get("HOME", "")
        if not home:
            return None
        folder = f"{home}/.config"
    return Path(folder) / "burnish" / "config.toml"


def load(sources: SettingsSources) -> Merged:
    """Merge all sources. Raises `DocumentError` with every fault that was found."""
    base, working = sources.base_file(REPOSITORY_FILE), sources.working_file(REPOSITORY_FILE)
    label = REPOSITORY_FILE if base is None else f"{sources.base_name}:{REPOSITORY_FILE}"
    own, theirs = _read_documents(
        (str(sources.user_file), _read_user_file(sources.user_file)), (label, working if base is None else base)
    )
    user = _own_settings(_over(own, _from_environment(sources.environment, own)), theirs)
    where = str(sources.user_file) if sources.user_file is not None else "your own configuration"
    allowed, refusals = keep_users_own(theirs, own, user, where)
    sensitive: tuple[Sensitive, ...] = ()
    if base is None:
        harmless, sensitive = withhold(allowed, user)
        allowed = allowed if sources.trusted else harmless
    merged = _over(own, allowed)
    from_environment = _from_environment(sources.environment, merged)
    merged = _over(merged, from_environment)
    merged = _over(merged, _from_flags(sources.flags, merged))
    merged = _with_stricter_sandbox(merged, allowed)
    layers = {own.file: LayerName.USER, theirs.file: LayerName.REPOSITORY}
    layers.update({place.file: LayerName.ENVIRONMENT for place in from_environment.places.values()})
    notices = [*_misspelt(sources.environment)]
    if base is not None and working not in (None, base):
        told = f"burnish reads {REPOSITORY_FILE} from {sources.base_name}; the change's edits of it do not apply yet."
        notices.insert(0, told)
    whole = Merged(
        settings=_converted(merged),
        origins=_origins(merged, layers),
        policy=_policy(base, working if sources.trusted else None, own),
        notices=tuple(notices),
        refusals=refusals,
        sensitive=sensitive,
    )
    return _with_tests_unless_the_project_says_off(whole)


def load_alone(raw: bytes | None, label: str) -> Settings:
    """What one file says by itself, over the defaults. It may name agents that only its users define."""
    (document,) = _read_documents((label, raw))
    agents = {name: table for name, table in table_at(document.values, "agents").items() if "kind" in table}
    return _convert(replace(document, values={**document.values, "agents": agents}))


def _with_tests_unless_the_project_says_off(merged: Merged) -> Merged:
    """Only the project can do without its tests and checks: the user who starts a review cannot."""
    analysers = merged.settings.analysers
    for key, value in (("tests", analysers.tests), ("checks", analysers.checks)):
        origin = merged.origin("analysers", key)
        if value == AUTO or origin.layer is LayerName.REPOSITORY:
            continue
        told = (
            f"{origin.text}: analysers.{key} applies only in the project's {REPOSITORY_FILE}; burnish runs the {key}."
        )
        settings = replace(merged.settings, analysers=replace(merged.settings.analysers, **{key: AUTO}))
        merged = replace(merged, settings=settings, notices=(*merged.notices, told))
    return merged


def _policy(base: bytes | None, trusted: bytes | None, own: Document) -> PolicyOrigin:
    """Whose policy it is. Of an untrusted file only what tightens is used: that makes it no policy."""
    if base is not None:
        return PolicyOrigin.BASE
    if trusted is not None:
        return PolicyOrigin.WORKING_TREE
    return PolicyOrigin.USER if own.values else PolicyOrigin.BUILT_IN


def _with_stricter_sandbox(merged: Document, repository: Document) -> Document:
    """A repository that asks for a sandbox gets one, even if environment and flags ask for less."""
    order = [wanted.value for wanted in SANDBOX_ORDER]
    wanted, given = repository.values.get("sandbox"), merged.values.get("sandbox")
    if wanted not in order or given not in order or order.index(wanted) <= order.index(given):
        return merged
    path: KeyPath = ("sandbox",)
    return _over(merged, replace(repository, values={"sandbox": wanted}, places={path: repository.place_of(path)}))


def _read_user_file(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_DOCUMENT_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"The file cannot be read: {error.strerror}."
        problem = Problem(file=str(path), message=message, hint="Check its permissions.")
        raise DocumentError([problem]) from None


def _read_documents(*files: tuple[str, bytes | None]) -> list[Document]:
    """The files by label, an empty document for a missing one. Faults of one do not hide those of the next."""
    documents: list[Document] = []
    problems: list[Problem] = []
    for label, raw in files:
        try:
            documents.append(spelled_out(read_document(raw or b"", label)))
        except DocumentError as error:
            problems += error.problems
    if problems:
        raise DocumentError(problems)
    return documents


def _over(lower: Document, upper: Document) -> Document:
    return overlay(lower, upper, _TAGS)


def _own_settings(own: Document, theirs: Document) -> Settings:
    """The user's own settings, to compare with: all but agents and roles, which a repository may complete."""
    part = replace(own, values={key: value for key, value in own.values.items() if key not in ("agents", "roles")})
    if mismatches(part.values, Settings):
        _converted(_over(own, theirs))  # reports everything that is wrong, of both
    return _convert(part)


def _converted(merged: Document) -> Settings:
    settings = _convert(merged)
    _refuse(faults(settings), merged)
    return settings


def _convert(document: Document) -> Settings:
    _refuse(mismatches(document.values, Settings), document)
    return msgspec.convert(document.values, Settings, strict=True)


def _refuse(found: tuple[Violation, ...], document: Document) -> None:
    refuse(replace(document.problem(each), key=key_text(as_written(each.path))) for each in found)


def _origins(merged: Document, layers: Mapping[str, LayerName]) -> dict[KeyPath, Origin]:
    """The origin of every value that is not a table, by its key as it is written."""
    return {
        as_written(path): Origin(layer=layers.get(place.file, LayerName.FLAG), file=place.file, line=place.line)
        for path, place in merged.places.items()
        if not isinstance(_value(merged.values, path), dict)
    }


def _value(values: Mapping[str, Any], path: KeyPath) -> object:
    found: Any = values
    for part in path:
        found = found[part]
    return found


# Settings from environment variables and flags. Both apply to all agents at once: a model or time limit given here
# replaces what the files say of each agent.


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


VARIABLES: Mapping[str, tuple[KeyPath, Callable[[str], object]]] = {
    "BURNISH_PROTOCOL": (("protocol",), str),
    "BURNISH_SANDBOX": (("sandbox",), str),
    "BURNISH_ALLOW_ENVIRONMENT": (("allow_environment",), _words),
    "BURNISH_MODEL": (("model",), str),
    "BURNISH_TIMEOUT": (("timeouts", "agent"), _number),
    "BURNISH_COST_USD": (("limits", "cost_usd"), _number),
    "BURNISH_TOKENS": (("limits", "tokens"), _whole_number),
    "BURNISH_MINUTES": (("limits", "minutes"), _number),
    "BURNISH_RECORDS": (("records",), _truth),
}
"""Every variable that is a setting, the key that it sets, and how its text is read."""

_NOT_SETTINGS = frozenset(
    f"BURNISH_{name}"
    for name in (
        *("ATTEMPT", "BASE", "CONTRACT", "EFFECT", "FINDINGS", "FINDINGS_FILE", "HEAD", "OUTPUT", "REVIEWER", "ROLE"),
        *("ROUND", "RUN", "SCRATCH", "SESSION", "SUBJECT", "TERMINAL"),
    )
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


def _from_environment(environment: Mapping[str, str], below: Document) -> Document:
    """The variables that are set, over what is below. An empty one counts as not set."""
    given = [(name, *VARIABLES[name]) for name in VARIABLES if environment.get(name)]
    return _document([(path, read(environment[name]), name) for name, path, read in given], below)


def _from_flags(flags: Flags, below: Document) -> Document:
    given = [(path, getattr(flags, name), f"--{name.replace('_', '-')}") for name, path in _FLAGS.items()]
    return _document([each for each in given if each[1] is not None], below)


def _document(given: list[tuple[KeyPath, object, str]], below: Document) -> Document:
    values: dict[str, Any] = {}
    places: dict[KeyPath, SourcePlace] = {}
    agents = [name for name, table in table_at(below.values, "agents").items() if isinstance(table, dict)]
    for path, value, name in given:
        key = _OF_EACH_AGENT.get(path)
        of_agents: list[KeyPath] = [("agents", agent, key) for agent in agents] if key is not None else []
        for target in (path, *of_agents):
            table = values
            for part in target[:-1]:
                table = table.setdefault(str(part), {})
            table[str(target[-1])] = value
            places[target] = SourcePlace(file=name)
    return Document(file="", values=values, places=places)


def _misspelt(environment: Mapping[str, str]) -> list[str]:
    """A notice for each variable that looks like one of ours but is not."""
    known = {*VARIABLES, *_NOT_SETTINGS}
    unknown = sorted(name for name in environment if name.startswith("BURNISH_") and name not in known)
    questions = ((name, did_you_mean(name, VARIABLES, alike=0.8)) for name in unknown)
    return [f"{name} is not a setting. {question}" for name, question in questions if question]
