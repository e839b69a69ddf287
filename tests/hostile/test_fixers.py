"""Hostile fixers: what lands is one commit, forward, with what is legitimate; or nothing at all."""

import pytest

from burnish.system.sandbox import SandboxKind
from tests.hostile import fixers
from tests.hostile.scene import CLEAN, FOUND, Ended, Scene, changed, content, processes_with

_FIRST_FINDS = f"if [ $BURNISH_ROUND = 1 ]; then echo '{FOUND}'; else echo '{CLEAN}'; fi"
_BY_THE_LANDING = {
    *(".git/index", ".git/logs/HEAD", ".git/logs/refs/heads/change", ".git/refs/heads/change"),
    *(".git/ORIG_HEAD", ".git/AUTO_MERGE", "app.py", "new.py"),
}
"""What a fast-forward of the branch that is checked out changes."""
_A_SAMPLE = ("a link out", "a huge file")


def _fixed(scene: Scene, script: str) -> Ended:
    scene.configure(_FIRST_FINDS, f"( {script}\n) >/dev/null 2>&1\necho Repaired.")
    return scene.burnish("fix", "--json", "--protocol", scene.protocol("critic", reviews=2))


def _assert_harmless(scene: Scene, before: dict[str, str], home: dict[str, str]) -> None:
    """Nothing but the branch under review may have moved."""
    now = content(scene.home)
    assert {name: now[name] for name in now if not name.startswith(".cache")} == home
    assert scene.leftovers() == []
    assert processes_with(scene.token) == []
    refs = (".git/refs/heads/main", ".git/refs/heads/other", ".git/refs/tags", ".git/config", ".git/hooks", ".git/HEAD")
    assert [name for name in changed(before, content(scene.checkout)) if name.startswith(refs)] == []


def test_what_lands_is_one_commit_with_the_legitimate_change(any_scene: Scene) -> None:
    outside = "" if any_scene.kind is SandboxKind.NONE else fixers.OUTSIDE
    git = any_scene.repository.git
    any_scene.configure("")
    home = content(any_scene.home)
    script = f"{fixers.WORK}{outside}{fixers.IN_ITS_CLONE}"
    any_scene.configure(_FIRST_FINDS, f"( {script}\n) >/dev/null 2>&1\necho Repaired.")
    before, head = content(any_scene.checkout), any_scene.repository.head
    ended = any_scene.burnish("fix", "--json", "--protocol", any_scene.protocol("critic", reviews=2))
    assert ended.view["outcome"] == "approved", ended
    assert git.text("rev-list", "--parents", f"{head}..change").split() == [any_scene.repository.head, head]
    assert git.text("diff", "--name-status", head, "change").splitlines() == ["M\tapp.py", "A\tnew.py"]
    assert (any_scene.checkout / "app.py").read_text() == "x = 2\n"
    assert set(changed(before, content(any_scene.checkout))) <= _BY_THE_LANDING
    assert git.text("status", "--porcelain") == ""
    _assert_harmless(any_scene, before, home)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in _A_SAMPLE else pytest.mark.prove) for name in fixers.REFUSED]
)
def test_a_tree_that_reaches_out_is_refused(open_scene: Scene, name: str) -> None:
    open_scene.configure("")
    home, head = content(open_scene.home), open_scene.repository.head
    ended = _fixed(open_scene, f"{fixers.WORK}{fixers.REFUSED[name]}")
    assert ended.view["outcome"] == "did-not-run"
    fix = ended.view["rounds"][0]["fix"]
    assert (fix["status"], fix["commit"]) == ("did-not-run", None)
    assert ended.code == 4
    assert open_scene.repository.git.text("diff", "--name-only", head, "change") in ("", "burnish.toml")
    _assert_harmless(open_scene, content(open_scene.checkout), home)


@pytest.mark.prove
@pytest.mark.parametrize("name", fixers.ODD)
def test_whatever_a_fixer_leaves_is_survived(any_scene: Scene, name: str) -> None:
    any_scene.configure("")
    home = content(any_scene.home)
    ended = _fixed(any_scene, f"{fixers.WORK}{fixers.ODD[name]}")
    assert ended.view["state"] == "ended"
    assert b"Traceback" not in ended.stderr
    commits = any_scene.repository.git.text("log", "--format=%an %s", "main..change").splitlines()
    assert len([line for line in commits if "fix: address code review round 1" in line]) <= 1
    names = any_scene.repository.git.text("ls-tree", "-r", "-t", "--name-only", "change").lower().splitlines()
    assert not any(".git" in name.split("/") for name in names)
    assert not (any_scene.checkout / "pwned").exists()
    _assert_harmless(any_scene, content(any_scene.checkout), home)


def test_a_desk_that_became_a_link_leads_nowhere(confined_scene: Scene) -> None:
    """Hooks and a second try run in the same places; a fixer may have put links there."""
    hook = confined_scene.checkout / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nsh ./lint.sh\n")
    hook.chmod(0o755)
    script = """
    desk=$(dirname "$BURNISH_OUTPUT")
    for place in "$TMPDIR" "$desk/tmp" "$desk" "$BURNISH_FINDINGS_FILE"; do
      test -L "$place" && echo evil > "$CHECKOUT/pwned"
      rm -rf "$place" 2>/dev/null; ln -sfn "$CHECKOUT" "$place"
    done
    echo 'echo evil > "$TMPDIR/pwned"; echo evil > '"$CHECKOUT/pwned"'; exit 1' > lint.sh
    """
    ended = _fixed(confined_scene, f"{fixers.WORK}{script}")
    assert ended.view["rounds"][0]["fix"]["status"] == "did-not-run"
    assert "pre-commit" in ended.view["reason"]
    assert not (confined_scene.checkout / "pwned").exists()
    assert confined_scene.leftovers() == []
