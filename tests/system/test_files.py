"""Files are replaced in one step, and directories are private."""

import os
from pathlib import Path

import pytest

from burnish.system.files import make_private_directory, write_atomically


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_is_replaced_with_its_new_content_and_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "record.json"
    path.write_text("old")
    before = os.umask(0o077)
    try:
        write_atomically(path, b"new" * 100_000, mode)
    finally:
        os.umask(before)
    assert path.read_bytes() == b"new" * 100_000
    assert path.stat().st_mode & 0o777 == mode
    assert list(tmp_path.iterdir()) == [path]


def test_a_reader_keeps_the_file_that_it_opened(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    write_atomically(path, b"old")
    with path.open("rb") as reader:
        write_atomically(path, b"new")
        assert reader.read() == b"old"


def test_a_write_that_fails_leaves_the_old_content_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.mkdir()
    (path / "inside").touch()
    with pytest.raises(OSError, match="directory"):
        write_atomically(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    write_atomically(tmp_path / ("n" * 255), b"x")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"x"


def test_directories_are_made_for_the_user_alone_and_kept_if_they_exist(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_directory(tmp_path / "a" / "b")
    make_private_directory(tmp_path / "a" / "b")
    assert [path.stat().st_mode & 0o777 for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [
        0o755,
        0o700,
        0o700,
    ]


def test_a_file_in_the_way_of_a_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(FileExistsError):
        make_private_directory(tmp_path / "a")
