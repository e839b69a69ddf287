"""What a command names must be there for it, in a sandbox too; nothing else is opened for its sake."""

from pathlib import Path

from burnish.runtime.services import named_paths


def test_files_and_folders_that_are_named_and_exist(tmp_path: Path) -> None:
    script, rules = tmp_path / "review.py", tmp_path / "rules"
    script.touch()
    rules.mkdir()
    named = named_paths(
        ("python3", "-u", str(script), f"--rules={rules}", "--also", str(rules), str(tmp_path / "absent"))
    )
    assert named == (str(script), str(rules))


def test_nothing_else_is_opened() -> None:
    assert named_paths(("/usr/bin/env", "/", "relative/path", "-x", "--a=b", "/" + "x" * 5_000, "/a\0b", "//")) == ()
    assert named_paths(()) == ()
