"""Where the copies of a run live: a private folder without hidden parts, which no other user can prepare."""

import os
import stat
from pathlib import Path

import pytest

from burnish.system.files import make_own_directory
from burnish.usecases.run_folders import make_run_folder, remove_run_folders, run_folders


def test_copies_live_in_a_private_folder_of_the_users_choice(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path)}
    folder = make_run_folder(environment, "run-1")
    assert folder == tmp_path / f"burnish-{os.getuid()}" / "run-1"
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert list(run_folders(environment, "run-1")) == [folder]
    remove_run_folders(environment, "run-1")
    assert list(run_folders(environment, "run-1")) == []


@pytest.mark.parametrize("chosen", [".hidden", "a/.b/c", "missing", ""])
def test_a_folder_that_is_hidden_or_missing_is_not_used(tmp_path: Path, chosen: str) -> None:
    if chosen.startswith((".", "a")):
        (tmp_path / chosen).mkdir(parents=True)
    environment = {"TMPDIR": str(tmp_path / chosen) if chosen else ""}
    folder = make_run_folder(environment, f"test-{tmp_path.name}")
    try:
        assert str(folder).startswith(("/var/tmp/burnish-", "/tmp/burnish-"))  # noqa: S108 - compared
        assert not any(part.startswith(".") for part in folder.parts)
    finally:
        remove_run_folders(environment, f"test-{tmp_path.name}")


def test_a_run_that_was_killed_is_found_again(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path)}
    left = make_run_folder(environment, "run-1") / "clones"
    left.mkdir()
    assert make_run_folder(environment, "run-1") == left.parent


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    """Another user may have put one there, to have copies written where it leads."""
    (tmp_path / "target").mkdir()
    (tmp_path / f"burnish-{os.getuid()}").symlink_to(tmp_path / "target")
    folder = make_run_folder({"TMPDIR": str(tmp_path)}, "run-1")
    remove_run_folders({"TMPDIR": str(tmp_path)}, "run-1")
    assert not folder.is_relative_to(tmp_path)
    assert list((tmp_path / "target").iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="optional: only root can give a folder away")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 65534, 65534)
    with pytest.raises(PermissionError, match="belongs to another user"):
        make_own_directory(tmp_path / "theirs")


def test_a_folder_that_others_can_read_is_closed(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    make_own_directory(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o700
