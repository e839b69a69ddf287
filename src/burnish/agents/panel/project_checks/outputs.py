"""What the output of a project's check means. Pure and strict: an end that is not understood is a `ToolError`."""

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import msgspec

from burnish.agents.panel.interface import Hit, ToolError, ToolName
from burnish.agents.panel.tools.reading import decoded, output_of, text
from burnish.contracts.text import bounded
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.system.process import Finished, How

COMPILE = "compile"
"""The rule of what go cannot compile."""
SYNTAX = "syntax"
FAILED = "failed"
REPORTED = "reported"
"""The rules of a command that fails, and of a line that it names without a rule."""

_CANNOT_START = (126, 127)
_MOST_TAIL = 1_500
_MOST_DIGITS = 7


class CheckSite(Value):
    """Where a check ran: what its names of files mean."""

    root: str
    """The path of the repository, as the check saw it."""
    project: str
    """The folder of the repository in which it ran."""
    files: Collection[str]
    """Every file of the repository. What is said of others, such as installed packages, is not the change's."""

    def file(self, name: str) -> str:
        """The file of the repository that a check names; empty where it is none."""
        path = posixpath.normpath(posixpath.join(self.root, self.project, name.strip()))
        found = path.removeprefix(f"{self.root}/")
        return found if found in self.files else ""


