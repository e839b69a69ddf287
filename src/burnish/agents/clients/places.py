"""Where a client and its login are: on the PATH, inside a Python package that brings it, in the user's home."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from burnish.agents.clients.specification import Specification
from burnish.agents.clients.variables import VARIABLES
from burnish.agents.errors import AgentError
from burnish.agents.interface import Needs
from burnish.config.settings import AgentSettings
from burnish.system.process_start import find_program


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
    home = environment.get("HOME", "")
    files = tuple((str(Path(home) / path), place) for path, place in spec.login if (Path(home) / path).is_file())
    if home and files:
        return Needs(variables=names, files=files, logged_in=True)
    keyring = sys.platform == "darwin"  # there, clients keep their login where only they can look
    hint = f"Run `{spec.login_command}`, or set {variables.keys[0]}."
    return Needs(variables=names, logged_in=None if keyring else False, hint=hint)
