"""Writes docs/reference/ from the code itself. `--check` fails when a page is out of date.

Commands come from click; settings, JSON and events from their types. A field's meaning is the text below it.
"""

import ast
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

import click
import msgspec

from burnish.cli import agent, clean, doctor, hook, parse, protocol, records, session, story, trust, verify
from burnish.cli.app import root
from burnish.contracts import finding_json
from burnish.core.epics.events import AnyEpicEvent, EpicCancelled
from burnish.core.errors import ErrorKind
from burnish.core.events import INTENTS, AnyEvent
from burnish.core.state import Outcome
from burnish.report import json_types
from burnish.report.account import EXIT_CODES, WAITING_EXIT
from burnish.settings.documents import key_text
from burnish.settings.loading import VARIABLES
from burnish.settings.permissions import TABLE, Effect, KeyPermission
from burnish.settings.shorthand import as_written
from burnish.settings.types import RoleChoice, Settings, ValidationCommand

FOLDER = Path(__file__).parent / "reference"
_MADE = """
`docs/reference.py` generates this page from the code; `make check` fails if it is out of date.
"""

# --- types, and the words below their fields -----------------------------------------------------------------------


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))  # noqa: TID251 - its own code, in one thread
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _meaning(owner: type, field: str) -> str:
    """The text below a field, where it is defined: in the class itself, or in one that it is made from."""
    node = _classes(owner.__module__).get(owner.__name__)
    if node is None:
        return ""
    for line, below in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.target.id == field:
            return _sentence(below)
    # By name, as a TypedDict does not remember its bases.
    names = [base.id for base in node.bases if isinstance(base, ast.Name)]
    bases: list[type] = [getattr(sys.modules[owner.__module__], name) for name in names]
    return next((text for base in bases if inspect.isclass(base) and (text := _meaning(base, field))), "")


