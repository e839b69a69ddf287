"""What a command reads: no more than it asked for, and nothing outside the repository."""

from pathlib import Path

from burnish.system.input import MAX_SOURCE_BYTES, SourceTree, enclosing_root, read_input


def test_one_byte_over_the_limit_is_read_so_that_a_reader_can_tell(tmp_path: Path) -> None:
    file = tmp_path / "answer"
    file.write_bytes(b"x" * 5_000_000)
    assert len(read_input(str(file), 3_000_000)) == 3_000_001
    assert len(read_input(str(file), 5_000_000)) == 5_000_000


def test_the_root_is_the_nearest_folder_with_a_repository(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert enclosing_root(inner) == tmp_path.resolve()
    (inner.parent / ".git").write_text("gitdir: elsewhere")
    assert enclosing_root(inner) == inner.parent.resolve()


def test_a_tree_knows_its_files_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("one\ntwo\n")
    (tmp_path / "secret").write_text("secret")
    (root / "link").symlink_to(tmp_path / "secret")
    tree = SourceTree(root)
    assert tree.is_file("src/a.py")
    assert tree.lines("src/a.py") == ["one", "two", ""]
    for outside in ("src", "gone", "link", "../secret", str(tmp_path / "secret"), "a" * 5000, "nul\0"):
        assert not tree.is_file(outside)
        assert tree.lines(outside) is None


def test_lines_of_a_file_beyond_reason_are_not_looked_at(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(MAX_SOURCE_BYTES + 1)
    assert SourceTree(tmp_path).is_file("big")
    assert SourceTree(tmp_path).lines("big") is None
