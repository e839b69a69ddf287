"""`burnish diagnose`: a bundle for a bug report, without code, prompts, answers, names or secrets.

Nothing is cut out of texts: a text is never taken in. What gets in is a number, a truth value, or a word from a closed
list of burnish's own. So there is nothing that a secret or a name could hide in.
"""

import platform
import re
import sys
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import cast, get_args

import msgspec

from burnish import __version__
from burnish.agents.panel.interface import ToolError
from burnish.agents.panel.programs import WHEELS, version
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import AnyEvent, Mode, Outcome, ValidationStatus
from burnish.core.findings import Severity
from burnish.core.reviews import FailureKind
from burnish.core.values import Value
from burnish.ledger.interface import StoredEvent
from burnish.protocols.loader import BUILT_IN
from burnish.runtime.journal import stream_of
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AUTO, Allowance, SandboxWanted, Unproven
from burnish.system import clock
from burnish.system.nofollow import create_file
from burnish.system.sandbox import choose
from burnish.usecases.check_setup import check_setup
from burnish.usecases.git_hooks import list_hooks
from burnish.usecases.list_agents import list_agents, resolve_local_settings
from burnish.usecases.runs import NoRunsError, Runs, open_runs
from burnish.workspace.git import Git

MOST_RUNS = 20
MOST_EVENTS = 2_000
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_NUMBERS = re.compile(r"\d+(?:\.\d+){0,3}")
_RUN = re.compile(r"\d{8}-\d{6}-[a-z0-9]{6}")
_ENUMS: tuple[type[Enum], ...] = (AgentKind, Allowance, SandboxWanted, Severity, Unproven)
_WORDS = frozenset({AUTO, "off", *BUILT_IN, *(str(each.value) for kind in _ENUMS for each in kind)})
"""What a setting may say in a bundle."""
_EFFECTS = frozenset({"review", "fix", "build", "validate", "seal", "session", "pause"})
_TAGS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(AnyEvent))


class DiagnoseError(BurnishError):
    kind = ErrorKind.USAGE


class Bundle(Value):
    path: Path
    parts: dict[str, str]
    """The files in it, with what each holds."""


_PARTS = {
    "about.json": "versions of burnish, Python, git, the system and the analysers; the sandbox; kinds of agents; hooks",
    "doctor.json": "for each part that 'burnish doctor' checks, whether it is good",
    "settings.json": "the settings by key: numbers, and words that burnish knows; other texts only as '<text>'",
    "runs.json": f"the last {MOST_RUNS} runs: events by kind and time, outcomes, kinds of failures, counts of findings",
}


def diagnose(folder: Path, environment: Mapping[str, str], output: str | None) -> Bundle:
    """Write a bundle to a file that does not exist yet."""
    made = {
        "about.json": _about(folder, environment),
        "doctor.json": _guarded(lambda: _doctor(folder, environment)),
        "settings.json": _guarded(lambda: _settings(folder, environment)),
        "runs.json": _guarded(lambda: _runs(folder)),
    }
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in made.items():
            data = msgspec.json.format(msgspec.json.encode(content), indent=1)
            archive.writestr(zipfile.ZipInfo(name, _FIXED_TIME), data, zipfile.ZIP_DEFLATED)
    path = folder / (output or f"burnish-diagnose-{int(clock.now())}.zip")
    try:
        create_file(path.parent.resolve(strict=True), path.name, stream.getvalue())
    except FileExistsError:
        raise DiagnoseError(f"'{path}' exists already.", hint="Name another file: --output FILE") from None
    except OSError as error:
        hint = "Name a file in a folder that exists: --output FILE"
        raise DiagnoseError(f"'{path}' cannot be written: {error.strerror}.", hint=hint) from None
    return Bundle(path=path.absolute(), parts=_PARTS)


def _guarded(make: Callable[[], object]) -> object:
    """A part, or the kind of the error that was in its way: what is broken is what a report is about."""
    try:
        return make()
    except NoRunsError:
        return []
    except BurnishError as error:
        return {"error": type(error).__name__, "kind": error.kind.value}


def _about(folder: Path, environment: Mapping[str, str]) -> dict[str, object]:
    return {
        "burnish": __version__,
        "python": ".".join(map(str, sys.version_info[:3])),
        "system": platform.system(),
        "release": _version_in(platform.release()),
        "machine": platform.machine(),
        "git": _guarded(lambda: _version_in(Git(folder).text("version"))),
        "sandbox": _guarded(lambda: choose(SandboxWanted.AUTO.value).kind.value),
        "analysers": dict(_analysers()),
        "agents": _guarded(lambda: _agents(folder, environment)),
        "hooks": _guarded(lambda: {each.name.value: each.state.value for each in list_hooks(folder)}),
    }


