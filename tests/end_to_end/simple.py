"""The simplest policy for tests that are not about policies: one reviewer says drift, a fix follows, then it passes."""

from collections.abc import Mapping
from pathlib import Path

from tests.end_to_end.answers import verdict
from tests.end_to_end.machine import HANGS, Machine, says, writes
from tests.end_to_end.plots import content, furnished

PASS = says(verdict(clean=True))
DRIFT = says(verdict(clean=False, follow_up="Handle errors in app.py."))
FIX = f"{writes('app.py', content('app.py', 1))}\necho handled"
FIRST_REVIEW, FIRST_FIX, SECOND_REVIEW = "review:1:reviewer:1", "fix:1:1", "review:2:reviewer:1"

CLEAN = {"review:*": PASS}
FIXED = {FIRST_REVIEW: DRIFT, "review:*": PASS, "fix:*": FIX}
HANGING_FIX = {**FIXED, "fix:*": HANGS}


def drift_machine(folder: Path, conduct: Mapping[str, str], *, settings: str = "", sandbox: str = "auto") -> Machine:
    """A machine whose base asks for the drift protocol, with one agent for everything."""
    machine = Machine(folder)
    script = machine.script(conduct)
    machine.variables["BURNISH_SANDBOX"] = sandbox
    return furnished(machine, policy(f'["sh", "{script}"]') + settings)


def policy(command: str, protocol: str = "drift") -> str:
    agent = f'[agents.scripted]\nkind = "command"\ncommand = {command}\n'
    return f'protocol = "{protocol}"\n{agent}[roles]\ndefault = "scripted"\n'


def killed_while_fixing(machine: Machine) -> str:
    """A run whose orchestrator was killed while the fixer was at work."""
    process = machine.start("fix", "--json")
    run = machine.wait_for_call(process, FIRST_FIX)
    machine.cut_down(process)
    return run
