"""A user with a home, a secret and a repository, before whom hostile agents are put through the real command line."""

import hashlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from burnish.core.values import Value
from burnish.system.sandbox import SandboxKind, why_not
from burnish.testing.repositories import RepositoryBuilder

CLEAN = '{"issues": [], "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}'
FOUND = (
    '{"issues": [{"severity": "critical", "file": "app.py", "line": 1, "title": "Divides", "description": "By zero"}],'
    ' "summary": {"critical": 1, "warning": 0, "info": 0, "verdict": "issues_found"}}'
)
SECRET = "the-secret-of-the-user"  # noqa: S105 - it is looked for, and opens nothing
SECONDS = 60
_SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
_PROTOCOL = """name = "hostile"
description = "Reviewers that are not to be trusted."
contract = "issues"
{panel}
[gate]
type = "severity"
block = "high"
[limits]
reviews = {reviews}
hard_cap = 5
[fix]
input = "blocking"
unchanged = "exhausted"
[failures]
retries = 0
[exhausted]
then = "fail"
reason = "Findings that block remain after {{reviews}} reviews"
"""


class Ended(Value):
    """A command that has ended."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def view(self) -> dict[str, Any]:
        return json.loads(self.stdout)

    @property
    def reviews(self) -> dict[str, dict[str, Any]]:
        """The reviews of the last round by their reviewer."""
        return {review["reviewer"]: review for review in self.view["rounds"][-1]["reviews"]}

    @property
    def failures(self) -> dict[str, str]:
        """Why reviews of the last round do not count."""
        return {name: review.get("failure", {}).get("kind", "") for name, review in self.reviews.items()}


class Scene(Value):
    """Everything lies below one folder, so that nothing of the real user is in reach."""

    root: Path
    kind: SandboxKind
    repository: RepositoryBuilder

    @property
    def checkout(self) -> Path:
        return self.repository.path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def token(self) -> str:
        """A word that only processes of this scene have on their command line."""
        return f"straggler-of-{self.root.name}-{self.root.parent.name}"

    @property
    def cache(self) -> Path:
        return self.home / ".cache"

    @property
    def copies(self) -> Path:
        return self.root / "copies"

    @property
    def environment(self) -> dict[str, str]:
        """What a user has; the variables of the tests themselves are left out."""
        path = _SYSTEM_PATH if self.kind is not SandboxKind.LANDLOCK else str(_path_without_bubblewrap(self.root))
        wanted = "off" if self.kind is SandboxKind.NONE else "required"
        own = {"BURNISH_SANDBOX": wanted, "USERS_TOKEN": SECRET, "TMPDIR": str(self.copies)}
        return {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", **own}

    def agent(self, name: str, script: str) -> str:
        """A shell script as an agent; its table for burnish.toml."""
        file = self.root / "agents" / f"{name}.sh"
        file.parent.mkdir(exist_ok=True)
        file.write_text(
            f'CHECKOUT="{self.checkout}"\nHOME_OF_USER="{self.home}"\nTOKEN="{self.token}"\n{script}\n',
            encoding="utf-8",
        )
        return f'[agents.{name}]\nkind = "command"\ncommand = ["sh", "{file}"]\ntimeout = 15\n'

    def configure(self, reviewer: str, fixer: str = "exit 1", more: str = "") -> None:
        """Commit the policy to the base, and go on with the change."""
        tables = self.agent("reviewer", reviewer) + self.agent("fixer", fixer)
        roles = '[roles]\nreview = "reviewer"\nfix = "fixer"\n'
        text = f"{tables}{roles}{more}"
        self.repository.switch("main").commit({"burnish.toml": text}, "Policy").switch("change")
        self.repository.git.run("rebase", "--quiet", "main", environment={"GIT_COMMITTER_DATE": "@1700000000 +0000"})

    def protocol(self, *reviewers: str, reviews: int = 1) -> str:
        """A protocol with these reviewers, as a path."""
        panel = "".join(f'[[panel]]\nname = "{name}"\n' for name in reviewers)
        file = self.root / "hostile.toml"
        file.write_text(_PROTOCOL.format(panel=panel, reviews=reviews), encoding="utf-8")
        return str(file)

    def burnish(self, *arguments: str, environment: dict[str, str] | None = None) -> Ended:
        """Run the program as a user does."""
        done = subprocess.run(
            [sys.executable, "-m", "burnish", *arguments],
            cwd=self.checkout,
            env=environment or self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        return Ended(code=done.returncode, stdout=done.stdout, stderr=done.stderr)

    def leftovers(self) -> list[str]:
        """What a run left in the user's cache, and where its copies were."""
        cached = [str(path.relative_to(self.cache)) for path in self.cache.rglob("*") if path != self.cache / "burnish"]
        return cached + [str(path.relative_to(self.copies)) for path in self.copies.glob("*/*")]


def make_scene(root: Path, kind: SandboxKind) -> Scene:
    """A branch with a defect, a tag, another branch, a hook, a link, and work that was not committed."""
    reason = why_not(kind)
    if reason:
        pytest.skip(f"optional: {reason}")
    repository = RepositoryBuilder(root / "work").commit({"app.py": "x = 1\n", "kept.py": "y = 1\n"})
    repository.git.run("tag", "v1")
    repository.git.run("branch", "other")
    hook = repository.path / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(0o755)
    repository.branch("change").link("link", "app.py").commit({"app.py": "x = 1 / 0\n"}, "Divide")
    repository.ignore("ignored.txt").write({"ignored.txt": "mine\n"})
    (root / "copies").mkdir(parents=True)
    (root / "home" / ".ssh").mkdir(parents=True)
    (root / "home" / ".ssh" / "id_ed25519").write_text(SECRET)
    (root / "home" / ".netrc").write_text(SECRET)
    return Scene(root=root, kind=kind, repository=repository)


def _path_without_bubblewrap(root: Path) -> Path:
    """Programs of the system but for one, so that the next best sandbox is taken."""
    folder = root / "bin"
    if not folder.exists():
        folder.mkdir()
        for place in reversed(_SYSTEM_PATH.split(":")):
            for program in Path(place).iterdir():
                link = folder / program.name
                link.unlink(missing_ok=True)
                link.symlink_to(program)
        (folder / "bwrap").unlink(missing_ok=True)
    return folder


def content(folder: Path) -> dict[str, str]:
    """Every file, link and folder with its mode and what is in it."""
    found: dict[str, str] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place) / name
            mode = path.lstat().st_mode
            what = str(path.readlink()) if stat.S_ISLNK(mode) else _digest(path) if stat.S_ISREG(mode) else ""
            found[str(path.relative_to(folder))] = f"{mode:o} {what}"
    return found


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


_OF_BURNISH = (".git/burnish", ".git/refs/burnish", ".git/objects/")


def _is_of_burnish(name: str) -> bool:
    return name.startswith(_OF_BURNISH) and not name.endswith("/evil")


def changed(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """What of a user's repository is not as it was. burnish may add objects, and what bears its name."""
    names = sorted(before.keys() | after.keys())
    return [
        name
        for name in names
        if before.get(name) != after.get(name) and not (name not in before and _is_of_burnish(name))
    ]


def processes_with(token: str) -> list[int]:
    """The living processes that have a word on their command line."""
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and token.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found
