"""Attempts to break out of a sandbox, run inside it: prints for each whether it succeeded, as JSON.

Given: a folder outside with a file `victim`, a folder of secrets with a file `key`, and the number of a process
outside; then the names of the attempts to make, or none for all. Beside the folders, `belongings.json` names what else
is the user's: a terminal, a socket that a process listens at, a file of shared memory. It uses the standard library
alone, and changes nothing that belongs to the machine: settings and disks are only opened.
"""

import ctypes
import json
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

MS_REMOUNT, MS_BIND = 32, 4096
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
PTRACE_ATTACH, PTRACE_DETACH = 16, 17

libc = ctypes.CDLL(None, use_errno=True)
outside, secrets, victim_pid = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
victim = outside / "victim"
temporary = Path(tempfile.mkdtemp())
KEYCTL = {"x86_64": 250, "aarch64": 219}.get(os.uname().machine, -1)
ADD_KEY = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine, -1)
SESSION_KEYRING, USER_KEYRING = -3, -4


def check(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


def write_through_a_link() -> None:
    (temporary / "link").symlink_to(victim)
    (temporary / "link").write_text("written")


def write_through_proc() -> None:
    Path(f"/proc/self/root{victim}").write_text("written")


def truncate() -> None:
    os.truncate(victim, 0)


def link_out_and_write() -> None:
    (temporary / "hard").hardlink_to(victim)
    (temporary / "hard").write_text("written")


def create() -> None:
    (outside / "created").write_text("x")


def create_folder() -> None:
    (outside / "folder").mkdir()


def create_link() -> None:
    (outside / "pointer").symlink_to("/")


def create_socket() -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(outside / "socket"))


def change_mode() -> None:
    victim.chmod(0o777)


def change_times() -> None:
    os.utime(victim, (1, 1))


def rename() -> None:
    victim.rename(outside / "renamed")


def delete() -> None:
    (outside / "deletable").unlink()


def remount_and_write() -> None:
    check(libc.mount(None, b"/", None, MS_REMOUNT | MS_BIND, None))
    victim.write_text("written")


def remount_in_a_namespace_and_write() -> None:
    if os.fork():
        if os.waitstatus_to_exitcode(os.wait()[1]):
            raise PermissionError
        return
    try:
        check(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
        for place in ("/", str(outside)):
            libc.mount(None, place.encode(), None, MS_REMOUNT | MS_BIND, None)
        victim.write_text("written")
        os._exit(0)
    finally:
        os._exit(1)


def read_secret() -> None:
    (secrets / "key").read_text()


def read_secret_through_proc() -> None:
    Path(f"/proc/self/root{secrets}/key").read_text()


def read_secret_through_the_process() -> None:
    Path(f"/proc/{victim_pid}/root{secrets}/key").read_text()


def read_environment() -> None:
    if b"TOKEN=" not in Path(f"/proc/{victim_pid}/environ").read_bytes():
        raise PermissionError


def trace() -> None:
    check(libc.ptrace(PTRACE_ATTACH, victim_pid, None, None))
    os.waitpid(victim_pid, os.WUNTRACED)
    check(libc.ptrace(PTRACE_DETACH, victim_pid, None, None))


def write_memory() -> None:
    os.close(os.open(f"/proc/{victim_pid}/mem", os.O_RDWR))


def send_signal() -> None:
    os.kill(victim_pid, signal.SIGCONT)


def change_a_setting_of_the_kernel() -> None:
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))


def make_a_disk() -> None:
    os.mknod(temporary / "disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))


def open_a_disk() -> None:
    disks = [path for path in Path("/dev").iterdir() if path.is_block_device()]
    if not disks:
        raise FileNotFoundError
    os.close(os.open(disks[0], os.O_RDONLY))


def hold_capabilities() -> None:
    lines = Path("/proc/self/status").read_text().splitlines()
    held = [line for line in lines if line.startswith(("CapEff", "CapPrm", "CapInh", "CapAmb"))]
    if all(int(line.split()[1], 16) == 0 for line in held) and "NoNewPrivs:\t1" in lines:
        raise PermissionError


def of_the_user(name: str) -> str:
    return json.loads((outside.parent / "belongings.json").read_text())[name]


def write_to_the_terminal() -> None:
    os.close(os.open(of_the_user("terminal"), os.O_WRONLY | os.O_NOCTTY))


def read_the_terminal() -> None:
    os.close(os.open(of_the_user("terminal"), os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK))


def change_shared_memory() -> None:
    os.close(os.open(of_the_user("memory"), os.O_RDWR))


def connect_to_a_socket() -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(of_the_user("socket"))


def connect_to_an_abstract_socket() -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.connect("\0" + of_the_user("socket"))


def read_the_session_keyring() -> None:
    check(libc.syscall(KEYCTL, 11, SESSION_KEYRING, None, 0))


def link_the_keyring_of_the_user() -> None:
    check(libc.syscall(KEYCTL, 8, USER_KEYRING, SESSION_KEYRING))


def add_a_key() -> None:
    check(libc.syscall(ADD_KEY, b"user", b"burnish-escape", b"x", ctypes.c_size_t(1), SESSION_KEYRING))


ATTEMPTS: tuple[Callable[[], None], ...] = (
    *(write_through_a_link, write_through_proc, truncate, link_out_and_write, create, create_folder, create_link),
    *(create_socket, change_mode, change_times, delete, remount_and_write, remount_in_a_namespace_and_write),
    *(read_secret, read_secret_through_proc, read_secret_through_the_process, read_environment, trace, write_memory),
    *(send_signal, change_a_setting_of_the_kernel, make_a_disk, open_a_disk, hold_capabilities, rename),
    *(write_to_the_terminal, read_the_terminal, change_shared_memory, connect_to_a_socket),
    connect_to_an_abstract_socket,
    *(read_the_session_keyring, link_the_keyring_of_the_user, add_a_key),
)


def succeeds(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    chosen = [attempt for attempt in ATTEMPTS if attempt.__name__ in sys.argv[4:] or not sys.argv[4:]]
    sys.stdout.write(json.dumps({attempt.__name__: succeeds(attempt) for attempt in chosen}))
