"""Where protocols are found: those that come with burnish by name, a user's own by path."""

from collections.abc import Callable
from importlib import resources
from pathlib import Path, PurePosixPath

from burnish.core.values import Value
from burnish.protocols.checking import did_you_mean
from burnish.protocols.documents import MAX_DOCUMENT_BYTES, Document, read_document
from burnish.protocols.errors import DocumentError, Problem

ReadFile = Callable[[str], bytes | None]
"""Gives the bytes of a file of the base, by its path from the root, or None where there is none."""


def no_base(_path: str) -> bytes | None:
    """The `ReadFile` where nothing is under review."""
    return None


BUILT_IN = ("default", "epic", "ticket", "story", "panel", "drift")
"""The protocols that come with burnish, in the order in which they are listed."""


class BuiltIn(Value):
    """A protocol that comes with burnish."""

    name: str

    @property
    def label(self) -> str:
        return self.name


class UserFile(Value):
    """A protocol of the user's own."""

    path: str

    @property
    def label(self) -> str:
        return self.path


Source = BuiltIn | UserFile


def locate(reference: str, beside: Source | None = None) -> Source:
    """What a name or a path means; a path in a file is relative to that file. Raises `LookupError` with a hint."""
    if "/" in reference or reference.endswith(".toml"):
        folder = Path(beside.path).parent if isinstance(beside, UserFile) else Path()
        return UserFile(path=str(folder / reference))
    if reference in BUILT_IN:
        return BuiltIn(name=reference)
    raise LookupError(_unknown_name_hint(reference))


def identity(source: Source) -> str:
    """The same for two ways to write the same source."""
    match source:
        case BuiltIn():
            return source.name
        case UserFile():
            return str(Path(source.path).resolve())


def exists(source: UserFile, read: ReadFile) -> bool:
    """Whether there is such a file, in the base or in the working tree."""
    return _from_base(source, read) is not None or Path(source.path).is_file()


def _from_base(source: UserFile, read: ReadFile) -> bytes | None:
    path = PurePosixPath(source.path)
    if path.is_absolute() or ".." in path.parts:
        return None
    return read(str(path))


def read(source: Source, read_base: ReadFile = no_base) -> Document:
    """Read a source, a user's file from the base where it is there. Raises `DocumentError`."""
    match source:
        case BuiltIn():
            raw = resources.files("burnish.protocols").joinpath(f"{source.name}.toml").read_bytes()
        case UserFile():
            found = _from_base(source, read_base)
            raw = read_file(source) if found is None else found
    return read_document(raw, source.label)


def read_file(source: UserFile) -> bytes:
    """The bytes of a user's file, a little more than may be read at most. Raises `DocumentError`."""
    path = Path(source.path)
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_DOCUMENT_BYTES + 1)
    except FileNotFoundError:
        message, hint = "There is no such file.", _missing_file_hint(path)
    except IsADirectoryError:
        message, hint = "It is a directory.", "Name the protocol's .toml file in it."
    except PermissionError:
        message, hint = "The file may not be read.", "Look at its permissions."
    except (OSError, ValueError) as error:
        message, hint = f"The file cannot be read: {error}.", "Look at its path."
    raise DocumentError([Problem(file=source.label, message=message, hint=hint)])


def _unknown_name_hint(name: str) -> str:
    question = did_you_mean(name, BUILT_IN)
    if not question and Path(f"{name}.toml").is_file():
        question = f"For the file here, write '{name}.toml'."
    names = f"Built in: {', '.join(BUILT_IN)}; your own goes by its path."
    return f"{question} {names}".strip()


def _missing_file_hint(path: Path) -> str:
    try:
        siblings = sorted(sibling.name for sibling in path.parent.glob("*.toml"))
    except OSError:
        siblings = []
    return did_you_mean(path.name, siblings, alike=0.75) or "Look at the path; it is relative to where you are."
