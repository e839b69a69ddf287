"""Real runs of every protocol with scripted agents, and the prompts that the ledger keeps of them.

What differs from run to run (commits, folders, the token of the fences) is replaced by a name for it.
"""

import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.end_to_end.machine import Machine, says, writes

from burnish.core.events import (
    AnyEvent,
    Built,
    Decided,
    FindingAnnotated,
    Fixed,
    Mode,
    Reviewed,
    SessionFinished,
    decode,
)
from burnish.core.protocol import STANDARD_DIMENSIONS
from burnish.core.state import Run, Waiting
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.journal import Journal, intend, stream_of
from burnish.system import clock
from burnish.system.identifiers import this_process
from burnish.usecases.drive_run import DriveOptions, drive
from burnish.usecases.plan_run import RunRequest, plan
from burnish.usecases.start_run import begin
from burnish.workspace.repository import Repository

NONCE = "0123456789abcdef"
STORY_FILE = "docs/stories/1-2-login.md"
BRIEF = """\
---
id: 1.2
title: Log in with a name
epic: ../login.epic.yaml
---
# Story 1.2: Log in with a name

Users log in with a name.

## Acceptance Criteria

- [x] A name suffices
- [ ] Nothing is logged
- Tests cover both

## Coordination Requirements

Only `login` may change.
"""
EPIC = """\
epic: login
coordination_requirements:
  function_profiles:
    Login:
      login: {arity: 1, intent: "Log a user in"}
  breaking_changes_prohibited:
    - The name of login()
tickets:
  - id: "1.2"
"""
POLICY = """\
protocol = "{protocol}"
sandbox = "off"

[agents.scripted]
kind = "command"
command = ["sh", "{script}"]

[agents.scanner]
kind = "command"
command = ["sh", "{script}"]
contract = "sarif"

[agents.writer]
kind = "command"
command = ["sh", "{script}"]
contract = "findings"

[roles]
default = "scripted"
build = "scripted"
{roles}

[validate]
coverage_floor = 80.0
tests = ["sh", "{checks}"]

[review]
ignore = ["poetry.lock"]

[[review.rules]]
path = "src/**"
text = "No passwords in logs."
"""
CHECKS = """\
test ! -e src/broken.py || { echo 'FAILED test_login: src/broken.py is in the way'; exit 1; }
echo '{"totals": {"percent_covered": 90}}' > coverage.json
echo '3 passed'
"""
LOGS_TOO_MUCH = "def login(name):\n    log(name, password)\n"
LOGS_NAME = "def login(name):\n    log(name)\n"
LOGS_NOTHING = "def login(name):\n    return name\n"
FINDINGS = """\
# Story 1.2 Code Review Findings - Round 1

## Critical Issues (Must Fix)

1. **[Security]:** The password is logged
   - **File:** src/login.py:2
   - **Problem:** log() is given the password.
   - **Impact:** Everybody who reads logs can log in.
   - **Fix:** Leave it out.

## Important Issues (Should Fix)

None.

## Minor Issues (Nice to Have)

2. **[Naming]:** The name is unclear
   - **File:** src/login.py:1
   - **Problem:** `name` may be anything.
   - **Impact:** Readers must guess.
   - **Fix:** Call it `user_name`.

## Summary

- **Total findings:** 2
- **Critical:** 1
- **Important:** 0
- **Minor:** 1
- **Recommendation:** Request changes
"""
NO_FINDINGS = "# Findings\n\n## Critical\n\nNone.\n\n## Important\n\nNone.\n\n## Minor\n\nNone.\n"
SESSION = """\
# Code Review: Story 1.2

## Findings

### [CRITICAL] The password is logged

- **File:** src/login.py:2
- **Problem:** log() is given the password.
- **Fix:** Left it out.
- **Status:** Fixed

## Summary

CRITICAL: 1 found, 1 fixed
HIGH: 0 found, 0 fixed
MEDIUM: 0 found, 0 fixed
LOW: 0 found, 0 fixed
"""


