"""What burnish looks for itself, because no tool does: passwords in configuration files, bytes that hide code from
tools, files whose checkout is not what was reviewed, and what a tree points to outside of itself.

What counts as a placeholder, and which tokens are known examples, is data: `rules/credentials.toml`.
"""

import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from burnish.agents.panel.interface import Hit, ToolName
from burnish.agents.panel.tools.reading import text
from burnish.core.values import Value
from burnish.settings.globs import matches

PASSWORD = "password-in-configuration"  # noqa: S105 - the name of a rule
NUL_BYTE = "nul-byte"
CHECKOUT = "checkout-differs"
EXPANDED = "text-is-expanded"
LINK = "link-out-of-tree"
SUBMODULE = "submodule"

_LINKS_FOLLOWED = 40
_GIT_FOLDERS = frozenset({".git", "git~1"})
_MOST_CHECKED_BYTES = 4 * 1024 * 1024
_DIFFERS = re.compile(r"(?<![\w-])(?:working-tree-encoding|filter)=(?!lfs(?:\s|$))\S+")
_EXPANDS = re.compile(r"(?<![\w-])(?:ident|export-subst|filter=lfs)(?![\w=-])")


class _Credentials(Value):
    files: tuple[str, ...]
    key: re.Pattern[str]
    long_key: re.Pattern[str]
    placeholder: re.Pattern[str]
    examples: re.Pattern[bytes]


@cache
def _credentials() -> _Credentials:
    table = tomllib.loads(Path(__file__).with_name("rules").joinpath("credentials.toml").read_text(encoding="utf-8"))
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


def look_into(path: str, content: bytes, *, is_code: bool) -> Iterator[Hit]:
    """What stands in one file. `is_code` says whether a linter takes it."""
    if is_code and b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        yield _hit(
            NUL_BYTE, path, line, "There is a NUL byte in this text: some programs ignore it, others stop at it."
        )
    if len(content) > _MOST_CHECKED_BYTES:
        return
    if PurePosixPath(path).name == ".gitattributes":
        yield from _attributes(path, content)
    if any(matches(path, pattern) for pattern in _credentials().files):
        yield from _passwords(path, content)


def _attributes(path: str, content: bytes) -> Iterator[Hit]:
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        if found := _DIFFERS.search(line):
            yield _hit(CHECKOUT, path, number, f"git checks out other text than what is reviewed: {text(found[0])}.")
        elif found := _EXPANDS.search(line):
            yield _hit(EXPANDED, path, number, f"git writes other text to these files: {text(found[0])}.")


_PAIR = re.compile(
    r"""^[ \t]*(?:-[ \t]+|export[ \t]+)?["']?(?P<key>[\w.-]+)["']?[ \t]*[:=][ \t]*"""
    r"""(?:"(?P<double>[^"\n]*)"|'(?P<single>[^'\n]*)'|(?P<plain>[^\s#,"']+))[ \t]*,?[ \t]*(?:[#;].*)?\r?$""",
    re.MULTILINE,
)
_LEAST = 5
_LEAST_KEY = 16


def _passwords(path: str, content: bytes) -> Iterator[Hit]:
    words = _credentials()
    lines = content.decode("utf-8", "replace")
    for pair in _PAIR.finditer(lines):
        value = pair["double"] or pair["single"] or pair["plain"] or ""
        is_password = words.key.search(pair["key"]) and _may_be_password(value, _LEAST)
        is_key = words.long_key.search(pair["key"]) and _may_be_password(value, _LEAST_KEY) and _is_mixed(value)
        if (is_password or is_key) and not words.placeholder.search(value):
            number = lines.count("\n", 0, pair.start("key")) + 1
            yield _hit(PASSWORD, path, number, f"There is a value for `{text(pair['key'])}`.")


def _may_be_password(value: str, least: int) -> bool:
    """Words alone are names, labels and dummies far more often than passwords."""
    letters = any(character.isalpha() for character in value)
    others = any(character.isdigit() or character in "!@#$%^&*?+~=" for character in value)
    return len(value) >= least and letters and others and not any(character.isspace() for character in value)


def _is_mixed(value: str) -> bool:
    """Made by a machine: many different characters, not words and numbers joined by hyphens or dots."""
    return len(set(value)) >= _LEAST_KEY // 2 and max(map(len, re.split(r"[-_./:]", value))) >= _LEAST_KEY


def link_hit(path: str, links: Mapping[str, str]) -> Hit | None:
    """A hit for a symbolic link that leads out of the tree, or into git's own folder. `links` are all of the tree."""
    if stays_inside(path, links):
        return None
    return _hit(LINK, path, None, f"This link points outside the repository, to {text(links[path])}.")


def submodule_hit(path: str, *, is_new: bool) -> Hit:
    what = "is new" if is_new else "is at another commit"
    return _hit(SUBMODULE, path, None, f"The submodule {what}; its content is not part of this repository.")


def stays_inside(path: str, links: Mapping[str, str]) -> bool:
    """Whether a link ends inside of the tree, followed component by component as the system does."""
    todo, place = path.split("/")[::-1], list[str]()
    followed = 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not place:
                return False
            place.pop()
            continue
        if part.lower() in _GIT_FOLDERS:
            return False
        place.append(part)
        target = links.get("/".join(place))
        if target is not None:
            followed += 1
            if followed > _LINKS_FOLLOWED or posixpath.isabs(target):
                return False
            place.pop()
            todo += target.split("/")[::-1]
    return True


def _hit(rule: str, path: str, line: int | None, message: str) -> Hit:
    return Hit(tool=ToolName.BURNISH, rule=rule, file=path, line=line, message=message)
