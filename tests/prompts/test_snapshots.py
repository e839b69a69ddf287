"""Every prompt as a real run sent it, and that no part of any prompt is left without its content."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from inline_snapshot import external_file
from tests.end_to_end.machine import says
from tests.prompts.real_runs import (
    FINDINGS,
    LOGS_NAME,
    LOGS_NOTHING,
    LOGS_TOO_MUCH,
    NO_FINDINGS,
    NONCE,
    SESSION,
    RealRun,
    fixes,
    issues,
    report,
    sarif,
    verdict,
)

from burnish.core.events import Mode, Outcome
from burnish.core.state import Ended
from burnish.prompts import rendering

ANSWERS = "\ngrep -E '^[0-9a-f]{16}$' | sed 's/$/: fixed - login() logs less/'"
"""What a fixer adds that answers for each finding: the ids are lines of its prompt."""
SNAPSHOTS = Path(__file__).with_name("snapshots")
PANEL = ("critic", "pedant", "witness", "security-reviewer", "silent-failure-hunter")
BUILT = "Log in with a name\n\n- 1: met - login() takes one\n- 2: not met - it logs the password\n"
COMPLETE = BUILT.replace("not met - it logs the password", "met - it logs the name alone")
"""What is not complete by the builder's own words is not put before the reviewer of a ticket."""


def ended(run: RealRun, outcome: Outcome) -> None:
    assert isinstance(run.run.phase, Ended)
    assert run.run.phase.outcome is outcome, run.run.phase


def test_epic(tmp_path: Path) -> None:
    hook = "#!/bin/sh\ngrep -q return src/login.py || { echo 'tdd-guard: return something'; exit 1; }\n"
    read = "test -s docs/progress/story-1.2-review-findings-round-1.md || exit 9"
    again, first = fixes(LOGS_NOTHING, "Return the name"), fixes(LOGS_NAME, "Log less")
    fix = f"{read}\nif grep -q tdd-guard; then {again}\nelse {first}\nfi"
    conduct = {"review:1:*": says(FINDINGS), "review:*": says(NO_FINDINGS), "fix:*": fix}
    run = RealRun(tmp_path, "epic", conduct).with_change(**{"poetry.lock": "x\n"})
    place = run.machine.root / ".git/hooks/pre-commit"
    place.parent.mkdir(exist_ok=True)
    place.write_text(hook)
    place.chmod(0o755)
    prompts = run.play()
    ended(run, Outcome.UNPROVEN)  # the policy leaves a file out
    assert prompts["review:1:reviewer:1"] == external_file("snapshots/epic-reviewer.md", format=".txt")
    assert prompts["fix:1:1"] == external_file("snapshots/epic-fixer-after-a-hook.md", format=".txt")
    assert prompts["review:2:reviewer:1"] == external_file("snapshots/epic-reviewer-of-a-fix.md", format=".txt")
    assert run.fixed_files() == ["src/login.py"]  # and not the findings document that the fixer was given


def test_ticket(tmp_path: Path) -> None:
    conduct = {
        "build:*": fixes(LOGS_TOO_MUCH, COMPLETE),
        "review:1:*": says(report(0, "The password is logged")),
        "fix:1:*": fixes(LOGS_NAME, "Log the name alone") + ANSWERS,
        "review:2:*": says(report(1, "The name is logged", notes="Log nothing at all.")),
        "fix:2:*": fixes(LOGS_NOTHING, "Log nothing"),
        "review:3:*": says(report(2)),
    }
    run = RealRun(tmp_path, "ticket", conduct)
    prompts = run.play(build=True)
    ended(run, Outcome.APPROVED)
    assert prompts["build:1"] == external_file("snapshots/builder.md", format=".txt")
    assert prompts["review:1:code-review:1"] == external_file("snapshots/ticket-reviewer.md", format=".txt")
    assert prompts["fix:1:1"] == external_file("snapshots/ticket-fixer.md", format=".txt")
    assert prompts["review:2:code-review:1"] == external_file(
        "snapshots/ticket-reviewer-of-a-revision.md", format=".txt"
    )
    assert prompts["fix:2:1"] == external_file("snapshots/ticket-fixer-of-a-second-revision.md", format=".txt")


def test_story(tmp_path: Path) -> None:
    done = "cat > docs/sprint-status.yaml <<'END'\ndevelopment_status:\n  1-2-login: done\nEND"
    conduct = {
        "fix:1:*": "rm src/broken.py\necho Removed what was in the way",
        "review:*": f"{done}\n{fixes(LOGS_NOTHING, SESSION)}",
    }
    run = RealRun(tmp_path, "story", conduct).with_change(**{"src/broken.py": "(\n"})
    prompts = run.play()
    ended(run, Outcome.APPROVED)
    assert prompts["fix:1:1"] == external_file("snapshots/story-repair-after-a-failed-validation.md", format=".txt")
    assert run.titles()[0] == "fix: address failed validation - Removed what was in the way"
    assert prompts["review:1:session:1"] == external_file("snapshots/story-session.md", format=".txt")


def test_panel(tmp_path: Path) -> None:
    conduct = {
        "review:1:critic:*": says(issues("critical", action="ask")),
        "review:1:pedant:*": says(issues("info")),
        "review:*": says(issues()),
        "fix:*": f"test -s .agents/tmp/phases/review-1/r1-critic.json || exit 9\n{fixes(LOGS_NOTHING, 'Log nothing')}",
    }
    run = RealRun(tmp_path, "panel", conduct).with_change()
    prompts = run.play()
    ended(run, Outcome.APPROVED)
    for name in PANEL:
        assert prompts[f"review:1:{name}:1"] == external_file(f"snapshots/panel-{name}.md", format=".txt")
    assert prompts["fix:1:1"] == external_file("snapshots/panel-fixer.md", format=".txt")
    state = json.loads((run.machine.root / ".agents/tmp/state.json").read_text())
    assert state["ownerPpid"] == str(os.getppid())
    assert state["task"] == "Log in with a name"


