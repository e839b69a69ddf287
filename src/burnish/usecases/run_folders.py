"""Where burnish keeps what it can do without: caches that outlive a run, and the copies of one run.

Copies of the project do not belong into `~/.cache`: test runners, servers and watchers treat files below a hidden
folder specially, and then a project's tests fail for no reason of its own. So they are put into a folder of the user's
own for temporary files. `/var/tmp` comes before `/tmp`, which is in memory on many machines; a TMPDIR that the user
chose comes before both, unless it is hidden, too.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind
from burnish.system.files import make_own_directory, make_private_directory
from burnish.workspace.folders import remove_folder

_TEMPORARY = ("/var/tmp", "/tmp")  # noqa: S108 - a private folder is made inside, and checked


class NoRoomForCopiesError(BurnishError):
    kind = ErrorKind.INFRASTRUCTURE


def cache_folder(environment: Mapping[str, str]) -> Path:
    """What is worth keeping between runs: the user's cache folder."""
    cache = environment.get("XDG_CACHE_HOME", "")
    if not cache.startswith("/"):
        cache = str(Path(environment.get("HOME", "/tmp")) / ".cache")  # noqa: S108 - only where there is no home
    return Path(cache) / "burnish"


def make_run_folder(environment: Mapping[str, str], run: str) -> Path:
    """The folder of one run's copies, for this user alone. What another run of this name left is found there."""
    found = next(run_folders(environment, run), None)
    if found is not None:
        return found
    refused: list[str] = []
    for place in _places(environment):
        try:
            make_own_directory(place)
            make_private_directory(place / run)
        except OSError as error:
            refused.append(f"'{place}' ({error.strerror})")
        else:
            return place / run
    raise NoRoomForCopiesError(
        f"No folder for copies of the project can be used: {', '.join(refused)}.",
        hint="Set TMPDIR to a folder that you own and whose path has no hidden part.",
    )


def run_folders(environment: Mapping[str, str], run: str) -> Iterator[Path]:
    """The folders of a run that are there: a run may be resumed with another TMPDIR."""
    owned = (place for place in _places(environment) if _is_own(place))
    return (place / run for place in owned if (place / run).is_dir() and not (place / run).is_symlink())


def remove_run_folders(environment: Mapping[str, str], run: str) -> None:
    for folder in list(run_folders(environment, run)):
        remove_folder(folder)


def _places(environment: Mapping[str, str]) -> Iterator[Path]:
    chosen = Path(environment.get("TMPDIR", ""))
    if chosen.is_absolute() and chosen.is_dir() and not any(part.startswith(".") for part in chosen.resolve().parts):
        yield chosen.resolve() / f"burnish-{os.getuid()}"
    for name in _TEMPORARY:
        yield Path(name).resolve() / f"burnish-{os.getuid()}"


def _is_own(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink() and place.stat().st_uid == os.getuid()
