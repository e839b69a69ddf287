"""Parts of something writable that stay as they are: whoever may commit in a clone may not rewire its git."""

import subprocess
from pathlib import Path

import pytest

from burnish.system.process import Command, Finished, run_now
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine, why_not

pytestmark = pytest.mark.skipif(
    why_not(SandboxKind.BUBBLEWRAP) != "", reason=f"optional: {why_not(SandboxKind.BUBBLEWRAP)}"
)

PARTS = ("config", "hooks", "info", "objects/info")
IDENTITY = "-c user.name=x -c user.email=x@example.com"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone as burnish makes it: it has no hooks, and no folder for them either."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", "--template=", str(clone)], check=True)
    (clone / ".git" / "info").mkdir()
    (clone / ".git" / "info" / "exclude").write_text("ignored\n")
    (clone / "app.py").write_text("x = 1\n")
    (tmp_path / "temporary").mkdir()
    return clone


def ran(clone: Path, script: str, *more: str) -> Finished:
    places = Confinement(
        writable=(str(clone),),
        protected=(*(str(clone / ".git" / part) for part in PARTS), *more),
        temporary=str(clone.parent / "temporary"),
    )
    command = Command(argv=("sh", "-c", script), folder=str(clone), environment={"PATH": "/usr/bin:/bin"})
    return run_now(confine(Sandbox(kind=SandboxKind.BUBBLEWRAP), command, places))


def test_an_agent_may_commit_stash_and_branch(clone: Path) -> None:
    script = f"""
    set -e
    git add -A; git {IDENTITY} commit -qm first
    echo 'x = 2' > app.py; git {IDENTITY} stash -q; git stash pop -q; git {IDENTITY} commit -qam second
    git checkout -q -b other; git {IDENTITY} tag v1; git reset -q --hard HEAD~1; git mv app.py moved.py
    git log --format=%s v1
    """
    finished = ran(clone, script)
    assert (finished.code, finished.stdout) == (0, b"second\nfirst\n"), finished


@pytest.mark.parametrize(
    "attempt",
    [
        "echo '[core]' >> .git/config",
        "git config core.fsmonitor evil",
        "rm .git/config",
        "mv .git/config .git/moved",
        "chmod 777 .git/config",
        "echo evil > .git/hooks/pre-commit",
        "mkdir .git/hooks/x",
        "rmdir .git/hooks",
        "mv .git/hooks .git/moved",
        "echo '* filter=evil' > .git/info/attributes",
        "rm .git/info/exclude",
        "mv .git/info .git/moved",
        "echo / > .git/objects/info/alternates",
        "mv .git/objects/info .git/moved",
        "mv .git/objects .git/moved",
        "mv .git moved",
        "rm -rf .git",
        "mount -o remount,rw .git/config",
        "umount .git/hooks",
    ],
)
def test_an_agent_may_not_rewire_its_git(clone: Path, attempt: str) -> None:
    before = {path: path.read_bytes() for path in (clone / ".git").glob("[ci]*/*") if path.is_file()}
    finished = ran(clone, f"{attempt} && echo reached")
    assert finished.code != 0
    assert b"reached" not in finished.stdout
    assert {path: path.read_bytes() for path in before} == before
    assert (clone / ".git" / "config").stat().st_mode & 0o777 != 0o777
    assert list((clone / ".git" / "hooks").iterdir()) == []


def test_git_can_still_be_led_elsewhere(clone: Path) -> None:
    """The limit of it, as docs/security.md says: whoever runs git in a clone after its agent must not rely on this."""
    script = "cp -r .git other; git --git-dir=other config core.pager evil; echo ../other > .git/commondir"
    assert ran(clone, f"{script}; git config core.pager").stdout == b"evil\n"


def test_a_link_in_the_way_protects_and_shows_nothing_elsewhere(clone: Path) -> None:
    """As an agent may leave it that is asked again in the same clone."""
    (clone.parent / "elsewhere").mkdir()
    (clone.parent / "elsewhere" / "key").write_text("key")
    (clone / "link").symlink_to(clone.parent / "elsewhere")
    finished = ran(clone, "cat link/key; echo fine", str(clone / "link" / "key"), str(clone / "link"))
    assert finished.stdout == b"fine\n"


def test_what_has_gone_or_cannot_be_written_is_left_out(clone: Path) -> None:
    finished = ran(clone, "echo fine", str(clone / "no" / "such" / "folder"), "/usr/bin", "~/.profile")
    assert finished.stdout == b"fine\n"
    assert not (clone / "no").exists()
