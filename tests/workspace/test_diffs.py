"""Differences: what reviewers are shown, and where lines go, for every kind of file."""

from pathlib import Path

import pytest

from burnish.core.line_changes import FileChange, Hunk
from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.diffs import ChangedFile, changes, difference, file_changes, read_raw
from burnish.workspace.errors import SubjectError
from burnish.workspace.repository import Repository

_POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n"


def changed(path: Path) -> dict[str, FileChange]:
    found = changes(Repository.discover(path), "HEAD^", "HEAD")
    return {change.path: change for change in found}


def shown(path: Path) -> dict[str, ChangedFile]:
    found = difference(Repository.discover(path), "HEAD^", "HEAD")
    return {file.path: file for file in found.files}


def test_three_dots_leave_the_bases_own_changes_aside(branch_with_two_defects: RepositoryBuilder) -> None:
    branch_with_two_defects.switch("main").commit({"other.py": "x = 1\n"}).switch("change")
    repository = Repository.discover(branch_with_two_defects.path)
    found = difference(repository, repository.commit_of("main"), repository.commit_of("change"))
    assert [(file.path, file.status, file.added, file.deleted) for file in found.files] == [
        ("calc.py", "M", 1, 1),
        ("store.py", "A", 4, 0),
    ]
    assert b"other.py" not in found.patch
    assert b"-    return sum(values) / (len(values) or 1)\n" in found.patch
    assert not found.empty


def test_the_same_commit_gives_an_empty_difference(repository: Repository) -> None:
    found = difference(repository, repository.commit_of("main"), repository.commit_of("main"))
    assert found.empty
    assert found.patch == b""


