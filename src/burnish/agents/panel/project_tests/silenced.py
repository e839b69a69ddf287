"""Tests that guarded code on the base and do not any more: deleted, skipped, emptied, or no longer selected.

What counts is the code, not the test: where lines that such a test ran are still there and no passing test runs them
now, the change has silenced a test. Lines come from coverage. Without it, names must do: a function that the test named
and that no test names now. Where code went together with its tests, or other tests run it, that is worth a note.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from burnish.agents.panel.project_tests.findings import CATEGORY, evidence, named
from burnish.agents.panel.project_tests.values import Case, FileLines
from burnish.agents.panel.python_source import parse_python
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.line_changes import FileChange, Hunk
from burnish.core.values import Value

_MOST_PLACES = 20
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_DEFINES = (
    r"(?:\b(?:def|fn|func|function|class|struct|enum|trait|interface|type|const|let|var|static)\s+(?:\([^)\n]*\)\s*)?"
    r"|\bexports\.|\.prototype\.)(?P<name>\w+)"
)
_DEFINITION = re.compile(_DEFINES)
_LITTLE = (ast.Constant, ast.Load, ast.Expr, ast.Pass, ast.Assert, ast.Return)


class EditedSource(Value):
    """A file of code before and after, as far as it is known."""

    path: str
    """Its path in the change."""
    before: str
    now: str
    change: FileChange | None = None


class Lost(Value):
    """Code that was tested and is not any more: a file, and its lines or names."""

    path: str
    lines: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


Lines = Mapping[str, FileLines]


class Guarded(Value):
    """What tests that are gone had tested."""

    lost: tuple[Lost, ...] = ()
    """Code that is still there, and that no passing test runs now."""
    left: bool = False
    """Whether any of it is still there."""


def guarded_lines(ran: Lines, runs: Lines, sources: Mapping[str, EditedSource]) -> Guarded:
    """What some tests ran on the base (`ran`), after what passing tests run now (`runs`).

    `sources` are by the path of the base. A file that is not among them was deleted.
    """
    left = False
    found: list[Lost] = []
    for old_path, lines in ran.items():
        source = sources.get(old_path)
        if source is None:
            continue
        here = _still_there(source, lines.executed)
        executed = runs[source.path].executed if source.path in runs else frozenset[int]()
        countable = runs[source.path].statements if source.path in runs else None
        kept = here & _countable(source, countable)
        left = left or bool(kept)
        if kept - executed:
            found.append(Lost(path=source.path, lines=tuple(sorted(kept - executed))))
    return Guarded(lost=tuple(found), left=left)


def _countable(source: EditedSource, statements: frozenset[int] | None) -> frozenset[int]:
    """Lines that say something when they run. What runs by mere importing does not, where there is anything else."""
    tree = parse_python(source.now) if source.path.endswith(".py") else None
    if tree is None:
        return statements if statements is not None else frozenset(range(1, source.now.count("\n") + 2))
    bodies = frozenset(line for _, lines in _functions(tree) for line in lines)
    own = bodies or frozenset(node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt))
    return own & statements if statements is not None else own


def _functions(tree: ast.Module) -> list[tuple[str, frozenset[int]]]:
    """Each function by its qualified name, with the first lines of the statements inside."""
    found: list[tuple[str, frozenset[int]]] = []
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = f"{prefix}.{child.name}" if isinstance(child, _SCOPES) else prefix
            waiting.append((name, child))
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = (each for statement in child.body for each in ast.walk(statement))
                found.append((name, frozenset(each.lineno for each in inner if isinstance(each, ast.stmt))))
    return found


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _still_there(source: EditedSource, lines: Iterable[int]) -> frozenset[int]:
    """Where lines are now. Of lines that were replaced, what came in their place counts if its function is the same."""
    change = source.change
    if change is None:
        return frozenset(lines)
    if change.whole:
        return frozenset()
    return frozenset(now for line in lines for now in _followed(source, change.hunks, line))


def _followed(source: EditedSource, hunks: Sequence[Hunk], line: int) -> Iterable[int]:
    shift = 0
    for hunk in hunks:
        if hunk.old_lines and hunk.old_start <= line <= hunk.last_old_line:
            new = range(hunk.new_start, hunk.new_start + hunk.new_lines)
            return new if _same_function(source, line) else ()
        if hunk.last_old_line < line:
            shift += hunk.new_lines - hunk.old_lines
    return (line + shift,)


def _same_function(source: EditedSource, line: int) -> bool:
    """Whether the function around a line of the base is still there."""
    is_python = source.path.endswith(".py")
    before, now = (parse_python(text) if is_python else None for text in (source.before, source.now))
    if before is None or now is None:
        return True
    around = {name for name, lines in _functions(before) if line in lines}
    return not around or bool(around & {name for name, _ in _functions(now)})


def is_emptied(before: str, now: str, name: str) -> bool:
    """Whether a test of Python did something on the base, and does nothing on the change."""
    own = name.rpartition("::")[2].partition("[")[0].rpartition(".")[2]
    then, later = _body(before, own), _body(now, own)
    return then is not None and later is not None and _does_something(then) and not _does_something(later)


def _body(text: str, name: str) -> list[ast.stmt] | None:
    tree = parse_python(text)
    if tree is None:
        return None
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return next((node.body for node in functions if node.name == name), None)


def _does_something(body: Sequence[ast.stmt]) -> bool:
    for statement in body:
        if isinstance(statement, ast.Return):
            return statement.value is not None and not isinstance(statement.value, ast.Constant)
        if any(not isinstance(node, _LITTLE) for node in ast.walk(statement)):
            return True
    return False


def block_of(name: str, text: str) -> str:
    """The lines of one test in a file: from the one that names it to the next that is not further to the right."""
    lines = text.splitlines()
    start = next((at for own in _own_names(name) if (at := _line_with(own, lines)) is not None), None)
    if start is None:
        return ""
    indent, end = _indent(lines[start]), start + 1
    while start and _indent(lines[start - 1]) == indent and lines[start - 1].strip().startswith(("@", "#[")):
        start -= 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    closes = end < len(lines) and lines[end].strip()[:1] in ("}", ")", "]")
    return "\n".join(lines[start : end + closes]).rstrip()


def _own_names(name: str) -> Iterator[str]:
    """What a test may be called in its file: runners put the names of files, classes and groups before its own."""
    last = re.split(r"::| > ", name)[-1].partition("[")[0].strip()
    yield last
    yield last.rpartition(".")[2].partition("/")[0]
    words = last.split(" ")
    yield from (" ".join(words[at:]) for at in range(1, len(words)))


def _line_with(own: str, lines: Sequence[str]) -> int | None:
    pattern = re.compile(rf"(?<!\w){re.escape(own)}(?!\w)")
    return next((at for at, line in enumerate(lines) if own and pattern.search(line)), None)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def guarded_names(
    gone: Sequence[Case], before: Mapping[str, str], now: Mapping[str, str], code: Mapping[str, str]
) -> Guarded:
    """What these tests named. `before` and `now` are files with tests, `code` is all other code now."""
    named_before: set[str] = set()
    for case in gone:
        named_before |= set(_WORD.findall(_block_in(case, before)))
    left = {path: _without(gone, text) for path, text in now.items()}
    named_now = {word for text in left.values() for word in _WORD.findall(text)}
    defined = {
        path: {match["name"] for match in _DEFINITION.finditer(left.get(path, text))} & named_before
        for path, text in code.items()
    }
    lost = [Lost(path=path, names=tuple(sorted(names - named_now))) for path, names in defined.items()]
    return Guarded(lost=tuple(each for each in lost if each.names), left=any(defined.values()))


def _block_in(case: Case, files: Mapping[str, str]) -> str:
    known = [files[case.file]] if case.file in files else list(files.values())
    return next((block for text in known if (block := block_of(case.name, text))), "")


def _without(gone: Sequence[Case], text: str) -> str:
    for case in gone:
        block = block_of(case.name, text)
        text = text.replace(block, "") if block else text
    return text


def silenced(cases: Sequence[Case], lost: Sequence[Lost]) -> Finding:
    """Tests that a change silenced."""
    places = [_place(each) for each in lost]
    what = "; ".join(_words(each) for each in islice(lost, _MOST_PLACES))
    names = [case.name for case in cases]
    title = f"`{names[0]}` is silenced" if len(names) == 1 else f"{len(names)} tests are silenced"
    return Finding(
        severity=Severity.HIGH,
        title=f"{title}, and no other test runs the code",
        category=CATEGORY,
        rule="tests:tests-silenced",
        location=places[0],
        also_at=tuple(places[1:_MOST_PLACES]),
        problem=(
            "They passed on the base. The change deletes, empties, skips or deselects them. The code that they "
            f"ran is still there, and no passing test runs it now: {what}."
        ),
        impact="No test would fail if this code were wrong.",
        evidence=evidence("\n".join(names)),
        suggestion="Restore the tests, or test this code in another way.",
        confidence=0.9,
    )


def _place(lost: Lost) -> Location:
    return Location(file=lost.path, line=lost.lines[0] if lost.lines else None)


def _words(lost: Lost) -> str:
    if lost.names:
        return f"{named(lost.names)} in `{lost.path}`"
    lines = ", ".join(map(str, lost.lines[:_MOST_PLACES]))
    return f"line {lines} of `{lost.path}`" if len(lost.lines) == 1 else f"lines {lines} of `{lost.path}`"


def no_longer_run(cases: Sequence[Case]) -> Finding:
    """Tests that are gone without a loss: what they ran is gone, too, or others run it."""
    names = [case.name for case in cases]
    return Finding(
        severity=Severity.INFO,
        title=f"`{names[0]}` no longer runs" if len(names) == 1 else f"{len(names)} tests no longer run",
        category=CATEGORY,
        rule="tests:tests-gone",
        problem="They passed on the base. The code that they ran is also gone, or other tests run it.",
        evidence=evidence("\n".join(names)),
        action=Action.NOTE,
        confidence=0.9,
    )
