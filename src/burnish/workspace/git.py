"""The one place that calls git.

Nothing that a repository or a user's settings can name is run by these calls: no hooks, no external diff, no text
conversion, no pager, no file system monitor, no prompt. Nothing of the caller's `GIT_*` environment is passed on.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.system.process import Command, Finished, How, run_now
from burnish.workspace.errors import GitError
from burnish.workspace.names import argument

SECONDS = 600.0
"""A git command that takes longer hangs."""
KEPT_BYTES = 1024 * 1024 * 1024
NO_FILE = os.devnull

_SETTINGS = (
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.splitIndex=false",
    "core.pager=cat",
    "core.askPass=",
    "color.ui=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "protocol.ext.allow=never",
    "log.showSignature=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
)
_NO_HOOKS = f"core.hooksPath={NO_FILE}"
_SHOWS_DIFFERENCES = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show"})
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # A path that cannot exist: grafts would make git believe in other parents than those that a commit names.
    "GIT_GRAFT_FILE": f"{NO_FILE}/none",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}
# Older versions know no way to leave the user's settings out but a home that has none.
_NO_USER = {"GIT_CONFIG_GLOBAL": NO_FILE, "GIT_CONFIG_NOSYSTEM": "1", "HOME": NO_FILE, "XDG_CONFIG_HOME": NO_FILE}
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


class Git:
    """git in one folder. With `git_dir`, that directory is the repository and the folder its work tree.

    `isolated` leaves the user's and the system's settings out, for repositories that burnish made itself. Where the
    folder is `git_dir`, there is no work tree.
    """

    def __init__(
        self,
        folder: Path,
        git_dir: Path | None = None,
        *,
        isolated: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.git_dir = git_dir
        self._environment = _environment(isolated)
        self._settings = tuple(f"{name}={value}" for name, value in (settings or {}).items())
        if git_dir is not None:
            self._environment["GIT_DIR"] = str(git_dir)
        if git_dir is not None and git_dir != folder:
            self._environment["GIT_WORK_TREE"] = str(folder)
        elif git_dir is not None:
            # Attributes of files come from an index, too, unless there is none.
            self._environment |= {"GIT_IMPLICIT_WORK_TREE": "0", "GIT_INDEX_FILE": f"{git_dir}/burnish/no-index"}

    def run(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        check: bool = True,
        hooks: bool = False,
    ) -> bytes:
        """What git prints. With `check`, an exit code other than 0 is a `GitError`."""
        finished = self.finish(*arguments, stdin=stdin, environment=environment, hooks=hooks)
        if check and finished.code != 0:
            raise self._error(arguments, finished)
        return finished.stdout

    def text(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        check: bool = True,
        hooks: bool = False,
    ) -> str:
        """What git prints, as text without its last line end. Bytes that are not UTF-8 are kept as surrogates."""
        raw = self.run(*arguments, stdin=stdin, environment=environment, check=check, hooks=hooks)
        return os.fsdecode(raw.removesuffix(b"\n"))

    def objects(self, *expressions: str) -> tuple[str | None, ...]:
        """The objects that expressions such as `main^{tree}` stand for, from one process; None where there is none."""
        # No name holds a line end or a NUL, and git would read only what is before it.
        asked = ("" if "\n" in one or "\0" in one else one for one in expressions)
        stdin = "".join(f"{one}\n" for one in asked).encode("utf-8", errors="surrogateescape")
        lines = self.text("cat-file", "--batch-check=%(objectname)", stdin=stdin).split("\n")
        return tuple(line if is_object(line) else None for line in lines)

    def contents(self, identities: Sequence[bytes]) -> dict[bytes, bytes]:
        """The content of objects by their names, all from one process."""
        if not identities:
            return {}
        distinct = list(dict.fromkeys(identities))
        raw = self.run("cat-file", "--batch=%(objectsize)", stdin=b"\n".join(distinct) + b"\n")
        found: dict[bytes, bytes] = {}
        place = 0
        for identity in distinct:
            end = raw.index(b"\n", place)
            start, size = end + 1, int(raw[place:end])
            found[identity] = raw[start : start + size]
            place = start + size + 1
        return found

    def succeeds(self, *arguments: str | bytes) -> bool:
        """Whether git says yes: exit code 0, and not 1. Anything else is a `GitError`."""
        finished = self.finish(*arguments)
        if finished.code not in (0, 1):
            raise self._error(arguments, finished)
        return finished.code == 0

    def finish(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        hooks: bool = False,
        seconds: float = SECONDS,
    ) -> Finished:
        """Run git to its end, whatever its exit code. Raises `GitError` only where it did not end by itself."""
        command = Command(
            argv=_command_line(arguments, self._settings if hooks else (*self._settings, _NO_HOOKS)),
            folder=str(self.folder),
            environment=self._environment | dict(environment or {}),
            stdin=stdin,
        )
        finished = run_now(command, seconds=seconds, kept_bytes=KEPT_BYTES)
        if finished.how is not How.EXITED or finished.code is None:
            raise self._error(arguments, finished)
        return finished

    def _error(self, arguments: tuple[str | bytes, ...], finished: Finished) -> GitError:
        words = [os.fsencode(argument(word)).decode("utf-8", errors="replace") for word in arguments]
        command = _CREDENTIALS.sub("", " ".join(["git", *words]))[:200]
        lines = [line.strip() for line in finished.stderr_tail.splitlines() if line.strip()]
        complaints = [line for line in lines if line.startswith(("fatal:", "error:"))]
        said = (complaints or lines or [finished.message])[-1]
        return GitError(command, finished.code, _CREDENTIALS.sub("", said)[:500])


def is_object(name: str) -> bool:
    """Whether a name is an object's own, which never stands for anything else."""
    return _OBJECT.fullmatch(name) is not None


def _environment(isolated: bool) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | _ENVIRONMENT | (_NO_USER if isolated else {})


def _command_line(arguments: tuple[str | bytes, ...], further: tuple[str, ...]) -> tuple[str, ...]:
    settings = (*_SETTINGS, *further)
    words = [argument(word) for word in arguments]
    if words and words[0] in _SHOWS_DIFFERENCES:
        words[1:1] = ["--no-ext-diff", "--no-textconv"]
    return ("git", "--no-optional-locks", "--no-pager", *(part for one in settings for part in ("-c", one)), *words)
