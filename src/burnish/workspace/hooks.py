"""Git hooks that call burnish, kept beside the hooks that are there already.

A hook of the user stays as it is, under another name in the same folder, and runs first. Taking ours away puts it back.
"""

import hashlib
import os
import shlex
import shutil
import sys
from contextlib import suppress
from enum import Enum
from importlib import resources
from pathlib import Path

import burnish
from burnish.core.values import Value
from burnish.system.files import write_atomically
from burnish.workspace.errors import HookError
from burnish.workspace.names import fields, to_text
from burnish.workspace.repository import Repository
from burnish.workspace.results import hooks_folder

KEPT_SUFFIX = ".before-burnish"
_MARK = "# Made by `burnish hook install`"
_DIGEST = "# digest: "
_READ_BYTES = 64 * 1024


class HookName(Enum):
    PRE_PUSH = "pre-push"
    POST_COMMIT = "post-commit"
    PRE_COMMIT = "pre-commit"


class HookState(Enum):
    INSTALLED = "installed"
    ABSENT = "not installed"
    EDITED = "edited"
    """It is ours, with changes that burnish did not make."""
    OUTDATED = "outdated"
    """It is ours, but calls another burnish, or was made by another version."""
    REPLACED = "replaced"
    """Another tool has written its own hook over ours."""


class HookStatus(Value):
    name: HookName
    state: HookState
    path: Path
    kept: Path | None = None
    """The hook of the user that runs first; without ours, the one that is there."""
    shared: bool = False
    """Whether its folder is outside of this repository: what is there belongs to other repositories, too."""

    @property
    def can_go(self) -> bool:
        """Whether it is ours to take away."""
        return self.state in (HookState.INSTALLED, HookState.OUTDATED) and not self.shared


class HookChange(Value):
    """What became of one hook, in a sentence, and what the user should know of it."""

    done: str
    notes: tuple[str, ...] = ()


def hook_status(repository: Repository, name: HookName) -> HookStatus:
    path = hooks_folder(repository) / name.value
    kept = _kept(path)
    beside = kept if os.path.lexists(kept) else None
    text = _read(path)
    if not _is_ours(text):
        state = HookState.REPLACED if beside is not None else HookState.ABSENT
        beside = path if os.path.lexists(path) else beside
    elif not _is_unedited(text):
        state = HookState.EDITED
    else:
        state = HookState.INSTALLED if text == _script(name) and os.access(path, os.X_OK) else HookState.OUTDATED
    return HookStatus(name=name, state=state, path=path, kept=beside, shared=_is_shared(repository, path.parent))


def install_hook(repository: Repository, name: HookName) -> HookChange:
    """Install a hook. To do so twice changes nothing. A hook that is there is never missing meanwhile."""
    status = hook_status(repository, name)
    if status.shared:
        raise _shared(repository, status.path.parent)
    notes = tuple(_notes(repository, status.path))
    match status.state:
        case HookState.INSTALLED:
            return HookChange(done=f"{name.value} is installed already: {status.path}")
        case HookState.EDITED:
            raise _edited(status)
        case HookState.REPLACED | HookState.ABSENT:
            _keep(status.path)
        case HookState.OUTDATED:
            pass
    try:
        status.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(status.path, _script(name).encode(), 0o755)
    except OSError as error:
        raise _unwritable(status.path, error) from None
    kept = _kept(status.path)
    first = f" The hook that was there runs first; it is now {kept}." if os.path.lexists(kept) else ""
    word = "updated" if status.state is HookState.OUTDATED else "installed"
    return HookChange(done=f"{name.value} {word}: {status.path}.{first}", notes=notes)


def uninstall_hook(repository: Repository, name: HookName) -> HookChange:
    """Take our hook away, and put back what was there, exactly."""
    status = hook_status(repository, name)
    path, kept = status.path, _kept(status.path)
    match status.state:
        case HookState.ABSENT:
            return HookChange(done=f"{name.value} is not installed.")
        case HookState.REPLACED:
            left = f"{kept} is the hook that burnish kept. Remove it if you do not need it."
            return HookChange(
                done=f"{name.value} is not installed: {path} is not a hook of burnish, so it stays as it is.",
                notes=(left,),
            )
        case HookState.EDITED:
            raise _edited(status)
        case HookState.INSTALLED | HookState.OUTDATED:
            if status.shared:
                raise _shared(repository, path.parent)
    try:
        if os.path.lexists(kept):
            kept.replace(path)
            return HookChange(done=f"{name.value} removed; your own hook is back: {path}")
        path.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None
    return HookChange(done=f"{name.value} removed: {path}")


