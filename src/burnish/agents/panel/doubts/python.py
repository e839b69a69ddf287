"""Doubts about what is said of Python code, except of its types."""

import ast
import keyword
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeGuard

from burnish.agents.panel.doubts.python_values import (
    CHANGES,
    FROM_OUTSIDE,
    FROM_STRANGERS,
    comes_from_outside,
    is_put_together,
    parts_put_in,
    values_of,
)
from burnish.agents.panel.doubts.source import (
    Function,
    SourceCode,
    is_for_developers,
    is_parameter,
    last_name,
    parameters,
)
from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.imports import is_optional

_REPLACED = re.compile(r"from line (?P<line>\d+)")
NAME = re.compile(r"`(?P<name>\w+)`")
_INTERFACE = re.compile(r"\w*Interface|I[A-Z][a-z]\w*")
_OF_PYTHON_2 = frozenset(
    {"basestring", "buffer", "cmp", "file", "long", "raw_input", "reduce", "reload", "unichr", "unicode", "xrange"}
)
_VERSION = re.compile(r"version_info|\bPY_?[23]\d*|python_?[23]", re.IGNORECASE)
_ALSO_FOR_2 = re.compile(r"\b_?(?:IS_?)?PY_?[23]\b|\bsys\.version_info\b|^\s*(?:import|from) six\b", re.MULTILINE)
_ANOTHER_START = re.compile(r"version_info|__name__ == (?!'__main__')")
_FILLED_IN = re.compile(r"__[A-Z][A-Z_]*__")
_SAYS_WHY = re.compile(r"\b(?:ignor|suppress|swallow|silent)", re.IGNORECASE)
_KEEPS = frozenset(
    {
        "cache", "cached_property", "classmethod", "contextmanager", "fixture", "lru_cache", "property", "staticmethod",
        "wraps",
    }
)  # fmt: skip
"""Decorators that do nothing with a function but change it."""
_LXML = re.compile(r"^\s*(?:import|from) lxml\b", re.MULTILINE)
_LATE = re.compile(r"^\s+.*\brequire\(")
_SHELLS = ("getoutput", "getstatusoutput", "popen", "popen2", "popen3", "popen4", "system")
_COMMAND_ARGUMENTS = ("args", "cmd", "command")
_TIDIES_UP = frozenset(
    {
        "aclose", "cancel", "cleanup", "close", "detach", "disconnect", "endwin", "flush", "join", "kill", "kill_tree",
        "logout", "quit", "release", "remove", "rmdir", "rmtree", "rollback", "server_close", "shutdown", "stop",
        "terminate", "unlink", "unlock", "unregister",
    }
)  # fmt: skip
_CACHE = re.compile(r"\w*(?:cache|memo)\w*\s*(?::[^=]+)?=\s*(?:\{\}|\[\]|dict\()")
_IS_VALUE = re.compile(
    r"""(?:['"%=<>]|\b(?:where|having|set|like|between|and|or|limit|offset|(?:values|in)\s*\()|\b(?:values|in)\s*\([^()]*,)\s*$""",
    re.IGNORECASE,
)
"""Where a value goes, or a condition with values, and not a name of a table or a column."""
_IS_NAME = re.compile(
    r"""\b(?:from|into|update|join|table|view|index|sequence|schema)\s+(?:["`\[]|\w+\.)*$""", re.IGNORECASE
)
"""Where a name goes, in the quotes that names have."""
_BEGINS_QUERY = re.compile(
    r"[\s(]*(?:with|select|insert|update|delete|replace|merge|create|drop|alter|explain|call|exec\w*|declare|begin)\b",
    re.IGNORECASE,
)
_UNSAFE_LOADERS = ("Loader", "CLoader", "UnsafeLoader", "CUnsafeLoader")
"""`FullLoader` makes plain values only today; it was otherwise before PyYAML 5.4."""
_DEBUGS = re.compile(r"debug|pdb|break(?:point|_?flag|$)|set_trace", re.IGNORECASE)
_ONE_OF = re.compile(r"\bchoice\(\s*\w*(?:keys|tokens|secrets|passwords)\b", re.IGNORECASE)
_PLACES = re.compile(r"placeholder|['\"]\?['\"]|['\"]%s['\"]", re.IGNORECASE)
_PAIR_OR_NAME = re.compile(r"""\s*["']?(?P<name>[\w-]+)["']?\s*[:=][^=]""")
_SECRET = re.compile(r"token|secret|passw|nonce|salt|otp$|session_?id|key", re.IGNORECASE)
_MAKE_TEXTS = frozenset(
    {"bytes", "encode", "format", "hex", "int", "join", "list", "lower", "repr", "str", "tuple", "upper", "zfill"}
)
_DECIDES = re.compile(r"\brandom\(\)\s*[<>]|[<>]=?\s*random\.random\(\)")
_OF_CONFIGURATIONS = ("c", "config", "get_config", "load_subconfig")
_SOON = 4
_WITH_ONE_VALUE = 2
_OPERATORS = {ast.Gt: "gt", ast.Lt: "lt", ast.GtE: "ge", ast.LtE: "le"}
_IS_SYNC = re.compile(r"(?:\w+\.)*_?IS_SYNC(?: and .*)?", re.IGNORECASE)
_IS_MAIN = re.compile(r"__name__ == '__main__'")
_REPLACES = re.compile(r"^\s*[\w.]+\[(?:[^\[\]:,]|\[[^\[\]]*\]|,[^\[\]]*)+\]\s*[-+*/]?=[^=]")
_REMOVES = re.compile(r"\.remove\(")
_GROWS = re.compile(r"\.(?:append|extend|insert)\(|^\s*[\w.]+\s*\+=")
_ADDS = re.compile(r"\.(?:add|update)\(")
_PAGES = re.compile(
    r"html|flask|django|\bresponse|\bweb\b|\bpages?\b|\be?mail|(?:send|render)_(?:to|e?mail)", re.IGNORECASE
)


