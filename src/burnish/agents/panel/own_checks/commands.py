"""Command lines, wherever they stand: scripts, Dockerfiles, Makefiles, workflows, the scripts of package.json.

Only what a line says by itself is judged; `rules/commands.toml` says by what. ast-grep reads shell scripts alone, and
none of the other files.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.reporting import OwnRule, hit, pattern, rule_data
from burnish.settings.globs import matches

_SHEBANG = re.compile(rb"#!.*\b(?:ba|da|k|z|a)?sh\b")
_ENDS = re.compile(r"&&|\|\||[;|\n]")
_MOST_CHARACTERS = 2_000
"""Of a line; what is longer was not written by hand."""
_RULES = "commands"
_pattern = partial(pattern, _RULES)
_SIGNS = (
    ("downloads", OwnRule.DOWNLOAD_RUN, "What a server sends is run at once."),
    ("not_verified", OwnRule.NOT_VERIFIED, "The certificate of the server is not checked."),
    ("everyone_writes", OwnRule.EVERYONE_WRITES, "Every user may change these files."),
)


def command_hits(path: str, content: bytes) -> Iterator[Hit]:
    """What is wrong with the command lines of a file; nothing for a file that has none."""
    if not _holds_commands(path, content):
        return
    of_ci = any(matches(path, glob) for glob in rule_data(_RULES)["ci"])
    for number, line in _command_lines(content.decode("utf-8", "replace")):
        if hides_a_failing_test(line):
            yield hit(OwnRule.TESTS_MAY_FAIL, path, number, "Tests that fail are taken for a success.")
        elif of_ci and _hides(line, "checks"):
            yield hit(OwnRule.STEP_MAY_FAIL, path, number, "A check that fails is taken for a success.")
        for name, rule, message in _SIGNS:
            if _pattern(name).search(line):
                yield hit(rule, path, number, message)
        if (found := _pattern("deletes").search(line)) and found[found.lastgroup or 0] not in rule_data(_RULES)[
            "always_set"
        ]:
            message = f"Where `{found[found.lastgroup or 0]}` is empty, this removes everything from the root folder."
            yield hit(OwnRule.DELETES_ROOT, path, number, message)


def hides_a_failing_test(line: str) -> bool:
    """Whether a command line runs tests and goes on as if they had passed."""
    return _hides(line, "tests")


def _hides(line: str, kind: str) -> bool:
    before, separator, after = line.partition("||")
    if not separator or _pattern("fails").search(after) or not _pattern("hides").search(after):
        return False
    return _runs(_ENDS.split(before)[-1], kind)


def runs_tests(script: str) -> bool:
    """Whether a script runs tests, as far as its commands tell."""
    return _runs(script, "tests")


def _runs(script: str, kind: str) -> bool:
    commands = _ENDS.split(script.replace("\\\n", " "))
    return any(_pattern(kind).search(one) and not _pattern("no_tests").search(one) for one in commands)


def _holds_commands(path: str, content: bytes) -> bool:
    if any(matches(path, glob) for glob in rule_data(_RULES)["files"]):
        return True
    return not PurePosixPath(path).suffix and _SHEBANG.match(content) is not None


def _command_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are no comments, those that go on in the next one joined, with the number of the first."""
    start, joined = 0, ""
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.lstrip().startswith(("#", "//")):
            continue
        start = start if joined else number
        bare = line.rstrip("\r")
        joined += bare.removesuffix("\\")
        if not bare.endswith("\\"):
            yield start, joined.strip()[:_MOST_CHARACTERS]
            joined = ""
