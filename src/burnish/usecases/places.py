"""Where burnish keeps what it can do without."""

from collections.abc import Mapping
from pathlib import Path


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where clones live: the user's cache folder."""
    cache = environment.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):
        cache = str(Path(environment.get("HOME", "/tmp")) / ".cache")  # noqa: S108 - only where there is no home
    return Path(cache) / "burnish"
