"""From files, environment and flags to one value, with the origin of each setting.

The repository's file is read from the base of the change, so that a change cannot weaken its own gate. Where the base
has none, the working tree's counts in full only if the caller says that the user trusts it. Where files are read from
is the caller's business: this module is given functions, and knows nothing of git.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, cast

import msgspec

from burnish.config.errors import ConfigError
from burnish.config.overrides import Flags, environment_layer, flag_layer, misspelt
from burnish.config.permissions import SANDBOX_ORDER, Sensitive, keep_users_own, withhold
from burnish.config.rules import faults
from burnish.config.settings import AUTO, OFF, Settings
from burnish.config.shorthand import as_written, spelled_out
from burnish.core.values import Value, replace
from burnish.protocols.checking import Mismatch, mismatches
from burnish.protocols.documents import MAX_DOCUMENT_BYTES, key_text, nearest, read_document
from burnish.protocols.errors import DocumentError, Problem
from burnish.protocols.layers import Layer, layer, overlay
from burnish.protocols.positions import KeyPath

REPOSITORY_FILE = "burnish.toml"
ReadFile = Callable[[str], bytes | None]
"""Gives the bytes of a file by its path from the root of the repository, or None where there is none."""


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
        if not self.file:
            return self.layer.value
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Sources(Value):
    """Everything that settings are made of."""

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
    """The settings that hold, and where each of them was made."""

    settings: Settings
    origins: Mapping[KeyPath, Origin]
    policy: PolicyOrigin
    notices: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    """What is said of settings of the repository that are its user's alone, and are not used."""
    sensitive: tuple[Sensitive, ...] = ()
    """What the working tree's file sets, and what is used only if the user trusts that file."""

    def origin(self, *path: str | int) -> Origin:
        """The origin of a setting, by its key as one writes it; what nobody set is a default."""
        return nearest(self.origins, path) or Origin(layer=LayerName.DEFAULT)

    @property
    def origin_texts(self) -> dict[str, str]:
        """The origin of every setting that somebody made, as text: `limits.cost_usd` → `main:burnish.toml:7`."""
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


def load(sources: Sources) -> Merged:
    """Merge all layers. Raises `ConfigError` with every fault that was found."""
    found = _repository_file(sources)
    own, theirs = _read_layers(
        (str(sources.user_file), _read_user_file(sources.user_file)), (_label(sources, found.policy), found.text)
    )
    from_environment = environment_layer(sources.environment, own)
    user = _own_settings(_over(own, from_environment), theirs)
    allowed, refusals = keep_users_own(theirs, own, user, _users_place(sources))
    harmless, sensitive = withhold(allowed, user) if found.policy is PolicyOrigin.WORKING_TREE else (allowed, ())
    if not sources.trusted:
        allowed = harmless
    merged = _over(own, allowed)
    from_environment = environment_layer(sources.environment, merged)
    merged = _over(merged, from_environment)
    merged = _over(merged, flag_layer(sources.flags, merged))
    merged = _with_stricter_sandbox(merged, allowed)
    names = {own.file: LayerName.USER, theirs.file: LayerName.REPOSITORY}
    names.update({place.file: LayerName.ENVIRONMENT for place in from_environment.places.values()})
    whole = Merged(
        settings=_converted(merged),
        origins=_origins(merged, names),
        policy=_governing(sources, found.policy, own),
        notices=(*found.notices, *misspelt(sources.environment)),
        refusals=refusals,
        sensitive=sensitive,
    )
    return _without_the_users_off(whole)


def _without_the_users_off(merged: Merged) -> Merged:
    """Only the project can do without its tests: the person who starts a review cannot."""
    analysers = merged.settings.analysers
    origin = merged.origin("analysers", "tests")
    if analysers.tests != OFF or origin.layer is LayerName.REPOSITORY:
        return merged
    told = f'{origin.text}: analysers.tests = "off" counts only in the project\'s {REPOSITORY_FILE}; the tests are run.'
    settings = replace(merged.settings, analysers=replace(analysers, tests=AUTO))
    return replace(merged, settings=settings, notices=(*merged.notices, told))


def load_alone(raw: bytes | None, label: str) -> Settings:
    """What one file says by itself, over the defaults. It may name agents that only its users define."""
    (layer_of_file,) = _read_layers((label, raw))
    agents = {name: table for name, table in _table(layer_of_file.values, "agents").items() if "kind" in table}
    complete = replace(layer_of_file, values={**layer_of_file.values, "agents": agents})
    _refuse(mismatches(complete.values, Settings), complete)
    return msgspec.convert(complete.values, Settings, strict=True)


class _RepositoryFile(Value):
    policy: PolicyOrigin
    text: bytes | None = None
    notices: tuple[str, ...] = ()


