"""How a whole project becomes one change."""

from pathlib import Path

from benchmarks.panel.reviews import git
from benchmarks.panel.whole import as_one_change

from burnish.testing.repositories import RepositoryBuilder


def test_the_base_holds_configuration_and_lock_files_and_the_change_adds_the_rest(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "",
        "web/package-lock.json": "{}",
        "requirements-dev.txt": "",
        "web/app.js": "",
        "a.py": "",
    }
    RepositoryBuilder(tmp_path).commit(files)
    base, whole = as_one_change(tmp_path)
    kept = {"pyproject.toml", "web/package-lock.json", "requirements-dev.txt"}
    assert set(git(tmp_path, "ls-tree", "-r", "--name-only", base).split()) == kept
    added = git(tmp_path, "diff", "--name-status", base, whole).split("\n")
    assert sorted(filter(None, added)) == ["A\ta.py", "A\tweb/app.js"]


def test_a_project_without_configuration_has_an_empty_base(tmp_path: Path) -> None:
    RepositoryBuilder(tmp_path).commit({"a.py": ""})
    base, whole = as_one_change(tmp_path)
    assert git(tmp_path, "ls-tree", "-r", "--name-only", base) == ""
    assert git(tmp_path, "rev-parse", f"{whole}^").strip() == base
