"""`burnish plugin install|uninstall|path`: burnish inside of a client's session, by the client's own hooks.

For the user, Claude Code gets a marketplace of plugins, kept outside of every repository. For a project, and for Codex,
hooks are added to the client's settings. Everything is planned first and told; what is not burnish's stays as it is.
"""

import hashlib
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path
from typing import Any

import burnish
from burnish.agents.registry import client_of
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.client_hooks import ClientSettingsError, HookGroups, add_hooks, has_hooks, remove_hooks
from burnish.settings.types import AgentSettings
from burnish.system.files import write_atomically
from burnish.system.folders import state_folder
from burnish.system.process import Command, How, run_now
from burnish.usecases.plan_run import refuse_inside
from burnish.workspace.folders import remove_folder
from burnish.workspace.repository import Repository

SCRIPT = "burnish-hook.sh"
"""What every hook of ours calls, and what they are known by."""
MARKETPLACE = "burnish"
_MARK = "# Made by `burnish plugin install`: "
_SECONDS = 60.0
_OWN_FOLDERS = ("burnish", "commands", "agents", "hooks", ".claude", ".codex")
"""Folders that go where nothing is left in them."""
_HOOK_SECONDS = {"guard": 10, "gate": 120}


class PluginError(BurnishError):
    kind = ErrorKind.USAGE


class PluginName(Enum):
    """What can be installed. The first is the loop; the others are off unless asked for."""

    REVIEW = "burnish"
    GUARD = "burnish-guard"
    GATE = "burnish-gate"

    @property
    def word(self) -> str:
        return self.value.rpartition("-")[2]


class HookClient(Enum):
    CLAUDE = "claude"
    CODEX = "codex"


class PluginRequest(Value):
    client: HookClient = HookClient.CLAUDE
    project: bool = False
    """Whether it is for this project only, in its own settings."""
    guard: bool = False
    gate: bool = False

    @property
    def names(self) -> tuple[PluginName, ...]:
        asked = {PluginName.GUARD: self.guard, PluginName.GATE: self.gate}
        loop = (PluginName.REVIEW,) if self.client is HookClient.CLAUDE else ()
        return (*loop, *(name for name, is_asked in asked.items() if is_asked))


class PlannedFile(Value):
    path: Path
    content: bytes | None
    """None where the file goes."""
    mode: int = 0o644


class PluginPlan(Value):
    """What is written and removed, and what the client is asked to do."""

    files: tuple[PlannedFile, ...] = ()
    own: Path | None = None
    """The folder of burnish's own that all files are in, where that is so."""
    folders: tuple[Path, ...] = ()
    """Folders of burnish's own that go."""
    calls: tuple[tuple[str, ...], ...] = ()
    """Commands of the client."""
    kept: tuple[str, ...] = ()
    """What stays, though it was installed, and why."""
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.files or self.folders or self.calls)


# --- planning


def plan_installation(folder: Path, request: PluginRequest, environment: Mapping[str, str]) -> PluginPlan:
    """Look, and change nothing. Raises a `BurnishError` where it cannot be installed."""
    refuse_inside(environment, "installs nothing")
    if not request.names:
        raise PluginError(
            "Codex has no plugin of burnish for the loop: name --guard, --gate or both.",
            hint="To review from Codex, add the MCP server: codex mcp add burnish -- burnish mcp",
        )
    if request.client is HookClient.CLAUDE and not request.project:
        return _user_plan(request, environment)
    _refuse_twice(request, environment)
    root = _settings_root(folder, request, environment)
    script = root / ("hooks" if request.client is HookClient.CLAUDE else "") / SCRIPT
    files = {script: (_marked(_script()), 0o755)}
    if request.client is HookClient.CLAUDE:
        files |= {root / name: (_marked(text), 0o644) for name, text in _pages().items()}
    settings = root / _settings_name(request)
    groups = _groups(request.names, _call(script, request))
    changed = [_own_file(path, text, mode) for path, (text, mode) in files.items()]
    changed.append(_edited(settings, lambda text: add_hooks(text, groups, SCRIPT)))
    return PluginPlan(files=tuple(filter(None, changed)), notes=tuple(_notes(request, settings)))


def plan_removal(folder: Path, request: PluginRequest, environment: Mapping[str, str]) -> PluginPlan:
    refuse_inside(environment, "uninstalls nothing")
    if request.client is HookClient.CLAUDE and not request.project:
        return _user_removal(environment)
    root = _settings_root(folder, request, environment)
    settings = root / _settings_name(request)
    text = _read(settings)
    removed: list[PlannedFile | None] = []
    kept: list[str] = []
    if _has_hooks(settings, text):
        removed.append(_edited(settings, lambda before: remove_hooks(before, SCRIPT)))
    if removed and SCRIPT in (_decoded(removed[-1]) if removed[-1] else ""):
        kept.append(f"{settings} (a hook of burnish stands in one group with a hook of yours: remove it there)")
    for path in _own_places(root):
        if _is_unedited(_read(path) or ""):
            removed.append(PlannedFile(path=path, content=None))
        elif _is_ours(_read(path) or ""):
            kept.append(f"{path} (it was edited after burnish had made it)")
    return PluginPlan(files=tuple(filter(None, removed)), kept=tuple(kept))


