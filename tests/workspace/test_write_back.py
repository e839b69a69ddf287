"""Fixes of uncommitted work reach the working tree all together or not at all, and the index never."""

import os
import shutil
import signal
import stat
import sys
from collections.abc import Callable
from copy import copy
from pathlib import Path

import pytest

from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import commit_tree, commit_work_tree
from burnish.workspace.write_back import applies, is_half_written, is_written, save_patch, write_back

BEFORE = {
    "changed.py": "old\n",
    "deleted/only.py": "goes\n",
    "run.sh": "#!/bin/sh\n",
    "file_to_folder": "a file\n",
    "folder_to_file/inside.py": "inside\n",
    "kept.py": "kept\n",
}


class Case:
    """A working tree with uncommitted work, and a fix of it."""

    def __init__(self, builder: RepositoryBuilder, folder: Path) -> None:
        self.builder = builder
        self.root = builder.path
        self.folder = folder / "run"
        self.folder.mkdir()
        builder.commit({"kept.py": "committed\n", "changed.py": "committed\n", ".gitignore": "*.log\n"})
        builder.write(BEFORE)
        (self.root / "link").symlink_to("changed.py")
        builder.git.run("add", "kept.py")
        self.repository = Repository.discover(self.root)
        self.before = commit_work_tree(builder.git, builder.head, ())
        self.after = self._fixed(folder / "fixed")
        self.index = (self.root / ".git" / "index").read_bytes()
        self.state = self.snapshot()

    def _fixed(self, place: Path) -> str:
        """The fix, made in a copy."""
        place.mkdir()
        index = {
            "GIT_INDEX_FILE": str(place / "index"),
            "GIT_WORK_TREE": str(place),
            "GIT_DIR": str(self.root / ".git"),
        }
        git = self.builder.git
        git.run("read-tree", self.before, environment=index)
        git.run("checkout-index", "--all", "--force", environment=index)
        (place / "changed.py").write_text("new\n")
        (place / "deleted" / "only.py").unlink()
        (place / "run.sh").chmod(0o755)
        (place / "file_to_folder").unlink()
        (place / "file_to_folder").mkdir()
        (place / "file_to_folder" / "made.py").write_text("made\n")
        (place / "folder_to_file" / "inside.py").unlink()
        (place / "folder_to_file").rmdir()
        (place / "folder_to_file").write_text("now a file\n")
        (place / "link").unlink()
        (place / "link").symlink_to("kept.py")
        (place / "new folder").mkdir()
        (place / "new folder" / "näme.py").write_text("added\n")
        (place / "index").rename(place.parent / "index")
        index["GIT_INDEX_FILE"] = str(place.parent / "index")
        git.run("add", "--all", environment=index)
        return commit_tree(git, git.text("write-tree", environment=index), self.before, "fix", 1e9)

    def copied(self, place: Path) -> "Case":
        """The same, elsewhere."""
        shutil.copytree(self.folder.parent, place, symlinks=True)
        other = copy(self)
        other.builder = RepositoryBuilder(place / "repository")
        other.root, other.folder = other.builder.path, place / "run"
        other.repository = Repository.discover(other.root)
        return other

    def write(self) -> tuple[str, ...]:
        return write_back(self.repository, self.root, self.folder, self.before, self.after)

    def snapshot(self) -> dict[str, tuple[str, int]]:
        """Every path but those of git, what it holds and its mode."""
        found: dict[str, tuple[str, int]] = {}
        for path in sorted(self.root.rglob("*")):
            if ".git" in path.relative_to(self.root).parts:
                continue
            text = str(path.readlink()) if path.is_symlink() else "/" if path.is_dir() else path.read_text()
            found[str(path.relative_to(self.root))] = text, stat.S_IMODE(path.lstat().st_mode) & 0o111
        return found

    def is_new(self) -> bool:
        tree = self.repository.tree_of(commit_work_tree(self.builder.git, self.builder.head, ()))
        return tree == self.repository.tree_of(self.after)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(RepositoryBuilder(tmp_path / "repository"), tmp_path)


def test_files_modes_links_and_deletions_are_written_and_the_index_is_not(case: Case) -> None:
    assert not is_written(case.repository, case.root, case.before, case.after)
    assert case.write() == ()
    assert case.is_new()
    assert is_written(case.repository, case.root, case.before, case.after)
    assert (case.root / ".git" / "index").read_bytes() == case.index
    assert not (case.root / "deleted").exists()
    assert os.access(case.root / "run.sh", os.X_OK)
    assert list(case.folder.iterdir()) == []
    assert case.write() != (), "the files are no longer what was reviewed"


def test_a_file_that_the_fix_leaves_alone_may_change(case: Case) -> None:
    (case.root / "kept.py").write_text("still working on it\n")
    assert case.write() == ()
    assert (case.root / "kept.py").read_text() == "still working on it\n"
    assert (case.root / "changed.py").read_text() == "new\n"


