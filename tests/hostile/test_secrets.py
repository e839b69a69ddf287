"""What agents get to see: nothing of the user's secrets, neither in their environment nor in files nor in processes."""

from tests.hostile.scene import CLEAN, SECRET, Scene

_LOOK = f"""
env
cat "$HOME_OF_USER/.ssh/id_ed25519" "$HOME_OF_USER/.netrc" "/proc/self/root$HOME_OF_USER/.netrc"
cp "$HOME_OF_USER/.netrc" "$TMPDIR/copy"; cat "$TMPDIR/copy"
cat "$CHECKOUT/.git/config"
grep -ras . "$CHECKOUT/.git/modules" "$CHECKOUT/.git/worktrees" "$CHECKOUT/.git/credentials" "$CHECKOUT/.git/logs"
for file in /proc/[0-9]*/environ; do tr '\\\\0' '\\n' < "$file"; done
for folder in /proc/[0-9]*/root; do cat "$folder$HOME_OF_USER/.netrc"; done
grep -qras RunStarted "$CHECKOUT/.git/burnish" && echo the ledger was read
echo everything was tried
echo '{CLEAN}' > "$BURNISH_OUTPUT"
"""


def _seen(scene: Scene) -> str:
    """Everything that a curious reviewer could print."""
    scene.configure(_LOOK)
    scene.repository.git.run("config", "remote.origin.url", f"https://user:{SECRET}@example.com/x.git")
    folder = scene.checkout / ".git"
    for name in ("modules/lib/config", "worktrees/second/config.worktree", "credentials"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f'[remote "origin"]\n\turl = https://user:{SECRET}@example.com/{name}\n')
    return _log(scene)


def _log(scene: Scene) -> str:
    ended = scene.burnish("review", "--json", "--protocol", scene.protocol("critic"))
    assert ended.failures == {"critic": ""}
    logs = scene.checkout / ".git" / "burnish" / "runs" / ended.view["run"] / "logs"
    return (logs / "review-1-critic-1.log").read_text(errors="replace")


def test_a_sandboxed_agent_sees_no_secret(confined_scene: Scene) -> None:
    seen = _seen(confined_scene)
    assert "everything was tried" in seen
    assert SECRET not in seen
    assert "the ledger was read" not in seen


def test_the_environment_of_an_agent_is_an_allow_list(open_scene: Scene) -> None:
    open_scene.configure(f"env\necho '{CLEAN}' > \"$BURNISH_OUTPUT\"")
    seen = _log(open_scene)
    assert "BURNISH_ROLE=review" in seen
    assert SECRET not in seen
    assert "USERS_TOKEN" not in seen


def test_without_a_sandbox_files_can_be_read(open_scene: Scene) -> None:
    """As docs/security.md says; if it were not so, the test above would prove nothing."""
    seen = _seen(open_scene)
    assert f"{SECRET}@example.com/modules/lib/config" in seen
    assert "the ledger was read" in seen
