"""Some files of a commit, written without a clone."""

from pathlib import Path

import pytest

from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.repository import Repository
from burnish.workspace.slices import TreeFile, read_slice, tree_files, words_in, write_slice

PLENTY = 1000


def test_regular_files_are_read_as_they_are_in_the_commit(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a.py": "x = 1\n", "sub/b c\n.py": b"\xff\n", "left.py": "y\n"})
    builder.write({"a.py": "changed since\n"})
    found = tree_files(Repository.discover(tmp_path), builder.head, ["sub/b c\n.py", "a.py", "no.py"], PLENTY)
    assert sorted(found, key=lambda file: file.path) == [
        TreeFile(path="a.py", size=6, content=b"x = 1\n"),
        TreeFile(path="sub/b c\n.py", size=2, content=b"\xff\n"),
    ]


def test_equal_files_are_both_there_and_large_ones_are_only_named(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a": "same", "b": "same", "big": "x" * 20, "empty": ""})
    found = tree_files(Repository.discover(tmp_path), builder.head, ["a", "b", "big", "empty"], 10)
    assert {file.path: file.content for file in found} == {"a": b"same", "b": b"same", "big": None, "empty": b""}
    assert {file.path: file.size for file in found}["big"] == 20


def test_links_and_submodules_are_no_files(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path / "plain").commit({"a": "1"}).link("link", "a").commit()
    repository = Repository.discover(builder.path)
    assert [file.path for file in tree_files(repository, builder.head, ["link", "a"], PLENTY)] == ["a"]
    with_submodule = repositories.submodule(tmp_path / "outer")
    outer = Repository.discover(with_submodule.path)
    names = sorted(outer.files(with_submodule.head))
    assert "160000" in outer.git.text("ls-tree", "-r", with_submodule.head)
    assert len(tree_files(outer, with_submodule.head, names, PLENTY)) == len(names) - 1


def test_names_that_are_not_utf8_survive(tmp_path: Path) -> None:
    builder = repositories.names_not_utf8(tmp_path / "repository")
    repository = Repository.discover(builder.path)
    found = tree_files(repository, builder.head, sorted(repository.files(builder.head)), PLENTY)
    contents = {file.path: file.content for file in found if file.content is not None}
    write_slice(tmp_path / "slice", contents)
    assert read_slice(tmp_path / "slice") == contents


def test_more_names_than_one_command_line_takes(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({f"f{number}": str(number) for number in range(1201)})
    names = [f"f{number}" for number in range(1201)]
    found = tree_files(Repository.discover(tmp_path), builder.head, names, PLENTY)
    assert {file.path: file.content for file in found} == {f"f{number}": str(number).encode() for number in range(1201)}


@pytest.mark.parametrize("others", [0, 100])
def test_files_are_found_by_the_words_that_they_hold(tmp_path: Path, others: int) -> None:
    builder = RepositoryBuilder(tmp_path).commit(
        {
            "a.py": "shop-floor = pay(1)\n",
            "b/payment.md": "`pay`, and pay\n",
            "c.py": "payment = shop_floor\n",
            "d.bin": b"\0 pay",
            "e.py": "x.y\n",
        }
    )
    words = ["pay", "shop-floor", "nowhere", "x.y", *(f"word{number}" for number in range(others))]
    found = words_in(Repository.discover(tmp_path), builder.head, words)
    assert found == {"pay": {"a.py", "b/payment.md"}, "shop-floor": {"a.py"}, "x.y": {"e.py"}}


def test_what_was_written_to_a_slice_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "slice"
    files = {"a.py": b"x\n", "sub/b.py": b""}
    write_slice(folder, files)
    assert read_slice(folder) == files
    (folder / "link").symlink_to("a.py")
    assert read_slice(folder) != files
