"""Whole rounds: what burnish adds to the time of its agents, on a small change, a large one, and between two agents."""

import subprocess
from collections.abc import Iterator

from benchmarks.measure import Figure, compare
from benchmarks.project import CLEAN, Project, found, project
from burnish.core.events import AnyEvent, Fixed, Reviewed, WorkStarted, decode
from burnish.ledger.sqlite import open_ledger

TIMES = 5
REVIEWERS = 5
FILES, LINES = 300, 167
_SLOW_SECONDS = 2
_ROUNDS = f"""case $BURNISH_ROLE-$BURNISH_ROUND in
  review-1|review-2|review-3) {found("At $(date +%s.%N)")} ;;
  review-*) echo '{CLEAN}' ;;
  fix-*) echo "x = 1$BURNISH_ROUND" > app.py; date +%s.%N ;;
esac"""
"""Every agent says when it is about to end: a reviewer in the title of its finding, a fixer in its summary."""


def figures() -> Iterator[Figure]:
    yield _instant()
    yield _slow()
    yield _large()
    yield from _reactions()


def _instant() -> Figure:
    with project(f"echo '{CLEAN}'") as made:
        made.repository.commit({"app.py": "x = 2\n"})
        return _round(made, f"review by {REVIEWERS} instant reviewers", f"the {REVIEWERS} processes alone", limit=250)


def _slow() -> Figure:
    with project(f"sleep {_SLOW_SECONDS}; echo '{CLEAN}'") as made:
        made.repository.commit({"app.py": "x = 2\n"})
        name = f"review by {REVIEWERS} reviewers that take {_SLOW_SECONDS} s"
        return _round(made, name, f"the {REVIEWERS} processes alone", limit=2.5)


def _round(made: Project, name: str, against: str, limit: float) -> Figure:
    protocol = made.protocol(REVIEWERS)
    return compare(
        name,
        lambda: made.burnish("review", "--json", "--protocol", protocol, "--allow-unexamined"),
        lambda: made.agents(REVIEWERS),
        against=against,
        limit=limit,
        times=TIMES,
    )


def _large() -> Figure:
    """One instant reviewer on a diff of 300 files and 50,000 lines."""
    with project(f"echo '{CLEAN}'") as made:
        text = "".join(f"value_{line} = compute({line}, {line} * 2)\n" for line in range(LINES))
        made.repository.commit({f"package/module_{number}.py": text for number in range(FILES)})
        protocol = made.protocol(1)

        def bare() -> None:
            command = ["git", "diff", "--no-ext-diff", "main...change"]
            subprocess.run(command, cwd=made.repository.path, stdout=subprocess.DEVNULL, check=True)
            made.agents(1)

        return compare(
            f"review of {FILES} files, {FILES * LINES:,} lines, by an instant reviewer",
            lambda: made.burnish("review", "--json", "--protocol", protocol, "--allow-unexamined"),
            bare,
            against="git diff and the process",
            limit=60,
            times=TIMES,
        )


def _reactions() -> Iterator[Figure]:
    """From an agent's last word to the start of the next one, by the times of events. The slowest counts."""
    with project(_ROUNDS) as made:
        made.repository.commit({"app.py": "x = 0\n"})
        made.burnish("fix", "--json", "--protocol", made.protocol(1, reviews=4))
        with open_ledger(made.repository.path / ".git" / "burnish") as ledger:
            events = [decode(event.body) for event in ledger.read(ledger.streams("run/")[-1])]
    yield _reaction("from the end of a reviewer to the start of the fixer", events, Reviewed, limit=1)
    yield _reaction("from the end of a fixer to the start of the next reviewer", events, Fixed, limit=1)


def _reaction(name: str, events: list[AnyEvent], kind: type[Reviewed | Fixed], limit: float) -> Figure:
    pauses: list[float] = []
    for number, event in enumerate(events):
        started = [later.at for later in events[number:] if isinstance(later, WorkStarted) and later.agent]
        ended = _said(event) if isinstance(event, kind) else None
        if ended is not None and started:
            pauses.append(started[0] - ended)
    return Figure(name=name, ours=max(pauses), peer=1.0, against="one second", limit=limit)


def _said(event: Reviewed | Fixed) -> float | None:
    """When an agent was about to end, by its own word."""
    match event:
        case Fixed():
            return float(event.summary)
        case Reviewed():
            return float(event.answer.findings[0].title.split()[-1]) if event.answer.findings else None
