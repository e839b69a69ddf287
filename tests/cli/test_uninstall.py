"""`burnish uninstall`: all of burnish's goes, nothing of the user's does."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.staged_runs import FIRST, SECOND, Stage, ledger_of

from burnish.runtime.script import RehearsalScript
from burnish.testing.repositories import RepositoryBuilder

Burnish = Callable[..., tuple[int, str, str]]
EPIC = RehearsalScript(protocol="epic")


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> RepositoryBuilder:
    built = RepositoryBuilder(folder / "repository").commit({"a.py": "A = 1\n", "burnish.toml": "# mine\n"})
    monkeypatch.chdir(built.path)
    monkeypatch.setenv("HOME", str(folder))
    return built


def burnished(repository: RepositoryBuilder) -> None:
    """A run that was interrupted, a kept commit, a seal, a result, and a branch of the user's with such a name."""
    with ledger_of(repository.path) as ledger:
        Stage(ledger, EPIC, FIRST).begin().release()
    for ref in (f"refs/burnish/kept/{FIRST}", "refs/burnish/seals/a/b", f"refs/heads/burnish/{FIRST}"):
        repository.git.run("update-ref", ref, repository.head)
    repository.git.run("branch", "burnish/mine")


def refs(repository: RepositoryBuilder) -> list[str]:
    return repository.git.text("for-each-ref", "--format=%(refname)").split()


def test_what_goes_and_what_stays_is_named(burnish: Burnish, repository: RepositoryBuilder) -> None:
    burnished(repository)
    before = refs(repository)
    state = repository.path / ".git" / "burnish"
    code, out, _ = burnish("uninstall", "--dry-run")
    assert code == 0
    assert out.splitlines() == [
        f"would remove {state}",
        "would remove 2 refs below refs/burnish/",
        f"  {FIRST} has not ended: what it has fixed so far is lost",
        "keeps burnish.toml",
        f"keeps branch burnish/{FIRST} (--branches removes it)",
        "keeps seals that were pushed to a remote",
    ]
    assert (refs(repository), state.exists()) == (before, True)
    code, _, err = burnish("uninstall")
    assert (code, "burnish uninstall --yes" in err, state.exists()) == (2, True, True)
    assert burnish("uninstall", "--yes")[0] == 0
    assert refs(repository) == [f"refs/heads/burnish/{FIRST}", "refs/heads/burnish/mine", "refs/heads/main"]
    assert (state.exists(), (repository.path / "burnish.toml").read_text()) == (False, "# mine\n")
    assert burnish("uninstall")[:2] == (0, "There is nothing of burnish in this repository.\n")


def test_hooks_go_and_your_own_come_back(burnish: Burnish, repository: RepositoryBuilder) -> None:
    hooks = repository.path / ".git" / "hooks"
    repository.executable(".git/hooks/pre-push", "#!/bin/sh\n# mine\n")
    assert burnish("hook", "install", "pre-push", "post-commit", "pre-commit")[0] == 0
    edited = (hooks / "pre-commit").read_text() + "echo more\n"
    (hooks / "pre-commit").write_text(edited)
    code, out, _ = burnish("uninstall", "--yes")
    assert code == 0
    assert out.splitlines()[:3] == [
        f"removes the hook {hooks / 'pre-push'}; your own hook comes back",
        f"removes the hook {hooks / 'post-commit'}",
        "keeps burnish.toml",
    ]
    assert f"keeps {hooks / 'pre-commit'} (a hook of burnish that was edited)" in out
    assert (hooks / "pre-push").read_text() == "#!/bin/sh\n# mine\n"
    assert not (hooks / "post-commit").exists()
    assert (hooks / "pre-commit").read_text() == edited


def test_branches_go_only_if_asked_and_only_those_of_runs(burnish: Burnish, repository: RepositoryBuilder) -> None:
    burnished(repository)
    assert burnish("uninstall", "--yes", "--branches")[0] == 0
    assert refs(repository) == ["refs/heads/burnish/mine", "refs/heads/main"]


def test_a_run_that_is_alive_is_named_and_nothing_goes(burnish: Burnish, repository: RepositoryBuilder) -> None:
    burnished(repository)
    with ledger_of(repository.path) as ledger:
        journal = Stage(ledger, EPIC, SECOND).begin()
        code, _, err = burnish("uninstall", "--yes")
        journal.release()
    assert code == 2
    assert err == (
        f"error: A run is active: {SECOND}.\n"
        f"hint: Wait for it (burnish wait {SECOND}), or end it: burnish cancel {SECOND}\n"
    )
    assert (repository.path / ".git" / "burnish").exists()
    assert "refs/burnish/seals/a/b" in refs(repository)
