"""`status` and `show` on real runs: whole outputs, exit codes, and a repository that stays as it was."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.cli.staged_runs import FIRST, SECOND, THIRD, Stage, ledger_of, make_repository, play, state_folder

from burnish.agents.services import Note, Work
from burnish.core.events import AnyEvent, Mode, Reviewed, WorkStarted
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.ledger.interface import NewEvent
from burnish.runtime.script import RehearsalScript
from burnish.system import clock

Burnish = Callable[..., tuple[int, str, str]]

FIXED = RehearsalScript(
    protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection; low", "clean")}, fixes=("fixed",)
)
UNDECIDED = RehearsalScript(
    protocol="epic",
    reviews={"reviewer": ("critical app.py:3 SQL injection",) * 3},
    fixes=("fixed", "fixed"),
)
HOURS = 3_600


@pytest.fixture
def repository(folder: Path) -> Path:
    return make_repository(folder)


def test_no_runs_yet(burnish: Burnish, repository: Path) -> None:
    assert burnish("status") == snapshot(
        (0, "There are no runs here yet. Start one with 'burnish review' or 'burnish fix'.\n", "")
    )
    assert json.loads(burnish("status", "--json")[1]) == {"version": 1, "runs": [], "left_out": 0}
    assert burnish("show") == snapshot(
        (
            2,
            "",
            """\
error: There are no runs here yet.
hint: Start one with 'burnish review' or 'burnish fix'.
""",
        )
    )
    for command in (["status", "2026"], ["wait"], ["logs", "latest"], ["decide", "x", "a"], ["cancel", "x"]):
        assert burnish(*command)[0] == 2
    assert not state_folder(repository).exists()


def test_outside_of_a_repository(burnish: Burnish, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    code, out, err = burnish("status")
    assert (code, out) == (2, "")
    assert "not in a Git repository" in err


def test_every_state_in_one_table(burnish: Burnish, repository: Path) -> None:
    now = clock.now()
    play(repository, FIXED, FIRST, now - 50.5 * HOURS)
    play(repository, UNDECIDED, SECOND, now - 2.5 * HOURS)
    with ledger_of(repository) as ledger:
        Stage(ledger, FIXED, THIRD, now - 90).begin().release()
    assert burnish("status") == snapshot(
        (
            0,
            """\
RUN                     STATE        PROTOCOL  BRANCH  ROUNDS  BLOCKING  AGE
20231115-001320-cccccc  interrupted  epic      change  0/3     0         1 min
20231114-231320-bbbbbb  waiting      epic      change  3/3     1         2 h
20231114-221320-aaaaaa  approved     epic      change  2/3     0         2 d
20231115-001320-cccccc is interrupted:
Next: burnish resume 20231115-001320-cccccc
      continues the run
20231114-231320-bbbbbb is waiting for a person:
Next: burnish decide 20231114-231320-bbbbbb a
      Manual review and fix (pause autonomous workflow)
Next: burnish decide 20231114-231320-bbbbbb b
      Accept findings and mark story complete (not recommended)
Next: burnish decide 20231114-231320-bbbbbb c && burnish resume 20231114-231320-bbbbbb
      Continue with 1 more review round (override limit)
