"""Runs a program restricted by Landlock, and ends all that it leaves. Run as a file, by an interpreter's absolute path.

    python -I -S landlock.py [--hide PATH] [--read PATH] [--write PATH] [--no-network] [--filter HEX]
                             -- PROGRAM [ARGUMENT …]

The program can write below each `--write` only, and read everything except what is below a `--hide`, unless a `--read`
or `--write` at or below it gives it back. It has no capabilities, can gain no privileges, can neither trace nor (from
kernel 6.12 on) signal a process outside, and reaches no terminal and no shared memory. `--filter` is a filter of system
calls (see `sandbox.call_filter`).

This process stays outside, as the supervisor: every orphan below it becomes its child, whatever that did to its
environment, session and descriptors. When the program has ended, or END_ALL comes, or the process that started this
one ends, the supervisor kills everything below it. A program can prevent that only by killing the supervisor, which a
restricted one cannot do from kernel 6.12 on.

What Landlock cannot do, and bubblewrap can: forbid chmod, chown and time stamps of files outside; hide the NAMES in a
hidden folder, other processes, and the names of keys; forbid UDP; give a private /dev/shm or private terminals, so
that there are none; take back a folder below a writable one, such as the settings of a clone's git. The caller
compares what must not change.

This file must import nothing of burnish and little else: it is loaded before each confined start.
"""

import ctypes
import os
import select
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

