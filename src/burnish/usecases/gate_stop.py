"""Before an agent stops: does its change carry a seal that holds? If not, it is told once what to run.

For clients that have a Stop hook. It never holds an agent twice: not in the turn that it has continued, and not again
for the same tree. Where it cannot tell, the agent may stop, and the user reads why.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from burnish.core.values import Value
from burnish.records.registry import LEFTOVER_PATHS, RECORD_PATHS
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.shell import shell_line
from burnish.usecases.verify_seal import Demands, verify
from burnish.workspace.errors import NotARepositoryError
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import FrozenSubject, Work, freeze

_FOLDER = "stop-gate"


class StopAnswer(Value):
    block: str = ""
    """What the agent must read before it stops; empty where it may stop."""
    note: str = ""
    """What the user should know, though the agent may stop."""


def gate_stop(event: Mapping[str, Any], environment: Mapping[str, str]) -> StopAnswer:
    """`event` is what the client says of the stop. Raises a `BurnishError` where the change cannot be looked at."""
    if environment.get("BURNISH_RUN") or event.get("stop_hook_active") is not False:
        return StopAnswer()  # an agent of a run; or it was held already, or the client does not say
    try:
        repository = Repository.discover(Path(str(event.get("cwd") or ".")))
    except NotARepositoryError:
        return StopAnswer()
    if repository.root == repository.common_dir:
        return StopAnswer()  # a bare repository: there is no work tree to change
    frozen = freeze(
        repository,
        None,
        None,
        work=Work.UNCOMMITTED,
        ignoring=(*RECORD_PATHS, *LEFTOVER_PATHS),
        allow_empty=True,
    )
    if frozen.empty:
        return StopAnswer()
    found = verify(repository, frozen.head, Demands(base=frozen.base))
    if found.ok or not found.enforced or found.break_glass:
        return StopAnswer()
    if not _is_first(repository, str(event.get("session_id")), frozen.tree):
        return StopAnswer(note=f"The change on '{frozen.branch}' still has no valid seal. {found.reason}")
    return StopAnswer(block=_request(frozen, found.reason))


def _is_first(repository: Repository, session: str, tree: str) -> bool:
    """Whether this session was not yet told of this tree; it counts as told now."""
    name = hashlib.sha256(session.encode()).hexdigest()[:16]
    path = repository.state_dir / _FOLDER / name
    with suppress(OSError):
        if path.read_text(encoding="utf-8") == tree:
            return False
    with suppress(OSError):  # without it, the client's own word prevents a loop
        make_private_directory(path.parent)
        write_atomically(path, tree.encode())
    return True


def _request(frozen: FrozenSubject, reason: str) -> str:
    # With --uncommitted it is right before and after the work is committed: a seal is bound to the tree.
    command = shell_line("burnish", "review", "--uncommitted", "--base", frozen.base, "--format", "agent")
    return (
        f"The change on '{frozen.branch}' has no valid seal. {reason} Run `{command}`, fix what it reports, and run it "
        "again until it is approved. If it cannot be approved, say so and stop: you are not asked again for this state."
    )
