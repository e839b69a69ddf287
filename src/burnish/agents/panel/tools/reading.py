"""What all tools share: how a process must have ended, output decoded strictly, names of files, harmless text.

Nothing here is lenient: what is not exactly understood raises `ToolError`. Nothing here knows any one tool.
"""

from collections.abc import Collection, Iterable, Sequence, Sized
from pathlib import PurePosixPath
from typing import Annotated, TypeVar

import msgspec

from burnish.agents.panel.interface import Hit, SourceFile, ToolError, ToolName, TooMuchSaidError
from burnish.contracts.text import bounded
from burnish.core.text import clean_text
from burnish.system.process import Finished, How

INVALID_SYNTAX = "invalid-syntax"
"""The rule of a file that a tool cannot parse, whatever the tool itself calls it."""
UNREADABLE = "unreadable"
"""The rule of a file that a tool could not look at: said as a hit, so that one such file does not hide the others."""

NOT_READ = frozenset({UNREADABLE, "E902"})
"""Rules that say that a file was not examined. E902 is ruff's own."""

_MOST = 2**31 - 1
Place = Annotated[int, msgspec.Meta(ge=1, le=_MOST)]
"""A line or column that counts from 1."""
Count = Annotated[int, msgspec.Meta(ge=0, le=_MOST)]

_Decoded = TypeVar("_Decoded")
_LONGEST_TEXT = 1_000
_NOT_UTF8 = "The name of this file is not UTF-8, so {tool} did not check it."
_HINT = "The log of the run has its output. A tool that fails never counts as a clean review."


def as_arguments(tool: ToolName, files: Sequence[str]) -> tuple[str, ...]:
    """The files as words that no tool takes for an option, a pattern or an address. Names beyond UTF-8 are left out."""
    named = tuple(f"./{file}" for file in files if _is_utf8(file))
    if not named:
        # With no word at all most tools would look at the whole tree instead.
        raise ToolError(f"{tool.value} cannot check any of the files: no name is UTF-8.", hint="Rename the files.")
    return named


def nameless(tool: ToolName, files: Sequence[str]) -> tuple[Hit, ...]:
    """A hit for each file that `as_arguments` left out."""
    message = _NOT_UTF8.format(tool=tool.value)
    return tuple(
        Hit(tool=tool, rule=UNREADABLE, file=file, line=None, message=message) for file in files if not _is_utf8(file)
    )


def without_own_rules(selectors: Sequence[str]) -> tuple[str, ...]:
    """Selectors as a tool knows them: the rules of this module are always reported."""
    return tuple(selector for selector in selectors if selector not in (INVALID_SYNTAX, UNREADABLE))


def output_of(tool: ToolName, finished: Finished, codes: Collection[int]) -> bytes:
    """What a tool wrote, if it ended in one of the ways that mean that it did its work."""
    if finished.how is How.EXITED and finished.code in codes:
        if not finished.stdout_cut:
            return finished.stdout
        raise TooMuchSaidError(f"{tool.value} reported too much to keep.", hint="Review the change in smaller parts.")
    said = [line for line in clean_text(finished.stderr_tail).splitlines() if line.strip()]
    last = f" Its last line: {bounded(said[-1], 300)}" if said else ""
    raise ToolError(f"{tool.value} {_end_of(finished)}.{last}", hint=_HINT)


def decoded(tool: ToolName, raw: bytes, form: type[_Decoded]) -> _Decoded:
    """One JSON document of exactly this form; fields beyond it do not matter."""
    try:
        raw.decode()  # bytes that are no text are passed over in what the form does not name
        return msgspec.json.decode(raw, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = bounded(clean_text(str(error)), 300)
        raise ToolError(f"The output of {tool.value} is not understood: {reason}.", hint=_HINT) from error


def must_name_something(tool: ToolName, finished: Finished, found: Sized) -> None:
    """An exit code that says "found" above an empty list is a contradiction, and never clean."""
    if finished.code != 0 and not found:
        raise ToolError(f"{tool.value} failed with exit code {finished.code} but reported no problem.", hint=_HINT)


def located(tool: ToolName, names: Iterable[str], files: Sequence[str]) -> dict[str, str]:
    """Which of the files each name means. Some tools make names absolute: one folder must then explain all of them."""
    wanted = frozenset(files)
    names = tuple(dict.fromkeys(names))
    root = _root_of([name for name in names if name.startswith("/")], wanted)
    found = {name: name.removeprefix(root or "./") for name in names}
    if strange := [name for name, file in found.items() if file not in wanted]:
        raise ToolError(f"{tool.value} reported on a file that it was not given: {text(strange[0])}", hint=_HINT)
    return found


def text(words: str | None) -> str:
    """What a tool said, without control characters and not too long."""
    return bounded(clean_text(words or ""), _LONGEST_TEXT)


def last_line(line: int, end_line: int, end_column: int) -> int:
    """The last line that is part of a place whose end is not."""
    return max(line, end_line - 1 if end_column <= 1 else end_line)


def interpreter(file: SourceFile) -> str:
    """The program that a script names in its first line, without its folder; empty where it names none."""
    line = file.opening.split(b"\n", 1)[0]
    if not line.startswith(b"#!"):
        return ""
    words = [PurePosixPath(word).name for word in line[2:].decode("utf-8", "replace").split()]
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def _end_of(finished: Finished) -> str:
    match finished.how:
        case How.TIMED_OUT:
            return "did not end in time"
        case How.SILENT:
            return "printed nothing for too long"
        case How.STOPPED:
            return "was stopped"
        case How.COULD_NOT_START:
            return f"could not start: {text(finished.message)}"
        case How.EXITED if finished.signal is not None:
            return f"was killed by signal {finished.signal}"
        case How.EXITED:
            return f"failed with exit code {finished.code}"


def _root_of(names: Sequence[str], wanted: frozenset[str]) -> str:
    """The folder below which all the names are wanted files; empty where there is none.

    Where there are `app.py` and `shop/app.py`, the folder `shop` may seem to be one, too: it is the outer one. Folders
    further out have names of burnish's own, which no wanted file begins with.
    """
    if not names:
        return ""
    roots = {names[0].removesuffix(file) for file in wanted if names[0].endswith(f"/{file}")}
    fitting = [root for root in roots if all(name.removeprefix(root) in wanted for name in names)]
    return min(fitting, key=len, default="")


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
