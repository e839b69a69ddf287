"""Records of emergencies, beside the seals: `refs/burnish/break-glass/<tree>/…` keeps one blob for each.

A record allows nothing: it is written so that people see later what went ahead without a seal, and why.
"""

import hashlib
import json

import msgspec

from burnish.core.break_glass import BreakGlass
from burnish.workspace.errors import GitError
from burnish.workspace.names import fields
from burnish.workspace.repository import Repository

PREFIX = "refs/burnish/break-glass/"
_NAME_LENGTH = 16


def store_break_glass(repository: Repository, record: BreakGlass) -> str:
    """Store a record; the ref that keeps it."""
    body = json.dumps(msgspec.to_builtins(record), sort_keys=True, separators=(",", ":")).encode() + b"\n"
    ref = f"{PREFIX}{record.tree}/{hashlib.sha256(body).hexdigest()[:_NAME_LENGTH]}"
    identity = repository.git.text("hash-object", "-w", "--stdin", stdin=body)
    repository.git.run("update-ref", ref, identity)
    return ref


def find_break_glass(repository: Repository, tree: str) -> tuple[BreakGlass, ...]:
    """The records of a tree, the oldest first. What is not one of ours is left aside."""
    listing = repository.git.run("for-each-ref", "--format=%(objectname)%00", f"{PREFIX}{tree}/")
    found: list[BreakGlass] = []
    for identity in fields(listing):
        try:
            record = msgspec.json.decode(repository.git.content(identity.strip()), type=BreakGlass)
        except (GitError, msgspec.MsgspecError):
            continue
        if record.tree == tree:
            found.append(record)
    return tuple(sorted(found, key=lambda record: record.at))
