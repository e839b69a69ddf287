"""What hostile reviewers try, as lines for a shell. The working directory is the clone; `$CHECKOUT` is the user's."""

from burnish.core.values import Value

_UNLOCK = "test -w app.py || chmod -R u+w .;"
"""The clone is not writable even without a sandbox; whoever wants to write must want to."""
_COMMIT = "git -c user.name=x -c user.email=x@example.com commit -q --no-verify"


class Attack(Value):
    """One attempt to change something."""

    script: str
    only_modes: bool = False
    """It changes modes alone, which Landlock cannot forbid, but the comparison sees."""


ON_THE_CLONE: dict[str, Attack] = {
    "edits": Attack(script=f"{_UNLOCK} echo evil > app.py"),
    "appends": Attack(script=f"{_UNLOCK} echo evil >> kept.py"),
    "deletes": Attack(script=f"{_UNLOCK} rm kept.py"),
    "creates": Attack(script=f"{_UNLOCK} echo evil > new.py"),
    "creates-ignored": Attack(script=f"{_UNLOCK} echo evil > ignored.txt"),
    "makes-a-folder": Attack(script=f"{_UNLOCK} mkdir empty"),
    "makes-a-pipe": Attack(script=f"{_UNLOCK} mkfifo pipe"),
    "renames": Attack(script=f"{_UNLOCK} mv kept.py moved.py"),
    "replaces-a-link": Attack(script=f"{_UNLOCK} ln -sfn kept.py link"),
    "commits": Attack(script=f"{_UNLOCK} echo evil > app.py; git add -A; {_COMMIT} -m mine"),
    "commits-nothing": Attack(script=f"{_UNLOCK} {_COMMIT} --allow-empty -m mine"),
    "amends": Attack(script=f"{_UNLOCK} {_COMMIT} --amend -m mine"),
    "checks-out": Attack(script=f"{_UNLOCK} git checkout -q -f base"),
    "resets": Attack(script=f"{_UNLOCK} git reset -q --hard base"),
    "stages": Attack(script=f"{_UNLOCK} git update-index --chmod=+x app.py"),
    "tags": Attack(script=f"{_UNLOCK} git tag mine"),
    "moves-a-ref": Attack(script=f"{_UNLOCK} git update-ref refs/heads/head refs/heads/base"),
    "moves-the-base": Attack(script=f"{_UNLOCK} git update-ref refs/heads/base refs/heads/head"),
    "moves-head": Attack(script=f"{_UNLOCK} git symbolic-ref HEAD refs/heads/base"),
    "configures": Attack(script=f"{_UNLOCK} git config core.pager evil"),
    "adds-a-remote": Attack(script=f'{_UNLOCK} git remote add origin "$CHECKOUT"'),
    "installs-a-hook": Attack(script=f"{_UNLOCK} mkdir -p .git/hooks; cp /bin/true .git/hooks/post-checkout"),
    "stores-an-object": Attack(script=f"{_UNLOCK} echo evil | git hash-object -w --stdin"),
    "borrows-elsewhere": Attack(script=f"{_UNLOCK} echo / >> .git/objects/info/alternates"),
    "grafts": Attack(script=f"{_UNLOCK} git replace head base"),
    "ignores": Attack(script=f"{_UNLOCK} echo '*' > .git/info/exclude"),
    "removes-git": Attack(script=f"{_UNLOCK} rm -rf .git"),
    "replaces-git": Attack(script=f'{_UNLOCK} rm -rf .git; ln -s "$CHECKOUT/.git" .git'),
    "removes-everything": Attack(script=f'{_UNLOCK} find . -mindepth 1 -delete'),
    "writes-and-restores-times": Attack(script=f"{_UNLOCK} touch -r app.py t; echo 'x = 2 / 0' > app.py; touch -r t app.py; rm t"),
    "makes-runnable": Attack(script="chmod +x app.py", only_modes=True),
    "makes-writable": Attack(script="chmod u+w app.py", only_modes=True),
    "makes-unreadable": Attack(script="chmod 000 .", only_modes=True),
}
