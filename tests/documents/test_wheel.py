"""A wheel works alone, in an environment that has nothing else."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from burnish.testing.repositories import RepositoryBuilder

ROOT = Path(__file__).parents[2]


def run(*command: str | Path, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in os.environ if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.prove
def test_a_wheel_reviews_in_an_empty_environment(tmp_path: Path) -> None:
    built = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT, folder=tmp_path)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("burnish-*.whl")
    venv.create(tmp_path / "environment", with_pip=True)
    programs = tmp_path / "environment" / "bin"
    installed = run(programs / "pip", "install", "--quiet", wheel, folder=tmp_path)
    assert installed.returncode == 0, installed.stderr
    repository = RepositoryBuilder(tmp_path / "repository").commit({"a.py": "A = 1\n"}).branch("change")
    repository.commit({"a.py": "A = B\n"})
    home = {"HOME": str(tmp_path), "PATH": f"{programs}:{os.environ['PATH']}"}
    review = run("burnish", "review", folder=repository.path, **home)
    assert (review.returncode, "Undefined name `B`" in review.stdout) == (1, True), review.stderr
    assert run("burnish", "doctor", folder=repository.path, **home).returncode == 0
    for system, written in {"github": ".github/workflows/burnish.yml", "gitlab": ".gitlab/burnish.yml"}.items():
        assert run("burnish", "init", "--yes", "--ci", system, folder=repository.path, **home).returncode == 0
        assert (repository.path / written).read_text() == (ROOT / "ci" / f"{system}.yml").read_text()