def test_no_common_history_is_said(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a": "1"})
    builder.git.run("checkout", "--quiet", "--orphan", "other")
    builder.commit({"b": "1"})
    with pytest.raises(SubjectError):
        difference(Repository.discover(tmp_path), "main", "other")


def test_hunks_say_where_lines_went(tmp_path: Path) -> None:
    lines = [f"{number}\n" for number in range(1, 11)]
    RepositoryBuilder(tmp_path).commit({"a.py": "".join(lines)}).commit(
        {"a.py": "".join([lines[0], "new\n", *lines[1:4], "changed\n", *lines[5:8], *lines[9:]])}
    )
    assert changed(tmp_path)["a.py"].hunks == (
        Hunk(old_start=1, old_lines=0, new_start=2, new_lines=1),
        Hunk(old_start=5, old_lines=1, new_start=6, new_lines=1),
        Hunk(old_start=9, old_lines=1, new_start=9, new_lines=0),
    )


def test_odd_names_are_shown_and_followed(tmp_path: Path) -> None:
    repositories.names_not_utf8(tmp_path)
    hunk = Hunk(old_start=2, old_lines=0, new_start=3, new_lines=1)
    found = changed(tmp_path)
    names = {"caf\\xe9.txt", "with space.txt", "new\nline.txt", 'quo"te.txt', "-dash.txt", "größe.txt"}
    assert found == {name: FileChange(path=name, new_path=name, hunks=(hunk,)) for name in names}
    assert {file.shown_path for file in shown(tmp_path).values()} == names
    assert "caf\udce9.txt" in shown(tmp_path)
    assert all(file.added == 1 for file in shown(tmp_path).values())


def test_no_two_names_fall_together_when_they_are_shown(tmp_path: Path) -> None:
    names = ("a\udce9", "a\udce8", "a\\xe9")
    RepositoryBuilder(tmp_path).commit(dict.fromkeys(names, "1\n2\n")).commit(dict.fromkeys(names, "1\n"))
    assert sorted(changed(tmp_path)) == ["a\\\\xe9", "a\\xe8", "a\\xe9"]


def test_renames_keep_their_lines(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    builder = RepositoryBuilder(tmp_path).commit({"old name.py": text, "gone.py": "x\n"})
    builder.commit({"old name.py": None, "gone.py": None, "new name.py": text + "more\n"})
    found = changed(tmp_path)
    assert found["old name.py"].new_path == "new name.py"
    assert found["old name.py"].hunks == (Hunk(old_start=30, old_lines=0, new_start=31, new_lines=1),)
    assert found["gone.py"] == FileChange(path="gone.py", new_path=None)
    assert "new name.py" not in found
    assert (shown(tmp_path)["new name.py"].status, shown(tmp_path)["new name.py"].old_path) == ("R", "old name.py")


def test_a_mode_alone_changes_no_line(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"tool.sh": "x\n"}).executable("tool.sh", "x\n").commit()
    assert changed(tmp_path) == {"tool.sh": FileChange(path="tool.sh", new_path="tool.sh")}
    file = shown(builder.path)["tool.sh"]
    assert (file.old_mode, file.new_mode, file.status) == ("100644", "100755", "M")


def test_a_binary_file_changes_as_a_whole(tmp_path: Path) -> None:
    RepositoryBuilder(tmp_path).commit({"a.bin": b"\0one"}).commit({"a.bin": b"\0two"})
    assert changed(tmp_path)["a.bin"].whole
    assert shown(tmp_path)["a.bin"].binary


def test_a_huge_file_is_not_read_line_by_line(tmp_path: Path) -> None:
    huge = b"0123456789abcde\n" * 1024 * 1024
    RepositoryBuilder(tmp_path).commit({"huge.txt": huge, "a": "1"}).commit({"huge.txt": huge + b"x\n", "a": "2"})
    found = difference(Repository.discover(tmp_path), "HEAD^", "HEAD")
    assert len(found.patch) < 10_000
    assert changed(tmp_path)["huge.txt"].whole


def test_a_link_that_points_elsewhere_changes_as_a_whole(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a": "1", "b": "2", "file": "x\n"}).link("link", "a").commit()
    (builder.path / "link").unlink()
    builder.link("link", "b").write({"file": None}).link("file", "a").commit()
    assert changed(tmp_path)["link"].whole
    assert changed(tmp_path)["file"].whole
    assert shown(tmp_path)["file"].status == "T"


def test_sections_of_files_whose_type_changed_do_not_shift_the_others(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a": "1\n", "b": "1\n2\n", "c": "1\n"})
    builder.write({"a": None}).link("a", "b").commit({"b": "1\n", "c": "2\n"})
    found = changed(tmp_path)
    assert found["b"].hunks == (Hunk(old_start=2, old_lines=1, new_start=1, new_lines=0),)
    assert found["c"].hunks == (Hunk(old_start=1, old_lines=1, new_start=1, new_lines=1),)


def test_a_submodule_that_moved_changes_as_a_whole(tmp_path: Path) -> None:
    builder = repositories.submodule(tmp_path)
    assert changed(builder.path)["lib"].whole
    assert shown(builder.path)["lib"].is_submodule


def test_pointers_to_large_files_are_text(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    builder.commit({"a.bin": _POINTER.format("1" * 64)}).commit({"a.bin": _POINTER.format("2" * 64)})
    assert changed(tmp_path)["a.bin"].hunks == (Hunk(old_start=2, old_lines=1, new_start=2, new_lines=1),)


def test_a_change_cannot_hide_by_calling_itself_binary(tmp_path: Path) -> None:
    RepositoryBuilder(tmp_path).commit({"a.py": "1\n"}).commit({"a.py": "2\n", ".gitattributes": "*.py -diff binary\n"})
    found = difference(Repository.discover(tmp_path), "HEAD^", "HEAD")
    assert b"+2\n" in found.patch
    assert changed(tmp_path)["a.py"].hunks


def test_content_cannot_pass_as_a_header(tmp_path: Path) -> None:
    text = "diff --git a/x b/x\n@@ -1,5 +1,9 @@\nBinary files a and b differ\n"
    RepositoryBuilder(tmp_path).commit({"a": text, "b": "1\n"}).commit({"a": text * 2, "b": "2\n"})
    assert changed(tmp_path)["a"].hunks == (Hunk(old_start=3, old_lines=0, new_start=4, new_lines=3),)
    assert changed(tmp_path)["b"].hunks == (Hunk(old_start=1, old_lines=1, new_start=1, new_lines=1),)


def test_long_names_of_objects(tmp_path: Path) -> None:
    repositories.sha256(tmp_path)
    assert changed(tmp_path)["a.py"].hunks


def test_a_patch_that_does_not_fit_its_list_changes_everything(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a": "1\n"}).commit({"a": "2\n"})
    raw = builder.git.run("diff-tree", "-r", "--raw", "-z", "--full-index", "HEAD^", "HEAD")
    (change,) = file_changes(read_raw(raw), b"")
    assert change.whole