def runs_its_own_code(hit: Hit, source: SourceCode) -> bool:
    """Nothing from outside is seen to become part of the code that is run.

    Files of code are plugins and settings. What is given to `exec` as a whole, what is compiled, under the name of a
    file, and what is evaluated with names of the caller, is code on purpose; a dict without builtins is no protection,
    and shows that it may be anything.
    """
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call) and last_name(node.func) == "eval"]
    run = _given_to(hit, source, ("exec", "eval"))
    # `exec` is for code by its nature; a value that is wanted can be had without `eval`.
    is_code = (not calls and not any(map(is_put_together, run))) or any(
        len(one.args) > 1 and not isinstance(one.args[1], ast.Dict) for one in calls
    )

    def comes_from_strangers(one: ast.expr) -> bool:
        is_meant = is_code or _is_file(one, source, hit.line)
        return comes_from_outside(
            one, source, hit.line, outside=FROM_STRANGERS, from_callers=not is_meant, from_imports=not is_meant
        )

    return bool(run) and not any(map(comes_from_strangers, run))


def _given_to(hit: Hit, source: SourceCode, functions: Collection[str]) -> list[ast.expr]:
    """The first argument of each call of such a function that a line is part of."""
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call) and node.args]
    return [node.args[0] for node in calls if last_name(node.func) in functions]


def _is_file(code: ast.expr, source: SourceCode, line: int | None) -> bool:
    """Whether code is that of a file, or compiled under the name of one."""
    made = [one.func for one in _meanings(code, source, line) if isinstance(one, ast.Call)]
    return any(last_name(one) in ("compile", "read", "read_text") for one in made)


def _meanings(value: ast.expr, source: SourceCode, line: int | None) -> list[ast.expr]:
    """The expression; of a name, those that the function, or the module, gives to it."""
    scope = source.function(line) or ast.Module(body=source.body, type_ignores=[])
    known = [*values_of(scope, value.id)] if isinstance(value, ast.Name) else []
    return known or [value]


def unpickles_its_own_data(hit: Hit, source: SourceCode) -> bool:
    """A program trusts the files that it chooses itself, mostly caches, and the other processes of its own."""
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call)]
    data = [part for call in calls for part in (*call.args, *(one.value for one in call.keywords))]
    if any("fdopen(" in ast.unparse(one) for part in data for one in _meanings(part, source, hit.line)):
        return True  # another process of the program left it open
    function = source.function(hit.line)
    if function is not None and "compare_digest(" in ast.unparse(function):
        return True  # only what the program has signed
    return bool(calls) and not any(
        comes_from_outside(one, source, hit.line, outside=FROM_STRANGERS, from_callers=False) for one in data
    )


def is_command_of_the_program(hit: Hit, source: SourceCode) -> bool:
    """The whole command line is given, by those who mean to run it; or nothing from outside is put into it."""
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call)]
    commands = [
        part
        for call in calls
        if last_name(call.func) in _SHELLS or any(one.arg == "shell" for one in call.keywords)
        for part in (*call.args[:1], *(one.value for one in call.keywords if one.arg in _COMMAND_ARGUMENTS))
    ]
    function = source.function(hit.line)
    whole = [one for one in commands if is_parameter(one, function)]
    meant = [one for part in commands if part not in whole for one in _meanings(part, source, hit.line)]
    by_developers = is_for_developers(hit.file)
    return bool(commands) and not any(
        comes_from_outside(
            one, source, hit.line, outside=FROM_STRANGERS, from_callers=is_put_together(one) and not by_developers
        )
        for one in meant
    )


def is_list_of_work(hit: Hit, source: SourceCode) -> bool:
    """A list that only grows, or keeps its length, gives every element; and a loop may end with the change.

    What `for one in self` goes through, the class decides.
    """
    line = source.line(hit.line)
    loops = [node.iter for node in source.around(hit.line) if isinstance(node, ast.For)]
    if loops and (ast.unparse(loops[-1]) == "self" or _is_gone_through_again(loops[-1], source, hit.line)):
        return True
    if loops and isinstance(loops[-1], ast.Attribute) and _ADDS.search(line):
        return True  # an object of the program, whose class decides what `update` does
    if loops and _LXML.search(source.text) and (_REMOVES.search(line) or ast.unparse(loops[-1]).endswith(".attrib")):
        return True  # which finds the next element before it gives one, and makes a list of keys
    if _GROWS.search(line) or (_REPLACES.search(line) and not line.lstrip().startswith("del ")):
        return True
    branches = [node for node in source.around(hit.line) if isinstance(node, ast.If)]
    changed = [
        suite for node in branches for suite in (node.body, node.orelse) if any(_holds(one, hit.line) for one in suite)
    ]
    return bool(changed) and _leaves(changed[-1])


