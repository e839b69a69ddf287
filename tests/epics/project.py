"""A user with an epic: a repository, agents that do as they are told for each ticket, and the real command."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from burnish.core.epics.state import Epic
from burnish.runtime.journal import epic_stream, load_epic
from tests.end_to_end.machine import Done, Machine

BASE = "shared.txt"
_DIMENSIONS = {
    "requirement_adherence": "critical",
    "coordination_compliance": "critical",
    "code_quality": "important",
    "pattern_consistency": "important",
    "test_quality": "important",
    "security_performance": "moderate",
}
_AGENT = r"""cat > /dev/null
story=${BURNISH_SUBJECT#ticket/}; story=${story#epic/}; story=${story%-merge-*}
round=$((BURNISH_ROUND - 1))
echo "called $BURNISH_ROLE $BURNISH_SUBJECT $BURNISH_ROUND" >&2
"""
BUILDS = 'echo "$story" > "$story.txt"; echo "Built $story."'
FIXES = 'echo "revision $BURNISH_ROUND" >> "$story.txt"; echo "Revised $story."'
PASSES = "pass"
FAILS = "fail"
REVISED = 'if test "$round" = 0; then fail; else pass; fi'
"""A reviewer that is content with the first revision."""


_SCORES = {"pass": 95, "fail": 60}
NO_SCAN = "[epics]\nsecrets = false\n"
"""Scans for secrets take most of the time of such small tickets."""


class Ticket(NamedTuple):
    id: str
    after: tuple[str, ...] = ()
    critical: bool = False
    more: Mapping[str, Any] = {}


class Project:
    def __init__(self, folder: Path, tickets: Sequence[Ticket], *, settings: str = "", **epic: Any) -> None:
        self.machine = Machine(folder)
        self._conduct = {"build": BUILDS, "fix": FIXES, "review": PASSES}
        self._agent = self.machine.agents / "agent.sh"
        self._write_agent()
        command = f'kind = "command"\ncommand = ["sh", "{self._agent}"]'
        settings += "" if "[epics]" in settings else NO_SCAN
        policy = f'[agents.mine]\n{command}\n[roles]\ndefault = "mine"\n{settings}'
        self.listed = [_listed(one) for one in tickets]
        self.epic: dict[str, Any] = {"epic": "demo", "description": "A demonstration.", "tickets": self.listed, **epic}
        files = {"burnish.toml": policy, BASE: "".join(f"line {number}\n" for number in range(40))}
        self.machine.repository.commit({**files, "plan/epic.yaml": json.dumps(self.epic)})

    def says(self, role: str, lines: str, ticket: str = "") -> None:
        """What an agent does in a role, for one ticket or for all others."""
        self._conduct = {f"{role}-{ticket}" if ticket else role: lines, **self._conduct}
        self._conduct[f"{role}-{ticket}" if ticket else role] = lines
        self._write_agent()

    def _write_agent(self) -> None:
        """One script: it is all that agents can see of this machine beside their clone."""
        reports = "".join(
            f"{word}() {{ cat <<END\n{_report(word, score)}\nEND\n}}\n" for word, score in _SCORES.items()
        )
        tickets = sorted(self._conduct, key=lambda role: "-" not in role)
        cases = "".join(f"{role if '-' in role else f'{role}-*'})\n{self._conduct[role]}\n;;\n" for role in tickets)
        self._agent.write_text(f'{_AGENT}{reports}case "$BURNISH_ROLE-$story" in\n{cases}esac\n')

    def edit(self, **epic: Any) -> None:
        """Edit the source, as a person would."""
        self.epic: dict[str, Any] = {**self.epic, **epic}
        (self.machine.root / "plan" / "epic.yaml").write_text(json.dumps(self.epic))

    def run(self, *options: str, source: str = "plan/epic.yaml") -> Done:
        return self.machine.burnish("run", source, *options)

    def state(self) -> Epic:
        """The newest run of the epic."""
        with self.machine.ledger() as ledger:
            newest = max(ledger.streams(epic_stream("")))
            return load_epic(ledger, newest.removeprefix(epic_stream("")))

    def states(self) -> dict[str, str]:
        return {
            name: type(one.state).__name__.removeprefix("Ticket").lower() for name, one in self.state().tickets.items()
        }

    def calls(self, role: str) -> list[str]:
        """The branches for which agents were called in a role, as their logs tell."""
        logs = sorted((self.machine.state / "runs").glob("*/logs/*.log"))
        lines = [line.split() for log in logs for line in log.read_text(errors="replace").splitlines()]
        return sorted(words[2] for words in lines if words[:2] == ["called", role])

    def show(self, name: str) -> str:
        return self.machine.git("show", name)

    def merges(self) -> list[str]:
        """The titles of the commits that the epic's branch has by itself, the newest first."""
        return self.machine.git("log", "--first-parent", "--format=%s", "main..epic/demo").splitlines()

    def record(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.machine.root / "plan" / "artifacts" / "epic-state.json").read_text())
        return value


def _report(word: str, score: int) -> str:
    blocking = [{"dimension": "code_quality", "message": "Too short.", "required_action": "Add a line."}]
    passes = word == "pass"
    return json.dumps(
        {
            "ticket_id": "$story",
            "revision_count": 0,
            "status": word,
            "overall_score": score,
            "dimension_scores": {name: {"score": score, "weight": weight} for name, weight in _DIMENSIONS.items()},
            "findings": [],
            "blocking_issues": [] if passes else blocking,
            "revision_notes": None if passes else "Add a line.",
            "approved": passes,
            "pass_criteria_met": {"no_blocking_issues": passes},
        }
    ).replace('"revision_count": 0', '"revision_count": $round')


def _listed(one: Ticket) -> dict[str, Any]:
    fields = {"id": one.id, "description": f"Do {one.id}.", "depends_on": list(one.after), "critical": one.critical}
    return {**fields, **one.more}
