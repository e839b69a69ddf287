"""Everything that burnish itself looks for in one file."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.commands import command_hits
from burnish.agents.panel.own_checks.credentials import access_keys, passwords, passwords_in_code
from burnish.agents.panel.own_checks.data_files import data_hits, merge_markers
from burnish.agents.panel.own_checks.dockerfiles import dockerfile_hits
from burnish.agents.panel.own_checks.links import attributes
from burnish.agents.panel.own_checks.reporting import OwnRule, hit
from burnish.agents.panel.own_checks.workflows import workflow_hits

_MOST_CHECKED_BYTES = 4 * 1024 * 1024


def look_into(path: str, content: bytes, *, is_code: bool) -> Iterator[Hit]:
    """What stands in one file. `is_code` says whether a linter takes it."""
    if is_code and b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        message = "There is a NUL byte in this text: some programs ignore it, others stop at it."
        yield hit(OwnRule.NUL_BYTE, path, line, message)
    if len(content) > _MOST_CHECKED_BYTES:
        return
    if PurePosixPath(path).name == ".gitattributes":
        yield from attributes(path, content)
    yield from merge_markers(path, content)
    yield from data_hits(path, content)
    yield from workflow_hits(path, content)
    yield from command_hits(path, content)
    yield from dockerfile_hits(path, content)
    yield from passwords(path, content)
    yield from access_keys(path, content)
    if is_code:
        yield from passwords_in_code(path, content)
