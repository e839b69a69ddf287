"""Fingerprints: every way to write to a clone is seen, and reading it is not."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.workspace.clones import Clone, Clones
from burnish.workspace.fingerprints import differences, take
from burnish.workspace.git import Git

Deed = Callable[[Path], object]


def git(*arguments: str) -> Deed:
    return lambda path: Git(path).run(*arguments)


def write(name: str, text: str) -> Deed:
    return lambda path: (path / name).write_text(text)


def _hook(path: Path) -> None:
    (path / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")


_DEEDS: dict[str, tuple[Deed, str]] = {
    "edits": (write("calc.py", "x"), "changed: calc.py"),
    "deletes": (lambda path: (path / "calc.py").unlink(), "removed: calc.py"),
    "adds": (write("new.py", "x"), "new: new.py"),
    "adds an empty folder": (lambda path: (path / "folder").mkdir(), "new: folder"),
    "makes executable": (lambda path: (path / "calc.py").chmod(0o755), "mode changed: calc.py"),
    "opens the clone itself": (lambda path: path.chmod(0o777), "mode changed: ."),
    "adds a link": (lambda path: (path / "link").symlink_to("/etc"), "new: link"),
    "adds a pipe": (lambda path: os.mkfifo(path / "pipe"), "new: pipe"),
    "stages": (git("update-index", "--add", "--cacheinfo", f"100644,{'1' * 40},x"), "the index"),
    "hides a file from git": (git("update-index", "--assume-unchanged", "calc.py"), "the index"),
    "commits": (git("commit", "--quiet", "--allow-empty", "-m", "x"), "changed: .git/refs/heads/head"),
    "amends": (git("commit", "--quiet", "--amend", "-m", "x"), "changed: .git/refs/heads/head"),
    "checks out": (git("checkout", "--quiet", "base"), "changed: .git/HEAD"),
    "tags": (git("tag", "x"), "new: .git/refs/tags/x"),
    "moves a ref": (git("update-ref", "refs/heads/base", "head"), "changed: .git/refs/heads/base"),
    "packs refs": (git("pack-refs", "--all"), "new: .git/packed-refs"),
    "configures": (git("config", "core.fsmonitor", "evil"), "changed: .git/config"),
    "installs a hook": (_hook, "new: .git/hooks"),
    "adds a remote": (git("remote", "add", "x", "/x"), "changed: .git/config"),
    "stashes": (lambda path: (write("calc.py", "y")(path), git("stash")(path)), "new: .git/refs/stash"),
    "breaks the index": (write(".git/index", "broken"), "changed: the index"),
}


@pytest.mark.parametrize("name", _DEEDS)
def test_a_clone_that_was_written_to_is_not_as_it_was(clones: Clones, fixers_clone: Clone, name: str) -> None:
    deed, trace = _DEEDS[name]
    before = clones.fingerprint(fixers_clone)
    deed(fixers_clone.path)
    found = clones.differences(before, clones.fingerprint(fixers_clone, before))
    assert any(trace in line for line in found), found


def test_reading_leaves_a_clone_as_it_was(clones: Clones, fixers_clone: Clone) -> None:
    before = clones.fingerprint(fixers_clone)
    os.utime(fixers_clone.path / "calc.py", (1, 1))
    index = (fixers_clone.path / ".git" / "index").read_bytes()
    git("update-index", "-q", "--refresh")(fixers_clone.path)  # what `git status` does by itself
    for command in (["status"], ["diff", "base...head"], ["log", "-p"], ["blame", "calc.py"], ["show", "head"]):
        git(*command)(fixers_clone.path)
    assert (fixers_clone.path / ".git" / "index").read_bytes() != index, "git should have refreshed its index"
    assert clones.differences(before, clones.fingerprint(fixers_clone, before)) == ()


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")
    os.utime(file, (1, 1))
    before = take(tmp_path)
    file.write_text("two")
    os.utime(file, (1, 1))
    assert differences(before, take(tmp_path, before)) == ("changed: a",)


def test_what_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    first = take(tmp_path)
    information = (tmp_path / "a").stat()
    stamp = (information.st_ino, information.st_size, information.st_mtime_ns, information.st_ctime_ns)
    entry = first.entries["a"]
    believed = type(entry)(mode=entry.mode, content="believed", stamp=stamp)
    later = take(tmp_path, type(first)(entries={"a": believed}))
    assert later.entries["a"].content == "believed"


def test_a_file_that_was_just_written_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    assert take(tmp_path).entries["a"].stamp == ()


def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    for name in ("grown", "same"):
        (tmp_path / name).write_text("x")
    before = take(tmp_path)
    for name in ("grown", "new"):
        with (tmp_path / name).open("ab") as file:
            file.truncate(2**42)
    assert differences(before, take(tmp_path, before)) == ("changed: grown", "new: new")


def test_many_differences_are_counted(tmp_path: Path) -> None:
    before = take(tmp_path)
    for number in range(150):
        (tmp_path / f"{number:03}").touch()
    found = differences(before, take(tmp_path))
    assert len(found) == 101
    assert found[-1] == "and 50 more"


def test_names_that_are_not_text_can_be_printed(tmp_path: Path) -> None:
    before = take(tmp_path)
    (tmp_path / os.fsdecode(b"caf\xe9")).touch()
    assert differences(before, take(tmp_path)) == ("new: caf\\xe9",)


def test_a_folder_that_cannot_be_listed_is_no_error(tmp_path: Path) -> None:
    assert take(tmp_path / "missing").entries == {}