def _keep(path: Path) -> None:
    """Give the hook that is there a second name. It stays active until ours takes its place in one step."""
    kept = _kept(path)
    if not os.path.lexists(path):
        if os.path.lexists(kept):
            raise HookError(
                f"There is a {kept}, but no {path}.",
                hint=f"If it is your hook, restore it with: mv {shlex.quote(str(kept))} {shlex.quote(str(path))}",
            )
        return
    if os.path.lexists(kept):
        if _same(path, kept):
            return
        raise HookError(
            f"{kept} is kept from an earlier installation, and differs from the hook that is there now.",
            hint=f"Compare them, then remove the older one: rm {shlex.quote(str(kept))}",
        )
    try:
        os.link(path, kept, follow_symlinks=False)
    except OSError:  # a file system without hard links
        try:
            shutil.copy2(path, kept, follow_symlinks=False)
        except OSError as error:
            raise _unwritable(kept, error) from None


def _same(first: Path, second: Path) -> bool:
    if first.is_symlink() or second.is_symlink():
        return first.is_symlink() and second.is_symlink() and first.readlink() == second.readlink()
    with suppress(OSError):
        return first.read_bytes() == second.read_bytes()
    return False


def _is_shared(repository: Repository, folder: Path) -> bool:
    places = [place.resolve() for place in (repository.common_dir, repository.root)]
    return not any(folder.resolve().is_relative_to(place) for place in places)


def _shared(repository: Repository, folder: Path) -> HookError:
    own = repository.common_dir / "hooks"
    return HookError(
        f"core.hooksPath is {folder}, outside of this repository: a hook there runs in other repositories, too.",
        hint='Add `burnish hook run NAME "$@"` to your own hook there, or give this repository hooks of its own: '
        f"git config core.hooksPath {shlex.quote(str(own))}",
    )


def _notes(repository: Repository, path: Path) -> list[str]:
    """A hook in the work tree could be committed, although it names a folder of this machine."""
    if path.resolve().is_relative_to(repository.common_dir.resolve()):
        return []
    inside = [file for file in (path, _kept(path)) if file.parent.resolve().is_relative_to(repository.root.resolve())]
    names = [file.parent.resolve().relative_to(repository.root.resolve()) / file.name for file in inside]
    listed = repository.git.finish("check-ignore", "-z", *(str(name) for name in names)).stdout
    ignored = {to_text(name) for name in fields(listed)}
    seen = [str(name) for name in names if str(name) not in ignored]
    if not seen:
        return []
    return [f"{' and '.join(seen)} are in the work tree and not ignored. Do not commit them: they name this machine."]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_READ_BYTES).decode("utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _is_ours(text: str) -> bool:
    return any(line.startswith(_MARK) for line in text.splitlines()[:3])


def _is_unedited(text: str) -> bool:
    head, found, rest = text.partition(_DIGEST)
    digest, _, body = rest.partition("\n")
    return bool(found) and _sealed(body).partition(_DIGEST)[0] == head and digest == _digest(body)


def _script(name: HookName) -> str:
    values = {
        "name": name.value,
        "python": sys.executable,
        "package": str(Path(burnish.__file__).parent),
    }
    lines = "".join(f"{key}={shlex.quote(value)}\n" for key, value in values.items())
    return _sealed(lines + resources.files("burnish.workspace").joinpath("hook.sh").read_text(encoding="utf-8"))


def _sealed(body: str) -> str:
    """The whole script. The digest tells whether it was edited."""
    return f"#!/bin/sh\n{_MARK}; `burnish hook uninstall` removes it.\n{_DIGEST}{_digest(body)}\n{body}"


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", errors="surrogateescape")).hexdigest()[:16]


def _kept(path: Path) -> Path:
    return path.with_name(path.name + KEPT_SUFFIX)


def _edited(status: HookStatus) -> HookError:
    own = _kept(status.path)
    return HookError(
        f"{status.path} was edited after burnish had made it, so burnish does not touch it.",
        hint=f"Move your lines to {own}, which runs first, and remove the file. Then try again.",
    )


def _unwritable(path: Path, error: OSError) -> HookError:
    return HookError(f"{path} cannot be written: {error.strerror}.", hint="Check its owner and its permissions.")
