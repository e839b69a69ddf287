"""How the project's own commands see a copy: where mounts can be made, at the path of the user's checkout.

Absolute paths, editable installations and virtual environments name the checkout. With the copy mounted there they lead
to the copy. Without mounts a copy is seen where it is. What a project installs and git ignores, such as `node_modules`,
is not in a copy: the checkout's is shown in its place, read-only, if it was installed for what the copy asks for.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from burnish.core.values import Value, replace
from burnish.system.sandbox import Mount
from burnish.workspace.objects import object_folders
from burnish.workspace.repository import Repository

PACKAGES = "node_modules"
ENVIRONMENTS = (".venv", "venv")
NODE_LOCKS = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb")
PYTHON_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
_LOCKS = {PACKAGES: NODE_LOCKS, **dict.fromkeys(ENVIRONMENTS, (*PYTHON_LOCKS, "requirements.txt"))}
_MADE_BY_VITE = ".vite-temp"
_WRITTEN_TO = (".cache", ".vite", _MADE_BY_VITE)
"""Where tools keep things inside of `node_modules`."""
_MOST_MOUNTS, _MOST_MOUNTS_FOR_VITE = 50, 500
_OBJECTS = "GIT_ALTERNATE_OBJECT_DIRECTORIES"


class CopyView(Value):
    """A copy of the project, as its commands see it."""

    folder: Path
    root: Path
    """Where commands find it: the path of the checkout, or its own."""
    mounts: tuple[Mount, ...] = ()
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    unfit: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Dependencies of the checkout that do not fit the copy, by their path, and why."""

    @property
    def is_mounted(self) -> bool:
        return bool(self.mounts)

    def seen(self, place: Path) -> Path:
        """Where commands find something of the copy."""
        return self.root / place.relative_to(self.folder)


def view_of(repository: Repository, folder: Path, places: Path, *, mounts: bool) -> CopyView:
    """How a copy is seen. `places` is a folder of burnish's own, in which objects of git can be shown."""
    root = repository.root
    bare = root == repository.common_dir
    home = Path(os.environ.get("HOME", "/nonexistent"))
    if not mounts or bare or root == Path("/") or home.is_relative_to(root) or folder.is_relative_to(root):
        return CopyView(folder=folder, root=folder)
    objects = object_folders(repository)
    shown = [Mount(source=str(found), target=str(places / f"objects-{at}")) for at, found in enumerate(objects)]
    return CopyView(
        folder=folder,
        root=root,
        mounts=(Mount(source=str(folder), target=str(root), writable=True), *shown),
        environment={_OBJECTS: ":".join(mount.target for mount in shown)},
    )


def with_dependencies(view: CopyView, checkout: Path, projects: Iterable[str]) -> CopyView:
    """The same view with what is installed in the checkout, for projects of the repository and all folders above."""
    mounts, unfit = list(view.mounts), dict(view.unfit)
    for path in _installed(checkout, projects):
        source, place = checkout / path, view.folder / path
        if os.path.lexists(place) or not place.parent.is_dir():
            continue  # the copy has its own: prepared, or committed
        reason = _why_unfit(source, place, mounted=view.is_mounted)
        if reason:
            unfit[path] = reason
        elif view.is_mounted:
            place.mkdir()
            if _can_be_open(source):
                mounts += _one_by_one(source, place, view.root / path)
            else:
                mounts.append(Mount(source=str(source), target=str(view.root / path)))
                mounts += _scratch(view, source, path)
        elif source.name == PACKAGES and os.access(source, os.R_OK | os.X_OK):
            _link_one_by_one(source, place)
    return replace(view, mounts=tuple(mounts), unfit=unfit)


def _installed(checkout: Path, projects: Iterable[str]) -> Iterator[str]:
    folders = {str(above) for project in projects for above in (Path(project), *Path(project).parents)}
    for folder in sorted(folders):
        for name in (*ENVIRONMENTS, PACKAGES):
            path = os.path.normpath(f"{folder}/{name}")
            if (checkout / path).is_dir():
                yield path