def _version_in(text: str) -> str:
    """The first version number in a text, and nothing else: a kernel's release may hold the name of its builder."""
    found = _NUMBERS.search(text)
    return found[0] if found else "unknown"


def _analysers() -> Iterator[tuple[str, str]]:
    for tool in WHEELS:
        with suppress(ToolError):
            yield tool.value, _version_in(version(tool))


def _agents(folder: Path, environment: Mapping[str, str]) -> list[dict[str, object]]:
    local = resolve_local_settings(folder, environment)
    return [
        {
            "kind": row.kind.value,
            "readiness": row.readiness.value,
            "configured": row.configured,
            "used": bool(row.roles),
        }
        for row in list_agents(local, environment)
    ]


def _doctor(folder: Path, environment: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"part": each.part, "health": each.health.value} for each in check_setup(folder, environment)]


def _settings(folder: Path, environment: Mapping[str, str]) -> dict[str, object]:
    merged = resolve_local_settings(folder, environment).merged
    return {"policy": merged.policy.value, "settings": _reduced(merged.settings)}


def _reduced(value: object) -> object:
    """A value without what its user wrote: names of tables become numbers, texts a mark."""
    if isinstance(value, msgspec.Struct):
        fields = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        return {key: _reduced(getattr(value, name)) for key, name in fields}
    if isinstance(value, dict):
        values = cast("dict[object, object]", value).values()
        return {str(at): _reduced(each) for at, each in enumerate(values, start=1)}
    if isinstance(value, tuple | list | frozenset):
        return [_reduced(each) for each in cast("tuple[object, ...]", value)]
    plain = value.value if isinstance(value, Enum) else value
    if plain is None or isinstance(plain, bool | int | float):
        return plain
    return plain if plain in _WORDS else "<text>" if plain else ""


def _runs(folder: Path) -> list[dict[str, object]]:
    with open_runs(folder) as runs:
        return [_run(runs, name) for name in runs.names()[:MOST_RUNS]]


def _run(runs: Runs, name: str) -> dict[str, object]:
    shown = name if _RUN.fullmatch(name) else "<text>"
    try:
        events = runs.ledger.read(stream_of(name))
    except BurnishError as error:
        return {"run": shown, "error": type(error).__name__, "kind": error.kind.value}
    first = events[0].at if events else 0.0
    listed = [_event(event, first) for event in events[:MOST_EVENTS]]
    return {
        "run": shown,
        "readable": _is_readable(runs, name),
        "driven": runs.driver(name) is not None,
        "number": len(events),
        "events": listed,
    }


def _is_readable(runs: Runs, name: str) -> bool:
    with suppress(BurnishError):
        runs.load(name)
        return True
    return False


class _Finding(msgspec.Struct, frozen=True):
    severity: str = ""


class _Answer(msgspec.Struct, frozen=True):
    clean: bool | None = None
    findings: tuple[_Finding, ...] = ()


class _Failure(msgspec.Struct, frozen=True):
    kind: str = ""


class _Protocol(msgspec.Struct, frozen=True):
    name: str = ""


class _Body(msgspec.Struct, frozen=True):
    """What is looked at of an event."""

    type: str = ""
    effect: str = ""
    mode: str = ""
    protocol: _Protocol = _Protocol()
    answer: _Answer | None = None
    failure: _Failure = _Failure()
    status: str = ""
    outcome: str = ""
    rules: int | None = None


def _event(event: StoredEvent, first: float) -> dict[str, object]:
    try:
        body = msgspec.json.decode(event.body, type=_Body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {"type": "unreadable", "seconds": round(event.at - first, 3)}
    told: dict[str, object] = {
        "type": _known(body.type, _TAGS),
        "seconds": round(event.at - first, 3),
        "effect": _effect(body.effect),
        "mode": _one_of(body.mode, Mode),
        "protocol": _known(body.protocol.name, BUILT_IN),
        "status": _one_of(body.status, ValidationStatus),
        "failure": _one_of(body.failure.kind, FailureKind),
        "outcome": _one_of(body.outcome, Outcome),
        "rules": body.rules,
    }
    if body.answer is not None:
        severities = [finding.severity for finding in body.answer.findings]
        told["clean"] = body.answer.clean
        told["findings"] = {each.value: severities.count(each.value) for each in Severity if each.value in severities}
    return {key: value for key, value in told.items() if value not in ("", None)}


def _effect(effect: str) -> str:
    """`review:2:critic:1` → `review:2:*:1`: users name their reviewers."""
    kind, *parts = effect.split(":")
    shown = (part if part.isascii() and part.isdigit() and len(part) < 4 else "*" for part in parts)
    return ":".join((_known(kind, _EFFECTS), *shown)) if effect else ""


def _one_of(word: str, kind: type[Enum]) -> str:
    return _known(word, [str(each.value) for each in kind])


def _known(word: str, words: Collection[str]) -> str:
    return word if not word or word in words else "<text>"
