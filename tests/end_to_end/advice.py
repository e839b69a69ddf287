"""The commands that burnish tells people to type, as it prints them. In every test each must exist."""

import json
import re
import shlex
from typing import NamedTuple

import click

from burnish.cli.app import root
from burnish.cli.lazy import LazyGroup

_NEXT = re.compile(r"^Next: (?P<command>.+)\n {6}(?P<does>.+)$", re.MULTILINE)
_QUOTED = re.compile(r"`(?P<ticked>(?:burnish|git) [^`]+)`|'(?P<quoted>(?:burnish|git) [^']+)'")
_GIT = frozenset(
    {"add", "apply", "branch", "commit", "diff", "fetch", "init", "log", "merge", "restore", "stash", "switch"}
)
_ENDS = frozenset({"&&", "||", ";"})


class Advised(NamedTuple):
    """A command and what it is said to do; nothing is said of one in a hint."""

    command: str
    does: str = ""


def next_lines(said: str) -> list[Advised]:
    """What `Next:` lines offer."""
    found = [Advised(match["command"], match["does"]) for match in _NEXT.finditer(said)]
    assert len(found) == len(re.findall(r"^Next:", said, re.MULTILINE)), said
    return found


def steps_in(out: str, err: str) -> list[str]:
    """The commands that are offered as next steps, in text or as `next` of JSON."""
    offered = [step.command for step in (*next_lines(out), *next_lines(err))]
    if out.startswith("{"):
        told = json.loads(out).get("next") or ()
        offered += [step["command"] for step in told]
    return list(dict.fromkeys(offered))


def quoted_commands(said: str) -> list[Advised]:
    """The commands that hints name."""
    lines = [line for line in said.splitlines() if line.startswith(("hint: ", "note: "))]
    return [Advised(match["ticked"] or match["quoted"]) for line in lines for match in _QUOTED.finditer(line)]


def check_advice(said: str) -> None:
    """Every command that is named can be typed."""
    for advised in (*next_lines(said), *quoted_commands(said)):
        check_words(advised.command)


def check_words(command: str) -> None:
    """Every command of a line is one that exists, with options that it has. A placeholder in capitals is none."""
    for typed in _commands(shlex.split(command)):
        words = [word for word in typed if not re.fullmatch(r"BURNISH_[A-Z_]+=\S+", word)]
        if words[0] == "burnish":
            _check_burnish(words[1:])
        elif words[0] == "git":
            assert next(word for word in words[1:] if not word.startswith("-") and "/" not in word) in _GIT, command
        else:
            assert words[0] == "mv", command


def _commands(words: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for word in words:
        if word in _ENDS:
            found.append([])
        else:
            found[-1].append(word)
    return found


def _check_burnish(words: list[str]) -> None:
    group: click.Command = root
    context = click.Context(root, info_name="burnish")
    while isinstance(group, LazyGroup):
        assert words, "a command is missing"
        found = group.get_command(context, words[0])
        assert found is not None, words
        group, words = found, words[1:]
    try:
        group.make_context(group.name or "", list(words), resilient_parsing=False)
    except click.exceptions.Exit:  # --help
        return