""",
            "",
        )
    )


def test_a_run_with_a_living_writer_is_running(burnish: Burnish, repository: Path) -> None:
    with ledger_of(repository) as ledger:
        journal = Stage(ledger, FIXED).begin()
        code, out, _ = burnish("status", "latest", "--json")
        (row,) = json.loads(out)["runs"]
        assert (code, row["state"], row["interrupted"]) == (0, "running", False)
        assert "running" in burnish("status")[1]
        journal.release()
    (row,) = json.loads(burnish("status", "--json")[1])["runs"]
    assert (row["state"], row["interrupted"], row["process"]) == ("running", True, None)


def test_what_each_agent_of_a_running_run_does_now(burnish: Burnish, repository: Path) -> None:
    logs = state_folder(repository) / "runs" / FIRST / "logs"
    logs.mkdir(parents=True)
    (logs / "validate-1-1.log").write_text("collecting\nrunning \x1b[2Jtests\n")
    with ledger_of(repository) as ledger:
        journal = Stage(ledger, FIXED).begin()
        journal.record(WorkStarted(at=clock.now() - 125.0, effect="validate:1:1", agent="burnish"))
        (row,) = json.loads(burnish("status", "--json")[1])["runs"]
        (work,) = row["at_work"]
        assert work.pop("seconds") >= 125.0
        assert work == {
            "effect": "validate:1:1",
            "name": "validation",
            "agent": "burnish",
            "doing": "running tests",
        }
        line = "  validation: running tests · 2:0"
        table, one = burnish("status")[1].splitlines(), burnish("status", FIRST)[1].splitlines()
        assert table[-2] == f"{FIRST} is running:"
        assert table[-1].startswith(line)
        assert one[1].startswith(line)
        journal.release()
    # Nobody drives it any more: what was being done is not done now.
    assert "running tests" not in burnish("status", FIRST)[1]
    assert "running tests" not in burnish("status")[1]


def test_the_rows_for_programs(burnish: Burnish, repository: Path) -> None:
    play(repository, UNDECIDED)
    code, out, _ = burnish("status", "--json")
    assert code == 0
    assert json.loads(out) == snapshot(
        {
            "version": 1,
            "runs": [
                {
                    "run": "20231114-221320-aaaaaa",
                    "state": "waiting",
                    "interrupted": False,
                    "outcome": None,
                    "reason": "1 blocking finding remains after 3 reviews",
                    "protocol": "epic",
                    "mode": "fix",
                    "branch": "change",
                    "base": "main",
                    "rounds": 3,
                    "limit": 3,
                    "blocking": 1,
                    "choices": ["a", "b", "c"],
                    "started_at": 1700000000.0,
                    "process": None,
                    "at_work": [],
                }
            ],
            "left_out": 0,
        }
    )


def test_only_the_newest_twenty_unless_all_are_wanted(burnish: Burnish, repository: Path) -> None:
    for number in range(22):
        play(repository, FIXED, f"20231114-2213{number:02}-aaaaaa")
    out = burnish("status")[1]
    assert out.splitlines()[1].startswith("20231114-221321-aaaaaa")
    assert out.splitlines()[-1] == "2 older runs: burnish status --all"
    assert len(out.splitlines()) == 22
    assert len(burnish("status", "--all")[1].splitlines()) == 23


def test_status_of_a_waiting_run_lists_the_choices(burnish: Burnish, repository: Path) -> None:
    play(repository, UNDECIDED)
    assert burnish("status", "latest") == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: waiting: 1 blocking finding remains after 3 reviews
After 3 review rounds, issues remain: critical 1, important 0, minor 0
Findings document: docs/progress/story-change-review-findings-round-3.md
  a) Manual review and fix (pause autonomous workflow)
  b) Accept findings and mark story complete (not recommended)
  c) Continue with 1 more review round (override limit)
Next: burnish decide 20231114-221320-aaaaaa a
      Manual review and fix (pause autonomous workflow)
Next: burnish decide 20231114-221320-aaaaaa b
      Accept findings and mark story complete (not recommended)
Next: burnish decide 20231114-221320-aaaaaa c && burnish resume 20231114-221320-aaaaaa
      Continue with 1 more review round (override limit)
""",
            "",
        )
    )


def test_status_of_an_interrupted_run_names_the_way_on(burnish: Burnish, repository: Path) -> None:
    with ledger_of(repository) as ledger:
        Stage(ledger, FIXED).begin().release()
    assert burnish("status", FIRST) == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: interrupted: validation 1, not active
Next: burnish resume 20231114-221320-aaaaaa
      continues the run
