"""Which task of a list an agent worked on: the one that it was given, another one, or none.

burnish offers a task and records that before any process starts. The agent keeps the last word, because prompts of
projects tell agents to choose for themselves: what it claimed in the list, or said that it claimed, counts.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress

from burnish.core.text import clean_text
from burnish.runtime.context import Picking
from burnish.sources.bead_tracker import ISSUES, WrittenBead, beads_in, claimed_between
from burnish.sources.interface import SourceError
from burnish.system.nofollow import READING, folder_of, regular_content
from burnish.workspace.clones import Clone
from burnish.workspace.repository import Repository

_MARKERS = ("no beads available", "no_beads_available", "no tasks available", "no_tasks_available")
_MOST_BYTES = 32 * 1024 * 1024
_ALONE = re.compile(rf"^\W*(?:{'|'.join(_MARKERS)})\W*$", re.IGNORECASE | re.MULTILINE)
_COMMAND = re.compile(
    r"\b(?:bd|tsq)\s+(?:--?[\w-]+\s+)*(?:(?:claim|start)\s+(?P<id>[\w.-]+)"
    r"|update\s+(?P<updated>[\w.-]+)\s[^\"\n|;&]{0,80}?(?:--claim|in_progress))"
)
_SAID = re.compile(
    r"^\W{0,8}(?:picked|claimed|working on)(?:\s+bead)?\s*:?\s+\W{0,3}(?P<id>[\w.-]+)", re.IGNORECASE | re.MULTILINE
)


def is_out_of_work(reply: str, *, changed: bool) -> bool:
    """Whether an agent said that no task is left.

    An agent that changed something may only speak of the words, as in a summary: for it, they must stand alone.
    """
    if changed:
        return _ALONE.search(reply) is not None
    said = reply.lower()
    return any(marker in said for marker in _MARKERS)


def picked_instead(repository: Repository, clone: Clone, picking: Picking, commit: str, said: Iterable[bytes]) -> str:
    """The other task that an agent claimed; empty where it claimed its own, none, or one that is not open.

    `commit` is what the agent began with, and `said` all that it printed.
    """
    path = f"{picking.folder}/{ISSUES}"
    before = _listed(repository.read_file(commit, path))
    claimed = claimed_between(before, _listed(_left_in(clone, path)))
    for text in (clean_text(raw.decode("utf-8", errors="replace")) for raw in said):
        claimed += [found["id"] or found["updated"] for found in _COMMAND.finditer(text)]
        claimed += [found["id"].rstrip(".") for found in _SAID.finditer(text)]
    if picking.task in claimed:
        return ""
    others = frozenset(picking.others)
    return next((name for name in claimed if name in others), "")


def _left_in(clone: Clone, path: str) -> bytes | None:
    """The list as the agent left it in its clone. No link that it made is followed."""
    with suppress(OSError), folder_of(clone.path, path) as (folder, name):
        return regular_content(os.open(name, READING, dir_fd=folder), _MOST_BYTES)
    return None


def _listed(raw: bytes | None) -> list[WrittenBead]:
    if raw is None:
        return []
    with suppress(SourceError):
        return beads_in(raw.decode("utf-8", errors="replace"), ISSUES)
    return []
