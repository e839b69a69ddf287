"""A confined command sees what it needs, writes where it may, and ends with whoever started it."""

import asyncio
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from tests.system.running import run_until_ready

from burnish.core.errors import ErrorKind
from burnish.core.values import replace
from burnish.system import process_table, survivors
from burnish.system.process import Command, Finished, How, ProcessLimits, run, run_now
from burnish.system.sandbox import (
    DEFAULT_SECRETS,
    Confinement,
    Sandbox,
    SandboxError,
    SandboxKind,
    choose,
    confine,
    why_not,
)

PATH = "/usr/local/bin:/usr/bin:/bin"
Confined = Callable[..., Command]


@pytest.fixture(params=[SandboxKind.BUBBLEWRAP, SandboxKind.LANDLOCK], ids=lambda kind: kind.value)
def kind(request: pytest.FixtureRequest) -> SandboxKind:
    if reason := why_not(request.param):
        pytest.skip(f"optional: {reason}")
    return request.param


@pytest.fixture
def confined(kind: SandboxKind, tmp_path: Path) -> Confined:
    return confined_in(kind, tmp_path)


@pytest.fixture
def in_bubblewrap(tmp_path: Path) -> Confined:
    if reason := why_not(SandboxKind.BUBBLEWRAP):
        pytest.skip(f"optional: {reason}")
    return confined_in(SandboxKind.BUBBLEWRAP, tmp_path)


def confined_in(kind: SandboxKind, tmp_path: Path) -> Confined:
    """Confine a command; beside the arguments of a confinement it takes a folder and an environment."""
    (tmp_path / "temporary").mkdir()

    def make(*argv: str, folder: Path = tmp_path, environment: dict[str, str] | None = None, **more: object) -> Command:
        command = Command(argv=argv, folder=str(folder), environment={"PATH": PATH, **(environment or {})})
        confinement = replace(Confinement(temporary=str(tmp_path / "temporary")), **more)
        return confine(Sandbox(kind=kind), command, confinement)

    return make


def said(command: Command) -> str:
    finished = run_now(command)
    assert finished.code == 0, finished
    return finished.stdout.decode().strip()


def test_the_exit_code_input_and_output_are_the_commands(confined: Confined) -> None:
    command = replace(confined("sh", "-c", "cat; echo err >&2; exit 3"), stdin=b"in")
    finished = run_now(command)
    assert (finished.how, finished.code, finished.stdout) == (How.EXITED, 3, b"in")
    assert finished.stderr_tail == "err\n"


def test_the_temporary_folder_is_also_home(confined: Confined, tmp_path: Path) -> None:
    script = 'echo kept > "$TMPDIR/file" && echo "$HOME" "$TMPDIR"'
    temporary = tmp_path / "temporary"
    assert said(confined("sh", "-c", script)) == f"{temporary} {temporary}"
    assert (temporary / "file").read_text() == "kept\n"
    assert said(confined("sh", "-c", "echo $HOME", environment={"HOME": "/elsewhere"})) == "/elsewhere"


def test_only_what_is_writable_can_be_written(confined: Confined, tmp_path: Path) -> None:
    for name in ("clone", "checkout"):
        (tmp_path / name).mkdir()
    script = "echo a > clone/a; mkdir clone/b; mv clone/a clone/b; echo a > checkout/a; echo a > a; ls clone/b"
    places = {"writable": (str(tmp_path / "clone"),), "readable": (str(tmp_path),)}
    assert said(confined("sh", "-c", script, **places)) == "a"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "checkout", "clone", "temporary"]


def test_a_path_through_a_link_is_the_path_it_leads_to(confined: Confined, tmp_path: Path) -> None:
    (tmp_path / "real" / "clone").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    clone = tmp_path / "link" / "clone"
    assert said(confined("sh", "-c", "echo a > a; cat a", folder=clone, writable=(str(clone),))) == "a"
    assert (tmp_path / "real" / "clone" / "a").read_text() == "a\n"


