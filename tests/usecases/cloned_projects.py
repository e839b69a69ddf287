"""A project whose base is on a remote, for hooks and CI: git runs as the user runs it."""

import os
import subprocess
from pathlib import Path

from burnish.cli.app import run as burnish
from tests.usecases.sealed_runs import POLICY, Project

READER = """
protocol = "drift"
[agents.reader]
kind = "command"
command = ["sh", "-c", '''if grep -q broken app.py; then echo '{"verdict": "drift", "followUpPrompt": "mend it"}'
else echo '{"verdict": "pass", "followUpPrompt": "fine"}'; fi''']
[roles]
review = "reader"
fix = "reader"
"""
"""A reviewer that reads one file, in no time."""


class Clone(Project):
    """A project whose base is on a remote, with the user in its folder."""

    def __init__(self, folder: Path, policy: str | None = POLICY, **further: str) -> None:
        super().__init__(folder, policy, **further)
        self.remote = folder / "remote.git"
        git = self.builder.git
        git.run("clone", "--quiet", "--bare", str(self.builder.path), str(self.remote))
        git.run("remote", "add", "origin", str(self.remote))
        git.run("update-ref", "-d", "refs/heads/change", environment={"GIT_DIR": str(self.remote)})
        git.run("symbolic-ref", "HEAD", "refs/heads/main", environment={"GIT_DIR": str(self.remote)})
        git.run("fetch", "--quiet", "origin")
        git.run("remote", "set-head", "origin", "main")

    def do(self, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """git as the user runs it: with hooks."""
        known = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "BURNISH_"))}
        return subprocess.run(
            ["git", *arguments],
            cwd=self.builder.path,
            env={**known, **self.environment, "XDG_STATE_HOME": str(self.folder / "state"), **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def remote_refs(self) -> list[str]:
        listed = self.builder.git.text("ls-remote", str(self.remote))
        return [line.split("\t")[1] for line in listed.splitlines()]

    def hook(self, name: str, folder: str = ".git/hooks") -> Path:
        return self.builder.path / folder / name

    def install(self, *names: str) -> None:
        assert burnish(["hook", "install", *names]) == 0
