"""`decide`, `cancel` and `findings` on real runs: what is taken, what is refused, and who is woken."""

import json
import os
import re
import signal
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.cli.staged_runs import FIRST, Stage, drive_elsewhere, ledger_of, make_repository, play

from burnish.core.events import AnyEvent, Decided, FindingRefuted, FindingWaived, RunStarted, decode
from burnish.core.values import replace
from burnish.runtime.script import RehearsalScript
from burnish.system.identifiers import identity_of
from burnish.testing.repositories import branch_with_two_defects

Burnish = Callable[..., tuple[int, str, str]]

BLOCKED = "critical app.py:3 SQL injection; high app.py:9 no test"
UNDECIDED = RehearsalScript(protocol="epic", reviews={"reviewer": (BLOCKED,) * 3}, fixes=("fixed", "fixed"))
STORY = RehearsalScript(protocol="story", reviews={"*": ("critical app.py:3 SQL injection, not-done",) * 5})
SQL_INJECTION = "a2860039"


@pytest.fixture(autouse=True)
def known_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.delenv("BURNISH_RUN", raising=False)


@pytest.fixture
def repository(folder: Path) -> Path:
    return make_repository(folder)


@pytest.fixture
def waiting_run(repository: Path) -> Path:
    """A run that waits for a, b or c, with nobody driving it."""
    play(repository, UNDECIDED)
    return repository


@pytest.fixture
def elsewhere(repository: Path) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Drives a run in another process, until it says that work is held or a question is asked."""
    children: list[subprocess.Popen[str]] = []

    def start(holding: str) -> "subprocess.Popen[str]":
        child = drive_elsewhere(repository, holding)
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() in ("held\n", "asked\n")
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


def events(repository: Path) -> list[AnyEvent]:
    with ledger_of(repository) as ledger:
        return [decode(event.body) for event in ledger.read(f"run/{FIRST}")]


def test_a_choice_that_ends_the_run(burnish: Burnish, waiting_run: Path) -> None:
    assert burnish("decide", FIRST, "a", "--note", "Ada looks at it") == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: blocked: a person took over: Ada looks at it
Fix the blocking findings by hand and commit, then:
Next: burnish fix --branch change --base main
      reviews the change again
""",
            "",
        )
    )
    (decided,) = [event for event in events(waiting_run) if isinstance(event, Decided)]
    assert (decided.choice, decided.note, decided.by) == ("a", "Ada looks at it", "ada")


def test_a_choice_that_somebody_must_carry_out(burnish: Burnish, waiting_run: Path) -> None:
    assert burnish("decide", "latest", "c") == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: fixing after round 3: 2 required
The run is not active. Continue it with: burnish resume 20231114-221320-aaaaaa
""",
            "",
        )
    )


def test_a_choice_for_programs(burnish: Burnish, waiting_run: Path) -> None:
    code, out, err = burnish("decide", FIRST, "A", "--json")
    assert code == 0
    assert "Next: burnish fix --branch change --base main\n" in err
    shown = json.loads(out)
    assert (shown["version"], shown["state"], shown["outcome"]) == (1, "ended", "blocked")


def test_a_choice_that_is_not_offered(burnish: Burnish, waiting_run: Path) -> None:
    before = events(waiting_run)
    assert burnish("decide", FIRST, "z") == snapshot(
        (
            2,
            "",
            """\
error: 'z' is not a choice of 20231114-221320-aaaaaa. Choose one of a, b, c.
hint: 'burnish status 20231114-221320-aaaaaa' explains them.
""",
        )
    )
    assert burnish("decide", FIRST, "b", "--agent", "codex") == snapshot(
        (
            2,
            "",
            """\
error: The choice 'b' does not use another agent.
hint: Omit --agent.
""",
        )
    )
    assert events(waiting_run) == before


def test_a_decision_that_nobody_waits_for(burnish: Burnish, waiting_run: Path) -> None:
    burnish("decide", FIRST, "a")
    assert burnish("decide", FIRST, "a") == snapshot(
        (
            2,
            "",
            """\
error: 20231114-221320-aaaaaa has already ended (blocked); there is nothing to decide.
hint: 'burnish show 20231114-221320-aaaaaa' shows it.
""",
        )
    )
    assert burnish("cancel", FIRST) == snapshot(
        (
            2,
            "",
            """\
error: 20231114-221320-aaaaaa has already ended (blocked); it cannot be cancelled.
hint: 'burnish show 20231114-221320-aaaaaa' shows it.
""",
        )
    )


def test_another_agent_by_name(burnish: Burnish, repository: Path) -> None:
    play(repository, STORY)
    assert "2) " in burnish("status", FIRST)[1]
    assert burnish("decide", FIRST, "2", "--agent", "codex")[0] == 0
    (decided,) = [event for event in events(repository) if isinstance(event, Decided)]
    assert decided.agent == "codex"


def test_another_agent_is_not_the_same_one(burnish: Burnish, repository: Path) -> None:
    """Without a fallback there is no other agent: the person must name one."""
    play(repository, STORY)
    code, _, err = burnish("decide", FIRST, "2")
    assert code == 2
    assert err == snapshot("""\
