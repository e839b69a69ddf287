"""Mistakes that users make: each message names the thing, the hint is what to do about it, and nothing is lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.testing.repositories import RepositoryBuilder, detached_head, no_commits, shallow

Burnish = Callable[..., tuple[int, str, str]]
POLICY = """
protocol = "epic"
records = false
[agents.mine]
kind = "command"
command = ["./answer.sh"]
[roles]
review = "mine"
fix = "mine"
"""
ANSWER = """#!/bin/sh
cat > /dev/null
test "$BURNISH_ROLE" = fix && exit 0
printf '## Critical\\n\\n### 1. It is wrong\\n\\n**File:** a.py:1\\n\\n**Problem:** It is wrong.\\n'
"""


class Place:
    """Where a user types, with the variables of a user who has none."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder))
        for name in list(os.environ):
            if name.endswith(("_KEY", "_TOKEN", "_BASE_REF")) or name.startswith(("CLAUDE_", "BURNISH_", "CI_")):
                monkeypatch.delenv(name)

    def go(self, folder: Path) -> None:
        self._monkeypatch.chdir(folder)


def nowhere(place: Place) -> None:
    place.go(place.folder)


def branch(place: Place) -> None:
    """A branch with a change."""
    builder = RepositoryBuilder(place.folder / "work").commit({"a.py": "A = 1\n"}).branch("change")
    place.go(builder.commit({"a.py": "A = 2\n"}).path)


def on_main(place: Place) -> None:
    place.go(RepositoryBuilder(place.folder / "work").commit({"a.py": "A = 1\n"}).path)


def no_change(place: Place) -> None:
    place.go(RepositoryBuilder(place.folder / "work").commit({"a.py": "A = 1\n"}).branch("change").path)


def empty(place: Place) -> None:
    place.go(no_commits(place.folder / "work").path)


def bare(place: Place) -> None:
    builder = RepositoryBuilder(place.folder / "work").commit({"a.py": "A = 1\n"})
    builder.git.run("clone", "--quiet", "--bare", str(builder.path), str(place.folder / "bare.git"))
    place.go(place.folder / "bare.git")


def detached(place: Place) -> None:
    builder = detached_head(place.folder / "work")
    builder.git.run("branch", "--move", "main", "trunk")
    builder.git.run("branch", "--delete", "--force", "change")
    place.go(builder.path)


def cut_off(place: Place) -> None:
    place.go(shallow(place.folder).path)


def bad_toml(place: Place) -> None:
    branch(place)
    Path("burnish.toml").write_text("protocol = epic\n")


def bad_key(place: Place) -> None:
    branch(place)
    Path("burnish.toml").write_text('[validat]\ntests = "pytest"\n')


