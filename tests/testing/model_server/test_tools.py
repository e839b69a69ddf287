"""What a step wants done, asked for in the words of real clients' tools."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from burnish.system.process import Command, How, run_now
from burnish.testing.model_server.scenario import ModelAnswer, Read, RunCommand, ScriptedToolUse, Write
from burnish.testing.model_server.server import model_server
from tests.testing.model_server.asking import JsonMap, by_name, hear, send, tool

CLAUDE = [
    tool("Bash", "command", "timeout", "description", required=["command"]),
    tool("Edit", "file_path", "old_string", "new_string", required=["file_path", "old_string", "new_string"]),
    tool("Read", "file_path", "offset", required=["file_path"]),
    tool("Write", "file_path", "content", required=["file_path", "content"]),
]
GEMINI = [
    tool("read_file", "file_path", "start_line", required=["file_path"]),
    tool("write_file", "file_path", "content", required=["file_path", "content"]),
    tool("run_shell_command", "command", "description", required=["command"]),
]
OPENCODE = [
    tool("bash", "command", "timeout", "description", required=["command", "description"]),
    tool("read", "filePath", "offset", required=["filePath"]),
    tool("write", "content", "filePath", required=["content", "filePath"]),
]
CODEX = [
    {"type": "function", "name": "exec_command", "parameters": tool("", "cmd", "workdir", required=["cmd"])["schema"]},
    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
    {"type": "web_search"},
]
READ, WRITE, RUN = Read(file="a b.py"), Write(file="new/c.py", text="one\ntwo\n"), RunCommand(command="git status")


def called(call: ScriptedToolUse, tools: list[JsonMap]) -> tuple[str, Any]:
    with model_server({"tools": (ModelAnswer(call=(call,)),)}) as server:
        return hear(server, "tools", by_name("anthropic-messages"), tools=tools).calls[0]


@pytest.mark.parametrize(
    ("tools", "read", "write", "run"),
    [
        pytest.param(
            CLAUDE,
            ("Read", {"file_path": "a b.py"}),
            ("Write", {"file_path": "new/c.py", "content": "one\ntwo\n"}),
            ("Bash", {"command": "git status"}),
            id="claude",
        ),
        pytest.param(
            GEMINI,
            ("read_file", {"file_path": "a b.py"}),
            ("write_file", {"file_path": "new/c.py", "content": "one\ntwo\n"}),
            ("run_shell_command", {"command": "git status"}),
            id="gemini",
        ),
        pytest.param(
            OPENCODE,
            ("read", {"filePath": "a b.py"}),
            ("write", {"filePath": "new/c.py", "content": "one\ntwo\n"}),
            ("bash", {"command": "git status", "description": "scripted"}),
            id="opencode",
        ),
    ],
)
def test_tools_are_called_by_the_names_that_a_client_gives_them(
    tools: list[JsonMap], read: object, write: object, run: object
) -> None:
    assert [called(call, tools) for call in (READ, WRITE, RUN)] == [read, write, run]


def test_a_client_with_a_shell_and_patches_gets_those() -> None:
    with model_server({"tools": (ModelAnswer(call=(READ, WRITE, RUN)),)}) as server:
        body = json.dumps({"input": "Hi", "tools": CODEX}).encode()
        output = send(server, "POST", "/tools/v1/responses", body).json["output"]
        assert server.asked()[0].tools == ("exec_command", "apply_patch")
    assert [item["type"] for item in output] == ["function_call", "custom_tool_call", "function_call"]
    assert json.loads(output[0]["arguments"]) == {"cmd": "cat -- 'a b.py'"}
    assert output[1]["input"] == "*** Begin Patch\n*** Add File: new/c.py\n+one\n+two\n*** End Patch\n"
    assert json.loads(output[2]["arguments"]) == {"cmd": "git status"}


def test_a_shell_alone_reads_and_writes(tmp_path: Path) -> None:
    shell = [tool("Bash", "command")]
    text = 'it\'s "quoted" $HOME \\n %s\nand no newline at the end'
    _, write = called(Write(file="new folder/c.py", text=text), shell)
    _, read = called(Read(file="new folder/c.py"), shell)
    for line in (write["command"], read["command"]):
        finished = run_now(
            Command(argv=("sh", "-c", line), folder=str(tmp_path), environment={"PATH": "/usr/bin:/bin"})
        )
        assert (finished.how, finished.code) == (How.EXITED, 0)
    assert finished.stdout.decode() == text
    assert (tmp_path / "new folder" / "c.py").read_text() == text
    assert shlex.split(read["command"]) == ["cat", "--", "new folder/c.py"]


def test_a_tool_that_is_not_offered_is_called_all_the_same() -> None:
    """A model may try what it was not given; a client must cope."""
    only_reading = [tool("Read", "file_path"), tool("Grep", "pattern")]
    assert called(WRITE, only_reading) == ("Write", {"file_path": "new/c.py", "content": "one\ntwo\n"})
    assert called(RUN, only_reading) == ("Bash", {"command": "git status"})
