"""From a fixer's clone to one commit: all it did is in, nothing else is, the user's repository is as it was."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workspace.conftest import UsersView

from burnish.core.text import clean_text
from burnish.records.registry import NO_WORK_OF_FIXERS
from burnish.system.clock import now
from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clone, Clones
from burnish.workspace.git import Git
from burnish.workspace.messages import Notable, full_message, title
from burnish.workspace.repository import Repository
from burnish.workspace.results import Collected, collect

Collect = Callable[..., Collected]


@pytest.fixture
def collected(repository: Repository, fixers_clone: Clone) -> Collect:
    """Collects from the fixer's clone."""

    def run(clone: Clone = fixers_clone, *, summary: str = "Done", number: int = 1, at: float = 1e9) -> Collected:
        return collect(
            repository,
            clone,
            run="r1",
            parent=clone.head,
            round=number,
            summary=summary,
            at=at,
            records=NO_WORK_OF_FIXERS,
        )

    return run


def files(repository: Repository, commit: str) -> dict[str, bytes | None]:
    return {name: repository.read_file(commit, name) for name in sorted(repository.files(commit))}


def commit(clone: Clone, message: str) -> None:
    git = Git(clone.path, isolated=True)
    git.run("add", "--all")
    git.run("commit", "--quiet", "-m", message)


def message_of(repository: Repository, commit: str) -> str:
    return repository.git.text("show", "--no-patch", "--format=%B", commit)


def next_second() -> None:
    """Let the clock tick: what is under test depends on whole seconds."""
    second = int(now())
    while int(now()) == second:
        pass


def test_work_of_every_kind_is_in_one_commit(
    repository: Repository, fixers_clone: Clone, collected: Collect, users_view: UsersView
) -> None:
    before = users_view(repository.root)
    path = fixers_clone.path
    (path / "committed.py").write_text("1")
    commit(fixers_clone, "First\n\nwith a body")
    (path / "second.py").write_text("2")
    commit(fixers_clone, "Second")
    (path / "staged.py").write_text("3")
    Git(path).run("add", "staged.py")
    (path / "calc.py").write_text("unstaged")
    (path / "folder").mkdir()
    (path / "folder" / "untracked.py").write_text("5")
    (path / "store.py").unlink()

    result = collected()

    assert files(repository, result.change.commit) == {
        "calc.py": b"unstaged",
        "committed.py": b"1",
        "folder/untracked.py": b"5",
        "second.py": b"2",
        "staged.py": b"3",
    }
    assert repository.git.text("rev-parse", f"{result.change.commit}^@") == fixers_clone.head
    assert repository.commit_of("refs/burnish/r1") == result.change.commit
    assert result.change.tree == repository.tree_of(result.change.commit)
    assert result.agent_messages == ("First\n\nwith a body", "Second")
    assert result.deleted == ("store.py",)
    assert {change.path for change in result.change.files} == {"calc.py", "store.py"}
    assert users_view(repository.root) == before
    repository.git.run("fsck", "--strict")


def test_the_message_says_what_a_reader_should_not_overlook(
    repository: Repository, fixers_clone: Clone, collected: Collect
) -> None:
    (fixers_clone.path / "store.py").unlink()
    (fixers_clone.path / "web").mkdir()
    (fixers_clone.path / "web" / "package-lock.json").write_text("{}")
    commit(fixers_clone, "Remove\n\nSigned-off-by: Nobody <x@example.com>")
    result = collected(summary="\n## **Removed** the \x1b[31mstore\x1b[0m\nand more", number=2)
    assert message_of(repository, result.change.commit) == (
        "fix: address code review round 2 - Removed the store\n"
        "\n"
        "Deleted:\n- store.py\n"
        "\n"
        "Lock files changed:\n- web/package-lock.json\n"
        "\n"
        "Messages of the fixer's own commits:\n"
        "\n"
        "    Remove\n\n    Signed-off-by: Nobody <x@example.com>\n"
        "\n"
        "Burnish-Run: r1\n"
    )
    assert result.lock_files == ("web/package-lock.json",)


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("", "fix: round 1"),
        ("\n \n", "fix: round 1"),
        ("- `Guard`  the **division**.\nMore", "fix: round 1 - Guard the division."),
        ("word " * 100, "fix: round 1 - " + "word " * 28 + "word…"),
    ],
)
def test_the_first_line_is_short_and_clean(summary: str, expected: str) -> None:
    assert title("fix: round 1", summary) == expected
    assert len(expected) <= 160