def leaves_with_the_change(hit: Hit, source: SourceCode) -> bool:
    """A set that changes in a loop does no harm where the loop ends with that."""
    loops = [node for node in source.around(hit.line) if isinstance(node, ast.For) and node.lineno == hit.line]
    if not loops:
        return False
    changed = rf"{re.escape(ast.unparse(loops[-1].iter))}\.\w+\("
    suites = [suite for node in ast.walk(loops[-1]) for suite in _suites(node)]
    changing = [
        suite
        for suite in suites
        if any(isinstance(one, ast.Expr) and re.match(changed, ast.unparse(one)) for one in suite)
    ]
    return bool(changing) and all(map(_leaves, changing))


def _is_gone_through_again(changed: ast.expr, source: SourceCode, line: int | None) -> bool:
    """Whether a loop goes through it as long as something is in it, or has changed: `while its: for it in its: …`."""
    outer = [node for node in source.around(line) if isinstance(node, ast.While)]
    set_within = {part.id for node in outer for part in ast.walk(node) if _is_stored_name(part)}
    tests = [ast.unparse(node.test) for node in outer]
    return ast.unparse(changed) in tests or not set_within.isdisjoint(tests)


def _holds(node: ast.stmt, line: int | None) -> bool:
    return line is not None and node.lineno <= line <= (node.end_lineno or node.lineno)


def _leaves(suite: Sequence[ast.stmt]) -> bool:
    """Whether a block ends the loop around it, whatever happens in it."""
    match suite[-1] if suite else None:
        case ast.Return() | ast.Raise() | ast.Break():
            return True
        case ast.If(body=body, orelse=orelse):
            return _leaves(body) and _leaves(orelse)
        case ast.Try(body=body, handlers=handlers):
            return _leaves(body) and all(_leaves(one.body) for one in handlers)
        case _:
            return False


def is_interface(hit: Hit, source: SourceCode) -> bool:
    """Methods of an interface of zope have no `self`."""
    classes = [node for node in source.around(hit.line) if isinstance(node, ast.ClassDef)]
    return any(_INTERFACE.fullmatch(last_name(base)) for one in classes for base in one.bases)


def is_no_dict(hit: Hit, source: SourceCode) -> bool:
    """`keys` of a dict takes no argument; and what a class of another name makes, or is given, may be no dict.

    What a class defines itself, such as `keys`, may make a list.
    """
    loops = [node.iter for node in source.around(hit.line) if isinstance(node, ast.For)]
    defined = {
        part.name
        for node in source.around(hit.line)
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, Function)
    }
    for loop in loops:
        if isinstance(loop, ast.Call) and ast.unparse(loop.func).removeprefix("self.") in defined:
            return True
    if any(isinstance(one, ast.Call) and one.args for one in loops):
        return True
    function = source.function(hit.line)
    for loop in loops[-1:] if function else ():
        owner = loop.func.value if isinstance(loop, ast.Call) and isinstance(loop.func, ast.Attribute) else loop
        if isinstance(owner, ast.Attribute) and owner.attr == "attrib" and _LXML.search(source.text):
            return True  # its `keys()` is a list
        values = [*values_of(function, owner.id)] if function and isinstance(owner, ast.Name) else []
        made = [last_name(one.func) for one in values if isinstance(one, ast.Call)]
        if any(name[:1].isupper() and "Dict" not in name and name != "Counter" for name in made):
            return True
    return False


def is_refused(hit: Hit, source: SourceCode) -> bool:
    """All that the method does is to fail, or to return None: objects of this class are not for that."""
    function = source.function(hit.line)
    if function is None:
        return False
    has_text = ast.get_docstring(function) is not None
    return all(map(_refuses, function.body[1 if has_text else 0 :]))


def _refuses(statement: ast.stmt) -> bool:
    match statement:
        case ast.Raise() | ast.Return(value=ast.Constant(value=None)):
            return True
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case _:
            return False


def returns_nothing(hit: Hit, source: SourceCode) -> bool:
    """`return super().__init__()` returns None."""
    returned = [node.value for node in source.around(hit.line) if isinstance(node, ast.Return) and node.value]
    meant = [one for value in returned for one in _meanings(value, source, hit.line)]
    return any(isinstance(one, ast.Call) and last_name(one.func) == "__init__" for one in meant)


def is_for_debuggers(hit: Hit, source: SourceCode) -> bool:
    """The program stops, or tells more, where its user asks for that; or it makes an object for a shell to offer."""
    around = source.around(hit.line)
    asked = [ast.unparse(node.test) for node in around if isinstance(node, ast.If)]
    functions = [node for node in around if isinstance(node, Function)]
    if any("frame" in parameters(one) for one in functions):
        return True  # a handler of a signal, which its user sends
    called = [one.name for one in functions]
    return "InteractiveShellEmbed" in hit.message or any(map(_DEBUGS.search, (*asked, *called)))


