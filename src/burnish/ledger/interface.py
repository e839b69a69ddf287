"""The ledger as everybody else sees it: streams of events, leases on streams, and blobs by digest.

A stream (`run/<id>`, `epic/<id>`) is a list of events, numbered from 1 without a gap, that only ever grows. The ledger
knows nothing of what events mean: it stores a kind and a JSON body. It never reads the clock: callers pass the time.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from burnish.core.values import Value
from burnish.system.identifiers import ProcessIdentity


class NewEvent(Value):
    """An event to be appended."""

    kind: str
    body: bytes
    """One JSON document in UTF-8."""
    at: float
    intent: bool = False
    """Whether any process may append it (decide, cancel, refute, waive), not only the leased writer."""


class StoredEvent(Value):
    """An event as it stands in its stream."""

    stream: str
    version: int
    kind: str
    body: bytes
    at: float
    intent: bool = False


class Lease(Value):
    """The right to write a stream. The token grows with each owner; one with an older token can write no more."""

    stream: str
    owner: ProcessIdentity
    token: int
    until: float


class Pruned(Value):
    """What was removed."""

    blobs: int = 0
    bytes: int = 0


class Ledger(Protocol):
    """The only truth. All methods may be called from several threads, and raise `LedgerError`s only.

    What a method wrote is durable when it returns, and is there in full or not at all.
    """

    def append(self, stream: str, expected_version: int, events: Sequence[NewEvent], lease: Lease | None = None) -> int:
        """Append events after `expected_version` (0 for a new stream) and return the new version.

        Events that are not intents need the lease. One that expired but was not taken over still counts: what
        matters is that no other writer can have gone on, and that is checked in the same transaction.
        """
        ...

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[StoredEvent]:
        """The events of a stream with a version greater than `after`, in order; none for an unknown stream.

        With `limit`, only the first so many of them.
        """
        ...

    def version(self, stream: str) -> int:
        """The version of the last event, 0 for an unknown stream."""
        ...

    def streams(self, prefix: str = "") -> list[str]:
        """The names of the streams that have events and begin with the prefix, in order."""
        ...

    def acquire_lease(self, stream: str, owner: ProcessIdentity, now: float, seconds: float) -> Lease:
        """Become the writer of a stream, which need not exist yet.

        While a lease is alive, no other is granted, not even to its owner. One that expired, or whose owner is
        known to be dead, is taken over.
        """
        ...

    def renew_lease(self, lease: Lease, now: float, seconds: float) -> Lease:
        """Hold a lease for longer; only its time changes."""
        ...

    def release_lease(self, lease: Lease) -> None:
        """Give a lease back. One that is lost already is no error: there is nothing left to give."""
        ...

    def current_lease(self, stream: str) -> Lease | None:
        """The lease that was neither released nor taken over yet; it may have expired."""
        ...

    def put_blob(self, data: bytes, now: float) -> str:
        """Store bytes and return their SHA-256 in hexadecimal. The same bytes again only become younger."""
        ...

    def get_blob(self, digest: str) -> bytes:
        """The bytes with this digest, checked against it."""
        ...

    def blob_sizes(self) -> Mapping[str, int]:
        """Every blob's digest, and how many bytes it has."""
        ...

    def prune_blobs(self, older_than: float, keep: Collection[str]) -> Pruned:
        """Remove blobs last stored before a time, except some. Events and leases stay."""
        ...

    def close(self) -> None:
        """Let go of files. Nothing else may be called afterwards."""
        ...
