"""Runs targets one by one or side by side, each in a process with a limit on time and memory, and keeps what failed."""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.targets import ROOT, TARGETS

KEPT = ROOT / ".work" / "fuzz"
MOST_SECONDS = 10
"""For one input: everything here reads a page in milliseconds."""
MOST_MEGABYTES = 1536
MOST_BYTES = 16_384
_GRACE = 120
_EXECUTED = re.compile(r"^stat::number_of_executed_units:\s*(\d+)", re.MULTILINE)
_COVERED = re.compile(r"\bcov: (\d+)")


class Result(NamedTuple):
    """What came of one target."""

    name: str
    failed: bool
    executed: int
    covered: int
    output: str
    kept: tuple[Path, ...]


def fuzz(name: str, seconds: int) -> Result:
    """Fuzz one target for some seconds; inputs that failed are kept where a later run finds them."""
    with tempfile.TemporaryDirectory(prefix="burnish-fuzz-") as folder:
        corpus, artifacts = Path(folder) / "corpus", Path(folder) / "artifacts"
        corpus.mkdir()
        artifacts.mkdir()
        for seed in TARGETS[name].seeds():
            (corpus / hashlib.sha256(seed).hexdigest()).write_bytes(seed)
        code, output = _run(_command(name, corpus, artifacts, seconds), seconds + _GRACE)
        kept = tuple(_keep(name, artifact) for artifact in sorted(artifacts.iterdir()))
    executed = _EXECUTED.search(output)
    covered = _COVERED.findall(output)
    return Result(
        name=name,
        failed=code != 0 or bool(kept) or executed is None,
        executed=int(executed[1]) if executed else 0,
        covered=int(covered[-1]) if covered else 0,
        output=output,
        kept=kept,
    )


def reproduction(name: str, kept: Path) -> str:
    """The command that runs one kept input again, from the root of the repository."""
    return f"{Path(sys.executable).name} -m tests.fuzz.harness {name} {kept.relative_to(ROOT)}"


def _command(name: str, corpus: Path, artifacts: Path, seconds: int) -> list[str]:
    return [
        sys.executable,
        *("-m", "tests.fuzz.harness", name, str(corpus)),
        f"-max_total_time={seconds}",
        f"-timeout={MOST_SECONDS}",
        f"-rss_limit_mb={MOST_MEGABYTES}",
        f"-max_len={MOST_BYTES}",
        f"-artifact_prefix={artifacts}/",
        "-print_final_stats=1",
    ]


def _run(command: list[str], most_seconds: int) -> tuple[int, str]:
    """The exit code and all output; a process that does not end by itself is killed and counts as failed."""
    merged = subprocess.STDOUT
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=merged, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=most_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        return -1, f"{output}\nIt did not end within {most_seconds} seconds and was killed."
    finally:
        if process.poll() is None:
            process.kill()
    return process.returncode, output


def _keep(name: str, artifact: Path) -> Path:
    KEPT.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(artifact, KEPT / f"{name}-{artifact.name}"))