def test_the_folder_of_the_command_is_seen_and_not_written(confined: Confined, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\necho seen; echo a > b\n")
    (tmp_path / "script").chmod(0o755)
    assert run_now(confined("./script")).stdout == b"seen\n"
    assert not (tmp_path / "b").exists()


def test_an_owned_path_is_reached_through_folders_of_the_user(in_bubblewrap: Confined, tmp_path: Path) -> None:
    """In a user namespace `/` belongs to another user, unless this user is root, who may have homes of others on it."""
    (tmp_path / "kept" / "rules").mkdir(parents=True)
    (tmp_path / "link").symlink_to("kept")
    (tmp_path / "beside").mkdir()
    for folder in (tmp_path / "kept" / "rules", tmp_path / "link" / "rules"):
        route = " ".join(str(path) for path in (folder, *folder.parents))
        script = (
            f"stat --format=%u {route} | sort -u; touch /new {tmp_path}/kept/new /usr/new; test -e {tmp_path}/beside"
        )
        finished = run_now(
            in_bubblewrap("sh", "-c", script, owned=(str(folder),), readable=(str(folder),), folder=folder)
        )
        assert (finished.stdout.decode(), finished.code) == (f"{os.getuid()}\n", 1)
        assert finished.stderr_tail.count("Read-only file system") == 2, finished.stderr_tail
        assert not (tmp_path / "kept" / "new").exists()


def test_hidden_paths_cannot_be_read_unless_given_back(confined: Confined, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    (secret / "own").mkdir(parents=True)
    (secret / "key").write_text("key")
    (secret / "own" / "token").write_text("token")
    (tmp_path / "file").write_text("file")
    script = "cat secret/key secret/own/token file linked/key other"
    (tmp_path / "linked").symlink_to("secret")
    (tmp_path / "other").write_text("other")
    places = {"readable": (str(tmp_path),), "hidden": (str(secret), str(tmp_path / "file"))}
    assert run_now(confined("sh", "-c", script, **places)).stdout == b"other"
    given_back = {**places, "readable": (str(tmp_path), str(secret / "own"))}
    assert run_now(confined("sh", "-c", script, **given_back)).stdout == b"tokenother"


def test_a_hidden_path_that_is_a_link_hides_where_it_leads(confined: Confined, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "key").write_text("key")
    (tmp_path / "link").symlink_to("real")
    places = {"readable": (str(tmp_path),), "hidden": (str(tmp_path / "link"),)}
    assert run_now(confined("cat", "real/key", "link/key", **places)).stdout == b""


def test_secrets_of_the_home_are_hidden_by_default(
    confined: Confined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".config" / "gh").mkdir(parents=True)
    for name in (".ssh/id_rsa", ".netrc", ".config/gh/hosts.yml", "notes"):
        (home / name).write_text(name)
    monkeypatch.setenv("HOME", str(home))
    script = "cat home/.ssh/id_rsa home/.netrc home/.config/gh/hosts.yml home/notes"
    assert run_now(confined("sh", "-c", script, readable=(str(home),))).stdout == b"notes"
    assert run_now(confined("sh", "-c", script, readable=("~",))).stdout == b"notes"
    assert "~/.ssh" in DEFAULT_SECRETS


def test_homes_temporary_folders_and_sockets_are_not_seen_in_bubblewrap(
    in_bubblewrap: Confined, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "other").write_text("other")
    own = f"/tmp/{uuid4()}"  # noqa: S108 - another /tmp
    script = f"ls -A /tmp /var/tmp /run ~root /home {tmp_path}; cat {tmp_path}/other; echo a > {own}; cat {own}"
    finished = run_now(in_bubblewrap("sh", "-c", script, folder=tmp_path / "work"))
    seen = {line for line in finished.stdout.decode().splitlines() if line and not line.endswith(":")}
    on_the_way = set(tmp_path.relative_to("/").parts)
    assert seen - on_the_way <= {"temporary", "work", "a", "systemd"}
    assert not Path(own).exists()


def test_an_interpreter_in_the_home_runs(confined: Confined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with pyenv and nvm: a script in one place, its interpreter behind links in another, its library beside it."""
    home = tmp_path / "home"
    version = home / ".manager" / "versions" / "1.0"
    for folder in (version / "bin", version / "lib", home / "tools"):
        folder.mkdir(parents=True)
    (version / "lib" / "words").write_text("library")
    (version / "bin" / "speak").write_text('#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/words"\n')
    (version / "bin" / "speak").chmod(0o755)
    (home / ".manager" / "versions" / "1").symlink_to("1.0")
    (home / "tools" / "agent").symlink_to(home / ".manager" / "versions" / "1" / "bin" / "speak")
    (home / "private").write_text("private")
    monkeypatch.setenv("HOME", str(home))
    work = tmp_path / "work"
    work.mkdir()
    assert said(confined(str(home / "tools" / "agent"), folder=work)) == "library"
    path = {"PATH": f"{home / '.manager' / 'versions' / '1' / 'bin'}:{PATH}"}
    assert said(confined("speak", folder=work, environment=path)) == "library"
    assert said(confined("sh", "-c", "speak", folder=work, environment=path)) == "library"
    linked = {"PATH": f"{home / 'tools'}:{PATH}"}
    assert said(confined("sh", "-c", "agent", folder=work, environment=linked)) == "library"


def test_our_own_interpreter_runs_with_its_packages(confined: Confined) -> None:
    code = "import msgspec, ssl, sqlite3; print('imported')"
    assert said(confined(sys.executable, "-c", code)) == "imported"


def test_a_program_that_is_missing_is_no_exit_code_of_the_sandbox(confined: Confined) -> None:
    finished = run_now(confined("no-such-program"))
    assert (finished.how, finished.message) == (How.COULD_NOT_START, "'no-such-program' was not found on the PATH.")


def test_the_environment_is_the_commands_and_not_on_the_command_line(
    confined: Confined, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_TEST_SECRET", "ours")
    command = confined("env", environment={"KEY": "sk-secret"})
    assert not any("sk-secret" in word for word in command.argv)
    lines = said(command).splitlines()
    assert "KEY=sk-secret" in lines
    assert not any(line.startswith("BURNISH_TEST_SECRET") for line in lines)


def test_the_network_is_there_unless_it_is_taken_away(confined: Confined) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('connected')"
        assert said(confined(sys.executable, "-c", code)) == "connected"
        assert run_now(confined(sys.executable, "-c", code, network=False)).code == 1


def test_a_writable_path_that_is_missing_is_named(confined: Confined, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="missing") as caught:
        confined("true", writable=(str(tmp_path / "missing"),))
    assert caught.value.kind is ErrorKind.INFRASTRUCTURE
    assert said(confined("echo", "fine", readable=(str(tmp_path / "missing"),))) == "fine"


def test_a_confined_command_can_clean_up_before_it_ends(confined: Confined, tmp_path: Path) -> None:
    command = confined("sh", "-c", "trap 'echo cleaned; exit 7' TERM; echo > temporary/ready; sleep 300 & wait")
    finished = run_until_ready(command, tmp_path / "temporary" / "ready")
    assert (finished.how, finished.code, finished.stdout) == (How.STOPPED, 7, b"cleaned\n")


def test_a_confined_command_that_refuses_to_end_is_killed(confined: Confined, tmp_path: Path) -> None:
    script = "trap '' TERM; echo > temporary/ready; while :; do sleep 300; done"
    command = confined("sh", "-c", script, environment={"MARK": "refuses"})
    finished = run_until_ready(command, tmp_path / "temporary" / "ready", grace_seconds=0.1)
    assert (finished.how, finished.signal) == (How.STOPPED, signal.SIGKILL)
    assert survivors.find("MARK", "refuses") == []


def test_a_cancelled_task_leaves_nothing_in_the_sandbox(confined: Confined, tmp_path: Path) -> None:
    life = tmp_path / "temporary" / "life"
    os.mkfifo(life)
    command = confined("sh", "-c", "sleep 300 & echo ready > temporary/life; wait", environment={"MARK": "task"})

    async def cancel() -> None:
        task = asyncio.create_task(run(command, ProcessLimits()))
        await asyncio.to_thread(life.read_text)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert survivors.find("MARK", "task") == []


def test_nothing_runs_after_a_confined_command_has_ended(confined: Confined) -> None:
    """Not even for a moment, nor without its mark, nor in a session of its own."""
    script = "env -i setsid sleep 304 >/dev/null 2>&1 & sleep 304 >/dev/null 2>&1 & ls /proc/self/fd"
    command = confined("sh", "-c", script)
    for _ in range(10):
        assert run_now(command).stdout.split() == [b"0", b"1", b"2", b"3"]
        assert [mark for mark in process_table.living() if _words(mark.pid) == b"sleep\x00304\x00"] == []


def test_a_sandbox_that_could_not_be_set_up_is_told_from_a_program_that_failed(in_bubblewrap: Confined) -> None:
    broken = in_bubblewrap("true")
    missing = ("--ro-bind", "/no/such/path", "/no/such/path")
    end = broken.argv.index("--")
    failed = run_now(replace(broken, argv=(*broken.argv[:end], *missing, *broken.argv[end:])))
    assert (failed.how, failed.sandbox_failed) == (How.COULD_NOT_START, True)
    assert failed.message.startswith("The sandbox could not be set up: Can't find source path /no/such/path")
    words = "bwrap: Can't find source path /no/such/path"
    pretending = run_now(in_bubblewrap("sh", "-c", f'echo "{words}" >&2; exit 1'))
    assert (pretending.how, pretending.code, pretending.sandbox_failed) == (How.EXITED, 1, False)
    killed = run_now(in_bubblewrap("sh", "-c", f'echo "{words}" >&2; kill -9 $$'))
    assert (killed.how, killed.code, killed.sandbox_failed) == (How.EXITED, 137, False)


FLEEING = """
import os, signal, sys
if os.fork():
    signal.pause()
os.setsid()
if os.fork():
    os._exit(0)
ready = os.open(sys.argv[1], os.O_WRONLY)
os.write(ready, b"ready")
os.closerange(0, 100)
waiting = "trap '' TERM HUP; while :; do sleep 60; done"
os.execve("/bin/sh", ["sh", "-c", waiting, sys.argv[2]], {"PATH": "/bin:/usr/bin"})
"""
STARTER_OF_A_SANDBOX = """
import asyncio, json, sys
from burnish.system.process import Command, ProcessLimits, run
command = Command(**{**json.loads(sys.argv[1]), "call_filter": b""})
asyncio.run(run(command, ProcessLimits(), on_start=lambda mark: print(mark.pid, flush=True)))
"""


def test_a_daemon_that_shed_everything_ends_when_its_starter_is_killed(confined: Confined, tmp_path: Path) -> None:
    """It has left its session, its parents, its environment and its descriptors, and ignores requests."""
    ready = tmp_path / "temporary" / "ready"
    os.mkfifo(ready)
    token = f"fled-from-{tmp_path.parent.name}-{tmp_path.name}"
    inside = confined(sys.executable, "-I", "-c", FLEEING, str(ready), token)
    wanted = json.dumps({name: getattr(inside, name) for name in ("argv", "folder", "environment", "supervised")})
    argv = [sys.executable, "-c", STARTER_OF_A_SANDBOX, wanted]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        first = os.pidfd_open(int(starter.stdout.readline()))
        with ready.open("r+b", buffering=0) as told:  # for both, so that opening waits for nothing
            fled = select.select([told], [], [], 20)[0]
        starter.kill()
    assert fled
    try:
        assert select.select([first], [], [], 20)[0], "the first process lives on"
    finally:
        os.close(first)
    # When bubblewrap's first process is gone, the kernel kills the second, and all others with it: that takes a moment.
    left = [entry for entry in process_table.living() if token.encode() in _words(entry.pid).split(b"\0")]
    stayed = [entry for entry in left if not _ends_within(entry.pid, 20)]
    survivors.end([entry.mark for entry in stayed], 0.0)
    assert stayed == []


def _ends_within(pid: int, seconds: float) -> bool:
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], seconds)[0])
    finally:
        os.close(watched)


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_survivors_are_found_inside_a_sandbox_and_end(confined: Confined, tmp_path: Path) -> None:
    life = tmp_path / "temporary" / "life"
    os.mkfifo(life)
    command = confined("sh", "-c", 'echo ready > "$TMPDIR/life"; exec sleep 300', environment={"MARK": "inside"})

    async def end_from_outside() -> Finished:
        task = asyncio.create_task(run(command, ProcessLimits()))
        await asyncio.to_thread(life.read_text)
        assert survivors.end_all("MARK", "inside", 10) > 0
        return await task

    assert asyncio.run(end_from_outside()).how is How.EXITED
    assert survivors.find("MARK", "inside") == []


STARTER = """
import asyncio, sys
from burnish.system.process import Command, ProcessLimits, run
command = Command(argv=tuple(sys.argv[2:]), folder="/", environment={"PATH": "/usr/bin:/bin", "TMPDIR": sys.argv[1]})
asyncio.run(run(command, ProcessLimits()))
"""


def test_a_confined_command_dies_with_whoever_started_it(confined: Confined, tmp_path: Path) -> None:
    life = tmp_path / "temporary" / "life"
    os.mkfifo(life)
    inside = confined("sh", "-c", 'exec 3> "$TMPDIR/life"; echo ready >&3; exec sleep 300')
    argv = [sys.executable, "-c", STARTER, str(life.parent), *inside.argv]
    with subprocess.Popen(argv) as starter, life.open("rb", buffering=0) as held:
        assert held.read(6) == b"ready\n"
        starter.kill()
        # The kernel ends the pipe when the last process that holds it has ended.
        assert select.select([held], [], [], 20)[0], "it lives on"
        assert held.read() == b""


def test_the_best_sandbox_is_chosen_and_the_reason_said() -> None:
    chosen = choose("auto")
    assert (chosen.reason == "") is (chosen.kind is SandboxKind.BUBBLEWRAP)
    assert choose("off") == Sandbox(kind=SandboxKind.NONE, reason="It is switched off.")


CHOOSER = """
import sys
from burnish.system.sandbox import choose
sys.platform = sys.argv[1]
print(choose("auto").kind.value, choose("auto").reason)
choose("required")
"""


@pytest.fixture
def choice_on(tmp_path: Path) -> Callable[..., Finished]:
    """What is chosen on a machine whose PATH has nothing but `true` and what else the test places there."""
    (tmp_path / "true").symlink_to(shutil.which("true", path=PATH) or "")

    def choose_there(platform: str) -> Finished:
        environment = {"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
        argv = (sys.executable, "-c", CHOOSER, platform)
        return run_now(Command(argv=argv, folder="/", environment=environment))

    return choose_there


def test_without_bubblewrap_it_is_landlock(choice_on: Callable[..., Finished]) -> None:
    if reason := why_not(SandboxKind.LANDLOCK):
        pytest.skip(f"optional: {reason}")
    chosen = choice_on("linux")
    assert (chosen.code, chosen.stdout) == (0, b"landlock bubblewrap is not installed.\n")


def test_a_bubblewrap_that_may_not_work_is_as_good_as_none(choice_on: Callable[..., Finished], tmp_path: Path) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create a namespace' >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o755)
    chosen = choice_on("another")
    reason = "bubblewrap does not work here: No permissions to create a namespace. Landlock is a part of Linux."
    assert chosen.stdout.decode() == f"none {reason}\n"
    assert chosen.code == 1
    assert f"SandboxError: A sandbox is required, and none works here. {reason}" in chosen.stderr_tail


def test_a_sandbox_that_is_required_and_missing_is_a_matter_of_configuration() -> None:
    assert SandboxError("").kind is ErrorKind.CONFIGURATION


def test_without_a_sandbox_only_the_folders_are_set(tmp_path: Path) -> None:
    command = Command(argv=("true",), folder="/", environment={"PATH": PATH})
    bare = confine(choose("off"), command, Confinement(temporary=str(tmp_path)))
    assert bare == replace(command, environment={"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": PATH})
