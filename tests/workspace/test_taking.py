"""The command that takes a result does so when it is typed as it is printed, whatever the repository is like."""

import subprocess
from pathlib import Path

import pytest

from burnish.system.shell import shell_word
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.landing import ResultCommits, how_to_take, leave
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import commit_tree


@pytest.fixture
def result(branch_with_two_defects: RepositoryBuilder, repository: Repository) -> ResultCommits:
    """A fix of `change`, left on a branch of its own."""
    builder = branch_with_two_defects
    head = builder.head
    builder.commit({"calc.py": "fixed\n", "added.py": "x\n"}, "Fix")
    tree = builder.tree
    builder.git.run("reset", "--quiet", "--hard", head)
    new = commit_tree(builder.git, tree, head, "fix", 1e9)
    builder.git.run("update-ref", "refs/burnish/r1", new)
    leave(repository, new=new, run="r1")
    return ResultCommits(run="r1", branch="change", head=head, commit=new)


def take(repository: Repository, result: ResultCommits, folder: Path | None = None) -> str:
    """Type the command where the user is; what it is."""
    place = folder or repository.root
    command = how_to_take(repository, result, place).command
    done = subprocess.run(["sh", "-c", command], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr)
    return command


def test_a_clean_checkout(repository: Repository, result: ResultCommits) -> None:
    assert take(repository, result) == "git merge --ff-only burnish/r1"
    assert repository.commit_of("change") == result.commit


def test_a_branch_that_is_not_checked_out(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits
) -> None:
    branch_with_two_defects.switch("main").write({"calc.py": "work on main"})
    take(repository, result)
    assert repository.commit_of("change") == result.commit
    assert (repository.root / "calc.py").read_text() == "work on main"


def test_a_branch_in_another_work_tree(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits, tmp_path: Path
) -> None:
    linked = branch_with_two_defects.switch("main").worktree(tmp_path / "linked one", "change")
    take(repository, result)
    assert linked.head == result.commit


def test_from_a_folder_below(repository: Repository, result: ResultCommits) -> None:
    (repository.root / "below").mkdir()
    take(repository, result, repository.root / "below")
    assert repository.commit_of("change") == result.commit


@pytest.mark.parametrize("file", ["store.py", "calc.py"])
@pytest.mark.parametrize("staged", [True, False])
def test_uncommitted_work_is_kept(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits, file: str, staged: bool
) -> None:
    content = (repository.root / file).read_text() + "mine\n"
    branch_with_two_defects.write({file: content})
    if staged:
        branch_with_two_defects.git.run("add", file)
    take(repository, result)
    assert repository.commit_of("change") == result.commit
    stashed = branch_with_two_defects.git.text("stash", "list")
    assert "mine" in (repository.root / file).read_text() or stashed


@pytest.mark.parametrize("ignored", [True, False])
def test_a_file_in_the_way_is_moved_aside(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits, ignored: bool
) -> None:
    branch_with_two_defects.write({"added.py": "precious", "added.py.1": "too"})
    if ignored:
        branch_with_two_defects.write({".git/info/exclude": "added.py\n"})
    (repository.root / "below").mkdir()
    take(repository, result, repository.root / "below")
    assert repository.commit_of("change") == result.commit
    assert (repository.root / "added.py.2").read_text() == "precious"
    assert (repository.root / "added.py.1").read_text() == "too"


@pytest.mark.parametrize("dirty", [True, False])
def test_a_branch_that_moved_is_merged(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits, dirty: bool
) -> None:
    branch_with_two_defects.commit({"more.py": "x"})
    if dirty:
        branch_with_two_defects.write({"more.py": "y"})
    branch_with_two_defects.git.run("config", "user.name", "Someone")
    branch_with_two_defects.git.run("config", "user.email", "someone@example.com")
    take(repository, result)
    assert repository.is_ancestor(result.commit, "change")
    assert (repository.root / "more.py").read_text() == ("y" if dirty else "x")


def test_a_conflict_is_only_shown(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits
) -> None:
    moved = branch_with_two_defects.commit({"calc.py": "other\n"}).head
    assert "log --patch" in take(repository, result)
    assert repository.commit_of("change") == moved
    assert repository.is_clean(untracked=False)


def test_a_tag_of_the_same_name_does_not_get_in_between(repository: Repository, result: ResultCommits) -> None:
    repository.git.run("tag", "burnish/r1", "main")
    repository.git.run("tag", "change", "main")
    take(repository, result)
    assert repository.commit_of("refs/heads/change") == result.commit


def test_a_branch_that_is_gone_or_being_rebased_is_only_shown(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits
) -> None:
    assert "log --patch" in take(
        repository, ResultCommits(run="r1", branch="gone", head=result.head, commit=result.commit)
    )
    builder = branch_with_two_defects.switch("main").commit({"calc.py": "conflict\n"}).switch("change")
    builder.git.run("rebase", "main", check=False)
    assert "log --patch" in take(repository, result)


def test_a_detached_head_moves_forward(
    branch_with_two_defects: RepositoryBuilder, repository: Repository, result: ResultCommits
) -> None:
    branch_with_two_defects.git.run("checkout", "--quiet", "--detach", result.head)
    take(repository, ResultCommits(run="r1", branch=result.head[:12], head=result.head, commit=result.commit))
    assert repository.commit_of("HEAD") == result.commit
    assert repository.commit_of("change") == result.head


@pytest.mark.parametrize(
    "word",
    [
        "",
        "plain",
        "two words",
        "it's",
        'say "no"',
        "$HOME `x` \\n",
        "a\nb",
        "tab\there",
        "\x1b[2J",
        "\u202eevil",
        "%s%b",
    ],
)
def test_a_shell_reads_a_word_as_it_was(word: str) -> None:
    printed = shell_word(word)
    assert printed.isprintable()
    done = subprocess.run(["sh", "-c", f"printf %s {printed}"], capture_output=True, check=True)
    assert done.stdout.decode() == word
