"""The guard: which commands of an agent are denied, and which are not."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.usecases.guard_command import why_denied

DENIED = (
    "function f { git push -f; }; f",
    "git -c alias.p='!git push -f' p",
    "git submodule foreach git push -f",
    "git bisect run git push -f",
    'git push $"--force"',
    "env -S 'git push -f'",
    "bash <(echo git push -f)",
    "source <(echo git push -f)",
    "git commit --no-verify -m x",
    "git commit -n -m x",
    "git commit -nm x",
    'git commit -anm "x"',
    "git commit -an",
    "git commit -am x -n",
    "git commit --no-verif",
    'git commit --no-"verify" -m x',
    "git commit --no\\-verify",
    "git commit -m x --no-verify",
    'git  commit   -m "a b"   --no-verify',
    "GIT_AUTHOR_NAME=x git commit -n",
    "/usr/bin/git commit --no-verify",
    "git -C sub commit --no-verify",
    "git --git-dir=.git --work-tree . commit -n",
    "cd x && git commit -n -m y",
    "(cd x; git commit -n)",
    "true || git push --force",
    "git push -f",
    "git push --force origin main",
    "git push origin main --force",
    "git push -fu origin HEAD",
    "git push -uf origin HEAD",
    "git push --force-with-lease",
    "git push --force-with-lease=main:abc origin main",
    "git push origin +main",
    "git push origin +HEAD:main",
    "git push --mirror",
    "git push --no-verify",
    "git push origin HEAD --no-verify",
    "git -c core.hooksPath=/dev/null commit -m x",
    "git -c core.hookspath= push",
    "git -c CORE.HOOKSPATH=x status",
    "git -ccore.hooksPath=/dev/null commit",
    "git --config-env=core.hooksPath=X commit",
    "git --config-env core.hooksPath=X commit",
    "git config core.hooksPath /dev/null",
    "git config --global core.hooksPath /tmp/x",
    "git config --unset core.hooksPath",
    "git config set core.hooksPath x",
    "git config unset core.hooksPath",
    "git config --add core.hooksPath x",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null git commit -m x",
    "export GIT_CONFIG_KEY_0=core.hooksPath",
    "env GIT_CONFIG_PARAMETERS=\"'core.hooksPath=/dev/null'\" git commit",
    "sh -c 'git commit --no-verify'",
    'bash -lc "git push -f"',
    "bash -c \"cd x && git commit -n -m 'y'\"",
    "sudo -u bob git push --force",
    "env FOO=1 git commit -n",
    "timeout 5 git push --force",
    "nohup git push -f &",
    "command git commit -n",
    "time git push -f",
    "echo $(git push --force)",
    "echo `git push -f`",
    'x="$(git commit -n -m y)"',
    "if git push -f; then echo; fi",
    "for i in 1; do git commit -n; done",
    "while ! git push --force; do sleep 1; done",
    "find . -name x -exec git commit -n {} \\;",
    "echo --no-verify | xargs git commit -m x",
    "xargs git push --force < names",
    'eval "git commit --no-verify"',
    "eval git commit -n",
    "F=--no-verify; git commit $F -m x",
    'F="--force"; git push $F',
    'F=-f; git push "$F" origin',
    'OPTS="origin --force"; git push $OPTS',
    "git push --$(echo force)  --force",
    'g() { git commit "$@"; }; g --no-verify',
    "alias gp='git push --force'",
    "GIT=git; $GIT commit --no-verify",
    "$(which git) push -f",
    'g""it commit -n',
    '"git" "push" "--force"',
    "git commit $'--no-verify'",
    "git commit $'\\x2d\\x2dno-verify'",
    "git push {--force,origin}",
    "git -c alias.ci='commit --no-verify' ci",
    "git -c alias.x='!git push --force' x",
    "git ci --no-verify",
    "git yolo --force",
    "git merge --no-verify x",
    "git rebase --no-verify main",
    "git am -n x.patch",
    "git submodule foreach 'git push --force'",
    "git rebase -x 'git commit --no-verify' main",
    "python3 -c \"import subprocess; subprocess.run(['git','commit','--no-verify'])\"",
    'node -e \'require("child_process").execSync("git push --force")\'',
    'echo "git push --force" | sh',
    'git commit -m "unclosed --no-verify',
    "su bob -c 'git push --force'",
    "git push -q -f",
    "git push origin HEAD:main -f 2>&1 | tail -5",
    'git add . && git commit -q -m "x" --no-verify && git push',
    "git commit --amend --no-edit --no-verify",
    "git clone -c core.hooksPath=/dev/null x",
    'g() { git commit "$@"; }; g -n',
    "echo -f | xargs git push",
    "git commit \\\n  --no-verify",
    "git commit -m 'a' ; git push \\\n -f",
    "git stash && git push --force && git stash pop",
    "tmux send-keys 'git push --force' Enter",
    "busybox sh -c 'git commit -n'",
    "git push --force-if-includes --force-with-lease",
    "git commit -S -n -m x",
    "git -c user.name=x commit -n",
    "bash <<EOF\ngit commit -n\nEOF",
    "cat <<EOF\n$(git push --force)\nEOF",
    "bash <<'E'\ngit push -f\nE\n",
    "git commit -m \"$(cat <<'EOF'\nhello\nEOF\n)\" --no-verify",
    "python3 - <<'E'\nimport os; os.system('git push --force')\nE",
    "sh <<< 'git push -f'",
    "git status\ngit push -f",
)
HARMLESS = (
    'git commit -m "never use --no-verify"',
    "git commit -m 'use -n' -m '-n'",
    "git commit -m -n",
    "git commit -mn",
    "git commit --message --no-verify",
    'git commit --message="--no-verify and --force"',
    "git commit -F -n",
    "git commit -v -m x",
    "git commit -S -m x",
    "git commit -Sn -m x",
    "git commit -uno -m x",
    'git commit -am "x"',
    "git commit --amend --no-edit",
    "git commit -m x -- -n",
    "git push",
    "git push -u origin HEAD",
    "git push origin main",
    "git push -n",
    "git push --dry-run origin main",
    "git push origin :old",
    "git push --delete origin old",
    "git push --follow-tags",
    "git push -o ci.skip origin HEAD",
    "git push --no-force-with-lease origin x",
    "git log -n 5",
    "git log --grep=--no-verify",
    "git log -n5 --format=%s",
    'git grep -n "git push --force"',
    "git grep -- --no-verify",
    'grep -rn "git commit --no-verify" .',
    "rg 'git push --force|--no-verify' docs",
    'echo "do not run git push --force"',
    "echo git commit -n",
    "printf '%s\\n' \"git push -f\"",
    "cat docs/git.md | grep -n -- --force",
    "git checkout -f main",
    "git checkout --force main",
    "git clean -fdx",
    "git branch -f x HEAD",
    "git tag -f v1",
    "git rm -f a",
    "git add -f dist/x",
    "git add -n .",
    "git fetch --force",
    "git fetch -f origin",
    "git worktree remove --force x",
    "git stash push -m x",
    "git config core.hooksPath",
    "git config --get core.hooksPath",
    "git config get core.hooksPath",
    "git config --list",
    "git config user.name x",
    "git -c user.name=x commit -m y",
    "git -c color.ui=never status",
    'rm -f x; git push origin "$BRANCH"',
    'rm -f x && git push origin "$(git branch --show-current)"',
    'git commit -m "$MSG"',
    'git commit -m "Explain --force" && git push origin "$B"',
    "git cherry-pick -n abc",
    "git revert -n abc",
    "git merge -n x",
    "git diff --no-index a b",
    "git rebase --no-verify-signatures main",
    "git show HEAD --no-patch",
    "git status",
    "git submodule foreach 'git fetch'",
    "git rebase -x 'make test' main",
    "npm install --force",
    "docker rm -f git-server",
    "sed -n '1,5p' .gitignore",
    "head -n 3 .github/workflows/ci.yml",
    "tail -n 20 git.log; tail -f git.log",
    "ls -f .git",
    "python3 -c \"print('git')\"",
    "python3 tools/git_force.py --force",
    "make -n git",
    "bash scripts/git-push.sh -f",
    "bash -c 'git status'",
    'sh -c "git log -n 3"',
    "find . -name '*.git' -exec rm -f {} \\;",
    "env FOO=1 git commit -m x",
    "sudo git pull",
    "ssh git@host ls -n",
    "xargs git add < names",
    'for f in a b; do git add "$f"; done',
    'echo "git" | wc -n',
    "case $x in git) echo -n hi;; *) true;; esac",
    "git push origin HEAD:refs/heads/no-verify-docs",
    "git switch -c no-verify",
    "git log --no-verify-x",
    "git remote prune origin -n",
    "git am x.patch",
    "git format-patch -n HEAD~2",
    "gitk -n 5",
    "git init -q && git commit -qm x --allow-empty",
    "test -f .git/HEAD && git status",
    '[ -n "$X" ] && git push origin "$X"',
    '[[ -f x ]] && git commit -m "$X"',
    "git push origin $(git rev-parse --abbrev-ref HEAD)",
    "git commit -m \"$(cat <<'EOF'\nfix: explain --no-verify and --force\n\nIt's git's core.hooksPath -n -f.\nEOF\n)\"",
    "cat > x.sh <<'E'\ngit push --force\nE",
    "git commit -F - <<'E'\nmention --no-verify\nE",
    "cat <<'EOF' > a.md\nDon't `git commit -n`\nEOF",
    "gh pr create --title x --body \"$(cat <<'EOF'\nNever `git push --force`, don't.\nEOF\n)\"",
)
PIECES = (
    *("git", "commit", "push", "-n", "--force", "$(", ")", "`", '"', "'", "\\", "{", "}", "<<EOF", "\n", ";", "|", "&"),
    *("<", ">", "${x:-", "#", "sh -c", "eval", "$'", "core.hooksPath=", "&&", "[[", "((", "\x00", "é", " "),
)


def test_every_way_past_the_hooks_is_denied() -> None:
    assert [command for command in DENIED if not why_denied(command)] == []


def test_every_harmless_command_passes() -> None:
    assert [command for command in HARMLESS if why_denied(command)] == []


@given(st.lists(st.sampled_from(PIECES), max_size=25))
def test_no_text_breaks_it(pieces: list[str]) -> None:
    assert isinstance(why_denied("".join(pieces)), str)


@pytest.mark.parametrize("text", ["git " + "x " * 300_000, "git " + "$(" * 5_000, "eval " * 2_000 + "git push -f"])
def test_a_long_command_is_not_waited_for(text: str) -> None:
    assert bool(why_denied(text)) == text.endswith("-f")


def asked(event: Any) -> tuple[int, str]:
    """What the program answers a client."""
    raw = event if isinstance(event, str) else json.dumps(event)
    command = [sys.executable, "-P", "-m", "burnish.usecases.guard_command"]
    done = subprocess.run(command, input=raw, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def test_the_program_denies_with_a_reason() -> None:
    code, told = asked({"tool_name": "Bash", "tool_input": {"command": "git push -f"}})
    assert (code, told.splitlines()[0].split(".")[0]) == (
        2,
        "burnish denies this command: it overwrites commits on the remote",
    )
    assert asked({"tool_name": "shell", "tool_input": {"command": ["git", "push", "-f"]}})[0] == 2
    assert asked({"tool_name": "Bash", "tool_input": {"command": "git push"}}) == (0, "")


def test_what_cannot_be_read_is_denied_where_it_mentions_the_words() -> None:
    assert asked('{"tool_input": {"command": "git push --force"')[0] == 2
    assert asked('{"tool_input": {"command": "ls"')[0] == 0
    assert asked({"tool_input": {"file_path": "/git/x"}})[0] == 0
