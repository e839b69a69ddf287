"""A command runs to its end, within its limits, and nothing of it stays behind."""

import asyncio
import os
import resource
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.system.running import run_until_ready

from burnish.core.values import replace
from burnish.core.work import ProcessMark
from burnish.system import process_table
from burnish.system.identifiers import identity_of, is_known_dead
from burnish.system.process import Command, Finished, How, ProcessError, ProcessLimits, run, run_now, start_detached

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
Runner = Callable[[Command], Finished]


def shell(script: str, folder: Path, stdin: bytes = b"") -> Command:
    return Command(argv=("sh", "-c", script), folder=str(folder), environment=ENVIRONMENT, stdin=stdin)


def python(code: str, folder: Path, stdin: bytes = b"") -> Command:
    return Command(argv=(sys.executable, "-c", code), folder=str(folder), environment=ENVIRONMENT, stdin=stdin)


def beside_others(command: Command) -> Finished:
    return asyncio.run(run(command, ProcessLimits(seconds=60)))


@pytest.fixture(params=[beside_others, run_now], ids=["async", "now"])
def runner(request: pytest.FixtureRequest) -> Runner:
    return request.param


def is_gone(pid: int) -> bool:
    return is_known_dead(identity_of(pid))


def test_both_channels_and_the_exit_code_come_back(runner: Runner, tmp_path: Path) -> None:
    finished = runner(shell("cat; echo out; echo err >&2; exit 3", tmp_path, stdin=b"in\n"))
    assert finished.how is How.EXITED
    assert (finished.code, finished.signal) == (3, None)
    assert (finished.stdout, finished.stdout_cut, finished.stderr_tail) == (b"in\nout\n", False, "err\n")
    assert 0 < finished.seconds < 60


def test_a_signal_is_not_an_exit_code(runner: Runner, tmp_path: Path) -> None:
    finished = runner(shell("kill -KILL $$", tmp_path))
    assert (finished.how, finished.code, finished.signal) == (How.EXITED, None, signal.SIGKILL)


