"""Objects are read through one process, and what never changes is asked for once; what may change is asked again."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish.system import process_table
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.errors import GitError
from burnish.workspace.git import Git


@pytest.fixture
def builder(tmp_path: Path) -> RepositoryBuilder:
    return RepositoryBuilder(tmp_path / "work").commit({"a": "one\n"})


@pytest.fixture
def git(builder: RepositoryBuilder) -> Git:
    return Git(builder.path)


def readers() -> set[int]:
    """The processes below this one that read objects."""
    children = [entry.pid for entry in process_table.living() if entry.parent == os.getpid()]
    return {pid for pid in children if b"cat-file" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def test_what_was_added_since_is_seen(builder: RepositoryBuilder, git: Git, tmp_path: Path) -> None:
    first = builder.head
    assert git.objects("main", "main^{tree}", "other") == (first, builder.tree, None)
    builder.commit({"a": "two\n"}).git.run("branch", "other")
    assert git.objects("main", "other") == (builder.head, builder.head)
    builder.git.run("repack", "-a", "-d", "-q")
    blob = builder.git.text("hash-object", "-w", "--stdin", stdin=b"three")
    assert git.content(blob) == b"three"
    elsewhere = builder.clone(tmp_path / "clone").commit({"b": "four\n"})
    assert git.objects(elsewhere.head) == (None,)
    builder.git.run("fetch", "--quiet", str(elsewhere.path), "main")
    assert git.objects(elsewhere.head) == (elsewhere.head,)


def test_odd_names_are_no_objects(git: Git) -> None:
    assert git.objects("", "a b", "main\nmain", "main\0", "main:a/../b", "-h", "main missing") == (None,) * 7
    assert git.objects("main:a") != (None,)


def test_many_threads_read_the_same_objects(builder: RepositoryBuilder, git: Git) -> None:
    builder.commit({f"f{number}": f"{number}\n" * 20_000 for number in range(40)})
    names = [f"main:f{number}" for number in range(40)]
    identities = [name.encode() for name in git.objects(*names) if name]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(git.content, identities * 8))
    assert [content.split(b"\n")[0].decode() for content in found] == [str(number) for number in range(40)] * 8


def test_a_reader_that_was_killed_is_started_again(builder: RepositoryBuilder, git: Git) -> None:
    before = readers()
    assert git.objects("main") == (builder.head,)
    (reader,) = readers() - before
    os.kill(reader, signal.SIGKILL)
    assert git.objects("main") == (builder.head,)
    assert len(readers() - before) == 1


def test_a_missing_object_is_an_error_with_its_name(git: Git) -> None:
    with pytest.raises(GitError, match="1111111111"):
        git.content("1" * 40)


def test_only_what_is_named_by_its_id_is_remembered(builder: RepositoryBuilder, git: Git) -> None:
    first = builder.head
    files = ("ls-tree", "-r", "--name-only")
    assert git.about(*files, first) == git.about(*files, "main") == b"a\n"
    builder.commit({"b": "two\n"})
    assert git.about(*files, "main") == b"a\nb\n"
    # Nothing but memory can answer this.
    elsewhere = Git(builder.path / ".git" / "objects")
    assert elsewhere.about(*files, first) == b"a\n"
    (builder.path / ".git" / "objects" / first[:2] / first[2:]).unlink()
    assert elsewhere.about(*files, first) == b"a\n"


def test_a_failure_is_asked_again(builder: RepositoryBuilder, git: Git) -> None:
    blob = builder.git.text("hash-object", "--stdin", stdin=b"later")
    with pytest.raises(GitError):
        git.about("cat-file", "-p", blob)
    builder.git.run("hash-object", "-w", "--stdin", stdin=b"later")
    assert git.about("cat-file", "-p", blob) == b"later"
