"""The one place that calls git.

Nothing that a repository or a user's settings can name is run by these calls: no hooks, no external diff, no text
conversion, no pager, no file system monitor, no prompt. Nothing of the caller's `GIT_*` environment is passed on.
"""

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

from burnish.system.process import Command, Finished, How, run_now
from burnish.system.process_dialogue import Dialogue, DialogueError
from burnish.system.process_start import CouldNotStartError
from burnish.workspace.errors import GitError
from burnish.workspace.names import argument, fields

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
_FOUND = re.compile(rb"([0-9a-f]{40,64}) (\d+)")
_REMEMBERED_BYTES = 64 * 1024 * 1024
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


class _Options(TypedDict, total=False):
    stdin: bytes
    environment: Mapping[str, str] | None
    """Beside what every call has."""
    hooks: bool
    """The settings of the user that name hooks are believed."""


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
        self._answers = _Answers()
        if git_dir is not None:
            self._environment["GIT_DIR"] = str(git_dir)
        if git_dir is not None and git_dir != folder:
            self._environment["GIT_WORK_TREE"] = str(folder)
        elif git_dir is not None:
            # Attributes of files come from an index, too, unless there is none.
            self._environment |= {"GIT_IMPLICIT_WORK_TREE": "0", "GIT_INDEX_FILE": f"{git_dir}/burnish/no-index"}
        self._reader = _Reader(self._command(("cat-file", "--batch=%(objectname) %(objectsize)")))

    def run(self, *arguments: str | bytes, check: bool = True, **options: Unpack[_Options]) -> bytes:
        """What git prints. With `check`, an exit code other than 0 is a `GitError`."""
        finished = self.finish(*arguments, **options)
        if check and finished.code != 0:
            raise self._error(arguments, finished)
        return finished.stdout

    def text(self, *arguments: str | bytes, check: bool = True, **options: Unpack[_Options]) -> str:
        """What git prints, as text without its last line end. Bytes that are not UTF-8 are kept as surrogates."""
        return os.fsdecode(self.run(*arguments, check=check, **options).removesuffix(b"\n"))

    def about(self, *arguments: str | bytes, stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> bytes:
        """What git prints about objects. Where all are named by their ids, that never changes: git is asked once.

        A command that fails is asked again the next time: an object may have come meanwhile.
        """

        def ask() -> bytes:
            return self.run(*arguments, stdin=stdin, environment=environment)

        if not _names_objects_alone(arguments):
            return ask()
        return self._answers.get((arguments, stdin, frozenset((environment or {}).items())), ask)

    def objects(self, *expressions: str) -> tuple[str | None, ...]:
        """The objects that expressions such as `main^{tree}` stand for; None where there is none."""
        found = (self._reader.read(one.encode("utf-8", errors="surrogateescape")) for one in expressions)
        return tuple(None if one is None else one[0] for one in found)

    def contents(self, identities: Iterable[bytes]) -> dict[bytes, bytes]:
        return {identity: self.content(identity) for identity in dict.fromkeys(identities)}

    def content(self, identity: str | bytes) -> bytes:
        found = self._reader.read(os.fsencode(identity))
        if found is None:
            raise GitError(f"git cat-file {os.fsdecode(identity)}", 128, "There is no such object.")
        return found[1]

    def finish(self, *arguments: str | bytes, seconds: float = SECONDS, **options: Unpack[_Options]) -> Finished:
        """Run git to its end, whatever its exit code. Raises `GitError` only where it did not end by itself."""
        finished = run_now(self._command(arguments, **options), seconds=seconds, kept_bytes=KEPT_BYTES)
        if finished.how is not How.EXITED or finished.code is None:
            raise self._error(arguments, finished)
        return finished

    def _command(
        self,
        arguments: tuple[str | bytes, ...],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        hooks: bool = False,
    ) -> Command:
        return Command(
            argv=_command_line(arguments, self._settings if hooks else (*self._settings, _NO_HOOKS)),
            folder=str(self.folder),
            environment=self._environment | dict(environment or {}),
            stdin=stdin,
        )

    def _error(self, arguments: tuple[str | bytes, ...], finished: Finished) -> GitError:
        words = [os.fsencode(argument(word)).decode("utf-8", errors="replace") for word in arguments]
        command = _CREDENTIALS.sub("", " ".join(["git", *words]))[:200]
        lines = [line.strip() for line in finished.stderr_tail.splitlines() if line.strip()]
        complaints = [line for line in lines if line.startswith(("fatal:", "error:"))]
        said = (complaints or lines or [finished.message])[-1]
        return GitError(command, finished.code, _CREDENTIALS.sub("", said)[:500])


class TreeEntry(NamedTuple):
    """A line of `git ls-tree`."""

    mode: bytes
    kind: bytes
    identity: bytes
    size: bytes = b""
    """Only with `-l`; of what is no file, a dash."""


def tree_entries(listing: bytes) -> Iterator[tuple[bytes, TreeEntry]]:
    """By name, what `git ls-tree -z` lists."""
    for line in fields(listing):
        about, name = line.split(b"\t", 1)
        yield name, TreeEntry(*about.split())


class _Reader:
    """Objects of a repository, read through one process that stays: several are asked for in every step of a run.

    It sees what was added after its start: git looks again for an object that it does not know, and at refs each time.
    """

    def __init__(self, command: Command) -> None:
        self._command = command
        self._guard = threading.Lock()
        self._dialogue: Dialogue | None = None

    def read(self, expression: bytes) -> tuple[str, bytes] | None:
        """The name and the content of the object that an expression stands for; None where there is none."""
        if b"\n" in expression or b"\0" in expression:  # no name holds either, and git would read what is before it
            return None
        with self._guard:
            reason = ""
            for _ in range(2):  # where it has ended since it was last used, it is started again, once
                try:
                    return self._ask(expression)
                except DialogueError as error:
                    self._dialogue = None
                    reason = str(error)
            raise GitError("git cat-file --batch", None, reason)

    def _ask(self, expression: bytes) -> tuple[str, bytes] | None:
        if self._dialogue is None:
            try:
                self._dialogue = Dialogue(self._command, SECONDS)
            except CouldNotStartError as error:
                raise GitError("git cat-file --batch", None, str(error)) from None
        self._dialogue.tell(expression + b"\n")
        answer = _FOUND.fullmatch(self._dialogue.line())
        if answer is None:
            return None
        content = self._dialogue.exactly(int(answer[2]) + 1)[:-1]
        return answer[1].decode(), content


class _Answers:
    """Answers that never change. Threads that ask the same at the same time wait for the first of them."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._known: dict[object, Future[bytes]] = {}

    def get(self, question: object, ask: Callable[[], bytes]) -> bytes:
        with self._guard:
            known = self._known.pop(question, None)
            answer = known or Future[bytes]()
            self._known[question] = answer  # the latest that was asked for is the last to be forgotten
        if known is None:
            try:
                answer.set_result(ask())
            except BaseException as error:
                with self._guard:
                    self._known.pop(question, None)
                answer.set_exception(error)
                raise
            self._forget()
        return answer.result()

    def _forget(self) -> None:
        with self._guard:
            done = {question: len(answer.result()) for question, answer in self._known.items() if answer.done()}
            size = sum(done.values())
            for question, length in done.items():
                if size <= _REMEMBERED_BYTES:
                    break
                size -= length
                del self._known[question]


def _names_objects_alone(arguments: tuple[str | bytes, ...]) -> bool:
    """Whether a command line holds nothing but options and ids, and behind `--` paths in their trees."""
    words = [argument(word) for word in arguments[1:]]
    named = words[: words.index("--")] if "--" in words else words
    return all(word.startswith("-") or is_object(word) for word in named)


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
