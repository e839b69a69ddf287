"""Which session of a client a run belongs to: one at a time, for as long as its process lives.

A run in a session has no driver between two hooks, so no lease says that it is alive. Its owner does.
"""

import hashlib
import hmac
import os
from pathlib import Path

import msgspec

from burnish.core.values import Value
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.identifiers import ProcessIdentity, identity_of, is_known_dead
from burnish.workspace.repository import Repository

_FILE = "owner.json"
_FOLDER = "session"
_SHELLS = ("sh", "bash", "dash", "zsh", "burnish-hook.sh")
_SHELLS_AT_MOST = 3


class SessionOwner(Value):
    """A client's session, and the process that it lives in."""

    session: str
    process: ProcessIdentity

    @property
    def is_dead(self) -> bool:
        return is_known_dead(self.process)

    def __str__(self) -> str:
        return f"session {self.session[:8]} ({self.process})"


def owner_of(session: str) -> SessionOwner:
    """The session that called this process: its client's process, beyond the shells in between."""
    pid = os.getppid()
    for _ in range(_SHELLS_AT_MOST):
        name, parent = _name_and_parent(pid)
        if name not in _SHELLS or parent <= 1:
            break
        pid = parent
    return SessionOwner(session=session, process=identity_of(pid))


def _name_and_parent(pid: int) -> tuple[str, int]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        return text.partition("(")[2].rpartition(")")[0], int(text.rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return "", 0


class OwnedRun(Value):
    """What is kept beside the events of a run that a session drives."""

    owner: SessionOwner
    secret: str
    """From which the tokens of its seats are made."""

    def token(self, effect: str) -> str:
        """What entitles to answer for one piece of work, once: the next attempt has another."""
        return hmac.new(bytes.fromhex(self.secret), effect.encode(), hashlib.sha256).hexdigest()[:24]


def session_folder(repository: Repository, run: str) -> Path:
    return repository.state_dir / "runs" / run / _FOLDER


def owned_run(repository: Repository, run: str) -> OwnedRun | None:
    """None where no session owns it, or what is kept of that cannot be read."""
    try:
        return msgspec.json.decode((session_folder(repository, run) / _FILE).read_bytes(), type=OwnedRun)
    except (OSError, msgspec.DecodeError):
        return None


def own(repository: Repository, run: str, owner: SessionOwner) -> OwnedRun:
    """Make a session the owner of a run."""
    known = owned_run(repository, run)
    owned = OwnedRun(owner=owner, secret=known.secret if known else os.urandom(16).hex())
    folder = session_folder(repository, run)
    make_private_directory(folder)
    write_atomically(folder / _FILE, msgspec.json.encode(owned))
    return owned


def living_owner(repository: Repository, run: str) -> SessionOwner | None:
    owned = owned_run(repository, run)
    return None if owned is None or owned.owner.is_dead else owned.owner
