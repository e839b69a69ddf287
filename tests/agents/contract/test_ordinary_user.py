"""The same suite, played by somebody who is not root: sandboxes and clients treat the two differently."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

NOBODY = 65534
ROOT = Path(__file__).parents[3]
SAMPLE = "clean_review and claude or tries_to_write and codex"
SYSTEM = "/usr/local/bin:/usr/bin:/bin"


def as_nobody(folder: str, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command as another user; through a shell, since the first program is still started with root's rights."""
    return subprocess.run(
        [
            "setpriv",
            f"--reuid={NOBODY}",
            f"--regid={NOBODY}",
            "--clear-groups",
            "--",
            "sh",
            "-c",
            'exec "$@"',
            "sh",
            *words,
        ],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def environment_for_everybody(folder: Path) -> str:
    """An interpreter that everybody may run, with all that is installed here."""
    found = [sys.executable, shutil.which(f"python3.{sys.version_info.minor}", path=SYSTEM) or sys.executable]
    base = next((path for path in found if as_nobody(str(folder), path, "-c", "pass").returncode == 0), None)
    if base is None:
        pytest.skip("optional: there is no interpreter that everybody may run")
    packages = folder / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "all.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'src'}\n")
    (folder / "venv" / "pyvenv.cfg").write_text(f"home = {Path(base).resolve().parent}\n")
    (folder / "venv" / "bin").mkdir()
    (folder / "venv" / "bin" / "python").symlink_to(Path(base).resolve())
    return str(folder / "venv" / "bin" / "python")


@pytest.mark.parametrize(
    "wanted", [pytest.param(SAMPLE, id="a sample"), pytest.param("", id="all of it", marks=pytest.mark.prove)]
)
def test_the_suite_holds_for_an_ordinary_user(wanted: str) -> None:
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("optional: only root with setpriv can become another user")
    if not wanted and ROOT.is_relative_to(tempfile.gettempdir()):
        pytest.skip("optional: the sandbox of an ordinary user hides a clone of burnish in the temporary folder")
    # Not below the folder of the other tests, which no other user may enter.
    with tempfile.TemporaryDirectory(prefix="burnish-contract-") as name:
        python = environment_for_everybody(Path(name))
        Path(name).chmod(0o755)
        (Path(name) / "home").mkdir()
        os.chown(Path(name) / "home", NOBODY, NOBODY)
        words = (
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "--basetemp",
            f"{name}/home/tests",
            "-m",
            "not prove",
        )
        folder = str(Path(__file__).parent)
        played = as_nobody(f"{name}/home", python, "-B", "-m", "pytest", *words, "-k", wanted, folder)
    if "No module named" in played.stderr:
        pytest.skip("optional: there is no interpreter that everybody may run")
    assert played.returncode == 0, played.stdout[-4_000:] + played.stderr[-1_000:]
    assert " passed" in played.stdout
