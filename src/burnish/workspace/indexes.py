"""What an index means, without what git keeps in it to be quick: a refreshed index means what it meant."""

import hashlib
import shutil
from pathlib import Path

from burnish.workspace.vaults import Vault

_UNREADABLE = "unreadable"


def meaning_of_index(index: Path, vault: Vault) -> str:
    """A digest of the entries of an agent's index, with their flags. It is read as data, by burnish's own git."""
    if index.is_symlink() or not index.is_file():
        return "none"
    copy = vault.folder / "index-agent"
    try:
        shutil.copyfile(index, copy)
    except OSError:
        return _UNREADABLE
    environment = {"GIT_INDEX_FILE": str(copy)}
    # -v tells entries apart that git was told to leave alone, which would hide a change.
    finished = vault.git.finish("ls-files", "--stage", "-v", "-z", environment=environment)
    return hashlib.sha256(finished.stdout).hexdigest() if finished.code == 0 else _UNREADABLE
