"""Real repositories for tests, built in a readable way and the same each time: fixed identity, fixed times.

The functions below the builder make situations that tools trip over, each named after what it is.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

from burnish.workspace.git import Git
from burnish.workspace.names import to_bytes, to_text

Content = str | bytes
_START = 1_700_000_000
"""The time of the first commit; each further one comes a minute later."""


class RepositoryBuilder:
    """A repository with a work tree, step by step: `RepositoryBuilder(path).commit({"a.py": ""}).branch("change")`.

    Where there is one at the path already, the builder goes on with it.
    """

    def __init__(self, path: Path, *, object_format: str = "sha1", branch: str = "main") -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git = Git(path, isolated=True)
        self._commits = 0
        if (path / ".git").exists():
            self._commits = 1_000  # its own commits are older
        else:
            self.git.run("init", "--quiet", f"--object-format={object_format}", f"--initial-branch={branch}")
            self.git.run("config", "user.name", "A. Developer")
            self.git.run("config", "user.email", "developer@example.com")

    @property
    def head(self) -> str:
        return self.git.text("rev-parse", "HEAD")

    @property
    def tree(self) -> str:
        return self.git.text("rev-parse", "HEAD^{tree}")

    def write(self, files: Mapping[str, Content | None]) -> Self:
        """Write files without committing them. None removes one; names may hold surrogates for odd bytes."""
        for name, content in files.items():
            file = Path(to_text(to_bytes(str(self.path / name))))
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def link(self, name: str, target: str) -> Self:
        """Write a symbolic link without committing it."""
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).symlink_to(target)
        return self

    def executable(self, name: str, content: Content) -> Self:
        """Write a file that can be run, without committing it."""
        self.write({name: content})
        (self.path / name).chmod(0o755)
        return self

    def commit(self, files: Mapping[str, Content | None] | None = None, message: str = "Change") -> Self:
        """Commit everything in the work tree, after writing these files."""
        self.write(files or {})
        self.git.run("add", "--all")
        date = f"@{_START + 60 * self._commits} +0000"
        self._commits += 1
        identity = {
            "GIT_AUTHOR_NAME": "A. Developer",
            "GIT_AUTHOR_EMAIL": "developer@example.com",
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_NAME": "A. Developer",
            "GIT_COMMITTER_EMAIL": "developer@example.com",
            "GIT_COMMITTER_DATE": date,
        }
        self.git.run("commit", "--quiet", "--allow-empty", "--message", message, environment=identity)
        return self

    def branch(self, name: str) -> Self:
        """Make a branch here, and go on with it."""
        self.git.run("checkout", "--quiet", "-b", name)
        return self

    def switch(self, name: str) -> Self:
        self.git.run("checkout", "--quiet", name)
        return self

    def ignore(self, *patterns: str) -> Self:
        return self.commit({".gitignore": "".join(f"{pattern}\n" for pattern in patterns)}, "Ignore")

    def clone(self, path: Path, *options: str) -> "RepositoryBuilder":
        """Clone this repository through its transport, so that options such as `--depth=1` have their effect."""
        Git(self.path, isolated=True).run("clone", "--quiet", *options, f"file://{self.path}", str(path))
        return RepositoryBuilder(path)

    def worktree(self, path: Path, branch: str) -> "RepositoryBuilder":
        self.git.run("worktree", "add", "--quiet", str(path), branch)
        return RepositoryBuilder(path)


def branch_with_two_defects(folder: Path) -> RepositoryBuilder:
    """`change`, checked out, divides by zero and swallows an error; `main` does neither."""
    return (
        RepositoryBuilder(folder)
        .commit({"calc.py": "def mean(values):\n    return sum(values) / (len(values) or 1)\n"}, "Add the mean")
        .branch("change")
        .commit(
            {
                "calc.py": "def mean(values):\n    return sum(values) / len(values)\n",
                "store.py": "def load(path):\n    try:\n        return path.read_text()\n    except OSError: pass\n",
            },
            "Simplify the mean, load files",
        )
    )


def detached_head(folder: Path) -> RepositoryBuilder:
    """HEAD is on the change's commit, but on no branch."""
    builder = branch_with_two_defects(folder)
    return builder.switch(builder.head)


def shallow(folder: Path) -> RepositoryBuilder:
    """A clone of depth 1 of both branches, in which they have no common commit."""
    builder = branch_with_two_defects(folder / "origin")
    builder.switch("main").commit({"other.py": "x = 1\n"}, "Meanwhile")
    return builder.clone(folder / "clone", "--depth=1", "--no-single-branch", "--branch=change")


def partial(folder: Path) -> RepositoryBuilder:
    """A clone without blobs, but for those of the branch `change`, which is checked out."""
    builder = branch_with_two_defects(folder / "origin").switch("main")
    builder.git.run("config", "uploadpack.allowFilter", "true")
    builder.git.run("config", "uploadpack.allowAnySHA1InWant", "true")
    return builder.clone(folder / "clone", "--filter=blob:none", "--branch=change")


def sha256(folder: Path) -> RepositoryBuilder:
    """A repository whose objects have long names."""
    builder = RepositoryBuilder(folder, object_format="sha256")
    return builder.commit({"a.py": "x = 1\n"}).branch("change").commit({"a.py": "x = 2\n"})


def linked_worktree(folder: Path) -> RepositoryBuilder:
    """`change` is checked out in a linked work tree, which is returned; `main` in the main one."""
    builder = branch_with_two_defects(folder / "main").switch("main")
    return builder.worktree(folder / "linked", "change")


def names_not_utf8(folder: Path) -> RepositoryBuilder:
    """`change` holds names with bytes that are not UTF-8, spaces, newlines, quotes and a leading dash."""
    names = (to_text(b"caf\xe9.txt"), "with space.txt", "new\nline.txt", 'quo"te.txt', "-dash.txt", "größe.txt")
    builder = RepositoryBuilder(folder).commit(dict.fromkeys(names, "one\ntwo\n")).branch("change")
    return builder.commit(dict.fromkeys(names, "one\ntwo\nthree\n"))


def submodule(folder: Path) -> RepositoryBuilder:
    """`change` moves a submodule to another commit."""
    library = RepositoryBuilder(folder / "library").commit({"lib.py": "x = 1\n"})
    builder = RepositoryBuilder(folder / "main").commit({"a.py": "import lib\n"})
    builder.git.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.path), "lib")
    builder.commit(message="Add the library").branch("change")
    library.commit({"lib.py": "x = 2\n"})
    inner = Git(builder.path / "lib", isolated=True)
    inner.run("-c", "protocol.file.allow=always", "fetch", "--quiet", "origin")
    inner.run("checkout", "--quiet", library.head)
    return builder.commit({"a.py": "import lib\nlib.x\n"}, "Use the new library")


def no_commits(folder: Path) -> RepositoryBuilder:
    """A repository in which nothing was committed yet, with one file."""
    return RepositoryBuilder(folder).write({"a.py": "x = 1\n"})
