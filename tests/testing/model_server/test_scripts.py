"""Scripts as files: the ready-made ones mean what they say, a wrong one is refused with its place, and the program."""

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from burnish.agents.streams import read_answer
from burnish.contracts.schemas import schema
from burnish.core.reviews import ContractName
from burnish.settings.documents import DocumentError
from burnish.testing.model_server.scenario import (
    Fault,
    ModelAnswer,
    NamedTool,
    Read,
    RunCommand,
    ScriptedToolUse,
    TokenCounts,
    Write,
    load_script,
    ready_made,
)
from tests.testing.model_server.asking import JsonMap

READY = ready_made()


def test_the_ready_made_scenarios_are_there() -> None:
    assert set(READY) == {
        "clean",
        "cut",
        "empty",
        "endless",
        "findings",
        "hang",
        "malformed",
        "plain-text",
        "rate-limited",
        "repaired",
        "server-error",
        "slow",
        "stalled",
        "tool-calls",
        "unauthorised",
        "write-attempt",
    }


@pytest.mark.parametrize("scenario", READY.values(), ids=READY)
def test_ready_made_answers_keep_to_their_contract(scenario: tuple[ModelAnswer, ...]) -> None:
    form: dict[str, Any] = schema(ContractName.ISSUES) or {}
    for step in scenario:
        if step.answer:
            jsonschema.validate(json.loads(step.answer), form)
    assert scenario[-1].turn is None, "a ready-made scenario has an answer to every turn"


def test_ready_made_reviews_say_what_their_names_say() -> None:
    def answer(name: str) -> tuple[bool, list[str]]:
        parsed = read_answer(ContractName.ISSUES, READY[name][-1].answer.encode())
        assert parsed.corrections == ()
        return parsed.clean, [finding.severity.value for finding in parsed.findings]

    assert answer("clean") == answer("repaired") == answer("tool-calls") == answer("write-attempt") == (True, [])
    assert answer("findings") == (False, ["critical", "info"])


def test_a_script_can_say_everything(tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text(
        """
log = "asked.jsonl"

[[scenario.everything]]
turn = 2
when = ["one", "two"]
pause = 0.5
say = "Text."
answer = '{"verdict": "pass"}'
fault = "cut"
usage = { input = 5, cached = 4, output = 3 }
call = [
    { do = "read", file = "a.py" },
    { do = "write", file = "a.py", text = "" },
    { do = "run", command = "ls" },
    { do = "tool", name = "Agent", input = '{"prompt": "Look."}' },
]

[[scenario.everything]]
status = 503
retry_after = 1.5
"""
    )
    script = load_script(path)
    calls: tuple[ScriptedToolUse, ...] = (
        Read(file="a.py"),
        Write(file="a.py", text=""),
        RunCommand(command="ls"),
        NamedTool(name="Agent", input='{"prompt": "Look."}'),
    )
    assert script.log == "asked.jsonl"
    assert script.scenario["everything"] == (
        ModelAnswer(
            turn=2,
            when=("one", "two"),
            pause=0.5,
            say="Text.",
            answer='{"verdict": "pass"}',
            fault=Fault.CUT,
            usage=TokenCounts(input=5, cached=4, output=3),
            call=calls,
        ),
        ModelAnswer(status=503, retry_after=1.5),
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[scenario.a]]\nsays = "x"\n', ":2: scenario.a[0].says: unknown key."),
        ('[[scenario.a]]\nfault = "late"\n', ":2: scenario.a[0].fault: expected one of"),
        ('[[scenario.a]]\ncall = [{ do = "delete", file = "x" }]\n', ":2: scenario.a[0].call[0].do: expected one of"),
        ("[[scenario.a]]\nanswer = '{\"issues\": ['\n", ":2: scenario.a[0].answer: It is not a JSON object."),
        (
            '[[scenario.a]]\ncall = [{ do = "tool", name = "x", input = "y" }]\n',
            ":2: scenario.a[0].call[0]: 'input' is not a JSON object.",
        ),
        ("[[scenario.a]]\nstatus = 302\n", ":2: scenario.a[0].status: It is not the status of an error."),
        ('[[scenario.a]]\nsay = "x"\nstatus = 500\n', ":3: scenario.a[0].status: An error has no answer."),
        ("[[scenario.a]]\nretry_after = 3\n", ":2: scenario.a[0].retry_after: Only an error names a time to wait."),
        ("[[scenario.a]]\nturn = 0\n", ":2: scenario.a[0].turn: There is no such turn."),
        ('[[scenario."a/b"]]\nsay = "x"\n', ":1: scenario.\"a/b\": 'a/b' cannot be the name of a scenario."),
        ("[scenario]\na = []\n", ":2: scenario.a: The scenario has no steps."),
    ],
)
def test_a_wrong_script_is_refused_with_its_place(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text(text)
    with pytest.raises(DocumentError) as caught:
        load_script(path)
    assert f"script.toml{problem}" in caught.value.message
    assert caught.value.hint


def _start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "burnish.testing.model_server", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_the_program_serves_until_it_is_ended(end: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "script.toml"
    script.write_text(f'log = "{tmp_path}/asked.jsonl"\n[[scenario.mine]]\nsay = "Mine."\n')
    with _start(str(script)) as program:
        assert program.stdout
        address = program.stdout.readline().strip()
        text = _said(address, "mine")
        program.send_signal(end)
        _, errors = program.communicate(timeout=30)
    assert (text, program.returncode, errors) == ("Mine.", 0, "")
    assert json.loads((tmp_path / "asked.jsonl").read_text())["scenario"] == "mine"


def _said(address: str, scenario: str) -> str:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("POST", f"/{scenario}/v1/chat/completions", json.dumps({"messages": []}))
    said: JsonMap = json.load(connection.getresponse())
    connection.close()
    return said["choices"][0]["message"]["content"]


def test_the_program_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("[[scenario.a]]\nturn = 0\n")
    for arguments, expected in (
        (
            [str(tmp_path / "wrong.toml")],
            "wrong.toml:2: scenario.a[0].turn: There is no such turn.\nThe first answer is",
        ),
        ([str(tmp_path / "missing.toml")], "missing.toml: There is no such file."),
        (["--port", "1"], "Usage: python -m burnish.testing.model_server [SCRIPT.toml]"),
    ):
        with _start(*arguments) as program:
            output, errors = program.communicate(timeout=30)
        assert expected in errors
        assert "Traceback" not in errors
        assert (output, program.returncode) == ("", 2)


def test_the_documented_script_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "testing-agents.md").read_text(encoding="utf-8")
    path = tmp_path / "script.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0])
    assert len(load_script(path).scenario["loop"]) == 4
    assert all(f"`{name}`" in page for name in READY)
