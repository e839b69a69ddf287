"""Play a script under a built-in protocol and return its trail."""

from burnish.core.events import WorkStarted
from burnish.core.state import Run
from burnish.protocols.loader import load
from burnish.report.words import trail_line as line
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript


def play(script: RehearsalScript) -> Run:
    """The state in which a rehearsal stops."""
    *_, last = Rehearsal(script, load(script.protocol).protocol).play()
    return last.run


def trail(script: RehearsalScript) -> str:
    """One line for each event; starts of work are left out, for their results name them."""
    rehearsal = Rehearsal(script, load(script.protocol).protocol)
    lines: list[str] = []
    before: Run | None = None
    for event, run in rehearsal.play():
        words = line(event, before, run)
        if not isinstance(event, WorkStarted) or script.fallbacks:
            lines.append(words)
        before = run
    return "\n".join(lines)