def _repository_file(sources: Sources) -> _RepositoryFile:
    base, working = sources.base_file(REPOSITORY_FILE), sources.working_file(REPOSITORY_FILE)
    if base is not None:
        differs = working is not None and working != base
        told = f"{REPOSITORY_FILE} is read from {sources.base_name}; what the change says in it does not count yet."
        return _RepositoryFile(policy=PolicyOrigin.BASE, text=base, notices=(told,) if differs else ())
    if working is not None:
        return _RepositoryFile(policy=PolicyOrigin.WORKING_TREE, text=working)
    return _RepositoryFile(policy=PolicyOrigin.BUILT_IN)


def _governing(sources: Sources, policy: PolicyOrigin, own: Layer) -> PolicyOrigin:
    """Whose policy it is. Of an untrusted file only what tightens is used: that makes it no policy."""
    if policy is PolicyOrigin.BASE or (policy is PolicyOrigin.WORKING_TREE and sources.trusted):
        return policy
    return PolicyOrigin.USER if own.values else PolicyOrigin.BUILT_IN


def _users_place(sources: Sources) -> str:
    return str(sources.user_file) if sources.user_file is not None else "your own configuration"


def _with_stricter_sandbox(merged: Layer, repository: Layer) -> Layer:
    """Whatever environment and flags say, a repository that asks for a sandbox gets one."""
    wanted = repository.values.get("sandbox")
    if wanted not in _SANDBOXES or merged.values.get("sandbox") not in _SANDBOXES:
        return merged
    if _SANDBOXES.index(wanted) <= _SANDBOXES.index(merged.values["sandbox"]):
        return merged
    path: KeyPath = ("sandbox",)
    return _over(merged, replace(repository, values={"sandbox": wanted}, places={path: repository.place_of(path)}))


_SANDBOXES = tuple(wanted.value for wanted in SANDBOX_ORDER)


def _label(sources: Sources, policy: PolicyOrigin) -> str:
    return f"{sources.base_name}:{REPOSITORY_FILE}" if policy is PolicyOrigin.BASE else REPOSITORY_FILE


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
        problem = Problem(file=str(path), message=message, hint="Look at its permissions.")
        raise ConfigError([problem]) from None


def _read_layers(*files: tuple[str, bytes | None]) -> list[Layer]:
    """The files by label, an empty layer for one that is not there. Faults of one do not hide those of the next."""
    layers: list[Layer] = []
    problems: list[Problem] = []
    for label, raw in files:
        try:
            layers.append(spelled_out(layer(read_document(raw or b"", label))))
        except DocumentError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return layers


def _over(lower: Layer, upper: Layer) -> Layer:
    return overlay(lower, upper, _tags(upper))


def _tags(upper: Layer) -> dict[KeyPath, str]:
    """An agent of another kind, and a choice of another agent, replace the whole table below."""
    tags: dict[KeyPath, str] = {("agents", name): "kind" for name in _table(upper.values, "agents")}
    for name, value in _table(upper.values, "roles").items():
        tags["roles", name] = "agent"
        if name == "reviewers":
            tags.update({("roles", name, reviewer): "agent" for reviewer in _table({name: value}, name)})
        elif name == "complexity":
            for level, table in _table({name: value}, name).items():
                tags.update({("roles", name, level, role): "agent" for role in _table({level: table}, level)})
    return tags


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = values.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _converted(merged: Layer) -> Settings:
    _refuse(mismatches(merged.values, Settings), merged)
    settings = msgspec.convert(merged.values, Settings, strict=True)
    _refuse(faults(settings), merged)
    return settings


def _own_settings(own: Layer, theirs: Layer) -> Settings:
    """The user's own settings, to compare with: all but agents and roles, which a repository may complete."""
    part = replace(own, values={key: value for key, value in own.values.items() if key not in ("agents", "roles")})
    found = mismatches(part.values, Settings)
    if found:
        _converted(_over(own, theirs))  # reports everything that is wrong, of both
        _refuse(found, own)
    return msgspec.convert(part.values, Settings, strict=True)


def _refuse(found: tuple[Mismatch, ...], merged: Layer) -> None:
    if found:
        problems = [_problem(mismatch, merged) for mismatch in found]
        raise ConfigError(sorted(problems, key=lambda problem: (problem.file, problem.line or 0)))


def _problem(mismatch: Mismatch, merged: Layer) -> Problem:
    place = merged.place_of(mismatch.path)
    key = key_text(as_written(mismatch.path))
    return Problem(file=place.file, line=place.line, key=key, message=mismatch.message, hint=mismatch.hint)


def _origins(merged: Layer, names: Mapping[str, LayerName]) -> dict[KeyPath, Origin]:
    """The origin of every value that is no table, by its key as it is written."""
    origins: dict[KeyPath, Origin] = {}
    for path, place in merged.places.items():
        if not isinstance(_value(merged.values, path), dict):
            name = names.get(place.file, LayerName.FLAG)
            origins[as_written(path)] = Origin(layer=name, file=place.file, line=place.line)
    return origins


def _value(values: Mapping[str, Any], path: KeyPath) -> object:
    found: Any = values
    for part in path:
        found = found[part]
    return found
