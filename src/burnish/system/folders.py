"""Where burnish keeps what belongs to a user and to no repository."""

from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str]) -> Path | None:
    """burnish's folder below `$XDG_STATE_HOME`, usually `~/.local/state`; None where the user has neither."""
    folder = environment.get("XDG_STATE_HOME", "")
    if not folder.startswith("/"):  # the specification says to ignore relative ones
        home = environment.get("HOME", "")
        if not home.startswith("/"):
            return None
        folder = f"{home}/.local/state"
    return Path(folder) / "burnish"
