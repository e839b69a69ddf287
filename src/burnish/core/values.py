"""The base of every value in burnish: a frozen, strictly typed struct that can be written as JSON."""

import msgspec


class Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A frozen value, compared by content. Fields that still have their default are left out of its JSON."""