def _refuse_twice(request: PluginRequest, environment: Mapping[str, str]) -> None:
    """With a plugin of the user and settings of the project, each hook would run twice."""
    home = environment.get("CLAUDE_CONFIG_DIR") or f"{environment.get('HOME', '')}/.claude"
    enabled: Any = {}
    with suppress(ValueError, AttributeError):
        enabled = json.loads(_read(Path(home) / "settings.json") or "{}").get("enabledPlugins")
    if request.client is HookClient.CLAUDE and f"{PluginName.REVIEW.value}@{MARKETPLACE}" in (enabled or {}):
        raise PluginError(
            "You have the plugin in all of your sessions already. With both, each hook would run twice.",
            hint="Remove that one first: burnish plugin uninstall",
        )


def _user_plan(request: PluginRequest, environment: Mapping[str, str]) -> PluginPlan:
    root = plugin_root(environment)
    program = _claude(environment)
    if program is None:
        raise PluginError(
            "Claude Code is not installed here: there is no `claude` on the PATH.",
            hint="Install it, or add the plugin to this project alone: burnish plugin install --project",
        )
    calls = [] if _marketplaces(program, environment) == [str(root)] else [("marketplace", "add", str(root))]
    known = _listed(program, environment, "list", "--json")
    installed = [plugin.get("id") for plugin in known if plugin.get("enabled")]
    wanted = [f"{name.value}@{MARKETPLACE}" for name in request.names]
    calls += [("install", name) for name in wanted if name not in installed]
    return PluginPlan(
        files=tuple(_rendered(root)),
        own=root,
        calls=tuple((program, "plugin", *words) for words in calls),
        notes=("Sessions of Claude Code that you start from now on have it.",),
    )


def _user_removal(environment: Mapping[str, str]) -> PluginPlan:
    root, program = plugin_root(environment), _claude(environment)
    places = [] if program is None else _marketplaces(program, environment)
    foreign = [place for place in places if Path(place).parent != root.parent]
    calls = ((program, "plugin", "marketplace", "remove", MARKETPLACE),) if program and places and not foreign else ()
    kept = [f"the marketplace '{MARKETPLACE}' at {place}, which burnish has not made" for place in foreign]
    if program is None and root.exists():
        kept.append("what Claude Code knows of it: there is no `claude` on the PATH to ask")
    return PluginPlan(folders=(root,) if root.exists() else (), calls=calls, kept=tuple(kept))


def _marketplaces(program: str, environment: Mapping[str, str]) -> list[str]:
    """Where the client has a marketplace of our name."""
    known = _listed(program, environment, "marketplace", "list", "--json")
    return [str(entry.get("path", "")) for entry in known if entry.get("name") == MARKETPLACE]


def _settings_root(folder: Path, request: PluginRequest, environment: Mapping[str, str]) -> Path:
    """The folder of the client's settings: of the project, or of the user."""
    if request.project:
        repository = Repository.discover(folder)
        if repository.root == repository.common_dir:
            raise PluginError("This is a bare repository: it has no settings of a client.", hint="Use a checkout.")
        return repository.root / f".{request.client.value}"
    home = environment.get("CODEX_HOME") or (f"{environment['HOME']}/.codex" if environment.get("HOME") else "")
    if not home.startswith("/"):
        raise PluginError("burnish cannot tell where Codex keeps its settings.", hint="Set HOME or CODEX_HOME.")
    return Path(home)


def _settings_name(request: PluginRequest) -> str:
    return "settings.json" if request.client is HookClient.CLAUDE else "hooks.json"


def _notes(request: PluginRequest, settings: Path) -> Iterator[str]:
    if request.project:
        yield "They are in your working tree: commit them apart from your change, or a review looks at them, too."
        yield "Where burnish is elsewhere, they use the `burnish` on the PATH; without one, they do nothing."
    if request.client is HookClient.CODEX:
        yield f"Codex skips a hook until you trust it: start codex here, type /hooks, and review those of {settings}."
    elif request.project:
        yield "Claude Code reads them when a session starts in this project."


# --- what is installed


def plugin_root(environment: Mapping[str, str]) -> Path:
    """Where the plugins of this installation of burnish are, with its own paths in them."""
    state = state_folder(environment)
    if state is None:
        raise PluginError("burnish cannot tell where to put the plugin.", hint="Set HOME or XDG_STATE_HOME.")
    key = hashlib.sha256(f"{sys.executable}\0{_package()}".encode()).hexdigest()[:12]
    return state / "plugin" / key


