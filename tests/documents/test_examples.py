"""The examples in the documents work: commands parse with the real parser, and TOML with the reader it is meant for."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
import pytest

from burnish.cli.app import root
from burnish.protocols.loader import load
from burnish.runtime.script import RehearsalScript
from burnish.settings.loading import load_alone
from burnish.testing.model_server.scenario import load_script
from burnish.testing.scripted_agent import AgentScript

ROOT = Path(__file__).parents[2]
# The pages of the reference are made from the parser and the types themselves.
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_TYPED = re.compile(r"^\s*(?:\$ |Next: )?(?:[A-Z_]+=\S+ )*(?P<line>burnish(?: .*)?)$", re.MULTILINE)
_INLINE = re.compile(r"`(?P<line>burnish [^`<]+)`")
_PLACEHOLDER = re.compile(r"(?<![\w-])[A-Z]+(?![\w-])")


def commands(text: str) -> Iterator[str]:
    """Every command of burnish on a page: typed in a block, or named in a sentence."""
    for block in _FENCE.finditer(text):
        if block["language"] in ("", "sh"):
            yield from (match["line"] for match in _TYPED.finditer(block["text"]))
    yield from (match["line"] for match in _INLINE.finditer(_FENCE.sub("", text)))


def words_of(line: str) -> list[str]:
    """The words of a command without what is said about it, and without the brackets of what can be left out."""
    command = re.split(r"\s{2,}|\s#|\s(?:&&|\|)\s", line.replace("…", " ").strip())[0]
    return shlex.split(re.sub(r"[\[\]]", "", command))[1:]


def parse(words: list[str]) -> None:
    """Parse as the program does, down to the command that would run, and run nothing."""
    command, context = root, root.make_context("burnish", words)
    while isinstance(command, click.Group) and words:
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, found.make_context(name, words, parent=context)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_parses(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for line in commands(text):
        if re.match(r"burnish [A-Z]", line):
            continue  # `burnish COMMAND --help` stands for all of them
        try:
            parse(words_of(line))
        except click.exceptions.Exit:
            continue  # it asks for help
        except click.UsageError as error:
            in_a_sentence = (
                isinstance(error, click.MissingParameter) and f"`{line}`" in text
            )  # may name a command alone
            stands_for_a_value = isinstance(error, click.BadParameter) and _PLACEHOLDER.search(line)
            if not (in_a_sentence or stands_for_a_value):
                pytest.fail(f"{line}: {error.format_message()}")


def test_a_command_that_does_not_exist_is_noticed() -> None:
    for wrong in ("revue", "review --bass main", "protocol cheque ./mine.toml"):
        with pytest.raises(click.UsageError):
            parse(words_of(f"burnish {wrong}"))


def load_rehearsal(path: Path) -> object:
    return msgspec.toml.decode(path.read_bytes(), type=RehearsalScript)


def load_agent_script(path: Path) -> object:
    return msgspec.toml.decode(path.read_bytes(), type=AgentScript)


def load_settings(path: Path) -> object:
    return load_alone(path.read_bytes(), path.name)


def load_protocol(path: Path) -> object:
    return load(str(path))


def reader_of(page: Path, text: str) -> Callable[[Path], object]:
    """What an example is for."""
    match page.name:
        case "protocols.md":
            return load_protocol
        case "rehearsals.md":
            return load_rehearsal
        case "testing-agents.md":
            return load_script
        case _:
            return load_agent_script if "[[step]]" in text else load_settings


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_toml_example_loads(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(_FENCE.finditer(page.read_text(encoding="utf-8"))):
        if block["language"] == "toml":
            path = tmp_path / f"{page.stem}-{number}.toml"
            path.write_text(block["text"], encoding="utf-8")
            reader_of(page, block["text"])(path)
