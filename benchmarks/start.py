"""How long a command takes from its start to its end, against interpreters that do the least that it must do."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, Job, compare

TIMES = 25
_ANSWER = '{"issues": [], "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}\n'
_BURNISH = str(Path(sys.executable).parent / "burnish")


def figures() -> Iterator[Figure]:
    bare = "a bare interpreter"
    click = "an interpreter that imports click"
    with tempfile.TemporaryDirectory(prefix="burnish-benchmarks-") as folder:
        answer = Path(folder) / "answer.json"
        answer.write_text(_ANSWER)
        yield _start("burnish --version", ["--version"], "pass", bare, limit=1.6)
        yield _start("burnish --help", ["--help"], "import click", click, limit=1.8)
        parse = ["parse", "--contract", "issues", str(answer)]
        yield _start("burnish parse of a small answer", parse, "import click, msgspec, json", f"{click}, msgspec, json")
        yield _start("burnish protocol list", ["protocol", "list"], "import click, msgspec", f"{click}, msgspec")


def _start(name: str, arguments: list[str], code: str, against: str, limit: float | None = None) -> Figure:
    job, peer = _job([_BURNISH, *arguments]), _job(["-c", code])
    for once in (job, peer):
        once()  # bytecode is written and files are cached
    return compare(name, job, peer, against=against, limit=limit, times=TIMES)


def _job(arguments: list[str]) -> Job:
    """Both sides start the very same interpreter by its absolute path, with the same environment."""
    command = [sys.executable, *arguments]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
