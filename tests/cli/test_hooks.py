"""Hooks: kept beside those that are there, taken away exactly, and what they stop. Real git pushes and commits."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from tests.usecases.cloned_projects import READER, Clone
from tests.usecases.sealed_runs import POLICY, problem

from burnish.cli.app import run as burnish
from burnish.usecases.run_hook import PushCheckError, PushResult, check_push
from burnish.usecases.runs import runs_of
from burnish.workspace.pushes import UnreadablePushError, read_pushed

REPORT_ONLY = f"{POLICY}[gate]\nenforce = false\n"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    made = Clone(tmp_path)
    monkeypatch.chdir(made.builder.path)
    return made


def states(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    assert burnish(["hook", "list", "--json"]) == 0
    return {one["name"]: one["state"] for one in json.loads(capsys.readouterr().out)["hooks"]}


def test_a_hook_that_is_there_is_kept_runs_first_and_comes_back_exactly(
    clone: Clone, capsys: pytest.CaptureFixture[str]
) -> None:
    own = clone.hook("pre-push")
    clone.builder.executable(".git/hooks/pre-push", '#!/bin/sh\ncat > "$0.seen"; echo "mine: $1"; exit "${CODE:-0}"\n')
    before = (own.stat().st_ino, own.stat().st_mode, own.read_bytes())
    clone.install("pre-push")
    once = own.read_bytes()
    clone.install("pre-push")
    assert own.read_bytes() == once
    assert states(capsys) == {"pre-push": "installed", "post-commit": "not installed", "pre-commit": "not installed"}

    refused = clone.do("push", "origin", "change", CODE="7")
    assert "mine: origin" in refused.stdout + refused.stderr
    assert "no valid seal" not in refused.stderr
    assert refused.returncode
    refused = clone.do("push", "origin", "change")
    assert "change has no valid seal" in refused.stderr
    assert "refs/heads/change" in clone.hook("pre-push.seen").read_text()

    assert burnish(["hook", "uninstall"]) == 0
    assert (own.stat().st_ino, own.stat().st_mode, own.read_bytes()) == before
    assert not clone.hook("pre-push.before-burnish").exists()
    assert burnish(["hook", "uninstall", "pre-push"]) == 0
    assert own.read_bytes() == before[2]


def test_hooks_of_husky_find_their_files(clone: Clone) -> None:
    """husky sets core.hooksPath and finds the user's script by the name under which its own was called."""
    clone.builder.git.run("config", "core.hooksPath", ".husky/_")
    clone.builder.write({".husky/_/.gitignore": "*\n"})
    clone.builder.executable(".husky/_/pre-push", '#!/usr/bin/env sh\n. "$(dirname "$0")/h"')
    clone.builder.write(
        {
            ".husky/_/h": '#!/usr/bin/env sh\nn=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n'
            '[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\nexit $?\n',
            ".husky/pre-push": "echo husky says no; exit 5\n",
        }
    )
    clone.install("pre-push")
    assert clone.hook("pre-push.before-burnish", ".husky/_").exists()
    refused = clone.do("push", "origin", "change")
    assert "husky says no" in refused.stdout + refused.stderr
    assert "no valid seal" not in refused.stderr


