"""What a person sees at the end of a command, on terminals of two widths, in colour and without, and through a pipe."""

import re
import signal
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.core.findings import Finding, Location, Severity
from tests.end_to_end.answers import findings
from tests.end_to_end.machine import CRASHES, HANGS, Machine, says, writes
from tests.end_to_end.plots import content, furnished
from tests.end_to_end.screen import Screen
from tests.end_to_end.simple import policy

WRONG = Finding(
    severity=Severity.CRITICAL,
    title="The total is computed twice and the second value is thrown away",
    location=Location(file="app.py", line=3),
    problem="What the first computation gives is never used.",
    suggestion="Keep one of them, and return it.",
)
MINOR = Finding(severity=Severity.LOW, title="A name says nothing", location=Location(file="b.py", line=2))
FIX = f"{writes('app.py', content('app.py', 1))}\necho 'removed the second computation'"
FOUND, CLEAN = says(findings((WRONG, MINOR))), says(findings(()))
_IN_COLOUR = re.compile(r"\x1b\[\d+m")


def machine_for(folder: Path, conduct: dict[str, str]) -> Machine:
    machine = Machine(folder)
    script = machine.script(conduct)
    return furnished(machine, policy(f'["sh", "{script}"]', "epic"))


def screen(machine: Machine, columns: int | None, *arguments: str, colour: bool = False) -> Screen:
    """A pipe is asked for colour, too, and gets none."""
    variables = {} if colour else {"NO_COLOR": "1"}
    return Screen(machine.root, {**machine.environment, **variables}, columns, *arguments)


def shown(on: Screen) -> str:
    """What it shows, without what differs from run to run."""
    text = re.sub(r"\d{8}-\d{6}-\w{6}", "20260101-120000-abcdef", on.text())
    return re.sub(r"\b[0-9a-f]{12}\b", "0123456789ab", text)


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int | None, bool], str]:
    machine = machine_for(tmp_path_factory.mktemp("reviewed"), {"review:*": FOUND})
    kinds = [(80, False), (80, True), (120, False), (None, True)]
    return {kind: shown(screen(machine, kind[0], "review", colour=kind[1])) for kind in kinds}


def test_a_review_at_80_columns(reviewed: dict[tuple[int | None, bool], str]) -> None:
    assert max(map(len, reviewed[80, False].splitlines())) <= 80
    assert reviewed[80, False] == snapshot("""\

round 1 (full): 1 of 1 answered, 1 blocking
  critical app.py:3: The total is computed twice and the second value is thrown
           away [ca1481bc]
           3 | app_3 = 3
             | ^^^^^^^^^
  low      b.py:2: A name says nothing [6a245111]
  Examined: 4 of 4 changed files (4 read by an agent)
failed: 1 blocking finding remains after 1 review
Next: burnish fix --branch change --base main
      fixes the findings
""")


def test_a_review_at_120_columns(reviewed: dict[tuple[int | None, bool], str]) -> None:
    assert max(map(len, reviewed[120, False].splitlines())) <= 120
    assert reviewed[120, False] == snapshot("""\

round 1 (full): 1 of 1 answered, 1 blocking
  critical app.py:3: The total is computed twice and the second value is thrown away [ca1481bc]
           3 | app_3 = 3
             | ^^^^^^^^^
  low      b.py:2: A name says nothing [6a245111]
  Examined: 4 of 4 changed files (4 read by an agent)
failed: 1 blocking finding remains after 1 review
Next: burnish fix --branch change --base main
      fixes the findings
""")


def test_colour_adds_nothing_but_colour_and_a_pipe_gets_none(reviewed: dict[tuple[int | None, bool], str]) -> None:
    assert _IN_COLOUR.search(reviewed[80, True])
    assert _IN_COLOUR.sub("", reviewed[80, True]) == reviewed[80, False]
    piped = reviewed[None, True]
    assert "\x1b" not in piped
    assert " ".join(piped.split()) == " ".join(reviewed[80, False].split())


def test_a_fix(tmp_path: Path) -> None:
    machine = machine_for(tmp_path, {"review:1:*": FOUND, "review:*": CLEAN, "fix:*": FIX})
    assert shown(screen(machine, 80, "fix")) == snapshot("""\

round 1 (full): 1 of 1 answered, 1 blocking, fix: fixed
round 2 (full): 1 of 1 answered, clean
  low      b.py:2: A name says nothing [6a245111]
  Examined: 4 of 4 changed files (4 read by an agent)
approved: no blocking findings in round 2
Sealed: tree 0123456789ab.
The result is on change.
Next: burnish verify change
      checks the seal
""")


def test_a_run_that_waits(tmp_path: Path) -> None:
    machine = machine_for(tmp_path, {"review:*": FOUND, "fix:*": "echo nothing"})
    assert shown(screen(machine, 80, "fix", "--max-rounds", "1")) == snapshot("""\

round 1 (full): 1 of 1 answered, 1 blocking
  critical app.py:3: The total is computed twice and the second value is thrown
           away [ca1481bc]
           3 | app_3 = 3
             | ^^^^^^^^^
  low      b.py:2: A name says nothing [6a245111]
  Examined: 4 of 4 changed files (4 read by an agent)
waiting: 1 blocking finding remains after 1 review
After 1 review round, issues remain: critical 1, important 0, minor 1
Findings document: docs/progress/story-change-review-findings-round-1.md
Next: burnish decide 20260101-120000-abcdef a
      Manual review and fix (pause autonomous workflow)
Next: burnish decide 20260101-120000-abcdef b
      Accept findings and mark story complete (not recommended)
Next: burnish decide 20260101-120000-abcdef c && burnish resume 20260101-120000-abcdef
      Continue with 1 more review round (override limit)
""")


def test_a_reviewer_that_crashes(tmp_path: Path) -> None:
    machine = machine_for(tmp_path, {"review:*": CRASHES})
    assert shown(screen(machine, 80, "review")) == snapshot("""\

round 1 (full): 0 of 1 answered, not judged
did-not-run: reviewer crashed: exited with 139: Segmentation fault
Next: burnish logs 20260101-120000-abcdef
      shows what went wrong
Next: burnish review --branch change --base main
      tries again
""")


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(tmp_path: Path) -> None:
    machine = machine_for(tmp_path, {"review:*": FOUND, "fix:*": HANGS})
    fixing = screen(machine, 80, "fix")
    assert fixing.process.stderr is not None
    for line in fixing.process.stderr:
        if b"fix: running" in line:
            break
    fixing.process.send_signal(signal.SIGINT)
    assert shown(fixing) == snapshot("""\

round 1 (full): 1 of 1 answered, 1 blocking
  critical app.py:3: The total is computed twice and the second value is thrown
           away [ca1481bc]
           3 | app_3 = 3
             | ^^^^^^^^^
  low      b.py:2: A name says nothing [6a245111]
  Examined: 4 of 4 changed files (4 read by an agent)
interrupted: what was done is kept
Next: burnish resume 20260101-120000-abcdef
      continues the run
""")
    assert fixing.process.returncode == 130
