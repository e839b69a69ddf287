"""A full disk is nobody's bug: it is said in plain words, with the exit code of what did not run."""

import errno

import pytest

from burnish.cli.errors import report


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_no_bug(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(OSError(number, "No space left on device", "cache/clone")) == 4
    said = capsys.readouterr().err
    assert "No space left for cache/clone: No space left on device." in said
    assert "burnish resume" in said
    assert "bug" not in said


def test_another_fault_of_the_system_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(OSError(errno.EIO, "Input/output error")) == 4
    assert "burnish has a bug" in capsys.readouterr().err
