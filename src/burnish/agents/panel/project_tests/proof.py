"""Whether tests of a change fail without it. Decided from texts and results; nothing is run here.

A test that the change adds or edits, and that passes on the base's code too, would not notice if the change were
undone. One that fails there is proof, unless it fails for a reason that has nothing to do with the code: a fixture or a
package that is not there. A test that cannot be loaded, because the base has not got what it imports, is proof.
"""

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from burnish.agents.panel.project_tests.changed_tests import affected_tests, edited_tests, test_name
from burnish.agents.panel.project_tests.findings import CATEGORY, evidence, named
from burnish.agents.panel.project_tests.silenced import block_of
from burnish.agents.panel.project_tests.values import (
    Case,
    CaseOutcome,
    Framework,
    SuiteEnd,
    TestPlan,
    TestResult,
    function_of,
)
from burnish.agents.panel.python_source import parse_python
from burnish.core.findings import Finding, Location, Severity
from burnish.core.values import Value

_FIX = re.compile(
    r"(?:bug|hot)?fix(?:e[sd]|ing)?\b|.*\b(?:bug(?:s|fix(?:es)?)?|fixes)\b|.*\bfix(?:e[sd]|ing)? \#\d", re.IGNORECASE
)
_NO_FIX = re.compile(
    r".*\bfix(?:e[sd]|ing)?\b[^a-z]*(?:\w+ ){0,3}?(?:typos?|spelling|lint\w*|format\w*|style|docs?|docstrings?|readme|"
    r"changelog|comments?|ci|builds?|tests?(?:_\w+)?|flak\w*|warnings?|imports?|annotations?|typing|types?|mypy|"
    r"links?|wording)\b|.*\b(?:typos?|spelling|wording|lint\w*|docs?|docstrings?|comments?|mypy) fix(?:es)?\b(?! \#)",
    re.IGNORECASE,
)
_NO_BEHAVIOUR = re.compile(
    r"(?:refactor\w*|chore|style|docs?|tests?|perf|build|ci|bench\w*|typing|types|lint\w*|format\w*|bump|release|revert|"
    r"rename|move|clean\w*|optimi[sz]e|speed|simplify|deprecate)\b",
    re.IGNORECASE,
)
_MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")
_UNRELATED = re.compile(
    r"fixture '[^']+' not found|not found in `markers`|unrecognized arguments|PytestUnknownMarkWarning"
    r"|unknown config option|plugin .{0,80} not found|Error importing plugin"
)
_CANNOT_IMPORT = re.compile(r"ImportError|ModuleNotFoundError|AttributeError|NameError|SyntaxError")
_MOST_PLACES = 20


class TestFileChange(Value):
    """A file of tests before and after."""

    __test__ = False

    path: str
    before: str
    now: str


class TouchedTests(Value):
    """Tests of the change that pass there and that it brought or altered, by function."""

    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    affected: tuple[str, ...] = ()
    """They are as they were, and use something that is not: they may be proof, and are never blamed."""

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.added, *self.edited, *self.affected)


class WithoutChange(Value):
    """What became of them on the base's code, by function."""

    passing: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()
    ran_and_failed: frozenset[str] = frozenset()
    """Those that could be loaded: what they do made them fail."""
    unclear: frozenset[str] = frozenset()
    """They failed for another reason, or did not run."""


def touched_tests(files: Sequence[TestFileChange], head: TestResult, framework: Framework) -> TouchedTests:
    """The passing tests that a change adds, edits, or gives something new to work with."""
    failing = {function_of(case.name) for case in head.failing}
    found: dict[str, list[str]] = {"added": [], "edited": [], "affected": []}
    for file in files:
        cases = [case for case in head.passing if _is_in(case, file.path) and function_of(case.name) not in failing]
        for name, how in _how_touched(file, cases, framework):
            found[how].append(name)
    return TouchedTests(**{how: tuple(dict.fromkeys(names)) for how, names in found.items()})


def _is_in(case: Case, path: str) -> bool:
    return case.file == path or (not case.file and bool(case.folder) and case.folder == path.rpartition("/")[0])


def _how_touched(file: TestFileChange, cases: Sequence[Case], framework: Framework) -> Iterator[tuple[str, str]]:
    if not file.path.endswith(".py"):
        for case in cases:
            before, now = block_of(case.name, file.before), block_of(case.name, file.now)
            if now and before != now:
                yield function_of(case.name), "edited" if before else "added"
        return
    edited, affected = edited_tests(file.before, file.now), affected_tests(file.before, file.now)
    known = affected_tests("", file.before)
    for case in cases:
        name = test_name(case, framework)
        if name in edited:
            yield function_of(case.name), "edited" if name in known else "added"
        elif name in affected:
            yield function_of(case.name), "affected"