error: The choice '2' needs another agent, and 20231114-221320-aaaaaa has none.
hint: Name it with --agent NAME.
""")
    assert not [event for event in events(repository) if isinstance(event, Decided)]


def test_the_other_agent_is_on_record(burnish: Burnish, repository: Path) -> None:
    play(repository, replace(STORY, fallbacks={"review": "claude"}))
    assert burnish("decide", FIRST, "2")[0] == 0
    (decided,) = [event for event in events(repository) if isinstance(event, Decided)]
    assert decided.agent == "claude"


@pytest.mark.parametrize(
    "command",
    [
        ["decide", FIRST, "b"],
        ["cancel", FIRST],
        ["findings", FIRST, "waive", SQL_INJECTION, "--reason", "trust me"],
        ["findings", FIRST, "refute", SQL_INJECTION, "--evidence", "trust me"],
    ],
)
def test_an_agent_cannot_open_its_own_gate(
    burnish: Burnish, waiting_run: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    before = events(waiting_run)
    monkeypatch.setenv("BURNISH_RUN", FIRST)
    code, _, err = burnish(*command)
    assert code == 2
    assert err.startswith("error: An agent cannot decide for a person: this command was called inside a run.\n")
    assert events(waiting_run) == before


def test_cancel_an_interrupted_run(burnish: Burnish, repository: Path) -> None:
    with ledger_of(repository) as ledger:
        Stage(ledger, UNDECIDED).begin().release()
    assert burnish("cancel", FIRST, "--note", "not needed") == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: cancelled: a person cancelled the run: not needed
Next: burnish fix --branch change --base main
      starts a new run
""",
            "",
        )
    )