def _sentence(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
        case _:
            return ""


def _about(owner: type) -> str:
    return " ".join((inspect.getdoc(owner) or "").split())


def _words(enum: type[Enum]) -> str:
    return ", ".join(f"`{member.value}`" for member in enum)


def _type_text(hint: Any, named: Callable[[type], str]) -> str:
    """A type as people write it. `named` is asked for the words for a class."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (NotRequired, Required):
        return _type_text(arguments[0], named)
    if origin is Annotated:
        text = _type_text(arguments[0], named)
        return text.replace("string", _type_text(arguments[1], named), 1)
    if origin in (types.UnionType, Union):
        return " or ".join(_type_text(each, named) for each in arguments)
    if origin in (list, tuple):
        return f"list of {_type_text(arguments[0], named)}"
    if origin is dict:
        return f"table of {_type_text(arguments[1], named)}"
    if inspect.isclass(hint) and issubclass(hint, Enum):
        return _words(hint)
    plain: dict[Any, str] = {
        str: "string",
        int: "integer",
        float: "number",
        bool: "boolean",
        type(None): "null",
        Any: "any value",
    }
    return plain.get(hint) or named(hint)


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    cells = [[text.replace("|", "\\|").replace("\n", " ") for text in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in cells]
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *lines, ""]


# --- commands ------------------------------------------------------------------------------------------------------

_COMMANDS = f"""\
# Commands

Every command with its arguments and options. `burnish COMMAND --help` prints the same. `--no-color` and `-h` work with
every command.
{_MADE}
What each exit code means: [exit codes](exit-codes.md). What `--json` prints: [JSON](json.md).
"""


def commands() -> str:
    sections = [part for path, context in _walk(root, None) for part in _command(path, context)]
    return "\n".join([_COMMANDS, *sections])


def _walk(command: click.Command, parent: click.Context | None) -> Iterator[tuple[str, click.Context]]:
    """The commands in the order of the help, those of a group after it."""
    context = click.Context(command, parent, info_name=command.name)
    yield context.command_path, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _walk(inner, context)


def _command(path: str, context: click.Context) -> list[str]:
    command = context.command
    lines = [f"## {path}", "", f"```\n{_usage(context)}\n```", "", *_paragraphs(inspect.cleandoc(command.help or ""))]
    rows = [_option(option, context) for option in command.params if isinstance(option, click.Option)]
    return [*lines, *(_table(("option", "meaning"), rows) if rows else [])]


def _usage(context: click.Context) -> str:
    return " ".join([context.command_path, *context.command.collect_usage_pieces(context)])


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("\b"):
            yield f"```\n{paragraph.removeprefix(chr(8)).strip(chr(10))}\n```\n"
        else:
            yield f"{_marked(paragraph)}\n"


def _marked(text: str) -> str:
    """Options and quoted words as code, so that their dashes and brackets stay what they are."""
    text = re.sub(r"(?<![\w`'])'([^'\n]+)'(?!\w)", r"`\1`", text.replace("<", "&lt;"))
    return re.sub(r"(?<![\w`-])(--[a-z][\w-]*|\[[a-z]\w*(?:\.\w+)*\])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"`\1`", text)


def _option(option: click.Option, context: click.Context) -> tuple[str, str]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" `{option.make_metavar(context)}`"
    shown = option.show_default
    default = f" Default: {shown if isinstance(shown, str) else f'{option.default:g}'}." if shown else ""
    return names + value, _marked(option.help or "") + default


# --- configuration -------------------------------------------------------------------------------------------------

_SETTINGS = f"""\
# Configuration keys

Every key of `burnish.toml` and of your own settings. [Configuration](../configuration.md) explains how they are merged,
and what trust is.
{_MADE}
Who may set a key:

| word | meaning |
|---|---|
| all | you and the repository; it needs no trust |
| trust | you and the base of the change; in a working tree, it needs your trust |
| trust, or stricter | the same, but a stricter value needs no trust |
| you, or stricter | your own settings; a repository can only make it stricter |
| you | only your own settings |

In patterns, `*` and `?` do not cross folder boundaries; `**` does. Brackets are literal. A pattern without a slash
matches in every folder. A folder matches everything in it.
"""

_WRITTEN: Mapping[type, str] = {
    RoleChoice: '`"NAME"` or `{ agent = "NAME", fallback = "NAME" }`',
    ValidationCommand: "string or list of string",
}
"""Values that users write in a shorter form."""


def configuration() -> str:
    tables: dict[str, list[tuple[str, ...]]] = {}
    for path, owner, field in _settings(Settings, ()):
        table, key = _heading(path)
        row = (f"`{key}`", _setting_type(field), _default(field), _who(path), _meaning(owner, field.name))
        tables.setdefault(table, []).append(row)
    lines = [_SETTINGS]
    for name, rows in tables.items():
        lines += [f"## {name}", "", *_table(("key", "type", "default", "who", "meaning"), rows)]
    return "\n".join([*lines, *_environment()])


def _settings(owner: type[msgspec.Struct], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], type, Any]]:
    """Every key with its path, `*` for a name that users choose, the class that it is in, and its field."""
    for field in msgspec.structs.fields(owner):
        here = (*path, field.name)
        origin, arguments = get_origin(field.type), get_args(field.type)
        inner = arguments[1] if origin is dict else arguments[0] if origin is tuple else field.type
        here += ("*",) if origin is dict else ()
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct) and inner not in _WRITTEN:
            yield from _settings(inner, here)
        else:
            yield here, owner, field


def _heading(path: tuple[str, ...]) -> tuple[str, str]:
    """The table that a key is in, as it is written, and the key in it."""
    *tables, key = (str(part).replace("*", "NAME") for part in as_written(path))
    name = ".".join(tables)
    return (f"`[[{name}]]`" if name in TABLE else f"`[{name}]`" if name else "At the top"), key


def _setting_type(field: msgspec.structs.FieldInfo) -> str:
    hint = get_args(field.type)[1] if get_origin(field.type) is dict else field.type
    return _type_text(hint, lambda kind: _WRITTEN[kind]).replace(" or null", "")


def _default(field: msgspec.structs.FieldInfo) -> str:
    match field.default:
        case Enum():
            return f'`"{field.default.value}"`'
        case bool():
            return f"`{str(field.default).lower()}`"
        case int() | float():
            return f"{field.default:,.12g}"
        case str() if field.default:
            return f'`"{field.default}"`'
        case _:
            return "required" if field.required else "none"


def _who(path: tuple[str, ...]) -> str:
    row: KeyPermission = TABLE.get(".".join(path)) or TABLE[".".join(path[:-1])]  # a list of tables has one row
    if row.effect is Effect.HARMLESS:
        return "all"
    return ("you" if row.users else "trust") + (", or stricter" if row.stricter else "")


def _environment() -> list[str]:
    rows = [(f"`{name}`", f"`{key_text(key)}`") for name, (key, _) in VARIABLES.items()]
    above = "They override both files, and flags override them. An empty variable counts as not set."
    return ["## Environment variables", "", above, "", *_table(("variable", "sets"), rows)]


# --- JSON ----------------------------------------------------------------------------------------------------------

_JSON = f"""\
# JSON

Every field that `--json` prints. Each command prints one object and never prompts. Fields marked "(optional)" are there
only where they apply; all others always. Fields may be added within a version: see [stability](../stability.md).
{_MADE}
`[]` stands for the entries of a list, `.NAME` for the keys of an object that has any names.
"""
_SECTIONS: Mapping[type, str] = {
    json_types.RunObject: "A run",
    json_types.TrackedFindingObject: "A finding of a run",
    finding_json.FindingObject: "A finding",
    finding_json.CountsObject: "Counts",
    json_types.OneFindingObject: "burnish findings ID",
    json_types.ListObject: "burnish status",
    json_types.EpicObject: "An epic",
    json_types.LogsObject: "burnish logs",
    json_types.ViewsObject: "burnish attach",
    verify.VerificationObject: "burnish verify",
    hook.HooksObject: "burnish hook list",
    doctor.DoctorObject: "burnish doctor",
    json_types.SettingsObject: "burnish config show",
    agent.AgentsObject: "burnish agent list",
    agent.AgentCheckObject: "burnish agent check",
    protocol.ProtocolsObject: "burnish protocol list",
    protocol.ProtocolObject: "burnish protocol show",
    protocol.ProtocolCheckObject: "burnish protocol check",
    trust.TrustObject: "burnish trust",
    trust.TrustListObject: "burnish trust --list",
    trust.RevokedObject: "burnish trust --revoke",
    clean.CleanObject: "burnish clean",
    parse.ParsedObject: "burnish parse",
    records.RecordsObject: "burnish records rebuild",
    story.StoryStatusObject: "burnish story status",
    story.StoryVerifiedObject: "burnish story verify",
    story.StoryOutputObject: "burnish story parse-output",
    story.StoryEscalationObject: "burnish story escalate",
    session.SpawnedObject: "burnish session spawn",
    session.MonitorObject: "burnish session monitor",
    session.KilledObject: "burnish session kill",
}


def json_page() -> str:
    lines = [_JSON]
    for kind, title in _SECTIONS.items():
        lines += [
            f"## {title}",
            "",
            f"{_about(kind)}\n",
            *_table(("field", "type", "meaning"), list(_json_rows(kind, ""))),
        ]
    return "\n".join(lines)


def _json_rows(kind: type, prefix: str) -> Iterator[tuple[str, str, str]]:
    """The fields of an object, and below each those of the object that it holds."""
    optional = getattr(kind, "__optional_keys__", frozenset[str]())
    hints = get_type_hints(kind, include_extras=True)
    if kind is json_types.TrackedFindingObject:  # it refers to the section about findings
        hints = {name: hint for name, hint in hints.items() if name not in get_type_hints(finding_json.FindingObject)}
    for name, hint in hints.items():
        mark = " (optional)" if name in optional else ""
        inner, suffix = _held(hint)
        meaning = _meaning(kind, name) or (_about(inner) if inner and inner not in _SECTIONS and inner.__doc__ else "")
        yield f"`{prefix}{name}`{mark}", _json_type(hint), meaning
        if inner is not None and inner not in _SECTIONS:
            yield from _json_rows(inner, f"{prefix}{name}{suffix}.")


def _held(hint: Any) -> tuple[type | None, str]:
    """The object type in a hint, and how its fields are reached."""
    if is_typeddict(hint):
        return hint, ""
    origin, arguments = get_origin(hint), get_args(hint)
    for each in arguments if origin is not Annotated else arguments[:1]:
        inner, suffix = _held(each)
        if inner is not None:
            return inner, ("[]" if origin is list else ".NAME" if origin is dict else "") + suffix
    return None, ""


def _json_type(hint: Any) -> str:
    def named(kind: type) -> str:
        return f"[{_SECTIONS[kind].lower()}]({_anchor(_SECTIONS[kind])})" if kind in _SECTIONS else "object"

    return _type_text(hint, named).replace("table of", "object of")


def _anchor(title: str) -> str:
    return "#" + title.lower().replace(" ", "-")


# --- exit codes ----------------------------------------------------------------------------------------------------

_EXITS = f"""\
# Exit codes

A code keeps its meaning in every release. A new outcome never exits with 0.
{_MADE}
"""
_MEANINGS = {
    0: "the gate passed, or the command did what it was asked to do",
    1: "findings remain, or the answer is no",
    2: "usage or configuration: nothing was started",
    3: "a person must decide",
    4: "something could not run or could not be read: an agent, an answer, the ledger. Never clean",
    5: "a budget is used up; results are kept",
    6: "nothing blocks, but not everything was examined",
    130: "interrupted (Ctrl-C); the run can be resumed",
    141: "the reader of the output has closed its pipe",
    143: "terminated (SIGTERM); the run can be resumed",
}


def exit_codes() -> str:
    rows = [(str(code), meaning, _outcomes(code), _errors(code)) for code, meaning in _MEANINGS.items()]
    known = {*EXIT_CODES.values(), *(kind.exit_code for kind in ErrorKind), WAITING_EXIT}
    if missing := known - _MEANINGS.keys():
        raise SystemExit(f"docs/reference.py: no meaning for the exit codes {missing}")
    said = [(f"`{path}`", text) for path, context in _walk(root, None) if context.parent and (text := _said(context))]
    return "\n".join(
        [
            _EXITS,
            *_table(("code", "meaning", "outcomes of a run", "errors"), rows),
            "## By command\n",
            "A command that is not listed exits with 0; with 2 if it was called wrongly, refuses, or names something",
            "that does not exist; and with 4 if something could not be read.\n",
            *_table(("command", "codes"), said),
        ]
    )


def _outcomes(code: int) -> str:
    outcomes = ", ".join(f"`{outcome.value}`" for outcome in Outcome if EXIT_CODES[outcome] == code)
    return "it is waiting" if code == WAITING_EXIT else outcomes


def _errors(code: int) -> str:
    return ", ".join(kind.value for kind in ErrorKind if kind.exit_code == code)


def _said(context: click.Context) -> str:
    """What the help of a command says of its exit codes."""
    found = re.search(
        r"(?:The )?[Ee]xit codes?(?: are|:| is) .*", inspect.cleandoc(context.command.help or ""), re.DOTALL
    )
    text = found.group().partition("\n\n")[0] if found else ""
    return _marked(" ".join(re.sub(r"^Exit codes: ", "", text).split()))


# --- events --------------------------------------------------------------------------------------------------------

_EVENTS = f"""\
# Events

Every event of the ledger (`.git/burnish/ledger.db`) with its fields, as they are stored in JSON. A run is what its
events say, in their order; so is an epic, from `epic-started` on. Each event also has `type`, its name below, and `at`,
its time in seconds since 1970. Fields that have their default are left out. Tags and field names never change
([stability](../stability.md)); [the state machine](../state-machine.md) shows which event is legal when.
{_MADE}
Events marked "intent" may be appended by any process; the others only by the one process that drives the run.
"""


def events() -> str:
    lines, values = [_EVENTS], dict[type, None]()
    for event in (*get_args(AnyEvent), *get_args(AnyEpicEvent)):
        mark = " (intent)" if event in (*INTENTS, EpicCancelled) else ""
        lines += [f"## {event.__struct_config__.tag}{mark}", "", f"{_about(event)}\n", *_event_table(event, values)]
    lines += ["## Values\n", "What the fields above hold.\n"]
    shown: set[type] = set()
    while left := [kind for kind in values if kind not in shown]:
        for kind in left:
            shown.add(kind)
            lines += [
                f"### {_value_name(kind)}",
                "",
                *([f"{_about(kind)}\n"] if kind.__doc__ else []),
                *_event_table(kind, values),
            ]
    return "\n".join(lines)


def _event_table(kind: Any, values: dict[type, None]) -> list[str]:
    def named(inner: type) -> str:
        values.setdefault(inner)
        return f"[{_value_name(inner)}]({_anchor(_value_name(inner))})"

    rows = [
        (
            f"`{field.encode_name}`",
            _type_text(field.type, named).replace("table of", "object of"),
            _meaning(kind, field.name),
        )
        for field in msgspec.structs.fields(kind)
        if field.name != "at"
    ]
    return _table(("field", "type", "meaning"), rows)


def _value_name(kind: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()


PAGES: Mapping[str, Callable[[], str]] = {
    "commands": commands,
    "configuration": configuration,
    "json": json_page,
    "exit-codes": exit_codes,
    "events": events,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or name those that are out of date."""
    texts = {FOLDER / f"{name}.md": page().rstrip() + "\n" for name, page in PAGES.items()}
    if "--check" not in arguments:
        FOLDER.mkdir(exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return 0
    stale = [path for path, text in texts.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        sys.stderr.write(f"reference/{path.name} is out of date: run 'python docs/reference.py'.\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
