"""What a command names on its own line: files and folders that it must find, also where a sandbox hides the rest."""

from pathlib import Path


def named_paths(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The absolute paths among the arguments, `--option=/path` too, that exist. The user wrote them down to be used.

    The program itself is left out: a sandbox knows what programs need.
    """
    paths = (word.partition("=")[2] if word.startswith("-") else word for word in argv[1:])
    return tuple(dict.fromkeys(path for path in paths if path.startswith("/") and _exists(path)))


def _exists(path: str) -> bool:
    try:
        return Path(path).resolve() != Path("/") and Path(path).exists()
    except (OSError, ValueError):
        # Words that are no path: too long, or with a NUL in them.
        return False