def _scratch(view: CopyView, source: Path, path: str) -> Iterator[Mount]:
    """Folders for what tools write between the packages, which stay as they are."""
    for name in _WRITTEN_TO:
        if (source / name).is_dir():
            place = view.folder.parent / f"{view.folder.name}-written" / path.replace("/", "-") / name
            place.mkdir(parents=True, exist_ok=True)
            yield Mount(source=str(place), target=str(view.root / path / name), writable=True)


def _can_be_open(source: Path) -> bool:
    """Whether tools may make folders between the packages, as vite does: it stops where it cannot.

    Links are no mounts: pnpm has few others. Very many mounts take seconds, and only vite is worth some hundred.
    """
    if source.name != PACKAGES or not os.access(source, os.R_OK | os.X_OK):
        return False
    needed = sum(not entry.is_symlink() for entry in source.iterdir())
    for_vite = (source / "vite").exists() and not (source / _MADE_BY_VITE).is_dir()
    return needed <= (_MOST_MOUNTS_FOR_VITE if for_vite else _MOST_MOUNTS)


def _one_by_one(source: Path, place: Path, target: Path) -> Iterator[Mount]:
    """Every package as it is, in a folder of the copy's own: a folder that the checkout lacks cannot be mounted.

    What tools keep between the packages is not shown: they make it again.
    """
    for entry in sorted(source.iterdir()):
        if entry.name in _WRITTEN_TO:
            continue
        if entry.is_symlink():
            (place / entry.name).symlink_to(entry.readlink())
            continue
        if entry.is_dir():
            (place / entry.name).mkdir()
        else:
            (place / entry.name).touch()
        yield Mount(source=str(entry), target=str(target / entry.name))


def _link_one_by_one(source: Path, place: Path) -> None:
    """The same without mounts, by links: in one link to the whole folder, tools could not make folders of their own."""
    place.mkdir()
    for entry in source.iterdir():
        if entry.name not in _WRITTEN_TO:
            (place / entry.name).symlink_to(entry.readlink() if entry.is_symlink() else entry)


def _why_unfit(source: Path, place: Path, *, mounted: bool) -> str:
    for lock in _LOCKS[source.name]:
        if _content(source.with_name(lock)) != _content(place.with_name(lock)):
            return f"{lock} of the checkout differs"
    if source.name != PACKAGES:
        return ""
    if _wanted(source.with_name("package.json")) != _wanted(place.with_name("package.json")):
        return "package.json of the checkout lists other packages"
    if not mounted and _leads_out(source):
        return f"{PACKAGES} of the checkout links back into the checkout"
    return ""


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes() if file.is_file() else None
    except OSError:
        return None


class _Manifest(Value, forbid_unknown_fields=False, rename="camel"):
    dependencies: msgspec.Raw = msgspec.Raw()
    dev_dependencies: msgspec.Raw = msgspec.Raw()
    optional_dependencies: msgspec.Raw = msgspec.Raw()
    peer_dependencies: msgspec.Raw = msgspec.Raw()


def _wanted(manifest: Path) -> tuple[bytes, ...]:
    content = _content(manifest) or b"{}"
    try:
        found = msgspec.json.decode(content, type=_Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return (content,)
    asked = (found.dependencies, found.dev_dependencies, found.optional_dependencies, found.peer_dependencies)
    return tuple(bytes(table) for table in asked)


def _leads_out(packages: Path) -> bool:
    """Whether a package is a link to code of the checkout: a workspace. The copy's own must be tested, not that."""
    inside = packages.resolve()
    entries = [entry for pattern in ("*", "@*/*") for entry in packages.glob(pattern)]
    return any(entry.is_symlink() and not entry.resolve().is_relative_to(inside) for entry in entries)
