"""The compiled rules of the secret scanner, shared by all tests, as on a machine that has reviewed before.

To compile them takes seconds, and each test has a cache of its own.
"""

from pathlib import Path

_shared: list[Path] = []


def share(folder: Path) -> None:
    """Keep the compiled rules of this test session in a folder."""
    folder.mkdir(mode=0o700, exist_ok=True)
    _shared[:] = [folder]


def offer_to(cache: Path) -> None:
    """Let burnish find the rules, and leave them, where it keeps its caches."""
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "analysers").symlink_to(_shared[0])
