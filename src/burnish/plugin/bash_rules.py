"""Which commands only look. What is not known to is denied: the list is data, in `read_only_commands.json`."""

import json
import re
from typing import Any

_DATA = "read_only_commands.json"
_TOKEN = re.compile(
    r"""
    (?P<space> [ \t]+ )
    | (?P<nothing> (?: 2>&1 | [12&]?>[ ]?/dev/null ) (?= [\s;|&] | $ ) )
    | (?P<separator> && | \|\| | [|;\n] )
    | '(?P<single> [^']* )'
    | "(?P<double> (?: [^"\\`$] | \\. | \$(?=[\w"]) )* )"
    | \\(?P<escaped> . )
    | (?P<plain> [^\s'"\\`$<>&|;(){}] | \$(?=\w) | [{}](?=[\s;]|$) )
    """,
    re.VERBOSE | re.DOTALL,
)
"""What a command line is made of. Redirections, substitutions and groups are not among it."""
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=.*", re.DOTALL)
_SHORT = 2
_Rule = dict[str, Any]


class DeniedCommandError(Exception):
    """Why a command is not run."""


def why_denied(command: str, checks: list[str]) -> str:
    """Why a command may not be run during a review; empty where it may. `checks` are the project's own."""
    if command.strip() in checks:
        return ""
    try:
        rules = _rules()
        for words in _simple_commands(command):
            _check(words, rules)
    except DeniedCommandError as denied:
        return str(denied)
    return ""


def _rules() -> _Rule:
    with open(__file__.rpartition("/")[0] + "/" + _DATA, encoding="utf-8") as file:  # noqa: PTH123 - without pathlib
        return json.load(file)


def _simple_commands(command: str) -> list[list[str]]:
    """The commands of a line, as words. What a shell could make more of than words is denied."""
    commands: list[list[str]] = [[]]
    word: str | None = None
    place = 0
    while place < len(command):
        token = _TOKEN.match(command, place)
        if token is None:
            raise DeniedCommandError(f"'{command[place : place + 2].strip()}' can write files or run other commands")
        place = token.end()
        kind, text = token.lastgroup, token[token.lastgroup or 0]
        if kind in ("space", "nothing", "separator"):
            commands[-1].extend([] if word is None else [word])
            word = None
            if kind == "separator":
                commands.append([])
        else:
            word = (word or "") + (re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if kind == "double" else text)
    commands[-1].extend([] if word is None else [word])
    return [words for words in commands if words]


def _check(words: list[str], rules: _Rule) -> None:
    while words and (assigned := _ASSIGNED.fullmatch(words[0])):
        if assigned[1] not in rules["assignments"]:
            raise DeniedCommandError(f"it sets {assigned[1]}")
        words = words[1:]
    if not words or any(words[: len(test)] == test for test in rules["tests"]):
        return
    name = words[0].removeprefix("/usr").removeprefix("/bin/")
    rule = rules["commands"].get(name)
    if rule is None:
        raise DeniedCommandError(f"'{name[:40]}' is not known to only look")
    arguments = _after_subcommand(name, words[1:], rule) if "sub" in rule else words[1:]
    for option in rule.get("options", ()):
        if any(_means(word, option) for word in arguments):
            raise DeniedCommandError(f"'{name} {option}' can write files or run other commands")
    _check_words(name, arguments, rule)


def _after_subcommand(name: str, arguments: list[str], rule: _Rule) -> list[str]:
    while arguments and arguments[0] in rule["before"]:
        arguments = arguments[1:]
    if not arguments or arguments[0] not in rule["sub"]:
        said = " ".join([name, *(word[:40] for word in arguments[:1])])
        raise DeniedCommandError(f"'{said}' is not known to only look")
    return arguments[1:]


def _means(word: str, option: str) -> bool:
    """Whether a word is an option, also abbreviated, with a value, or among others behind one dash."""
    if len(option) == _SHORT:
        return word[:1] == "-" and word[1:2] != "-" and option[1] in word[1:]
    name = word.partition("=")[0]
    return name == option or (option.startswith("--") and len(name) > _SHORT and option.startswith(name))


def _check_words(name: str, arguments: list[str], rule: _Rule) -> None:
    if "first" in rule:
        is_plain = arguments[:1] == [rule["first"]] and re.fullmatch(rule["script"], "".join(arguments[1:2]))
        if not is_plain or any(word[:1] == "-" for word in arguments[2:]):
            raise DeniedCommandError(f"'{name}' may only print lines here: {name} -n 10,20p FILE")
    if "words" in rule and sum(1 for word in arguments if word[:1] != "-") > rule["words"]:
        raise DeniedCommandError(f"'{name}' writes to its second file")
