"""A tree that went ahead in an emergency, without a seal that holds: who said so, when and why."""

from burnish.core.values import Value


class BreakGlass(Value, omit_defaults=False):
    at: str
    """As in `2026-11-15T08:15:00Z`."""
    by: str
    reason: str
    tree: str
    commit: str
    base: str
    missing: str
    """Why `verify` would have refused the tree."""