ORDERS = (
    *("[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[Skip  CI]", "[ci:skip]", "[skip-ci]", "[[skip ci]]"),
    *(
        "[sk**ip ci]",
        "[skip\u202e ci]",
        "[azp skip]",
        "[skip netlify]",
        "***NO_CI***",
        "**NO_CI**",
        "skip-checks: true",
    ),
)
_TAKEN_FOR_ONE = re.compile(
    r"\[[^\](]*(?:skip|no.ci)[^\]]*\]|\*NO_CI\*|^\s*skip-checks\s*:", re.IGNORECASE | re.MULTILINE
)


@pytest.mark.parametrize("order", ORDERS)
def test_a_message_keeps_nothing_from_being_checked(order: str) -> None:
    notable = Notable(deleted=(f"{order}.py",))
    for text in (f"Repaired. {order}", order, f"{order}\nmore"):
        whole = full_message(title("fix: round 1", text), notable, (clean_text(f"Mine\n\n{order}"),))
        assert not _TAKEN_FOR_ONE.search(whole), whole
        assert "\u202e" not in whole


@pytest.mark.parametrize("words", ["Handle [a, b] and x[0]", "ci: pin the runner", "Add a [link] for it"])
def test_other_words_of_a_fixer_stay_as_they_are(words: str) -> None:
    assert title("fix: round 1", words) == f"fix: round 1 - {words}"
    assert f"    {words}\n" in full_message("fix", Notable(), (words,))


def test_before_the_first_round_it_was_validation_that_failed(
    repository: Repository, fixers_clone: Clone, collected: Collect
) -> None:
    (fixers_clone.path / "calc.py").write_text("x")
    message = message_of(repository, collected(summary="Passes", number=0).change.commit)
    assert message.startswith("fix: address failed validation - Passes\n")


def test_a_repeat_gives_the_same_commit(repository: Repository, fixers_clone: Clone, collected: Collect) -> None:
    (fixers_clone.path / "calc.py").write_text("x")
    first = collected()
    assert collected() == first
    assert collected(at=2e9).change.commit != first.change.commit
    author = repository.git.text("show", "--no-patch", "--format=%an <%ae> %ct %cn", first.change.commit)
    assert author == "A. Developer <developer@example.com> 1000000000 A. Developer"


def test_a_change_of_the_same_length_in_the_same_moment_is_seen(
    repository: Repository, clones: Clones, fixers_clone: Clone
) -> None:
    """git looks at whole seconds: clone and edit within one, collect in the next."""
    next_second()
    clone = clones.make("quick", fixers_clone.base, fixers_clone.head, writable=True)
    file = clone.path / "calc.py"
    times = file.stat()
    file.write_bytes(file.read_bytes().replace(b"mean", b"MEAN"))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    next_second()
    result = collect(repository, clone, run="r", parent=clone.head, round=1, summary="", at=1e9)
    assert b"MEAN" in (repository.read_file(result.change.commit, "calc.py") or b"")


def test_nothing_changed_is_no_commit(repository: Repository, fixers_clone: Clone, collected: Collect) -> None:
    (fixers_clone.path / "calc.py").touch()
    (fixers_clone.path / "empty").mkdir()
    result = collected()
    assert result.change.commit == fixers_clone.head
    assert result.change.tree == repository.tree_of(fixers_clone.head)
    assert result.change.files == ()
    assert repository.git.text("for-each-ref", "refs/burnish") == ""


