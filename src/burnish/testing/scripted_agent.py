"""A command agent that does what a script says: `python -m burnish.testing.scripted_agent SCRIPT.toml`.

For tests, and for users who write protocols. The script is a list of `[[step]]` tables. The first one whose `role`,
`reviewer`, `round` and `attempt` fit, as far as they are given, is carried out in the order of its fields.
Where none fits, the agent fails: nothing is clean by default. `scripted(…)` writes a script and returns its part of
burnish.toml.
"""

import json
import os
import signal
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import cast

import msgspec

from burnish.core.values import Value

NO_STEP = 64
WENT_WRONG = 74
_FLOOD = b"The quick brown fox jumps over the lazy dog.\n" * 1_000


class Background(Enum):
    """A child that is left running: in the agent's process group, or in a session of its own."""

    NONE = ""
    GROUP = "group"
    SESSION = "session"


class TextReplacement(Value):
    """Some text of a file replaced, every time it occurs."""

    file: str
    old: str
    new: str


class ScriptedAnswer(Value):
    """One answer, when it is given, and everything the agent does before it, in this order."""

    role: str = ""
    reviewer: str = ""
    round: int | None = None
    attempt: int | None = None

    ignore_term: bool = False
    announce: str = ""
    """A FIFO or file that gets a line with the agent's process number: it is there now. A file gets a child's, too."""
    wait_for: str = ""
    """A FIFO: the agent goes on when its other end is closed."""
    background: Background = Background.NONE
    write: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Files with their new text, relative to the clone or absolute."""
    edit: tuple[TextReplacement, ...] = ()
    delete: tuple[str, ...] = ()
    run: tuple[tuple[str, ...], ...] = ()
    """Commands, such as `["git", "commit", "-qam", "mine"]`; what they print goes to the error output."""
    stderr: str = ""
    flood: int = 0
    """So many bytes of output before the answer."""
    text: str = ""
    text_file: str = ""
    """A file with the answer, relative to the script; for answers that are no text."""
    to_file: bool = False
    """Leave the answer in `$BURNISH_OUTPUT` instead of printing it."""
    hang: bool = False
    exit_code: int = 0
    signal: int = 0
    """End by this signal instead of exiting."""


class AgentScript(Value):
    """Steps, and a file that gets a line of JSON for each call."""

    step: tuple[ScriptedAnswer, ...]
    log: str = ""


class LoggedCall(Value):
    """What the agent was called for. A line of the log holds these keys."""

    role: str
    reviewer: str
    round: int
    attempt: int
    effect: str
    pid: int
    prompt: str
    variables: tuple[str, ...]
    """The names in its environment; their values may be secrets."""
    findings: str = ""

    def fits(self, step: ScriptedAnswer) -> bool:
        return (
            step.role in ("", self.role)
            and step.reviewer in ("", self.reviewer)
            and step.round in (None, self.round)
            and step.attempt in (None, self.attempt)
        )


def scripted(
    folder: Path,
    *steps: ScriptedAnswer,
    name: str = "scripted",
    roles: Iterable[str] = ("review", "fix"),
    log: Path | None = None,
) -> str:
    """Write a script into a folder; return the tables for burnish.toml that make it the agent of these roles."""
    path = folder / f"{name}.toml"
    path.write_text(script_text(*steps, log=log), encoding="utf-8")
    lines = [f"[agents.{name}]", 'kind = "command"', f"command = {_toml(scripted_command(path))}"]
    assigned = [f"{role} = {_toml(name)}" for role in roles]
    return "\n".join([*lines, *(["", "[roles]", *assigned] if assigned else [])]) + "\n"


_START = (
    "import sys; sys.path[:0] = sys.argv[1:3]; "
    "from burnish.testing.scripted_agent import main; sys.exit(main(sys.argv[3:]))"
)


def scripted_command(script: Path) -> tuple[str, ...]:
    """The command of an agent that follows a script. It names all that it needs, so that a sandbox shows it."""
    packages = (Path(__file__).parents[2], Path(msgspec.__file__).parents[1])
    return (sys.executable, "-c", _START, *map(str, packages), str(script))


def script_text(*steps: ScriptedAnswer, log: Path | None = None) -> str:
    lines = [] if log is None else [f"log = {_toml(str(log))}"]
    for step in steps:
        lines.append("\n[[step]]")
        lines += [f"{key} = {_toml(value)}" for key, value in msgspec.to_builtins(step).items()]
    return "\n".join(lines) + "\n"


def calls(log: Path) -> list[LoggedCall]:
    """What a log holds, in the order in which the agent was called."""
    if not log.exists():
        return []
    return [msgspec.json.decode(line, type=LoggedCall) for line in log.read_bytes().splitlines()]


def main(arguments: list[str]) -> int:
    """Carry out the step that fits. Returns the exit code."""
    path = Path(arguments[0])
    script = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), AgentScript)
    call = _call(os.environ, sys.stdin.buffer.read().decode("utf-8", errors="replace"))
    if script.log:
        _attempt(call, lambda: _append(Path(script.log), msgspec.json.encode(call) + b"\n"))
    step = next((step for step in script.step if call.fits(step)), None)
    if step is None:
        where = f"role '{call.role}', reviewer '{call.reviewer}', round {call.round}, attempt {call.attempt}"
        sys.stderr.write(f"The script has no step for {where}.\n")
        return NO_STEP
    return _play(step, call, path.parent)


def _call(environment: Mapping[str, str], prompt: str) -> LoggedCall:
    return LoggedCall(
        role=environment.get("BURNISH_ROLE", ""),
        reviewer=environment.get("BURNISH_REVIEWER", ""),
        round=int(environment.get("BURNISH_ROUND", "0")),
        attempt=int(environment.get("BURNISH_ATTEMPT", "1")),
        effect=environment.get("BURNISH_EFFECT", ""),
        pid=os.getpid(),
        prompt=prompt,
        variables=tuple(sorted(environment)),
        findings=environment.get("BURNISH_FINDINGS", ""),
    )


def _play(step: ScriptedAnswer, call: LoggedCall, folder: Path) -> int:
    if step.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if step.announce:
        _append(Path(step.announce), f"{os.getpid()}\n".encode())
    if step.wait_for:
        Path(step.wait_for).read_bytes()
    if step.background is not Background.NONE:
        _leave_child(step)
    went_well = [_attempt(call, action) for action in _changes(step)]
    _answer(step, folder)
    if step.hang:
        _sleep_for_ever()
    if step.signal:
        if step.signal != signal.SIGKILL:  # which cannot be caught, and so cannot be set back
            signal.signal(step.signal, signal.SIG_DFL)
        os.kill(os.getpid(), step.signal)
        _sleep_for_ever()
    # A reviewer's writes are made to be refused; a fixer that cannot write is broken.
    return step.exit_code if all(went_well) or call.role == "review" else WENT_WRONG


def _changes(step: ScriptedAnswer) -> list[Callable[[], object]]:
    def write(name: str, text: str) -> None:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")

    def edit(change: TextReplacement) -> None:
        text = Path(change.file).read_text(encoding="utf-8")
        if change.old not in text:
            raise ValueError(f"'{change.old}' is not in {change.file}")
        Path(change.file).write_text(text.replace(change.old, change.new), encoding="utf-8")

    return [
        *(lambda name=name, text=text: write(name, text) for name, text in step.write.items()),
        *(lambda change=change: edit(change) for change in step.edit),
        *(lambda name=name: Path(name).unlink() for name in step.delete),
        *(lambda command=command: _run(command) for command in step.run),
    ]


def _attempt(call: LoggedCall, action: Callable[[], object]) -> bool:
    try:
        action()
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{call.role} {call.reviewer}: {error}\n")
        return False
    return True


def _run(command: tuple[str, ...]) -> None:
    """Run a command and wait for it. An agent is a program of its own: it does not use the runner that runs it."""
    to_stderr = [(os.POSIX_SPAWN_DUP2, 2, 1)]
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=to_stderr)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise ValueError(f"'{' '.join(command)}' exited with {code}")


def _leave_child(step: ScriptedAnswer) -> None:
    child = os.fork()
    if child == 0:
        if step.background is Background.SESSION:
            os.setsid()
        _sleep_for_ever()
    if Path(step.announce).is_file():
        _append(Path(step.announce), f"{child}\n".encode())


def _sleep_for_ever() -> None:
    while True:
        signal.pause()


def _answer(step: ScriptedAnswer, folder: Path) -> None:
    sys.stderr.write(step.stderr)
    sys.stderr.flush()
    text = (folder / step.text_file).read_bytes() if step.text_file else step.text.encode()
    if step.to_file:
        Path(os.environ["BURNISH_OUTPUT"]).write_bytes(text)
        text = b""
    _print(_FLOOD[: step.flood % len(_FLOOD)])
    for _ in range(step.flood // len(_FLOOD)):
        _print(_FLOOD)
    _print(text)


def _print(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


def _append(path: Path, line: bytes) -> None:
    """One write at the end of a file, or into a FIFO: lines of parallel agents stay whole."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def _toml(value: object) -> str:
    """Plain values as TOML; its strings are JSON's, but for one character."""
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(inner) for inner in cast("list[object]", value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