def plugin_path(name: PluginName, environment: Mapping[str, str]) -> Path:
    """The folder of a plugin, for `claude --plugin-dir`. It is made, or brought up to date, where that is needed."""
    root = plugin_root(environment)
    apply_plan(PluginPlan(files=tuple(_rendered(root))), environment)
    return root / name.value


def _rendered(root: Path) -> Iterator[PlannedFile]:
    """The files of the marketplace that are not there yet, or differ."""
    content = resources.files("burnish.plugin")
    listing = content.joinpath(".claude-plugin/marketplace.json").read_text(encoding="utf-8")
    texts: dict[str, str] = {".claude-plugin/marketplace.json": listing}
    for entry in json.loads(listing)["plugins"]:
        name: str = entry["name"]
        about = {key: value for key, value in entry.items() if key != "source"}
        about |= {"version": burnish.__version__, "author": json.loads(listing)["owner"]}
        hooks = _groups((PluginName(name),), '"${CLAUDE_PLUGIN_ROOT}"/hooks/' + SCRIPT)
        texts[f"{name}/.claude-plugin/plugin.json"] = _json(about)
        texts[f"{name}/hooks/hooks.json"] = _json({"hooks": hooks})
        texts[f"{name}/hooks/{SCRIPT}"] = _marked(_script())
    for folder in ("agents", "commands"):
        for page in _sorted_pages(content.joinpath(folder)):
            texts[f"{PluginName.REVIEW.value}/{folder}/{page.name}"] = page.read_text(encoding="utf-8")
    for name, text in texts.items():
        if (root / name).is_symlink() or _read(root / name) != text:
            mode = 0o755 if name.endswith(SCRIPT) else 0o644
            yield PlannedFile(path=root / name, content=text.encode(), mode=mode)


def _pages() -> dict[str, str]:
    """The subagents and commands, by where a project has them."""
    content = resources.files("burnish.plugin")
    pages: dict[str, str] = {}
    for page in _sorted_pages(content.joinpath("agents")):
        text = page.read_text(encoding="utf-8")
        # Outside of a plugin, the client takes no name with a colon.
        renamed = re.sub(r"^name: *(\S+)", r"name: burnish-\1", text, count=1, flags=re.MULTILINE)
        pages[f"agents/burnish-{page.name}"] = renamed
    for page in _sorted_pages(content.joinpath("commands")):
        pages[f"commands/burnish/{page.name}"] = page.read_text(encoding="utf-8")
    return pages


def _sorted_pages(folder: Traversable) -> list[Traversable]:
    return sorted((page for page in folder.iterdir() if page.name.endswith(".md")), key=lambda page: page.name)