def issues(*severities: str, action: str = "fix") -> str:
    """An answer in the `issues` contract, with one problem of each severity."""
    listed = [
        {
            "severity": severity,
            "category": "security",
            "file": "src/login.py",
            "line": 2,
            "end_line": None,
            "description": f"The password is logged ({severity})",
            "impact": "Everybody who reads logs can log in.",
            "evidence": "log(name, password)",
            "suggestion": "Leave it out.",
            "confidence": 0.9,
            "action": action,
        }
        for severity in severities
    ]
    counts = {name: severities.count(name) for name in ("critical", "warning", "info")}
    summary = {**counts, "verdict": "issues_found" if severities else "clean"}
    return json.dumps({"issues": listed, "former": None, "summary": summary})


def sarif(*levels: str) -> str:
    place = {"physicalLocation": {"artifactLocation": {"uri": "src/login.py"}, "region": {"startLine": 2}}}
    results = [
        {"ruleId": "log", "level": level, "message": {"text": "Logged"}, "locations": [place]} for level in levels
    ]
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "scanner"}}, "results": results}]})


def report(revision: int, *blocking: str, notes: str | None = None) -> str:
    """A report of ticket 1.2; one with blocking issues fails."""
    score = 60 if blocking else 95
    warning = {
        "dimension": "test_quality",
        "severity": "warning",
        "file": "src/login.py",
        "line": 1,
        "message": "No test for an empty name",
        "suggestion": "Add one.",
    }
    return json.dumps(
        {
            "ticket_id": "1.2",
            "reviewed_at": "2026-01-31T12:00:00Z",
            "reviewer": "code-review-agent",
            "status": "fail" if blocking else "pass",
            "overall_score": score,
            "revision_count": revision,
            "dimension_scores": {one.name: {"score": score, "weight": one.weight.value} for one in STANDARD_DIMENSIONS},
            "findings": [warning] if blocking else [],
            "blocking_issues": [
                {"dimension": "code_quality", "message": message, "required_action": "Leave it out."}
                for message in blocking
            ],
            "revision_notes": notes,
            "approved": not blocking,
            "pass_criteria_met": {
                "all_critical_dimensions_pass": not blocking,
                "no_blocking_issues": not blocking,
                "overall_score_above_threshold": not blocking,
            },
        }
    )


def verdict(word: str, follow_up: str) -> str:
    return json.dumps({"verdict": word, "followUpPrompt": follow_up})


