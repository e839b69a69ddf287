"""What every value is: frozen, keyword-only, compared by content, strict about unknown fields, short in JSON."""

from collections.abc import Callable

import msgspec
import pytest

from burnish.core.events import Event, name_of
from burnish.core.values import Value, replace


class _Declared(Value):
    """Declared when this module is imported."""

    number: int
    text: str = "none"


def by_position(declared: Callable[..., object]) -> object:
    return declared(1)


def test_a_value_declared_anywhere_takes_its_fields_by_name_only() -> None:
    class Local(Value, tag_field="kind", tag="local"):
        first: int
        second: int = 2

    assert msgspec.json.encode(Local(first=1)) == b'{"kind":"local","first":1}'
    with pytest.raises(TypeError, match="positional"):
        by_position(Local)


def test_a_value_cannot_be_changed_but_copied() -> None:
    one = _Declared(number=1)
    field = "number"
    with pytest.raises(AttributeError, match="immutable"):
        setattr(one, field, 2)
    assert replace(one, number=2) == _Declared(number=2) != one
    assert hash(replace(one, number=1)) == hash(one)


def test_a_field_that_nobody_knows_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"number":1,"other":2}', type=_Declared)


def test_an_event_is_stored_under_its_tag_whatever_its_class_is_called() -> None:
    class Renamed(Event, tag="something-odd-happened"):
        """An event that no run has."""

    assert msgspec.json.decode(msgspec.json.encode(Renamed(at=1))) == {"type": "something-odd-happened", "at": 1}
    assert name_of(Renamed) == "SomethingOddHappened"