def is_made_each_time(hit: Hit, source: SourceCode) -> bool:
    """A key that calls something need not be the same twice; and who writes `1` beside `True` knows what he does."""
    del source
    return "(" in hit.message.partition("repeated")[0] or "hashes to the same value" in hit.message


def is_chosen(hit: Hit, source: SourceCode) -> bool:
    """One of several keys that are there already is taken; or a number only decides something."""
    line = source.line(hit.line)
    if _ONE_OF.search(line) is not None or _DECIDES.search(line) is not None:
        return True
    named = _PAIR_OR_NAME.match(line)
    return (
        named is not None
        and not keyword.iskeyword(named["name"])
        and _SECRET.search(named["name"]) is None
        and not _becomes_a_secret(named["name"], source, hit.line)
    )


def _becomes_a_secret(name: str, source: SourceCode, line: int | None) -> bool:
    """Whether a value is given the name of a secret, or is given back by a function that may have such a name."""
    function = source.function(line)
    if function is None:
        return False
    parts = [*ast.walk(function)]
    names = {name}
    while (
        more := {
            _name_of(target)
            for part in parts
            if isinstance(part, ast.Assign | ast.AnnAssign | ast.AugAssign)
            and part.value
            and names & _made_of(part.value)
            for target in (part.targets if isinstance(part, ast.Assign) else (part.target,))
        }
        - names
    ):
        names |= more
    given = [part.value for part in parts if isinstance(part, ast.Return | ast.Yield) and part.value]
    dicts = [pair for part in parts if isinstance(part, ast.Dict) for pair in zip(part.keys, part.values, strict=True)]
    pairs = [(_name_of(key), value) for key, value in dicts]
    pairs += [(part.arg or "", part.value) for part in parts if isinstance(part, ast.keyword)]
    return (
        any(map(_SECRET.search, names))
        or any(names & _made_of(one) for one in given)
        or any(_SECRET.search(key) and names & _made_of(value) for key, value in pairs)
    )


def _name_of(node: ast.expr | None) -> str:
    """The last name of what a value is put into: `token` of `self.token` and of `answer["token"]`."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Subscript(slice=key):
            return _name_of(key)
        case ast.expr():
            return last_name(node)
        case None:
            return ""


def _made_of(value: ast.AST) -> set[str]:
    """The names that a value is made of; what other functions do with theirs is not seen."""
    match value:
        case ast.Name(id=name):
            return {name}
        case ast.Call(func=ast.Name(id=name)) if name not in _MAKE_TEXTS:
            return set()
        case ast.Call(func=ast.Attribute(attr=name)) if name not in _MAKE_TEXTS:
            return set()
        case _:
            return {
                name
                for one in ast.walk(value)
                if one is not value and isinstance(one, ast.expr)
                for name in _made_of(one)
            }


def is_behind_an_error(hit: Hit, source: SourceCode) -> bool:
    """The statement before it raises."""
    suites = [suite for node in source.around(hit.line) for suite in _suites(node)]
    before = [one for suite in suites for one, following in pairwise(suite) if following.lineno == hit.line]
    return any(isinstance(one, ast.Raise) for one in before)


def _suites(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements that a statement holds."""
    for name in ("body", "orelse", "finalbody"):
        held = getattr(node, name, None)
        if isinstance(held, list):
            yield held


def _is_stored_name(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def is_imported_late(hit: Hit, source: SourceCode) -> bool:
    """An import inside of a function is often of a package which only some have."""
    return source.function(hit.line) is not None or _LATE.search(source.line(hit.line)) is not None


def is_safe_to_load(hit: Hit, source: SourceCode) -> bool:
    """A loader that is not one of PyYAML's unsafe ones, or what is loaded is a text of the program's own."""
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call) and last_name(node.func) == "load"]
    data = [one for call in calls for part in call.args[:1] for one in _meanings(part, source, hit.line)]
    if data and all(isinstance(one, ast.Constant) for one in data):
        return True
    given = [
        part
        for call in calls
        for part in (*call.args[1:], *(one.value for one in call.keywords if one.arg != "stream"))
    ]
    loaders = [one for part in given for one in _meanings(part, source, hit.line)]
    return bool(loaders) and not any(_is_unsafe_loader(one, source, hit.line) for one in loaders)


def _is_unsafe_loader(loader: ast.expr, source: SourceCode, line: int | None) -> bool:
    """Whether a loader is one of PyYAML's that make any object, or a class of the file that is derived from one.

    What callers choose has their name for it.
    """
    name = last_name(loader)
    if name in _UNSAFE_LOADERS:
        return not is_parameter(loader, source.function(line))
    classes = [node for part in source.body for node in ast.walk(part) if isinstance(node, ast.ClassDef)]
    return any(last_name(base) in _UNSAFE_LOADERS for node in classes if node.name == name for base in node.bases)


def is_not_of_django(hit: Hit, source: SourceCode) -> bool:
    """Methods of other libraries are called `extra` and `raw`, too."""
    del hit
    return "django" not in source.text


