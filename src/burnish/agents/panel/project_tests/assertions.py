"""Tests that cannot fail: without an assertion, with one that always holds, or about their own mocks only. Python only.

It reads text and runs nothing. What it cannot see counts as an assertion: helpers from elsewhere, fixtures that are
called, snapshots, benchmarks, properties. It names few tests, and those for a reason that a reader can check.
"""

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cached_property

from burnish.agents.panel.project_tests.changed_tests import Function, TestFunction, TestModule, edited_tests
from burnish.core.values import Value

_ASSERTS = re.compile(
    r"_*(?:assert|check|expect|verify|validat(?:e|or)|ensure|should|must|refute|compare|approve|snapshot|raises|warns|deprecated_call"
    r"|fail|xfail|skip|importorskip|fnmatch_lines|no_fnmatch|benchmark|match_snapshot)",
    re.IGNORECASE,
)
_DECORATED = re.compile(
    r"given|benchmark|xfail|skip|filterwarnings|raises|compare|image|snapshot|timeout|expectedfailure|figures|schema"
    r"|inlineCallbacks|deferred|retry",
    re.IGNORECASE,
)
_DECIDES_FOR_EMPTY = re.compile(
    r"(?:\w+\.)*(?:raises|xfail|expectedfailure|skip(?!_?(?:if|unless)))(?:\W.*)?", re.IGNORECASE | re.DOTALL
)
"""Around a test that does nothing: it fails then, or says itself that it is not there yet."""
_ASSERTING_FIXTURES = re.compile(
    r"(?:\w+_)?(?:regression|snapshot|benchmark|verify|approvals?|recwarn)|snapshot_\w+|(?:httpx|respx|requests)_mock"
    r"|responses|rsps|asserter|checker"
)
_HELPER_MODULE = re.compile(
    r"(?:utils?|helpers?|common|support)|(?:.*\.)?(?:_?tests?|_?testing|conftest|test_?\w+|\w+_test(?:s|ing)?)(?:\..*)?"
)
_MEANS_NO_ERROR = re.compile(
    r"smoke|import|no[ _]?(?:error|exception|crash|raise|warn|op\b|hang|deadlock)"
    r"|without[ _](?:an? )?(?:error|exception|rais|crash|fail|warn)"
    r"|(?:n't|nt|not|never|no longer)[ _](?:\w+[ _])?(?:raise|crash|fail|error|throw|hang|warn"
    r"|explode|blow up|break|segfault|leak|block|deadlock|loop|recurse)"
    r"|instead of (?:rais|crash|fail|throw|hang|blow|break)ing|(?:is|are|be)[ _](?:allowed|accepted|valid|ok)\b",
    re.IGNORECASE,
)
"""Words with which a test says that it is there to see that nothing is raised."""
_EQUALITY = re.compile(r"eq|hash|reflexiv|identi|compar|same|nan|order", re.IGNORECASE)
_MOCKS = frozenset({"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec", "PropertyMock"})
_CATCHES_ASSERTIONS = frozenset({"Exception", "BaseException", "AssertionError"})
_BUILTINS = frozenset(dir(builtins))
_ONE = frozenset({"assertTrue", "assert_", "assert_true"})
_TWO = frozenset({"assertEqual", "assertEquals", "assertIs", "assertListEqual", "assertDictEqual", "assert_equal"})
_OBJECTS = frozenset({"app", "client", "db", "settings", "config", "models", "factories"})
"""What tests import from each other and does not assert."""
_MOST_EVIDENCE = 1_500


class Weakness(Enum):
    """Why a test cannot fail."""

    EMPTY = "empty"
    NO_ASSERTION = "no-assertion"
    ALWAYS_TRUE = "always-true"
    NOT_REACHED = "not-reached"
    ONLY_MOCKS = "only-mocks"


class WeakTest(Value):
    """A test that cannot fail."""

    name: str
    line: int
    end_line: int
    weakness: Weakness
    code: str
    """The lines that show it."""


def weak_tests(before: str, now: str) -> tuple[WeakTest, ...]:
    """The tests that a change adds or edits, and that cannot fail by what they assert."""
    module = TestModule(now)
    wanted = edited_tests(before, now)
    found: list[WeakTest] = []
    for name, test in module.tests.items():
        weakness = _Look(module, test).weakness() if name in wanted else None
        if weakness is not None:
            code = ast.get_source_segment(now, test.node) or ""
            last = test.node.end_lineno or test.node.lineno
            found.append(
                WeakTest(name=name, line=test.node.lineno, end_line=last, weakness=weakness, code=code[:_MOST_EVIDENCE])
            )
    return tuple(found)


