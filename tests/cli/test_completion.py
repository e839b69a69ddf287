"""Completion: the script for a shell, and the answers that it gets."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def answers(*words: str, current: int | None = None) -> list[str]:
    """What a shell is told could stand in the place of the last word."""
    asked = {"COMP_WORDS": " ".join(("burnish", *words)), "COMP_CWORD": str(current or len(words))}
    done = subprocess.run(
        [sys.executable, "-m", "burnish"],
        env={**os.environ, **asked, "_BURNISH_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_and_options_are_completed() -> None:
    assert answers("re") == ["review", "resume", "records"]
    assert answers("review", "--stag") == ["--staged"]
    assert answers("protocol", "s") == ["show"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_that_the_shell_reads(shell: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "burnish", "completion", shell], capture_output=True, text=True, check=True, timeout=60
    )
    assert f"_BURNISH_COMPLETE={shell}_complete" in done.stdout
    program = shutil.which(shell)
    if program is not None:
        script = tmp_path / "script"
        script.write_text(done.stdout)
        assert subprocess.run([program, "-n", str(script)], check=False, timeout=60).returncode == 0