def is_no_query(hit: Hit, source: SourceCode) -> bool:
    """A text for people, a query into which only names and places for values are put, or values of the program's own.

    Names of tables and columns cannot be given as parameters, and are hardly ever what a stranger gave.
    """
    nodes = [*source.around(hit.line)]
    if any(isinstance(node, ast.Raise) for node in nodes):
        return True
    queries = [node for node in nodes if isinstance(node, ast.expr) and is_put_together(node)]
    if not queries:
        return False
    begins = _first_text(queries[0])
    if begins is not None and not _BEGINS_QUERY.match(begins):
        return True
    before = ""
    for text, value in parts_put_in(queries[0]):
        before += text
        is_value = _IS_VALUE.search(before) is not None and not _IS_NAME.search(before)
        outside = FROM_OUTSIDE if is_value else FROM_STRANGERS
        if _PLACES.search(ast.unparse(value)) is None and comes_from_outside(
            value, source, hit.line, outside=outside, from_callers=is_value
        ):
            return False
    return True


def _first_text(node: ast.expr) -> str | None:
    """What a text that is put together begins with; None where it begins with a value."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=[first, *_]) | ast.BinOp(left=first) | ast.Call(func=ast.Attribute(value=first)):
            return _first_text(first)
        case _:
            return None


def is_kept_as_it_is(hit: Hit, source: SourceCode) -> bool:
    """Nothing is seen to change the default: neither the function, nor what changes the attribute that keeps it.

    A cache is shared on purpose.
    """
    function = source.function(hit.line)
    if function is None:
        return False
    if _CACHE.search(source.line(hit.line)):
        return True
    if any(isinstance(node, Function) and node is not function for node in source.around(hit.line)):
        return True  # each call of the outer function makes it anew
    fixed = ast.Constant | ast.Name | ast.Attribute | ast.Tuple | ast.UnaryOp
    inside = [node for statement in function.body for node in ast.walk(statement)]
    assigned = [one for one in inside if isinstance(one, ast.Assign)]
    given = [(ast.unparse(target), one.value) for one in assigned for target in one.targets]
    names = {one.arg for one, value in _defaults(function) if value.lineno == hit.line and not isinstance(value, fixed)}
    names -= {target for target, _ in given}
    keepers = {target for target, value in given if "." in target and _is_one_of(value, names)}
    everywhere = (node for statement in source.body for node in ast.walk(statement)) if keepers else ()
    return not any(_changes(node, names) for node in inside) and not any(_changes(node, keepers) for node in everywhere)


def _defaults(function: Function) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, and what it is."""
    given = function.args
    named = [*given.posonlyargs, *given.args]
    pairs = [*zip(reversed(named), reversed(given.defaults), strict=False)]
    pairs += [(one, default) for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default]
    return iter(pairs)