def test_a_change_that_was_taken_back_is_nothing(fixers_clone: Clone, collected: Collect) -> None:
    text = (fixers_clone.path / "calc.py").read_bytes()
    (fixers_clone.path / "calc.py").write_text("x")
    commit(fixers_clone, "There")
    (fixers_clone.path / "calc.py").write_bytes(text)
    commit(fixers_clone, "and back")
    result = collected()
    assert result.change.commit == fixers_clone.head
    assert result.agent_messages == ("There", "and back")


def test_modes_links_and_odd_names_are_taken(repository: Repository, fixers_clone: Clone, collected: Collect) -> None:
    (fixers_clone.path / "calc.py").chmod(0o755)
    (fixers_clone.path / "link").symlink_to("store.py")
    (fixers_clone.path / "new\nline \udce9").write_text("x")
    result = collected()
    listing = repository.git.run("ls-tree", "-z", result.change.commit)
    assert listing.startswith(b"100755 blob")
    assert b"120000 blob" in listing
    assert b"new\nline \xe9\0" in listing


def test_a_file_becomes_a_folder_and_a_folder_a_file(
    repository: Repository, fixers_clone: Clone, collected: Collect
) -> None:
    (fixers_clone.path / "calc.py").unlink()
    (fixers_clone.path / "calc.py").mkdir()
    (fixers_clone.path / "calc.py" / "inner.py").write_text("x")
    result = collected()
    assert repository.files(result.change.commit) == {"calc.py/inner.py", "store.py"}


@pytest.fixture
def prepared(tmp_path: Path) -> tuple[Repository, Clones, Clone]:
    """A clone in which `prepare` installed things: ignored, untracked, and in a tracked file."""
    builder = RepositoryBuilder(tmp_path / "r").commit({"a.py": "1\n", "package-lock.json": "old\n"})
    builder.ignore("modules/").branch("change").commit({"a.py": "2\n"})
    repository = Repository.discover(builder.path)
    clones = Clones(repository, tmp_path / "clones")
    clone = clones.make("fixer", repository.commit_of("main"), repository.commit_of("change"), writable=True)
    for name in ("modules/x.js", "generated/y.js", "build/z [1]*.js"):
        (clone.path / name).parent.mkdir()
        (clone.path / name).write_text("installed")
    (clone.path / "package-lock.json").write_text("prepared\n")
    return repository, clones, clone


def test_what_prepare_made_stays_out(prepared: tuple[Repository, Clones, Clone], collected: Collect) -> None:
    repository, clones, clone = prepared
    assert set(clones.exclude(clone)) == {"modules/", "generated/y.js", "build/z [1]*.js"}
    assert Git(clone.path, isolated=True).text("status", "--porcelain") == " M package-lock.json"
    (clone.path / "generated" / "y.js").write_text("changed by the fixer")
    (clone.path / "modules" / "new.js").write_text("x")
    (clone.path / "generated" / "mine.py").write_text("the fixer's")
    (clone.path / ".gitignore").write_text("")

    result = collect(repository, clone, run="r", parent=clone.head, round=1, summary="", at=1e9)

    assert files(repository, result.change.commit) == {
        ".gitignore": b"",
        "a.py": b"2\n",
        "generated/mine.py": b"the fixer's",
        "package-lock.json": b"old\n",
    }


def test_what_the_fixer_changes_in_a_prepared_file_is_taken(prepared: tuple[Repository, Clones, Clone]) -> None:
    repository, clones, clone = prepared
    clones.exclude(clone)
    (clone.path / "package-lock.json").write_text("by the fixer\n")
    result = collect(repository, clone, run="r", parent=clone.head, round=1, summary="", at=1e9)
    assert repository.read_file(result.change.commit, "package-lock.json") == b"by the fixer\n"
    assert result.lock_files == ("package-lock.json",)


