"""What can go wrong with a ledger, each with a hint. No error of SQLite or of a file leaves the ledger bare."""

import time
from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind
from burnish.system.identifiers import ProcessIdentity


class LedgerError(BurnishError):
    """Anything that keeps the ledger from doing what it was asked."""


class VersionConflictError(LedgerError):
    """Another process appended first. Read on from there, decide again, try again."""

    def __init__(self, stream: str, expected: int, actual: int) -> None:
        super().__init__(
            f"{stream} is at version {actual}, not {expected}.",
            hint="Another process has written in the meantime: read the new events and try again.",
        )
        self.actual = actual


class LeaseHeldError(LedgerError):
    """A second writer wants a stream whose lease is alive."""

    kind = ErrorKind.USAGE

    def __init__(self, stream: str, owner: ProcessIdentity, until: float) -> None:
        moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(until))
        super().__init__(
            f"{stream} is being written by {owner}, which holds its lease until {moment}.",
            hint="Wait for it to end, or cancel it. If that process is gone, its lease expires by itself.",
        )
        self.owner = owner
        self.until = until


class LeaseLostError(LedgerError):
    """The lease was released or taken over: its former holder must stop, because another writer may have continued."""

    def __init__(self, stream: str, token: int, current: int) -> None:
        super().__init__(
            f"The lease {token} on {stream} is lost; the newest is {current}.",
            hint="Another process has taken over the run and continues it; nothing is lost.",
        )
        self.token = token
        self.current = current


class LeaseRequiredError(LedgerError):
    """An event that only the leased writer may append came without a lease: a mistake in burnish itself."""

    def __init__(self, stream: str, kinds: str) -> None:
        super().__init__(
            f"Events of {stream} need its lease: {kinds}.",
            hint="Acquire the lease first; only intents need no lease. Please report this as a bug.",
        )


class LedgerCorruptError(LedgerError):
    """The file is not a ledger, or no longer what was written. It is left exactly as it is."""

    kind = ErrorKind.UNREADABLE

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The ledger {path} is damaged: {reason}.",
            hint=(
                f"Nothing was overwritten. Restore {path.name} from a backup, or move it away together with "
                f"{path.name}-wal and {path.name}-shm to start a new one."
            ),
        )


class LedgerNewerError(LedgerError):
    """A later burnish wrote this ledger."""

    kind = ErrorKind.CONFIGURATION

    def __init__(self, path: Path, found: int, known: int) -> None:
        super().__init__(
            f"The ledger {path} has schema version {found}; this version of burnish supports {known}.",
            hint="Upgrade burnish. Nothing was written.",
        )


class LedgerBusyError(LedgerError):
    """Another process holds the ledger for too long."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The ledger {path} is busy: {reason}",
            hint=f"Try again. `lsof {path}` lists the processes that have it open; one of them may be suspended.",
        )


class LedgerFullError(LedgerError):
    """There is no room left. What was asked for was not written, not even in part."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"No space left to write the ledger {path}: {reason}.",
            hint="Free some space, then continue: every acknowledged event is stored.",
        )


class LedgerAccessError(LedgerError):
    """The file or its directory cannot be opened, read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"The ledger {path} cannot be opened or written: {reason}.",
            hint=f"Check the permissions of {path.parent} and its files, and that it is on a local disk.",
        )


class BlobMissingError(LedgerError):
    """There is no such blob, or no more."""

    def __init__(self, digest: str) -> None:
        super().__init__(
            f"The blob {digest} is missing.",
            hint="`burnish clean` removes old blobs; events and seals stay.",
        )


class BlobCorruptError(LedgerError):
    """A blob's content no longer has its digest."""

    kind = ErrorKind.UNREADABLE

    def __init__(self, digest: str, path: Path | None = None) -> None:
        place = f" in {path}" if path else ""
        super().__init__(
            f"The blob {digest}{place} is damaged.",
            hint="Restore it from a backup, or remove it; burnish writes it again when it needs it.",
        )
