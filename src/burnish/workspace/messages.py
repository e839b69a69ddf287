"""The message of a fix's commit: what was fixed in one line, and below what a reader should not overlook."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.contracts.text import bounded
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.workspace.errors import GitError
from burnish.workspace.folders import read_inside
from burnish.workspace.git import is_object
from burnish.workspace.names import to_bytes
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import UNCOMMITTED

if TYPE_CHECKING:
    from burnish.workspace.clones import Clone
    from burnish.workspace.trusted_index import TrustedIndex

_TITLE_LENGTH = 160
_MESSAGE_LENGTH = 2_000
_MESSAGES = 20
_LISTED = 50
_SECONDS = 30.0
_MARKS = re.compile(r"\*\*|__|`")
"""How markdown stresses words: a first line has no use for it."""
_ORDER_IN_BRACKETS = re.compile(r"\[([^\[\]\n]*(?:skip|\bci\b|\bno\b)[^\[\]\n]*)\]", re.IGNORECASE)
_ORDER_IN_STARS = re.compile(r"\*+\s*(no_ci|skip_ci|ci_skip)\s*\*+", re.IGNORECASE)
_ORDER_IN_A_TRAILER = re.compile(r"^(\s*(?:skip-checks|skip-ci|ci-skip))\s*:", re.IGNORECASE | re.MULTILINE)
"""What services that check commits take for an order to leave this one out."""


class Notable(Value):
    """What a commit's body names apart."""

    deleted: tuple[str, ...] = ()
    lock_files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """Folders that are repositories of their own, which a commit cannot hold."""


def title(prefix: str, summary: str) -> str:
    """The first line: the prefix, and the first line of what the fixer said."""
    lines = (_MARKS.sub("", line).strip().lstrip("#*-> ") for line in clean_text(summary).splitlines())
    said = next((" ".join(line.split()) for line in lines if line), "")
    whole = _without_orders(f"{prefix} - {said}" if said else prefix)
    return whole if len(whole) <= _TITLE_LENGTH else whole[: _TITLE_LENGTH - 1].rstrip() + "…"


def full_message(
    first_line: str, notable: Notable, agent_messages: Sequence[str], *, trailers: Sequence[str] = ()
) -> str:
    """The whole message. What the agent wrote is set in, so that nothing in it can pass as ours."""
    parts = [first_line]
    parts += _listing("Deleted:", notable.deleted)
    parts += _listing("Lock files changed:", notable.lock_files)
    parts += _listing("Left out, because they are repositories of their own:", notable.left_out)
    if agent_messages:
        quoted = ("\n".join(f"    {line}".rstrip() for line in text.splitlines()) for text in agent_messages)
        parts.append("\n\n".join(["Messages of the fixer's own commits:", *quoted]))
    words = _without_orders("\n\n".join(parts))
    return "\n\n".join([words, *(("\n".join(trailers),) if trailers else ())]) + "\n"


def _without_orders(text: str) -> str:
    """A text that keeps no service from checking its commit: the words stay, what makes them an order does not."""
    text = _ORDER_IN_BRACKETS.sub(r"(\1)", text)
    text = _ORDER_IN_STARS.sub(r"\1", text)
    return _ORDER_IN_A_TRAILER.sub(r"\1", text)


def _listing(heading: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    lines = [f"- {clean_text(name)}".replace("\n", " ") for name in names[:_LISTED]]
    rest = len(names) - _LISTED
    return ["\n".join([heading, *lines, *([f"- and {rest} more"] if rest > 0 else [])])]


def agent_messages(clone: "Clone", trusted: "TrustedIndex") -> tuple[str, ...]:
    """What the agent wrote into its own commits, oldest first. Its `.git` is only data, and may be in pieces."""
    head = _agent_head(clone)
    if head is None or head == clone.head:
        return ()
    environment = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(f"{clone.path}/.git/objects")}
    command = ("log", "-z", "--format=%B", f"--max-count={_MESSAGES}", head, f"^{clone.head}")
    try:
        finished = trusted.git.finish(*command, environment=environment, seconds=_SECONDS)
    except GitError:  # a trap in its objects, such as a pipe in place of a file
        return ()
    return _texts(finished.stdout) if finished.code == 0 else ()


def commit_messages(repository: Repository, base: str, head: str) -> tuple[str, ...]:
    """What the author of a change wrote into its commits, oldest first; the last ones, where there are many."""
    log = ("log", "-z", "--format=%B", f"--max-count={_MESSAGES}", head, f"^{base}")
    return tuple(text for text in _texts(repository.git.run(*log)) if text.strip() != UNCOMMITTED)


def _texts(log: bytes) -> tuple[str, ...]:
    """The messages of `git log -z --format=%B`, oldest first."""
    texts = (clean_text(raw.decode("utf-8", errors="replace")) for raw in reversed(log.split(b"\0")))
    return tuple(bounded(text, _MESSAGE_LENGTH) for text in texts if text.strip())


def _agent_head(clone: "Clone") -> str | None:
    name = ".git/HEAD"
    for _ in range(3):
        text = (read_inside(clone.path, name, 4_096) or b"").decode("utf-8", errors="replace").strip()
        if not text.startswith("ref: refs/"):
            return text if is_object(text) else _packed(clone, name)
        name = f".git/{text.removeprefix('ref: ')}"
        if ".." in name or "//" in name:
            return None
    return None


def _packed(clone: "Clone", name: str) -> str | None:
    lines = (read_inside(clone.path, ".git/packed-refs", 1024 * 1024) or b"").split(b"\n")
    wanted = b" " + to_bytes(name.removeprefix(".git/"))
    found = (line.removesuffix(wanted).decode("ascii", errors="replace") for line in lines if line.endswith(wanted))
    first = next(found, "")
    return first if is_object(first) else None


def _quoted(path: str) -> str:
    """A path in a list that colons separate."""
    if ":" not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
