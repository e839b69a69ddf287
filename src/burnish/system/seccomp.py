"""A filter of system calls for both sandboxes, as the kernel reads it: what a view of the file system cannot take away.

The keyrings of the kernel belong to a user, not to a place: no sandbox of files hides them. A socket in the file system
can be connected to wherever it can be named, and Landlock has no rule for it: where there are no private folders, no
such socket can be made at all. (Pairs of connected sockets, which programs use among themselves, are another call.)

The numbers of system calls differ between machines. For a machine that is not listed there is no filter.
"""

import errno
import os
import struct

from burnish.core.values import Value

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_AF_UNIX = 1


class _Machine(Value):
    """How the kernel names a machine, and its numbers of some system calls."""

    audit: int
    socket: int
    keyrings: tuple[int, int, int]
    """add_key, request_key, keyctl."""
    least_foreign: int = 0
    """From here on, numbers belong to another set of calls on the same machine; 0 where there is none."""


_MACHINES = {
    "x86_64": _Machine(audit=0xC000003E, socket=41, keyrings=(248, 249, 250), least_foreign=0x40000000),
    "aarch64": _Machine(audit=0xC00000B7, socket=198, keyrings=(217, 218, 219)),
}
_IO_URING_SETUP = 425
"""On every machine. With such a ring, a socket is made without the call of that name."""


def call_filter(*, named_sockets: bool) -> bytes:
    """The filter for this machine; empty where its numbers are not known."""
    machine = _MACHINES.get(os.uname().machine)
    if machine is None:
        return b""
    words = [_word(_LOAD, _MACHINE), *_unless(_EQUAL, machine.audit, errno.ENOSYS), _word(_LOAD, _NUMBER)]
    if machine.least_foreign:
        words += _when(_AT_LEAST, machine.least_foreign, errno.ENOSYS)
    for number in machine.keyrings:
        words += _when(_EQUAL, number, errno.EPERM)
    if not named_sockets:
        words += _when(_EQUAL, _IO_URING_SETUP, errno.EPERM)
        words += [
            _word(_EQUAL, machine.socket, otherwise=3),
            _word(_LOAD, _FIRST_ARGUMENT),
            *_when(_EQUAL, _AF_UNIX, errno.EAFNOSUPPORT),
        ]
    return b"".join([*words, _word(_RETURN, _ALLOW)])


def _when(test: int, value: int, error: int) -> list[bytes]:
    return [_word(test, value, otherwise=1), _word(_RETURN, _FAIL | error)]


def _unless(test: int, value: int, error: int) -> list[bytes]:
    return [_word(test, value, then=1), _word(_RETURN, _FAIL | error)]


def _word(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    """One instruction. `then` and `otherwise` are how many of the next ones are passed over."""
    return struct.pack("=HBBI", code, then, otherwise, value)