def test_much_input_and_output_at_once_do_not_wait_for_each_other(runner: Runner, tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    assert runner(Command(argv=("cat",), folder=str(tmp_path), environment=ENVIRONMENT, stdin=data)).stdout == data


def test_input_that_nobody_reads_is_no_error(runner: Runner, tmp_path: Path) -> None:
    finished = runner(shell("exec 0<&-; echo done", tmp_path, stdin=b"x" * 3_000_000))
    assert (finished.code, finished.stdout) == (0, b"done\n")


def test_nothing_of_our_environment_is_handed_on(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_TEST_SECRET", "secret")
    assert b"BURNISH_TEST_SECRET" not in runner(shell("env", tmp_path)).stdout


def test_arguments_reach_the_program_as_they_are(runner: Runner, tmp_path: Path) -> None:
    arguments = ("$(id)", "a b", "*", "; exit 3", "\udcff")
    command = Command(argv=("printf", r"%s\n", *arguments), folder=str(tmp_path), environment=ENVIRONMENT)
    assert runner(command).stdout.splitlines() == [os.fsencode(argument) for argument in arguments]


def test_no_file_that_it_writes_becomes_larger_than_allowed(runner: Runner, tmp_path: Path) -> None:
    """Neither by the command nor by what it starts; and nothing of the limit stays with us, or with the next one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    script = "truncate -s 5000 small; (truncate -s 20000 large); head -c 20000 /dev/zero > cut; true"
    assert runner(replace(shell(script, tmp_path), file_bytes=10_240)).code == 0
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == {"small": 5000, "large": 0, "cut": 10_240}
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before
    assert runner(shell("truncate -s 20000 large", tmp_path)).code == 0
    assert (tmp_path / "large").stat().st_size == 20_000


def test_a_stricter_limit_of_the_user_stays(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        finished = run_now(replace(shell("ulimit -f", tmp_path), file_bytes=10**12))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert int(finished.stdout) * 512 <= 1_000_000


def test_a_background_child_ends_with_its_leader(runner: Runner, tmp_path: Path) -> None:
    finished = runner(shell("sleep 300 >/dev/null 2>&1 & echo $!", tmp_path))
    assert finished.how is How.EXITED
    assert is_gone(int(finished.stdout))


def test_a_background_child_that_refuses_to_end_is_killed(tmp_path: Path) -> None:
    stubborn = "trap '' TERM; echo $$; exec 1>&-; while :; do sleep 300; done"
    command = shell(f'(sh -c "{stubborn.replace("$", chr(92) + "$")}" &) | head -n 1', tmp_path)
    finished = asyncio.run(run(command, ProcessLimits(seconds=60, grace_seconds=0.1)))
    assert (finished.how, finished.code) == (How.EXITED, 0)
    assert is_gone(int(finished.stdout))


ESCAPE = """
import os, signal
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    print(os.getpid(), flush=True)
    os.write(writing, b"x")
    signal.pause()
os.read(reading, 1)
"""


def test_a_child_that_fled_with_the_pipes_does_not_hold_us_up(runner: Runner, tmp_path: Path) -> None:
    finished = runner(python(ESCAPE, tmp_path))
    pid = int(finished.stdout)
    try:
        assert (finished.how, finished.code) == (How.EXITED, 0)
        assert not is_gone(pid)
        assert finished.seconds < 30
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("no-such-program", "'no-such-program' was not found on the PATH."),
        ("./missing", "'./missing' was not found."),
        ("./folder", "'./folder' is a folder."),
        ("./plain", "'./plain' may not be executed: look at its permissions."),
        ("./orphan", "'./orphan' cannot be run: the interpreter that its first line names was not found."),
        ("./empty", "'./empty' is in no format that this machine runs; a script needs a first line with #!."),
    ],
)
def test_what_cannot_start_is_said_in_words(runner: Runner, tmp_path: Path, program: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("#!/bin/sh\n")
    for name, text in (("orphan", "#!/no/such/interpreter\n"), ("empty", "\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    command = Command(argv=(program,), folder=str(tmp_path), environment=ENVIRONMENT)
    assert runner(command) == Finished(how=How.COULD_NOT_START, message=message)


def test_a_missing_folder_too_many_arguments_and_none_cannot_start(runner: Runner, tmp_path: Path) -> None:
    missing = runner(shell("true", tmp_path / "missing"))
    assert missing.message == f"The folder '{tmp_path}/missing' does not exist."
    too_much = runner(Command(argv=("true", *["x" * 100_000] * 200), folder=str(tmp_path), environment=ENVIRONMENT))
    assert too_much.message == "'true' was given more arguments or environment than the system allows."
    assert runner(Command(argv=("a\0b",), folder=str(tmp_path), environment={})).how is How.COULD_NOT_START
    assert runner(Command(argv=(), folder=str(tmp_path), environment={})).how is How.COULD_NOT_START


def test_the_program_inside_a_wrapper_is_looked_for_before(runner: Runner, tmp_path: Path) -> None:
    command = Command(argv=("env", "nope"), folder=str(tmp_path), environment=ENVIRONMENT, program="nope")
    assert runner(command).message == "'nope' was not found on the PATH."


def test_the_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    command = shell("sleep 300 & echo $!; wait", tmp_path)
    for finished in (asyncio.run(run(command, ProcessLimits(seconds=1))), run_now(command, seconds=1)):
        assert (finished.how, finished.code, finished.signal) == (How.TIMED_OUT, None, signal.SIGTERM)
        assert is_gone(int(finished.stdout))


def test_who_cleans_up_within_the_grace_is_let(tmp_path: Path) -> None:
    command = shell("trap 'echo cleaned; exit 7' TERM; echo > ready; sleep 300 & wait", tmp_path)
    finished = run_until_ready(command, tmp_path / "ready")
    assert (finished.how, finished.code, finished.stdout) == (How.STOPPED, 7, b"cleaned\n")


def test_who_ignores_the_request_is_killed(tmp_path: Path) -> None:
    command = shell("trap '' TERM; echo > ready; while :; do sleep 300; done", tmp_path)
    finished = run_until_ready(command, tmp_path / "ready", grace_seconds=0.1)
    assert (finished.how, finished.signal) == (How.STOPPED, signal.SIGKILL)


def test_one_that_was_stopped_is_woken_to_end(tmp_path: Path) -> None:
    finished = asyncio.run(run(shell("kill -STOP $$", tmp_path), ProcessLimits(seconds=0.2, grace_seconds=60)))
    assert (finished.how, finished.signal) == (How.TIMED_OUT, signal.SIGTERM)


def test_silence_is_an_end_and_talk_is_not(tmp_path: Path) -> None:
    silent = asyncio.run(run(shell("echo once; sleep 300", tmp_path), ProcessLimits(silent_seconds=1)))
    assert (silent.how, silent.stdout) == (How.SILENT, b"once\n")
    talk = asyncio.run(
        run(shell("for i in 1 2 3 4 5; do echo >&2; sleep 0.3; done", tmp_path), ProcessLimits(silent_seconds=1))
    )
    assert talk.how is How.EXITED
    assert talk.seconds > 1


def test_a_stop_from_outside_ends_it(tmp_path: Path) -> None:
    async def stop_once_it_runs() -> Finished:
        stop = asyncio.Event()
        marks: list[ProcessMark] = []

        def note(mark: ProcessMark) -> None:
            marks.append(mark)
            stop.set()

        finished = await run(shell("sleep 300", tmp_path), ProcessLimits(), on_start=note, stop=stop)
        assert is_gone(marks[0].pid)
        return finished

    finished = asyncio.run(stop_once_it_runs())
    assert (finished.how, finished.signal) == (How.STOPPED, signal.SIGTERM)


def test_a_stop_before_the_start_starts_nothing(tmp_path: Path) -> None:
    async def stopped() -> Finished:
        stop = asyncio.Event()
        stop.set()
        return await run(shell("touch started", tmp_path), ProcessLimits(), stop=stop)

    assert asyncio.run(stopped()).how is How.STOPPED
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_task_leaves_no_process(tmp_path: Path) -> None:
    async def cancel_once_it_runs() -> int:
        started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        command = shell("trap '' TERM; sleep 300", tmp_path)
        task = asyncio.create_task(run(command, ProcessLimits(), on_start=lambda mark: started.set_result(mark.pid)))
        pid = await started
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    pid = asyncio.run(cancel_once_it_runs())
    assert is_gone(pid)
    assert process_table.group_members(pid) == []


def test_a_start_that_cannot_be_noted_is_taken_back(tmp_path: Path) -> None:
    pids: list[int] = []

    def refuse(mark: ProcessMark) -> None:
        pids.append(mark.pid)
        raise ProcessError("The ledger is gone.")

    with pytest.raises(ProcessError, match="ledger"):
        asyncio.run(run(shell("sleep 300", tmp_path), ProcessLimits(), on_start=refuse))
    assert is_gone(pids[0])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process started")
def test_the_mark_is_that_of_the_process(tmp_path: Path) -> None:
    async def compare() -> bool:
        same: list[bool] = []
        await run(
            shell("read line", tmp_path),
            ProcessLimits(),
            on_start=lambda mark: same.append(process_table.is_alive(mark)),
        )
        return same == [True]

    assert asyncio.run(compare())


def test_many_run_side_by_side(tmp_path: Path) -> None:
    async def all_of_them() -> list[Finished]:
        data = b"y" * 200_000
        return await asyncio.gather(*(run(shell(f"cat; echo {n}", tmp_path, data), ProcessLimits()) for n in range(20)))

    for number, finished in enumerate(asyncio.run(all_of_them())):
        assert finished.stdout == b"y" * 200_000 + f"{number}\n".encode()


def test_no_descriptor_is_left(runner: Runner, tmp_path: Path) -> None:
    runner(shell("true", tmp_path))
    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - the listing itself opens one, a Path would as well
    for command in (shell("cat", tmp_path, b"x" * 200_000), shell("sleep 0 &", tmp_path), shell("exit 1", tmp_path)):
        runner(command)
    runner(Command(argv=("no-such-program",), folder=str(tmp_path), environment=ENVIRONMENT))
    assert len(os.listdir("/dev/fd")) == before  # noqa: PTH208 - as above


def test_the_exit_is_noticed_without_the_kernels_descriptor(
    runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    finished = runner(shell("echo a; exit 4", tmp_path))
    assert (finished.how, finished.code, finished.stdout) == (How.EXITED, 4, b"a\n")


STARTER = """
import sys
from pathlib import Path
from burnish.system.process import Command, start_detached
script, folder = sys.argv[1:]
command = Command(argv=("sh", "-c", script), folder=folder, environment={"PATH": "/usr/bin:/bin"})
print(start_detached(command, Path(folder, "log")).pid)
"""


def test_a_detached_process_outlives_its_starter(tmp_path: Path) -> None:
    for name in ("go", "done"):
        os.mkfifo(tmp_path / name)
    script = "cat; echo ready; read line < go; echo said >&2; echo done > done"
    argv = (sys.executable, "-c", STARTER, script, str(tmp_path))
    starter = run_now(Command(argv=argv, folder=str(tmp_path), environment=ENVIRONMENT))
    pid = int(starter.stdout)
    assert os.getsid(pid) == pid
    (tmp_path / "go").write_text("go\n")
    assert (tmp_path / "done").read_text() == "done\n"
    assert (tmp_path / "log").read_text() == "ready\nsaid\n"
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600


def test_a_detached_process_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    command = Command(argv=("no-such-program",), folder=str(tmp_path), environment=ENVIRONMENT)
    with pytest.raises(ProcessError, match="was not found on the PATH"):
        start_detached(command, tmp_path / "log")


def test_one_run_after_another_leaves_no_listener_on_a_closed_pipe(tmp_path: Path) -> None:
    complaints: list[dict[str, object]] = []

    async def scene() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
        command = Command(
            argv=("sh", "-c", "echo out; echo err >&2"), folder=str(tmp_path), environment=dict(os.environ)
        )
        for _ in range(20):
            await run(command, ProcessLimits(seconds=30))
            await asyncio.sleep(0)

    asyncio.run(scene())
    assert complaints == []