Mistake = tuple[Callable[[Place], None], str, str, str]
"""Where the user is, what they type, the message, and the hint."""
_AS_IS = "To review the files as they are: `burnish review --whole`."
MISTAKES: list[Mistake] = [
    (
        branch,
        "burnish reveiw",
        "There is no command 'reveiw'. Did you mean 'review'?",
        "Try 'burnish --help'.",
    ),
    (
        nowhere,
        "burnish review",
        "'…' is not in a Git repository.",
        "Change to a Git repository, or create one with `git init`.",
    ),
    (
        empty,
        "burnish review",
        "There are no commits here yet.",
        "Commit something first: `git commit`.",
    ),
    (
        bare,
        "burnish init",
        "This repository is bare: it has no working tree.",
        "Run 'burnish init' in a clone of it.",
    ),
    (
        detached,
        "burnish review",
        "burnish found no base for 'HEAD': there is no remote HEAD, no main and no master.",
        "Use --base to name the ref that it will be merged into.",
    ),
    (
        cut_off,
        "burnish review",
        "'origin/main' and 'change' have no common commit in this shallow clone.",
        "Fetch the history with `git fetch --unshallow`, or more of it with `git fetch --deepen=100`.",
    ),
    (
        on_main,
        "burnish review",
        "burnish found no base for 'main': it is itself the default base, and there is no remote.",
        f"Work on a branch (git switch --create NAME), name a base with --base, or use --uncommitted. {_AS_IS}",
    ),
    (
        no_change,
        "burnish review",
        "There is nothing to review: 'change' is at the same commit as 'main'.",
        f"Commit the work, or use --uncommitted. {_AS_IS}",
    ),
    (
        branch,
        "burnish review --base nope",
        "There is no branch, tag or commit 'nope'.",
        "`git branch --all` lists the branches.",
    ),
    (
        branch,
        "burnish review --base mian",
        "There is no branch, tag or commit 'mian'.",
        "Did you mean 'main'?",
    ),
    (
        branch,
        "burnish review --staged",
        "There is nothing to review: nothing is staged.",
        "Stage files with `git add`, or use --uncommitted.",
    ),
    (
        branch,
        "burnish review ../outside.py",
        "'../outside.py' is outside this repository.",
        "Name files below …/work, or change to the repository that has it.",
    ),
    (
        branch,
        "burnish review nosuch.py",
        "'nosuch.py' is neither a branch, a commit nor a file.",
        "`git branch --all` lists the branches. For a file, give its path from where you are.",
    ),
    (
        branch,
        "burnish review --output missing/report.json",
        "--output 'missing/report.json' cannot be written: there is no folder 'missing'.",
        "Create it with: mkdir -p missing",
    ),
    (
        branch,
        "burnish review --protocol ./missing.toml",
        "missing.toml: There is no such file.",
        "Check the path; it is relative to the current folder.",
    ),
    (
        branch,
        "burnish review --protocol defualt",
        "There is no protocol 'defualt'.",
        "Did you mean 'default'? Built in: default, epic, ticket, story, panel, drift. Refer to your own by its path.",
    ),
    (
        branch,
        "burnish review --agent cladue",
        "--agent: there is no agent 'cladue'.",
        "Did you mean 'claude'?",
    ),
    (
        branch,
        "burnish fix --max-rounds 99",
        "--max-rounds 99 is not between 1 and 5, the hard cap of 'default'.",
        "Choose fewer rounds, or a protocol with a higher limits.hard_cap.",
    ),
    (
        branch,
        "burnish show",
        "There are no runs here yet.",
        "Start one with 'burnish review' or 'burnish fix'.",
    ),
    (
        branch,
        "burnish review --brief missing.md",
        "The brief 'missing.md' cannot be read: No such file or directory.",
        "Check the path.",
    ),
    (
        branch,
        "burnish review --quiet --verbose",
        "--quiet and --verbose exclude each other.",
        "Try 'burnish review --help'.",
    ),
    (
        bad_toml,
        "burnish review",
        "burnish.toml:1: Invalid value, at column 12.",
        'Put text in quotes: key = "text".',
    ),
    (
        bad_key,
        "burnish review",
        "burnish.toml:1: validat: unknown key.",
        "Did you mean 'validate'?",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: f"{mistake[0].__name__}: {mistake[1]}")
def test_a_mistake_is_named_with_its_remedy(
    burnish: Burnish, folder: Path, monkeypatch: pytest.MonkeyPatch, mistake: Mistake
) -> None:
    where, typed, message, hint = mistake
    where(Place(folder, monkeypatch))
    code, out, err = burnish(*typed.split()[1:])
    told = [line for line in err.replace(str(folder), "…").splitlines() if not line.startswith("note: ")]
    assert (code, out, told) == (2, "", [f"error: {message}", f"hint: {hint}"])


def test_mistakes_about_a_run_that_waits(burnish: Burnish, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run that waits for a person, and everything that can be typed wrongly about it."""
    builder = RepositoryBuilder(folder / "work").executable("answer.sh", ANSWER)
    builder.commit({"a.py": "A = 1\n", "burnish.toml": POLICY}).branch("change").commit({"a.py": "A = 2\n"})
    Place(folder, monkeypatch).go(builder.path)
    assert burnish("fix", "--quiet")[0] == 3
    assert burnish("review", "--quiet")[0] == 1
    rows = [line.split()[:2] for line in burnish("status")[1].splitlines()[1:3]]
    (waiting,) = (name for name, state in rows if state == "waiting")
    (newest,) = (name for name, state in rows if state == "failed")

    def told(*typed: str) -> tuple[int, str]:
        code, _, err = burnish(*typed)
        kept = (line for line in err.splitlines() if line.startswith(("error: ", "hint: ")))
        text = "\n".join(kept).replace(waiting, "WAITING").replace(newest, "NEWEST")
        return code, text.replace("WAITING, NEWEST", "NEWEST, WAITING")  # both may have begun in one second

    no_finding = "error: WAITING has no finding 'deadbeef'.\nhint: 'burnish findings WAITING' lists them."
    mistakes = {
        ("fix", "--protocol", "default"): (
            3,
            (
                "error: Run WAITING of 'change' is waiting for your decision: "
                "1 blocking finding remains after 3 reviews.\n"
                "hint: `burnish status WAITING` shows the choices. To end it and start a new run, add --supersede."
            ),
        ),
        ("decide", waiting, "z"): (
            2,
            (
                "error: 'z' is not a choice of WAITING. Choose one of a, b, c.\n"
                "hint: 'burnish status WAITING' explains them."
            ),
        ),
        ("decide", newest, "a"): (
            2,
            (
                "error: NEWEST has already ended (failed); there is nothing to decide.\n"
                "hint: 'burnish show NEWEST' shows it."
            ),
        ),
        ("show", "20"): (2, "error: '20' matches 2 runs: NEWEST, WAITING.\nhint: Type more of the name."),
        ("show", "19990101"): (
            2,
            "error: There is no run '19990101'.\nhint: 'burnish status' lists the runs of this repository.",
        ),
        ("findings", waiting, "deadbeef"): (2, no_finding),
        ("findings", waiting, "waive", "deadbeef", "--reason", "r"): (2, no_finding),
        ("findings", waiting, "waive"): (
            2,
            "error: 'waive' needs the ID of a finding.\nhint: Try 'burnish findings --help'.",
        ),
        ("findings", waiting, "remove", "deadbeef"): (
            2,
            (
                "error: There is no action 'remove'. The actions are refute, waive, annotate, add, export.\n"
                "hint: Try 'burnish findings --help'."
            ),
        ),
        ("resume", newest): (
            2,
            "error: NEWEST has already ended (failed).\nhint: Start a new one with 'burnish fix' or 'burnish review'.",
        ),
    }
    assert {typed: told(*typed) for typed in mistakes} == mistakes
