"""Records what the calls that tests make come to, where they run one function: what they return, raise and alter.

It is loaded beside the tests by `burnish_witness`, so it uses the standard library only, and the syntax of Python 3.8.
Values are described by builtin types and by the attributes of plain objects, never by code of the project: `__repr__`,
`__eq__` or `__getattr__` may fail, be slow, or do something. Private attributes are left out, because a test need not
look at them. What cannot be described counts by its type.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import opcode
import os
import re
import sys
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from itertools import islice
from operator import itemgetter
from pathlib import PosixPath, PurePosixPath
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

MOST_CALLS, MOST_CALLS_OF_ALL = 50, 1000
"""Of one test, and in one process."""
MOST_PARTS, MOST_ITEMS, MOST_DEPTH, MOST_TEXT, MOST_KEPT, MOST_SHOWN = 300, 60, 5, 2000, 600, 60
CAN_PAUSE = 0x20 | 0x80 | 0x200
"""The flags of generators and coroutines, whose frames return more than once."""
RETURNS = {opcode.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in opcode.opmap}
VARIES = re.compile(r"0x[0-9a-fA-F]{6,}|\bpytest-\d+\b")
"""Addresses, and folders of one run of pytest."""
PLAIN = (int, float, str, bytes, bool, type(None))
"""Arguments with which a call can be repeated: it cannot have altered them."""
MOCKS = ("unittest.mock", "mock", "mock.mock")
# Descriptors of the builtin types themselves: a class or its metaclass may have attributes of the same names.
bases_of: Callable[[Any], tuple[Any, ...]] = type.__dict__["__mro__"].__get__
content_of: Callable[[Any], Any] = type.__dict__["__dict__"].__get__
name_of: Callable[[Any], str] = type.__dict__["__name__"].__get__
items_of: Callable[[Any], Any] = dict.__dict__["items"]
arguments_of: Callable[[Any], tuple[Any, ...]] = BaseException.__dict__["args"].__get__


class Describer:
    """Describes one value, in at most so many parts."""

    def __init__(self) -> None:
        self._left = MOST_PARTS
        forms: dict[Callable[[Any, Any, int], str | None], tuple[Any, ...]] = {
            self._number: (int, float, complex, Decimal, dt.timedelta, dt.time, dt.datetime, dt.date),
            self._text: (str, bytes, bytearray),
            self._items: (list, tuple),
            self._pairs: (dict,),
            self._members: (set, frozenset),
            self._error: (BaseException,),
            self._named: (Enum, type, FunctionType),
            self._standard: (range, re.Pattern, PosixPath, PurePosixPath),
        }
        # By their ids: the class of a class may compare as it likes.
        self._forms = {id(base): form for form, bases in forms.items() for base in bases}

    def describe(self, value: Any, depth: int = MOST_DEPTH) -> str:
        self._left -= 1
        if value is None or value is True or value is False:
            return repr(value)
        if depth < 0 or self._left < 0:
            return "…"
        kind = cast("Any", type(value))
        bases = bases_of(kind)
        for base in bases:
            form = self._forms.get(id(base))
            text = form(value, base, depth - 1) if form else None
            if text is not None:
                return text if base is kind else f"{name_of(kind)}({text})"
        modules = [content_of(base).get("__module__") for base in bases]
        if any(type(module) is str and module in MOCKS for module in modules):
            return f"<{name_of(kind)}>"
        return self._plain(value, bases, depth - 1)

    def _number(self, value: Any, base: Any, depth: int) -> str | None:
        del depth
        zone = content_of(base)["tzinfo"].__get__(value) if "tzinfo" in content_of(base) else None
        return base.__repr__(value) if zone is None or type(zone) is dt.timezone else None

    def _text(self, value: Any, base: Any, depth: int) -> str:
        del depth
        start, length = base.__getitem__(value, slice(0, MOST_TEXT)), base.__len__(value)
        return base.__repr__(start) if length <= MOST_TEXT else f"{base.__repr__(start)}… ({length})"

    def _items(self, value: Any, base: Any, depth: int) -> str:
        items = [self.describe(each, depth) for each in islice(base.__iter__(value), MOST_ITEMS)]
        items += ["…"] if base.__len__(value) > MOST_ITEMS else []
        inside = ", ".join(items)
        return f"[{inside}]" if base is list else f"({inside},)" if len(items) == 1 else f"({inside})"

    def _pairs(self, value: Any, base: Any, depth: int) -> str:
        if base.__len__(value) > MOST_ITEMS:
            return f"{{… ({base.__len__(value)})}}"
        found = sorted(((self.describe(key, depth), each) for key, each in items_of(value)), key=itemgetter(0))
        return f"{{{', '.join(f'{key}: {self.describe(each, depth)}' for key, each in found)}}}"

    def _members(self, value: Any, base: Any, depth: int) -> str:
        if base.__len__(value) > MOST_ITEMS:
            return f"{{… ({base.__len__(value)})}}"
        return f"{{{', '.join(sorted(self.describe(each, depth) for each in base.__iter__(value)))}}}"

    def _error(self, value: Any, base: Any, depth: int) -> str:
        del base
        return ", ".join(self.describe(each, depth) for each in arguments_of(value))

    def _named(self, value: Any, base: Any, depth: int) -> str:
        if base is Enum:
            return next(
                (self.describe(each, depth) for name, each in _own(value, bases_of(type(value))) if name == "_name_"),
                "",
            )
        return f"class {name_of(value)}" if base is type else f"function {value.__qualname__}"

    def _standard(self, value: Any, base: Any, depth: int) -> str | None:
        """Only of the type itself: what inherits from it may have methods of its own."""
        del depth
        return str(value) if type(value) is base else None

    def _plain(self, value: Any, bases: tuple[Any, ...], depth: int) -> str:
        """An object by its own public attributes."""
        attributes = {name: each for name, each in _own(value, bases) if not name.startswith("_")}
        if not attributes:
            return f"<{name_of(bases[0])}>"
        found = (f"{name}={self.describe(attributes[name], depth)}" for name in sorted(attributes))
        return f"{name_of(bases[0])}({', '.join(found)})"


def _own(value: Any, bases: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """The attributes of an object itself, from its dictionary and the slots of its classes.

    Builtin types have descriptors like those of slots, which lead to compiled code: that differs in a wrong version.
    """
    for base in bases:
        for name, descriptor in content_of(base).items() if "__slots__" in content_of(base) else ():
            if type(descriptor) is MemberDescriptorType:
                with suppress(AttributeError):  # not set yet
                    yield name, descriptor.__get__(value)
        own = content_of(base).get("__dict__")
        if type(own) is GetSetDescriptorType:
            yield from ((name, each) for name, each in items_of(own.__get__(value)) if type(name) is str)


def described(value: Any) -> str:
    text = VARIES.sub("…", Describer().describe(value))
    return text.encode("utf-8", "backslashreplace").decode()  # a path may have half a character


def kept(text: str) -> dict[str, str]:
    """What is told of a value."""
    return {"digest": digest(text), "text": text[:MOST_KEPT]}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


class Call:
    """A call that a test made, while it goes on."""

    def __init__(self, frame: FrameType) -> None:
        code = frame.f_code
        number, has_rest, has_named = code.co_argcount, bool(code.co_flags & 0x04), bool(code.co_flags & 0x08)
        self._named = code.co_varnames[number : number + code.co_kwonlyargcount]
        number += code.co_kwonlyargcount
        self._rest = code.co_varnames[number : number + has_rest + has_named]
        values = frame.f_locals
        names = code.co_varnames[: number + len(self._rest)]
        self.parameters = {name: values[name] for name in names if name in values}
        self.told: dict[str, Any] | None = None
        """None, as long as it does not run the function."""
        self.error: Any = None

    def reach(self, frame: FrameType, file: str, *, directly: bool) -> dict[str, Any]:
        """It runs the function. If that is the function itself, its arguments are as the test gave them."""
        texts = {name: described(value) for name, value in self.parameters.items()}
        name, caller = frame.f_code.co_name, frame.f_back
        own = name_of(type(self.parameters["self"])) if "self" in texts else ""
        if own:
            name = own if name == "__init__" else f"{own}.{name}"
        self.told = {
            "text": f"{name}({self._shown(texts) if directly else '…'})",
            "file": file,
            "line": caller.f_lineno if caller else 0,
            "arguments": digest(repr((name, sorted(texts.items())))),
        }
        return self.told

    def _shown(self, texts: dict[str, str]) -> str:
        """The arguments as in a call."""
        empty = {name for name in self._rest if texts.get(name) in ("()", "{}")}
        signs = {name: f"{name}=" for name in self._named}
        signs.update((name, "**" if texts.get(name, "").startswith("{") else "*") for name in self._rest)
        found = (name for name in texts if name not in ("self", "cls") and name not in empty)
        return ", ".join(signs.get(name, "") + texts[name][:MOST_SHOWN] for name in found)

    def repeated(self, frame: FrameType, parameter: str, boundary: int) -> dict[str, Any] | None:
        """The same call with a boundary as an argument, and what it comes to: only of a plain function of a module."""
        code, function = frame.f_code, frame.f_globals.get(frame.f_code.co_name)
        is_own = type(function) is FunctionType and function.__code__ is code and not code.co_posonlyargcount
        is_plain = not self._rest and all(type(value) in PLAIN for value in self.parameters.values())
        if self.told is None or not is_own or not is_plain or type(self.parameters.get(parameter)) is not int:
            return None
        arguments = {**self.parameters, parameter: boundary}
        try:
            outcome = f"returns {described(cast('Any', function)(**arguments))}"
        except Exception as error:  # noqa: BLE001 - that is an outcome, too
            outcome = f"raises {described(error)}"
        texts = {name: described(value) for name, value in arguments.items()}
        text = f"{code.co_name}({self._shown(texts)})"
        return {**self.told, "text": text, "outcome": kept(outcome), "left": {}, "repeated": True}

    def end(self, outcome: str) -> None:
        if self.told is not None:
            left = {name: kept(described(value)) for name, value in self.parameters.items()}
            self.told.update(outcome=kept(outcome), left=left)


class CallRecorder:
    """Records calls of one thread, while a test runs in it and nothing else traces it."""

    def __init__(self, root: str, function: dict[str, Any]) -> None:
        self._root = os.path.realpath(root)
        self._function = function
        self._calls: list[dict[str, Any]] = []
        self._number = 0
        self._open: dict[FrameType, Call] = {}
        self._test_files: dict[str, str] = {}
        self._places: dict[str, bool] = {}
        self._tracer = self._enter  # one object, which can be told from another tracer

    def start(self) -> None:
        if sys.gettrace() is None and self._number < MOST_CALLS_OF_ALL:
            sys.settrace(self._tracer)

    def stop(self) -> list[dict[str, Any]]:
        """Those calls of the test that came to an end, up to the first one that did not."""
        if sys.gettrace() is self._tracer:
            sys.settrace(None)
        calls, self._calls, self._open = self._calls, [], {}
        ended = next((place for place, call in enumerate(calls) if "outcome" not in call), len(calls))
        return calls[:ended]

    def _enter(self, frame: FrameType, event: str, value: Any) -> Any:
        """Called for each function that begins."""
        del event, value
        try:
            return self._begin(frame)
        except Exception:  # noqa: BLE001 - the tests must run, whatever happens here
            sys.settrace(None)
            return None

    def _begin(self, frame: FrameType) -> Any:
        code, caller = frame.f_code, frame.f_back
        if (
            caller is not None
            and self._test_file(caller.f_code.co_filename)
            and not self._test_file(code.co_filename)
            and not code.co_flags & CAN_PAUSE
        ):
            self._open[frame] = Call(frame)
            frame.f_trace_lines = False
        if self._is_target(code):
            self._reach(frame)
        return self._leave if frame in self._open else None

    def _reach(self, target: FrameType) -> None:
        frame: FrameType | None = target
        while frame is not None and frame not in self._open:
            frame = frame.f_back
        if frame is not None and self._open[frame].told is None and len(self._calls) < MOST_CALLS:
            self._number += 1
            file = self._test_file(frame.f_back.f_code.co_filename) if frame.f_back else ""
            self._calls.append(self._open[frame].reach(frame, file, directly=frame is target))

    def _leave(self, frame: FrameType, event: str, value: Any) -> Any:
        """Called for each error in a call of a test, and at its end."""
        call = self._open.get(frame)
        try:
            if call is not None and event == "exception":
                call.error = value[1]
            elif call is not None and event == "return":
                del self._open[frame]
                returned = frame.f_code.co_code[frame.f_lasti] in RETURNS
                call.end(f"returns {described(value)}" if returned else f"raises {described(call.error)}")
                self._repeat(frame, call)
        except Exception:  # noqa: BLE001 - see above
            sys.settrace(None)
        return self._leave

    def _repeat(self, frame: FrameType, call: Call) -> None:
        """Once in a test: no event comes meanwhile."""
        parameter = self._function.get("parameter", "")
        if parameter and self._is_target(frame.f_code) and not any("repeated" in each for each in self._calls):
            told = call.repeated(frame, parameter, self._function["boundary"])
            self._calls += [told] if told else []

    def _is_target(self, code: CodeType) -> bool:
        if code.co_firstlineno != self._function["line"] or code.co_name != self._function["name"]:
            return False
        path = code.co_filename
        if path not in self._places:
            self._places[path] = os.path.realpath(path) == f"{self._root}/{self._function['file']}"
        return self._places[path]

    def _test_file(self, path: str) -> str:
        """The name of a file of tests from the root; empty, if it is another file."""
        if path not in self._test_files:
            self._test_files[path] = self._named(path)
        return self._test_files[path]

    def _named(self, path: str) -> str:
        name = os.path.relpath(os.path.realpath(path), self._root) if path.startswith("/") else path
        *folders, file = name.split("/")
        is_test = file.startswith("test") or file.endswith(("_test.py", "_tests.py")) or file == "conftest.py"
        inside = not {"..", "site-packages"} & set(folders)
        return name if inside and file.endswith(".py") and (is_test or {"test", "tests"} & set(folders)) else ""
