"""A ledger that forgets everything when the process ends: the fake behind tests, following the real one's rules."""

import hashlib
import threading
from collections.abc import Collection, Mapping, Sequence

from burnish.core.values import Value
from burnish.ledger import rules
from burnish.ledger.errors import BlobMissingError
from burnish.ledger.interface import Lease, NewEvent, Pruned, StoredEvent
from burnish.system.identifiers import ProcessIdentity


class _Blob(Value):
    data: bytes
    at: float


class MemoryLedger:
    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._events: dict[str, list[StoredEvent]] = {}
        self._leases: dict[str, Lease] = {}
        self._tokens: dict[str, int] = {}
        self._blobs: dict[str, _Blob] = {}

    def append(self, stream: str, expected_version: int, events: Sequence[NewEvent], lease: Lease | None = None) -> int:
        rules.check_events(stream, events)
        with self._guard:
            rules.check_append(stream, self._head(stream), expected_version, events, lease)
            for version, event in enumerate(events, start=expected_version + 1):
                self._events.setdefault(stream, []).append(
                    StoredEvent(
                        stream=stream,
                        version=version,
                        kind=event.kind,
                        body=event.body,
                        at=event.at,
                        intent=event.intent,
                    )
                )
        return expected_version + len(events)

    def read(self, stream: str, after: int = 0, limit: int | None = None) -> list[StoredEvent]:
        with self._guard:
            return self._events.get(stream, [])[max(after, 0) :][:limit]

    def version(self, stream: str) -> int:
        with self._guard:
            return self._head(stream).version

    def streams(self, prefix: str = "") -> list[str]:
        with self._guard:
            return sorted(stream for stream in self._events if stream.startswith(prefix))

    def acquire_lease(self, stream: str, owner: ProcessIdentity, now: float, seconds: float) -> Lease:
        with self._guard:
            rules.check_free(self._leases.get(stream), now)
            lease = rules.new_lease(stream, owner, self._tokens.get(stream, 0) + 1, now=now, seconds=seconds)
            self._tokens[stream] = lease.token
            self._leases[stream] = lease
            return lease

    def renew_lease(self, lease: Lease, now: float, seconds: float) -> Lease:
        renewed = rules.new_lease(lease.stream, lease.owner, lease.token, now=now, seconds=seconds)
        with self._guard:
            rules.check_lease(lease, lease.stream, self._head(lease.stream))
            self._leases[lease.stream] = renewed
            return renewed

    def release_lease(self, lease: Lease) -> None:
        with self._guard:
            if self._tokens.get(lease.stream) == lease.token:
                self._leases.pop(lease.stream, None)

    def current_lease(self, stream: str) -> Lease | None:
        with self._guard:
            return self._leases.get(stream)

    def put_blob(self, data: bytes, now: float) -> str:
        digest = hashlib.sha256(data).hexdigest()
        with self._guard:
            known = self._blobs.get(digest)
            self._blobs[digest] = _Blob(data=data, at=max(now, known.at) if known else now)
        return digest

    def get_blob(self, digest: str) -> bytes:
        with self._guard:
            blob = self._blobs.get(rules.check_digest(digest))
        if blob is None:
            raise BlobMissingError(digest)
        return blob.data

    def blob_sizes(self) -> Mapping[str, int]:
        with self._guard:
            return {digest: len(blob.data) for digest, blob in self._blobs.items()}

    def prune_blobs(self, older_than: float, keep: Collection[str]) -> Pruned:
        kept = frozenset(rules.check_digest(digest) for digest in keep)
        with self._guard:
            old = [name for name, blob in self._blobs.items() if blob.at < older_than and name not in kept]
            size = sum(len(self._blobs.pop(name).data) for name in old)
        return Pruned(blobs=len(old), bytes=size)

    def close(self) -> None:
        """Nothing to let go of."""

    def _head(self, stream: str) -> rules.Head:
        return rules.Head(
            version=len(self._events.get(stream, ())),
            token=self._tokens.get(stream, 0),
            held=stream in self._leases,
        )
