"""`logs` and `wait` on real runs, and what a terminal is shown."""

import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.cli.staged_runs import FIRST, Stage, drive_elsewhere, ledger_of, make_repository, play, state_folder

from burnish.core.events import BudgetReached, WorkLost, WorkStarted
from burnish.core.values import replace
from burnish.runtime.context import RunContext, as_json
from burnish.runtime.journal import Journal
from burnish.runtime.script import RehearsalScript
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.loading import PolicyOrigin
from burnish.settings.types import AgentSettings, Settings
from burnish.system.identifiers import identity_of, this_process
from burnish.usecases.follow_run import PIECE_BYTES

Burnish = Callable[..., tuple[int, str, str]]

FIXED = RehearsalScript(
    protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection; low", "clean")}, fixes=("fixed",)
)
UNDECIDED = RehearsalScript(
    protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection",) * 3}, fixes=("fixed", "fixed")
)


@pytest.fixture
def repository(folder: Path) -> Path:
    return make_repository(folder)


@pytest.fixture
def logs(repository: Path) -> Path:
    """The folder of a run's logs."""
    folder = state_folder(repository) / "runs" / FIRST / "logs"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def held(repository: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process drives a run, whose first review lasts until it is stopped."""
    child = drive_elsewhere(repository, "review:1")
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.communicate()


def test_all_logs_in_the_order_of_the_work(burnish: Burnish, repository: Path, logs: Path) -> None:
    play(repository, FIXED)
    (logs / "review-2-reviewer-1.log").write_text("looks good\n")
    (logs / "fix-1-1.log").write_text("fixing …\nno end of line")
    (logs / "review-1-reviewer-1.log").write_text("reading\n\x1b[31mred\x1b[0m\nover\rwritten\n")
    assert burnish("logs", FIRST) == snapshot(
        (
            0,
            """\
==> review:1:reviewer:1 <==
reading
red
over
written

==> fix:1:1 <==
fixing …
no end of line

==> review:2:reviewer:1 <==
looks good
""",
            "",
        )
    )
    assert burnish("logs", "latest", "review:2") == (0, "==> review:2:reviewer:1 <==\nlooks good\n", "")
    assert burnish("logs", FIRST, "fix", "-f") == (0, "==> fix:1:1 <==\nfixing …\nno end of line\n", "")


def test_the_stream_of_a_client_is_told_in_words_unless_it_is_wanted_raw(
    burnish: Burnish, repository: Path, logs: Path
) -> None:
    settings = Settings(agents={"reader": AgentSettings(kind=AgentKind.CODEX)})
    with ledger_of(repository) as ledger:
        stage = Stage(ledger, FIXED)
        begun = replace(
            stage.started(), context=as_json(RunContext(settings=settings, policy=PolicyOrigin.BASE, merge_base="0"))
        )
        journal = Journal.begin(ledger, begun, this_process())
        journal.record(WorkStarted(at=stage.now(), effect="validate:1:1", agent="reader"))
        journal.release()
    events: list[dict[str, object]] = [
        {"type": "thread.started", "thread_id": "1"},
        {"type": "item.started", "item": {"type": "command_execution", "command": "ls \x1b[2J -a"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "Clean.\n==> fix:1:1 <=="}},
        {"type": "turn.completed", "usage": {}},
    ]
    stream = "".join(f"{json.dumps(event)}\n" for event in events)
    (logs / "validate-1-1.log").write_text(f"warning: old\n{stream}")
    header = "==> validate:1:1 <==\nwarning: old\n"
    shown = f"{header}runs ls -a\nClean. ==> fix:1:1 <==\n  Clean.\n  ==> fix:1:1 <==\n"
    assert burnish("logs", FIRST) == (0, shown, "")
    assert burnish("logs", FIRST, "--raw") == (0, f"{header}{stream}", "")


def test_logs_that_are_not_there(burnish: Burnish, repository: Path) -> None:
    play(repository, FIXED)
    assert burnish("logs", FIRST) == (0, f"{FIRST} has no logs yet.\n", "")
    assert burnish("logs", FIRST, "review:9") == snapshot(
        (
            2,
            "",
            """\
error: 20231114-221320-aaaaaa has no log 'review:9'.
hint: Its logs are validate:1:1, review:1:reviewer:1, fix:1:1, review:2:reviewer:1, validate:2:1 and 1 more.
""",
        )
    )
    assert burnish("logs", FIRST, "-f", "--json")[0] == 2


def test_logs_for_programs(burnish: Burnish, repository: Path, logs: Path) -> None:
    play(repository, FIXED)
    (logs / "fix-1-1.log").write_text("fixing\n")
    shown = json.loads(burnish("logs", FIRST, "fix", "--json")[1])
    assert shown["logs"] == [{"effect": "fix:1:1", "path": str(logs / "fix-1-1.log"), "bytes": 7}]


def test_the_runner_of_the_background_and_preparations(burnish: Burnish, repository: Path, logs: Path) -> None:
    play(repository, FIXED)
    (logs.parent / "runner.log").write_text("round 1\n")
    (logs / "prepare-1.log").write_text("installing\n")
    assert burnish("logs", FIRST, "runner") == (0, "==> runner <==\nround 1\n", "")
    assert burnish("logs", FIRST) == (0, "==> prepare-1 <==\ninstalling\n", "")


def test_a_link_in_the_place_of_a_log_is_not_followed(burnish: Burnish, repository: Path, logs: Path) -> None:
    play(repository, FIXED)
    (repository / "secret").write_text("secret\n")
    (logs / "fix-1-1.log").symlink_to(repository / "secret")
    assert "secret" not in burnish("logs", FIRST)[1]


def test_lines_and_characters_longer_than_a_piece_come_out_whole(
    burnish: Burnish, repository: Path, logs: Path
) -> None:
    play(repository, FIXED)
    text = "a" * (PIECE_BYTES - 1) + "é" * PIECE_BYTES + "\n" + "line\n" * PIECE_BYTES
    (logs / "fix-1-1.log").write_text(text, encoding="utf-8")
    assert burnish("logs", FIRST)[1] == f"==> fix:1:1 <==\n{text}"


def test_a_beginning_that_ends_in_a_digit_means_that_number(burnish: Burnish, repository: Path, logs: Path) -> None:
    with ledger_of(repository) as ledger:
        Stage(ledger, FIXED).begin().release()
    (logs / "part1.log").write_text("one\n")
    (logs / "part10.log").write_text("ten\n")
    assert burnish("logs", FIRST, "part1")[1] == "==> part1 <==\none\n"
    assert "ten" in burnish("logs", FIRST, "part")[1]


def test_following_shows_what_is_written_meanwhile(repository: Path, logs: Path) -> None:
    with ledger_of(repository) as ledger:
        stage = Stage(ledger, FIXED)
        journal = stage.begin()
        journal.record(WorkStarted(at=stage.now(), effect="validate:1:1", agent="burnish"))
        log = logs / "validate-1-1.log"
        log.write_text("first\nhalf")
        with subprocess.Popen(
            [sys.executable, "-m", "burnish", "logs", "-f", FIRST], stdout=subprocess.PIPE, text=True
        ) as follower:
            assert follower.stdout is not None
            assert [follower.stdout.readline() for _ in range(2)] == ["==> validate:1:1 <==\n", "first\n"]
            with log.open("a") as stream:
                stream.write(" a line\nlast")
            assert follower.stdout.readline() == "half a line\n"
            journal.release()
            assert follower.stdout.read() == "last\n"
        assert follower.returncode == 0


def test_following_one_attempt_ends_with_it(repository: Path, logs: Path) -> None:
    with ledger_of(repository) as ledger:
        stage = Stage(ledger, FIXED)
        journal = stage.begin()
        journal.record(WorkStarted(at=stage.now(), effect="validate:1:1", agent="burnish"))
        (logs / "validate-1-1.log").write_text("first\nlast")
        (logs / "part1.log").write_text("preparing\n")
        program = [sys.executable, "-m", "burnish", "logs", "-f", FIRST]
        with (
            subprocess.Popen([*program, "validate:1:1"], stdout=subprocess.PIPE, text=True) as follower,
            subprocess.Popen([*program, "part1"], stdout=subprocess.PIPE, text=True) as other,
        ):
            assert follower.stdout is not None
            assert [follower.stdout.readline() for _ in range(2)] == ["==> validate:1:1 <==\n", "first\n"]
            journal.record(WorkLost(at=stage.now(), effect="validate:1:1"))
            assert follower.stdout.read() == "last\n"
            assert follower.wait() == 0
            assert other.poll() is None  # this is no attempt
            journal.release()
            assert other.communicate()[0] == "==> part1 <==\npreparing\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (FIXED, 0),
        (UNDECIDED, 3),
        (RehearsalScript(protocol="ticket", reviews={"*": ("scores 1 1 1 1 1 1",) * 3}, fixes=("fixed",) * 2), 1),
        (RehearsalScript(protocol="drift", reviews={"*": ("crashed",)}), 4),
    ],
)
def test_wait_exits_as_the_run_would_have(
    burnish: Burnish, repository: Path, script: RehearsalScript, code: int
) -> None:
    play(repository, script)
    assert burnish("wait", "latest")[0] == code
    assert burnish("wait", FIRST, "--json")[0] == code


def test_wait_for_a_run_that_was_too_dear(burnish: Burnish, repository: Path) -> None:
    with ledger_of(repository) as ledger:
        journal = Stage(ledger, FIXED).begin()
        journal.record(BudgetReached(at=journal.state.started.at, limit="cost_usd"))
        journal.release()
    assert burnish("wait")[0] == 5


def test_wait_for_a_run_that_has_ended(burnish: Burnish, repository: Path) -> None:
    play(repository, FIXED)
    assert burnish("wait") == snapshot(
        (
            0,
            """\
20231114-221320-aaaaaa: approved: no blocking findings in round 2
Next: burnish show 20231114-221320-aaaaaa
      shows the run; its seal is no longer valid for commit-1
""",
            "",
        )
    )


def test_nobody_drives_the_run(burnish: Burnish, repository: Path) -> None:
    with ledger_of(repository) as ledger:
        Stage(ledger, FIXED).begin().release()
    assert burnish("wait", FIRST) == snapshot(
        (
            4,
            "20231114-221320-aaaaaa: interrupted: validation 1, not active\n",
            "The run is not active. Continue it with: burnish resume 20231114-221320-aaaaaa\n",
        )
    )


def test_the_driver_was_killed(burnish: Burnish, held: "subprocess.Popen[str]") -> None:
    held.kill()
    held.wait()
    code, out, err = burnish("wait", FIRST)
    assert code == 4
    assert "interrupted: reviewing round 1" in out
    assert f"burnish resume {FIRST}" in err


def test_the_time_is_over(burnish: Burnish, held: "subprocess.Popen[str]") -> None:
    code, out, err = burnish("wait", FIRST, "--timeout", "0")
    assert code == 4
    assert out == f"{FIRST}: running: reviewing round 1, by {identity_of(held.pid)}\n"
    assert err == f"Timed out; the run is still active.\nhint: wait again with: burnish wait {FIRST}\n"


def test_wait_sees_the_end_of_a_run_in_another_process(burnish: Burnish, held: "subprocess.Popen[str]") -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "burnish", "wait", FIRST], stdout=subprocess.PIPE, text=True
    ) as waiter:
        assert burnish("cancel", FIRST)[0] == 0
        out, _ = waiter.communicate(timeout=60)
    assert waiter.returncode == 1
    assert out.startswith(f"{FIRST}: cancelled: a person cancelled the run\n")
    assert held.communicate(timeout=60)[0] == "cancelled\n"


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """What a terminal receives."""
    reading, writing = pty.openpty()
    said: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(reading, 65_536):
                said.append(piece)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    try:
        subprocess.run(
            [sys.executable, "-m", "burnish", *arguments],
            stdout=writing,
            env={**os.environ, "TERM": "xterm", **environment},
            check=True,
            timeout=60,
        )
    finally:
        os.close(writing)
        reader.join()
        os.close(reading)
    return b"".join(said).decode().replace("\r\n", "\n")


def test_colour_on_a_terminal_only_and_not_where_it_is_unwanted(
    burnish: Burnish, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    play(repository, FIXED)
    plain = burnish("show")[1]
    assert "\x1b" not in plain
    assert "\x1b[32mapproved\x1b[0m" in on_a_terminal("show")
    assert on_a_terminal("show", NO_COLOR="1") == plain
    assert on_a_terminal("show", TERM="dumb") == plain
