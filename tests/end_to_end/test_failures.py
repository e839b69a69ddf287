"""Failures around the work: rate limits, time limits, programs that are not there. None of them is a review."""

from pathlib import Path

import pytest

from burnish.core.events import WorkFailed, WorkStarted
from tests.end_to_end.machine import CHATTERS, HANGS
from tests.end_to_end.playing import real_events
from tests.end_to_end.plots import rehearsed, staged
from tests.end_to_end.simple import CLEAN, FIRST_REVIEW, FIXED, PASS, drift_machine
from tests.end_to_end.world import Before, check_nothing_left
from tests.trails.test_epic import SCENARIOS as EPIC
from tests.trails.test_ticket import SCENARIOS as TICKET

LIMITED = "echo 'Too many requests: try again in {} s' >&2\nexit 1"


def test_a_rate_limit_is_waited_for_and_uses_up_no_round(tmp_path: Path) -> None:
    plot = rehearsed(EPIC["clean at once"])
    conduct = {FIRST_REVIEW: LIMITED.format(1), "review:1:reviewer:2": plot.conduct[FIRST_REVIEW]}
    machine = staged(tmp_path, plot._replace(conduct=conduct))
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    assert (done.code, len(done.view["rounds"])) == (0, 1)
    run = done.view["run"]
    events = real_events(machine, run)
    failed = next(event for event in events if isinstance(event, WorkFailed))
    again = next(event for event in events if isinstance(event, WorkStarted) and event.effect == "review:1:reviewer:2")
    assert failed.failure.retry_after == 1
    assert again.at - failed.at >= 1
    check_nothing_left(machine, before, run)


def test_a_run_that_pauses_is_cancelled_at_once(tmp_path: Path) -> None:
    plot = rehearsed(EPIC["clean at once"])
    machine = staged(tmp_path, plot._replace(conduct={"review:*": LIMITED.format(600)}))
    before = Before.of(machine)
    process = machine.start("fix", "--json")
    run = machine.wait_for_run(process)
    machine.wait_until(process, lambda ledger: "WorkFailed" in [event.kind for event in ledger.read(f"run/{run}")])
    assert machine.burnish("cancel", run).code == 0
    done = machine.end_of(process)
    assert (done.code, done.view["outcome"]) == (1, "cancelled")
    check_nothing_left(machine, before, run)


@pytest.mark.parametrize(
    ("lines", "words", "kind"),
    [
        (CHATTERS, ("--timeout", "0.5"), "timed-out"),
        pytest.param("exit 127", (), "cannot-run", marks=pytest.mark.prove),
        ("exit 3", (), "crashed"),
        pytest.param("kill -9 $$", (), "crashed", marks=pytest.mark.prove),
        pytest.param("exit 0", (), "unreadable", marks=pytest.mark.prove),
        ('echo \'{"verdict": "maybe", "followUpPrompt": ""}\'', (), "unreadable"),
    ],
)
def test_the_drift_protocol_ends_at_the_first_failure(
    tmp_path: Path, lines: str, words: tuple[str, ...], kind: str
) -> None:
    machine = drift_machine(tmp_path, {"review:*": lines})
    before = Before.of(machine)
    done = machine.burnish("fix", "--json", *words)
    assert (done.code, done.view["outcome"], done.view["seal"]) == (4, "did-not-run", None)
    reviews = done.view["rounds"][0]["reviews"]
    assert [(review["status"], review["failure"]["kind"]) for review in reviews] == [("did-not-run", kind)]
    assert machine.calls(done.view["run"]) == [FIRST_REVIEW]
    check_nothing_left(machine, before, done.view["run"])


def test_a_reviewer_that_writes_has_not_reviewed(tmp_path: Path) -> None:
    # The folder is read-only for all but root, until its owner changes that.
    machine = drift_machine(tmp_path, {"review:*": f"chmod u+w .\necho more > new.txt\n{PASS}"}, sandbox="off")
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"]) == (4, "did-not-run")
    assert "wrote-to-tree" in done.view["reason"]
    assert "new.txt" in done.view["reason"]
    check_nothing_left(machine, before, done.view["run"])


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    absent = 'review = "absent"\n[agents.absent]\nkind = "command"\ncommand = ["no-such-reviewer"]\n'
    machine = drift_machine(tmp_path, CLEAN, settings=absent)
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"]) == (4, "did-not-run")
    assert "no-such-reviewer" in done.view["reason"]
    check_nothing_left(machine, before, done.view["run"])


@pytest.mark.prove
def test_checks_that_take_too_long_are_tried_again(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, {**CLEAN, "validate:1:1": HANGS, "validate:1:2": "exit 0"})
    script = machine.agents / "agent.sh"
    (tmp_path / "settings" / "burnish").mkdir()
    limits = f'[timeouts]\nvalidation = 1.0\n[validate]\ntests = ["sh", "{script}"]\n'
    (tmp_path / "settings" / "burnish" / "config.toml").write_text(limits)
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved")
    assert machine.calls(done.view["run"]) == [FIRST_REVIEW, "validate:1:1", "validate:1:2"]
    check_nothing_left(machine, before, done.view["run"])


@pytest.mark.parametrize("sandbox", ["auto", pytest.param("off", marks=pytest.mark.prove)])
def test_an_agent_that_never_stops_writing_is_stopped_by_the_size_of_its_file(tmp_path: Path, sandbox: str) -> None:
    flood = "truncate -s 1M small && truncate -s 2M large && echo flooded\nexit 9"
    settings = "[workspace]\nfile_megabytes = 1\n"
    machine = drift_machine(tmp_path, {**FIXED, "fix:*": flood}, settings=settings, sandbox=sandbox)
    before = Before.of(machine)
    done = machine.burnish("fix", "--json")
    assert (done.code, done.view["outcome"]) == (4, "did-not-run")
    log = machine.state / "runs" / done.view["run"] / "logs" / "fix-1-1.log"
    assert "flooded" not in log.read_text()
    check_nothing_left(machine, before, done.view["run"])


def test_a_report_of_another_ticket_or_revision_approves_nothing(tmp_path: Path) -> None:
    plot = rehearsed(TICKET["passes at once"])
    (effect, right), *_ = [(effect, lines) for effect, lines in plot.conduct.items() if effect.startswith("review:")]
    other_ticket = right.replace('"ticket_id": "change"', '"ticket_id": "other"')
    other_revision = right.replace('"revision_count": 0', '"revision_count": 1')
    assert right not in (other_ticket, other_revision)
    machine = staged(tmp_path, plot._replace(conduct={effect: other_ticket, "review:*": other_revision}))
    done = machine.burnish("review", "--json")
    assert (done.code, done.view["outcome"], done.view["seal"]) == (4, "did-not-run", None)
    events = real_events(machine, done.view["run"])
    messages = [event.failure.message for event in events if isinstance(event, WorkFailed)]
    assert messages[0] == "The report is about the ticket 'other', not about 'change'."
    assert set(messages[1:]) == {"The report is about revision 1, not about 0."}
