"""Commits are made as the user makes them here: identity, signature, sign-off; and no change can decide how."""

from pathlib import Path

import pytest
from tests.workspace.ssh_keys import allowed, make_key

from burnish.core.errors import ErrorKind
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clone
from burnish.workspace.commits import SigningError, authorship, ensure_signing
from burnish.workspace.repository import Repository
from burnish.workspace.results import collect, message_for_hooks

SIGNER = """#!/bin/sh
cat > /dev/null
printf '[GNUPG:] SIG_CREATED \\n' >&2
printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nbWFkZSBieSBhIHRlc3Q=\\n-----END PGP SIGNATURE-----\\n'
"""


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def configure(repository: Repository, **settings: str) -> None:
    for name, value in settings.items():
        repository.git.run("config", name.replace("__", "."), value)


def fixed(repository: Repository, clone: Clone, summary: str = "Done") -> str:
    (clone.path / "calc.py").write_text("better = True\n")
    return collect(repository, clone, run="r1", parent=clone.head, round=1, summary=summary, at=1e9).change.commit


def shown(repository: Repository, commit: str, form: str) -> str:
    return repository.git.text("show", "--no-patch", f"--format={form}", commit)


def test_commits_are_in_the_users_name(repository: Repository, fixers_clone: Clone) -> None:
    commit = fixed(repository, fixers_clone)
    who = "A. Developer <developer@example.com>"
    assert shown(repository, commit, "%an <%ae>|%cn <%ce>") == f"{who}|{who}"
    assert "gpgsig" not in repository.git.text("cat-file", "commit", commit)


def test_variables_of_the_environment_name_the_user_too(
    repository: Repository, fixers_clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "From The Environment")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "environment@example.com")
    commit = fixed(repository, fixers_clone)
    assert shown(repository, commit, "%an <%ae>|%cn") == "From The Environment <environment@example.com>|A. Developer"


def test_burnish_has_its_own_name_only_where_the_user_has_none(repository: Repository, fixers_clone: Clone) -> None:
    repository.git.run("config", "--unset", "user.email")
    commit = fixed(repository, fixers_clone)
    assert shown(repository, commit, "%an <%ae>|%cn <%ce>") == "|".join(["burnish <burnish@localhost>"] * 2)


def test_the_same_work_gives_the_same_commit_where_nothing_is_signed(
    repository: Repository, fixers_clone: Clone
) -> None:
    first = fixed(repository, fixers_clone)
    assert fixed(repository, fixers_clone) == first


@pytest.mark.parametrize("key", ["burnish__signoff", "commit__signoff"])
def test_a_sign_off_is_the_last_line(repository: Repository, fixers_clone: Clone, key: str) -> None:
    configure(repository, **{key: "true"})
    message = shown(repository, fixed(repository, fixers_clone), "%B").rstrip().split("\n")
    assert message[-2:] == ["Burnish-Run: r1", "Signed-off-by: A. Developer <developer@example.com>"]


def test_burnishs_own_key_goes_before_the_general_one(repository: Repository, fixers_clone: Clone) -> None:
    configure(repository, commit__signoff="true", burnish__signoff="false")
    assert "Signed-off-by" not in shown(repository, fixed(repository, fixers_clone), "%B")


def test_commit_hooks_see_the_message_with_its_sign_off(repository: Repository) -> None:
    configure(repository, burnish__signoff="true")
    message = message_for_hooks(repository, run="r1", round=2, summary="Guard the division")
    assert message.startswith("fix: address code review round 2 - Guard the division\n")
    assert message.endswith("\nSigned-off-by: A. Developer <developer@example.com>\n")


def test_commits_are_signed_with_an_ssh_key(repository: Repository, fixers_clone: Clone, tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    signers = allowed(tmp_path / "signers", "developer@example.com", key, namespace="git")
    configure(repository, commit__gpgsign="true", gpg__format="ssh", user__signingkey=str(key))
    configure(repository, gpg__ssh__allowedSignersFile=str(signers))
    ensure_signing(repository, fixers_clone.head)
    commit = fixed(repository, fixers_clone)
    assert shown(repository, commit, "%G?") == "G"
    repository.git.run("verify-commit", commit)


def test_commits_are_signed_by_the_program_that_git_names(
    repository: Repository, fixers_clone: Clone, tmp_path: Path
) -> None:
    program = tmp_path / "my-gpg"
    program.write_text(SIGNER)
    program.chmod(0o755)
    configure(repository, commit__gpgsign="yes", gpg__program=str(program))
    assert "-----BEGIN PGP SIGNATURE-----" in repository.git.text("cat-file", "commit", fixed(repository, fixers_clone))


def test_a_key_that_cannot_sign_is_told_before_any_work(repository: Repository, tmp_path: Path) -> None:
    configure(repository, commit__gpgsign="true", gpg__format="ssh", user__signingkey=str(tmp_path / "missing"))
    with pytest.raises(SigningError, match="git cannot sign a commit") as raised:
        ensure_signing(repository, "HEAD")
    assert raised.value.kind is ErrorKind.CONFIGURATION
    assert "git config commit.gpgsign false" in raised.value.hint


def test_trying_a_signature_leaves_nothing_in_the_repository(repository: Repository, tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    configure(repository, commit__gpgsign="true", gpg__format="ssh", user__signingkey=str(key))
    before = repository.git.text("count-objects", "-v")
    ensure_signing(repository, "HEAD")
    assert repository.git.text("count-objects", "-v") == before


@pytest.mark.parametrize("name", ["gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"])
@pytest.mark.parametrize("absolute", [True, False])
def test_no_program_of_the_work_tree_signs(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, name: str, absolute: bool
) -> None:
    branch_with_two_defects.executable("tools/sign", SIGNER)
    path = repository.root / "tools" / "sign" if absolute else Path("tools/sign")
    repository.git.run("config", "commit.gpgsign", "true")
    repository.git.run("config", name, str(path))
    with pytest.raises(SigningError, match="a file of the work tree, which a change can edit"):
        authorship(repository)


def test_no_setting_of_the_work_tree_decides_about_signatures(
    branch_with_two_defects: RepositoryBuilder, repository: Repository
) -> None:
    branch_with_two_defects.write({".gitconfig": "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = /bin/true\n"})
    configure(repository, include__path="../.gitconfig")
    with pytest.raises(SigningError, match="gitconfig, a file of the work tree"):
        authorship(repository)
