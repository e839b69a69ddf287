"""The first five minutes of a newcomer, as an ordinary user, with the commands that README prints."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "demo" / "newcomer.sh"
ORDINARY = 65534


def test_every_command_of_the_newcomer_is_in_the_readme() -> None:
    typed = re.findall(r"^ *types \d '(.+)'$", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(typed) > 6
    assert [command for command in typed if command not in readme] == []


@pytest.mark.prove
def test_a_newcomer_gets_through() -> None:
    if shutil.which("node") is None:
        pytest.skip("optional: npm")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        wheels = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", name, str(ROOT)]
        subprocess.run(wheels, check=True, cwd=name)
        (wheel,) = folder.glob("burnish-*.whl")
        wheel.chmod(0o644)
        script = shutil.copy(SCRIPT, folder / "newcomer.sh")
        passed_on = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_"))}
        path = os.environ["PATH"]
        words = ["sh", str(script), str(wheel)]
        if os.getuid() == 0:
            if shutil.which("setpriv") is None:
                pytest.skip("optional: only root with setpriv can become another user")
            path = "/usr/local/bin:/usr/bin:/bin"  # programs that every user may run
            groups = (f"--reuid={ORDINARY}", f"--regid={ORDINARY}", "--clear-groups")
            words = ["setpriv", *groups, "--", *words]
        played = subprocess.run(
            words,
            cwd=name,
            env={**passed_on, "PATH": path, "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    assert played.returncode == 0, played.stdout + played.stderr
    assert played.stdout.endswith("Three projects, three pushes.\n")
