"""Nothing that a hostile command tries gets it out of its sandbox, as root and as a user."""

import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from burnish.core.values import Value, replace
from burnish.system import landlock
from burnish.system.process import Command, How, run_now
from burnish.system.sandbox import Confinement, Sandbox, SandboxKind, confine, why_not

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="optional: there is no sandbox but on Linux")

PATH = "/usr/local/bin:/usr/bin:/bin"
ESCAPES = Path(__file__).with_name("escapes.py")
NOBODY = 65534
UNCONFINED = (
    *("write_through_a_link", "write_through_proc", "truncate", "link_out_and_write", "create", "create_folder"),
    *("create_link", "create_socket", "change_mode", "change_times", "delete", "read_secret", "read_environment"),
    *("send_signal", "rename", "write_to_the_terminal", "read_the_terminal", "change_shared_memory"),
    *("connect_to_a_socket", "connect_to_an_abstract_socket", "read_the_session_keyring"),
)
"""What surely succeeds without a sandbox, and harms nobody; if it did not, the attempts would prove nothing."""


class Scene(Value):
    """A folder that must stay as it is, a secret, and a process outside."""

    root: Path
    user: int
    pid: int

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    def state(self) -> dict[str, tuple[str, int]]:
        return {path.name: (path.read_text(), path.stat().st_mode) for path in self.outside.iterdir()}


@pytest.fixture(params=["ourselves", "nobody"])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    """Not below the folder of the other tests, which no other user may enter."""
    user = os.getuid() if request.param == "ourselves" else NOBODY
    if user != os.getuid() and (os.getuid() != 0 or shutil.which("setpriv") is None):
        pytest.skip("optional: only root with setpriv can become another user")
    with tempfile.TemporaryDirectory(prefix="burnish-escapes-") as name:
        root = Path(name)
        for folder in ("outside", "secrets", "temporary"):
            (root / folder).mkdir()
        (root / "escapes.py").write_text(ESCAPES.read_text())
        (root / "outside" / "victim").write_text("victim")
        (root / "outside" / "deletable").write_text("deletable")
        (root / "secrets" / "key").write_text("key")
        sleeper = ["sleep", "300"]
        with (
            belongings(user) as names,
            subprocess.Popen(_become(user, sleeper), env={"TOKEN": "secret", "PATH": PATH}) as outsider,
        ):
            (root / "belongings.json").write_text(json.dumps(names))
            for path in (root, *root.rglob("*")):
                os.chown(path, user, -1)
            yield Scene(root=root, user=user, pid=outsider.pid)
            outsider.kill()


@contextmanager
def belongings(user: int) -> Generator[dict[str, str]]:
    """A terminal, a socket with a name and one without, and shared memory, all of which this user may use."""
    with (
        ExitStack() as stack,
        tempfile.TemporaryDirectory(prefix="burnish-socket-") as folder,
        tempfile.NamedTemporaryFile(prefix="burnish-escapes-", dir="/dev/shm") as memory,
    ):
        master, slave = pty.openpty()
        stack.callback(os.close, master)
        stack.callback(os.close, slave)
        named = f"{folder}/socket"
        for address in (named, f"\0{named}"):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        terminal = os.ttyname(slave)
        for path in (terminal, folder, named, memory.name):
            os.chown(path, user, -1)
        yield {"terminal": terminal, "socket": named, "memory": memory.name}


def _become(user: int, argv: list[str]) -> list[str]:
    if user == os.getuid():
        return argv
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *argv]


def attempts(kind: SandboxKind, scene: Scene, *names: str) -> dict[str, bool]:
    """What each attempt came to: all of them, or those named."""
    python = sys.executable if scene.user == os.getuid() else shutil.which("python3", path=PATH)
    if python is None:
        pytest.skip("optional: there is no interpreter that everybody may run")
    argv = (python, "-I", "escapes.py", str(scene.outside), str(scene.root / "secrets"), str(scene.pid), *names)
    command = Command(argv=argv, folder=str(scene.root), environment={"PATH": PATH})
    places = Confinement(
        readable=(str(scene.root),), hidden=(str(scene.root / "secrets"),), temporary=str(scene.root / "temporary")
    )
    inside = confine(Sandbox(kind=kind), command, places)
    launched = (python, *inside.argv[1:]) if kind is SandboxKind.LANDLOCK else inside.argv
    finished = run_now(replace(inside, argv=tuple(_become(scene.user, list(launched)))))
    assert (finished.how, finished.code) == (How.EXITED, 0), finished
    return json.loads(finished.stdout)


def test_without_a_sandbox_the_attempts_succeed(scene: Scene) -> None:
    assert attempts(SandboxKind.NONE, scene, *UNCONFINED) == dict.fromkeys(UNCONFINED, True)


def test_nothing_but_a_socket_of_the_network_gets_out_of_bubblewrap(scene: Scene) -> None:
    if reason := why_not(SandboxKind.BUBBLEWRAP):
        pytest.skip(f"optional: {reason}")
    before = scene.state()
    succeeded = [name for name, success in attempts(SandboxKind.BUBBLEWRAP, scene).items() if success]
    assert succeeded == ["connect_to_an_abstract_socket"]
    assert scene.state() == before


def test_nothing_but_modes_and_times_gets_out_of_landlock(scene: Scene) -> None:
    if reason := why_not(SandboxKind.LANDLOCK):
        pytest.skip(f"optional: {reason}")
    before = scene.state()
    succeeded = {name for name, success in attempts(SandboxKind.LANDLOCK, scene).items() if success}
    assert succeeded == {"change_mode", "change_times", *(["send_signal"] if landlock.abi() < 6 else [])}
    assert {name: text for name, (text, _) in scene.state().items()} == {
        name: text for name, (text, _) in before.items()
    }
