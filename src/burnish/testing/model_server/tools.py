"""What a step wants done, in the words of the tools that a client offers.

Clients call the same tool and its arguments by different names, and some have only a shell. Names are looked up in what
the client offers; where nothing fits, the model calls a tool that is not there, as a model may.
"""

import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TypeAlias

from burnish.contracts.json_text import JsonObject, read_object
from burnish.core.values import Value
from burnish.testing.model_server.conversation import ModelConversation, OfferedTool, ToolCall
from burnish.testing.model_server.scenario import ModelAnswer, NamedTool, Read, RunCommand, ScriptedToolUse, Write

Names: TypeAlias = tuple[str, ...]

_READ: Names = ("Read", "read_file", "read")
_WRITE: Names = ("Write", "write_file", "write")
_PATCH: Names = ("apply_patch",)
_RUN: Names = ("Bash", "exec_command", "run_shell_command", "bash", "shell")
_ANSWER: Names = ("StructuredOutput",)

_FILE: Names = ("file_path", "filePath", "absolute_path", "path")
_CONTENT: Names = ("content", "contents")
_COMMAND: Names = ("command", "cmd")
_PATCH_TEXT: Names = ("input", "patch")


class _Way(Value):
    """One way to do something: the names that its tool goes by, and its arguments by the names that they go by."""

    tools: Names
    arguments: Mapping[Names, str]


def calls_of(step: ModelAnswer, conversation: ModelConversation, identity: str) -> tuple[ToolCall, ...]:
    """The tools that a step calls. A client that offers none gets no calls."""
    if not conversation.tools:
        return ()
    wanted = [_call(call, conversation.tools) for call in step.call]
    if step.answer and answers_by_tool(conversation):
        wanted.append((_ANSWER[0], read_object(step.answer) or {}))
    return tuple(
        ToolCall(id=f"call_{identity}_{number}", name=name, input=given)
        for number, (name, given) in enumerate(wanted, start=1)
    )


def answers_by_tool(conversation: ModelConversation) -> bool:
    """Whether the client wants structured answers as the call of a tool."""
    return _offered(_ANSWER, conversation.tools) is not None


def _call(call: ScriptedToolUse, tools: tuple[OfferedTool, ...]) -> tuple[str, JsonObject | str]:
    if isinstance(call, NamedTool):
        return call.name, read_object(call.input) or {}
    ways = _ways(call)
    for way in ways:
        tool = _offered(way.tools, tools)
        if tool is not None:
            return tool.name, _input(way, tool)
    return ways[0].tools[0], {names[0]: value for names, value in ways[0].arguments.items()}


def _ways(call: Read | Write | RunCommand) -> list[_Way]:
    """How something can be done, the most fitting way first."""
    match call:
        case Read(file=file):
            return [_Way(tools=_READ, arguments={_FILE: file}), _shell(f"cat -- {shlex.quote(file)}")]
        case Write(file=file, text=text):
            return [
                _Way(tools=_WRITE, arguments={_FILE: file, _CONTENT: text}),
                _Way(tools=_PATCH, arguments={_PATCH_TEXT: _patch(file, text)}),
                _shell(_write_line(file, text)),
            ]
        case RunCommand(command=command):
            return [_shell(command)]


def _shell(command: str) -> _Way:
    return _Way(tools=_RUN, arguments={_COMMAND: command})


def _write_line(file: str, text: str) -> str:
    folder = shlex.quote(str(PurePosixPath(file).parent))
    return f"mkdir -p -- {folder} && printf %s {shlex.quote(text)} > {shlex.quote(file)}"


def _patch(file: str, text: str) -> str:
    added = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {file}\n{added}*** End Patch\n"


def _offered(names: Names, tools: tuple[OfferedTool, ...]) -> OfferedTool | None:
    return next((tool for tool in tools if tool.name in names), None)


def _input(way: _Way, tool: OfferedTool) -> JsonObject | str:
    """The arguments by the tool's own names, and a word for each other one that it insists on, such as a reason."""
    if tool.freeform:
        return "".join(way.arguments.values())
    given: JsonObject = {
        next((name for name in names if name in tool.arguments), names[0]): value
        for names, value in way.arguments.items()
    }
    return {**dict.fromkeys(tool.required, "scripted"), **given}
