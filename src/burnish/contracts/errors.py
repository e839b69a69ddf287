"""The one error of all contracts."""

from burnish.core.errors import BurnishError, ErrorKind


class UnreadableError(BurnishError):
    """An answer that cannot be read as a review. It is never a clean one."""

    kind = ErrorKind.UNREADABLE