def test_named_paths_stay_out_with_all_that_is_in_them(
    repository: Repository, clones: Clones, fixers_clone: Clone
) -> None:
    clones.exclude(fixers_clone, ["vendor", "one.txt"])
    for name in ("vendor/a/b.js", "one.txt", "vendored.js"):
        (fixers_clone.path / name).parent.mkdir(parents=True, exist_ok=True)
        (fixers_clone.path / name).write_text("x")
    result = collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)
    assert repository.files(result.change.commit) == {"calc.py", "store.py", "vendored.js"}


def test_ignored_files_stay_out_unless_the_fixer_added_them(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "r").ignore("*.log").branch("change").commit({"a": "1"})
    repository = Repository.discover(builder.path)
    clone = Clones(repository, tmp_path / "c").make("f", repository.commit_of("main"), builder.head, writable=True)
    (clone.path / "noise.log").write_text("x")
    (clone.path / "wanted.log").write_text("y")
    Git(clone.path).run("add", "--force", "wanted.log")
    result = collect(repository, clone, run="r", parent=clone.head, round=1, summary="", at=1e9)
    assert repository.files(result.change.commit) == {".gitignore", "a", "wanted.log"}


def test_records_are_no_fixers_work(repository: Repository, fixers_clone: Clone, collected: Collect) -> None:
    for name in (".agents/tmp/state.json", "docs/progress/story-1-2-review-findings-round-1.md", "docs/progress/x.md"):
        (fixers_clone.path / name).parent.mkdir(parents=True, exist_ok=True)
        (fixers_clone.path / name).write_text("x")
    assert repository.files(collected().change.commit) == {"calc.py", "store.py", "docs/progress/x.md"}


def test_only_what_the_fixer_changed_goes_onto_another_parent(
    repository: Repository, branch_with_two_defects: RepositoryBuilder, fixers_clone: Clone
) -> None:
    parent = branch_with_two_defects.commit({"later.py": "x", "store.py": "later"}).head
    (fixers_clone.path / "calc.py").unlink()
    (fixers_clone.path / "calc.py").mkdir()
    (fixers_clone.path / "calc.py" / "inner.py").write_text("fixed")
    result = collect(repository, fixers_clone, run="r", parent=parent, round=1, summary="", at=1e9)
    assert files(repository, result.change.commit) == {
        "calc.py/inner.py": b"fixed",
        "later.py": b"x",
        "store.py": b"later",
    }


def test_many_files_are_taken_as_a_pack(repository: Repository, fixers_clone: Clone, collected: Collect) -> None:
    for number in range(200):
        (fixers_clone.path / f"{number}.py").write_text(str(number))
    result = collected()
    assert len(repository.files(result.change.commit)) == 202
    repository.git.run("fsck", "--strict")


def test_long_names_of_objects(tmp_path: Path) -> None:
    builder = repositories.sha256(tmp_path / "r")
    repository = Repository.discover(builder.path)
    clone = Clones(repository, tmp_path / "c").make("f", repository.commit_of("main"), builder.head, writable=True)
    (clone.path / "a.py").write_text("3")
    commit(clone, "Three")
    result = collect(repository, clone, run="r", parent=clone.head, round=1, summary="", at=1e9)
    assert repository.read_file(result.change.commit, "a.py") == b"3"
    assert result.agent_messages == ("Three",)


def test_the_second_round_builds_on_the_first(repository: Repository, clones: Clones, fixers_clone: Clone) -> None:
    (fixers_clone.path / "calc.py").write_text("one")
    first = collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9).change
    again = clones.make("second", fixers_clone.base, first.commit, writable=True)
    assert (again.path / "calc.py").read_text() == "one"
    (again.path / "calc.py").write_text("two")
    second = collect(repository, again, run="r", parent=first.commit, round=2, summary="", at=1e9).change
    assert repository.is_ancestor(first.commit, second.commit)
    assert repository.commit_of("refs/burnish/r") == second.commit
