"""The base of every value in burnish: a frozen, strictly typed struct that can be written as JSON."""

from typing import Any, dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class _ValueMeta(msgspec.StructMeta):
    """Makes every subclass keyword-only; msgspec inherits the other options but not this one."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        options.setdefault("kw_only", True)
        return super().__new__(cls, name, bases, namespace, **options)


class Value(
    msgspec.Struct, metaclass=_ValueMeta, frozen=True, forbid_unknown_fields=True, omit_defaults=True, cache_hash=True
):
    """A frozen value, compared by content. Fields that still have their default are left out of its JSON."""


replace = msgspec.structs.replace
"""A copy with some fields changed."""