def test_cancel_wakes_the_runner_of_another_process(
    burnish: Burnish, elsewhere: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    child = elsewhere("review:1")
    assert "running" in burnish("status", FIRST)[1]
    code, out, _ = burnish("cancel", FIRST)
    assert code == 0
    assert out.startswith(f"{FIRST}: stopping: a person cancelled the run\n")
    assert child.communicate(timeout=60)[0] == "cancelled\n"
    assert child.returncode == 0


def test_decide_wakes_the_runner_that_asks(
    burnish: Burnish, elsewhere: Callable[[str], "subprocess.Popen[str]"]
) -> None:
    child = elsewhere("nothing")
    assert burnish("decide", FIRST, "a")[0] == 0
    assert child.communicate(timeout=60)[0] == "blocked\n"
    assert child.returncode == 0


def test_a_later_process_with_the_same_number_is_not_woken(burnish: Burnish, waiting_run: Path) -> None:
    """The wake-up signal ends a process that does not expect it."""
    bystander = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        with ledger_of(waiting_run) as ledger:
            former = replace(identity_of(bystander.pid), started="1")
            ledger.acquire_lease(f"run/{FIRST}", former, 1.0, 1e12)
        code, out, _ = burnish("decide", FIRST, "c")
        assert code == 0
        assert "burnish resume" in out
        bystander.communicate(timeout=60)
        assert bystander.returncode == 0
    finally:
        bystander.kill()
        bystander.communicate()


def test_after_the_end_the_driver_is_not_disturbed(burnish: Burnish, waiting_run: Path) -> None:
    burnish("decide", FIRST, "a")
    landing = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    try:
        with ledger_of(waiting_run) as ledger:
            ledger.acquire_lease(f"run/{FIRST}", identity_of(landing.pid), 1.0, 1e12)
        assert burnish("findings", FIRST, "annotate", SQL_INJECTION, "--note", "see the ticket")[0] == 0
        landing.communicate(timeout=60)
        assert landing.returncode == 0
    finally:
        landing.kill()
        landing.communicate()


def test_the_wake_up_signal_would_have_ended_the_bystander() -> None:
    """The proof that the test above can fail."""
    bystander = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    os.kill(bystander.pid, signal.SIGUSR1)
    bystander.communicate(timeout=60)
    assert bystander.returncode == -signal.SIGUSR1


def test_a_writer_on_another_machine_is_believed_while_its_lease_lasts(burnish: Burnish, waiting_run: Path) -> None:
    with ledger_of(waiting_run) as ledger:
        owner = replace(identity_of(os.getpid()), host="elsewhere", space="other")
        ledger.acquire_lease(f"run/{FIRST}", owner, 1.0, 1e12)
        assert "burnish resume" not in burnish("decide", FIRST, "c")[1]
        lease = ledger.current_lease(f"run/{FIRST}")
        assert lease is not None
        ledger.renew_lease(lease, 1.0, 1.0)
    assert "interrupted" in burnish("status", FIRST)[1]


def test_findings_listed(burnish: Burnish, waiting_run: Path) -> None:
    assert burnish("findings", FIRST) == snapshot(
        (
            0,
            """\
critical
  a2860039 blocks app.py:3 SQL injection (reviewer, round 1)
high
  4fa6a917 blocks app.py:9 no test (reviewer, round 1)
""",
            "",
        )
    )
    shown = json.loads(burnish("findings", FIRST, "--json")[1])
    assert [finding["severity"] for finding in shown["findings"]] == ["critical", "high"]


def test_no_findings(burnish: Burnish, repository: Path) -> None:
    play(repository, RehearsalScript(protocol="epic", reviews={"reviewer": ("clean",)}))
    assert burnish("findings", FIRST) == (0, f"{FIRST} has no findings.\n", "")


def test_refute_and_waive(burnish: Burnish, waiting_run: Path) -> None:
    code, out, _ = burnish("findings", FIRST, "refute", SQL_INJECTION, "--evidence", "line 3 is a constant")
    assert code == 0
    assert out.startswith(f"{FIRST}: waiting")
    listed = burnish("findings", FIRST)[1]
    assert "refuted app.py:3 SQL injection" in listed
    assert "refuted: line 3 is a constant (ada, 20" in listed
    rest = next(line.split()[0] for line in listed.splitlines() if "no test" in line)
    code, out, err = burnish("findings", FIRST, "waive", rest, "--reason", "tested by hand")
    assert (code, out, re.sub(r"\d{4}-\d\d-\d\d", "DAY", err)) == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: validation 2, before sealing
The run is not active. Continue it with: burnish resume 20231114-221320-aaaaaa
""",
            """\
The waiver applies to this branch, and its seal will be of kind 'waived'.
To make it permanent, add this to burnish.toml of main:

[[waivers]]
finding = "4fa6a917075c25ff"
reason = "tested by hand"
about = "app.py: no test"
by = "ada"
date = "DAY"
""",
        )
    )
    said = [event for event in events(waiting_run) if isinstance(event, FindingRefuted | FindingWaived)]
    assert [event.by for event in said] == ["ada", "ada"]


def test_words_that_are_missing(burnish: Burnish, waiting_run: Path) -> None:
    before = events(waiting_run)
    assert burnish("findings", FIRST, "refute", SQL_INJECTION, "--evidence", "  ") == snapshot(
        (
            2,
            "",
            """\
error: A refutation needs evidence.
hint: Use --evidence to say what proves that the finding is false.
""",
        )
    )
    assert burnish("findings", FIRST, "waive", SQL_INJECTION, "--reason", "") == snapshot(
        (
            2,
            "",
            """\
error: A waiver needs a reason.
hint: Use --reason to say why you accept the risk.
""",
        )
    )
    assert burnish("findings", FIRST, "waive", SQL_INJECTION) == snapshot(
        (
            2,
            "",
            """\
error: 'waive' needs --reason.
hint: Try 'burnish findings --help'.
""",
        )
    )
    assert burnish("findings", FIRST, "waive", SQL_INJECTION, "--evidence", "x") == snapshot(
        (
            2,
            "",
            """\
error: Use --evidence only with 'refute'.
hint: Try 'burnish findings --help'.
""",
        )
    )
    assert burnish("findings", FIRST, "refute", "--evidence", "x") == snapshot(
        (
            2,
            "",
            """\
error: 'refute' needs the ID of a finding.
hint: Try 'burnish findings --help'.
""",
        )
    )
    assert burnish("findings", FIRST, "add", "--title", "x") == snapshot(
        (
            2,
            "",
            """\
error: 'add' needs --severity.
hint: Try 'burnish findings --help'.
""",
        )
    )
    assert burnish("findings", FIRST, "annotate", SQL_INJECTION, "--note", " ")[0] == 2
    assert events(waiting_run) == before


def test_ids_that_are_not_there(burnish: Burnish, waiting_run: Path) -> None:
    def refute(name: str) -> tuple[int, str, str]:
        return burnish("findings", FIRST, "refute", name, "--evidence", "x")

    assert refute("a2860040") == snapshot(
        (
            2,
            "",
            """\
error: 20231114-221320-aaaaaa has no finding 'a2860040'.
hint: Did you mean a2860039?
""",
        )
    )
    assert refute("injection") == snapshot(
        (
            2,
            "",
            """\
error: 20231114-221320-aaaaaa has no finding 'injection'.
hint: Did you mean a2860039?
""",
        )
    )
    assert refute("zzz") == snapshot(
        (
            2,
            "",
            """\
error: 20231114-221320-aaaaaa has no finding 'zzz'.
hint: 'burnish findings 20231114-221320-aaaaaa' lists them.
""",
        )
    )
    assert refute("")[0] == 2
    assert refute(SQL_INJECTION[:3])[0] == 0
    assert refute(SQL_INJECTION) == snapshot(
        (
            2,
            "",
            """\
error: The finding a2860039 is already refuted: x
hint: 'burnish findings 20231114-221320-aaaaaa' lists the open findings.
""",
        )
    )


def test_a_note_for_the_fixer(burnish: Burnish, waiting_run: Path) -> None:
    code, out, _ = burnish("findings", FIRST, "annotate", SQL_INJECTION, "--note", "use parameters\x1b[2J", "--json")
    assert code == 0
    assert json.loads(out)["state"] == "waiting"
    assert "note: use parameters\n" in burnish("findings", FIRST)[1]


def test_a_finding_of_ones_own(burnish: Burnish, folder: Path) -> None:
    builder = branch_with_two_defects(folder)
    with ledger_of(folder) as ledger:
        stage = Real(ledger, RehearsalScript(protocol="epic", reviews={"reviewer": ("ask high calc.py:1 which mean",)}))
        stage.commit, stage.tree = builder.head, builder.tree
        stage.play()
    add = ["findings", FIRST, "add", "--severity", "high", "--title", "Divides by zero"]
    code, _, err = burnish(*add, "--file", "gone.py")
    assert code == 2
    assert err.startswith("error: There is no file 'gone.py' in the tree under review.\n")
    assert builder.head[:12] in err
    assert burnish(*add, "--file", "../calc.py")[0] == 2
    assert burnish(*add, "--file", "calc.py", "--line", "3")[0] == 2
    assert burnish(*add, "--line", "2")[0] == 2
    code, out, _ = burnish(*add, "--file", "./calc.py", "--line", "2", "--problem", "when empty", "--json")
    assert code == 0
    added = json.loads(out)["findings"][-1]
    assert (added["file"], added["line"], added["found_by"]) == ("calc.py", 2, ["ada"])
    assert burnish(*add, "--file", "calc.py", "--line", "2")[0] == 2
    assert "problem: when empty" in burnish("findings", FIRST)[1]


class Real(Stage):
    """A run on commits that are there."""

    commit = ""
    tree = ""

    def started(self) -> RunStarted:
        started = super().started()
        return replace(started, subject=replace(started.subject, head=self.commit, tree=self.tree))


def test_a_run_that_waits_for_nobody_takes_no_finding(burnish: Burnish, waiting_run: Path) -> None:
    burnish("decide", FIRST, "a")
    assert burnish("findings", FIRST, "add", "--severity", "low", "--title", "x") == snapshot(
        (
            2,
            "",
            """\
error: You can add a finding only while a run is waiting for a person; 20231114-221320-aaaaaa is not.
hint: 'burnish show 20231114-221320-aaaaaa' shows its state.
""",
        )
    )


def test_the_latest_run_is_meant_where_none_is_named_and_one_finding_is_shown_in_full(
    burnish: Burnish, waiting_run: Path
) -> None:
    assert burnish("findings") == burnish("findings", FIRST)
    code, out, err = burnish("findings", SQL_INJECTION)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split()[1].startswith(SQL_INJECTION)
    assert burnish("findings", FIRST, SQL_INJECTION[:4])[1] == out
    one = json.loads(burnish("findings", SQL_INJECTION, "--json")[1])["finding"]
    assert one["id"].startswith(SQL_INJECTION)
    assert {"rule", "problem", "impact", "evidence", "suggestion", "fixable", "code", "count"} <= one.keys()
    assert burnish("findings", "latest", "x")[0] == 2
    assert burnish("findings", "refute", SQL_INJECTION, "more", "--evidence", "x")[0] == 2
    assert waiting_run.is_dir()


def test_what_was_waived_is_exported_with_reason_author_and_day(
    burnish: Burnish, waiting_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER", "ada")
    monkeypatch.setenv("LOGNAME", "ada")
    code, out, err = burnish("findings", "export")
    assert (code, out) == (0, "")
    assert "No finding of" in err
    assert burnish("findings", "waive", SQL_INJECTION, "--reason", 'a "constant"')[0] == 0
    document = tomllib.loads(burnish("findings", "export")[1])
    (waiver,) = document["waivers"]
    assert (waiver["finding"][:8], waiver["reason"], waiver["by"]) == (SQL_INJECTION, 'a "constant"', "ada")
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", waiver["date"])
    assert f'waived: a "constant" (ada, {waiver["date"]})' in burnish("findings")[1]
    assert burnish("findings", "export", SQL_INJECTION)[0] == 2
    assert waiting_run.is_dir()