class RealRun:
    """One run on a repository of its own, from its plan to its end."""

    def __init__(self, folder: Path, protocol: str, conduct: Mapping[str, str], *, roles: str = "") -> None:
        self.machine = Machine(folder)
        script = self.machine.script(conduct)
        checks = self.machine.agents / "checks.sh"
        checks.write_text(CHECKS)
        base = {
            "burnish.toml": POLICY.format(protocol=protocol, script=script, checks=checks, roles=roles),
            "REVIEW.md": "Look at what is logged.\n",
            STORY_FILE: BRIEF,
            "docs/login.epic.yaml": EPIC,
            "docs/sprint-status.yaml": "development_status:\n  1-2-login: review\n",
            "src/login.py": "def login():\n    pass\n",
        }
        self.machine.repository.commit(base, "Begin").branch("story-1-2-login")

    def with_change(self, **further: str) -> "RealRun":
        """A branch on which somebody has worked already."""
        files = {"src/login.py": LOGS_TOO_MUCH, **further}
        self.machine.repository.commit(files, "Log in with a name\n\nThe password is checked, too.")
        return self

    @contextmanager
    def other_run_at_work(self) -> Generator[None]:
        """Another run of the repository, which this very process drives."""
        self.machine.git("branch", "other")
        planned = plan(self.machine.root, RunRequest(mode=Mode.FIX, branch="other"), self.machine.environment)
        with open_ledger(planned.repository.state_dir) as ledger:
            environment = self.machine.environment
            other = begin(planned, ledger, environment, mode=Mode.FIX, max_rounds=None, interactive=False)
            try:
                yield
            finally:
                other.release()

    def play(self, **changes: Any) -> dict[str, str]:
        """Run it to its end; a question is answered with a note and a fix. The prompts, by the effect."""
        brief = str(self.machine.root / STORY_FILE)
        wanted = replace(RunRequest(mode=Mode.FIX, brief=brief, intent="Make it simple.", story="1.2"), **changes)
        environment = self.machine.environment
        planned = plan(self.machine.root, wanted, environment)
        with open_ledger(planned.repository.state_dir) as ledger:
            journal = begin(planned, ledger, environment, mode=wanted.mode, max_rounds=None, interactive=False)
            run = self._driven(ledger, journal, planned.repository)
            while isinstance(run.phase, Waiting):
                self._answer(ledger, run)
                journal = Journal.take_over(ledger, run.id, this_process(), clock.now())
                run = self._driven(ledger, journal, planned.repository)
            self.run = run
            self.events = [decode(event.body) for event in ledger.read(stream_of(run.id))]
            return {effect: self._named(text) for effect, text in _prompts(ledger, self.events)}

    def titles(self) -> list[str]:
        """The first line of every commit that the run made, in their order."""
        log = self.machine.git("log", "--reverse", "--format=%s", f"{self.run.subject.head}..{self.run.commit}")
        return log.splitlines()

    def fixed_files(self) -> list[str]:
        return self.machine.git("diff", "--name-only", self.run.subject.head, self.run.commit).splitlines()

    def _driven(self, ledger: Ledger, journal: Journal, repository: Repository) -> Run:
        driven = drive(repository, ledger, journal, self.machine.environment, DriveOptions())
        return driven.run

    def _answer(self, ledger: Ledger, run: Run) -> None:
        finding = run.findings[0].finding.id
        note = FindingAnnotated(at=clock.now(), finding=finding, note="Do not touch the audit log.", by="me")
        intend(ledger, run.id, note)
        intend(ledger, run.id, Decided(at=clock.now(), choice="f", by="me"))

    def _named(self, prompt: str) -> str:
        """The prompt with names for what is another in every run."""
        (nonce,) = set(re.findall(r"\(here, tokens start with `(\w+)`\)", prompt))
        commits = [self.run.subject.base_commit, self.run.subject.head]
        commits += [event.change.commit for event in self.events if isinstance(event, Built | Fixed)]
        names = ["BASE", "FIRST-HEAD", *(f"COMMIT-{number}" for number in range(1, len(commits)))]
        for commit, name in zip(commits, names, strict=False):
            prompt = prompt.replace(commit, f"<{name}>")
        # What fresh reviewers see in place of the fixes: the same tree, without the fixers' words.
        prompt = re.sub(r"\b[0-9a-f]{40}\b", "<NEUTRAL-COMMIT>", prompt)
        prompt = re.sub(r"^/\S+/clones/\S+$", "<SCRATCH>", prompt, flags=re.MULTILINE)
        return re.sub(r"\bsh /\S+/checks\.sh", "sh checks.sh", prompt.replace(nonce, NONCE))


def _prompts(ledger: Ledger, events: list[AnyEvent]) -> list[tuple[str, str]]:
    kept = [event for event in events if isinstance(event, Built | Fixed | Reviewed | SessionFinished) and event.prompt]
    texts = [(event.effect, ledger.get_blob(event.prompt).decode()) for event in kept]
    return [(effect, text) for effect, text in texts if not text.startswith("{")]  # what the analysers looked at


def fixes(text: str, said: str) -> str:
    """Shell lines of a fixer that writes the module and says something."""
    return f"{writes('src/login.py', text)}\n{says(said)}"
