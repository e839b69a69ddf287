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
    "removes-everything": Attack(script=f"{_UNLOCK} find . -mindepth 1 -delete"),
    "writes-and-restores-times": Attack(
        script=f"{_UNLOCK} touch -r app.py t; echo 'x = 2 / 0' > app.py; touch -r t app.py; rm t"
    ),
    "makes-runnable": Attack(script="chmod +x app.py", only_modes=True),
    "makes-writable": Attack(script="chmod u+w app.py", only_modes=True),
    "makes-unreadable": Attack(script="chmod 000 .", only_modes=True),
}

ON_THE_USER: dict[str, Attack] = {
    "edits": Attack(script='echo evil > "$CHECKOUT/app.py"'),
    "deletes": Attack(script='rm -f "$CHECKOUT/kept.py"'),
    "creates": Attack(script='echo evil > "$CHECKOUT/new.py"'),
    "edits-ignored": Attack(script='echo evil > "$CHECKOUT/ignored.txt"'),
    "through-a-link": Attack(script='ln -s "$CHECKOUT" "$TMPDIR/l"; echo evil >> "$TMPDIR/l/app.py"'),
    "through-a-hard-link": Attack(script='ln "$CHECKOUT/app.py" "$TMPDIR/h"; echo evil >> "$TMPDIR/h"'),
    "through-proc": Attack(script='echo evil >> "/proc/self/root$CHECKOUT/app.py"'),
    "through-its-output": Attack(script='ln -s "$CHECKOUT/app.py" "$BURNISH_OUTPUT"; echo evil >> "$BURNISH_OUTPUT"'),
    "commits": Attack(script=f'cd "$CHECKOUT"; {_COMMIT} --allow-empty -m evil'),
    "amends": Attack(script=f'cd "$CHECKOUT"; {_COMMIT} --amend -m evil'),
    "checks-out": Attack(script='git -C "$CHECKOUT" checkout -q -f other'),
    "tags": Attack(script='git -C "$CHECKOUT" tag evil'),
    "moves-a-ref": Attack(script='git -C "$CHECKOUT" update-ref refs/heads/other HEAD'),
    "removes-a-ref": Attack(script='git -C "$CHECKOUT" tag -d v1'),
    "configures": Attack(script='git -C "$CHECKOUT" config core.fsmonitor evil'),
    "installs-a-hook": Attack(script='cp /bin/true "$CHECKOUT/.git/hooks/post-checkout"'),
    "edits-a-hook": Attack(script='echo evil >> "$CHECKOUT/.git/hooks/pre-push"'),
    "stages": Attack(script='cd "$CHECKOUT"; echo evil > s.py; git add s.py'),
    "removes-objects": Attack(script='rm -rf "$CHECKOUT/.git/objects"/??'),
    "removes-through-the-clone": Attack(script='rm -rf "$(cat .git/objects/info/alternates | head -1)"/??'),
    "forges-a-seal": Attack(
        script='mkdir -p "$CHECKOUT/.git/refs/evil"; cp .git/refs/heads/head "$CHECKOUT/.git/refs/evil/"'
    ),
    "breaks-the-ledger": Attack(script='echo evil > "$CHECKOUT/.git/burnish/evil"'),
    "edits-the-home": Attack(script='echo evil >> "$HOME_OF_USER/.profile"; echo evil >> "$HOME_OF_USER/.netrc"'),
}
"""The user's own, by a path that the reviewer knows."""

_LATER = 'sh -c \'trap "" TERM HUP; while :; do sleep 60; echo evil >> "$1/app.py"; done\' "$TOKEN" "$CHECKOUT"'
_QUIET = "</dev/null >/dev/null 2>&1 &"
BACKGROUND: dict[str, Attack] = {
    "child": Attack(script=f"{_LATER} {_QUIET}"),
    "session": Attack(script=f"setsid {_LATER} {_QUIET}"),
    "orphan": Attack(script=f"( ( setsid {_LATER} {_QUIET} ) & )"),
    "holds-the-pipes": Attack(script=f"setsid {_LATER} &"),
    "without-environment": Attack(script=f'env -i "PATH=$PATH" setsid {_LATER} {_QUIET}'),
}
"""Processes that are left behind and write later; `$TOKEN` is on their command line."""