class _Look:
    """One test, looked at."""

    def __init__(self, module: TestModule, test: TestFunction) -> None:
        self._module = module
        self._test = test
        self._node = test.node

    def weakness(self) -> Weakness | None:
        if all(_does_nothing(node) for node in self._node.body):
            return None if self._is_decorated(_DECIDES_FOR_EMPTY.fullmatch) else Weakness.EMPTY
        if self._is_excused():
            return None
        asserting = [node for node in ast.walk(self._node) if self._asserts(node)]
        if not asserting:
            return None if self._means_no_error() or not self._calls() else Weakness.NO_ASSERTION
        if all(_always_true(node, self._node.name) for node in asserting):
            return Weakness.ALWAYS_TRUE
        reached = set(_reached(self._node.body))
        if not any(node in reached for node in asserting) and not self._raises_itself(asserting):
            return Weakness.NOT_REACHED
        return Weakness.ONLY_MOCKS if _only_mocks(self._node, asserting) else None

    def _is_excused(self) -> bool:
        """Whether something around the test decides, or it hands something out that does."""
        if self._is_decorated(_DECORATED.search):
            return True
        if any(_ASSERTING_FIXTURES.fullmatch(name) for name in self._parameters):
            return True
        gives = (ast.Yield, ast.YieldFrom)
        return any(
            isinstance(node, gives)
            or (isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant))
            for node in _own_nodes(self._node)
        )

    def _is_decorated(self, matches: Callable[[str], object]) -> bool:
        decorators = [*self._node.decorator_list, *(self._test.owner.decorator_list if self._test.owner else ())]
        return any(matches(ast.unparse(decorator)) for decorator in decorators)

    def _means_no_error(self) -> bool:
        """Whether name, docstring or comments say that nothing must be raised."""
        lines = self._module.text.splitlines()[self._node.lineno - 1 : self._node.end_lineno]
        comments = " ".join(line.partition("#")[2] for line in lines)
        words = " ".join((self._node.name, ast.get_docstring(self._node) or "", comments))
        return bool(_MEANS_NO_ERROR.search(words))

    def _calls(self) -> bool:
        """Whether it does anything at all: a test of syntax or of names only is meant as it is."""
        return any(isinstance(node, ast.Call | ast.Await) for node in ast.walk(self._node))

    def _raises_itself(self, asserting: Iterable[ast.AST]) -> bool:
        """Whether it is sure to come to its handlers, or to fail there."""
        zero = any(isinstance(node, ast.BinOp) and _is_zero(node.right) for node in ast.walk(self._node))
        return zero or any(_always_fails(node) for node in asserting)

    def _asserts(self, node: ast.AST) -> bool:
        match node:
            case ast.Assert() | ast.Raise():
                return True
            case ast.Call():
                return self._is_asserting_call(node)
            case _:
                return False

    def _is_asserting_call(self, call: ast.Call) -> bool:
        name = _last_name(call.func)
        if _ASSERTS.match(name):
            return True
        match call.func:
            case ast.Name():
                return name.startswith(("test", "run_test", "do_test")) or self._may_assert(name)
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                return name.startswith("test") or self._method_may_assert(name)
            case ast.Attribute(value=ast.Name(id=module)):
                return module in self._helper_modules
            case _:
                return False

    def _may_assert(self, name: str) -> bool:
        """Whether a function that is called by its name may assert: it does, or it is not at hand."""
        if name in self._parameters or name in self._helpers:
            return True
        local = next((each for each in ast.walk(self._node) if isinstance(each, Function) and each.name == name), None)
        return self._helper_asserts(local or self._module.definitions.get(name), frozenset({name}))

    def _method_may_assert(self, name: str) -> bool:
        owner = self._test.owner
        if owner is None:
            return False
        own = next((each for each in owner.body if isinstance(each, Function) and each.name == name), None)
        if own is not None:
            return self._helper_asserts(own, frozenset({name}))
        return any(_last_name(base) not in ("TestCase", "object", "ABC") for base in owner.bases)

    def _helper_asserts(self, helper: ast.stmt | None, seen: frozenset[str]) -> bool:
        if isinstance(helper, ast.Assign | ast.AnnAssign) and helper.value is not None:
            return self._is_made_of_helpers(helper.value, seen)
        if not isinstance(helper, Function):
            return False
        for node in ast.walk(helper):
            if isinstance(node, ast.Assert | ast.Raise):
                return True
            if isinstance(node, ast.Call):
                name = _last_name(node.func)
                if _ASSERTS.match(name) or name in self._helpers:
                    return True
                further = self._module.definitions.get(name)
                if name not in seen and self._helper_asserts(further, seen | {name}):
                    return True
        return False

    def _is_made_of_helpers(self, value: ast.expr, seen: frozenset[str]) -> bool:
        """Whether a name stands for something that may assert: `partial(check, strict=True)`, another name of it."""
        names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
        return any(
            name in self._helpers
            or _ASSERTS.match(name)
            or (name not in seen and self._helper_asserts(self._module.definitions.get(name), seen | {name}))
            for name in names
        )

    @cached_property
    def _parameters(self) -> set[str]:
        return {each.arg for each in ast.walk(self._node.args) if isinstance(each, ast.arg)}

    @cached_property
    def _helpers(self) -> set[str]:
        """Names that come from other files of tests."""
        return {
            alias.asname or alias.name
            for node in ast.walk(self._module.tree)
            if isinstance(node, ast.ImportFrom) and (node.level == 1 or _HELPER_MODULE.fullmatch(node.module or ""))
            for alias in node.names
        }

    @cached_property
    def _helper_modules(self) -> set[str]:
        """Names of such files themselves."""
        found: set[str] = set()
        for node in ast.walk(self._module.tree):
            if isinstance(node, ast.ImportFrom) and _HELPER_MODULE.fullmatch(node.module or "tests"):
                found |= {alias.asname or alias.name for alias in node.names if alias.name.islower()}
            elif isinstance(node, ast.Import):
                named = (alias for alias in node.names if _HELPER_MODULE.fullmatch(alias.name))
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in named}
        return found - _OBJECTS


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """What is inside, without functions inside."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _own_nodes(child)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _does_nothing(node: ast.stmt) -> bool:
    plain = isinstance(node, ast.Return) and (node.value is None or isinstance(node.value, ast.Constant))
    return isinstance(node, ast.Pass) or _is_docstring(node) or plain


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript | ast.Await):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _always_fails(node: ast.AST) -> bool:
    match node:
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Call(func=function):
            return _last_name(function) == "fail"
        case _:
            return False


def _always_true(node: ast.AST, test: str) -> bool:
    match node:
        case ast.Assert(test=claim):
            return _holds(claim, test)
        case ast.Call(func=function, args=[one, *_]) if _last_name(function) in (
            "assertTrue",
            "assert_",
            "assert_true",
        ):
            return _holds(one, test)
        case ast.Call(func=function, args=[one, other, *_]) if _last_name(function) in _TWO:
            return _equal_to_itself(one, other, test)
        case _:
            return False


def _holds(claim: ast.expr, test: str) -> bool:
    """Whether a claim is true whatever the code does."""
    match claim:
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_holds(value, test) for value in values)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_holds(value, test) for value in values)
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            return _equal_to_itself(left, right, test)
        case _:
            return _is_constant_truth(claim)


def _is_constant_truth(claim: ast.expr) -> bool:
    match claim:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=value)):
            return not value
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return bool(elements)
        case ast.Compare(left=ast.Call(func=ast.Name(id="len")), ops=[ast.GtE()], comparators=[ast.Constant(value=0)]):
            return True
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, ast.Name(id="object")]) | ast.Lambda():
            return True
        case _:
            return False


def _equal_to_itself(left: ast.expr, right: ast.expr, test: str) -> bool:
    """Whether both sides are the same value; a test of equality may ask just that."""
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        return left.value == right.value and type(left.value) is type(right.value)
    plain = all(isinstance(node, ast.Name | ast.Attribute | ast.expr_context) for node in ast.walk(left))
    return plain and ast.dump(left) == ast.dump(right) and not _EQUALITY.search(test)


def _reached(body: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    """What runs, and whose failure is seen, where the tested code raises nothing."""
    for statement in body:
        match statement:
            case ast.Try() | ast.TryStar():
                yield from _reached_in_try(statement)
            case ast.With() | ast.AsyncWith():
                yield from (node for item in statement.items for node in ast.walk(item))
                if not any(_suppresses(item) for item in statement.items):
                    yield from _reached(statement.body)
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
                yield from _reached_in_branches(statement)
            case _:
                yield from ast.walk(statement)
        if isinstance(statement, ast.Return):
            return


def _reached_in_branches(statement: ast.If | ast.For | ast.AsyncFor | ast.While) -> Iterator[ast.AST]:
    decides = statement.test if isinstance(statement, ast.If | ast.While) else statement.iter
    yield from ast.walk(decides)
    if not _is_constant_false(decides):
        yield from _reached(statement.body)
    if not (isinstance(statement, ast.If) and _is_constant_truth(decides)):
        yield from _reached(statement.orelse)


def _is_constant_false(decides: ast.expr) -> bool:
    return (isinstance(decides, ast.Constant) and not decides.value) or (
        isinstance(decides, ast.Tuple | ast.List) and not decides.elts
    )


def _reached_in_try(statement: ast.Try | ast.TryStar) -> Iterator[ast.AST]:
    swallowed = any(_swallows(handler) for handler in statement.handlers)
    inner = tuple(_reached(statement.body))
    yield from (node for node in inner if not (swallowed and isinstance(node, ast.Assert | ast.Call | ast.Raise)))
    yield from _reached(statement.orelse)
    yield from _reached(statement.finalbody)


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a failing assertion ends here, and nothing is said."""
    caught = handler.type
    names = {
        _last_name(each) for each in (caught.elts if isinstance(caught, ast.Tuple) else [caught] if caught else [])
    }
    if caught is not None and names.isdisjoint(_CATCHES_ASSERTIONS):
        return False
    return all(
        isinstance(node, ast.Pass | ast.Continue) or _is_docstring(node) or _is_print(node) for node in handler.body
    )