def _changes(node: ast.AST, owners: Collection[str]) -> bool:
    """Whether a node adds something to one of these names or attributes, or removes something from it."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=verb)):
            return verb in CHANGES and ast.unparse(owner) in owners
        case ast.Subscript(value=owner, ctx=ast.Store() | ast.Del()) | ast.AugAssign(target=owner):
            return ast.unparse(owner) in owners
        case _:
            return False


def _is_one_of(value: ast.expr, names: Collection[str]) -> bool:
    """Whether a value may be that of one of the names."""
    match value:
        case ast.Name(id=name):
            return name in names
        case ast.BoolOp(values=parts):
            return any(_is_one_of(one, names) for one in parts)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_one_of(body, names) or _is_one_of(orelse, names)
        case _:
            return False


def is_registered_or_declared(hit: Hit, source: SourceCode) -> bool:
    """A decorator inside of a function took the first one already; or the first one is `name = None`, for later.

    A variable of a function that is called like something of the module replaces nothing, unless it says `global`.
    """
    found = _REPLACED.search(hit.message)
    first = [*source.around(int(found["line"]))] if found else []
    second = [*source.around(hit.line)]
    if _imports(first) and (_imports(second) or any(isinstance(node, ast.Assign) for node in second)):
        return True  # of two imports of one name, or an import and `_ = str`, the second one is meant
    if any(isinstance(node, ast.Assign | ast.Global) for node in first):
        return True
    decorators = [last_name(one) for node in first if isinstance(node, Function) for one in node.decorator_list]
    if "overload" in decorators:
        return True  # the project's own, where typing has none
    inside = source.function(hit.line)
    named = NAME.search(hit.message)
    if named and inside and named["name"] in parameters(inside):
        return True
    if found and inside and inside.lineno != hit.line and source.function(int(found["line"])) is None:
        return True
    functions = [node for node in first if isinstance(node, Function)]
    if not functions or functions[-1].name.lower().startswith("test"):
        return False
    decorators = (one.func if isinstance(one, ast.Call) else one for one in functions[-1].decorator_list)
    return any(last_name(one) not in _KEEPS for one in decorators)


def _imports(nodes: Sequence[ast.AST]) -> set[tuple[str, str]]:
    """What is imported, and by which name."""
    whole = {(one.name, one.asname or one.name) for node in nodes if isinstance(node, ast.Import) for one in node.names}
    parts = {
        (f"{'.' * node.level}{node.module or ''}.{one.name}", one.asname or one.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    return whole | parts


def has_an_alias(hit: Hit, source: SourceCode) -> bool:
    """A parameter of a route goes by another name in the function: `Path(alias="id")`."""
    named = NAME.search(hit.message)
    # The decorator is no part of the function's own lines.
    functions = [node for node in source.around(hit.line) if isinstance(node, Function)]
    values = [
        one.value
        for function in functions
        for part in ast.walk(function.args)
        if isinstance(part, ast.Call)
        for one in part.keywords
        if one.arg in ("alias", "validation_alias")
    ]
    return named is not None and any(isinstance(one, ast.Constant) and one.value == named["name"] for one in values)


def takes_any_names(hit: Hit, source: SourceCode) -> bool:
    """`"…" % globals()` may take no name at all, and neither need an object that gives its parts by their names."""
    given = [node.right for node in source.around(hit.line) if isinstance(node, ast.BinOp)]
    if any(ast.unparse(one) in ("globals()", "locals()", "vars()") for one in given):
        return True
    may_be_own = "has 0 placeholder" in hit.message and "def __getitem__(" in source.text
    return may_be_own and any(isinstance(one, ast.Name | ast.Attribute) for one in given)


def is_asked_for_by_a_try(hit: Hit, source: SourceCode) -> bool:
    """The code wants to know whether there is a name by now."""
    tries = (node for node in source.around(hit.line) if isinstance(node, ast.Try))
    caught = [ast.unparse(one.type) for node in tries for one in node.handlers if one.type]
    return any("NameError" in one or "UnboundLocalError" in one for one in caught)


def is_not_evaluated(hit: Hit, source: SourceCode) -> bool:
    """A name of another Python, one that something else gives to the module, or one that is never looked up."""
    nodes = source.around(hit.line)
    named = NAME.search(hit.message)
    name = named["name"] if named else ""
    return (
        _is_of_another_python(name, source, hit.line)
        or _is_filled_in(name, source, nodes)
        or any(isinstance(node, ast.Nonlocal) and name in node.names for one in nodes for node in _nonlocals(one))
        or (source.postpones_annotations and _is_only_annotation(name, nodes))
        or _is_quoted(name, nodes)
        or _is_list_of_names(source)
        or _is_given_by_a_host(name, hit, source)
        or _is_submodule(name, hit, source)
        or _is_set_in_an_earlier_turn(name, hit.line, nodes)
        or _is_error_at_hand(name, nodes)
    )


def _is_given_by_a_host(name: str, hit: Hit, source: SourceCode) -> bool:
    """Whether a program runs the file to configure itself, and gives it the name: `c.ServerApp.port = 1` of Jupyter."""
    if name == "tags" and hit.file.rpartition("/")[2] == "conf.py":
        return True  # of Sphinx
    is_configuration = "conf" in hit.file.rpartition("/")[2] and source.function(hit.line) is None
    return is_configuration and name in _OF_CONFIGURATIONS


def _is_submodule(name: str, hit: Hit, source: SourceCode) -> bool:
    """Whether a package imports from a module of its own, `from .a import b`: then the package has the module, too."""
    imports = (node for part in source.body for node in ast.walk(part) if isinstance(node, ast.ImportFrom))
    own = {(node.module or "").partition(".")[0] for node in imports if node.level == 1}
    return name in own and hit.file.rpartition("/")[2] == "__init__.py"


def _is_error_at_hand(name: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether a function inside of a handler uses its error, which is there as long as the handler runs."""
    handlers = [place for place, node in enumerate(nodes) if isinstance(node, ast.ExceptHandler) and node.name == name]
    return any(isinstance(node, ast.Lambda | Function) for place in handlers for node in nodes[place:])


def _is_set_in_an_earlier_turn(name: str, line: int | None, nodes: Sequence[ast.AST]) -> bool:
    """Whether a loop sets a name further below, and uses it only where something is asked before.

    `total += 1` alone sets nothing in the first turn.
    """
    inner = max((place for place, node in enumerate(nodes) if isinstance(node, Function)), default=-1)
    loops = [node for node in nodes[inner + 1 :] if isinstance(node, ast.For | ast.AsyncFor | ast.While)]
    within = [part for loop in loops for part in ast.walk(loop)]
    added = {id(part.target) for part in within if isinstance(part, ast.AugAssign)}
    named = [part for part in within if isinstance(part, ast.Name) and part.id == name]
    if not any(isinstance(one.ctx, ast.Store) and id(one) not in added for one in named):
        return False
    asked = [
        branch
        for part in within
        for branch in (
            (*part.body, *part.orelse)
            if isinstance(part, ast.If)
            else part.values[1:]
            if isinstance(part, ast.BoolOp)
            else ()
        )
    ]
    guarded = {id(part) for branch in asked for part in ast.walk(branch)}
    uses = [one for one in named if one.lineno == line and isinstance(one.ctx, ast.Load)]
    return bool(uses) and all(id(one) in guarded for one in uses)


def _is_of_another_python(name: str, source: SourceCode, line: int | None) -> bool:
    """Whether a name is one of Python 2, in code for both, or the code asks for a version first."""
    nodes = source.around(line)
    # What runs a module under a name of its own gives it more than Python does.
    if any(isinstance(node, ast.If) and _ANOTHER_START.search(ast.unparse(node.test)) for node in nodes):
        return True
    tries = [node for node in nodes if isinstance(node, ast.Try)]
    return name in _OF_PYTHON_2 and (
        _ALSO_FOR_2.search(source.text) is not None
        or any(_VERSION.search(test) for test in source.conditions(line))
        or any(is_optional(one) for node in tries for one in node.handlers)
    )


