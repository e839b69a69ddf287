"""What an index means, without what git keeps in it to be quick: a refreshed index means what it meant."""

import hashlib
from pathlib import Path

from burnish.workspace.inside import read_inside
from burnish.workspace.vaults import Vault

MOST_BYTES = 256 * 1024 * 1024
_UNREADABLE = "unreadable"
_AS_MADE = "as it was when the clone was made"


def meaning_of_index(clone: Path, vault: Vault) -> str:
    """A digest of the entries of an agent's index, with their flags. It is read as data, by burnish's own git."""
    raw = read_inside(clone, ".git/index", MOST_BYTES + 1)
    if raw is None or len(raw) > MOST_BYTES:
        return _UNREADABLE
    if raw == (vault.folder / "index").read_bytes():  # as nearly always: no need to ask git what it means
        return _AS_MADE
    copy = vault.folder / "index-agent"
    copy.write_bytes(raw)
    meaning = _digest(vault, copy)
    return _AS_MADE if meaning == _digest(vault, vault.folder / "index") else meaning


def _digest(vault: Vault, index: Path) -> str:
    # -v tells entries apart that git was told to leave alone, which would hide a change.
    finished = vault.git.finish("ls-files", "--stage", "-v", "-z", environment={"GIT_INDEX_FILE": str(index)})
    return hashlib.sha256(finished.stdout).hexdigest() if finished.code == 0 else _UNREADABLE
