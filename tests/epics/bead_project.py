"""A user with a list of beads: a repository, agents that do as they are told for each bead, and the real command."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.core.epics.state import Epic
from burnish.runtime.journal import epic_stream, load_epic
from tests.end_to_end.machine import Done, Machine
from tests.epics.project import NO_SCAN

BUILDS = 'echo "$bead" > "$bead.txt"; echo "Built $bead."'
FIXES = 'echo "fix $BURNISH_ROUND" >> "$bead.txt"; echo "Fixed $bead."'
PASSES = 'echo \'Looked at it. {"verdict": "pass", "followUpPrompt": "LGTM."}\''
DRIFTS = 'echo \'{"verdict": "drift", "followUpPrompt": "Add a line."}\''
DRIFTS_ONCE = f'if test "$BURNISH_ROUND" = 1; then {DRIFTS}; else {PASSES}; fi'
_AGENT = r"""bead=${BURNISH_SUBJECT#bead/}
echo "called $BURNISH_ROLE $bead $BURNISH_ROUND" >&2
sed 's/^/prompt: /' >&2
"""


class BeadProject:
    def __init__(self, folder: Path, beads: Sequence[dict[str, Any]], *, settings: str = "", **files: str) -> None:
        self.machine = Machine(folder)
        self._conduct = {"build": BUILDS, "fix": FIXES, "review": PASSES}
        self._agent = self.machine.agents / "agent.sh"
        self._write_agent()
        command = f'kind = "command"\ncommand = ["sh", "{self._agent}"]'
        policy = f'[agents.mine]\n{command}\n[roles]\ndefault = "mine"\n{NO_SCAN}{settings}'
        self.lines = [json.dumps(one) for one in beads]
        listed = "".join(f"{line}\n" for line in self.lines)
        committed = {name.replace("__", "/").replace("_toml", ".toml"): text for name, text in files.items()}
        self.machine.repository.commit({"burnish.toml": policy, ".beads/issues.jsonl": listed, **committed})

    def says(self, role: str, lines: str, bead: str = "") -> None:
        """What an agent does in a role, for one bead or for all others."""
        self._conduct[f"{role}-{bead}" if bead else role] = lines
        self._write_agent()

    def _write_agent(self) -> None:
        first = sorted(self._conduct, key=lambda role: "-" not in role)
        cases = "".join(f"{role if '-' in role else f'{role}-*'})\n{self._conduct[role]}\n;;\n" for role in first)
        self._agent.write_text(f'{_AGENT}case "$BURNISH_ROLE-$bead" in\n{cases}esac\n')

    @property
    def file(self) -> Path:
        return self.machine.root / ".beads" / "issues.jsonl"

    def run(self, *options: str, source: str = ".beads", **variables: str) -> Done:
        return self.machine.burnish("run", source, *options, folder=None, **variables)

    def bead(self, name: str) -> dict[str, Any]:
        beads = (json.loads(line) for line in self.file.read_text().splitlines())
        return next(one for one in beads if one["id"] == name)

    def statuses(self) -> dict[str, str]:
        beads = (json.loads(line) for line in self.file.read_text().splitlines())
        return {one["id"]: one["status"] for one in beads}

    def state(self) -> Epic:
        """The newest run of the list."""
        with self.machine.ledger() as ledger:
            newest = max(ledger.streams(epic_stream("")))
            return load_epic(ledger, newest.removeprefix(epic_stream("")))

    def states(self) -> dict[str, str]:
        tickets = self.state().tickets.items()
        return {name: type(one.state).__name__.removeprefix("Ticket").lower() for name, one in tickets}

    def logs(self, role: str, bead: str = "") -> list[str]:
        """What agents printed in a role, for one bead or for all."""
        found = sorted((self.machine.state / "runs").glob("*/logs/*.log"))
        texts = [log.read_text(errors="replace") for log in found]
        return [text for text in texts if f"called {role} {bead}" in text]

    def calls(self, role: str) -> list[str]:
        """The beads for which agents were called in a role."""
        lines = (line.split() for text in self.logs(role) for line in text.splitlines())
        return sorted(words[2] for words in lines if words[:2] == ["called", role])

    def merges(self) -> list[str]:
        """The titles of the commits of the list's branch, the oldest first."""
        log = self.machine.git("log", "--first-parent", "--reverse", "--format=%s", "main..epic/beads")
        return log.splitlines()


def bead(name: str, *after: str, **fields: Any) -> dict[str, Any]:
    needs = [{"issue_id": name, "depends_on_id": other, "type": "blocks"} for other in after]
    moment = "2026-10-01T08:00:00Z"
    return {
        "id": name,
        "title": f"Do {name}",
        "description": f"Make {name}.txt.",
        "status": "open",
        "priority": 2,
        "issue_type": "task",
        "created_at": moment,
        "updated_at": moment,
        "x-unknown": 1.0,
        **({"dependencies": needs} if needs else {}),
        **fields,
    }
