"""Dockerfiles that name what is not there, be it a stage or a file of the project, or that name no user.

hadolint sees neither the tree nor what is missing.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.reporting import OwnRule, hit, rule_data
from burnish.agents.panel.tools.reading import text
from burnish.settings.globs import matches

_STAGE = re.compile(r"^FROM\s+(?:--\S+\s+)*(?P<image>\S+)(?:\s+AS\s+(?P<name>\S+))?", re.IGNORECASE)
_FROM = re.compile(r"^(?:COPY|ADD)\s+(?:--\S+\s+)*?--from=(?P<stage>[A-Za-z][\w-]*)\s", re.IGNORECASE)
_COPY = re.compile(r"^(?:COPY|ADD)\s+(?P<rest>(?!.*--from=).*\S)\s+\S+\s*$", re.IGNORECASE)
_LIST = re.compile(r"^(?:CMD|ENTRYPOINT)\s+(?P<list>\[.*\])\s*$", re.IGNORECASE)
_USER = re.compile(r"^USER\s+\S", re.IGNORECASE)
_COMMAND = re.compile(r"^(?:CMD|ENTRYPOINT)\s", re.IGNORECASE)
_PLAIN = re.compile(r"[\w./-]+")


def is_dockerfile(path: str) -> bool:
    return any(matches(path, glob) for glob in rule_data("packages")["dockerfiles"]["files"])


def dockerfile_hits(path: str, content: bytes) -> Iterator[Hit]:
    """What is wrong with a Dockerfile by itself."""
    if not is_dockerfile(path):
        return
    stages = set[str]()
    for number, line in _lines(content):
        if found := _STAGE.match(line):
            stages.add((found["name"] or "").lower())
        if (found := _FROM.match(line)) and found["stage"].lower() not in stages:
            message = f"No stage before this line is called `{text(found['stage'])}`."
            yield hit(OwnRule.UNKNOWN_STAGE, path, number, message)
        if (found := _LIST.match(line)) and not _is_json(found["list"]):
            message = "The list is not JSON, so that a shell runs its text: use double quotes."
            yield hit(OwnRule.INVALID_DATA, path, number, message)
    if command := _command_of_root(content):
        yield hit(OwnRule.RUNS_AS_ROOT, path, command, "No line says USER, so that the program runs as root.")


def _command_of_root(content: bytes) -> int | None:
    """The line of the command that the image runs as root, if it does."""
    data = rule_data("packages")["dockerfiles"]
    if any(word in content for word in map(str.encode, data["drops_root"])):
        return None
    stages: dict[str, tuple[str, bool]] = {}
    name, image, has_user, command = "", "", False, None
    for number, line in _lines(content):
        if found := _STAGE.match(line):
            image, has_user = stages.get(found["image"].lower(), (found["image"], False))
            name, command = (found["name"] or "").lower(), None
        has_user = has_user or _USER.match(line) is not None
        command = number if _COMMAND.match(line) else command
        stages[name] = image, has_user
    is_root = image.rpartition("/")[2].split(":")[0].split("@")[0] in data["of_root"] and "nonroot" not in image
    return command if is_root and not has_user else None


def missing_files(path: str, now: bytes, before: bytes, paths: frozenset[str]) -> Iterator[Hit]:
    """Files of the project that new lines of a Dockerfile copy, and that the tree does not have."""
    known = {line for _, line in _lines(before)}
    above = [str(folder) for folder in PurePosixPath(path).parents]
    for number, line in _lines(now):
        found = _COPY.match(line) if line not in known else None
        for name in found["rest"].split() if found else ():
            if _is_source(name) and not any(
                _is_there(posixpath.normpath(f"{folder}/{name}"), paths) for folder in above
            ):
                yield hit(OwnRule.MISSING_FILE, path, number, f"There is no `{text(name)}` in the project.")


def _is_source(name: str) -> bool:
    """Whether a name means a file that is written by hand: others may be built before the image is."""
    written = rule_data("packages")["dockerfiles"]["written"]
    built = rule_data("packages")["javascript"]["built"]
    return _PLAIN.fullmatch(name) is not None and name.endswith(tuple(written)) and not {*built} & {*name.split("/")}


def _is_there(place: str, paths: frozenset[str]) -> bool:
    return place in paths or any(path.startswith(f"{place}/") for path in paths)


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _lines(content: bytes) -> Iterator[tuple[int, str]]:
    lines = enumerate(content.decode("utf-8", "replace").splitlines(), start=1)
    return ((number, line.strip()) for number, line in lines)
