"""pre-commit, the peer that runs the same tools: installed apart, with one local hook for each run of a tool."""

import json
import re
import shlex
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

from burnish.agents.panel.interface import Task
from burnish.agents.panel.programs import program
from burnish.agents.panel.tools.registry import TOOLS
from burnish.core.values import Value

VERSION = "4.7.0"
_CACHE = Path(".benchmarks-cache")


class Hooks(Value):
    """A configuration of pre-commit, ready to be run."""

    program: Path
    configuration: Path
    home: Path

    def run(self, folder: Path, environment: dict[str, str]) -> None:
        """All hooks on the files between `main` and `change`. Hooks that found something fail, as they should."""
        command = [str(self.program), "run", "--config", str(self.configuration), "--from-ref", "main"]
        done = subprocess.run(
            [*command, "--to-ref", "change"],
            cwd=folder,
            env={**environment, "PRE_COMMIT_HOME": str(self.home)},
            capture_output=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stdout.decode() + done.stderr.decode())


def installed() -> Path | None:
    """The program, in an environment of its own that is kept for the next time; None where it cannot be had."""
    folder = _CACHE.resolve() / f"pre-commit-{VERSION}"
    found = folder / "bin" / "pre-commit"
    if not found.exists():
        venv.create(folder, with_pip=True)
        command = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", f"pre-commit=={VERSION}"]
        subprocess.run(command, check=False, capture_output=True)
    return found if found.exists() else None


def configured(folder: Path, tool: Path, tasks: Sequence[Task]) -> Hooks:
    """The hooks for some tasks. The configuration is written outside of the project, which stays as it is."""
    configuration = folder / "hooks.yaml"
    hooks = [_hook(task) for task in tasks]
    configuration.write_text(json.dumps({"repos": [{"repo": "local", "hooks": hooks}]}))  # JSON is YAML
    return Hooks(program=tool, configuration=configuration, home=folder / "pre-commit")


def _hook(task: Task) -> dict[str, object]:
    """The same run of the same tool. In one process, because these tools use all cores by themselves.

    pre-commit gives every tool the names of the files, which is its one way to say what to look at.
    """
    call = TOOLS[task.tool].invocation(task.files, task.choice)
    named = {".", *(f"{option}{file}" for file in task.files for option in ("./", "--path-prefix="))}
    variables = [f"{name}={value}" for name, value in call.environment.items()]
    return {
        "id": task.tool.value,
        "name": task.tool.value,
        "language": "system",
        "entry": shlex.join(["env", *variables, program(task.tool)] if variables else [program(task.tool)]),
        "args": [word for word in call.arguments if word not in named],
        "files": f"^({'|'.join(re.escape(file) for file in task.files)})$",
        "require_serial": True,
    }