class CheckOutput(Value):
    """What a check said."""

    hits: tuple[Hit, ...] = ()
    looked_at: frozenset[str] = frozenset()
    """Files of the repository that it compiled or type-checked."""
    failures: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Of a script: what failed, by its name or none, with the end of what was printed."""


def read(tool: ToolName, finished: Finished, place: CheckSite) -> CheckOutput:
    """What a check found. Raises `ToolError` where it did not do its work."""
    return _READERS[tool](finished, place)


class _At(NamedTuple):
    """A line of a file; none, where it is 0 or empty."""

    file: str
    line: str | int

    @property
    def number(self) -> int | None:
        digits = str(self.line)
        return int(digits) or None if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else None


def _hit(tool: ToolName, rule: str, at: _At, message: str, level: str = "error") -> Hit:
    return Hit(tool=tool, rule=text(rule), file=at.file, line=at.number, message=text(message), level=level)


def _lines(raw: bytes) -> list[str]:
    return clean_text(raw.decode("utf-8", errors="replace")).splitlines()


_MYPY = re.compile(
    r"(?P<file>[^:]+):(?:(?P<line>\d+):)?(?:\d+:)* (?P<level>error|note): (?P<message>.*?)(?:  \[(?P<rule>[\w-]+)\])?"
)
_BLOCKING = 2


def _mypy(finished: Finished, place: CheckSite) -> CheckOutput:
    lines = _lines(output_of(ToolName.MYPY, finished, (0, 1, _BLOCKING)))
    found = [match for line in lines if (match := _MYPY.fullmatch(line))]
    hits = tuple(
        _hit(ToolName.MYPY, match["rule"] or SYNTAX, _At(file, match["line"] or 0), match["message"])
        for match in found
        if match["level"] == "error" and (file := place.file(match["file"]))
    )
    if finished.code == _BLOCKING:
        # It stopped before it had looked at everything. What it cannot parse is the only finding in that.
        hits = tuple(hit for hit in hits if hit.rule == SYNTAX and hit.line)
    if finished.code != 0 and not (hits if finished.code == _BLOCKING else found):
        raise _stopped(ToolName.MYPY, lines, finished)
    return CheckOutput(hits=hits)


class _Position(msgspec.Struct, frozen=True):
    line: int


class _Range(msgspec.Struct, frozen=True):
    start: _Position


class _Diagnostic(msgspec.Struct, frozen=True):
    file: str
    severity: str
    message: str
    range: _Range | None = None
    rule: str = SYNTAX

    @property
    def line(self) -> int:
        return self.range.start.line + 1 if self.range else 0


class _Summary(msgspec.Struct, frozen=True, rename="camel"):
    files_analyzed: int


class _Pyright(msgspec.Struct, frozen=True, rename="camel"):
    general_diagnostics: tuple[_Diagnostic, ...]
    summary: _Summary


def _pyright(finished: Finished, place: CheckSite) -> CheckOutput:
    said = decoded(ToolName.PYRIGHT, output_of(ToolName.PYRIGHT, finished, (0, 1)), _Pyright)
    if not said.summary.files_analyzed:
        raise ToolError("It looked at no file.")
    return CheckOutput(
        hits=tuple(
            _hit(ToolName.PYRIGHT, one.rule, _At(file, one.line), one.message, level)
            for one in said.general_diagnostics
            if (file := place.file(one.file)) and (level := one.severity) in ("error", "warning")
        )
    )


_TSC = re.compile(r"(?P<file>[^\s(][^(]*)\((?P<line>\d+),\d+\): error (?P<rule>TS\d+): (?P<message>.*)")
_TSC_WHOLE = re.compile(r"error (?P<rule>TS\d+): (?P<message>.*)")
_NOT_BUILT = ("TS6305", "TS6306", "TS6310")
"""What tsc says where other parts of the project must be built first."""
_SYNTAX_CODE = re.compile(r"TS1\d{3}")


def _tsc(finished: Finished, place: CheckSite) -> CheckOutput:
    lines = _lines(output_of(ToolName.TSC, finished, (0, 1, 2)))
    found = [match for line in lines if (match := _TSC.fullmatch(line))]
    whole = next((match for line in lines if (match := _TSC_WHOLE.fullmatch(line))), None)
    unbuilt = next((match for match in found if match["rule"] in _NOT_BUILT), None)
    if (stop := whole or unbuilt) is not None:
        raise ToolError(f"{stop['rule']}: {text(stop['message'])}")
    if finished.code != 0 and not found:
        raise _stopped(ToolName.TSC, lines, finished)
    hits = tuple(
        _hit(ToolName.TSC, match["rule"], _At(file, match["line"]), match["message"])
        for match in found
        if (file := place.file(match["file"]))
    )
    listed = frozenset(file for line in lines if line.startswith("/") and (file := place.file(line)))
    # What cannot be parsed keeps it from checking types at all.
    broken = any(_SYNTAX_CODE.fullmatch(hit.rule) for hit in hits)
    return CheckOutput(hits=hits, looked_at=frozenset() if broken else listed)


_GO_PLACE = re.compile(r"(?:vet: )?(?P<file>[^\s:{}\"]+\.go):(?P<line>\d+)(?::\d+)?: (?P<message>.+)")


class _VetDiagnostic(msgspec.Struct, frozen=True):
    posn: str
    message: str


_Vetted = dict[str, dict[str, tuple[_VetDiagnostic, ...] | dict[str, str]]]
_MODULES = ("no required module provides", "cannot find module", "module lookup disabled", "is not in std")
_MAYBE_HERE_ONLY = ("missing go.sum entry", "replacement directory")
"""The author may have forgotten a sum; or the project never had it, or a folder beside it is not here."""


def _go_vet(finished: Finished, place: CheckSite) -> CheckOutput:
    """Diagnostics are JSON, by package and analyser; what cannot be compiled is text. Versions differ on where."""
    output_of(ToolName.GO_VET, finished, (0, 1, 2))
    errors = _lines(finished.stderr_tail.encode(errors="replace"))
    unavailable = next((line for line in errors if any(words in line for words in _MODULES)), "")
    if unavailable:
        raise ToolError(f"A module is not available here: {text(unavailable)}")
    compiled = [
        _hit(ToolName.GO_VET, COMPILE, _At(file, match["line"]), match["message"])
        for line in errors
        if (match := _GO_PLACE.fullmatch(line)) and (file := place.file(match["file"]))
    ]
    hits = [replace(hit, doubtful=any(words in hit.message for words in _MAYBE_HERE_ONLY)) for hit in compiled]
    if finished.code != 0 and not hits:
        raise _stopped(ToolName.GO_VET, errors, finished)
    return CheckOutput(hits=(*hits, *_vetted(finished, place)))


def _vetted(finished: Finished, place: CheckSite) -> Iterator[Hit]:
    lines = (line for raw in (finished.stdout, finished.stderr_tail.encode(errors="replace")) for line in _lines(raw))
    block: list[str] = []
    for line in lines:
        if line == "{" or (block and (line.startswith(("\t", "}")))):
            block.append(line)
        if line == "}" and block:
            said = decoded(ToolName.GO_VET, "\n".join(block).encode(), _Vetted)
            block = []
            yield from _diagnostics(said, place)


def _diagnostics(said: _Vetted, place: CheckSite) -> Iterator[Hit]:
    for analysers in said.values():
        for name, found in analysers.items():
            for one in found if isinstance(found, tuple) else ():
                file, line, *_ = (*one.posn.split(":"), "", "")
                if path := place.file(file):
                    yield _hit(ToolName.GO_VET, name, _At(path, line), one.message)


class _Span(msgspec.Struct, frozen=True):
    file_name: str
    line_start: int
    is_primary: bool


class _Code(msgspec.Struct, frozen=True):
    code: str


class _Message(msgspec.Struct, frozen=True):
    level: str
    message: str
    spans: tuple[_Span, ...]
    code: _Code | None = None


class _CargoLine(msgspec.Struct, frozen=True):
    reason: str
    message: _Message | None = None


def _cargo(finished: Finished, place: CheckSite) -> CheckOutput:
    raw = output_of(ToolName.CARGO, finished, (0, 101))
    said = [decoded(ToolName.CARGO, line, _CargoLine) for line in raw.splitlines() if line.startswith(b"{")]
    hits = dict.fromkeys(hit for one in said if one.message for hit in _compiled(one.message, place))
    if finished.code != 0 and not any(hit.level == "error" for hit in hits):
        raise _stopped(ToolName.CARGO, _lines(finished.stderr_tail.encode(errors="replace")), finished)
    return CheckOutput(hits=tuple(hits))


def _compiled(one: _Message, place: CheckSite) -> Iterator[Hit]:
    span = next((span for span in one.spans if span.is_primary), None)
    file = place.file(span.file_name) if span else ""
    if span and file and one.level in ("error", "warning"):
        rule = one.code.code if one.code else SYNTAX
        yield _hit(ToolName.CARGO, rule, _At(file, span.line_start), one.message, one.level)


_STYLISH = re.compile(
    r"\s+(?P<line>\d+):\d+\s+(?P<level>error|warning)\s+(?P<message>.*?)(?:\s{2,}(?P<rule>[@\w][\w@/.-]*))?\s*"
)
_LINE = re.compile(
    r"(?P<file>[^\s:(][^:(]*?)[:(](?P<line>\d+)(?:[:,]\d+)?\)?[: ] *"
    r"(?:(?P<level>error|warning|note)\b:? *)?(?:(?P<rule>[A-Z]+[0-9]+):? +)?(?P<message>.+)"
)
_FRAME = re.compile(r"^[\s┃│|]*(?=\S)")


def _script(tool: ToolName) -> Callable[[Finished, CheckSite], CheckOutput]:
    def reader(finished: Finished, place: CheckSite) -> CheckOutput:
        lines = _printed(tool, finished)
        if finished.code == 0:
            return CheckOutput()
        return CheckOutput(hits=tuple(_named(tool, lines, place)), failures={"": _tail(lines)})

    return reader


def _printed(tool: ToolName, finished: Finished) -> list[str]:
    if finished.how is How.EXITED and finished.code in _CANNOT_START:
        raise _stopped(tool, _lines(finished.stderr_tail.encode(errors="replace")), finished)
    known = range(256) if finished.how is How.EXITED and finished.signal is None else ()
    printed = output_of(tool, finished, known)
    return _lines(printed + b"\n" + finished.stderr_tail.encode(errors="replace"))


def _named(tool: ToolName, lines: Collection[str], place: CheckSite, rule: str = "") -> Iterator[Hit]:
    """The lines of files that an output names: after a heading with the file, as eslint writes, or beside it."""
    heading = ""
    for line in lines:
        stylish = _STYLISH.fullmatch(line)
        if stylish and heading:
            name = rule or stylish["rule"] or REPORTED
            yield _hit(tool, name, _At(heading, stylish["line"]), stylish["message"], stylish["level"])
            continue
        heading = (place.file(bare) if (bare := _FRAME.sub("", line).strip()) else "") or (
            "" if line.strip() else heading
        )
        beside = _LINE.fullmatch(bare)
        if beside and beside["level"] != "note" and (file := place.file(beside["file"])):
            name = rule or beside["rule"] or REPORTED
            yield _hit(tool, name, _At(file, beside["line"]), beside["message"], beside["level"] or "error")


def _tail(lines: Collection[str]) -> str:
    kept = "\n".join(line for line in lines if line.strip())
    return bounded(kept[-_MOST_TAIL:], _MOST_TAIL)


_HOOK = re.compile(r"- hook id: (?P<id>\S+)")
_HEAD_OF_HOOK = re.compile(r".*\.{3,}(?:\(.*\))?(?:Passed|Failed|Skipped)")
SKIPPED_HOOKS = "burnish: not run: "


def _pre_commit(finished: Finished, place: CheckSite) -> CheckOutput:
    lines = _printed(ToolName.PRE_COMMIT, finished)
    hooks: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        if match := _HOOK.fullmatch(line):
            current = hooks.setdefault(match["id"], [])
        elif _HEAD_OF_HOOK.fullmatch(line):
            current = None
        elif current is not None:
            current.append(line)
    if finished.code == 0:
        return CheckOutput()
    if finished.code != 1 or not hooks:
        raise _stopped(ToolName.PRE_COMMIT, lines, finished)
    hits = [hit for name, said in hooks.items() for hit in _named(ToolName.PRE_COMMIT, said, place, name)]
    return CheckOutput(hits=tuple(hits), failures={name: _tail(said) for name, said in hooks.items()})


def skipped_hooks(finished: Finished) -> str:
    """The hooks that were not run because they would have to be installed first."""
    lines = _lines(finished.stdout)
    return next((line.removeprefix(SKIPPED_HOOKS) for line in lines if line.startswith(SKIPPED_HOOKS)), "")


def failure_hit(tool: ToolName, name: str, command: str, file: str, said: str) -> Hit:
    """A command that fails now and did not before, where it names no line that is new."""
    what = f"The hook `{name}` of {command}" if name else f"`{command}`"
    hit = _hit(tool, name or FAILED, _At(file, 0), f"{what} fails, and does not fail without the change.")
    return replace(hit, snippet=said)


def _stopped(tool: ToolName, lines: Collection[str], finished: Finished) -> ToolError:
    errors = _lines(finished.stderr_tail.encode(errors="replace"))
    said = [line.strip() for line in (*lines, *errors) if line.strip()]
    last = f": {bounded(said[-1], 300)}" if said else ""
    return ToolError(f"{tool.value} stopped with exit code {finished.code}{last}")


_READERS: Mapping[ToolName, Callable[[Finished, CheckSite], CheckOutput]] = {
    ToolName.MYPY: _mypy,
    ToolName.PYRIGHT: _pyright,
    ToolName.TSC: _tsc,
    ToolName.GO_VET: _go_vet,
    ToolName.CARGO: _cargo,
    ToolName.LINT: _script(ToolName.LINT),
    ToolName.LEFTHOOK: _script(ToolName.LEFTHOOK),
    ToolName.PRE_COMMIT: _pre_commit,
}