""",
            "",
        )
    )


def test_names_by_their_beginning(burnish: Burnish, repository: Path) -> None:
    play(repository, FIXED, FIRST)
    play(repository, FIXED, SECOND)
    assert burnish("status", FIRST[:11])[0] == 0
    assert burnish("show", "20231114-2") == snapshot(
        (
            2,
            "",
            """\
error: '20231114-2' matches 2 runs: 20231114-231320-bbbbbb, 20231114-221320-aaaaaa.
hint: Type more of the name.
""",
        )
    )
    assert burnish("show", FIRST[:-1] + "b") == snapshot(
        (
            2,
            "",
            """\
error: There is no run '20231114-221320-aaaaab'.
hint: Did you mean 20231114-221320-aaaaaa, 20231114-231320-bbbbbb?
""",
        )
    )
    assert burnish("show", "zzz") == snapshot(
        (
            2,
            "",
            """\
error: There is no run 'zzz'.
hint: 'burnish status' lists the runs of this repository.
""",
        )
    )
    assert burnish("show", "")[0] == 2


def test_the_latest_of_two_in_one_second(burnish: Burnish, repository: Path) -> None:
    play(repository, FIXED, "20231114-221320-zzzzzz", 1_700_000_000.1)
    play(repository, FIXED, "20231114-221320-aaaaaa", 1_700_000_000.7)
    assert json.loads(burnish("show", "--json")[1])["run"] == "20231114-221320-aaaaaa"
    rows = json.loads(burnish("status", "--json")[1])["runs"]
    assert [row["run"] for row in rows] == ["20231114-221320-aaaaaa", "20231114-221320-zzzzzz"]


def test_show_an_approved_run(burnish: Burnish, repository: Path) -> None:
    play(repository, FIXED)
    assert burnish("show") == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: approved: no blocking findings in round 2
  change against main, protocol epic, fix, 2 of at most 3 rounds
  commit commit-1, tree tree-1

Round 1, tree tree-0
  reviewer: 1 critical, 1 low
  judgement: 1 blocking
  fix: fixed, commit commit-1: fixed
    no answer for a2860039, 9e4958cd

Round 2, tree tree-1
  reviewer: clean
  judgement: clean

critical
  a2860039 resolved app.py:3 SQL injection (reviewer, round 1)
low
  9e4958cd resolved Low problem 2 (reviewer, round 1)

Examined: 1 of 1 changed file (1 read by an agent)

Seal: seal-of-tree-1 (approved)
Usage: 2.0 s of agent time

Next: burnish show 20231114-221320-aaaaaa
      shows the run; its seal is no longer valid for commit-1
""",
            "",
        )
    )


def test_show_a_waiting_run(burnish: Burnish, repository: Path) -> None:
    play(repository, UNDECIDED)
    assert burnish("show", FIRST) == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: waiting: 1 blocking finding remains after 3 reviews
  change against main, protocol epic, fix, 3 of at most 3 rounds
  commit commit-2, tree tree-2

Round 1, tree tree-0
  reviewer: 1 critical
  judgement: 1 blocking
  fix: fixed, commit commit-1: fixed
    no answer for a2860039

Round 2, tree tree-1
  reviewer: 1 critical
  judgement: 1 blocking
  fix: fixed, commit commit-2: fixed
    no answer for a2860039

Round 3, tree tree-2
  reviewer: 1 critical
  judgement: 1 blocking

critical
  a2860039 blocks app.py:3 SQL injection (reviewer, round 1)

1 blocking finding

Examined: 1 of 1 changed file (1 read by an agent)

Seal: none
Usage: 3.0 s of agent time

After 3 review rounds, issues remain: critical 1, important 0, minor 0
Findings document: docs/progress/story-change-review-findings-round-3.md
  a) Manual review and fix (pause autonomous workflow)
  b) Accept findings and mark story complete (not recommended)
  c) Continue with 1 more review round (override limit)
