"""Passwords in configuration and in code, which kingfisher does not look for: it knows tokens by their form.

What counts as a placeholder, and which tokens are known examples, is data: `rules/credentials.toml`.
"""

import re
from collections.abc import Iterator
from functools import cache

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.reporting import OwnRule, hit, rule_data
from burnish.agents.panel.tools.reading import text
from burnish.core.values import Value
from burnish.settings.globs import matches


class _Credentials(Value):
    files: tuple[str, ...]
    key: re.Pattern[str]
    long_key: re.Pattern[str]
    placeholder: re.Pattern[str]
    examples: re.Pattern[bytes]


@cache
def _credentials() -> _Credentials:
    table = rule_data("credentials")
    return _Credentials(
        files=tuple(table["configuration_files"]),
        key=re.compile(rf"(?:{'|'.join(table['password_keys'])})\Z", re.IGNORECASE),
        long_key=re.compile(rf"(?:{'|'.join(table['key_keys'])})\Z", re.IGNORECASE),
        placeholder=re.compile("|".join(table["placeholders"]), re.IGNORECASE),
        examples=re.compile(b"|".join(re.escape(token.encode()) for token in table["known_examples"])),
    )


def without_known_examples(content: bytes) -> bytes:
    """A text without the example tokens of public documentation: those give access to nothing."""
    return _credentials().examples.sub(lambda match: b"." * len(match[0]), content)


_PAIR = re.compile(
    r"""^[ \t]*(?:-[ \t]+|export[ \t]+|ENV[ \t]+|ARG[ \t]+)?["']?(?P<key>[\w.-]+)["']?[ \t]*[:=][ \t]*"""
    r"""(?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|(?P<plain>[^\s#,"']+))[ \t]*,?[ \t]*(?:[#;].*)?\r?$""",
    re.MULTILINE,
)
_IN_CODE = re.compile(
    r"""(?<![\w.$"'-])["']?(?P<key>\w+)["']?[ \t]*(?::[ \t]*str[ \t]*)?(?:=(?!=)|:)[ \t]*"""
    r"""(?P<quote>["'])(?P<value>[^"'\n\\]+)(?P=quote)"""
)
_ACCESS_KEY = re.compile(rb"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b")
_MAY_NAME = re.compile(rb"pass|pwd", re.IGNORECASE)
_LEAST = 5
_LEAST_IN_CODE = 8
_LEAST_KEY = 16


def passwords(path: str, content: bytes) -> Iterator[Hit]:
    """Passwords and keys in a file of configuration."""
    words = _credentials()
    if not any(matches(path, pattern) for pattern in words.files):
        return
    lines = content.decode("utf-8", "replace")
    for pair in _PAIR.finditer(lines):
        value = pair["double"] or pair["single"] or pair["plain"] or ""
        is_password = words.key.search(pair["key"]) and _may_be_password(value, _LEAST)
        is_key = words.long_key.search(pair["key"]) and _may_be_password(value, _LEAST_KEY) and _is_mixed(value)
        # What has letters of other scripts is a text for people.
        if (is_password or is_key) and value.isascii() and not words.placeholder.search(value):
            number = lines.count("\n", 0, pair.start("key")) + 1
            yield hit(OwnRule.PASSWORD, path, number, f"There is a value for `{text(pair['key'])}`.")


def access_keys(path: str, content: bytes) -> Iterator[Hit]:
    """Keys of AWS, also where no secret of the usual form is beside them: kingfisher wants both."""
    for found in _ACCESS_KEY.finditer(without_known_examples(content)):
        if len(set(found[0])) >= _LEAST_KEY // 2 and b"EXAMPLE" not in found[0]:
            line = content.count(b"\n", 0, found.start()) + 1
            yield hit(OwnRule.ACCESS_KEY, path, line, "There is an access key of AWS.")


def passwords_in_code(path: str, content: bytes) -> Iterator[Hit]:
    """Passwords that code gives to a call, a variable or a field."""
    words = _credentials()
    if not _MAY_NAME.search(content):
        return
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
        for pair in _IN_CODE.finditer(line):
            value = pair["value"]
            if words.key.search(pair["key"]) and _is_password(value) and not words.placeholder.search(value):
                yield hit(OwnRule.PASSWORD_IN_CODE, path, number, f"There is a value for `{text(pair['key'])}`.")


def _is_password(value: str) -> bool:
    """In code, names of fields and texts for people stand beside the same words: only what looks made up counts."""
    kinds = (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^a-zA-Z0-9]")
    many = sum(re.search(kind, value) is not None for kind in kinds) > _FEW_KINDS
    return many and _may_be_password(value, _LEAST_IN_CODE) and any(character.isdigit() for character in value)


_FEW_KINDS = 2


def _may_be_password(value: str, least: int) -> bool:
    """Words alone are names, labels and dummies far more often than passwords."""
    letters = any(character.isalpha() for character in value)
    others = any(character.isdigit() or character in "!@#$%^&*?+~=" for character in value)
    return len(value) >= least and letters and others and not any(character.isspace() for character in value)


def _is_mixed(value: str) -> bool:
    """Made by a machine: many different characters, not words and numbers joined by hyphens or dots."""
    return len(set(value)) >= _LEAST_KEY // 2 and max(map(len, re.split(r"[-_./:]", value))) >= _LEAST_KEY
