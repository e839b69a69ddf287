"""The rules that every ledger follows, whatever it keeps its events in. They touch no file and read no clock."""

import math
import re
from collections.abc import Sequence

import msgspec

from burnish.core.values import Value
from burnish.ledger.errors import LeaseHeldError, LeaseLostError, LeaseRequiredError, VersionConflictError
from burnish.ledger.interface import Lease, NewEvent
from burnish.system.identifiers import ProcessIdentity, is_known_dead

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Head(Value):
    """Where a stream stands: its last version, the newest lease token ever given, and whether that is still held."""

    version: int = 0
    token: int = 0
    held: bool = False


def check_events(stream: str, events: Sequence[NewEvent]) -> None:
    """Refuse what could never be read again. These are mistakes of the caller, not of the world."""
    if not stream:
        raise ValueError("A stream needs a name.")
    for event in events:
        if not event.kind or not math.isfinite(event.at):
            raise ValueError(f"An event needs a kind and a time: {event.kind!r} at {event.at}.")
        try:
            event.body.decode()
            msgspec.json.decode(event.body, type=msgspec.Raw)
        except (UnicodeDecodeError, msgspec.DecodeError) as error:
            raise ValueError(f"The body of {event.kind!r} is not JSON: {error}") from error


def check_append(
    stream: str, head: Head, expected_version: int, events: Sequence[NewEvent], lease: Lease | None
) -> None:
    """Refuse a writer without the right, then one that has not read everything. The right comes first: a writer that
    lost its lease must stop, not read on and try again."""
    if lease is not None:
        check_lease(lease, stream, head)
    elif not all(event.intent for event in events):
        kinds = ", ".join(sorted({event.kind for event in events if not event.intent}))
        raise LeaseRequiredError(stream, kinds)
    if head.version != expected_version:
        raise VersionConflictError(stream, expected_version, head.version)


def check_lease(lease: Lease, stream: str, head: Head) -> None:
    """Refuse a lease of another stream, and one that was released or taken over."""
    if lease.stream != stream:
        raise ValueError(f"A lease on {lease.stream} gives no right to {stream}.")
    if not head.held or lease.token != head.token:
        raise LeaseLostError(stream, lease.token, head.token)


def new_lease(stream: str, owner: ProcessIdentity, token: int, *, now: float, seconds: float) -> Lease:
    until = now + seconds
    if not stream or not math.isfinite(until) or seconds <= 0:
        raise ValueError(f"A lease needs a stream and an end: {stream!r} for {seconds} seconds.")
    return Lease(stream=stream, owner=owner, token=token, until=until)


def check_free(current: Lease | None, now: float) -> None:
    """Refuse a second owner while the first may be alive and its time has not run out."""
    if current is not None and now < current.until and not is_known_dead(current.owner):
        raise LeaseHeldError(current.stream, current.owner, current.until)


def check_digest(digest: str) -> str:
    """Refuse what is no digest, and could be a path to anywhere."""
    if not _DIGEST.fullmatch(digest):
        raise ValueError(f"Not a digest: {digest!r}.")
    return digest
