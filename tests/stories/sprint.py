"""A user with a sprint: a repository with a sprint status and story files, scripted agents, and the real command."""

import re
from collections.abc import Mapping
from pathlib import Path

from burnish.core.epics.state import Epic
from burnish.records.stories import word_of
from burnish.runtime.journal import epic_stream, load_epic, load_run, stream_of
from burnish.settings.yaml_nodes import YamlNode, documents
from tests.end_to_end.machine import Done, Machine

SPRINT = "plan/sprint-status.yaml"
DOCUMENT = "docs/progress/epic-1-auto-run.md"
_AGENT = r"""cat > "$BURNISH_OUTPUT.prompt" 2>/dev/null || cat > /dev/null
story=${BURNISH_SUBJECT#story/}; story=${story#epic/}; story=${story%-merge-*}
echo "called $BURNISH_ROLE $BURNISH_SUBJECT $BURNISH_ROUND" >&2
critical() { printf '## Critical Issues (Must Fix)\n\n1. **[Bug]:** It is wrong\n   - **File:** %s.txt:1\n' "$story"
    printf '\n## Summary\n\n- **Total findings:** 1\n- **Critical:** 1\n- **Important:** 0\n- **Minor:** 0\n'; }
minor() { printf '## Minor Issues (Nice to Have)\n\n1. **[Style]:** A vague name\n   - **File:** %s.txt:1\n' "$story"
    printf '\n## Summary\n\n- **Total findings:** 1\n- **Critical:** 0\n- **Important:** 0\n- **Minor:** 1\n'; }
clean() { echo 'No issues found.'; }
done_() { sed -i "s/^\(  $story: *\)[^ ]*/\1done/" plan/sprint-status.yaml; }
"""
BUILDS = 'echo "$story" > "$story.txt"; echo "Built $story."'
FIXES = 'echo "fixed in $BURNISH_ROUND" >> "$story.txt"; echo "Fixed $story."'
REVIEWS = "clean"
SESSION = "done_; clean"
FIXED = 'if test "$BURNISH_ROUND" = 1; then critical; else clean; fi'
"""A reviewer that is content with the first fix."""
FAILS = "critical"


class Sprint:
    def __init__(
        self,
        folder: Path,
        stories: Mapping[str, str],
        *,
        settings: str = "",
        matter: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> None:
        """`stories`: the status of each story by its key. `matter`: front matter of some of them."""
        self.machine = Machine(folder)
        self._conduct = {"build": BUILDS, "fix": FIXES, "review": REVIEWS}
        self._agent = self.machine.agents / "agent.sh"
        self._write_agent()
        command = f'kind = "command"\ncommand = ["sh", "{self._agent}"]'
        settings += "" if "[epics]" in settings else "[epics]\nsecrets = false\n"
        policy = f'[agents.mine]\n{command}\n[roles]\ndefault = "mine"\n{settings}'
        texts = {f"plan/{key}.md": story_text(key, (matter or {}).get(key, "")) for key in stories}
        self.machine.repository.commit(
            {"burnish.toml": policy, SPRINT: sprint_text(stories), **texts, **(files or {})}, "Plan"
        )

    def says(self, role: str, lines: str, story: str = "") -> None:
        """What an agent does in a role, for one story or for all others."""
        self._conduct[f"{role}-{story}" if story else role] = lines
        self._write_agent()

    def _write_agent(self) -> None:
        roles = sorted(self._conduct, key=lambda role: "-" not in role)
        cases = "".join(f"{role if '-' in role else f'{role}-*'})\n{self._conduct[role]}\n;;\n" for role in roles)
        self._agent.write_text(f'{_AGENT}case "$BURNISH_ROLE-$story" in\n{cases}esac\n')

    def run(self, *options: str, source: str = SPRINT) -> Done:
        return self.machine.burnish("run", source, *options)

    def epic(self) -> Epic:
        with self.machine.ledger() as ledger:
            newest = max(ledger.streams(epic_stream("")))
            return load_epic(ledger, newest.removeprefix(epic_stream("")))

    def states(self) -> dict[str, str]:
        return {
            name: type(one.state).__name__.removeprefix("Ticket").lower() for name, one in self.epic().tickets.items()
        }

    def calls(self, role: str) -> list[str]:
        logs = sorted((self.machine.state / "runs").glob("*/logs/*.log"))
        lines = [line.split() for log in logs for line in log.read_text(errors="replace").splitlines()]
        return sorted(words[2] for words in lines if words[:2] == ["called", role])

    def read(self, path: str) -> str:
        return (self.machine.root / path).read_text()

    def statuses(self, text: str | None = None) -> dict[str, str]:
        """What the sprint status in the checkout says, or another text of it."""
        block = documents(self.read(SPRINT) if text is None else text)[0].get("development_status")
        return {key.text: value.text for key, value in block.pairs}

    def story_status(self, key: str) -> str:
        found = re.search(r"^Status: (\S+)", self.read(f"plan/{key}.md"), re.MULTILINE)
        return found[1] if found else ""

    def document(self) -> YamlNode:
        return documents(self.read(DOCUMENT).split("---\n")[1])[0]

    def check_records(self) -> None:
        """Sprint status, story files and the run's document say what the ledger says."""
        epic = self.epic()
        with self.machine.ledger() as ledger:
            names = [name for one in epic.tickets.values() for name in one.runs]
            runs = {name: load_run(ledger, name) for name in names if ledger.version(stream_of(name))}
        stories = {key.text: value for key, value in self.document().get("stories").pairs}
        for name, one in epic.tickets.items():
            word = word_of(one, runs)
            if word is not None:
                assert self.statuses()[name] == word, name
                assert self.story_status(name) == word, name
                assert stories[".".join(name.split("-")[:2])].get("status").text == word, name

    def merges(self) -> list[str]:
        return self.machine.git("log", "--first-parent", "--format=%s", "main..epic/1").splitlines()


def sprint_text(stories: Mapping[str, str]) -> str:
    lines = "".join(f"  {key}: {status}  # about {key}\n" for key, status in stories.items())
    head = "# A sprint\nproject: demo\n\ndevelopment_status:\n  epic-1: in-progress # kept\n"
    return f"{head}{lines}  epic-1-retrospective: optional\n"


def story_text(key: str, matter: str = "") -> str:
    front = f"---\n{matter}---\n" if matter else ""
    return f"{front}# Story: Make {key}\n\nStatus: ready-for-dev\n\n## Acceptance Criteria\n\n- It is made\n"