def _linked(path: Path, target: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def _written(path: Path, text: str) -> None:
    if path.is_symlink():
        path.unlink()
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize(
    ("path", "does", "words"),
    [
        ("changed.py", _written, ("mine\n",)),
        ("changed.py", Path.unlink, ()),
        ("deleted/only.py", _written, ("mine\n",)),
        ("run.sh", Path.chmod, (0o755,)),
        ("link", _linked, ("elsewhere",)),
        ("link", _written, ("changed.py",)),
        ("new folder", _written, ("a file in the way",)),
        ("new folder", _linked, ("..",)),
        ("new folder/näme.py", _written, ("mine\n",)),
        ("folder_to_file/ignored.log", _written, ("precious\n",)),
    ],
)
def test_one_file_that_changed_keeps_all_of_them_from_being_written(
    case: Case, path: str, does: Callable[..., None], words: tuple[object, ...]
) -> None:
    does(case.root / path, *words)
    before = case.snapshot()
    assert case.write() != ()
    assert case.snapshot() == before
    assert not is_half_written(case.folder)


def test_an_ignored_file_is_never_overwritten(case: Case) -> None:
    git = case.builder.git
    blob = git.text("hash-object", "-w", "--stdin", stdin=b"from the fixer\n")
    index = {"GIT_INDEX_FILE": str(case.folder.parent / "other index")}
    git.run("read-tree", case.after, environment=index)
    git.run("update-index", "--add", "--cacheinfo", f"100644,{blob},trace.log", environment=index)
    after = commit_tree(git, git.text("write-tree", environment=index), case.before, "fix", 1e9)
    (case.root / "trace.log").write_text("precious\n")
    assert write_back(case.repository, case.root, case.folder, case.before, after) == ("trace.log",)
    assert (case.root / "trace.log").read_text() == "precious\n"
    assert (case.root / "changed.py").read_text() == "old\n"


def killed_at(case: Case, moment: int) -> bool:
    """Write, in a process that is killed before it changes the working tree so often; whether that came."""
    child = os.fork()
    if child == 0:
        seen = 0

        def hook(event: str, arguments: tuple[object, ...]) -> None:
            nonlocal seen
            if event not in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink"):
                return
            paths = [os.fsdecode(one) for one in arguments if isinstance(one, str | bytes)]
            if any(path.startswith(f"{case.root}/") and "/.git/" not in path for path in paths):
                seen += 1
                if seen == moment:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        case.write()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("interfering", [pytest.param(False, marks=pytest.mark.prove), True])
def test_a_kill_between_two_writes_is_completed_or_taken_back(tmp_path: Path, interfering: bool) -> None:
    (tmp_path / "first").mkdir()
    first = Case(RepositoryBuilder(tmp_path / "first" / "repository"), tmp_path / "first")
    moment = 0
    while True:
        moment += 1
        case = first.copied(tmp_path / str(moment))
        if not killed_at(case, moment):
            break
        assert is_half_written(case.folder)
        if interfering:
            (case.root / "run.sh").unlink(missing_ok=True)
            (case.root / "run.sh").write_text("mine\n")
            assert case.write() == ("run.sh",)
            assert case.snapshot() == {**case.state, "run.sh": ("mine\n", 0)}
        else:
            assert case.write() == ()
            assert case.is_new()
        assert list(case.folder.iterdir()) == []
        assert (case.root / ".git" / "index").read_bytes() == case.index
    assert moment > 8


def test_line_ends_are_those_of_a_checkout(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "repository").commit(
        {".gitattributes": "*.txt text eol=crlf\n", "a.txt": "x\n"}
    )
    (builder.path / "a.txt").write_bytes(b"one\r\n")
    before = commit_work_tree(builder.git, builder.head, ())
    blob = builder.git.text("hash-object", "-w", "--stdin", "--no-filters", stdin=b"two\n")
    index = {"GIT_INDEX_FILE": str(tmp_path / "index")}
    builder.git.run("read-tree", before, environment=index)
    builder.git.run("update-index", "--cacheinfo", f"100644,{blob},a.txt", environment=index)
    after = commit_tree(builder.git, builder.git.text("write-tree", environment=index), before, "fix", 1e9)
    repository = Repository.discover(builder.path)
    assert write_back(repository, builder.path, tmp_path / "run", before, after) == ()
    assert (builder.path / "a.txt").read_bytes() == b"two\r\n"


def test_the_fixes_are_kept_as_a_patch_that_git_takes(case: Case) -> None:
    patch = save_patch(case.repository, case.folder, case.before, case.after)
    assert applies(case.root, patch)
    case.builder.git.run("apply", str(patch))
    assert case.is_new()
    assert not applies(case.root, patch)
