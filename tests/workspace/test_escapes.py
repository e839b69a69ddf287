"""No tree of a fix leads out of the repository or into git's own directory, on whatever system it is checked out."""

from pathlib import Path

import pytest

from burnish.system.process import Command, run_now
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clone
from burnish.workspace.errors import NotARepositoryError, UnsafeResultError
from burnish.workspace.escapes import refuse_escapes
from burnish.workspace.git import Git
from burnish.workspace.repository import Repository
from burnish.workspace.results import collect

Content = dict[str, str]
"""The files of a tree by their paths; a content that begins with an arrow is a link."""

OUT = "points out of the repository"
INTO_GIT = "points into git's own directory"
ELSEWHERE = "some systems would resolve it elsewhere"
REPOSITORY = "would be a repository inside the repository"

REFUSED: dict[str, tuple[Content, str]] = {
    "absolute": ({"x": "->/etc/passwd"}, OUT),
    "absolute on Windows": ({"x": "->C:/Windows"}, OUT),
    "absolute with a backslash": ({"x": "->\\\\server\\share"}, OUT),
    "up": ({"a/x": "->../../y"}, OUT),
    "up with backslashes": ({"a/x": "->..\\..\\y"}, OUT),
    "up through a folder that is not there": ({"x": "->no/../../y"}, OUT),
    "into git": ({"x": "->.git/config"}, INTO_GIT),
    "into git through another link": ({"d": "->.", "hooks": "->d/.git/hooks"}, INTO_GIT),
    "into git through a chain": ({"a/b": "->../c", "c": "->a", "x": "->a/b/../.git"}, INTO_GIT),
    "into git in capitals": ({"x": "->.GIT/hooks"}, INTO_GIT),
    "into git with a backslash": ({"x": "->.git\\hooks"}, INTO_GIT),
    "into git by its short name": ({"x": "->git~1/hooks"}, INTO_GIT),
    "into git by its short name in capitals": ({"x": "->GIT~1"}, INTO_GIT),
    "into git with a zero-width character": ({"x": "->.g\u200cit/hooks"}, INTO_GIT),
    "into git with a soft end": ({"x": "->.git. ./hooks"}, INTO_GIT),
    "into git as a stream": ({"x": "->.git::$INDEX_ALLOCATION/hooks"}, INTO_GIT),
    "into the git of a submodule": ({"x": "->lib/.git"}, INTO_GIT),
    "out through another link": ({"d/e": "->..", "x": "->d/e/../y"}, OUT),
    "out through a link of the same name elsewhere": ({"b": "->.", "x": "->B/B/../y"}, OUT),
    "in a circle": ({"x": "->y", "y": "->x"}, "leads in a circle"),
    "to itself": ({"x": "->x/y"}, "leads in a circle"),
    "a folder called git~1": ({"git~1/hooks/pre-commit": "evil"}, ELSEWHERE),
    "a folder called .GIT": ({".GIT/config": "evil"}, ELSEWHERE),
    "a zero-width name": ({".g\u200bit/config": "evil"}, ELSEWHERE),
    "another zero-width name": ({"a/.git\u2060/config": "evil"}, ELSEWHERE),
    "a backslash into git": ({".git\\hooks\\pre-commit": "evil"}, ELSEWHERE),
    "a backslash out": ({"a\\..\\..\\x": "evil"}, ELSEWHERE),
    "a stream": ({".git::$INDEX_ALLOCATION/config": "evil"}, ELSEWHERE),
    "spaces and dots at the end": ({".git . ./config": "evil"}, ELSEWHERE),
    "a bare repository": ({"t/HEAD": "ref: x", "t/objects/x": "", "t/refs/x": "", "t/config": "evil"}, REPOSITORY),
    "a bare repository of files": ({"t/HEAD": "ref: x", "t/objects": "", "t/refs": ""}, REPOSITORY),
    "a bare repository in other letters": ({"t/head": "ref: x", "t/OBJECTS/x": "", "t/Refs/x": ""}, REPOSITORY),
    "a repository of links": ({"t/HEAD": "->../a", "t/objects": "->../a", "t/refs": "->../a"}, REPOSITORY),
    "a work tree's directory": ({"t/HEAD": "ref: x", "t/commondir": "../.git"}, REPOSITORY),
}
ALLOWED: dict[str, Content] = {
    "a link beside": {"x": "->y", "y": "file"},
    "a link down and up again": {"a/b/x": "->../../c/y", "c/y": "file"},
    "a link to nothing": {"x": "->not/there"},
    "a link to the top": {"a/x": "->.."},
    "a link through a link": {"d": "->a", "a/f": "file", "x": "->d/f"},
    "names that only look like it": {".github/x": "", ".gitignore": "", "a.git/x": "", "git~2": "", "legit~1": ""},
    "a backslash in a name": {"a\\b": "file"},
    "a folder with a HEAD": {"t/HEAD": "file", "t/objects/x": ""},
    "accents": {"\u00e9t\u00e9/\u0439": "file", "l": "->\u00e9t\u00e9/\u0439"},
}


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Git:
    return RepositoryBuilder(tmp_path_factory.mktemp("trees") / "work").commit({"a.py": "x = 1\n"}).git


