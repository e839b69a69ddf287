"""The steps of CONTRIBUTING.md, taken one by one with a toy, in a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import burnish
from burnish.testing.repositories import RepositoryBuilder

TOY_AGENT = '''
"""A toy vendor: a program that answers in one line of JSON."""

import json

from burnish.agents.client import Client, StreamReport
from burnish.agents.interface import Card
from burnish.agents.streams import Dialect, TurnEnded
from burnish.settings.agent_kinds import AgentKind


def _event(record):
    return TurnEnded(text=record["answer"]) if record.get("type") == "toy" else None


def _report(stream, finished):
    return StreamReport(ended=any(record.get("type") == "toy" for record in stream))


AGENT = Client(
    card=Card(kind=AgentKind.TOY, program="toy", install="make toy", keys=("TOY_KEY",), login_command="toy login"),
    dialect=Dialect(event=_event, carries=("toy",), ends=(b'"toy"',)),
    arguments=lambda request: ("--quiet",),
    configuration=lambda request: {},
    telling=(b'"toy"',),
    report=_report,
    activity=lambda record: "",
)
'''
TOY_PROGRAM = """#!/bin/sh
cat > /dev/null
[ "$1" = --quiet ] || exit 3
echo '{"type": "toy", "answer": "TOY: clean"}'
"""
TOY_CONTRACT = '''
"""The contract `toy`: one line that says `TOY: clean` or `TOY: wrong`."""

from burnish.contracts.text import UnreadableError
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Answer


def parse(text, is_file):
    del is_file
    match text.strip():
        case "TOY: clean":
            return Answer(clean=True)
        case "TOY: wrong":
            return Answer(clean=False, findings=(Finding(severity=Severity.HIGH, title="wrong"),))
        case _:
            raise UnreadableError("no answer of a toy")
'''
TOY_PROTOCOL = 'extends = "panel"\nname = "toy"\ndescription = "A toy."\ncontract = "toy"\nrecords = "none"\n'
TOY_USE_CASE = "def greet_toy(name):\n    return f'Hello, {name}.'\n"
TOY_COMMAND = '''
import click

from burnish.report.output import print_line
from burnish.usecases.greet_toy import greet_toy


@click.command()
@click.argument("name")
def toy(name: str) -> int:
    """Greet a toy."""
    print_line(greet_toy(name))
    return 0
'''


class Copy:
    """The package as a contributor has it, and its command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "package"
        self.package = self.folder / "burnish"
        self.home = folder / "home"
        self.home.mkdir()
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(burnish.__file__).parent, self.package, ignore=skipped)

    def write(self, name: str, text: str) -> None:
        assert not (self.package / name).exists(), "a step that adds a file"
        (self.package / name).write_text(text.lstrip())

    def add(self, name: str, after: str, line: str) -> None:
        """Add a line after another one, as the entry in a registry."""
        text = (self.package / name).read_text()
        assert text.count(after) == 1, f"{name} no longer has: {after}"
        (self.package / name).write_text(text.replace(after, f"{after}{line}"))

    def burnish(self, *words: str, folder: Path, code: int = 0, stdin: str = "") -> str:
        environment = {
            "PATH": os.pathsep.join((str(self.home), os.environ["PATH"])),
            "HOME": str(self.home),
            "PYTHONPATH": str(self.folder),
            "TOY_KEY": "a-key",
        }
        command: Sequence[str] = (sys.executable, "-m", "burnish", *words)
        done = subprocess.run(
            command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_an_agent_a_contract_and_a_protocol_review_a_change(copy: Copy, tmp_path: Path) -> None:
    copy.add("settings/agent_kinds.py", '    CLAUDE = "claude"\n', '    TOY = "toy"\n')
    copy.write("agents/toy.py", TOY_AGENT)
    copy.add("core/reviews.py", '    SARIF = "sarif"\n', '    TOY = "toy"\n')
    copy.write("contracts/toy.py", TOY_CONTRACT)
    copy.write("prompts/contract-toy.md", "Answer `TOY: clean` or `TOY: wrong`, and nothing else.\n")
    copy.write("prompts/severity-toy.md", "Everything that is wrong counts.\n")
    copy.add("protocols/loader.py", '"panel", "drift"', ', "toy"')
    copy.write("protocols/toy.toml", TOY_PROTOCOL)
    program = copy.home / "toy"
    program.write_text(TOY_PROGRAM)
    program.chmod(0o755)
    builder = RepositoryBuilder(tmp_path / "project")
    builder.commit({"burnish.toml": 'protocol = "toy"\n[agents.toy]\nkind = "toy"\n[roles]\nreview = "toy"\n'})
    builder.branch("change")
    builder.commit({"a.py": "x = 1\n"})

    listed = json.loads(copy.burnish("agent", "list", "--json", folder=builder.path))
    assert [one["kind"] for one in listed["agents"] if one["name"] == "toy"] == ["toy"]
    assert "toy" in copy.burnish("protocol", "list", folder=builder.path)
    parsed = json.loads(copy.burnish("parse", "--contract", "toy", folder=builder.path, code=1, stdin="TOY: wrong"))
    assert [finding["title"] for finding in parsed["findings"]] == ["wrong"]
    copy.burnish("parse", "--contract", "toy", folder=builder.path, code=4, stdin="TOY: cl")
    assert "Answer `TOY: clean` or" in copy.burnish("prompt", "show", folder=builder.path)
    run = json.loads(copy.burnish("review", "--json", folder=builder.path))
    assert (run["outcome"], run["protocol"]) == ("approved", "toy")
    assert {review["agent"] for review in run["rounds"][0]["reviews"]} == {"toy"}


def test_a_command_is_a_use_case_a_module_and_an_entry(copy: Copy, tmp_path: Path) -> None:
    copy.write("usecases/greet_toy.py", TOY_USE_CASE)
    copy.write("cli/toy.py", TOY_COMMAND)
    copy.add(
        "cli/app.py", "_COMMANDS = {\n", '    "toy": LazyCommand("burnish.cli.toy:toy", EVERYDAY, "Greet a toy."),\n'
    )
    assert "Greet a toy." in copy.burnish("--help", folder=tmp_path)
    assert copy.burnish("toy", "bear", folder=tmp_path) == "Hello, bear.\n"