Next: burnish decide 20231114-221320-aaaaaa a
      Manual review and fix (pause autonomous workflow)
Next: burnish decide 20231114-221320-aaaaaa b
      Accept findings and mark story complete (not recommended)
Next: burnish decide 20231114-221320-aaaaaa c && burnish resume 20231114-221320-aaaaaa
      Continue with 1 more review round (override limit)
""",
            "",
        )
    )


def test_show_a_review_that_did_not_run(burnish: Burnish, repository: Path) -> None:
    play(repository, RehearsalScript(protocol="drift", mode=Mode.REVIEW, reviews={"reviewer": ("timed-out",)}))
    assert burnish("show") == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: did-not-run: reviewer timed-out: scripted: timed-out
  change against main, protocol drift, review, 1 of at most 6 rounds
  commit commit-0, tree tree-0

Round 1, tree tree-0
  reviewer: did not run, timed-out: scripted: timed-out

Seal: none
Usage: 1.0 s of agent time

Next: burnish logs 20231114-221320-aaaaaa
      shows what went wrong
Next: burnish review --branch change --base main
      tries again
""",
            "",
        )
    )


def test_show_for_programs_is_the_documented_object(burnish: Burnish, repository: Path) -> None:
    play(repository, FIXED)
    code, out, _ = burnish("show", "--json")
    shown = json.loads(out)
    assert (code, shown["version"], shown["outcome"]) == (0, 1, "approved")
    assert [finding["status"] for finding in shown["findings"]] == ["resolved", "resolved"]


class Hostile(Stage):
    """A reviewer whose title wants to be more than a title."""

    async def perform(self, effect: Work, run: Run, stop: asyncio.Event, note: Note) -> AnyEvent:
        event = await super().perform(effect, run, stop, note)
        if not isinstance(event, Reviewed):
            return event
        (finding,) = event.answer.findings
        finding = replace(finding, title="gone\x1b[2J\nNext: rm -rf ~")
        return replace(event, answer=replace(event.answer, findings=(finding,)))


def test_text_of_an_agent_steers_no_terminal_and_forges_no_line(burnish: Burnish, repository: Path) -> None:
    script = RehearsalScript(protocol="epic", mode=Mode.REVIEW, reviews={"reviewer": ("critical app.py:3 title",)})
    with ledger_of(repository) as ledger:
        Hostile(ledger, script).play()
    for command in ("show", "findings"):
        out = burnish(command, FIRST)[1]
        assert "\x1b" not in out
        assert "gone Next: rm -rf ~" in out
        assert not [line for line in out.splitlines() if line.startswith("Next: rm")]


def test_a_run_of_a_newer_burnish_hides_no_other(burnish: Burnish, repository: Path) -> None:
    play(repository, FIXED, FIRST)
    with ledger_of(repository) as ledger:
        ledger.append(f"run/{SECOND}", 0, [NewEvent(kind="Decided", body=b'{"type":"novelty"}', at=1.0, intent=True)])
    code, out, _ = burnish("status")
    assert code == 0
    assert "unreadable" in out
    assert "approved" in out
    code, out, err = burnish("show", SECOND)
    assert (code, out) == (4, "")
    assert "newer version of burnish" in err


def test_looking_changes_nothing(burnish: Burnish, repository: Path) -> None:
    play(repository, UNDECIDED)
    with ledger_of(repository) as ledger:
        before = (ledger.version(f"run/{FIRST}"), ledger.current_lease(f"run/{FIRST}"))
    files = sorted(path.relative_to(repository) for path in repository.rglob("*"))
    for command in (["status"], ["status", FIRST], ["show"], ["findings", FIRST], ["logs", FIRST], ["wait"]):
        burnish(*command)
    assert sorted(path.relative_to(repository) for path in repository.rglob("*")) == files
    with ledger_of(repository) as ledger:
        assert (ledger.version(f"run/{FIRST}"), ledger.current_lease(f"run/{FIRST}")) == before
