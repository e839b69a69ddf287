"""Restricts itself with Landlock, then becomes another program. Run as a file, by an interpreter's absolute path.

    python -I -S landlock.py [--hide PATH] [--read PATH] [--write PATH] [--no-network] -- PROGRAM [ARGUMENT …]

The program can write below each `--write` only, and read everything except what is below a `--hide`, unless a `--read`
or `--write` at or below it gives it back. It has no capabilities, can gain no privileges, can neither trace nor (from
kernel 6.12 on) signal a process outside, and is killed when the process that started it ends.

What Landlock cannot do, and bubblewrap can: forbid chmod, chown and time stamps of files outside; hide the NAMES in a
hidden folder; hide other processes; forbid sockets in the file system; forbid UDP; take back a folder below a writable
one, such as the settings of a clone's git. Whoever confines compares what must not change.

This file must import nothing of burnish and little else: it is loaded before each confined start.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Iterator

LEAST_ABI = 3
"""Before it, a file outside could be truncated."""

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO = (1 << bit for bit in range(7, 11))
MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = (1 << bit for bit in range(12, 16))

READING = EXECUTE | READ_FILE | READ_DIR
WRITING = (
    (WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM) | REFER | TRUNCATE
)
OF_A_FILE = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV

DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
CANNOT_RUN, NOT_FOUND = 126, 127

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SIGKILL = 9  # to load the names of all signals takes longer than everything else here
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock that this kernel has; 0 if none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


class Wanted:
    """What the command line asks for."""

    def __init__(self, arguments: list[str]) -> None:
        paths: dict[str, list[str]] = {"--hide": [], "--read": [], "--write": []}
        self.network = True
        rest = iter(arguments)
        for word in rest:
            if word == "--":
                break
            if word == "--no-network":
                self.network = False
            else:
                paths[word].append(os.path.realpath(next(rest)))
        self.hidden, self.readable, self.writable = paths["--hide"], paths["--read"], paths["--write"]
        self.program = list(rest)


def restrict(wanted: Wanted, version: int) -> None:
    """Give up everything that was not asked for. There is no way back."""
    filesystem = (1 << (16 if version >= 5 else 15)) - 1
    ruleset = _Ruleset(
        fs=filesystem,
        net=0 if wanted.network or version < 4 else 0b11,
        scoped=0b11 if version >= 6 else 0,
    )
    size = 8 if version < 4 else 16 if version < 6 else 24
    handle = _call(_libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), 0))
    for path, access in rules(wanted):
        _add(handle, path, access & filesystem)
    _drop_capabilities()
    _call(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _call(_libc.syscall(_RESTRICT_SELF, handle, 0))
    os.close(handle)


def rules(wanted: Wanted) -> Iterator[tuple[str, int]]:
    """Every path with what may be done below it. There is no rule that takes away: hidden paths are left out."""
    yield "/", READ_DIR  # else not even the root could be listed, as rules hold for all that is below
    hidden = [path for path in wanted.hidden if path not in wanted.readable and path not in wanted.writable]
    # A raw disk holds all secrets at once.
    for path in _except("/", [*hidden, "/dev"]):
        yield path, READING
    for name in DEVICES:
        yield f"/dev/{name}", READING | WRITE_FILE | IOCTL_DEV
    yield "/dev/shm", READING | WRITING  # semaphores of Python, browsers  # noqa: S108 - not used as a place for files
    for path in wanted.readable:
        for shown in _except(path, hidden):
            yield shown, READING
    for path in wanted.writable:
        for shown in _except(path, hidden):
            yield shown, READING | WRITING


def _except(path: str, hidden: list[str]) -> Iterator[str]:
    """A path, or the largest parts of it that hold nothing hidden. Links are passed over: they lead to other parts."""
    if path in hidden:
        return
    if not any(other.startswith(path.rstrip("/") + "/") for other in hidden):
        yield path
        return
    try:
        entries = [entry.path for entry in os.scandir(path)]
    except OSError:
        return
    for entry in entries:
        yield from _except(entry, hidden)


def _add(ruleset: int, path: str, access: int) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # it has gone meanwhile, or there is no such device
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISLNK(mode):
            return
        rule = _PathBeneath(access=access if stat.S_ISDIR(mode) else access & OF_A_FILE, parent=handle)
        if rule.access:
            _call(_libc.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0))
    finally:
        os.close(handle)


def _drop_capabilities() -> None:
    """Root without them is a user whose files happen to be root's: no module, no raw socket, no other's files."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # only root can, and only root needs to
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _call(_libc.capset(header, (ctypes.c_uint32 * 6)()))


def _die_with_parent() -> None:
    parent = os.getppid()
    _call(_libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0))
    if os.getppid() != parent:
        os.kill(os.getpid(), _SIGKILL)


def _call(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(arguments: list[str]) -> int:
    """Become the program, or say why not with the exit code that shells use for it."""
    wanted = Wanted(arguments)
    version = abi()
    if version < LEAST_ABI:
        return _refuse(f"this kernel has version {version} of Landlock, and {LEAST_ABI} is needed", CANNOT_RUN)
    try:
        restrict(wanted, version)
        _die_with_parent()
    except OSError as error:
        return _refuse(f"the sandbox could not be set up: {error.strerror}", CANNOT_RUN)
    try:
        os.execvp(wanted.program[0], wanted.program)  # noqa: S606 - never a shell
    except FileNotFoundError:
        return _refuse(f"'{wanted.program[0]}' was not found", NOT_FOUND)
    except OSError as error:
        return _refuse(f"'{wanted.program[0]}' cannot be run: {error.strerror}", CANNOT_RUN)


def _refuse(reason: str, code: int) -> int:
    sys.stderr.write(f"burnish: {reason}.\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
