"""Where a client and its login are: on the PATH, inside a Python package that brings it, in the user's home."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from burnish.agents.clients.specification import Specification
from burnish.agents.clients.variables import VARIABLES
from burnish.agents.errors import AgentError
from burnish.agents.interface import Needs
from burnish.settings.types import AgentSettings
from burnish.system.process_start import find_program

_MOVED = {
    ".claude": ("CLAUDE_CONFIG_DIR", ""),
    ".codex": ("CODEX_HOME", ""),
    ".gemini": ("GEMINI_CLI_HOME", ".gemini"),
    ".local/share/opencode": ("XDG_DATA_HOME", "opencode"),
    ".config/opencode": ("XDG_CONFIG_HOME", "opencode"),
}
"""Folders of the home with logins in them; the variables by which users move them, and where below these they are."""
_MANAGERS = {"VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise"}
"""Folders in which the shims of version managers look for the real programs, if these variables name no others."""


def program(spec: Specification, settings: AgentSettings, environment: Mapping[str, str]) -> str | None:
    """The client's program: as the settings say, else on the PATH, else inside a package of this environment."""
    if settings.relative_parts:
        # The working directory is the change itself: it could bring its own client.
        raise AgentError(
            f"The command of an agent of kind '{spec.kind.value}' names a file of the repository.",
            hint="Give the whole path of the client, or its name on the PATH.",
        )
    wanted = settings.command[0] if settings.command else spec.name
    # From the root: a relative entry of the PATH never leads into the change.
    found = find_program(wanted, "/", {"PATH": environment.get("PATH", "")})
    if found is not None:
        return str(found)
    return None if settings.command else _bundled(*spec.bundled)


def _bundled(package: str, inside: str) -> str | None:
    found = find_spec(package) if package else None
    folders = found.submodule_search_locations if found is not None else None
    files = (Path(folder) / inside for folder in folders or ())
    return next((str(file) for file in files if file.is_file()), None)


def needs(spec: Specification, environment: Mapping[str, str]) -> Needs:
    """The variables that are set, else the files of a login."""
    variables = VARIABLES[spec.kind]
    names = tuple(name for name in variables.names if environment.get(name))
    if any(environment.get(name) for name in variables.keys):
        return Needs(variables=names, logged_in=True)
    named = ((_original(path, environment), place) for path, place in spec.login)
    files = tuple((str(original), place) for original, place in named if original is not None and original.is_file())
    if files:
        return Needs(variables=names, files=files, logged_in=True)
    keyring = sys.platform == "darwin"  # there, clients keep their login where only they can look
    hint = f"Run `{spec.login_command}`, or set {variables.keys[0]}."
    return Needs(variables=names, logged_in=None if keyring else False, hint=hint)


def _original(path: str, environment: Mapping[str, str]) -> Path | None:
    """Where a file of a login is: below the home, or where the user has moved its folder to."""
    for folder in _MOVED:
        moved = _moved_to(folder, environment)
        if moved is not None and path.startswith(f"{folder}/"):
            return moved / path.removeprefix(f"{folder}/")
    home = environment.get("HOME", "")
    return Path(home) / path if home.startswith("/") else None


def _moved_to(folder: str, environment: Mapping[str, str]) -> Path | None:
    variable, below = _MOVED[folder]
    place = environment.get(variable, "")
    return Path(place) / below if place.startswith("/") else None


def moved_logins(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The folders with logins that are not where everybody has them; a sandbox must hide them from every agent."""
    places = (_moved_to(folder, environment) for folder in _MOVED)
    return tuple(str(place) for place in places if place is not None)


def manager_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """What a client that was installed by a version manager needs when its HOME is not the user's."""
    home = Path(environment.get("HOME", ""))
    named = {variable: environment.get(variable) or str(home / folder) for variable, folder in _MANAGERS.items()}
    return {variable: place for variable, place in named.items() if place.startswith("/") and Path(place).is_dir()}