def test_nothing_of_the_user_is_lost(clone: Clone, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    clone.builder.executable(".git/hooks/pre-push", "#!/bin/sh\nexit 0\n")
    clone.install("pre-push")
    installed = clone.hook("pre-push").read_text()
    clone.hook("pre-push").write_text(f"{installed}echo more\n")
    assert states(capsys)["pre-push"] == "edited"
    assert burnish(["hook", "uninstall", "pre-push"]) == 2
    assert burnish(["hook", "install", "pre-push"]) == 2
    assert "was edited" in capsys.readouterr().err
    clone.hook("pre-push").write_text("#!/bin/sh\necho another tool\n")  # as `npm install` does with husky
    assert states(capsys)["pre-push"] == "replaced"
    assert burnish(["hook", "install", "pre-push"]) == 2
    assert "differs from the hook" in capsys.readouterr().err
    assert burnish(["hook", "uninstall", "pre-push"]) == 0
    assert "another tool" in clone.hook("pre-push").read_text()
    clone.builder.git.run("config", "core.hooksPath", str(tmp_path / "everywhere"))
    assert burnish(["hook", "install", "post-commit"]) == 2
    assert "other repositories" in capsys.readouterr().err
    (tmp_path / "everywhere").mkdir()
    (tmp_path / "everywhere" / "pre-push").write_text(installed)  # of a repository that has its hooks there
    assert burnish(["hook", "uninstall", "pre-push"]) == 2
    assert burnish(["uninstall", "--yes"]) == 0
    assert (tmp_path / "everywhere" / "pre-push").read_text() == installed


def test_a_push_needs_a_seal_and_takes_it_along(clone: Clone) -> None:
    clone.install("pre-push")
    refused = clone.do("push", "origin", "change")
    assert refused.returncode == 1
    assert "burnish review --branch change --base origin/main" in refused.stderr
    assert "burnish fix --branch change --base origin/main" in refused.stderr
    assert "git push --no-verify" in refused.stderr
    assert clone.run().seal
    done = clone.do("push", "origin", "change")
    assert done.returncode == 0, done.stderr
    tree = clone.repository.tree_of("change")
    assert [ref for ref in clone.remote_refs() if ref.startswith(f"refs/burnish/seals/{tree}/")]
    assert not [ref for ref in clone.remote_refs() if ref.startswith("refs/burnish/kept/")]


NONE = "0" * 40


def pushed(clone: Clone, *lines: tuple[str, str, str], remote: str = "origin") -> PushResult:
    """What the hook finds of a push: the local ref, the remote one, and what is there now."""
    commits = [clone.repository.commit_of(local) if local != "(delete)" else NONE for local, _, _ in lines]
    told = [f"{local} {commit} {ref} {there}" for (local, ref, there), commit in zip(lines, commits, strict=True)]
    return check_push(clone.repository, remote, read_pushed("\n".join(told)))


def test_only_what_is_merged_is_checked_and_one_bad_branch_stops_all(clone: Clone) -> None:
    head = "refs/heads/change"
    assert pushed(clone, ("(delete)", "refs/heads/other", "1" * 40)).ok
    for elsewhere in ("refs/tags/v1", "refs/burnish/seals/x", "refs/notes/commits"):
        assert pushed(clone, (head, elsewhere, NONE)).checks == ()
    assert pushed(clone, ("refs/heads/main", "refs/heads/empty", NONE)).ok  # nothing that the base does not have
    assert not pushed(clone, ("refs/heads/main", "refs/heads/empty", NONE), (head, head, NONE)).ok
    with pytest.raises(UnreadablePushError):
        read_pushed("something else")


def test_a_push_to_the_base_is_a_change_like_any_other(clone: Clone) -> None:
    git, repository = clone.builder.git, clone.repository
    there = repository.commit_of("main")
    refused = pushed(clone, ("refs/heads/change", "refs/heads/main", there))
    assert refused.checks[0].steps[0] == "burnish review --branch change --base origin/main"
    git.run("branch", "--force", "main", "change")  # a local main that holds the change is no base for it
    assert not pushed(clone, ("refs/heads/change", "refs/heads/elsewhere", NONE)).ok
    assert clone.run(base="origin/main").seal
    assert pushed(clone, ("refs/heads/main", "refs/heads/main", there)).ok
    with pytest.raises(PushCheckError, match="not here"):
        pushed(clone, ("refs/heads/main", "refs/heads/main", "1" * 40))
    empty = clone.folder / "empty.git"
    git.run("init", "--quiet", "--bare", str(empty))
    git.run("remote", "add", "empty", str(empty))
    first = pushed(clone, ("refs/heads/main", "refs/heads/main", NONE), remote="empty")
    assert first.ok
    assert "nothing to compare it with" in first.checks[0].reason


def test_a_seal_that_cannot_be_pushed_is_a_warning_with_the_command(clone: Clone) -> None:
    clone.install("pre-push")
    assert clone.run().seal
    refuse = clone.remote / "hooks" / "update"
    refuse.parent.mkdir(exist_ok=True)
    refuse.write_text("#!/bin/sh\ncase $1 in refs/burnish/*) exit 1;; esac\n")
    refuse.chmod(0o755)
    result = pushed(clone, ("refs/heads/change", "refs/heads/change", NONE))
    assert result.ok
    assert "the seals were not pushed" in result.warning
    assert "git push --no-verify origin refs/burnish/seals/" in result.warning


def test_a_base_that_does_not_enforce_lets_a_push_go_and_says_so(tmp_path: Path) -> None:
    clone = Clone(tmp_path, REPORT_ONLY)
    head = ("refs/heads/change", "refs/heads/change", NONE)
    without = pushed(clone, head)
    assert without.ok
    assert "has no seal" in without.checks[0].reason
    assert clone.run([problem()]).seal
    reported = pushed(clone, head)
    assert reported.ok
    assert "NOT approved" in reported.checks[0].reason


@pytest.mark.parametrize("name", ["pre-push", "post-commit", "pre-commit"])
def test_a_hook_whose_burnish_is_gone_says_so(clone: Clone, name: str) -> None:
    clone.install(name)
    script = clone.hook(name)
    script.write_text(script.read_text().replace(sys.executable, "/gone/python"))
    programs = clone.folder / "programs"
    programs.mkdir()
    for program in ("git", "sh", "cat", "dirname", "head", "tr", "env"):
        (programs / program).symlink_to(shutil.which(program) or "")
    path = {"PATH": str(programs)}
    if name == "pre-push":
        done = clone.do("push", "origin", "change", **path)
        assert "git push --no-verify" in done.stderr
    else:
        done = clone.do("commit", "--allow-empty", "-m", "Nothing", **path)
    assert "nothing was checked" in done.stderr
    assert bool(done.returncode) is (name != "post-commit")


def test_a_commit_reviews_exactly_what_is_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`git commit --all` has an index of its own: what is in the repository's index is not what is committed."""
    clone = Clone(tmp_path, READER)
    monkeypatch.chdir(clone.builder.path)
    clone.install("pre-commit")
    (clone.builder.path / "app.py").write_text("broken\n")
    stopped = clone.do("commit", "--all", "--message", "Break it")
    assert stopped.returncode == 1, stopped.stderr
    assert "mend it" in stopped.stderr
    assert "git commit --no-verify" in stopped.stderr
    assert clone.do("commit", "--allow-empty", "--message", "Nothing is staged").returncode == 0
    inside = clone.do("commit", "--all", "--message", "By an agent", BURNISH_RUN="run-1")
    assert inside.returncode == 0, inside.stderr


def test_a_commit_is_reviewed_in_the_background_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = Clone(tmp_path, READER)
    monkeypatch.chdir(clone.builder.path)
    clone.install("post-commit")
    # A module of the change must not become part of burnish.
    (clone.builder.path / "msgspec.py").write_text('raise SystemExit("imported from the change")\n')
    clone.do("add", "--all")
    inside = clone.do("commit", "--message", "By an agent", BURNISH_RUN="run-1")
    assert (inside.returncode, inside.stderr) == (0, "")
    (clone.builder.path / ".git" / "rebase-merge").mkdir()
    assert burnish(["hook", "run", "post-commit"]) == 0
    (clone.builder.path / ".git" / "rebase-merge").rmdir()
    assert not (clone.repository.state_dir / "ledger.db").exists()
    done = clone.do("commit", "--amend", "--no-edit")
    assert (done.returncode, done.stderr) == (0, "")
    with runs_of(clone.repository) as runs:
        (name,) = runs.names()
        assert runs.load(name).subject.head == clone.builder.head
    assert any(burnish(["wait", name]) == 0 for _ in range(10))  # on a busy machine it may not have begun yet
    assert burnish(["hook", "run", "post-commit"]) == 0
    with runs_of(clone.repository) as runs:
        assert runs.names() == [name]