def _groups(names: tuple[PluginName, ...], call: str) -> HookGroups:
    """The hooks of some plugins, with `call` as the command that each runs."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for name in names:
        if name is PluginName.REVIEW:
            shipped = json.loads(resources.files("burnish.plugin").joinpath("hooks/hooks.json").read_text("utf-8"))
            for event, listed in shipped["hooks"].items():
                groups.setdefault(event, []).extend(_called(group, call) for group in listed)
            continue
        hook = {"type": "command", "command": f"{call} {name.word}", "timeout": _HOOK_SECONDS[name.word]}
        if name is PluginName.GUARD:
            groups.setdefault("PreToolUse", []).append({"matcher": "Bash", "hooks": [hook]})
        else:
            groups.setdefault("Stop", []).append({"hooks": [hook]})
    return groups


def _called(group: dict[str, Any], call: str) -> dict[str, Any]:
    """A group of the shipped file, whose commands begin with `burnish plugin`, with `call` in their place."""
    hooks = [{**hook, "command": call + hook["command"].removeprefix("burnish plugin")} for hook in group["hooks"]]
    return {**group, "hooks": hooks}


def _call(script: Path, request: PluginRequest) -> str:
    """How the settings name the script: by a path that is right in every checkout of a project."""
    if not request.project:
        return shlex.quote(str(script))
    if request.client is HookClient.CLAUDE:
        return f'"$CLAUDE_PROJECT_DIR"/.claude/hooks/{SCRIPT}'
    return f'"$(git rev-parse --show-toplevel)"/.codex/{SCRIPT}'


def _script() -> str:
    values = {"python": sys.executable, "package": _package()}
    lines = "".join(f"{key}={shlex.quote(value)}\n" for key, value in values.items())
    return "#!/bin/sh\n" + lines + resources.files("burnish.plugin").joinpath(SCRIPT).read_text(encoding="utf-8")


def _package() -> str:
    return str(Path(burnish.__file__).parent)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


# --- files of our own, and those of the user


def _marked(text: str) -> str:
    """The text with a line that says whose it is, and by which a later edit is seen."""
    first, rest = text.split("\n", 1)  # a shebang, or the beginning of the front matter
    return f"{first}\n{_MARK}{_digest(text)}\n{rest}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()[:16]


def _is_ours(text: str) -> bool:
    return any(line.startswith(_MARK) for line in text.splitlines()[:3])


def _is_unedited(text: str) -> bool:
    first, _, rest = text.partition("\n")
    line, _, body = rest.partition("\n")
    return line.startswith(_MARK) and line.removeprefix(_MARK) == _digest(f"{first}\n{body}")


def _own_file(path: Path, text: str, mode: int) -> PlannedFile | None:
    """One of our own files. Raises `PluginError` where another one has its name."""
    there = _read(path)
    if there == text and os.access(path, os.X_OK if mode & 0o100 else os.R_OK):
        return None
    if there is not None and not _is_unedited(there):
        was = "was edited after burnish had made it" if _is_ours(there) else "is not burnish's"
        raise PluginError(f"{path} is there, and {was}. Nothing was written.", hint="Move it away, then try again.")
    return PlannedFile(path=path, content=text.encode(), mode=mode)


def project_scripts(root: Path) -> list[Path]:
    """What a project has of the plugin, told by the script that its hooks call."""
    places = (root / ".claude" / "hooks" / SCRIPT, root / ".codex" / SCRIPT)
    return [place for place in places if os.path.lexists(place)]


def _own_places(root: Path) -> list[Path]:
    """Where files of ours may be."""
    patterns = (SCRIPT, f"hooks/{SCRIPT}", "agents/burnish-*.md", "commands/burnish/*.md")
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def _has_hooks(path: Path, text: str | None) -> bool:
    try:
        return text is not None and has_hooks(text, SCRIPT)
    except ClientSettingsError as error:
        raise _unclear(path, error) from None


def _edited(path: Path, edit: Callable[[str], str]) -> PlannedFile | None:
    """The settings of a client after an edit; None where that changes nothing."""
    before = _read(path)
    try:
        after = edit(before or "")
    except ClientSettingsError as error:
        raise _unclear(path, error) from None
    if after == (before or ""):
        return None
    mode = path.stat().st_mode & 0o777 if before is not None else 0o644
    return PlannedFile(path=path, content=after.encode(errors="surrogateescape") if after else None, mode=mode)


def _unclear(path: Path, error: ClientSettingsError) -> PluginError:
    return PluginError(f"burnish does not touch {path}: {error.message}", hint=error.hint)


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(path, error) from None


def _decoded(planned: PlannedFile) -> str:
    return (planned.content or b"").decode("utf-8", errors="replace")


# --- doing it


def apply_plan(planned: PluginPlan, environment: Mapping[str, str]) -> None:
    """Do what was planned. The client is asked last: by then everything that it looks for is there."""
    for file in planned.files:
        _write(file)
    for call in planned.calls:
        _ask(call, environment)
    for folder in planned.folders:
        remove_folder(folder)
        with suppress(OSError):  # another installation of burnish has its plugins there
            folder.parent.rmdir()


def _write(file: PlannedFile) -> None:
    path = file.path.resolve()  # settings may be a link to where a person keeps them
    try:
        if file.content is None:
            path.unlink(missing_ok=True)
            for parent in takewhile(lambda each: each.name in _OWN_FOLDERS, file.path.parents):
                with suppress(OSError):  # it holds something else
                    parent.rmdir()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, file.content, file.mode)
    except OSError as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: OSError) -> PluginError:
    return PluginError(f"{path} cannot be used: {error.strerror}.", hint="Check its owner and its permissions.")


def _claude(environment: Mapping[str, str]) -> str | None:
    client = client_of(AgentKind.CLAUDE)
    return None if client is None else client.program(AgentSettings(kind=AgentKind.CLAUDE), environment)


def _ask(call: tuple[str, ...], environment: Mapping[str, str]) -> bytes:
    """Have the client do something. Raises `PluginError` with its own words where it fails."""
    done = run_now(Command(argv=call, folder="/", environment=dict(environment)), seconds=_SECONDS)
    if done.how is How.EXITED and done.code == 0:
        return done.stdout
    said = " ".join(done.tail(400).split()) or done.message or "it did not say why"
    raise PluginError(
        f"`{shlex.join(('claude', *call[1:]))}` failed: {said}",
        hint="Try it yourself. Or add the plugin to this project alone: burnish plugin install --project",
    )


def _listed(program: str, environment: Mapping[str, str], *words: str) -> list[dict[str, Any]]:
    try:
        return json.loads(_ask((program, "plugin", *words), environment))
    except ValueError:
        raise PluginError(
            f"`claude plugin {' '.join(words)}` gave no JSON.", hint="Update Claude Code, then try again."
        ) from None
