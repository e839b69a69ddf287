"""What a command says is kept within bounds, written down as it comes, and harmless to show."""

import asyncio
import os
import stat
import sys
from pathlib import Path

import pytest

from burnish.system.process import Command, How, ProcessError, ProcessLimits, run, run_now
from burnish.system.process_output import LOG_BYTES, TAIL_BYTES, Log

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def shell(script: str, folder: Path) -> Command:
    return Command(argv=("sh", "-c", script), folder=str(folder), environment=ENVIRONMENT)


def test_the_log_holds_both_channels_as_they_came(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    script = "echo one; echo two >&2; echo three"
    finished = asyncio.run(run(shell(script, tmp_path), ProcessLimits(kept_bytes=5), log=log))
    assert (finished.stdout, finished.stdout_cut) == (b"one\nt", True)
    assert sorted(log.read_text().split()) == ["one", "three", "two"]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_the_log_is_written_while_the_process_runs(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    os.mkfifo(tmp_path / "go")

    async def look_meanwhile() -> str:
        task = asyncio.create_task(
            run(shell("echo early; read line < go; echo late", tmp_path), ProcessLimits(), log=log)
        )
        while not log.exists() or not log.read_text():
            await asyncio.sleep(0)
        early = log.read_text()
        (tmp_path / "go").write_text("go\n")
        await task
        return early

    assert asyncio.run(look_meanwhile()) == "early\n"
    assert log.read_text() == "early\nlate\n"


def test_a_log_is_bounded_and_says_so(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", limit=10)
    for _ in range(5):
        log.write(b"abcd")
    log.close()
    assert (tmp_path / "log").read_bytes() == b"abcdabcdab\n[the log ends here: it holds 10 bytes at most]\n"
    assert LOG_BYTES == 64 * 1024 * 1024


def test_commands_that_share_a_log_share_its_size(tmp_path: Path) -> None:
    for _ in range(3):
        log = Log(tmp_path / "log", limit=10)
        log.write(b"abcdef")
        log.close()
    assert (tmp_path / "log").read_bytes() == b"abcdefabcd\n[the log ends here: it holds 10 bytes at most]\n"


def test_an_agent_that_floods_its_log_is_neither_stopped_nor_kept_waiting(tmp_path: Path) -> None:
    """200 MB on each channel; the agent's own pipes must never fill up."""
    log = tmp_path / "agent.log"
    flood = "head -c 200000000 /dev/zero; head -c 200000000 /dev/zero >&2; echo done > finished"
    finished = asyncio.run(run(shell(flood, tmp_path), ProcessLimits(seconds=120, kept_bytes=1000), log=log))
    assert (finished.how, finished.code) == (How.EXITED, 0)
    assert (tmp_path / "finished").read_text() == "done\n"
    note = b"\n[the log ends here: it holds %d bytes at most]\n" % LOG_BYTES
    assert log.stat().st_size == LOG_BYTES + len(note)
    with log.open("rb") as stream:
        stream.seek(-len(note), os.SEEK_END)
        assert stream.read() == note


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_does_not_end_the_work(tmp_path: Path) -> None:
    before = Path("/dev/full").stat().st_mode
    finished = asyncio.run(run(shell("echo a; echo b", tmp_path), ProcessLimits(), log=Path("/dev/full")))
    assert (finished.code, finished.stdout) == (0, b"a\nb\n")
    assert finished.message == "The log could not be written: No space left on device."
    assert Path("/dev/full").stat().st_mode == before, "root took it from all other users"


def test_a_log_that_cannot_be_opened_or_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("missing/log", "link"):
        with pytest.raises(ProcessError, match="cannot be opened"):
            asyncio.run(run(shell("true", tmp_path), ProcessLimits(), log=tmp_path / name))
    assert not (tmp_path / "elsewhere").exists()


def test_why_it_could_not_start_is_in_the_log(tmp_path: Path) -> None:
    command = Command(argv=("no-such-program",), folder=str(tmp_path), environment=ENVIRONMENT)
    asyncio.run(run(command, ProcessLimits(), log=tmp_path / "log"))
    assert (tmp_path / "log").read_text() == "'no-such-program' was not found on the PATH.\n"


def test_the_end_of_the_error_channel_is_kept_and_harmless(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write('x' * 200000 + '\\x1b[31mred\\x1b[0m\\r\\n\\x07end\\u202e')"
    tail = run_now(Command(argv=(sys.executable, "-c", code), folder="/", environment=ENVIRONMENT)).stderr_tail
    assert tail.endswith("xred\nend")
    assert TAIL_BYTES - 40 < len(tail) <= TAIL_BYTES


def test_output_that_must_be_whole_is_never_cut(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="more than 3 bytes"):
        run_now(shell("printf 1234", tmp_path), kept_bytes=3)
    assert run_now(shell("printf 123", tmp_path), kept_bytes=3).stdout == b"123"