def _is_filled_in(name: str, source: SourceCode, nodes: Sequence[ast.AST]) -> bool:
    """Whether something else gives the name to the module, or will stand for `{name}` in a template."""
    if _FILLED_IN.fullmatch(name) or _is_deleted_later(name, source) or source.fills_its_names:
        return True
    return any(isinstance(node, ast.Expr) and isinstance(node.value, ast.Set) for node in nodes)


def _is_quoted(name: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether it is a quoted annotation. In an f-string, Python before 3.12 does not know the lines of names."""
    if any(isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Name) and node.id == name) for node in nodes):
        return False
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return any(name in one for one in texts)


def _is_list_of_names(source: SourceCode) -> bool:
    """Whether a file is nothing but names: data for a tool such as vulture, and never run."""
    return bool(source.body) and all(
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Name | ast.Attribute | ast.Constant)
        for one in source.body
    )


def _nonlocals(node: ast.AST) -> Iterator[ast.AST]:
    """Everything in a function: one inside of it may set a name of it."""
    return ast.walk(node) if isinstance(node, Function) else iter(())


def _is_only_annotation(name: str, nodes: Sequence[ast.AST]) -> bool:
    """Whether all uses of a name among the nodes are inside of annotations."""
    annotations = [
        part
        for node in nodes
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(part, ast.expr)
    ]
    annotated = {id(part) for one in annotations for part in ast.walk(one)}
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    return bool(uses) and all(id(one) in annotated for one in uses)


def _is_deleted_later(name: str, source: SourceCode) -> bool:
    """Whether the module defines a name for its own start, and deletes it at the end."""
    deleted = [target for node in source.body if isinstance(node, ast.Delete) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == name for target in deleted)


def is_documented(hit: Hit, source: SourceCode) -> bool:
    """A comment before the statement, or the function, says that it ignores errors; or none could leave it.

    What is only tidied up is mostly gone already where that fails.
    """
    tries = [node for node in source.around(hit.line) if isinstance(node, ast.Try)]
    if tries and (source.line(tries[-1].lineno - 1).lstrip().startswith("#") or _can_do_without(tries[-1])):
        return True
    if tries and _leaves_where_it_works(tries[-1]) and _goes_on_after(tries[-1], source):
        return True
    handlers = [node for node in source.around(hit.line) if isinstance(node, ast.ExceptHandler)]
    if tries and any(one.lineno < tries[-1].lineno for one in handlers):
        return True  # what went wrong first is being dealt with
    function = source.function(hit.line)
    if function is None:
        return False
    if function.name.strip("_") in _TIDIES_UP or function.name in ("__del__", "__exit__", "__aexit__"):
        return True
    return _SAYS_WHY.search(ast.get_docstring(function) or "") is not None


def _can_do_without(node: ast.Try) -> bool:
    """Whether all that may fail is one call that ends or removes something, or an import that only some need.

    What goes on in `else` where it does not fail is one of several ways.
    """
    if node.orelse or all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body):
        return True
    return _tidies_up(node.body)


def _tidies_up(suite: Sequence[ast.stmt]) -> bool:
    """Whether a block is one call that ends or removes something, where there is one; its names may go, too."""
    match suite:
        case [ast.Expr(value=ast.Call(func=function) | ast.Await(value=ast.Call(func=function))), *rest]:
            return last_name(function) in _TIDIES_UP and all(isinstance(one, ast.Delete) for one in rest)
        case [ast.If(body=body, orelse=[])]:
            return _tidies_up(body)
        case _:
            return False


def _leaves_where_it_works(node: ast.Try) -> bool:
    """Whether the function, or the loop, ends with what is tried."""
    match node.body:
        case [*_, ast.Return() | ast.Break()]:
            return True
        case [ast.If(body=[*_, ast.Return() | ast.Break()])]:
            return True
        case [ast.With(body=[*_, ast.Return() | ast.Break()])]:
            return True
        case _:
            return False


def _goes_on_after(node: ast.Try, source: SourceCode) -> bool:
    """Whether something else is done where it fails. At the end of a function, the error is just lost."""
    around = source.around(node.lineno)
    suites = [source.body, *(suite for one in around for suite in _suites(one))]
    followed = any(one is node for suite in suites for one in suite[:-1])
    inner = [one for one in around if isinstance(one, Function | ast.For | ast.AsyncFor | ast.While)]
    return followed or (bool(inner) and not isinstance(inner[-1], Function))


def is_shared_on_purpose(hit: Hit, source: SourceCode) -> bool:
    """An object of a class of the project's own, rather than a list or a dict, is the one for all."""
    made = [node.func for node in source.around(hit.line) if isinstance(node, ast.Call)]
    return any(last_name(one)[:1].isupper() and last_name(one) != "ContextVar" for one in made)


def is_given_by_the_module(hit: Hit, source: SourceCode) -> bool:
    """A module with `__getattr__` gives names that it does not define."""
    del hit
    return any(isinstance(node, Function) and node.name == "__getattr__" for node in source.body)


def is_joined(hit: Hit, source: SourceCode) -> bool:
    """`__all__ = (*part.__all__, "name", Class.__name__)` is a tuple of names, too."""
    values = [node.value for node in source.around(hit.line) if isinstance(node, ast.Assign)]
    parts = [part for one in values if isinstance(one, ast.Tuple | ast.List) for part in one.elts]
    others = [part for part in parts if not isinstance(part, ast.Constant)]
    named = [part for part in others if isinstance(part, ast.Attribute) and part.attr == "__name__"]
    return bool(others) and all(isinstance(part, ast.Starred) or part in named for part in others)


def is_written_apart(hit: Hit, source: SourceCode) -> bool:
    """`-(-x)` is no attempt to count down."""
    return re.search(r"([-+])\s*\(\s*\1", source.line(hit.line)) is not None


def is_sum(hit: Hit, source: SourceCode) -> bool:
    """Tuples of exceptions that are added up are a tuple."""
    handlers = [node for node in source.around(hit.line) if isinstance(node, ast.ExceptHandler)]
    return any(isinstance(node.type, ast.BinOp) for node in handlers)


def makes_no_page(hit: Hit, source: SourceCode) -> bool:
    """Templates of configuration files and of code must not escape what would be dangerous in a page.

    What a dict of options says of escaping is not seen.
    """
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call)]
    if any(keyword.arg is None for call in calls for keyword in call.keywords):
        return True
    return _PAGES.search(source.text) is None