def made(git: Git, content: Content) -> str:
    """A tree, made so that git looks at no name in it."""
    below: dict[str, Content] = {}
    lines: list[bytes] = []
    for path, text in content.items():
        top, _, rest = path.partition("/")
        if rest:
            below.setdefault(top, {})[rest] = text
            continue
        mode = "120000" if text.startswith("->") else "100644"
        blob = git.text("hash-object", "-w", "--stdin", stdin=text.removeprefix("->").encode())
        lines.append(f"{mode} blob {blob}\t{top}\0".encode())
    lines += [f"040000 tree {made(git, inner)}\t{name}\0".encode() for name, inner in below.items()]
    return git.text("mktree", "-z", stdin=b"".join(lines))


@pytest.mark.parametrize("name", REFUSED)
def test_an_escape_is_refused_with_its_reason(git: Git, name: str) -> None:
    content, reason = REFUSED[name]
    with pytest.raises(UnsafeResultError, match=reason) as caught:
        refuse_escapes(git, made(git, {"a.py": "x"}), made(git, {"a.py": "x", **content}))
    assert caught.value.hint


@pytest.mark.parametrize("name", ALLOWED)
def test_an_honest_tree_is_taken(git: Git, name: str) -> None:
    refuse_escapes(git, made(git, {"a.py": "x"}), made(git, {"a.py": "x", **ALLOWED[name]}))


@pytest.mark.parametrize("name", REFUSED)
def test_what_was_there_before_is_not_the_fixers_fault(git: Git, name: str) -> None:
    content, _ = REFUSED[name]
    refuse_escapes(git, made(git, {"a.py": "x", **content}), made(git, {"a.py": "y", **content}))


def test_a_link_that_leads_elsewhere_since_the_fix_is_its_fault(git: Git) -> None:
    before: Content = {"hooks": "->d/.git/hooks", "d/file": "x"}
    with pytest.raises(UnsafeResultError, match="'hooks' is a link that points into git"):
        refuse_escapes(git, made(git, before), made(git, {"hooks": "->d/.git/hooks", "d": "->."}))


def test_a_fix_with_a_link_into_git_through_another_is_not_taken(repository: Repository, fixers_clone: Clone) -> None:
    (fixers_clone.path / "d").symlink_to(".")
    (fixers_clone.path / "hooks").symlink_to("d/.git/hooks")
    with pytest.raises(UnsafeResultError, match="'hooks' is a link that points into git's own"):
        collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)
    assert repository.git.text("for-each-ref", "refs/burnish") == ""


def bare_repository(folder: Path, trap: Path) -> None:
    """A folder that git takes for a repository, with settings that run a program."""
    inner = Git(folder.parent, isolated=True)
    inner.run("init", "--quiet", "--bare", str(folder))
    for name, value in (("core.bare", "false"), ("core.worktree", str(folder)), ("filter.x.clean", str(trap))):
        inner.run("--git-dir", str(folder), "config", name, value)
    for place in ("objects", "refs"):
        (folder / place / "kept").touch()
    (folder / "info" / "attributes").write_text("* filter=x\n")


def test_a_fix_with_a_bare_repository_is_not_taken(repository: Repository, fixers_clone: Clone, tmp_path: Path) -> None:
    bare_repository(fixers_clone.path / "tools", tmp_path / "trap")
    with pytest.raises(UnsafeResultError, match="'tools' would be a repository"):
        collect(repository, fixers_clone, run="r", parent=fixers_clone.head, round=1, summary="", at=1e9)


def test_a_bare_repository_inside_of_a_work_tree_is_not_used(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat\n")
    trap.chmod(0o755)
    work = RepositoryBuilder(tmp_path / "work").commit({"a.py": "x = 1\n"}).path
    bare_repository(work / "tools", trap)
    (work / "tools" / "file").write_text("x")
    with pytest.raises(NotARepositoryError, match="inside the work tree") as caught:
        Repository.discover(work / "tools")
    assert str(work) in caught.value.hint
    assert Repository.discover(work).root == work
    add = Command(argv=("git", "add", "file"), folder=str(work / "tools"), environment={"PATH": "/usr/bin:/bin"})
    run_now(add)
    assert (tmp_path / "sprung").exists(), "the trap should work, or this test shows nothing"


def test_a_bare_repository_of_its_own_is_used(tmp_path: Path) -> None:
    Git(tmp_path, isolated=True).run("init", "--quiet", "--bare", "server")
    assert Repository.discover(tmp_path / "server").common_dir == tmp_path / "server"
