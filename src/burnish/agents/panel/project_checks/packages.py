"""Which packages a check of Go or Rust looks at: those of the changed files, and those that depend on them. Pure."""

import posixpath
from collections.abc import Collection

import msgspec

from burnish.agents.panel.interface import ToolError, ToolName
from burnish.agents.panel.tools.reading import decoded
from burnish.core.values import Value

_OF_ALL = ("go.mod", "go.sum", "go.work", "Cargo.toml", "Cargo.lock")


class Packages(Value):
    """The packages of a project, by their names."""

    folders: dict[str, str]
    """From the root of the repository."""
    users: dict[str, frozenset[str]]
    """Those that depend on a package."""
    files: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])
    """What is compiled of a package, where that is listed."""
    workspace: str = ""
    """The folder that compilers name files from."""

    def reached(self, changed: Collection[str]) -> tuple[str, ...]:
        """The packages in whose folders files changed, and all that depend on them; all, where a manifest changed."""
        owners = {owner for path in changed if (owner := self._owner(path))}
        if any(posixpath.basename(path) in _OF_ALL for path in changed):
            owners = set(self.folders)
        todo = list(owners)
        while todo:
            new = self.users.get(todo.pop(), frozenset()) - owners
            owners |= new
            todo += new
        return tuple(name for name in self.folders if name in owners)

    def _owner(self, path: str) -> str:
        """The package that a file belongs to: the one with the nearest folder above."""
        above = [name for name, folder in self.folders.items() if not folder or path.startswith(f"{folder}/")]
        return max(above, key=lambda name: len(self.folders[name]), default="")


class _GoPackage(Value, forbid_unknown_fields=False, rename="pascal"):
    dir: str
    import_path: str
    deps: tuple[str, ...] = ()
    test_imports: tuple[str, ...] = ()
    external_test_imports: tuple[str, ...] = msgspec.field(name="XTestImports", default=())
    go_files: tuple[str, ...] = ()
    cgo_files: tuple[str, ...] = ()
    test_go_files: tuple[str, ...] = ()
    external_test_files: tuple[str, ...] = msgspec.field(name="XTestGoFiles", default=())


def go_packages(listing: bytes, root: str) -> Packages:
    """What `go list -json` says, whose documents stand one after another."""
    whole = b"[" + listing.strip().replace(b"\n}\n{", b"\n},{") + b"]"
    listed = decoded(ToolName.GO_VET, whole, tuple[_GoPackage, ...])
    folders: dict[str, str] = {}
    files: dict[str, tuple[str, ...]] = {}
    users: dict[str, set[str]] = {}
    for one in listed:
        folder = _from_root(one.dir, root)
        if folder is None:
            continue
        folders[one.import_path] = folder
        names = (*one.go_files, *one.cgo_files, *one.test_go_files, *one.external_test_files)
        files[one.import_path] = tuple(posixpath.join(folder, name) for name in names)
        for used in (*one.deps, *one.test_imports, *one.external_test_imports):
            users.setdefault(used, set()).add(one.import_path)
    return Packages(folders=folders, files=files, users={name: frozenset(found) for name, found in users.items()})


class _CargoDependency(Value, forbid_unknown_fields=False):
    path: str | None = None


class _CargoPackage(Value, forbid_unknown_fields=False):
    name: str
    manifest_path: str
    dependencies: tuple[_CargoDependency, ...] = ()


class _CargoMetadata(Value, forbid_unknown_fields=False):
    packages: tuple[_CargoPackage, ...]
    workspace_root: str


def cargo_packages(metadata: bytes, root: str) -> Packages:
    """What `cargo metadata` says."""
    read = decoded(ToolName.CARGO, metadata, _CargoMetadata)
    workspace = _from_root(read.workspace_root, root)
    if workspace is None:
        raise ToolError("The workspace of cargo is outside the repository.")
    places = {posixpath.dirname(one.manifest_path): one.name for one in read.packages}
    users: dict[str, set[str]] = {}
    for one in read.packages:
        for used in one.dependencies:
            if used.path in places:
                users.setdefault(places[used.path], set()).add(one.name)
    return Packages(
        folders={name: folder for place, name in places.items() if (folder := _from_root(place, root)) is not None},
        users={name: frozenset(found) for name, found in users.items()},
        workspace=workspace,
    )


def _from_root(path: str, root: str) -> str | None:
    if path == root:
        return ""
    return path.removeprefix(f"{root}/") if path.startswith(f"{root}/") else None