def without_change(wanted: Collection[str], ran: TestResult, is_new_module: Callable[[str], bool]) -> WithoutChange:
    """What a run of these tests on the base's code says. `is_new_module`: whether the change adds such a module."""
    outcomes: dict[str, set[str]] = {name: set() for name in wanted}
    for case in ran.cases:
        name = function_of(case.name)
        if name in outcomes:
            outcomes[name].add(_outcome(case, is_new_module))
    for name in map(function_of, ran.running):
        outcomes.get(name, set()).add("failing")
    failed = frozenset(name for name, found in outcomes.items() if "failing" in found)
    not_loaded = frozenset(name for name in outcomes if _is_not_loaded(name, ran, is_new_module)) - failed
    passing = frozenset(name for name, found in outcomes.items() if found == {"passing"} and ran.complete) - not_loaded
    return WithoutChange(
        passing=passing,
        failing=failed | not_loaded,
        ran_and_failed=failed,
        unclear=frozenset(outcomes) - failed - not_loaded - passing,
    )


def _is_not_loaded(name: str, ran: TestResult, is_new_module: Callable[[str], bool]) -> bool:
    """Whether a test could not be loaded, because the code of the base lacks something."""
    places = (name.partition("::")[0], name.rpartition(".")[0])
    broken = next((case for case in ran.failing if case.loading and (case.file or case.name) in places), None)
    if broken is not None:
        return _is_about_code(broken.text + broken.message, is_new_module)
    stopped = ran.ended is SuiteEnd.COULD_NOT_RUN and _CANNOT_IMPORT.search(ran.output)
    return bool(stopped) and _is_about_code(ran.output, is_new_module)


def _outcome(case: Case, is_new_module: Callable[[str], bool]) -> str:
    match case.outcome:
        case CaseOutcome.PASSED:
            return "passing"
        case CaseOutcome.SKIPPED:
            return "unclear"
        case CaseOutcome.FAILED:
            return "failing" if _is_about_code(case.text + case.message, is_new_module) else "unclear"


def _is_about_code(text: str, is_new_module: Callable[[str], bool]) -> bool:
    """Whether a failure says something of the code. The same tests pass on the change, so most of them do."""
    missing = _MISSING_MODULE.findall(text)
    if missing:
        return any(is_new_module(name) for name in missing)
    return not _UNRELATED.search(text)


def fix_subject(messages: Iterable[str]) -> str:
    """The first line of a commit that calls itself a fix of the code; empty where none does."""
    subjects = (message.strip().partition("\n")[0] for message in messages)
    return next((line for line in subjects if _FIX.match(_plain(line)) and not _NO_FIX.match(line)), "")


def keeps_behaviour(messages: Sequence[str]) -> bool:
    """Whether every commit says that it changes no behaviour."""
    return bool(messages) and all(_NO_BEHAVIOUR.match(_plain(message)) for message in messages)


def _plain(message: str) -> str:
    """Without what is put before the first word: a number of an issue, the name of a part, an emoji."""
    line = message.strip().partition("\n")[0]
    return re.sub(r"^(?:\W*(?:GH-|gh-|#)?\d+\W+|\[[^\]]*\]\s*|[^\w(]+)+", "", line)


def changes_behaviour(before: str, now: str) -> bool:
    """Whether Python code differs in more than comments, docstrings, annotations, imports and version numbers."""
    former, latter = parse_python(before), parse_python(now)
    if former is None or latter is None:
        return before != now
    return ast.dump(_Essence().visit(former)) != ast.dump(_Essence().visit(latter))


class _Essence(ast.NodeTransformer):
    """Leaves out what does not decide what code does."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        del node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        del node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(arg=node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(value=None)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        return None if names & {"__version__", "__all__", "version"} else self.generic_visit(node)


def passes_without(names: Sequence[str], places: Sequence[Location], plan: TestPlan) -> Finding:
    """Tests of the change that pass on the base's code, too."""
    one = len(names) == 1
    return Finding(
        severity=Severity.MEDIUM,
        title=f"`{names[0]}` passes without the change" if one else f"{len(names)} new tests pass without the change",
        category=CATEGORY,
        rule="tests:passes-without",
        location=places[0] if places else None,
        also_at=tuple(places[1:_MOST_PLACES]),
        problem=f"Run on the code of the base, {named(names)} {'passes' if one else 'pass'} as well.",
        impact="Such a test says nothing about the change: it would not fail if the change were undone.",
        evidence=evidence("\n".join((f"$ {plan.text}, on the base's code with the tests of the change", *names))),
        suggestion="Check what the change makes different, so that the test fails without it.",
        confidence=0.9,
    )


def fix_not_tested(subject: str, names: Sequence[str], places: Sequence[Location], plan: TestPlan) -> Finding:
    """A change that calls itself a fix, and without which no test fails."""
    return Finding(
        severity=Severity.HIGH,
        title="No test fails without this fix",
        category=CATEGORY,
        rule="tests:fix-not-tested",
        location=places[0] if places else None,
        also_at=tuple(places[1:_MOST_PLACES]),
        problem=(
            f"The change calls itself a fix (“{subject[:200]}”). All tests that it adds or edits pass on the code of "
            f"the base as well: {named(names)}."
        ),
        impact="Nothing shows that the defect was there or that it is gone, and nothing would notice its return.",
        evidence=evidence("\n".join((f"$ {plan.text}, on the base's code with the tests of the change", *names))),
        suggestion="Add a test that fails on the base because of the defect, and passes with the fix.",
        confidence=0.9,
    )
