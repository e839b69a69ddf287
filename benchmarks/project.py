"""A project with a policy and instant agents, on which whole commands are measured."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from burnish.core.values import Value
from burnish.testing.repositories import RepositoryBuilder

CLEAN = '{"issues": [], "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}'
_POLICY = """[agents.agent]
kind = "command"
command = ["sh", "{script}"]

[roles]
review = "agent"
fix = "agent"
"""


class Project(Value):
    """A repository in which `change` is checked out."""

    root: Path
    repository: RepositoryBuilder

    @property
    def script(self) -> Path:
        return self.root / "agent.sh"

    def configure(self, script: str) -> None:
        """What every agent of the project does. To be called on the base."""
        self.script.write_text(f"cat >/dev/null\n{script}\n")
        self.repository.commit({"burnish.toml": _POLICY.format(script=self.script)}, "Policy")

    def burnish(self, *arguments: str) -> bytes:
        """Run a whole command. Exit code 1 is an answer, too."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root / "home"), "LANG": "C.UTF-8"}
        command = [sys.executable, "-m", "burnish", *arguments]
        folder = self.repository.path
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.decode())
        return done.stdout

    def agents(self, count: int) -> None:
        """The processes of some agents alone, side by side."""
        started = [
            subprocess.Popen(["sh", self.script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            for _ in range(count)
        ]
        for process in started:
            process.wait()

    def protocol(self, reviewers: int, reviews: int = 1) -> str:
        """A protocol with so many reviewers, as a path."""
        panel = "".join(f'[[panel]]\nname = "reviewer-{number}"\n' for number in range(reviewers))
        file = self.root / f"protocol-{reviewers}.toml"
        file.write_text(
            f'name = "measured"\ndescription = "For measuring."\ncontract = "issues"\n{panel}'
            f'[gate]\ntype = "severity"\nblock = "high"\n[limits]\nreviews = {reviews}\nhard_cap = 5\n'
            '[fix]\ninput = "blocking"\nunchanged = "continue"\n'
            '[exhausted]\nthen = "fail"\nreason = "Findings remain after {reviews} reviews"\n'
        )
        return str(file)


@contextmanager
def project(script: str) -> Generator[Project]:
    """A project whose base has one file and a policy; what is committed next is the change."""
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        root = Path(folder)
        made = Project(root=root, repository=RepositoryBuilder(root / "work").commit({"app.py": "x = 1\n"}))
        made.configure(script)
        made.repository.branch("change")
        yield made


def found(title: str) -> str:
    """A line for a shell that prints one blocking issue; its title may hold what the shell replaces."""
    issue = {"severity": "critical", "file": "app.py", "line": 1, "title": title, "description": "It is wrong."}
    summary = {"critical": 1, "warning": 0, "info": 0, "verdict": "issues_found"}
    text = json.dumps({"issues": [issue], "summary": summary}).replace('"', '\\"')
    return f'echo "{text}"'