def is_of_another_style(hit: Hit, source: SourceCode) -> bool:
    """A logger of the project's own may fill in `{}`, or take values by themselves; a dict alone need not be used."""
    calls = [node for node in source.around(hit.line) if isinstance(node, ast.Call) and node.args]
    if any(len(node.args) == _WITH_ONE_VALUE and isinstance(node.args[1], ast.Dict) for node in calls):
        return True
    owners = [ast.unparse(node.func.value) for node in calls if isinstance(node.func, ast.Attribute)]
    if "logg" not in source.text and any("." in one for one in owners):
        return True  # `self.app.log`
    texts = [ast.unparse(node.args[0]) for node in calls]
    return any("{" in text and "%" not in text for text in texts)


def is_looked_up(hit: Hit, source: SourceCode) -> bool:
    """`is nan` and `in` ask for one object, which can be the same; only `==` never is."""
    around = [node for node in source.around(hit.line) if isinstance(node, ast.Compare)]
    compared = [node for node in around if "nan" in ast.unparse(node).lower()]
    asked = ast.Is | ast.IsNot | ast.In | ast.NotIn
    return bool(compared) and all(isinstance(one, asked) for node in compared for one in node.ops)


def must_fail(hit: Hit, source: SourceCode) -> bool:
    """A test wants the comparison itself to raise an error; or the file says what `self > other` does."""
    compared = (node for node in source.around(hit.line) if isinstance(node, ast.Compare))
    used = {one for node in compared for one in map(type, node.ops)}
    if any(f"def __{name}__(self" in source.text for operator, name in _OPERATORS.items() if operator in used):
        return True
    blocks = [node for node in source.around(hit.line) if isinstance(node, ast.With)]
    return any("raises" in ast.unparse(item.context_expr).lower() for node in blocks for item in node.items)


def is_never_run(hit: Hit, source: SourceCode) -> bool:
    """The other branch of `if True`: a tool makes another version of the file, in which it is the one that runs.

    Or the version is asked for: `if IS_SYNC`.
    """
    ifs = [node for node in source.around(hit.line) if isinstance(node, ast.If)]
    off = [
        part
        for node in ifs
        if isinstance(node.test, ast.Constant)
        for part in (node.orelse if node.test.value else node.body)
    ]
    off += [part for node in ifs if _IS_SYNC.fullmatch(ast.unparse(node.test)) for part in node.body]
    return _is_in(off, hit.line)


def is_demonstrated(hit: Hit, source: SourceCode) -> bool:
    """A module that is run by itself shows what it can do."""
    ifs = [node for node in source.around(hit.line) if isinstance(node, ast.If)]
    return _is_in([part for node in ifs if _IS_MAIN.fullmatch(ast.unparse(node.test)) for part in node.body], hit.line)


def _is_in(statements: Iterable[ast.stmt], line: int | None) -> bool:
    return any(one.lineno <= (line or 1) <= (one.end_lineno or one.lineno) for one in statements)


def is_compared_or_filled(hit: Hit, source: SourceCode) -> bool:
    """What is only compared is not changed; and a loop may give a value of its own to each key."""
    nodes = [*source.around(hit.line)]
    names = [
        one.id for node in nodes if isinstance(node, ast.Assign) for one in node.targets if isinstance(one, ast.Name)
    ]
    after = "\n".join(source.lines[hit.line or 0 : (hit.line or 0) + _SOON])
    return any(isinstance(node, ast.Compare) for node in nodes) or any(
        re.search(rf"^\s*for .*\n(?:.*\n)??\s*{name}\[\w+\]\s*=[^=]", after, re.MULTILINE) for name in names
    )


def waits_only_where_it_may(hit: Hit, source: SourceCode) -> bool:
    """The function asks whether it runs asynchronously."""
    return any("async" in one.lower() for one in source.conditions(hit.line))