def _is_print(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _last_name(node.value.func) == "print"


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    if not isinstance(call, ast.Call) or _last_name(call.func) != "suppress":
        return False
    return any(_last_name(each) in _CATCHES_ASSERTIONS for each in call.args)


def _only_mocks(test: Function, asserting: Iterable[ast.AST]) -> bool:
    """Whether a test calls nothing but mocks that it made itself, and so can only repeat what it told them."""
    mocks, patched = _mocks_of(test)
    if not mocks and not patched:
        return False
    calls = [node for node in ast.walk(test) if isinstance(node, ast.Call)]
    foreign = [call for call in calls if not _is_of_mocks(call, mocks, patched)]
    used = any(_root_name(call.func) in mocks or _last_name(call.func) in patched for call in calls)
    claims = [node for node in asserting if isinstance(node, ast.Assert | ast.Call)]
    return used and not foreign and bool(claims) and not any(isinstance(node, ast.Raise) for node in asserting)


def _mocks_of(test: Function) -> tuple[set[str], set[str]]:
    """Names that are mocks; and the last names of what is patched."""
    mocks: set[str] = set()
    patched: set[str] = set()
    decorated = [each for each in test.decorator_list if isinstance(each, ast.Call) and _is_patch(each)]
    own = [each.arg for each in test.args.args if each.arg not in ("self", "cls")]
    mocks |= set(own[: len(decorated)])
    for node in ast.walk(test):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function)) if _last_name(
                function
            ) in _MOCKS or _is_patch(node.value):
                mocks.add(name)
            case ast.withitem(context_expr=ast.Call() as call, optional_vars=ast.Name(id=name)) if _is_patch(call):
                mocks.add(name)
            case ast.Call() if _is_patch(node):
                patched |= _patched_name(node)
            case _:
                pass
    return mocks, patched


def _is_patch(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    said = ast.unparse(call.func)
    return said in ("patch", "patch.object", "mock.patch", "mock.patch.object", "unittest.mock.patch") or said in (
        "mocker.patch",
        "mocker.patch.object",
        "unittest.mock.patch.object",
    )


def _patched_name(call: ast.Call) -> set[str]:
    names = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return {names[-1].rpartition(".")[2]} if names else set()


def _is_of_mocks(call: ast.Call, mocks: set[str], patched: set[str]) -> bool:
    name = _last_name(call.func)
    if name in _MOCKS or _is_patch(call) or _root_name(call.func) in mocks or name in patched:
        return True
    if isinstance(call.func, ast.Name):
        return name in _BUILTINS
    return name.startswith("assert") and _root_name(call.func) in ("self", *mocks)