DEVICES = ("null", "zero", "full", "random", "urandom")
CANNOT_RUN, NOT_FOUND = 126, 127
END_ALL = 10
"""The signal that tells the supervisor to kill everything below it: SIGUSR1."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
# To load the names of all signals takes longer than everything else here.
_SIGKILL, _SIGPIPE, _SIGCHLD, _SIGXFSZ = 9, 13, 17, 25
_SIG_SETMASK = 2
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP = 1, 4, 22
_PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 24, 36, 38
_SECCOMP_MODE_FILTER = 2
_FILTER_WORD = 8


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # what `_pack_` has always meant; Python 3.14 wants it said
    _fields_ = (("access", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("words", ctypes.c_char_p))


_Signals = ctypes.c_ulong * 16
_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock that this kernel has; 0 if none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


class LandlockArguments:
    """What the command line asks for."""

    def __init__(self, arguments: list[str]) -> None:
        paths: dict[str, list[str]] = {"--hide": [], "--read": [], "--write": []}
        self.network = True
        self.filter = b""
        rest = iter(arguments)
        for word in rest:
            if word == "--":
                break
            if word == "--no-network":
                self.network = False
            elif word == "--filter":
                self.filter = bytes.fromhex(next(rest))
            else:
                paths[word].append(os.path.realpath(next(rest)))
        self.hidden, self.readable, self.writable = paths["--hide"], paths["--read"], paths["--write"]
        self.program = list(rest)


def restrict(wanted: LandlockArguments, version: int) -> None:
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
    if wanted.filter:
        program = _Filter(length=len(wanted.filter) // _FILTER_WORD, words=wanted.filter)
        _call(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


def rules(wanted: LandlockArguments) -> Iterator[tuple[str, int]]:
    """Every path with what may be done below it. There is no rule that takes away: hidden paths are left out."""
    yield "/", READ_DIR  # else not even the root could be listed, as rules hold for all that is below
    hidden = [path for path in wanted.hidden if path not in wanted.readable and path not in wanted.writable]
    # A raw disk holds all secrets at once.
    for path in _except("/", [*hidden, "/dev"]):
        yield path, READING
    for name in DEVICES:
        yield f"/dev/{name}", READING | WRITE_FILE | IOCTL_DEV
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


def _die_with_parent(number: int) -> None:
    parent = os.getppid()
    _call(_libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0))
    if os.getppid() != parent:
        os.kill(os.getpid(), _SIGKILL)


def _call(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def main(arguments: list[str]) -> int:
    """Run the program and end as it did, or say why not with the exit code that shells use for it."""
    wanted = LandlockArguments(arguments)
    version = abi()
    if version < LEAST_ABI:
        return _refuse(f"this kernel has version {version} of Landlock, and {LEAST_ABI} is needed", CANNOT_RUN)
    try:
        before = _block_signals()
        _call(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        _die_with_parent(END_ALL)
        program = os.fork()
    except OSError as error:
        return _refuse(f"the sandbox could not be set up: {error.strerror}", CANNOT_RUN)
    if program == 0:
        os._exit(_become(wanted, version, before))
    return _supervise(program)


def _become(wanted: LandlockArguments, version: int, signals: "ctypes.Array[ctypes.c_ulong]") -> int:
    try:
        _die_with_parent(_SIGKILL)
        restrict(wanted, version)
    except OSError as error:
        return _refuse(f"the sandbox could not be set up: {error.strerror}", CANNOT_RUN)
    for number in (_SIGPIPE, _SIGXFSZ):  # an interpreter ignores them, and that would be handed on
        _libc.signal(number, None)
    _libc.sigprocmask(_SIG_SETMASK, signals, None)
    try:
        os.execvp(wanted.program[0], wanted.program)  # noqa: S606 - never a shell
    except FileNotFoundError:
        return _refuse(f"'{wanted.program[0]}' was not found", NOT_FOUND)
    except OSError as error:
        return _refuse(f"'{wanted.program[0]}' cannot be run: {error.strerror}", CANNOT_RUN)


def _block_signals() -> "ctypes.Array[ctypes.c_ulong]":
    """From now on every signal waits until it is asked for. Returns the mask that was there before."""
    _libc.signal(_SIGCHLD, None)  # where it is ignored, nothing is told of the end of a child
    every, before = _Signals(), _Signals()
    _libc.sigfillset(every)
    _libc.sigprocmask(_SIG_SETMASK, every, before)
    return before


def _supervise(program: int) -> int:
    """Wait for the program, then end all that is left of it, and end as it did."""
    nobody_reads = bool(_poll_output())  # this process's parent had ended before its end could be told
    nothing = os.open(os.devnull, os.O_RDWR)
    for channel in range(3):  # else the ends of pipes would not be told to the program and its reader
        os.dup2(nothing, channel)
    awaited, told = _Signals(), ctypes.c_int(END_ALL if nobody_reads else 0)
    for number in (_SIGCHLD, END_ALL):
        _libc.sigaddset(awaited, number)
    status = None
    while status is None and told.value != END_ALL:
        _libc.sigwait(awaited, ctypes.byref(told))
        status = _take_ended().get(program)
    while True:
        children = _children()
        if not children:
            break
        for child in children:
            os.kill(child, _SIGKILL)
        ended = _take_ended(wait=True)
        status = ended.get(program) if status is None else status
    return _end_like(_SIGKILL if status is None else status)


def _poll_output() -> list[tuple[int, int]]:
    poll = select.poll()
    poll.register(1, 0)  # errors, such as a closed reader, are always reported
    return poll.poll(0)


def _take_ended(*, wait: bool = False) -> dict[int, int]:
    """The children that have ended, with their statuses. With `wait`, at least one."""
    ended: dict[int, int] = {}
    try:
        child, status = os.waitpid(-1, 0 if wait else os.WNOHANG)
        while child:
            ended[child] = status
            child, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        pass
    return ended


def _children() -> list[int]:
    """The children of this process, orphans from below included; those that have ended until they are taken, too."""
    own = str(os.getpid()).encode()
    found: list[int] = []
    for name in os.listdir("/proc"):  # noqa: PTH208 - a Path each is slow
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as stream:  # noqa: PTH123 - to load pathlib takes longer
                    # The second field is the command in brackets, which may itself hold spaces and brackets.
                    parent = stream.read().rpartition(b")")[2].split()[1]
            except OSError:
                continue
            if parent == own:
                found.append(int(name))
    return found


def _end_like(status: int) -> int:
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # the core of this process would tell nothing
    number = os.WTERMSIG(status)
    _libc.signal(number, None)
    os.kill(os.getpid(), number)
    _libc.sigprocmask(_SIG_SETMASK, _Signals(), None)  # it was blocked until now
    return 128 + number


def _refuse(reason: str, code: int) -> int:
    sys.stderr.write(f"burnish: {reason}.\n")
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