def test_drift(tmp_path: Path) -> None:
    conduct = {
        "build:*": fixes(LOGS_TOO_MUCH, BUILT),
        "review:1:*": says(verdict("drift", "Do not log the password.")),
        "fix:*": fixes(LOGS_NOTHING, "Log nothing") + ANSWERS,
        "review:2:*": says(verdict("pass", "It does its task.")),
    }
    run = RealRun(tmp_path, "drift", conduct)
    prompts = run.play(build=True)
    ended(run, Outcome.APPROVED)
    assert run.titles() == [
        "feat: implement 1.2 - Log in with a name",
        "fix: address code review round 1 - Log nothing",
    ]
    assert prompts["review:1:reviewer:1"] == external_file("snapshots/drift-reviewer-after-a-build.md", format=".txt")
    assert prompts["fix:1:1"] == external_file("snapshots/drift-fixer.md", format=".txt")
    assert prompts["review:2:reviewer:1"] == external_file("snapshots/drift-reviewer-after-a-fix.md", format=".txt")


def test_drift_of_uncommitted_work_beside_another_run(tmp_path: Path) -> None:
    run = RealRun(tmp_path, "drift", {"review:*": says(verdict("pass", "It does its task."))}).with_change()
    run.machine.repository.write({"src/login.py": LOGS_NAME})
    with run.other_run_at_work():
        prompts = run.play(mode=Mode.REVIEW, uncommitted=True)
    name = "snapshots/drift-reviewer-of-uncommitted-work-beside-other-agents.md"
    assert prompts["review:1:reviewer:1"] == external_file(name, format=".txt")


def test_default(tmp_path: Path) -> None:
    conduct = {
        "review:1:reviewer:*": says(issues("critical")),
        "review:*:style-reviewer:*": says(NO_FINDINGS),
        "review:*:tests-reviewer:*": says(sarif()),
        "review:*": says(issues()),
        "fix:*": fixes(LOGS_NOTHING, "Log nothing"),
    }
    roles = '[roles.reviewers]\nstyle = "writer"\ntests = "scanner"\n'
    run = RealRun(tmp_path, "default", conduct, roles=roles).with_change()
    prompts = run.play()
    assert len(run.run.rounds) > 1
    assert prompts["fix:1:1"] == external_file("snapshots/default-fixer.md", format=".txt")
    assert prompts["review:2:reviewer:1"] == external_file(
        "snapshots/default-reviewer-in-a-ratchet-round.md", format=".txt"
    )
    assert prompts["review:2:style-reviewer:1"] == external_file(
        "snapshots/default-reviewer-with-another-contract.md", format=".txt"
    )
    assert prompts["review:2:tests-reviewer:1"] == external_file(
        "snapshots/default-reviewer-by-sarif.md", format=".txt"
    )


FENCE = rf"<<<{NONCE}[^\n]*\n.*?\n{NONCE}\w*>>>"
VALUE = rf"(?P<VALUE>(?:{FENCE}(?:\n\n)?)+|[^\n]+(?:\n[^\n]+)*?)"
EMPTY = re.compile(r"(<<<[^\n]*\n)?\s*(\((none|nothing)\)|\?)?\s*(\n\w+>>>)?")
SENT_OTHERWISE = {
    "agent-check": "the whole prompt of `burnish agent check`, without a value",
    "repair": "what a client is told whose answer cannot be read",
    **dict.fromkeys(
        ("epic-beside", "epic-conflict", "epic-merge-fails", "epic-review"),
        "parts of the briefs of an epic: tests/epics/test_briefs.py",
    ),
    **dict.fromkeys(("section-beside", "section-choice"), "parts of the prompts of beads: tests/epics/test_beads.py"),
    **dict.fromkeys(
        ("plugin-review", "plugin-fix", "plugin-waiting", "plugin-done", "plugin-stopped"),
        "what a session is told: tests/plugin",
    ),
    **dict.fromkeys(
        ("reviewer-rules-in-place", "fixer-rules-in-place", "section-diff-in-place"),
        "for subagents of a session: tests/plugin",
    ),
}


def test_every_text_is_in_a_prompt_of_a_real_run_with_all_its_values() -> None:
    """Read from the files, so that a snapshot that is accepted with a part missing fails here."""
    prompts = [path.read_text() for path in SNAPSHOTS.glob("*.md")]
    for name in sorted(rendering.names() - SENT_OTHERWISE.keys()):
        pattern = _pattern(rendering.template(name).rstrip("\n"))
        found = [match for prompt in prompts for match in pattern.finditer(prompt)]
        assert found, f"{name} is in no snapshot"
        for value in pattern.groupindex:
            assert any(not EMPTY.fullmatch(match[value]) for match in found), f"{value} of {name} is never filled"


def _pattern(template: str) -> re.Pattern[str]:
    """A template as a pattern: its text as it is, and anything for its values."""
    return re.compile("".join(_parts(template)), re.DOTALL)


def _parts(template: str) -> Iterator[str]:
    seen: set[str] = set()
    for place, part in enumerate(re.split(r"\{\{([a-z_]+)\}\}", template)):
        if place % 2 == 0:
            yield re.escape(part)
        elif part in seen:
            yield f"(?P={part})"
        else:
            seen.add(part)
            yield VALUE.replace("VALUE", part)
