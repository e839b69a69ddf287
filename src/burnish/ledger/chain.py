"""The chain of digests through each stream: each event's digest covers the event and the digest before it.

SQLite has no checksums of its own in the database file: a flipped bit inside a body passes its checks, and so does
a row that somebody removed. The ledger is the only truth, so reading must not believe such a file. A digest per event
costs microseconds where the append waits milliseconds for the disk. The chain guards against accidents and careless
hands; it is no signature, since whoever can write the file can compute it anew.
"""

import hashlib
import struct

START = bytes(32)
"""The digest before the first event."""

_FIXED = struct.Struct(">32sQd?II")


def link(previous: bytes, *, stream: bytes, version: int, kind: bytes, body: bytes, at: float, intent: bool) -> bytes:
    """The digest of an event that follows another. The lengths keep neighbouring fields apart."""
    digest = hashlib.sha256(_FIXED.pack(previous, version, at, intent, len(stream), len(kind)))
    digest.update(stream)
    digest.update(kind)
    digest.update(body)
    return digest.digest()
