"""Which commands only look. What is not known to is denied: the list is data, in `read_only_commands.json`."""

import json
import re
from typing import Any

_DATA = "read_only_commands.json"
_SEPARATORS = ("&&", "||", "|", ";", "\n")
_HARMLESS = ("2>&1", "2>/dev/null", ">/dev/null", "1>/dev/null", "&>/dev/null", "2> /dev/null", "> /dev/null")
_TRICKS = re.compile(r"[`<>&]|\$\(|\$\{[^}]*[:=@]")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


class _Denied(Exception):
    """Why a command is not run."""


def why_denied(command: str, checks: list[str]) -> str:
    """Why a command may not be run during a review; empty where it may. `checks` are the project's own."""
    if command.strip() in checks:
        return ""
    rules = _rules()
    try:
        for words in _simple_commands(command):
            _check(words, rules)
    except _Denied as denied:
        return str(denied)
    return ""


def _rules() -> dict[str, Any]:
    with open(__file__.rpartition("/")[0] + "/" + _DATA, encoding="utf-8") as file:  # noqa: PTH123 - without pathlib
        return json.load(file)


def _simple_commands(command: str) -> list[list[str]]:
    """The commands of a line, as words. What a shell could make more of than words is denied."""
    text = command
    commands: list[list[str]] = [[]]
    word, is_word, place = "", False, 0

    def end_word() -> None:
        nonlocal word, is_word
        if is_word:
            commands[-1].append(word)
        word, is_word = "", False

    while place < len(text):
        character = text[place]
        rest = text[place:]
        harmless = next((one for one in _HARMLESS if rest.startswith(one)), "")
        separator = next((one for one in _SEPARATORS if rest.startswith(one)), "")
        if harmless and not is_word:
            place += len(harmless)
        elif separator:
            end_word()
            commands.append([])
            place += len(separator)
        elif character in " \t":
            end_word()
            place += 1
        elif character == "'":
            end = text.find("'", place + 1)
            if end < 0:
                raise _Denied("its quotes do not close")
            word, is_word, place = word + text[place + 1 : end], True, end + 1
        elif character == '"':
            inner, place = _quoted(text, place + 1)
            word, is_word = word + inner, True
        elif character == "\\":
            word, is_word, place = word + text[place + 1 : place + 2], True, place + 2
        elif _TRICKS.match(rest):
            raise _Denied(f"'{rest[:2].strip()}' can write files or run other commands")
        elif character in "(){}!" and not is_word:
            raise _Denied(f"'{character}' begins more than a plain command")
        else:
            word, is_word, place = word + character, True, place + 1
    end_word()
    return [words for words in commands if words]


def _quoted(text: str, place: int) -> tuple[str, int]:
    """The inside of double quotes, and where it ends."""
    found = ""
    while place < len(text):
        if text[place] == '"':
            return found, place + 1
        if text[place] == "`" or text.startswith("$(", place):
            raise _Denied("'$(' can run other commands")
        if text[place] == "\\":
            place += 1
        found += text[place : place + 1]
        place += 1
    raise _Denied("its quotes do not close")


def _check(words: list[str], rules: dict[str, Any]) -> None:
    while words and (assigned := _ASSIGNED.fullmatch(words[0])):
        if assigned[1] not in rules["assignments"]:
            raise _Denied(f"it sets {assigned[1]}")
        words = words[1:]
    if not words or any(words[: len(test)] == test for test in rules["tests"]):
        return
    name = words[0].removeprefix("/usr/bin/").removeprefix("/bin/")
    rule = rules["commands"].get(name)
    if rule is None:
        raise _Denied(f"'{name[:40]}' is not known to only look")
    arguments = words[1:]
    if "sub" in rule:
        arguments = _subcommand(name, arguments, rule)
    _check_options(name, arguments, rule)


def _subcommand(name: str, arguments: list[str], rule: dict[str, Any]) -> list[str]:
    while arguments and arguments[0] in rule["before"]:
        arguments = arguments[1:]
    if not arguments or arguments[0] not in rule["sub"]:
        raise _Denied(f"'{name} {arguments[0][:40] if arguments else ''}' is not known to only look".replace(" '", "'"))
    return arguments[1:]


def _check_options(name: str, arguments: list[str], rule: dict[str, Any]) -> None:
    for option in rule.get("options", ()):
        short = len(option) == 2 and option[0] == "-" and option[1] != "-"
        for word in arguments:
            grouped = short and word[:1] == "-" and word[1:2] != "-" and option[1] in word[1:]
            if word == option or word.startswith(option + "=") or grouped:
                raise _Denied(f"'{name} {option}' can write files or run other commands")
    if "first" in rule:
        is_plain = len(arguments) >= 2 and arguments[0] == rule["first"] and re.fullmatch(rule["script"], arguments[1])
        if not is_plain or any(word[:1] == "-" for word in arguments[2:]):
            raise _Denied(f"'{name}' may only print lines here: {name} -n 10,20p FILE")
    if "words" in rule and sum(1 for word in arguments if word[:1] != "-") > rule["words"]:
        raise _Denied(f"'{name}' with two files writes to the second")
