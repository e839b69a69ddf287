"""What hostile fixers try, as lines for a shell, beside the work that they were asked for."""

WORK = """
echo 'x = 2' > app.py
echo 'z = 1' > new.py
"""
"""What they were asked for; after it, their tree has this and nothing else."""

FORGED = ("docs/progress/story-change-review-findings-round-1.md", ".agents/tmp/state.json")
_EVIL = "touch $HOME_OF_USER/pwned $CHECKOUT/pwned"

IN_ITS_CLONE = f"""
identity="-c user.name=x -c user.email=x@example.com"
git $identity commit -q -am 'mine' ; git $identity commit -q --amend --allow-empty -m 'rewritten'
git checkout -q --orphan nothing; git $identity commit -q -m 'a new beginning'
git update-ref -d refs/heads/base; git tag v1; git tag -f evil; git branch -f other
git remote add origin "$CHECKOUT"
git config core.fsmonitor '{_EVIL}'; git config core.sshCommand '{_EVIL}'; git config core.worktree /
git config filter.evil.clean '{_EVIL}'; git config diff.external '{_EVIL}'; git config core.editor '{_EVIL}'
mkdir -p .git/info .git/hooks; echo '* filter=evil diff=evil' > .git/info/attributes
for hook in pre-commit commit-msg post-checkout post-commit reference-transaction; do
  printf '#!/bin/sh\\n{_EVIL}\\n' > .git/hooks/$hook; chmod +x .git/hooks/$hook
done
git config core.hooksPath "$PWD/.git/hooks"
mkdir -p {" ".join(f'"$(dirname {name})"' for name in FORGED)}
for record in {" ".join(FORGED)}; do echo 'forged' > $record; done
git init -q inner; git -C inner $identity commit -q --allow-empty -m inner; echo x > inner/file
setsid sh -c 'while :; do sleep 60; done' "$TOKEN" </dev/null >/dev/null 2>&1 &
rm -rf .git/refs; echo garbage > .git/index; echo garbage > .git/HEAD
"""

OUTSIDE = """
git push -q -f "$CHECKOUT" HEAD:refs/heads/main HEAD:refs/heads/change HEAD:refs/tags/v2
echo evil > "$CHECKOUT/app.py"; echo evil > "$CHECKOUT/.git/hooks/pre-push"; rm -rf "$CHECKOUT/.git/refs"
git -C "$CHECKOUT" config core.pager evil; git -C "$CHECKOUT" tag -f v1 change; git -C "$CHECKOUT" branch -D other
echo evil > "$HOME_OF_USER/.profile"; ln -s "$CHECKOUT" out; echo evil > out/kept.py; rm out
"""
"""By the paths that it knows; a sandbox must keep it from them."""

REFUSED = {
    "a link out": "ln -s ../../../etc/passwd leak",
    "an absolute link": "ln -s /etc/passwd leak",
    "a link into git": "ln -s .git/config leak",
    "a folder that is a link": "mkdir f; git rm -q --cached kept.py; rm kept.py; ln -s / kept.py",
    "a huge file": "truncate -s 600M huge",
    "a name that is git's elsewhere": "mkdir git~1; echo evil > git~1/config",
}
"""Trees that no commit is made of."""

ODD = {
    "a name of git's": "mkdir .GIT; echo evil > .GIT/config",
    "removes everything": "find . -mindepth 1 -delete",
    "makes it unusable": "chmod -R 000 .",
    "a pipe in the way": "rm kept.py; mkfifo kept.py",
    "its git is a link": 'rm -rf .git; ln -s "$CHECKOUT/.git" .git',
    "its git is a file": 'rm -rf .git; echo "gitdir: $CHECKOUT/.git" > .git',
    "folders without end": "for n in $(seq 500); do mkdir d; cd d; done; echo x > deep",
    "its answer is a folder": 'mkdir "$BURNISH_OUTPUT"',
    "its answer is a pipe": 'mkfifo "$BURNISH_OUTPUT"',
    "a submodule": "git init -q sub; git -C sub -c user.name=x -c user.email=x@y commit -q --allow-empty -m x;"
    " git add sub;"
    " printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ext::sh -c touch%%20pwned\\n' > .gitmodules",
}
"""Whatever comes of them, nobody is harmed."""
